"""How a reference function enforces the rules of its document."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeAlias

import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Operator: TypeAlias = Callable[..., list[Array]]


# The rules that `unchecked` disables at the moment.
_unchecked: set[str] = set()


class RuleBroken(ValueError):
    """A call violates the rule with the id `rule`."""

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(f"{rule}: {text}")
        self.rule = rule


def require(holds: bool, rule: str, text: str) -> None:
    """Check that `rule` holds; `text` describes a call that violates it.

    Raises:
        RuleBroken: `holds` is false.
    """
    if not holds and rule not in _unchecked:
        raise RuleBroken(rule, text)


@contextmanager
def unchecked(rule: str) -> Iterator[None]:
    """Disable the check of `rule`, to behave like an implementation without it."""
    _unchecked.add(rule)
    try:
        yield
    finally:
        _unchecked.discard(rule)


def requires_arguments(rule: str) -> Callable[[Operator], Operator]:
    """Reject a call that omits a parameter without a default, as a violation of `rule`."""

    def decorate(operator: Operator) -> Operator:
        required = [
            name
            for name, parameter in signature(operator).parameters.items()
            if parameter.default is Parameter.empty
        ]

        @wraps(operator)
        def checked(**arguments: Any) -> list[Array]:
            missing = [name for name in required if arguments.get(name) is None]
            require(not missing, rule, f"{', '.join(missing)} omitted")
            return operator(**arguments)

        return checked

    return decorate


def is_integer(array: Array) -> bool:
    """Whether `array` has one of the integer types i8 to i64, u8 to u64, not boolean."""
    return array.dtype.kind in "iu"
