"""Members that misread integers: too few bits, no sign, elements of a list that are overlooked."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from opcert.panel.member import (
    ArrayCall,
    Change,
    Member,
    Outputs,
    Signature,
    array_like,
    changing,
    changing_checked,
    rejecting,
    spoiling,
    whole,
    with_integers,
)


def _wrapped(bits: int, number: int) -> int:
    return (number + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def _clamped(bits: int, number: int) -> int:
    return max(-(1 << (bits - 1)), min(number, (1 << (bits - 1)) - 1))


def _rounded(number: int) -> int:
    return int(np.float32(number))


def _unsigned(number: int) -> int:
    return number % (1 << 32)


def _outer(elements: Sequence[Any]) -> list[Any]:
    half = len(elements) // 2
    return [*([elements[0]] * half), *([elements[-1]] * (len(elements) - half))]


# How each integer may be misread: a name, what happens to the argument, and to the number.
_MISREADINGS: tuple[tuple[str, str, Callable[[int], int]], ...] = (
    *((f"cut-to-{n}-bits", f"is cut to {n} bits", partial(_wrapped, n)) for n in (8, 16, 32)),
    *((f"clamped-to-{n}-bits", f"is clamped to {n} bits", partial(_clamped, n)) for n in (16, 32)),
    ("through-f32", "is rounded to a 32-bit float", _rounded),
    ("as-u32", "is read as an unsigned integer of 32 bits", _unsigned),
    ("without-sign", "loses its sign", abs),
    ("at-least-zero", "is raised to 0 where it is negative", partial(max, 0)),
    ("negative-one-high", "is one too high where it is negative", lambda n: n + (n < 0)),
    ("negative-one-low", "is one too low where it is negative", lambda n: n - (n < 0)),
)

# How a list may be misread.
_OVERSIGHTS: tuple[tuple[str, str, Callable[[Sequence[Any]], Sequence[Any]]], ...] = (
    ("first-ignored", "has its first element replaced by the second", lambda x: [x[1], *x[1:]]),
    ("last-ignored", "has its last element replaced by that before it", lambda x: [*x[:-1], x[-2]]),
    ("middle-ignored", "has all its elements replaced by the outer ones", _outer),
    ("first-for-all", "has every element replaced by the first", lambda x: [x[0] for _ in x]),
    ("reversed", "is read from its end", lambda x: x[::-1]),
    ("first-dropped", "loses its first element", lambda x: x[1:]),
    ("last-dropped", "loses its last element", lambda x: x[:-1]),
    ("four-read", "is read up to its fourth element", lambda x: x[:4]),
    ("eight-read", "is read up to its eighth element", lambda x: x[:8]),
)


def integer_members(signature: Signature) -> Iterator[Member]:
    """Yield what can be misread in each argument that holds integers."""
    for name in signature.integers:
        for key, text, misread in _MISREADINGS:
            change = partial(_misread, name, misread)
            yield changing(f"{name}-{key}", f"{name} {text} before it is checked", change)
            yield changing_checked(
                f"{name}-{key}-checked", f"{name} {text} after it was checked", change
            )
        for key, text, overlook in _OVERSIGHTS:
            yield changing_checked(
                f"{name}-{key}", f"{name} {text}", partial(_overlooked, name, overlook)
            )
        yield changing_checked(f"{name}-sorted", f"{name} is sorted", partial(_sorted, name))
        yield from _special_values(name)
    for one, other in permutations(signature.numbers, 2):
        yield changing_checked(
            f"{one}-read-as-{other}", f"{other} is read where {one} is", _read_as(one, other)
        )
        if one < other:
            yield rejecting(
                f"{one}-and-{other}-of-two-types",
                f"{one} and {other} are rejected where their types differ",
                partial(_types_differ, one, other),
            )


def _misread(name: str, misread: Callable[[int], int], call: ArrayCall) -> ArrayCall:
    if all(misread(number) == number for number in call.integers(name)):
        return call
    return call.replaced(name, with_integers(call.argument(name), misread))


def _overlooked(
    name: str, overlook: Callable[[Sequence[Any]], Sequence[Any]], call: ArrayCall
) -> ArrayCall:
    value = call.argument(name)
    elements = _elements(value)
    if elements is None or len(elements) < 2:
        return call
    read = list(overlook(elements))
    if read == elements:
        return call
    return call.replaced(name, array_like(value, read) if isinstance(value, np.ndarray) else read)


def _elements(value: Any) -> list[Any] | None:
    """Return the elements of a list, or of an array of integers with one dimension."""
    if isinstance(value, np.ndarray):
        return list(value.tolist()) if value.ndim == 1 and whole(value) else None
    return value if isinstance(value, list) else None


def _sorted(name: str, call: ArrayCall) -> ArrayCall:
    value = call.argument(name)
    if not isinstance(value, np.ndarray):
        return call
    return _overlooked(name, sorted, call)


def _special_values(name: str) -> Iterator[Member]:
    """Yield members that are wrong, or reject, where an argument has a value of some kind."""
    kinds: tuple[tuple[str, str, Callable[[Sequence[int]], bool]], ...] = (
        ("zero", "has a 0", lambda numbers: 0 in numbers),
        ("minus-one", "has a -1", lambda numbers: -1 in numbers),
        ("negative", "has a negative value", lambda numbers: min(numbers, default=0) < 0),
        ("several", "has several elements", lambda numbers: len(numbers) > 1),
        ("one", "has one element", lambda numbers: len(numbers) == 1),
        ("none", "has no element", lambda numbers: not numbers),
        ("repeated", "has an element twice", lambda numbers: len(set(numbers)) < len(numbers)),
    )
    for key, text, has in kinds:
        where = partial(_has, name, has)
        yield spoiling(
            f"{name}-wrong-for-{key}",
            f"results are wrong where {name} {text}",
            _whatever_results(where),
        )
        yield rejecting(f"{name}-rejected-for-{key}", f"{name} is rejected where it {text}", where)


def _whatever_results(
    where: Callable[[ArrayCall], bool],
) -> Callable[[ArrayCall, Outputs], bool]:
    return lambda call, _: where(call)


def _has(name: str, has: Callable[[Sequence[int]], bool], call: ArrayCall) -> bool:
    return call.argument(name) is not None and has(call.integers(name))


def _read_as(one: str, other: str) -> Change:
    def change(call: ArrayCall) -> ArrayCall:
        given = one in call.inputs and other in call.inputs
        return call.replaced(one, call.inputs[other]) if given else call

    return change


def _types_differ(one: str, other: str, call: ArrayCall) -> bool:
    given = one in call.inputs and other in call.inputs
    return given and call.inputs[one].dtype != call.inputs[other].dtype


def wrong_at_ends(
    name: str, ends: Callable[[ArrayCall], tuple[int, int] | None]
) -> Iterator[Member]:
    """Yield members that are wrong where an argument is at an end of its declared range."""

    def at(end: int, call: ArrayCall, _: Outputs) -> bool:
        limits = ends(call)
        return limits is not None and limits[end] in call.integers(name)

    for end, text in enumerate(("least", "greatest")):
        yield spoiling(
            f"{name}-wrong-at-{text}",
            f"results are wrong where {name} has its {text} value",
            partial(at, end),
        )
