"""One call of a backend in this process: its exceptions are outcomes."""

from collections.abc import Mapping, Sequence
from typing import Any

from opcert.arrays import Array
from opcert.run import call_backend
from tests.wrong_backends import Right


def test_an_exception_without_a_readable_text_is_an_outcome() -> None:
    class UnspeakableError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    class Raises(Right):
        def run(
            self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
        ) -> Sequence[Array]:
            raise UnspeakableError

    outcome = call_backend(Raises(), "vendor/Any-1", {}, {})
    assert outcome.observed == "rejected"
    assert outcome.reason.startswith("UnspeakableError")
