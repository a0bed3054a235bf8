"""The levels of integers: near to what each is, in which order they are, and in which places."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, combinations, pairwise

from opcert.arrays.calls import Call
from opcert.arrays.element_types import INTEGERS
from opcert.roles.axes import AxesRole
from opcert.roles.data import PartRole, PerAxis
from opcert.roles.drawing import names_near, names_of_place
from opcert.roles.role import ListRole, Role
from opcert.roles.slicing_steps import MaskRole

# The least numbers of the ranges of extents and of numbers of elements.
_LEAST = (*range(5), 5, 9, 17, 33, 64, 128, 256, 257, 1024, 1 << 14, 1 << 16)
# Up to so many elements of a list have a point each; of a longer one, some have.
_MAX_PLACES = 8
_LISTED = ("0", "1", "-1")
_RANGES = [
    f"{least:,}" if end == least + 1 else f"{least:,} to {end - 1:,}"
    for least, end in pairwise(_LEAST)
]
_RANGES.append(f"{_LEAST[-1]:,} or more")
# The sides of -1, 0 and 1 in order.
_SIGNS = ("-2 or less", "-1", "0", "1", "2 or more")
# Integers that implementations take for special: the limits of types of other widths.
_LIMITS = {
    **{(1 << (bits - 1)) - 1: f"2^{bits - 1} - 1" for bits in (16, 32, 64)},
    **{-1 << (bits - 1): f"-2^{bits - 1}" for bits in (16, 32, 64)},
}
# What is past the limits of narrower types, by what it is at least or at most.
_PAST = {
    **{f"above 2^{bits - 1} - 1": 1 << (bits - 1) for bits in (8, 16, 32)},
    **{f"below -2^{bits - 1}": (-1 << (bits - 1)) - 1 for bits in (8, 16, 32)},
}
# How even a number is, in order.
MULTIPLES = ("odd", "twice an odd number", "four times an odd number", "a multiple of 8")
# Lists of so many numbers in some order of theirs are levels themselves.
_MAX_LISTED = 4
# The parts of lists that concern an end of each axis.
_ENDS = ("before", "after")
# What begins the level of a place that is not the first, or not the last.
NOT = "any but the "


def range_of(number: int) -> str:
    """Return the range of a number of elements, in words."""
    return _RANGES[max(k for k, least in enumerate(_LEAST) if least <= number)]


def number_of(level: str) -> float | None:
    """Return the number that orders a level which is one, or a range; None if it is neither."""
    match = re.match(r"(-?)(2\^)?(-?[\d,]+)($| to | or (less)?)", level)
    if match is None:
        return None
    number: float = int(match[3].replace(",", ""))
    number = 2**number if match[2] else number
    return (-number if match[1] else number) - bool(match[5])


def multiple_of(number: int) -> str:
    """Return how even a positive number is."""
    return MULTIPLES[min(3, (number & -number).bit_length() - 1)]


@dataclass(frozen=True)
class Integers:
    """The integers of an argument, and the axis of data that each, or all of them, concern."""

    role: Role
    values: Sequence[int]
    axes: int | Sequence[int | None] | None


# A factor, or an aspect of an argument, and the levels that a call has of it.
Levels = tuple[str, Iterable[str]]
# An axis of data, and the place of an element of each list that concerns it.
Place = tuple[int | None, Mapping[str, int]]


def levels_of_integers(call: Call, own: Integers) -> Iterator[Levels]:
    """Yield the aspects of the integers of an argument as a whole, and their levels."""
    values = own.values
    if len(values) == 1 and own.axes is None:
        yield "value", _values(values[0], own.role.extent_in(call, 0), "i64")
        yield "sign", [_sign(values[0])]
    is_list = isinstance(own.role, ListRole)
    yield from levels_of_values(values, is_list=is_list)
    if values and is_list:
        ends = {"at the beginning": str(values[0]), "at the end": str(values[-1])}
        names = [f"with {number} {end}" for end, number in ends.items() if number in _LISTED]
        if len(values) > 1:
            names.append(f"{'alike' if values[0] == values[-1] else 'different'} at both ends")
        yield "ends", names
    axes = own.axes if isinstance(own.role, AxesRole) else None
    # Axes below 0 count from the end.
    in_order = [k for k in axes if k is not None] if isinstance(axes, Sequence) else values
    yield from levels_of_order(in_order)


def levels_of_values(values: Sequence[int], *, is_list: bool) -> Iterator[Levels]:
    """Yield the aspects of integers that need no role, and their levels."""
    if not values:
        return
    negative = "below 0" if max(values) < 0 else "with some below 0"
    signs = [negative] if min(values) < 0 else []
    yield "signs", [*signs, *(f"with {k}" for k in _LISTED if int(k) in values)]
    greatest = [range_of(max(values)) if max(values) > 1 else "1 or less"]
    if not is_list:
        yield "range", greatest
    else:
        yield "greatest", greatest
        yield "positive", [range_of(sum(value > 0 for value in values))]
        yield "negative", [range_of(sum(value < 0 for value in values))]
        if len(values) == 1:
            yield "order", ["all alike"]


def levels_of_order(values: Sequence[int]) -> Iterator[Levels]:
    """Yield the order of several integers."""
    if len(values) > 1:
        yield "order", [*_orders(values)]
    if 1 < len(values) <= _MAX_LISTED and sorted(values) == [*range(len(values))]:
        yield "list", [str([*values])]


def levels_of_invalid(call: Call, role: Role, integers: Sequence[int]) -> Iterator[Levels]:
    """Yield the levels of any of the integers of an argument, as far as axes are known."""
    yield "sign", {_sign(value) for value in integers}
    # What is invalid may concern no axis, or more than there are.
    with suppress(LookupError, TypeError, ValueError):
        axes = role.axes_in(call)
        each = axes if isinstance(axes, Sequence) else [axes] * len(integers)
        sizes = [role.extent_in(call, axis or 0) for axis in each]
        pairs = [*zip(integers, sizes, strict=False)]
        yield "region", {name for pair in pairs for name in _regions(*pair)}
        yield "rounds", {name for pair in pairs for name in _rounds(*pair)}
        yield "value", {name for pair in pairs for name in _values(*pair, "i64")}


def levels_of_elements(call: Call, place: Place, lists: Mapping[str, Integers]) -> Iterator[Levels]:
    """Yield the levels of the elements at a place."""
    axis, elements = place
    values = {
        name: lists[name].values[k] for name, k in elements.items() if k < len(lists[name].values)
    }
    # To compare an integer with one of another kind says nothing.
    kinds: dict[str, list[str]] = {}
    for name in values:
        kinds.setdefault(_kind(lists[name].role), []).append(name)
    near: dict[str, list[str]] = {}
    for name, value in values.items():
        own, k, kind = lists[name], elements[name], _kind(lists[name].role)
        n = own.role.extent_in(call, axis or 0)
        element_type = call.inputs[name].type if name in call.inputs else "i64"
        if element_type not in INTEGERS:
            element_type = "i64"
        near[name] = [*_values(value, n, element_type)]
        yield f"{name} value", near[name]
        if kind != "marks":
            yield f"{name} region", _regions(value, n)
            yield f"{name} rounds", _rounds(value, n)
            yield f"{name} sign", [_sign(value)]
            yield f"{name} parity", ["odd" if value % 2 else "even"]
            is_power = abs(value).bit_count() == 1
            yield f"{name} power", ["a power of 2" if is_power else "no power of 2"]
            yield f"{name} past", [words for words, limit in _PAST.items() if value // limit > 0]
            others = {other: values[other] for other in kinds[kind] if other != name}
            yield f"{name} divisor", _divided(value, {"n": n, **others})
        if len(own.values) > 1:
            rest = {*own.values[:k], *own.values[k + 1 :]}
            alike = ["alike"] if rest == {value} else []
            alike += [f"all {number}" for number in _LISTED if rest == {int(number)}]
            yield f"{name} others", alike or ["different"]
            yield f"{name} before", [_side(own.values[:k])]
            yield f"{name} after", [_side(own.values[k + 1 :])]
            # Where elements have one axis after the other, the axis says it.
            each = [*own.axes] if isinstance(own.axes, Sequence) else [None]
            first = each[0] or 0
            if each != [*range(first, first + len(each))]:
                yield f"{name} place", place_names(k, len(own.values))
    equality: dict[str, list[str]] = {}
    for one, other in chain.from_iterable(combinations(names, 2) for names in kinds.values()):
        difference = values[one] - values[other]
        ways = (
            ("other than", "above" if difference > 0 else "below") if difference else ("equal to",)
        )
        equality.setdefault(f"{one} equality", []).extend(f"{way} {other}" for way in ways)
        # What is added at both ends of an axis is seldom wrong at one alone; their sum may matter.
        if _is_of_an_end(lists[one].role) and _is_of_an_end(lists[other].role):
            yield f"{one} or {other} value", {*near[one], *near[other]}
            n = lists[one].role.extent_in(call, axis or 0) or 0
            total = values[one] + values[other]
            side = "below" if total < n else "above" if total > n else "equal to"
            yield f"{one} and {other} sum", [f"{side} n"]
    yield from equality.items()


def _kind(role: Role) -> str:
    """Return what integers are: marks of a mask, numbers of axes, or numbers of elements."""
    return "marks" if isinstance(role, MaskRole) else "axes" if role.counts_axes else "elements"


def _is_of_an_end(role: Role) -> bool:
    return isinstance(role, PerAxis | PartRole) and getattr(role, "part", "before") in _ENDS


def _divided(value: int, others: Mapping[str, int | None]) -> Iterator[str]:
    """Yield which other integers, and which of these less 1, an integer divides."""
    for name, other in others.items():
        for less, words in ((0, name), (1, f"{name} - 1")):
            if other is not None:
                divides = value != 0 and (other - less) % value == 0
                yield f"{'divides' if divides else 'does not divide'} {words}"


def _side(elements: Sequence[int]) -> str:
    """Return what the elements on one side of another one are."""
    return "nothing" if not elements else "other elements" if any(elements) else "only zeros"


def place_names(place: int, count: int) -> list[str]:
    """Return the names of a place, and of those that it is not."""
    others = {"first": place > 0, "last": place < count - 1}
    return [
        *names_of_place(place, count),
        *(f"{NOT}{end}" for end, is_so in others.items() if is_so),
    ]


def _orders(integers: Sequence[int]) -> Iterator[str]:
    """Yield what describes the order of several integers."""
    count = len(integers)
    steps = {b - a for a, b in pairwise(integers)}
    yield "rising" if min(steps) > 0 else "not rising"
    yield "all alike" if steps == {0} else "not all alike"
    if max(steps) < 0:
        yield "falling"
    if len({*integers}) < count:
        yield "with equal elements"
        yield f"with equal elements{'' if 0 in steps else ', none of them'} side by side"
    if steps in ({1}, {-1}) and 0 in (integers[0], integers[-1]):
        yield "in order from 0" if steps == {1} else "in order down to 0"
    if sorted(integers) == [*range(count)]:
        if sum(k != value for k, value in enumerate(integers)) == 2:
            yield "with two exchanged"
        if len({(value - k) % count for k, value in enumerate(integers)}) == 1 and integers[0]:
            yield "rotated"
        is_inverse = all(integers[value] == k for k, value in enumerate(integers))
        yield "its own inverse" if is_inverse else "not its own inverse"


def _values(value: int, n: int | None, element_type: str) -> list[str]:
    """Return the names of an integer, also next to a size `n`."""
    small = [str(value)] if 2 < abs(value) < 10 else []
    limits = [_LIMITS[value]] if value in _LIMITS else []
    return [*small, *limits, *names_near(value, n, element_type)]


def _sign(value: int) -> str:
    """Return on which side of -1, 0 and 1 an integer is."""
    return _SIGNS[max(-2, min(value, 2)) + 2]


def _regions(value: int, n: int | None) -> Iterator[str]:
    """Yield where an integer lies next to a size, if one matters."""
    if n is None:
        return
    if value < 0:
        yield "below -n" if value < -n else "from -n to -1"
    else:
        yield "from 0 to n - 1" if value < n else "of n or more"


def _rounds(value: int, n: int | None) -> Iterator[str]:
    """Yield where an integer lies that would be in range if the size were added twice."""
    if n is not None and -2 * n <= value < -n:
        yield "from -2n to -n - 1"


def places_of(integers: Sequence[int], n: int | None) -> list[int]:
    """Return the places of elements that have a point of their own; `n` is their size, if any."""
    count = len(integers)
    if count <= _MAX_PLACES:
        return [*range(count)]
    ends = integers.index(min(integers)), integers.index(max(integers))
    # The first element in each region has one.
    first: dict[tuple[str, ...], int] = {}
    for place, value in enumerate(integers):
        first.setdefault((*_regions(value, n), *_rounds(value, n)), place)
    return sorted({0, 1, count // 2, count - 2, count - 1, *ends, *first.values()})
