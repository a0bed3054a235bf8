"""Numbers with which operators compute: values that distinguish arithmetics."""

import math
from collections.abc import Callable, Mapping
from itertools import cycle, islice

import numpy as np

from opcert.accuracy.arithmetics import PRECISION
from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import ELEMENT_TYPES, FLOATS, fits, highest, lowest
from opcert.roles.conversions import EXPONENTS
from opcert.roles.drawing import Drawing, Named

Numbers = np.ndarray[tuple[int], np.dtype[np.float64]]
_BITS = 52
_NARROWER = (8, 11, 24)


class _Draws:
    """Independent random numbers for the elements of one tensor."""

    def __init__(self, role: Named, call: Drawing, size: int) -> None:
        self._role, self._call, self._size = role, call, size

    def integers(self, aspect: str, low: int, high: int) -> Numbers:
        """Return whole numbers from `low` to `high`, both included."""
        name = f"{self._role.name} {aspect}"
        return np.array(self._call.choices.integers(name, low, high, self._size), np.float64)

    def signs(self) -> Numbers:
        """Return numbers 1 and -1."""
        return 2 * self.integers("signs", 0, 1) - 1

    def dense(self, least: int = -2, most: int = 2) -> Numbers:
        """Return positive numbers with all bits of a mantissa, whose exponents are in bounds."""
        mantissas = 1 + self.integers("mantissas", 0, (1 << _BITS) - 1) * 2.0**-_BITS
        return mantissas * 2.0 ** self.integers("exponents", least, most)

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
    smallest, largest = EXPONENTS[element_type]
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
    precision = PRECISION[element_type]
    exponent = EXPONENTS[element_type][1]
    greatest = (2.0 - 2.0 ** (1 - precision)) * 2.0**exponent
    normal = 2.0 ** (1 - exponent)
    positive = [math.inf, 0.0, greatest, normal, normal * 2.0 ** (1 - precision), normal / 2]
    return [math.nan, *positive, *(-number for number in positive)]


def draw_numbers(
    role: Named,
    call: Drawing,
    tensor: Tensor,
    domain: tuple[float, float] | None,
    other: Tensor | None = None,
) -> tuple[float, ...]:
    """Draw the elements of a tensor with which an operator computes.

    Most are in the `domain`, in which results are neither 0 nor infinite; special numbers are not.
    In some calls each is next to an element of an `other` operand, or equal to it.
    """
    draws = _Draws(role, call, tensor.size)
    if other is not None and other.size and call.choices.rarely(f"{role.name} next", 5):
        call.one(role, "values", ["next to the other's"])
        return _next_to(draws, tensor, other)
    if tensor.type not in FLOATS:
        return _draw_integers(role, call, tensor, draws)
    low, high = domain or (-math.inf, math.inf)
    kinds = dict(_float_kinds(tensor.type))
    if domain is not None:
        span = high - low if math.isfinite(high - low) else 4.0
        start = low if math.isfinite(low) else high - span
        kinds["in the domain"] = lambda d: start + span * d.integers("part", 0, 1 << 30) * 2.0**-30
        kinds["next to its ends"] = lambda d: d.next_to_ends(start, span)
    rare = {"with special ones": kinds["dense"], "alike": kinds["dense"]}
    kind = call.one(role, "values", {name: name for name in kinds}, {name: name for name in rare})
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


def _next_to(draws: _Draws, tensor: Tensor, other: Tensor) -> tuple[float, ...]:
    """Return the elements of another tensor, or those of its type that are next to them."""
    steps = draws.integers("steps", -1, 1).astype(np.int64).tolist()
    given = [*islice(cycle(other.values or ()), tensor.size)]
    if tensor.type not in FLOATS:
        near = (int(number) + step for number, step in zip(given, steps, strict=True))
        return tuple(
            n if fits(tensor.type, n) else int(g) for n, g in zip(near, given, strict=True)
        )
    elements = np.array(given, np.float64).astype(ELEMENT_TYPES[tensor.type])
    with np.errstate(all="ignore"):
        away = np.array(steps, np.float64) * np.inf
        moved = np.nextafter(elements, away.astype(elements.dtype))
    # Zeros of either sign are equal.
    same = np.where(elements == 0, -elements, elements)
    chosen = np.where(np.array(steps) == 0, same, moved)
    return tuple(chosen.astype(np.float64).tolist())


def _draw_integers(role: Named, call: Drawing, tensor: Tensor, draws: _Draws) -> tuple[int, ...]:
    """Draw whole numbers, most of which neither overflow when multiplied nor all differ."""
    if tensor.type == "boolean":
        return tuple(bool(n) for n in draws.integers("truth", 0, 1))
    least, most = lowest(tensor.type), highest(tensor.type)
    ranges = {"small": (-5, 5), "larger": (-100, 100), "of one sign": (0, 9)}
    # Past what f32 and f64 hold exactly, and far from the limits.
    ranges["large"] = least // 64, most // 64
    wide = {"near the limits": (least, most)}
    kind = call.one(role, "values", {name: name for name in ranges}, {name: name for name in wide})
    low, high = {**ranges, **wide}[kind]
    name = f"{role.name} whole"
    numbers = call.choices.integers(name, max(low, least), min(high, most), tensor.size)
    if kind in wide:
        ends = call.choices.integers(f"{role.name} ends", 0, 3, tensor.size)
        near = (least, most, most - 1)
        numbers = [n if end == 3 else near[end] for n, end in zip(numbers, ends, strict=True)]
    return tuple(numbers)
