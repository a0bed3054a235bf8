"""A call that is being drawn: what roles ask of one another, and the values that they share."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any, Protocol, TypeVar

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import fits, highest, lowest
from opcert.arrays.layouts import Layout
from opcert.choices import Choices, Options
from opcert.errors import ExpressionError, Inapplicable, OpcertError, abbreviate

Fact = TypeVar("Fact")
Option = TypeVar("Option")
# Extents next to which implementations change their ways: vectors, tiles, widths of integers.
_ROUND = (8, 16, 32, 64, 100, 128, 256, 512, 1000, 1024, 4096, 1 << 15, 1 << 16)
# Tensors have at most so many elements.
_ROOMS = {"up to 32": 32, "up to 1,024": 1 << 10, "up to 8,192": 1 << 13}
_RARE_ROOMS = {"up to 2^18": 1 << 18}
_LARGE_ROOMS = {"up to 2^18": 1 << 18, "up to 2^20": 1 << 20, "up to 2^22": 1 << 22}

# Numbers of foreign elements before each element, row and slab.
_GAPS = ((1,), (0, 1), (0, 0, 1), (2,), (1, 3), (0, 1, 2))
# The integers of `near` that are the limits of a type.
_LIMITS = ("greatest", "least")
# The greatest rank of outputs; the most elements of outputs that a draw aims at, and of indices.
MAX_OUTPUT_RANK = 8
MAX_OUTPUTS, MAX_INDICES = 1 << 14, 1 << 10


class Named(Protocol):
    """An argument that draws: its name begins those of its choices."""

    name: str


@dataclass(eq=False)
class Drawing:
    """A call that is being drawn.

    An argument that depends on others asks for facts of theirs. A fact is drawn when it is first
    asked for, and once, so no order of arguments is declared. `evaluate` returns the value of an
    expression, for which it draws the arguments that the expression names. A `large` call has
    tensors of up to 2^22 elements.
    """

    choices: Choices
    evaluate: Callable[[str], Any]
    large: bool = field(default=False, kw_only=True)
    _facts: dict[tuple[str, str], Any] = field(default_factory=dict, init=False)
    _open: list[tuple[str, str]] = field(default_factory=list, init=False)

    def fact(self, draw: Callable[["Drawing"], Fact]) -> Fact:
        """Return what a method of a role draws for this call.

        Raises:
            OpcertError: the fact depends on itself.
        """
        key = draw.__self__.name, draw.__name__  # type: ignore[attr-defined]
        if key not in self._facts:
            if key in self._open:
                circle = [*self._open[self._open.index(key) :], key]
                names = " -> ".join(f"{name} ({fact})" for name, fact in circle)
                raise OpcertError(f"arguments depend on one another in a circle: {names}")
            self._open.append(key)
            self._facts[key] = draw(self)
            self._open.pop()
        drawn: Fact = self._facts[key]
        return drawn

    def evaluate_integers(self, text: str) -> tuple[int, ...]:
        """Return the value of an expression, a list of integers.

        Raises:
            ExpressionError: it has another value.
        """
        value = self.evaluate(text)
        if isinstance(value, tuple) and all(type(item) is int for item in value):
            return value
        raise ExpressionError(f"{abbreviate(text)} is {abbreviate(value)}; expected integers")

    def one(
        self, role: Named, aspect: str, options: Options[Option], rare: Options[Option] = ()
    ) -> Option:
        """Return one of the options of a choice, whose level is recorded."""
        return self.choices.one(f"{role.name} {aspect}", options, rare)

    def integer(self, role: Named, aspect: str, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, both included; it is no level."""
        return self.choices.integer(f"{role.name} {aspect}", low, high)

    def integers(self, role: Named, aspect: str, low: int, high: int, count: int) -> list[int]:
        """Return `count` integers from `low` to `high`, both included; they are no level."""
        return self.choices.integers(f"{role.name} {aspect}", low, high, count)

    def one_near(self, role: Named, aspect: str, *options: Mapping[str, int]) -> int:
        """Return one of the integers of `near`; a limit of their type in one of three draws.

        `options` are those of the choice, and the rare ones if there are any.
        """
        if self.choices.rarely(f"{role.name} {aspect} limit", 3):
            return self.one(role, aspect, *map(_limits_among, options))
        return self.one(role, aspect, *options)

    def pick(self, role: Named, aspect: str, items: Sequence[Option]) -> Option:
        """Return one of the items, without a level.

        Raises:
            Inapplicable: there are no items.
        """
        if not items:
            raise Inapplicable(f"no {aspect} for {role.name}")
        return self.choices.pick(f"{role.name} {aspect}", items)

    def sample(
        self, role: Named, aspect: str, items: Collection[Option], count: int
    ) -> list[Option]:
        """Return `count` of the items, in the order in which they are drawn, without a level."""
        return self.choices.sample(f"{role.name} {aspect}", items, count)

    def many(self, role: Named) -> int:
        """Return a large number of tensors; the largest are rare, for each is stored."""
        if self.choices.rarely(f"{role.name} many more", 6):
            return self.pick(role, "most", (129, 258, 258, 300, 1000))
        return self.integer(role, "many", 17, 64)

    def few_or_many(self, role: Named, few: int, many: int) -> int:
        """Return how many elements are computed with at most, of which many take long."""
        return many if self.choices.rarely(f"{role.name} many", 16) else few

    def room(self, role: Named) -> int:
        """Return how many elements a tensor may have."""
        common, rare = (_LARGE_ROOMS, {}) if self.large else (_ROOMS, _RARE_ROOMS)
        return self.one(role, "size", common, rare)

    def extents(
        self,
        role: Named,
        rank: int,
        room: int,
        *,
        empty: bool = True,
        huge: bool = False,
        aspect: str = "extents",
    ) -> tuple[int, ...]:
        """Return extents that multiply to at most `room`; if `huge`, one may be past 16 bits."""
        if not rank:
            return ()
        kinds = ["one longer", "varied", "equal", *(["1 every second"] if rank > 2 else [])]
        if not self.integer(role, f"{aspect} long", 0, 3):
            kinds = kinds[:1]
        rare = ["ones", *(["past 16 bits"] if huge else []), *(["with 0"] if empty else [])]
        kind = self.one(role, aspect, kinds, rare)
        if kind in ("ones", "equal"):
            most = max(2, int(room ** (1 / rank)))
            return (1 if kind == "ones" else self.extent(role, f"{aspect} alike", most, 2),) * rank
        order = self.sample(role, f"{aspect} order", range(rank), rank)
        shape = [1] * rank
        if kind == "one longer":
            shape[order[0]] = self.long_extent(role, f"{aspect} long", max(2, room))
        elif kind == "past 16 bits":
            shape[order[-1]] = self.integer(role, f"{aspect} two", 1, 2)
            shape[order[0]] = (1 << 16) + self.integer(role, f"{aspect} past", -1, 4)
        else:
            every, least = (2, 2) if kind == "1 every second" else (1, 1)
            for k in order:
                if k % every == order[0] % every:
                    shape[k] = self.extent(role, f"{aspect} {k}", room // prod(shape), least)
            shape[order[0]] = 0 if kind == "with 0" else max(2, shape[order[0]])
        return tuple(shape)

    def extent(self, role: Named, aspect: str, room: int, least: int = 1) -> int:
        """Return an extent of at most `room`, small in three of four draws."""
        if room <= least:
            return least
        how = self.integer(role, f"{aspect} kind", 0, 7)
        if how == 0:
            return least
        if how < 6:
            most = min(room, 5 if how < 5 else 17)
            return self.integer(role, aspect, least, max(least, most))
        return max(least, self.long_extent(role, aspect, room))

    def long_extent(self, role: Named, aspect: str, room: int) -> int:
        """Return an extent from 2 to `room`, any or next to a round number."""
        near = [n + d for n in _ROUND for d in (-1, 0, 1) if n + d <= room]
        if near and self.integer(role, f"{aspect} near", 0, 1):
            return self.pick(role, f"{aspect} round", near)
        # As often between 4 and 8 as between 512 and 1,024.
        bits = self.integer(role, f"{aspect} bits", 1, room.bit_length() - 1)
        return self.integer(role, f"{aspect} any", 1 << bits, min(room, (2 << bits) - 1))

    def laid_out(self, role: Named, tensor: Tensor, aspect: str = "layout") -> Tensor:
        """Return the tensor in a layout, each part of which is a choice."""
        axes = tuple(axis for axis, extent in enumerate(tensor.shape) if extent > 1)
        # Data that repeats elements leaves less to see; that a list does is seldom.
        one_in = {"offset": 8, "repeated": 8 if tensor.values is None else 1}
        layout: dict[str, Any] = {}
        for part, plain in _PLAIN.items():
            name = f"{role.name} {aspect} {part}"
            differs = self.choices.rarely(f"{name} differs", one_in.get(part, 4))
            # To list the others takes time, and most parts do not differ.
            others = _other_layouts(part, axes, tensor) if differs else {}
            chosen = self.choices.one(name, {plain: (), **others})
            if chosen is None and part == "offset":
                chosen = self.integer(role, f"{aspect} any", 2, 64)
            elif chosen is None:
                count = len(axes) if part == "order" else (len(axes) + 1) // 2
                chosen = tuple(self.sample(role, f"{aspect} {part} axes", axes, count))
            if chosen:
                layout[part] = chosen
        return replace(tensor, layout=Layout(**layout).of_shape(tensor.shape)) if layout else tensor


# Each part of a layout, and its level in C order.
_PLAIN = {"offset": "0", "gaps": "none", "backwards": "none", "order": "C", "repeated": "none"}


def _other_layouts(part: str, axes: tuple[int, ...], tensor: Tensor) -> Mapping[str, Any]:
    """Return what a part of a layout may be besides that of C order; None is drawn further."""
    several = len(axes) > 1
    if part == "offset":
        return {"1": 1, "any": None}
    if part == "gaps":
        return {str(gaps): gaps for gaps in _GAPS}
    if part == "order":
        orders = {"reversed": axes[::-1], "any": None} if several else {}
        last_two = {"last two exchanged": (*axes[:-2], *axes[-2:][::-1])}
        return {**orders, **(last_two if len(axes) > 2 else {})}
    if part == "repeated" and tensor.values is not None and len({*tensor.values}) != 1:
        return {}
    ends = {"all": axes, "last": axes[-1:], "first": axes[:1], "some": None}
    return dict([*ends.items()][: 4 if several else len(axes)])


def _limits_among(options: Mapping[str, int]) -> Mapping[str, int]:
    """Return the limits of a type among integers of `near`; all of them if it has none."""
    return {name: options[name] for name in _LIMITS if name in options} or options


@lru_cache(maxsize=1024)
def near(n: int, element_type: str) -> Mapping[str, int]:
    """Return the integers that matter next to 0, to a size `n`, and to the limits of types.

    They are inside and outside of what is valid, by names that describe them; only those that the
    type holds, and of equal ones the first.
    """
    named = _named_near(n, element_type)
    return distinct({name: value for name, value in named.items() if fits(element_type, value)})


def names_near(value: int, n: int | None, element_type: str) -> list[str]:
    """Return all names that `near` has for an integer; without a size, those that need none."""
    names = [name for name, own in _named_near(n or 0, element_type).items() if own == value]
    return [name for name in names if n is not None or "n" not in name]


@lru_cache(maxsize=1024)
def _named_near(n: int, element_type: str) -> Mapping[str, int]:
    return {
        **{"0": 0, "1": 1, "n - 1": n - 1, "n": n, "-1": -1, "-n": -n, "n // 2": n // 2},
        **{"2": 2, "-2": -2, "1 - n": 1 - n, "n + 1": n + 1, "-n - 1": -n - 1},
        **{"2n + 3": 2 * n + 3, "-2n - 5": -2 * n - 5},
        **{"greatest": highest(element_type), "least": lowest(element_type)},
        **{"2^8": 1 << 8, "2^8 + 1": 257, "2^16": 1 << 16, "2^16 + 1": (1 << 16) + 1},
        **{"2^31": 1 << 31, "2^32 - 1": (1 << 32) - 1, "2^32": 1 << 32, "2^32 + 1": (1 << 32) + 1},
        **{"2^32 + n - 1": (1 << 32) + n - 1, "1 - 2^32": 1 - (1 << 32), "-2^32": -(1 << 32)},
        **{"-2^8": -(1 << 8), "1 - 2^16": 1 - (1 << 16)},
        **{"2^40": 1 << 40, "-2^31 - 1": -(1 << 31) - 1},
    }


def places(count: int) -> dict[str, int]:
    """Return places in a list of `count`, by name; of equal ones the first."""
    named = _named_places(count)
    return distinct({name: place for name, place in named.items() if 0 <= place < count})


def names_of_place(place: int, count: int) -> list[str]:
    """Return all names that `places` has for a place."""
    return [name for name, own in _named_places(count).items() if own == place]


def _named_places(count: int) -> dict[str, int]:
    middle = {"middle": count // 2, "second": 1, "last but one": count - 2}
    return {"first": 0, "last": count - 1, **middle}


def parted(
    named: Mapping[str, Option], is_common: Callable[[Option], object]
) -> tuple[dict[str, Option], dict[str, Option]]:
    """Return the common options, and the others, which are to be rare."""
    common = {name: option for name, option in named.items() if is_common(option)}
    return common, {name: option for name, option in named.items() if name not in common}


def distinct(named: Mapping[str, Option]) -> dict[str, Option]:
    """Return the options by name; of equal ones the first."""
    first: dict[Option, str] = {}
    for name, value in named.items():
        first.setdefault(value, name)
    return {name: value for value, name in first.items()}


def draw_parts(role: Named, call: Drawing, n: int, *, empty: bool) -> list[int]:
    """Return lengths of parts of an axis of `n`.

    Raises:
        Inapplicable: there are no parts without an empty one.
    """
    counts = {str(k): k for k in (2, 1, 3, 4)} | {"several": call.integer(role, "several", 5, 16)}
    common, rare = counts, {"many": call.many(role)}
    if not empty:
        common, rare = ({k: c for k, c in x.items() if c <= n} for x in (common, rare))
    count = call.one(role, "number", common, rare)
    kinds = ["any", "equal"] if n % count == 0 and (n or empty) else ["any"]
    if empty and count > 1:
        kinds += ["one takes all", "some empty"]
    kind = call.one(role, "lengths", kinds)
    if kind == "equal":
        return [n // count] * count
    if kind == "one takes all":
        whole = call.one(role, "whole", places(count))
        return [n if k == whole else 0 for k in range(count)]
    least = 0 if kind == "some empty" or count > n else 1
    # Where the parts begin, in any order.
    cuts = call.integers(role, "cuts", 0, n - least * count, count - 1)
    ends = [0, *sorted(cuts), n - least * count]
    return [b - a + least for a, b in pairwise(ends)]
