"""Balls -> bounds: the least and the greatest element that each arithmetic allows; and accuracy.

Rounding is monotone, so ties, subnormals and overflow need no rule of their own: a result is
allowed if it lies between the rounded ends of what its last operation may give. How accurate
outputs are is measured by such bounds.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import ConfigDict, Field

from opcert.accuracy.arithmetics import PRECISION, Arithmetics, arithmetics, minimal, neighbours
from opcert.arrays.element_types import ELEMENT_TYPES, FLOATS, Array, bits_of, type_name
from opcert.arrays.golden import NAN, NONFINITE, OPEN, SIGN, Allowance, allowance_of

if TYPE_CHECKING:
    from opcert.accuracy.balls import Ball

# Below it, what a double lacks of a number may be subnormal.
_TINY = 2.0**-900


def allowed(
    of: Arithmetics, forms: "Sequence[Sequence[Ball | None]]"
) -> tuple[Array, Array, Array]:
    """Return the least and the greatest element for each arithmetic, and the flags of elements.

    Each form of a formula has a ball for each element, or None where it is open. What is within one
    form is allowed, and so is all between.
    """
    # Elements and forms may share a ball.
    numbers = {id(ball): ball for balls in forms for ball in balls}
    places = {key: k for k, key in enumerate(numbers)}
    ends_and_flags = _of_balls(of, [*numbers.values()])
    rows_of_forms = [[places[id(ball)] for ball in balls] for balls in forms]
    results = [[array[rows] for array in ends_and_flags] for rows in rows_of_forms]
    low, high, flags = results[0]
    for more_low, more_high, more_flags in results[1:]:
        # A NaN that one form requires another one may not give.
        disagree = (flags ^ more_flags) & (NAN | SIGN)
        flags = (flags | more_flags) & ~disagree | np.where(disagree & NAN, OPEN, 0)
        low, high = np.fmin(low, more_low), np.fmax(high, more_high)
    dtype = ELEMENT_TYPES[of.element_type]
    within = [np.flatnonzero(rows) for rows in of.contains]
    lows, highs = (
        np.stack([choose(ends[:, rows], axis=1) for rows in within]).astype(dtype)
        for choose, ends in ((np.min, low), (np.max, high))
    )
    return lows, highs, flags.astype(np.uint8)


def _of_balls(of: Arithmetics, balls: "Sequence[Ball | None]") -> tuple[Array, Array, Array]:
    """Return the ends for each element and row, and the flags of each element."""
    flags = np.zeros(len(balls), np.int64)
    head, tail = np.zeros(len(balls)), np.zeros(len(balls))
    error, units = (np.zeros((len(balls), len(of.rows))) for _ in range(2))
    number = np.full(len(balls), np.nan)
    ends = np.tile([-np.inf, np.inf], (len(balls), 1))
    may_be_zero = np.zeros((len(balls), 1), np.bool_)
    for k, ball in enumerate(balls):
        if ball is None:
            flags[k] = OPEN
            continue
        flags[k] |= NONFINITE * (ball.may_be_infinite or ball.may_be_anything)
        error[k] = np.where(np.isnan(ball.error), np.inf, ball.error)
        may_be_zero[k] = ball.may_be_zero
        if ball.number is not None:
            number[k] = ball.number
            flags[k] |= NAN * np.isnan(ball.number)
            # An operation on leaves has the sign of IEEE 754, and -0.0 keeps its own; the signs of
            # other zeros are open.
            has_sign = ball.rounding in ("+", "*", "/", "sqrt") or np.signbit(ball.number)
            flags[k] |= SIGN * (ball.number == 0 and has_sign)
            continue
        head[k], tail[k] = _two_doubles(ball)
        ends[k] = ball.ends
        if ball.rounding in of.function_units and (head[k] or np.any(error[k])):
            units[k] = of.function_units[ball.rounding] + ball.growth
    low = _ends(of, head, tail, error, units, -1)
    high = _ends(of, head, tail, error, units, 1)
    # A result below the smallest normal number may be flushed.
    normal = of.limits[1]
    flushes = ~of.kept & (error[:, :1] < np.inf)
    low = np.where((low > 0) & (flushes & (low <= normal) | may_be_zero), 0.0, low)
    high = np.where((high < 0) & (flushes & (high >= -normal) | may_be_zero), 0.0, high)
    low, high = (np.clip(each, ends[:, :1], ends[:, 1:]) for each in (low, high))
    # What is not finite may reach results of a transform, whatever they are.
    is_special = ~np.isnan(number)[:, None] & (error < np.inf)
    return (
        np.where(is_special, number[:, None], low),
        np.where(is_special, number[:, None], high),
        flags,
    )


def _two_doubles(ball: "Ball") -> tuple[float, float]:
    """Return the nearest double to a value, and the rest."""
    mid = ball.value.mid()
    mantissa, exponent = map(int, mid.man_exp())
    try:
        # Both divisions of integers and conversions round correctly.
        head = (
            float(mantissa << exponent) if exponent >= 0 else mantissa / (1 << min(-exponent, 4000))
        )
    except OverflowError:
        # Beyond the greatest double, an error may lead back to one.
        head = math.copysign(sys.float_info.max, mantissa)
    if abs(head) < _TINY:
        # Rounded upwards, it may reach half a unit of the head.
        shift = max(-1074 - exponent, 0)
        rest = (mantissa << max(exponent + 1074, 0)) - (int(math.ldexp(head, 1074)) << shift)
        units = abs(rest) >> shift
        return head, math.ldexp(units if rest > 0 else -units, -1074)
    rest = mid - head
    tail = float(rest)
    # Towards 0, lest a number next to the middle of two doubles become the middle.
    return head, tail if abs(tail) <= abs(rest) else float(np.nextafter(tail, 0.0))


def _ends(
    of: Arithmetics, head: Array, tail: Array, error: Array, units: Array, sign: int
) -> Array:
    """Return the lower or the upper ends, rounded in the element type."""
    away = sign * np.inf
    with np.errstate(invalid="ignore"):
        rest = tail[:, None] + sign * error
    rest = np.where(np.isnan(rest), away, rest)
    rest = np.where(error > 0, np.nextafter(rest, away), rest)
    top, below = _sum(head[:, None], rest)
    if units.any():
        # Units in the last place of the end or of the value, in the type of the function: the
        # larger one, so that wider ends before this give wider ends after it.
        exponents = np.maximum(
            *(np.where(x == 0, -2000, np.frexp(x)[1]) for x in (top, head[:, None]))
        )
        last = np.ldexp(1.0, exponents - of.function_bits)
        widened = rest + sign * units * np.maximum(last, of.function_least)
        wide_top, wide_below = _sum(head[:, None], np.nextafter(widened, away))
        top, below = np.where(units > 0, wide_top, top), np.where(units > 0, wide_below, below)
    inwards = (units > 0) & of.has_units_of_results
    outwards = of.ends_at_a_neighbour & ~inwards
    nearest, inner, outer = (_rounded(of, top, below, how) for how in (0, -sign, sign))
    return np.where(inwards, inner, np.where(outwards, outer, nearest))


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the rounded sum of doubles and its error (Knuth)."""
    with np.errstate(all="ignore"):
        top = a + b
        part = top - a
        error = (a - (top - part)) + (b - part)
    return top, np.where(np.isfinite(top), error, 0.0)


def _rounded(of: Arithmetics, top: Array, below: Array, direction: int) -> Array:
    """Return a sum of two doubles as an element: the nearest, or the next one up or down."""
    if of.element_type == "f64":
        with np.errstate(over="ignore"):
            return np.where(below * direction > 0, np.nextafter(top, direction * np.inf), top)
    # Rounded to odd, a double has what a second rounding needs (Boldo and Melquiond, 2008).
    is_even = (top.view(np.int64) & 1) == 0
    odd = np.where((below != 0) & is_even, np.nextafter(top, np.copysign(np.inf, below)), top)
    greatest, normal, _ = of.limits
    bits = PRECISION[of.element_type]
    exponents = np.maximum(np.frexp(odd)[1], np.frexp(normal)[1])
    step = np.ldexp(1.0, exponents - bits)
    function = {0: np.rint, 1: np.ceil, -1: np.floor}[direction]
    with np.errstate(all="ignore"):
        element = np.where(np.isfinite(odd), function(odd / step) * step, odd)
    # Beyond the greatest element there is half a unit that rounds to it.
    limit = greatest + (np.ldexp(1.0, np.frexp(greatest)[1] - bits) if direction else 0.0)
    inwards = (np.abs(odd) < limit) & (direction * odd < 0) if direction else np.False_
    past = np.copysign(np.where(inwards, greatest, np.inf), odd)
    return np.where(np.abs(element) > greatest, past, element)


# Errors of more than 512 units are counted together.
_MORE = 10


_Count = Annotated[int, Field(ge=0)]
_Size = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How accurate the computed outputs of a call are.

    `within` are the tightest arithmetics that allow all elements. `worst` is how many elements of
    the type lie at most between a result and the correctly rounded one, and `counts` how many
    elements have 0 of them, 1, 2, up to 4, and so on, or more than 512; others are `open`. `drift`
    is the sum of these errors, positive where a result is too large in magnitude, and `spread` that
    of their squares.
    """

    # Read by pydantic when it parses a certificate.
    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)

    type: str
    within: tuple[str, ...]
    worst: _Size
    counts: tuple[_Count, ...]
    open: _Count
    drift: Annotated[float, Field(allow_inf_nan=False)]
    spread: _Size

    def __post_init__(self) -> None:
        """Check what a certificate states.

        Raises:
            ValueError: the element type has no such arithmetics, or the numbers contradict another.
        """
        known = arithmetics(self.type).names if self.type in PRECISION else ()
        if not {*self.within} <= {*known} or not known:
            raise ValueError("arithmetics of a floating-point type with which operators compute")
        is_last = len(self.counts) == int(_bucket(self.worst)) + 1 and self.counts[-1] > 0
        # A power of Python may be a unit more than the product, which NumPy sums.
        square = self.worst * self.worst
        if not is_last or self.spread < square or (self.spread and not self.worst):
            raise ValueError("'counts' and 'spread' of errors of which 'worst' is the largest")


def accuracy_of(allowance: Allowance, output: Array) -> Accuracy | None:
    """Return how accurate an output is; None of integers, and of what is all open."""
    element_type = type_name(output.dtype)
    if element_type not in FLOATS:
        return None
    # Types of 8 bits are converted, of which a signalling NaN warns.
    with np.errstate(invalid="ignore"):
        decided = allowance.decided & np.isfinite(output)
    if not decided.any():
        return None
    place, low, high = (_ordinals(array) for array in (output, allowance.low[0], allowance.high[0]))
    errors = np.maximum(0.0, _steps(high, place)) - np.maximum(0.0, _steps(place, low))
    errors = errors[decided]
    outwards, distances = errors * np.sign(place[decided]), np.abs(errors)
    return Accuracy(
        element_type,
        tuple(minimal(allowance.within(output), element_type)),
        float(distances.max()),
        tuple(np.bincount(_bucket(distances)).tolist()),
        int(output.size - decided.sum()),
        float(outwards.sum()),
        float((errors**2).sum()),
    )


def _bucket(distance: Any) -> Any:
    """Return in which of the `counts` of an accuracy distances are."""
    return np.ceil(np.log2(np.clip(distance, 0.5, 2.0**_MORE))).astype(int) + 1


def _ordinals(array: Array) -> Array:
    """Return the number of each element in the order of its type; zeros are equal."""
    bits = bits_of(array)
    sign = bits.dtype.type(1 << (8 * bits.itemsize - 1))
    magnitudes = (bits & ~sign).astype(np.int64)
    return np.asarray(np.where(bits >= sign, -magnitudes, magnitudes))


def _steps(start: Array, end: Array) -> Array:
    """Return how many elements of the type one ordinal is after another, as doubles."""
    rough = end.astype(np.float64) - start
    # Doubles have too few bits for small differences of large numbers, integers for large ones.
    with np.errstate(over="ignore"):
        exact = np.asarray(end - start, np.float64)
    return np.asarray(np.where(np.abs(rough) < 2.0**62, exact, rough))


def accuracy_of_call(golden: Sequence[Array], outputs: Sequence[Array]) -> Accuracy | None:
    """Return how accurate the first computed output is; outputs agree in type and shape."""
    for expected, output in zip(golden, outputs, strict=False):
        if (allowance := allowance_of(expected)) is not None:
            return accuracy_of(allowance, output)
    return None


def has_accuracy(golden: Array) -> bool:
    """Whether any right result has an accuracy: all arithmetics bound an element."""
    allowance = allowance_of(golden)
    if allowance is None or type_name(golden.dtype) not in PRECISION:
        return False
    is_bounded = np.isfinite(allowance.low).all(axis=0) & np.isfinite(allowance.high).all(axis=0)
    return bool((is_bounded & ~allowance.flagged(OPEN | NAN | NONFINITE)).any())


def undistinguished(outputs: Iterable[Sequence[Array]]) -> dict[str, list[tuple[str, str]]]:
    """Return, by element type, neighbouring arithmetics that no golden output distinguishes.

    An output distinguishes two if the looser one allows a result that the tighter one refuses.
    """
    pairs_by_type: dict[str, list[tuple[str, str]]] = {}
    for allowance in (allowance_of(output) for golden in outputs for output in golden):
        if allowance is None or type_name(allowance.low.dtype) not in PRECISION:
            continue
        element_type = type_name(allowance.low.dtype)
        pairs = pairs_by_type.setdefault(element_type, neighbours(element_type))
        decided = ~allowance.flagged(OPEN)
        for pair in [*pairs]:
            tight, loose = map(allowance.arithmetics.index, pair)
            is_looser = allowance.low[loose] < allowance.low[tight]
            is_looser |= allowance.high[loose] > allowance.high[tight]
            if (is_looser & decided).any():
                pairs.remove(pair)
    return pairs_by_type


def arithmetics_of(calls: Iterable[Accuracy], element_type: str) -> list[str]:
    """Return the tightest arithmetics of a type that allow all of several calls.

    An arithmetic allows what one that it contains allows.
    """
    table = arithmetics(element_type)
    holds = np.ones(len(table.names), np.bool_)
    for call in calls:
        within = [table.names.index(name) for name in call.within]
        holds &= table.contains[:, within].any(axis=1)
    return minimal(
        [name for name, is_held in zip(table.names, holds, strict=True) if is_held], element_type
    )
