"""The roles `indices` and `element_indices`: which elements of an axis of data to take."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import cycle, islice
from math import prod
from typing import ClassVar, Literal

from opcert.arrays.calls import Call, Tensor, insert, replace
from opcert.arrays.element_types import highest, lowest
from opcert.errors import Inapplicable
from opcert.roles.axes import AxisRole
from opcert.roles.data import DataRole
from opcert.roles.dims import LeadingDimsRole
from opcert.roles.drawing import MAX_INDICES, MAX_OUTPUT_RANK, MAX_OUTPUTS, Drawing, near, places
from opcert.roles.role import DerivedAmbiguity, Requirement, Role


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
        drawn = call.choices.integers(f"{self.name} values", min(0, least), most, count)
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
        roles = self.referrers("shared_with")
        return next((role for role in roles if isinstance(role, LeadingDimsRole)), None)

    def draw_rank(self, call: Drawing) -> int:
        """Draw its rank, with which the output does not have too many dimensions."""
        least, most = map(int, self.rank)
        rank = call.fact(self.data.draw_rank)
        shared = 0 if self._leading is None else self._leading.draw_limit(call)
        ranks = range(least, most + 1)
        fitting = [n for n in ranks if rank - 1 + n - min(n, shared) <= MAX_OUTPUT_RANK]
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


# Indices have at most so many lines along the axis.
_MAX_LINES = 1 << 12
# After so many indices they repeat, since Hypothesis cannot draw lists of any length. It is prime,
# so that lines differ.
_PERIOD = 1021


class ElementIndicesRole(IndexingRole):
    """Indices into an axis of data, one for each element: a tensor with the rank of data.

    Where an index is gives the coordinates on the other axes. The extents are those of data, but
    any along the axis; with `within`, none of them exceeds that of data. If indices that are
    `repeated` in one line along the axis are `undefined`, an ambiguity states what they leave open.
    """

    role: Literal["element_indices"]
    outside: Literal["reject", "undefined"]
    within: bool = False
    repeated: Literal["allowed", "undefined"] = "allowed"

    def rank_bounds(self) -> tuple[str, str]:
        """Return the ranks of data."""
        return self.data.rank

    @property
    def _is_distinct(self) -> bool:
        return self.repeated == "undefined"

    def draw_shape(self, call: Drawing) -> tuple[int, ...]:
        """Draw its shape: that of data, but any extent along the axis, or smaller next to it."""
        shape, axis = call.fact(self.data.draw_shape), self.draw_axis(call)
        n, others = shape[axis], [*shape[:axis], *shape[axis + 1 :]]
        if self.within and others:
            others = self._draw_smaller(call, others)
        if prod(others) > _MAX_LINES:
            raise Inapplicable("there are too many indices")
        # A count past 16 bits needs indices that take long to draw.
        rooms = {"up to 1,024": MAX_INDICES}, {"up to 2^16 + 1": (1 << 16) + 1}
        room = call.one(self, "size", *rooms)
        most = max(1, room // max(1, prod(others)))
        if self.within:
            most = min(most, n)
        if self._is_distinct:
            most = min(most, highest(call.fact(self.draw_type)) + 1)
        counts = {name: k for name, k in near(n, "i64").items() if 0 < k <= most and n}
        if n and most > 1:
            # As often between 1 and 16 as any.
            ends = min(most, 16), most
            counts["any"] = call.integer(self, "any count", 1, call.pick(self, "count end", ends))
        return insert(others, axis, call.one(self, "count", counts, {"0": 0}))

    def _draw_smaller(self, call: Drawing, extents: list[int]) -> list[int]:
        """Draw extents of at most those of data."""
        smaller = [call.integer(self, f"extent {k}", min(1, n), n) for k, n in enumerate(extents)]
        one = call.integer(self, "smaller extent", 0, len(extents) - 1)
        kinds = {
            "as data": extents,
            "one smaller": [*replace(extents, one, smaller[one])],
            "all smaller": smaller,
            "1": [min(1, n) for n in extents],
        }
        # There is room for several indices along the axis.
        possible = {
            kind: others
            for kind, others in kinds.items()
            if prod(others) <= MAX_INDICES // 8 and (others != extents or kind == "as data")
        }
        return call.one(self, "extents", possible)

    def draw(self, call: Drawing) -> Tensor:
        """Return the indices, line by line along the axis.

        Where all lines are alike, whole slices are taken, for which a kernel may have another way.
        """
        shape, axis = call.fact(self.draw_shape), self.draw_axis(call)
        n, lines = call.fact(self.data.draw_shape)[axis], [*lines_along(shape, axis)]
        values = [0] * prod(shape)
        kinds = ["any"], ["alike"] if len(lines) > 1 and values else []
        is_alike = call.one(self, "lines", *kinds) == "alike"
        count = shape[axis] if is_alike else len(values)
        if self._is_distinct:
            drawn = self._draw_distinct(call, n, count)
        else:
            drawn = [*islice(cycle(self.draw_values(call, n, min(count, _PERIOD))), count)]
        for k, line in enumerate(lines):
            first = 0 if is_alike else k * shape[axis]
            values[line.start : line.stop : line.step] = drawn[first : first + shape[axis]]
        return call.laid_out(self, Tensor(call.fact(self.draw_type), shape, tuple(values)))

    def _draw_distinct(self, call: Drawing, n: int, count: int) -> list[int]:
        """Draw `count` indices for lines one after another, mostly without repeats in a line."""
        if not count:
            return []
        element_type = call.fact(self.draw_type)
        length = call.fact(self.draw_shape)[self.draw_axis(call)]
        most, least = min(n, highest(element_type) + 1), lowest(element_type)
        valid = {k: v for k, v in near(n, element_type).items() if self.is_inside(v, n)}
        value, place = call.one_near(self, "value", valid), call.one(self, "place", places(count))
        order = call.one(self, "others", ["any", "rising", "falling"], ["repeated"])
        period = call.choices.integers(f"{self.name} values", 0, most - 1, min(count, _PERIOD))
        drawn = [*islice(cycle(period), count)]
        for start in range(0, count, length):
            line = drawn[start : start + length]
            if order == "any":
                line = _without_repeats(line, most)
            elif order != "repeated":
                sign = 1 if order == "rising" else -1
                line = [(line[0] + sign * k) % most for k in range(length)]
            if start <= place < start + length:
                # If the tested index is elsewhere in its line, the two change places.
                same = [k for k, index in enumerate(line) if index == value % n]
                if same and order != "repeated":
                    line[same[0]] = line[place - start]
                line[place - start] = value % n
            drawn[start : start + length] = line
        if self.negative:
            period = call.choices.integers(f"{self.name} signs", 0, 1, min(count, _PERIOD))
            signs = zip(drawn, cycle(period), strict=False)
            drawn = [i - n if sign and i - n >= least else i for i, sign in signs]
        drawn[place] = value
        return drawn

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank, its extents, and its range with `outside: reject`."""
        yield from super().requirements()
        name, into = self.name, self.into
        text = f"{name} has as many dimensions as {into}."
        yield self.requirement("rank", text, f"{name}.rank == {into}.rank")
        pairs = f"zip({name}.shape, {into}.shape)"
        if not self.within:
            text = f"Off the axis, {name} has the extents of {into}."
            holds = f"all(k == {self.axis_expr} or a == b for k, (a, b) in enumerate({pairs}))"
        else:
            text = f"No extent of {name} exceeds that of {into}."
            holds = f"all(a <= b for a, b in {pairs})"
        axis = () if self.within else self.axis_keys
        yield self.requirement("extents", text, holds, "rank", *axis)
        yield from self.range_requirements()

    def ambiguities(self) -> Iterator[DerivedAmbiguity]:
        """Yield what is open: an index outside, and elements at repeated indices."""
        yield from super().ambiguities()
        if self._is_distinct:
            text = f"Which of the elements with the same index of {self.name} is the result."
            repeats = f"repeats({self.name}, {self.axis_expr}, {self.extent_expr})"
            yield self.open_question("repeated", text, repeats, *self.requirements())


def _without_repeats(indices: Sequence[int], most: int) -> list[int]:
    """Return indices below `most` in which one that was there already is the next free one."""
    seen: set[int] = set()
    distinct = []
    for index in indices:
        free = index
        while free in seen:
            free = (free + 1) % most
        seen.add(free)
        distinct.append(free)
    return distinct
