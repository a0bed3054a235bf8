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


def requires_arguments(rule: str, *names: str) -> Callable[[Operator], Operator]:
    """Reject a call without one of `names` or a parameter that has no default: it breaks `rule`."""

    def decorate(operator: Operator) -> Operator:
        parameters = signature(operator).parameters.values()
        required = [
            parameter.name
            for parameter in parameters
            if parameter.default is Parameter.empty and parameter.kind != Parameter.VAR_KEYWORD
        ]

        @wraps(operator)
        def checked(**arguments: Any) -> list[Array]:
            missing = [name for name in (*required, *names) if arguments.get(name) is None]
            require(not missing, rule, f"{', '.join(missing)} omitted")
            return operator(**arguments)

        return checked

    return decorate


def is_integer(array: Array) -> bool:
    """Whether `array` has one of the integer types i8 to i64, u8 to u64, not boolean."""
    return array.dtype.kind in "iu"


def require_slices(slug: str, **bounds: Array) -> None:
    """Check the starts, the stops and, last, the steps of slices.

    They are lists of integers and have equal lengths; no step is 0.

    Raises:
        RuleBroken: the call violates one of these rules.
    """
    for name, bound in bounds.items():
        require(is_integer(bound), f"{slug}/index-type", f"{name} of {bound.dtype}")
        require(bound.ndim == 1, f"{slug}/{name}-rank", f"{name} of rank {bound.ndim}")
    sizes = {name: bound.size for name, bound in bounds.items()}
    require(len({*sizes.values()}) == 1, f"{slug}/equal-lengths", f"lengths {sizes}")
    name, steps = [*bounds.items()][-1]
    require(all(steps), f"{slug}/{name}-nonzero", f"{name} {steps.tolist()}")
