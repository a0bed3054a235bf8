"""Numbers that are converted: next to the limits of the other type, and to halves of its units."""

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from opcert.accuracy.arithmetics import PRECISION, nearest
from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import ELEMENT_TYPES, INTEGERS, highest, lowest
from opcert.roles.drawing import Drawing, Named

# The exponents of the least and the greatest elements of floating-point types.
EXPONENTS = {"f16": (-24, 15), "bf16": (-133, 127), "f32": (-149, 127), "f64": (-1074, 1023)}
CONVERTED = (*PRECISION, *INTEGERS, "boolean")
_BITS = 64


@dataclass(frozen=True)
class _Draw:
    """Random bits for one number, which goes from one type into another."""

    source: str
    into: str
    bits: int
    part: int

    def below(self, count: int) -> int:
        """Return a number from 0 to `count` - 1."""
        return self.part * count >> _BITS

    def exponent(self, least: int = EXPONENTS["f64"][0]) -> int:
        """Return an exponent of numbers of both types, at least `least` where there are such."""
        ranges = [EXPONENTS.get(name, (-1, _width(name))) for name in (self.source, self.into)]
        high = min(most for _, most in ranges)
        low = min(max(least, *(own for own, _ in ranges)), high)
        return low + self.below(high - low + 1)

    def mantissa(self, bits: int) -> int:
        """Return an integer of so many bits."""
        return 1 << bits - 1 | self.bits >> _BITS - bits + 1 if bits > 0 else 0

    def limit(self) -> Fraction:
        """Return a limit of a type, or a number next to it that may round to it."""
        name = self.into if self.bits % 3 else self.source
        if name not in PRECISION:
            least, most = (0, 1) if name == "boolean" else (lowest(name), highest(name))
            return (least, most)[self.below(2)] + Fraction(self.bits % 5 - 2, 2)
        least, most = EXPONENTS[name]
        unit, greatest = Fraction(2) ** (most + 1 - PRECISION[name]), Fraction(highest(name))
        ends = [greatest + k * unit / 4 for k in (-2, -1, 0, 1, 2, 3)]
        # The least normal element, and those below it.
        powers = [Fraction(2) ** exponent for exponent in (1 - most, least, least - 1)]
        numbers = [*ends, 2 * greatest, *powers]
        return numbers[self.below(len(numbers))]

    def half(self) -> Fraction:
        """Return the middle of two neighbours of the other type."""
        if self.into not in PRECISION:
            return self.mantissa(self.exponent()) + Fraction(1, 2)
        bits = PRECISION[self.into]
        # Smaller integers have no bits to lose.
        exponent = self.exponent() if self.source in PRECISION else self.exponent(bits)
        last = max(exponent + 1 - bits, EXPONENTS[self.into][0])
        kept = self.mantissa(exponent + 1 - last)
        return (kept + Fraction(1, 2)) * Fraction(2) ** last

    def power(self) -> Fraction:
        """Return a power of 2, at which another type of integers may end."""
        return Fraction(2) ** self.exponent()

    def whole(self) -> Fraction:
        """Return an integer of any size."""
        return Fraction(self.mantissa(min(self.exponent(0) + 1, _BITS)))

    def dense(self) -> Fraction:
        """Return a number of any size with all bits of a mantissa."""
        return self.mantissa(_BITS) * Fraction(2) ** (self.exponent() + 1 - _BITS)

    def small(self) -> Fraction:
        """Return a subnormal, or a fraction."""
        if self.source not in PRECISION:
            return Fraction(self.below(4))
        mantissa = self.mantissa(1 + self.below(PRECISION[self.source] - 1))
        least = mantissa * Fraction(2) ** EXPONENTS[self.source][0]
        return Fraction(self.bits, 1 << _BITS) if self.bits & 1 else least

    def special(self) -> Fraction | float:
        """Return a NaN, an infinity or a zero."""
        if self.source not in PRECISION:
            return Fraction(0)
        payload = PRECISION[self.source] - 1
        quiet = 1 << payload - 1
        payloads = quiet, 2 * quiet - 1, 1, quiet | 1
        nans = [_nan(number << 52 - payload) for number in payloads]
        return (*nans, math.inf, math.inf, 0.0, 0.0)[self.below(8)]


_KINDS: Mapping[str, Callable[[_Draw], Fraction | float]] = {
    "limits": _Draw.limit,
    "halves": _Draw.half,
    "powers of 2": _Draw.power,
    "whole": _Draw.whole,
    "dense": _Draw.dense,
    "small": _Draw.small,
    "special": _Draw.special,
}


def draw_converted(role: Named, call: Drawing, tensor: Tensor, into: str) -> tuple[float, ...]:
    """Draw elements of which a wrong conversion into another type gets some wrong.

    Most calls have all kinds of them. An element is the nearest one to a number of a kind, or the
    one before or after it.
    """

    def integers(aspect: str, low: int, high: int) -> list[int]:
        return call.choices.integers(f"{role.name} {aspect}", low, high, tensor.size)

    if tensor.type == "boolean":
        return tuple(map(bool, integers("truth", 0, 1)))
    one = call.one(role, "values", ["next to what decides"], [*_KINDS, "alike"])
    kinds = [_KINDS.get(one, [*_KINDS.values()][k]) for k in integers("kinds", 0, len(_KINDS) - 1)]
    parts = (integers(aspect, 0, (1 << _BITS) - 1) for aspect in ("bits", "parts"))
    draws = [_Draw(tensor.type, into, *both) for both in zip(*parts, strict=True)]
    signs, steps = (integers(aspect, -1, 1) for aspect in ("signs", "steps"))
    elements = tuple(
        _element(tensor.type, kind(draw), sign or 1, step)
        for kind, draw, sign, step in zip(kinds, draws, signs, steps, strict=True)
    )
    return elements[:1] * tensor.size if one == "alike" else elements


def _element(name: str, number: Fraction | float, sign: int, step: int) -> float:
    """Return the element of a type that is nearest to a number, or the one before or after it."""
    if isinstance(number, float):
        return math.copysign(number, math.copysign(1, number) * sign)
    least, most = Fraction(lowest(name)), Fraction(highest(name))
    number = min(max(sign * number if least else abs(number), least), most)
    if name not in PRECISION:
        return min(max(round(number) + step, lowest(name)), highest(name))
    element, dtype = nearest(number, name), ELEMENT_TYPES[name]
    if not step:
        return element
    with np.errstate(all="ignore"):
        moved = np.nextafter(np.array(element, dtype), np.array(step * math.inf, dtype))
    return float(moved) if math.isfinite(moved) else element


def _nan(payload: int) -> float:
    number: float = struct.unpack("<d", struct.pack("<Q", 0x7FF << 52 | payload))[0]
    return number


def _width(name: str) -> int:
    """Return how many bits the greatest integer of a type has, of truth values of any."""
    return _BITS if name == "boolean" else highest(name).bit_length()
