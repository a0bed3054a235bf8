"""One call of a backend in this process: its exceptions are outcomes."""

from collections.abc import Sequence

import pytest

from opcert.arrays.element_types import Array
from opcert.run.outcome import call_backend
from tests.wrong_backends import Attributes, Inputs, Right


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


class ExitingError(Exception):
    def __str__(self) -> str:
        raise SystemExit(0)


class ExitingText(str):
    __slots__ = ()

    def __format__(self, form: str) -> str:
        raise SystemExit(0)


class TextError(Exception):
    def __str__(self) -> str:
        return ExitingText()


class Nameless(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise RuntimeError


class NamelessError(Exception, metaclass=Nameless):
    pass


class TracelessError(Exception):
    @property
    def __traceback__(self) -> None:  # type: ignore[override]
        raise RuntimeError


class ExitingRejecterError(Exception):
    @property
    def rejected_by(self) -> str:
        raise SystemExit(0)


KINDS = [
    UnspeakableError,
    ExitingError,
    TextError,
    NamelessError,
    TracelessError,
    ExitingRejecterError,
]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_an_exception_of_an_odd_class_is_an_outcome(kind: type[Exception]) -> None:
    class Raises(Right):
        def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
            raise kind

    outcome = call_backend(Raises(), "vendor/Any-1", {}, {})
    assert outcome.observed == "rejected"
    assert outcome.reason.startswith(kind.__qualname__)
