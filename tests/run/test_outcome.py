"""One call of a backend in this process: its exceptions are outcomes."""

from collections.abc import Callable, Sequence

import pytest

from opcert.arrays.element_types import Array
from opcert.run.outcome import call_backend
from tests.wrong_backends import Attributes, Inputs, Right


class ExitingText(str):
    __slots__ = ()

    def __format__(self, form: str) -> str:
        raise SystemExit(0)


def raises(error: type[BaseException]) -> Callable[[object], str]:
    def method(_: object) -> str:
        raise error

    return method


# What is odd in a class of exceptions; the name of another one cannot be read.
PARTS: dict[str, dict[str, object]] = {
    "UnspeakableError": {"__str__": raises(RuntimeError)},
    "ExitingError": {"__str__": raises(SystemExit)},
    "TextError": {"__str__": lambda _: ExitingText()},
    "TracelessError": {"__traceback__": property(raises(RuntimeError))},
    "ExitingRejecterError": {"rejected_by": property(raises(SystemExit))},
}
Nameless = type("Nameless", (type,), {"__name__": property(raises(RuntimeError))})
KINDS = [
    *(type(name, (Exception,), parts) for name, parts in PARTS.items()),
    Nameless("NamelessError", (Exception,), {}),
]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_an_exception_of_an_odd_class_is_an_outcome(kind: type[Exception]) -> None:
    class Raises(Right):
        def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
            raise kind

    outcome = call_backend(Raises(), "vendor/Any-1", {}, {})
    assert outcome.observed == "rejected"
    assert outcome.reason.startswith(kind.__qualname__)
