"""Faults in reading integers: too few bits, no sign, elements of a list that are overlooked."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from opcert.panel.fault import (
    ArrayCall,
    Fault,
    OperatorSignature,
    Outputs,
    array_like,
    corrupting,
    is_integral,
    misreading,
    misreading_after_checks,
    rejecting,
    with_integers,
)


def _truncated(bits: int, number: int) -> int:
    return (number + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def _clamped(bits: int, number: int) -> int:
    return max(-(1 << (bits - 1)), min(number, (1 << (bits - 1)) - 1))


def _through_f32(number: int) -> int:
    return int(np.float32(number))


def _as_u32(number: int) -> int:
    return number % (1 << 32)


def _outer(elements: Sequence[Any]) -> list[Any]:
    half = len(elements) // 2
    return [*([elements[0]] * half), *([elements[-1]] * (len(elements) - half))]


# Ways of misreading an integer: a name, the effect in words, and the function.
_MISREADINGS: tuple[tuple[str, str, Callable[[int], int]], ...] = (
    *((f"cut-to-{n}-bits", f"is cut to {n} bits", partial(_truncated, n)) for n in (8, 16, 32)),
    *((f"clamped-to-{n}-bits", f"is clamped to {n} bits", partial(_clamped, n)) for n in (16, 32)),
    ("through-f32", "is rounded to a 32-bit float", _through_f32),
    ("as-u32", "is read as an unsigned integer of 32 bits", _as_u32),
    ("without-sign", "loses its sign", abs),
    ("at-least-zero", "is raised to 0 where it is negative", partial(max, 0)),
    ("negative-one-high", "is one too high where it is negative", lambda n: n + (n < 0)),
    ("negative-one-low", "is one too low where it is negative", lambda n: n - (n < 0)),
)

# Ways of misreading a list.
_LIST_MISREADINGS: tuple[tuple[str, str, Callable[[Sequence[Any]], Sequence[Any]]], ...] = (
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


# Kinds of values that implementations treat specially.
_VALUE_KINDS: tuple[tuple[str, str, Callable[[Sequence[int]], bool]], ...] = (
    ("zero", "has a 0", lambda numbers: 0 in numbers),
    ("minus-one", "has a -1", lambda numbers: -1 in numbers),
    ("negative", "has a negative value", lambda numbers: min(numbers, default=0) < 0),
    ("several", "has several elements", lambda numbers: len(numbers) > 1),
    ("one", "has one element", lambda numbers: len(numbers) == 1),
    ("none", "has no element", lambda numbers: not numbers),
    ("repeated", "has an element twice", lambda numbers: len(set(numbers)) < len(numbers)),
)


def integer_faults(signature: OperatorSignature) -> Iterator[Fault]:
    """Yield the ways of misreading each argument that holds integers."""
    for name in signature.integers:
        for key, text, misread in _MISREADINGS:
            misread_call = partial(_with_misread_integers, name, misread)
            yield misreading(f"{name}-{key}", f"{name} {text} before it is checked", misread_call)
            yield misreading_after_checks(
                f"{name}-{key}-checked", f"{name} {text} after it was checked", misread_call
            )
        for key, text, misread_list in _LIST_MISREADINGS:
            yield misreading_after_checks(
                f"{name}-{key}", f"{name} {text}", partial(_with_misread_list, name, misread_list)
            )
        yield misreading_after_checks(f"{name}-sorted", f"{name} is sorted", partial(_sorted, name))
        for key, text, has in _VALUE_KINDS:
            yield from _value_faults(name, key, text, has)
    for name, other in permutations(signature.numbers, 2):
        yield from _pair_faults(name, other)


def _with_misread_integers(name: str, misread: Callable[[int], int], call: ArrayCall) -> ArrayCall:
    if all(misread(number) == number for number in call.integers(name)):
        return call
    return call.replaced(name, with_integers(call.argument(name), misread))


def _with_misread_list(
    name: str, misread: Callable[[Sequence[Any]], Sequence[Any]], call: ArrayCall
) -> ArrayCall:
    """Misread a list, or an array of integers with one dimension, of two elements or more."""
    value = call.argument(name)
    is_array = isinstance(value, np.ndarray)
    if is_array and (value.ndim != 1 or not is_integral(value)):
        return call
    elements = list(value.tolist()) if is_array else value
    if not isinstance(elements, list) or len(elements) < 2:
        return call
    read = list(misread(elements))
    if read == elements:
        return call
    return call.replaced(name, array_like(value, read) if is_array else read)


def _sorted(name: str, call: ArrayCall) -> ArrayCall:
    is_array = isinstance(call.argument(name), np.ndarray)
    return _with_misread_list(name, sorted, call) if is_array else call


def _value_faults(
    name: str, key: str, text: str, has: Callable[[Sequence[int]], bool]
) -> Iterator[Fault]:
    """Yield faults that corrupt or reject calls in which an argument has values of one kind."""

    def is_affected(call: ArrayCall) -> bool:
        return call.argument(name) is not None and has(call.integers(name))

    yield corrupting(
        f"{name}-wrong-for-{key}",
        f"results are wrong where {name} {text}",
        lambda call, _: is_affected(call),
    )
    yield rejecting(
        f"{name}-rejected-for-{key}", f"{name} is rejected where it {text}", is_affected
    )


def _pair_faults(name: str, other: str) -> Iterator[Fault]:
    """Yield faults that confuse two inputs, or reject inputs of different types."""

    def gives_both(call: ArrayCall) -> bool:
        return name in call.inputs and other in call.inputs

    yield misreading_after_checks(
        f"{name}-read-as-{other}",
        f"{other} is read where {name} is",
        lambda call: call.replaced(name, call.inputs[other]) if gives_both(call) else call,
    )
    if name < other:
        yield rejecting(
            f"{name}-and-{other}-of-two-types",
            f"{name} and {other} are rejected where their types differ",
            lambda call: gives_both(call) and call.inputs[name].dtype != call.inputs[other].dtype,
        )


def range_end_faults(
    name: str, bounds: Callable[[ArrayCall], tuple[int | None, int | None]]
) -> Iterator[Fault]:
    """Yield faults that corrupt calls where an argument is at an end of its declared range."""

    def is_at(end: int, call: ArrayCall, _: Outputs) -> bool:
        return bounds(call)[end] in call.integers(name)

    for end, text in enumerate(("least", "greatest")):
        yield corrupting(
            f"{name}-wrong-at-{text}",
            f"results are wrong where {name} has its {text} value",
            partial(is_at, end),
        )
