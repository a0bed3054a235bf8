"""What the wrong elements of an output have in common, and right ones lack."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import ClassVar, NamedTuple

import numpy as np
from pydantic import ConfigDict

from opcert.arrays.element_types import Array
from opcert.arrays.notable_numbers import flags_of_note

# Larger outputs take long to look at.
_MAX_ELEMENTS = 1 << 16
# Axes, and the least rank for which each is another one than those before.
_AXES = {"the last axis": (-1, 1), "the first axis": (0, 2), "the last axis but one": (-2, 3)}
# Kernels work on blocks of so many elements, and treat the rest in another way.
_BLOCKS = (4, 8, 16, 32, 64)
# What wrong elements have in common is stated if it holds in this share of the failures of a cause,
# and if right elements lack it in that share, and in so many: in fewer they may do so by chance.
_HOLDS, _APART, _LEAST = 0.9, 0.5, 5
# Right elements may be what a bug makes of them by chance, so many for each wrong one.
_BY_CHANCE = 0.25
# What no certificate can hold is replaced by the greatest number.
_GREATEST = float(np.finfo(np.float64).max)
_IN_C_ORDER = "the position in C order"
# A statement about which elements are wrong has these words, unlike one about what they are.
ONLY = "only elements"
# The least and the greatest of wrong elements, and of right ones.
_Range = tuple[float, float] | tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class WrongElements:
    """What all wrong elements of an output have in common.

    There are `count` of them. They have `only`, which some right ones lack, with the numbers of
    right ones that have it as well. `every` element of the output has the rest. `found` is what
    they are. `ranges` are, for quantities, the least and the greatest of wrong elements, then those
    of right ones, if there are any.
    """

    # Read by pydantic when it parses a certificate.
    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)

    count: int = 0
    only: Mapping[str, int] = field(default_factory=dict)
    every: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    ranges: Mapping[str, _Range] = field(default_factory=dict)

    @classmethod
    def of(
        cls, expected: Array, actual: Array, wrong: Array, inputs: Mapping[str, Array]
    ) -> "WrongElements | None":
        """Return what elements have in common that are `wrong`; None for large outputs.

        `inputs` are those from which the output is computed; none if it only moves their elements.
        """
        if expected.size > _MAX_ELEMENTS:
            return None
        only: dict[str, int] = {}
        every: list[str] = []
        ranges: dict[str, _Range] = {}
        with np.errstate(all="ignore"):
            lines, numbers = _lines(expected.shape), _numbers(expected, inputs)
            for text, flags in (*_places(lines), *_numbers_of_note(numbers)):
                has_it = np.broadcast_to(flags, expected.shape)
                if not has_it[wrong].all():
                    continue
                if has_it.all():
                    every.append(text)
                else:
                    only[text] = int(has_it[~wrong].sum())
            for name, quantity in (*lines.items(), *_quantities(numbers)):
                of_each = np.broadcast_to(quantity, expected.shape)
                if (own := _range(of_each[wrong])) is not None:
                    right = _range(of_each[~wrong])
                    ranges[name] = own if right is None else (*own, *right)
            found = [text for text, flags in _results(expected, actual) if flags[wrong].all()]
        return cls(int(np.count_nonzero(wrong)), only, tuple(every), tuple(found), ranges)


def _lines(shape: Sequence[int]) -> dict[str, Array]:
    """Return the positions of the elements of an output, along axes and of all."""
    grid = np.indices(shape, sparse=True)
    lines = {
        f"the position along {name}": grid[axis]
        for name, (axis, least) in _AXES.items()
        if len(shape) >= least
    }
    return {**lines, _IN_C_ORDER: np.arange(math.prod(shape)).reshape(shape)}


def _places(lines: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    """Yield places that kernels treat in another way than others, and which elements are there."""
    for name, position in lines.items():
        n, line = position.size, name.removeprefix("the position ")
        if n > 1:
            yield f"at the first position {line}", position == 0
            yield f"at the last position {line}", position == n - 1
            yield f"at even positions {line}", position % 2 == 0
            yield f"at odd positions {line}", position % 2 == 1
        for block in _BLOCKS:
            if n > block and n % block:
                yield f"after the last whole block of {block} {line}", position >= n - n % block


def _numbers(expected: Array, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Return the right numbers, and those of inputs that are broadcast to them."""
    numbers = {"the result": expected}
    for name, array in inputs.items():
        with suppress(ValueError):
            numbers[name] = np.broadcast_to(array, expected.shape)
    return numbers


def _numbers_of_note(numbers: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    for name, array in numbers.items():
        for level, flags in flags_of_note(array, computed=False).items():
            yield f"where {name} is {level}", flags


def _quantities(numbers: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    for name, array in numbers.items():
        values = array.astype(np.float64)
        yield name, values
        yield f"|{name}|", np.abs(values)


def _range(values: Array) -> tuple[float, float] | None:
    """Return the least and the greatest of some numbers, if there are any."""
    known = values[~np.isnan(values)]
    if not known.size:
        return None
    ends = np.clip([known.min(), known.max()], -_GREATEST, _GREATEST)
    return float(ends[0]), float(ends[1])


def _results(expected: Array, actual: Array) -> Iterator[tuple[str, Array]]:
    """Yield what a backend may return in place of elements, and where it did."""
    numbers, right = actual.astype(np.float64), expected.astype(np.float64)
    yield "are 0", numbers == 0
    yield "are NaN", np.isnan(numbers)
    yield "are infinite", np.isinf(numbers)
    yield "have the other sign", (numbers == -right) & (right != 0)
    for words, step in (("before", 1), ("after", -1)):
        shifted = np.roll(right.ravel(), step).reshape(right.shape)
        yield f"have the value of the element {words}", numbers == shifted


def words_of_elements(of_cases: Iterable[WrongElements | None]) -> str:
    """Return what the wrong elements of failing cases have in common, in words; "" if nothing."""
    known = [elements for elements in of_cases if elements is not None]
    found = Counter(text for elements in known for text in elements.found)
    result = next((text for text, n in found.items() if n >= max(_LEAST, _HOLDS * len(known))), "")
    least = max(_LEAST, _APART * len(known))
    common = [*_common_flags(known, least), *_common_ranges(known, least)]
    if not common:
        return f"wrong elements {result}" if result else ""
    best = max(common, key=lambda each: (each.rank, each.apart))
    nearly = "" if best.holds == len(known) else "nearly "
    return f"{nearly}{ONLY} {best.text} are wrong{f', and {result}' if result else ''}"


class _Common(NamedTuple):
    """What wrong elements have in common: in how many cases it holds, and sets them apart.

    Of several, the greatest rank says the most.
    """

    text: str
    holds: int
    apart: int
    rank: int


def _common_flags(known: Sequence[WrongElements], least: float) -> Iterator[_Common]:
    apart = Counter(text for elements in known for text in elements.only)
    every = Counter(text for elements in known for text in elements.every)
    wrong = sum(elements.count for elements in known)
    for text, count in apart.items():
        if count >= least and count + every[text] >= _HOLDS * len(known):
            right = sum(elements.only.get(text, 0) for elements in known)
            yield _Common(text, count + every[text], count, 3 if right <= _BY_CHANCE * wrong else 0)


def _common_ranges(known: Sequence[WrongElements], least: float) -> Iterator[_Common]:
    """Yield the quantities of which wrong elements have a part of the range, rounded outwards."""
    for name in sorted({name for elements in known for name in elements.ranges}):
        ranges = [elements.ranges[name] for elements in known if name in elements.ranges]
        if len(ranges) < len(known):
            continue
        low = _rounded(min(own[0] for own in ranges), ROUND_FLOOR)
        high = _rounded(max(own[1] for own in ranges), ROUND_CEILING)
        # The first element of all is right in most outputs whose elements are in a wrong order.
        if name == _IN_C_ORDER and low == 1:
            continue
        right = [own[2:] for own in ranges if len(own) == 4]
        below = sum(first < low for first, _ in right)
        above = sum(last > high for _, last in right)
        if min(below, above) >= least:
            text, apart, rank = f"from {low:.6g} to {high:.6g}", min(below, above), 1
        else:
            # One end says it in fewer words.
            text = f"{low:.6g} or more" if below >= above else f"{high:.6g} or less"
            apart, rank = max(below, above), 2
        if apart >= least:
            yield _Common(f"where {name} is {text}", len(known), apart, rank)


def _rounded(number: float, rounding: str) -> float:
    """Return a number with three digits, unless it is a small integer."""
    if number.is_integer() and abs(number) < 1 << 16:
        return number
    return float(Context(prec=3, rounding=rounding).create_decimal(number))
