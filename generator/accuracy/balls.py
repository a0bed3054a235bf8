"""Balls: numbers of a formula, with how far an arithmetic may be from them.

A formula is evaluated on balls once, for all arithmetics of a type. The value is an enclosure by
python-flint (Johansson, 2017), nearly always exact; the error is a bound for each arithmetic, by
the usual rules of propagation (Higham, 2002). The error of a sum in any order is that of Jeannerod
and Rump (2013): it holds for any number of terms.

Errors may be infinite, or overflow: whoever evaluates a formula lets NumPy ignore that, once.
"""

import math
import sys
from collections.abc import Callable, Sequence
from copy import copy
from fractions import Fraction
from functools import cached_property, wraps
from typing import Any, TypeVar, cast

import numpy as np
from flint import arb, ctx

from opcert.accuracy.arithmetics import PRECISION, Arithmetics
from opcert.arrays.element_types import Array
from opcert.errors import Undecided

# Products of doubles, and sums of many with close exponents, are exact.
ctx.prec = 320
# Floats beyond which `exp` overflows every type; slack of bounds that are computed in doubles.
_MOST_EXPONENT, _LEAST_EXPONENT, _SLACK = 709.8, -20_000.0, 1 + 2.0**-40

Error = Array | float
Operation = TypeVar("Operation", bound=Callable[..., Any])


def _remembered(operation: Operation) -> Operation:
    """Return an operation that has the same result each time: elements share much of a formula."""

    @wraps(operation)
    def remembered(one: "Ball", *others: Any) -> Any:
        # Balls compare as numbers do; and 1 equals a fraction, which may have been rounded.
        key = (operation, *[id(o) if isinstance(o, Ball) else (type(o), o) for o in others])
        if key not in one.results:
            # The other operand is kept, so that no other ball gets its number.
            one.results[key] = operation(one, *others), others
        return one.results[key][0]

    return cast("Operation", remembered)


class Ball:
    """A finite number, infinity or NaN, and what its computation may have made of it.

    Attributes:
        number: The exact value as a double, if it is infinite or NaN or a zero with a sign.
        value: An enclosure of the exact value.
        error: How far the exact result of the operation may be from it, over its operands.
        rounding: The operation: "" is exact, "+", "*" or "sum" rounds, a function has units.
        growth: By how many more units in the last place an exponential may err.
        largest: The largest magnitude in the input of an element; of two elements, the product.
        may_be_infinite: It may also be an infinity of its sign; an intermediate result overflows.
        may_be_anything: It may also be any infinity, or NaN.
        may_be_zero: It may also be zero; an intermediate result, by which it is divided, overflows.
        ends: What no result is below or above, whatever the arithmetic.
        results: What operations on it gave, by operation and other operand.
    """

    __slots__ = (
        "__dict__", "ends", "error", "growth", "largest", "may_be_anything", "may_be_infinite",
        "may_be_zero", "number", "of", "results", "rounding", "value",
    )  # fmt: skip

    def __init__(
        self,
        of: Arithmetics,
        value: Any,
        error: Error = 0.0,
        rounding: str = "",
        number: float | None = None,
    ) -> None:
        self.of, self.value, self.rounding, self.number = of, value, rounding, number
        # Most errors are 0 in each arithmetic.
        self.error = error if np.any(error) else 0.0
        self.growth: Error = 0.0
        self.largest: float | None = None
        self.may_be_infinite = self.may_be_anything = self.may_be_zero = False
        self.ends = (-math.inf, math.inf)
        self.results: dict[tuple[Any, ...], tuple[Any, Any]] = {}

    @cached_property
    def magnitude(self) -> float:
        """An upper bound of the absolute value, or the greatest double: it overflows then."""
        return min(abs(float(self.value)) * _SLACK, sys.float_info.max)

    @cached_property
    def mantissa(self) -> tuple[int, int]:
        """The number of significant bits and the exponent of the last one; many if inexact."""
        if not self.value.is_exact():
            return 1 << 20, -(1 << 20)
        if self.value.is_zero():
            return 0, 1000
        mantissa, exponent = self.value.man_exp()
        return int(mantissa).bit_length(), int(exponent)

    @cached_property
    def as_factor(self) -> Error:
        """How far the result may be from the exact value, unless it is zero for an overflow."""
        if not self.rounding or self.number is not None:
            return self.error
        of, (bits, exponent) = self.of, self.mantissa
        # An infinite error is one anyway, and its rounding is a number.
        size = np.minimum(self.magnitude + self.error, sys.float_info.max)
        relative, absolute, units = of.rounding_errors[self.rounding]
        if self.rounding == "exp":
            units = units + self.growth
        rounded = (size * relative + absolute) * units
        # What the type of the operation holds is not rounded.
        if 2.0 ** min(exponent, 0) >= of.limits[2]:
            held = of.column["sum_bits" if self.rounding == "sum" else "bits"]
            is_exact = (np.asarray(self.error) == 0) & (bits <= held)
            # But a quotient by a reciprocal may be off where the exact one is an element.
            is_exact &= of.function_units.get(self.rounding, 0.0) == 0
            rounded = np.where(is_exact, 0.0, rounded)
        flushed = of.flushed["sum" if self.rounding == "sum" else ""]
        is_small = self.magnitude - self.error <= flushed
        if is_small.any():
            rounded = np.where(is_small, np.maximum(rounded, np.minimum(size, flushed)), rounded)
        return (self.error + rounded) * _SLACK

    @cached_property
    def as_operand(self) -> Error:
        """How far the result may be from the exact value, after its own rounding."""
        if not self.may_be_zero:
            return self.as_factor
        return np.maximum(self.as_factor, self.magnitude + self.error)

    @cached_property
    def overflows(self) -> bool:
        """Whether it may be infinite once it is an operand."""
        if self.may_be_infinite or self.may_be_anything:
            return True
        error = np.asarray(self.as_operand)
        # Hardly any number is so large that it matters which arithmetic it is of.
        if self.magnitude + error.max() < self.of.overflow:
            return False
        # An error that is NaN is unknown.
        error = np.where(self.of.keeps_width, error, 0.0)
        return not self.magnitude + error.max() < self.of.overflow

    @property
    def is_leaf(self) -> bool:
        """Whether it is an element or a constant."""
        return not self.rounding

    def _with_flags(self, *operands: "Ball") -> "Ball":
        for operand in operands:
            self.may_be_anything |= operand.may_be_anything
            self.may_be_infinite |= operand.number is None and operand.overflows
        return self

    def _special(self, number: float, *operands: "Ball") -> "Ball":
        """Return an infinity or NaN, unless an operand may overflow and give something else."""
        if not math.isnan(number) and any(
            ball.number is None and ball.overflows for ball in operands
        ):
            raise Undecided
        return Ball(self.of, None, number=number)

    @_remembered
    def __neg__(self) -> "Ball":
        number = None if self.number is None else -self.number
        negated = Ball(self.of, None if self.value is None else -self.value, number=number)
        kept = "error", "rounding", "growth", "largest"
        for name in (*kept, "may_be_anything", "may_be_infinite", "may_be_zero"):
            setattr(negated, name, getattr(self, name))
        return negated

    @_remembered
    def __add__(self, other: Any) -> "Ball":
        other = ball(self.of, other)
        if self.value is None or other.value is None:
            return self._special(_double(self) + _double(other), self, other)
        error = self.as_operand + other.as_operand
        result = Ball(self.of, self.value + other.value, error, "+")
        if self.is_leaf and other.is_leaf and result.value.is_zero():
            result.number = _double(self) + _double(other)
        return result._with_flags(self, other)

    @_remembered
    def __mul__(self, other: Any) -> "Ball":
        other = ball(self.of, other)
        result = self._times(other)
        largest, others = self.largest, other.largest
        if self.is_leaf and other.is_leaf and largest is not None and others is not None:
            result.largest, result.rounding = largest * others, "*"
        return result

    def _times(self, other: "Ball") -> "Ball":
        if self.value is None or other.value is None:
            for one, factor in ((self, other), (other, self)):
                is_between = factor.value is not None and np.any(
                    factor.magnitude <= np.asarray(factor.as_operand) * _SLACK
                )
                if one.value is None and is_between and not factor.value.is_zero():
                    raise Undecided
            return self._special(_double(self) * _double(other), self, other)
        of, a, b = self.of, self.magnitude, other.magnitude
        own, others = self.as_factor, other.as_factor
        error: Error = 0.0
        if isinstance(own, np.ndarray) or isinstance(others, np.ndarray) or own or others:
            error = a * others + b * own + own * others
            # Of an infinite error times 0.
            error = np.where(np.isnan(error), np.inf, error)
        if self.is_leaf and other.is_leaf and (products := of.column["product"]).any():
            least = min(self.mantissa[0], other.mantissa[0])
            split = np.where(least > of.column["product_bits"], products, 0.0)
            error = error + split * a * b
        result = Ball(of, self.value * other.value, error, "*")
        result.may_be_zero = self.may_be_zero or other.may_be_zero
        # The sign of a flushed operand is open.
        is_flushed = 0 < max(a, b) < of.limits[1] and not of.kept.all()
        if self.is_leaf and other.is_leaf and result.value.is_zero() and not is_flushed:
            result.number = _double(self) * _double(other)
        return result._with_flags(self, other)

    @_remembered
    def __truediv__(self, other: Any) -> "Ball":
        other = ball(self.of, other)
        if other.value is not None and other.value.is_zero():
            raise Undecided
        if self.value is None or other.value is None:
            if self.value is not None and not math.isnan(_double(other)):
                return Ball(self.of, arb(0))._with_flags(self)
            return self._special(_double(self) / _double(other), self, other)
        own, others, quotient = self.as_factor, other.as_operand, self.value / other.value
        room = abs(float(other.value)) / _SLACK - others
        size = abs(float(quotient)) * _SLACK
        # A divisor that may be 0 leaves anything open.
        error = np.where(room > 0, (own + size * others) / np.asarray(room) * _SLACK, np.inf)
        # Half of the range has room for the errors of the divisor.
        if not 2 * self.of.limits[1] <= other.magnitude <= 0.5 / self.of.limits[1]:
            error = np.where(self.of.column["slope"], np.inf, error)
        if not np.isfinite(error).any():
            raise Undecided
        result = Ball(self.of, quotient, error, "/")
        # What is divided by infinity is 0.
        result.may_be_zero = self.may_be_zero or other.overflows
        if self.is_leaf and other.is_leaf and quotient.is_zero():
            result.number = _double(self) / _double(other)
        result.may_be_anything = self.may_be_anything or (self.overflows and other.overflows)
        result.may_be_infinite = self.number is None and self.overflows
        return result

    def __abs__(self) -> "Ball":
        return -self if _double(self) < 0 else self

    def total(self, terms: Sequence[Any]) -> "Ball":
        """Return the sum of terms, of which this is one, in any order."""
        of, balls = self.of, [ball(self.of, term) for term in terms]
        transform = _of_transform(balls)
        if len(balls) == 1:
            # An implementation may have begun with 0, which a zero of either sign does not change.
            return balls[0] if balls[0].number != 0 else Ball(of, arb(0), balls[0].error)
        if special := [one for one in balls if one.value is None]:
            number = sum(_double(one) for one in special)
            finite = sum(one.magnitude for one in balls if one.value is not None)
            if not math.isnan(number) and finite * _SLACK >= of.limits[0]:
                # The others may sum to the opposite infinity before.
                raise Undecided
            result = special[0]._special(number, *balls)
            result.error = transform
            return result
        if len(balls) == 2:
            # Where the sum is a zero, an implementation may have begun with either.
            one, two = balls
            error = one.as_operand + two.as_operand + transform
            return Ball(of, one.value + two.value, error, "sum")._with_flags(one, two)
        errors = sum((one.as_operand for one in balls), start=np.zeros(len(of.rows)))
        last = min(one.mantissa[1] for one in balls)
        # Partial sums are multiples of the last bit; below the least normal one, they may flush.
        flushed, more = of.flushed["sum"], len(balls) - 2
        least = 2.0 ** max(min(last, 0), -1074)
        errors = errors + np.where(least < flushed, more * flushed, 0.0)
        size = sum(one.magnitude for one in balls) + errors
        value = sum((one.value for one in balls), start=arb(0))
        # On a grid every order is exact.
        grid = np.log2(np.maximum(size, 2.0**-1074)) - last if last > -(1 << 20) else np.inf
        is_exact = (errors == 0) & (grid <= of.column["sum_bits"])
        error = errors + np.where(is_exact, 0.0, more * of.sum_unit * size * _SLACK)
        result = Ball(of, value, error + transform, "sum")._with_flags(*balls)
        most = float(np.max(np.where(of.keeps_width, size, 0.0)))
        if most * (1 + 2 * len(balls) * 2.0 ** -PRECISION[of.element_type]) >= of.overflow:
            signs = {math.copysign(1, float(one.value)) for one in balls if not one.value.is_zero()}
            result.may_be_infinite = True
            result.may_be_anything |= len(signs) > 1
        return result

    def running(self, terms: Sequence[Any]) -> "Ball":
        """Return the mean of terms, of which this is one, as a running mean gives it.

        That is m + (x - m) / k for each x in any order. Of the errors of step k, a k-th of n
        reaches the end: a rounding of m, and those of a k-th of a difference, which is at most that
        of the greatest and the least x.
        """
        of, count, balls = self.of, len(terms), [ball(self.of, term) for term in terms]
        if any(one.value is None for one in balls):
            return self.total(balls) / count
        values = [float(one.value) for one in balls]
        errors = np.max([np.broadcast_to(one.as_operand, len(of.rows)) for one in balls], axis=0)
        most, spread = max(map(abs, values)) + errors, max(values) - min(values) + 2 * errors
        relative, absolute, units = of.rounding_errors["/"]
        steps = of.unit * (count + 1) / 2
        of_spread = 2 * of.unit + 2 * relative * units
        # Errors of m are part of what is rounded.
        room = 1 - steps - of_spread
        own = (steps * most + of_spread * spread + count * absolute * units) / room
        error = (errors + np.where(room > 0, own, np.inf)) * _SLACK
        value = sum((one.value for one in balls), start=arb(0)) / count
        return Ball(of, value, error, "+")._with_flags(*balls)

    def extreme(self, items: Sequence[Any], sign: int) -> "Ball":
        """Return the greatest of items, of which this is one, or the least.

        IEEE 754 has three ways to treat NaN, so with one among them any of the others is allowed.

        Raises:
            Undecided: there are NaN and infinity.
        """
        balls = [ball(self.of, item) for item in items]
        numbers = [one for one in balls if not math.isnan(_double(one))]
        if not numbers:
            return balls[0]
        has_nan = len(numbers) < len(balls) or any(one.may_be_anything for one in balls)
        if has_nan and any(one.value is None for one in numbers):
            raise Undecided
        best = numbers[0]
        for one in numbers[1:]:
            if sign * _double(one) > sign * _double(best):
                best = one
        if best.value is None:
            return best
        of, error = best.of, best.as_operand
        finite = [one for one in numbers if one.value is not None]
        for one in finite:
            error = np.maximum(error, one.as_operand)
            is_flushed = max(one.magnitude, best.magnitude) < of.limits[1]
            if has_nan or (is_flushed and not of.kept.all()):
                # Where there is NaN, or both are flushed, it may be this one.
                apart = abs(float(best.value - one.value))
                error = np.maximum(error, np.where(of.kept & (not has_nan), 0.0, apart))
        result = Ball(of, best.value, error)._with_flags(*finite)
        if has_nan:
            result.may_be_anything = True
            sizes = [(float(one.value), float(np.max(one.as_operand))) for one in finite]
            result.ends = min(n - e for n, e in sizes), max(n + e for n, e in sizes)
        return result

    @property
    def exact(self) -> Fraction:
        """The number of an element.

        Raises:
            Undecided: it is infinite or NaN, or computed.
        """
        if self.value is None or self.rounding:
            raise Undecided
        mantissa, exponent = self.value.man_exp()
        return int(mantissa) * Fraction(2) ** int(exponent)

    def __int__(self) -> int:
        return math.trunc(self.exact)

    @_remembered
    def exp(self) -> "Ball":
        """Return e to its power."""
        of, power = self.of, _double(self)
        if self.value is None or power > _MOST_EXPONENT:
            # Whatever the arithmetic, e^-infinity is 0, and such powers are infinite.
            if power == -math.inf:
                return Ball(of, arb(0))
            return self._special(math.nan if math.isnan(power) else math.inf)
        own = self.as_operand
        # Far below every subnormal, and with an exponent of few digits.
        value = (self.value if power > _LEAST_EXPONENT else arb(_LEAST_EXPONENT)).exp()
        size = float(value) * _SLACK
        if math.isinf(size):
            if np.any(own):
                raise Undecided
            return Ball(of, None, number=math.inf)
        # The least positive double, since infinity may not multiply 0.
        error = max(size, 2.0**-1074) * np.expm1(own)
        error = np.minimum(error, np.exp(power + own)) * _SLACK
        result = Ball(of, value, error, "exp")._with_flags(self)
        result.growth = of.column["slope"] * np.minimum(self.magnitude + own, 2.0**1000)
        # An argument that overflows to -infinity gives 0.
        result.may_be_infinite &= bool(np.any(power + own >= 0))
        result.ends = 0.0, math.inf
        return result

    @_remembered
    def sqrt(self) -> "Ball":
        """Return its square root.

        Raises:
            Undecided: it is, or may be, of a negative number.
        """
        of, number = self.of, _double(self)
        if self.number is not None:
            if number < 0:
                raise Undecided
            return Ball(of, None if number else arb(0), rounding="sqrt", number=number)
        own = self.as_operand
        if number < 0 or np.all(number < own):
            raise Undecided
        root = np.sqrt(np.maximum(number - own, 0.0))
        error = np.where(number < own, np.inf, own / (math.sqrt(number) + root) * _SLACK)
        result = Ball(of, self.value.sqrt(), error, "sqrt")._with_flags(self)
        result.ends = 0.0, math.inf
        return result

    @_remembered
    def tanh(self) -> "Ball":
        """Return its hyperbolic tangent, whose slope is at most 1."""
        if self.value is None:
            number = _double(self)
            return self if math.isnan(number) else Ball(self.of, arb(math.copysign(1.0, number)))
        if self.value.is_zero():
            return Ball(self.of, arb(0))
        return Ball(self.of, self.value.tanh(), self.as_operand, "tanh")

    @_remembered
    def between(self, low: float, high: float) -> "Ball":
        """Return the same number, which no arithmetic takes below `low` or above `high`."""
        result = copy(self)
        result.ends = (low, high)
        return result

    @_remembered
    def __sub__(self, other: Any) -> "Ball":
        return self + -ball(self.of, other)

    __radd__, __rmul__ = __add__, __mul__

    @_remembered
    def __rsub__(self, other: Any) -> "Ball":
        return ball(self.of, other) - self

    @_remembered
    def __rtruediv__(self, other: Any) -> "Ball":
        return ball(self.of, other) / self

    def _order(self, other: Any) -> float:
        """Return a number as far below or above 0 as this ball is below or above `other`.

        Raises:
            Undecided: an arithmetic may see another order.
        """
        other = ball(self.of, other)
        if self.value is None or other.value is None:
            one, two = _double(self), _double(other)
            return math.nan if one != one or two != two else (one > two) - (one < two)  # noqa: PLR0124
        difference = self.value - other.value
        # Leaves are compared as they are, but for subnormals, which may be flushed.
        normal = self.of.limits[1]
        doubtful = [b for b in (self, other) if b.rounding or 0 < b.magnitude < normal]
        doubt = sum(float(np.max(b.as_operand)) for b in doubtful)
        if doubt and abs(float(difference)) <= doubt:
            raise Undecided
        return float(difference)

    def __lt__(self, other: Any) -> bool:
        return self._order(other) < 0

    def __le__(self, other: Any) -> bool:
        return self._order(other) <= 0

    def __gt__(self, other: Any) -> bool:
        return self._order(other) > 0

    def __ge__(self, other: Any) -> bool:
        return self._order(other) >= 0

    def __eq__(self, other: object) -> bool:
        return self._order(other) == 0

    __hash__ = None  # type: ignore[assignment]


def _double(one: Ball) -> float:
    return float(one.value) if one.number is None else one.number


def leaf(of: Arithmetics, number: float, largest: float | None = None) -> Ball:
    """Return an element as a ball; arithmetics may narrow it, or flush a subnormal.

    `largest` is the largest magnitude in its input, or infinite if there are NaN.
    """
    is_finite = math.isfinite(number)
    value = arb(number) if is_finite else None
    element = Ball(of, value, number=None if is_finite and number else number)
    element.largest = largest
    if element.number is not None:
        return element
    if (bits := element.mantissa[0]) > 8:
        error = np.where(bits > of.column["leaf_bits"], of.column["leaf"] * abs(number), 0.0)
        element.error = error if error.any() else 0.0
    if abs(number) < of.limits[1] and not of.kept.all():
        element.error = np.maximum(element.error, np.where(of.kept, 0.0, abs(number)))
    return element


def ball(of: Arithmetics, number: Any) -> Ball:
    """Return a number of a formula as a ball; a fraction is rounded, any other number is exact."""
    if isinstance(number, Ball):
        return number
    if isinstance(number, float) and not math.isfinite(number):
        return Ball(of, None, number=number)
    if isinstance(number, Fraction):
        return Ball(of, arb(number.numerator) / number.denominator, rounding="*")
    return Ball(of, arb(number), number=float(number) if number == 0 else None)


def _of_transform(balls: Sequence[Ball]) -> Error:
    """Return how far a sum of products may be off where inputs are transformed before."""
    sizes = [one.largest for one in balls if one.rounding == "*" and one.largest is not None]
    # What is added to data is 0, and no product.
    if not sizes or len(sizes) + sum(one.number == 0 for one in balls if one.is_leaf) < len(balls):
        return 0.0
    size, share = len(balls) * max(sizes), balls[0].of.column["transform"]
    # Where it is infinite, or NaN, what is not finite may reach any result.
    return share * size if math.isfinite(size) else np.where(share > 0, np.inf, 0.0)
