"""Numbers with which operators compute or which they convert: values that show wrong roundings."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import cycle

import numpy as np

from opcert.accuracy.arithmetics import PRECISION, nearest
from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import ELEMENT_TYPES, FLOATS, INTEGERS, fits, highest, lowest
from opcert.roles.drawing import Drawing, Named

# The exponents of the least and the greatest elements of floating-point types.
_EXPONENTS = {"f16": (-24, 15), "bf16": (-133, 127), "f32": (-149, 127), "f64": (-1074, 1023)}
# The ends of an interval of numbers.
Domain = tuple[float, float]
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

    def exponent(self, least: int = _EXPONENTS["f64"][0]) -> int:
        """Return an exponent of numbers of both types, at least `least` where there are such."""
        ranges = [_EXPONENTS.get(name, (-1, _width(name))) for name in (self.source, self.into)]
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
        least, most = _EXPONENTS[name]
        unit, (_, greatest) = _two_to(most + 1 - PRECISION[name]), _ends(name)
        ends = [greatest + k * unit / 4 for k in (-2, -1, 0, 1, 2, 3)]
        # The least normal element, and those below it.
        powers = [_two_to(exponent) for exponent in (1 - most, least, least - 1)]
        numbers = [*ends, 2 * greatest, *powers]
        return numbers[self.below(len(numbers))]

    def half(self) -> Fraction:
        """Return the middle of two neighbours of the other type."""
        if self.into not in PRECISION:
            return self.mantissa(self.exponent()) + Fraction(1, 2)
        bits = PRECISION[self.into]
        # Smaller integers have no bits to lose.
        exponent = self.exponent() if self.source in PRECISION else self.exponent(bits)
        last = max(exponent + 1 - bits, _EXPONENTS[self.into][0])
        kept = self.mantissa(exponent + 1 - last)
        return (kept + Fraction(1, 2)) * _two_to(last)

    def power(self) -> Fraction:
        """Return a power of 2, at which another type of integers may end."""
        return _two_to(self.exponent())

    def whole(self) -> Fraction:
        """Return an integer of any size."""
        return Fraction(self.mantissa(min(self.exponent(0) + 1, _BITS)))

    def dense(self) -> Fraction:
        """Return a number of any size with all bits of a mantissa."""
        return self.mantissa(_BITS) * _two_to(self.exponent() + 1 - _BITS)

    def small(self) -> Fraction:
        """Return a subnormal, or a fraction."""
        if self.source not in PRECISION:
            return Fraction(self.below(4))
        mantissa = self.mantissa(1 + self.below(PRECISION[self.source] - 1))
        least = mantissa * _two_to(_EXPONENTS[self.source][0])
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


@cache
def _two_to(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


@cache
def _ends(name: str) -> tuple[Fraction, Fraction]:
    """Return the least and the greatest finite element of a type."""
    return Fraction(lowest(name)), Fraction(highest(name))


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
        return call.integers(role, aspect, low, high, tensor.size)

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
    least, most = _ends(name)
    number = min(max(sign * number if least else abs(number), least), most)
    element = nearest(number, name) if name in PRECISION else round(number)
    moved = _moved(name, element, step)
    return moved if math.isfinite(moved) else element


def _moved(name: str, element: float, step: int) -> float:
    """Return an element as one of a type, or the one before or after it, if there is one."""
    if name not in FLOATS:
        moved = int(element) + step
        return moved if fits(name, moved) else int(element)
    own = np.array(element, ELEMENT_TYPES[name])
    with np.errstate(all="ignore"):
        return float(np.nextafter(own, np.array(step * math.inf, own.dtype)) if step else own)


def _nan(payload: int) -> float:
    return float(np.uint64(0x7FF << 52 | payload).view(np.float64))


def _width(name: str) -> int:
    """Return how many bits the greatest integer of a type has, of truth values of any."""
    return _BITS if name == "boolean" else highest(name).bit_length()


Numbers = np.ndarray[tuple[int], np.dtype[np.float64]]
_MANTISSA_BITS = 52
_NARROWER = (8, 11, 24)


class _Draws:
    """Independent random numbers for the elements of one tensor."""

    def __init__(self, role: Named, call: Drawing, size: int) -> None:
        self._role, self._call, self._size = role, call, size

    def integers(self, aspect: str, low: int, high: int) -> Numbers:
        """Return whole numbers from `low` to `high`, both included."""
        return np.array(self._call.integers(self._role, aspect, low, high, self._size), np.float64)

    def signs(self) -> Numbers:
        """Return numbers 1 and -1."""
        return 2 * self.integers("signs", 0, 1) - 1

    def dense(self, least: int = -2, most: int = 2) -> Numbers:
        """Return positive numbers with all bits of a mantissa, whose exponents are in bounds."""
        fractions = self.integers("mantissas", 0, (1 << _MANTISSA_BITS) - 1) * 2.0**-_MANTISSA_BITS
        return (1 + fractions) * 2.0 ** self.integers("exponents", least, most)

    def ties_of_narrower_types(self) -> Numbers:
        """Return numbers above 1 in the middle of two elements of bf16, f16 or f32."""
        bits = np.array(_NARROWER)[self.integers("narrower", 0, 2).astype(np.int64)]
        numbers: Numbers = 1 + (2 * self.integers("odd", 0, 63) + 1) * 2.0**-bits
        return numbers

    def next_to_ends(self, start: float, span: float) -> Numbers:
        """Return numbers next to the ends of an interval, most of them inside."""
        inside = span * 2.0**-10 * self.dense(-9, 0) * self.integers("inside", 0, 1)
        return np.where(self.integers("end", 0, 1) > 0, start + inside, start + span - inside)


def _float_kinds(element_type: str) -> Mapping[str, Callable[[_Draws], Numbers]]:
    """Return what draws each kind of floating-point numbers, by a name that people read."""
    bits = PRECISION[element_type]
    grid = {"bf16": 3, "f16": 6, "f32": 1 << 12, "f64": 1 << 24}[element_type]
    # The exponents of the least and the greatest elements.
    smallest, largest = _EXPONENTS[element_type]
    return {
        "dense": lambda d: d.signs() * d.dense(),
        "of one sign": lambda d: d.dense(0, 1),
        "whole": lambda d: d.integers("whole", -grid, grid),
        # Cut to 8 or 11 bits, they lose almost half a unit, or a whole one.
        "below a midpoint": lambda d: 1 + 2.0 ** -d.integers("midpoint", 8, 11) * (1 - 2.0**-9),
        "above a midpoint": lambda d: 1 + 2.0 ** -d.integers("midpoint", 8, 11) * (1 + 2.0**-9),
        "of few bits": lambda d: d.signs() * (128 + d.integers("few", 0, 127)) * 2.0**-6,
        "ties": lambda d: d.signs() * (1 + d.integers("tie", 0, 3) * 2.0**-bits),
        "ties of narrower types": lambda d: d.signs() * d.ties_of_narrower_types(),
        "large and small": lambda d: d.dense(0, 0) * 2.0 ** (bits * d.integers("large", 0, 1)),
        "of any exponent": lambda d: (
            d.signs() * d.dense(0, 0) * 2.0 ** d.integers("any", smallest, largest)
        ),
        "next to the greatest": lambda d: d.signs() * d.dense(largest - 3, largest),
        "next to the least normal": lambda d: d.signs() * d.dense(2 - largest, 40 - largest),
        "small": lambda d: d.signs() * d.dense(-12, -3),
    }


def _special(element_type: str) -> list[float]:
    """Return NaN, infinities, zeros, the least and the greatest elements."""
    least, most = _EXPONENTS[element_type]
    normal = 2.0 ** (1 - most)
    greatest = float(highest(element_type))
    positive = [math.inf, 0.0, greatest, normal, 2.0**least, normal / 2]
    return [math.nan, *positive, *(-number for number in positive)]


def draw_numbers(
    role: Named, call: Drawing, tensor: Tensor, domain: Domain | None, other: Tensor | None
) -> tuple[float, ...]:
    """Draw the elements of a tensor with which an operator computes.

    Most are in the `domain`, in which results are neither 0 nor infinite; special numbers are not.
    In some calls each is next to an element of an `other` operand, or equal to it.
    """
    draws = _Draws(role, call, tensor.size)
    if other is not None and other.size and call.choices.rarely(f"{role.name} next", 5):
        call.one(role, "values", ["next to the other's"])
        steps = draws.integers("steps", -1, 1).astype(np.int64).tolist()
        pairs = zip(cycle(other.values or ()), steps, strict=False)
        moved = [(_moved(tensor.type, element, step), step) for element, step in pairs]
        # Zeros of either sign are equal.
        return tuple(element if element or step else -element for element, step in moved)
    if tensor.type not in FLOATS:
        return _draw_integers(role, call, tensor, draws)
    low, high = domain or (-math.inf, math.inf)
    kinds = dict(_float_kinds(tensor.type))
    if domain is not None:
        span = high - low if math.isfinite(high - low) else 4.0
        start = low if math.isfinite(low) else high - span
        kinds["in the domain"] = lambda d: start + span * d.integers("part", 0, 1 << 30) * 2.0**-30
        kinds["next to its ends"] = lambda d: d.next_to_ends(start, span)
    kind = call.one(role, "values", [*kinds], ["with special ones", "alike"])
    numbers = kinds.get(kind, kinds["dense"])(draws)
    if low >= 0:
        numbers = np.abs(numbers)
    if kind == "alike":
        numbers = np.full_like(numbers, numbers[0]) if numbers.size else numbers
    if kind == "with special ones":
        special = np.array(_special(tensor.type))
        chosen = draws.integers("special", 0, 4 * special.size - 1).astype(np.int64)
        numbers = np.where(chosen < special.size, special[chosen % special.size], numbers)
    with np.errstate(over="ignore"):
        return tuple(numbers.astype(ELEMENT_TYPES[tensor.type]).astype(np.float64).tolist())


def _draw_integers(role: Named, call: Drawing, tensor: Tensor, draws: _Draws) -> tuple[int, ...]:
    """Draw whole numbers, most of which neither overflow when multiplied nor all differ."""
    if tensor.type == "boolean":
        return tuple(bool(n) for n in draws.integers("truth", 0, 1))
    least, most = lowest(tensor.type), highest(tensor.type)
    ranges = {"small": (-5, 5), "larger": (-100, 100), "of one sign": (0, 9)}
    # Past what f32 and f64 hold exactly, and far from the limits.
    ranges["large"] = least // 64, most // 64
    wide = {"near the limits": (least, most)}
    low, high = call.one(role, "values", ranges, wide)
    numbers = call.integers(role, "whole", max(low, least), min(high, most), tensor.size)
    if (low, high) == (least, most):
        ends = call.integers(role, "ends", 0, 3, tensor.size)
        near = (least, most, most - 1)
        numbers = [n if end == 3 else near[end] for n, end in zip(numbers, ends, strict=True)]
    return tuple(numbers)
