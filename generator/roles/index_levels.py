"""What the roles of indices share: levels of an index and its place, and the wrap of integers."""

from collections.abc import Callable, Iterable, Iterator
from math import prod
from typing import ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.arrays.element_types import highest, lowest
from opcert.roles.axes import AxisRole
from opcert.roles.data import DataRole
from opcert.roles.drawing import Drawing, near, places
from opcert.roles.factors import ObservationPoint, levels_where
from opcert.roles.role import DerivedAmbiguity, Requirement, Role

# A constant, or a function of the size of the axis and the type of the indices.
IndexValue = int | Callable[[int, str], int]

# The tested index with its words: inside the axis, counted from the end, and outside.
_INSIDE: dict[str, tuple[IndexValue, str]] = {
    "zero": (0, "an index of 0"),
    "last": (lambda n, _: n - 1, "the last index"),
    "middle": (lambda n, _: n // 2, "an index in the middle"),
    # Inside if the axis is as long as the type reaches.
    "most": (lambda _, t: highest(t), "the greatest index of its type"),
    "least": (lambda _, t: lowest(t), "the least index of its type"),
    "past_u8": (256, "an index of 256"),
}
_FROM_END: dict[str, tuple[IndexValue, str]] = {
    "minus_one": (-1, "an index of -1"),
    "first_from_end": (lambda n, _: -n, "an index of the negated size"),
}
_OUTSIDE: dict[str, tuple[IndexValue, str]] = {
    "end": (lambda n, _: n, "an index of the size"),
    "beyond": (lambda n, _: n + 3, "an index past the end"),
    "below": (lambda n, _: -n - 1, "an index below the negated size"),
    "far_below": (lambda n, _: -n - 5, "an index far below"),
    # These are inside if they are cut to fewer bits.
    "past_u16": (1 << 16, "an index of 65536"),
    "past_u32": (1 << 32, "an index of 2^32"),
    "past_u40": (1 << 40, "an index of 2^40"),
    "below_u32": (1 - (1 << 32), "an index of 1 - 2^32"),
}
# Kinds that `Sampler.dims` draws. `alike` starts like data, as if the dimensions were shared.
EXTENTS = ("varied", "long", "equal", "alike", "ones", "wide", "tall", "zero")
PLACES = {"first": "at the first place", "middle": "at a middle place", "last": "at the last place"}
# Compilers detect consecutive indices and replace them by slices.
ORDERS = {
    **{"drawn": "", "rising": "indices rising", "falling": "indices falling"},
    "alike": "indices all the same",
}


def index_values(*, negative: bool, outside: bool) -> dict[str, tuple[IndexValue, str]]:
    """Return the levels of the tested index, which may be negative or outside if so declared."""
    levels = _INSIDE
    if negative or outside:
        levels = levels | _FROM_END
    if outside:
        levels = levels | _OUTSIDE
    return levels


def places_of(count: int) -> dict[str, int]:
    """Return the positions of the named places among `count` indices."""
    return {"first": 0, "middle": count // 2, "last": max(count, 1) - 1}


def consecutive(order: str, n: int, count: int) -> tuple[int, ...]:
    """Return `count` consecutive indices, rising or falling, that wrap at the end of the axis."""
    size = max(n, 1)
    rising = [k % size for k in range(count)]
    return tuple(rising) if order == "rising" else tuple(size - 1 - k for k in rising)


def are_consecutive(order: str, n: int, values: Iterable[int]) -> bool:
    """Whether indices are those of `consecutive`. The first one answers for most: they are many."""
    size = max(n, 1)
    if order == "rising":
        return all(value == k % size for k, value in enumerate(values))
    return all(value == size - 1 - k % size for k, value in enumerate(values))


def observed_orders(values: tuple[int, ...], n: int) -> frozenset[str]:
    """Return the orders of indices into an axis of `n`."""
    return levels_where(
        {
            "drawn": True,
            "rising": are_consecutive("rising", n, values),
            "falling": are_consecutive("falling", n, values),
            "alike": len(values) > 1 and min(values) == max(values),
        }
    )


def lines_along(shape: tuple[int, ...], axis: int) -> Iterator[range]:
    """Yield the positions in C order of the elements of each line along `axis`."""
    count, step = shape[axis], prod(shape[axis + 1 :])
    for block in range(0, prod(shape[:axis]) * count * step, max(count * step, 1)):
        yield from (
            range(start, block + count * step, step) for start in range(block, block + step)
        )


class IndexingRole(Role):
    """Indices into an axis of data: a tensor.

    `along` names the axis, by default the first one. With `negative`, negative indices count from
    the end. An index `outside` of the axis gives `zeros`, gives the element at the nearer end
    (`clamp`), makes the call invalid (`reject`), or is left open by the document (`undefined`), as
    an ambiguity then states.
    """

    relations: ClassVar = {"into": ("data",), "along": ("axis",)}

    into: str
    along: str | None = None
    negative: bool = True
    outside: Literal["zeros", "clamp", "reject", "undefined"]

    def bounds(self) -> tuple[str, str]:
        """Return the ends of the axis, or of the type if a valid index may lie outside."""
        if self.may_be_outside:
            return (f"lowest({self.name}.type)", f"highest({self.name}.type)")
        return (self._least_expr, f"{self.extent_expr} - 1")

    @property
    def may_be_outside(self) -> bool:
        """Whether an index outside of the axis is valid."""
        return self.outside in ("zeros", "clamp")

    @property
    def data(self) -> DataRole:
        """The data that is indexed."""
        return self.related(self.into, DataRole)

    @property
    def axis_expr(self) -> str:
        """The expression of the axis, counted from the front."""
        return "0" if self.along is None else self.related(self.along, AxisRole).wrapped_expr

    @property
    def extent_expr(self) -> str:
        """The expression of the size of the axis."""
        return f"{self.into}.shape[{self.axis_expr}]"

    @property
    def _least_expr(self) -> str:
        return f"-{self.extent_expr}" if self.negative else "0"

    @property
    def _inside_expr(self) -> str:
        least, most = f"min({self.name}.values)", f"max({self.name}.values)"
        is_inside = f"{self._least_expr} <= {least} and {most} < {self.extent_expr}"
        return f"({self.name}.size == 0 or {is_inside})"

    def is_inside(self, index: int, n: int) -> bool:
        """Whether an index is valid for an axis of `n`."""
        return (-n if self.negative else 0) <= index < n

    def draw_values(self, call: Drawing, n: int, count: int) -> list[int]:
        """Draw `count` indices into an axis of `n`.

        Raises:
            Inapplicable: there is no valid index.
        """
        if not count:
            return []
        element_type = call.fact(self.draw_type)
        valid = {
            name: value
            for name, value in near(n, element_type).items()
            if self.may_be_outside or self.is_inside(value, n)
        }
        value, place = call.one_near(self, "value", valid), call.one(self, "place", places(count))
        least = max(-n if self.negative else 0, lowest(element_type))
        most = max(0, min(n - 1, highest(element_type)))
        orders = ["any", "from the front", "rising", "falling", "alike"]
        outside = [i for i in valid.values() if not self.is_inside(i, n)]
        order = call.one(self, "others", orders, ["outside"] if outside else [])
        drawn = call.choices.integers(f"{self.name} values", min(0, least), most, count)
        if order == "alike":
            drawn = [value] * count
        elif order in ("rising", "falling"):
            sign = 1 if order == "rising" else -1
            # All of the axis in its order, or backwards, shows what takes it for data itself.
            is_whole = call.integer(self, "whole", 0, 1)
            first = (0 if sign > 0 else most) if is_whole else drawn[0]
            drawn = [(sign * k + first) % (most + 1) for k in range(count)]
            if is_whole:
                return drawn
        elif order == "outside":
            drawn = [outside[i % len(outside)] for i in drawn]
        elif order == "from the front":
            drawn = [i % (most + 1) for i in drawn]
        drawn[place] = value
        return drawn

    def range_requirements(self, *prerequisites: str) -> Iterator[Requirement]:
        """Yield the requirement that all indices lie inside, with `outside: reject`."""
        if self.outside == "reject":
            axis = () if self.along is None else (f"{self.along}.range",)
            yield Requirement(
                f"{self.name}.range",
                f"Each of {self.name} is an index of {self.into} along the axis.",
                self._inside_expr,
                prerequisites=(f"{self.name}.type", *prerequisites, *axis),
            )

    def observation_points(self, call: Call) -> list[ObservationPoint]:
        """Return the first, middle and last place, and the first axis unless `along` names one."""
        places = sorted({*places_of(call.inputs[self.name].size).values()})
        axis = {"axis": 0} if self.along is None else {}
        return [{self.factor("place"): place, **axis} for place in places]

    def valid_axis_conditions(self) -> list[str]:
        """Return the conditions under which the size of the axis can be read."""
        rules = [*Role.requirements(self)]
        if self.along is not None:
            rules += self.related(self.along, AxisRole).requirements()
        return [rule.holds for rule in rules]

    def ambiguities(self) -> Iterator[DerivedAmbiguity]:
        """Yield the meaning of an index outside with `outside: undefined`."""
        if self.outside == "undefined":
            conditions = [*self.valid_axis_conditions(), f"not {self._inside_expr}"]
            yield DerivedAmbiguity(
                f"{self.name}.range",
                f"What an index of {self.name} outside of the axis gives.",
                " and ".join(f"({condition})" for condition in conditions),
            )
