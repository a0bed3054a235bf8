"""Which elements along an axis of data, in batches: the roles `indices` and `leading_dims`."""

from collections.abc import Iterator
from functools import cached_property
from math import prod
from typing import ClassVar, Literal

from opcert.arrays.calls import Call, Tensor, wrap
from opcert.arrays.element_types import highest, lowest
from opcert.errors import Inapplicable
from opcert.roles.axes import AxisRole
from opcert.roles.data import DataRole, OfDataRole
from opcert.roles.drawing import MAX_INDICES, MAX_OUTPUT_RANK, MAX_OUTPUTS, Drawing, near, places
from opcert.roles.role import OMITTED, DerivedAmbiguity, Requirement, Role


class LeadingDimsRole(OfDataRole):
    """The number of leading dimensions that `of` and `shared_with` have in common: an attribute.

    The extents of these dimensions are equal, and all precede the axis of `of` that `at_most`
    names. A negative number is relative to the rank of `negative_from`; without that key it is
    invalid. An omitted number means `default`.
    """

    relations: ClassVar = {
        "of": ("data",),
        "shared_with": ("indices",),
        "negative_from": ("data", "indices"),
        "at_most": ("axis",),
    }

    role: Literal["leading_dims"]
    type: Literal["int"]
    shared_with: str
    negative_from: str | None = None
    at_most: str
    default: int | None = None

    def bounds(self) -> tuple[str, str]:
        """Return 0 or the negated smaller rank, and the greatest number."""
        smaller = f"min({self.of}.rank, {self.shared_with}.rank)"
        least = "0" if self.negative_from is None else f"-{smaller}"
        # The axis itself is never shared, so that the last axis is the limit.
        return (least, f"min({self.of}.rank - 1, {self.shared_with}.rank)")

    @property
    def axis(self) -> AxisRole:
        """The axis before which the shared dimensions are."""
        return self.related(self.at_most, AxisRole)

    @property
    def wrapped_expr(self) -> str:
        """The expression of the number of shared dimensions, not negative."""
        if self.negative_from is None:
            return self.name
        return f"wrap({self.name}, {self.negative_from}.rank)"

    def axes_in(self, call: Call) -> None:
        """Return none: it is a number of axes."""
        del call

    def extent_in(self, call: Call, axis: int) -> int:
        """Return the rank of the tensor that shares dimensions of data."""
        del axis
        return call.inputs[self.shared_with].rank

    def draw_count(self, call: Drawing) -> int:
        """Draw how many dimensions are shared; as many as the output has no room for are."""
        rank = call.fact(self.data.draw_rank)
        other_rank = call.fact(self.related(self.shared_with, Role).draw_rank)
        least = max(0, rank - 1 + other_rank - MAX_OUTPUT_RANK)
        most = min(call.fact(self.axis.draw_axis), other_rank)
        counts = {"none": 0, "one": 1, "all of the other": most, "some": most - 1}
        return call.one(self, "count", {k: n for k, n in counts.items() if least <= n <= most})

    def draw(self, call: Drawing) -> int | None:
        """Return the number, or relative to a rank; None if it is omitted."""
        count = call.fact(self.draw_count)
        ways: dict[str, int | None] = {"counted from the front": count}
        names = self.of, self.shared_with, self.negative_from or self.shared_with
        *ranks, rank = (call.fact(self.related(name, Role).draw_rank) for name in names)
        if self.negative_from is not None and -min(ranks) <= count - rank < 0:
            ways["counted from the end"] = count - rank
        if not self.required and count == wrap(self.default or 0, rank):
            ways[OMITTED] = None
        return call.one(self, "way", ways)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its range, its relation to an axis, and that the shared extents are equal."""
        name, of, other = self.name, self.of, self.shared_with
        least, _ = self.bounds()
        negated = ", and at least its negative" if self.negative_from is not None else ""
        text = f"{name} is at most the smaller rank of {of} and {other}{negated}."
        holds = f"{least} <= {name} <= min({of}.rank, {other}.rank)"
        yield self.requirement("range", text, holds)
        text = f"The dimensions that {name} counts lie before {self.at_most}."
        holds = f"{self.wrapped_expr} <= {self.axis.wrapped_expr}"
        yield self.requirement("at-most-axis", text, holds, f"{self.at_most}.range", "range")
        text = f"The dimensions that {name} counts have the same sizes in {of} and {other}."
        holds = f"{of}.shape[:{self.wrapped_expr}] == {other}.shape[:{self.wrapped_expr}]"
        yield self.requirement("extents", text, holds, "at-most-axis")


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
    def _axis(self) -> AxisRole | None:
        return None if self.along is None else self.related(self.along, AxisRole)

    @property
    def axis_keys(self) -> tuple[str, ...]:
        """The keys of the requirements on the axis."""
        return () if self.along is None else (f"{self.along}.range",)

    def draw_axis(self, call: Drawing) -> int:
        """Draw the axis that is indexed."""
        return 0 if self._axis is None else call.fact(self._axis.draw_axis)

    @property
    def axis_expr(self) -> str:
        """The expression of the axis, counted from the front."""
        return "0" if self._axis is None else self._axis.wrapped_expr

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
        if order == "alike":
            return [value] * count
        drawn = call.integers(self, "values", min(0, least), most, count)
        if order in ("rising", "falling"):
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
            text = f"Each of {self.name} is an index of {self.into} along the axis."
            keys = ("type", *prerequisites, *self.axis_keys)
            yield self.requirement("range", text, self._inside_expr, *keys)

    def axes_in(self, call: Call) -> int:
        """Return the axis that is indexed."""
        return 0 if self._axis is None else self._axis.axis_in(call)

    def open_question(
        self, aspect: str, text: str, condition: str, *rules: Requirement
    ) -> DerivedAmbiguity:
        """Return an ambiguity of calls in which the size of the axis can be read."""
        axis = () if self._axis is None else self._axis.requirements()
        holds = [rule.holds for rule in (*Role.requirements(self), *axis, *rules)]
        touches = " and ".join(f"({part})" for part in (*holds, condition))
        return DerivedAmbiguity(f"{self.name}.{aspect}", text, touches)

    def ambiguities(self) -> Iterator[DerivedAmbiguity]:
        """Yield the meaning of an index outside with `outside: undefined`."""
        if self.outside == "undefined":
            text = f"What an index of {self.name} outside of the axis gives."
            yield self.open_question("range", text, f"not {self._inside_expr}")


class IndicesRole(IndexingRole):
    """Indices into an axis of data: a tensor.

    They replace the axis by their own dimensions. If the least rank is also the greatest, it is a
    requirement.
    """

    role: Literal["indices"]

    def rank_bounds(self) -> tuple[str, str]:
        """Return all ranks that outputs can have."""
        return ("0", str(MAX_OUTPUT_RANK))

    @cached_property
    def _leading(self) -> LeadingDimsRole | None:
        """The role of the number of dimensions that it shares with data, if there is one."""
        return next(iter(self.referrers("shared_with", LeadingDimsRole)), None)

    def draw_rank(self, call: Drawing) -> int:
        """Draw its rank, with which the output does not have too many dimensions."""
        rank = call.fact(self.data.draw_rank)
        shared = 0 if self._leading is None else call.fact(self._leading.axis.draw_axis)
        fitting = [n for n in self.ranks if rank - 1 + n - min(n, shared) <= MAX_OUTPUT_RANK]
        return call.one(self, "rank", fitting)

    def draw_shape(self, call: Drawing) -> tuple[int, ...]:
        """Draw its shape; its leading extents may be those of data."""
        rank, data = call.fact(self.draw_rank), call.fact(self.data.draw_shape)
        axis = self.draw_axis(call)
        shared = 0 if self._leading is None else call.fact(self._leading.draw_count)
        others = prod(extent for d, extent in enumerate(data) if d != axis)
        most = call.one(self, "size", {"up to 16": 16, "up to 64": 64}, {"up to 1,024": 1 << 10})
        batches = prod(data[:shared])
        if batches > MAX_INDICES:
            raise Inapplicable("there are too many indices")
        room = max(1, min(most // max(1, batches), MAX_OUTPUTS // max(1, others)))
        own = [*call.extents(self, rank - shared, room)]
        # As many as the axis has elements, so that they may be all of them.
        if own and data[axis] * prod(own[:-1]) <= room and not call.integer(self, "all", 0, 3):
            own[-1] = data[axis]
        return (*data[:shared], *own)

    def draw(self, call: Drawing) -> Tensor:
        """Return the indices: one of them is near the ends of the axis or of a type."""
        element_type, shape = call.fact(self.draw_type), call.fact(self.draw_shape)
        n = call.fact(self.data.draw_shape)[self.draw_axis(call)]
        values = self.draw_values(call, n, prod(shape))
        return call.laid_out(self, Tensor(element_type, shape, tuple(values)))

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank if there is only one, and its range with `outside: reject`."""
        yield from super().requirements()
        name, (least, most) = self.name, self.rank
        if least == most:
            text = f"{name} is of rank {most}."
            yield self.requirement("rank", text, f"{name}.rank == {most}")
        yield from self.range_requirements("rank")
