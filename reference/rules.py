"""How a reference function says that a call breaks a rule."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeAlias

import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Operator: TypeAlias = Callable[..., list[Array]]


# The rules that go unchecked for now.
_unchecked: set[str] = set()


class RuleBroken(ValueError):
    """A call breaks the rule named by `rule`."""

    def __init__(self, rule: str, found: str) -> None:
        super().__init__(f"{rule}: {found}")
        self.rule = rule


def require(holds: bool, rule: str, found: str) -> None:
    """Let a call pass that keeps `rule`.

    Raises:
        RuleBroken: `holds` is false; `found` says what the call has instead.
    """
    if not holds and rule not in _unchecked:
        raise RuleBroken(rule, found)


@contextmanager
def unchecked(rule: str) -> Iterator[None]:
    """Let calls pass that break `rule`, as an implementation does which lacks the check."""
    _unchecked.add(rule)
    try:
        yield
    finally:
        _unchecked.discard(rule)


def requires_arguments(rule: str) -> Callable[[Operator], Operator]:
    """Reject a call that leaves out a parameter without a default, by `rule`."""

    def decorate(operator: Operator) -> Operator:
        needed = [
            name
            for name, parameter in signature(operator).parameters.items()
            if parameter.default is Parameter.empty
        ]

        @wraps(operator)
        def checked(**arguments: Any) -> list[Array]:
            missing = [name for name in needed if arguments.get(name) is None]
            require(not missing, rule, f"{', '.join(missing)} left out")
            return operator(**arguments)

        return checked

    return decorate


def is_integer(array: Array) -> bool:
    """Whether `array` has one of the integer types i8 to i64, u8 to u64; boolean is none."""
    return array.dtype.kind in "iu"
