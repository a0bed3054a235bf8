"""Positions of elements of data, in tensors: the roles `element_indices` and `coordinates`."""

from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from math import prod
from typing import ClassVar, Literal

import numpy as np

from opcert.arrays.calls import Tensor, insert, replace
from opcert.arrays.element_types import highest, lowest
from opcert.errors import Inapplicable
from opcert.roles.argument import ExpressionText, RankBounds
from opcert.roles.data import DataRole
from opcert.roles.drawing import MAX_INDICES, Drawing, near, places
from opcert.roles.indices import IndexingRole
from opcert.roles.role import DerivedAmbiguity, Requirement, Role

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
        n, others = call.fact(self.data.draw_shape)[axis], (*shape[:axis], *shape[axis + 1 :])
        kinds = ["any"], ["alike"] if prod(others) > 1 and shape[axis] else []
        is_alike = call.one(self, "lines", *kinds) == "alike"
        count = shape[axis] if is_alike else prod(shape)
        if self._is_distinct:
            drawn = self._draw_distinct(call, n, count)
        else:
            drawn = [*islice(cycle(self.draw_values(call, n, min(count, _PERIOD))), count)]
        lines = np.array(drawn, object).reshape(*(() if is_alike else others), shape[axis])
        array = np.moveaxis(np.broadcast_to(lines, (*others, shape[axis])), -1, axis)
        values = tuple(array.ravel().tolist())
        return call.laid_out(self, Tensor(call.fact(self.draw_type), shape, values))

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
        period = call.integers(self, "values", 0, most - 1, min(count, _PERIOD))
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
            period = call.integers(self, "signs", 0, 1, min(count, _PERIOD))
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
    distinct: dict[int, None] = {}
    for index in indices:
        free = index
        while free in distinct:
            free = (free + 1) % most
        distinct[free] = None
    return [*distinct]


class CoordinatesRole(Role):
    """Positions in data: the last dimension lists the coordinates of each, from the first axis on.

    A position with fewer coordinates than data has axes is that of a slice. `after` is an
    expression of the number of leading dimensions that the tensor shares with data; the coordinates
    are those of the axes after them. With `negative`, negative ones count from the end.
    """

    relations: ClassVar = {"into": ("data",)}

    role: Literal["coordinates"]
    rank: RankBounds = ("1", "5")
    into: str
    after: ExpressionText = "0"
    negative: bool = False

    def draw(self, call: Drawing) -> Tensor:
        """Return the positions: a coordinate of one is near the ends of its axis."""
        data = call.fact(self.related(self.into, DataRole).draw_shape)
        (shared,) = call.evaluate_integers(f"[{self.after}]")
        left = len(data) - shared
        counts = {"all": left, "1": 1, "all but one": left - 1}
        count = call.one(self, "coordinates", {k: n for k, n in counts.items() if 0 < n <= left})
        rank = call.one(self, "rank", [n for n in self.ranks if n > shared])
        own = call.extents(self, rank - shared - 1, 64)
        shape = (*data[:shared], *own, count)
        sizes, rows = data[shared : shared + count], prod(shape[:-1])
        if rows and not all(sizes):
            raise Inapplicable("an axis without elements has no position")
        if rows * count > MAX_INDICES:
            raise Inapplicable("there are too many coordinates")
        element_type = call.fact(self.draw_type)
        is_signed = self.negative and lowest(element_type) < 0
        numbers = call.integers(self, "values", 0, 1 << 16, rows * count)
        values = [
            number % n - (n if is_signed and number % 3 == 0 else 0)
            for n, number in zip([*sizes] * rows, numbers, strict=True)
        ]
        if values:
            place = call.one(self, "place", places(len(values)))
            n = sizes[place % count]
            named = {k: v for k, v in near(n, element_type).items() if -n * is_signed <= v < n}
            values[place] = call.one(self, "value", named)
        return call.laid_out(self, Tensor(element_type, shape, tuple(values)))

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank, its shape, and that the coordinates are those of elements."""
        yield from super().requirements()
        name, into, after = self.name, self.into, f"({self.after})"
        text = f"{name} has a row of coordinates."
        yield self.requirement("rank", text, f"{name}.rank > {after}", *self.keys_in(after))
        text = f"A row of {name} has at least one coordinate, and one for each axis at most."
        holds = f"0 < {name}.shape[-1] <= {into}.rank - {after}"
        yield self.requirement("length", text, holds, "rank")
        shape = ["rank", "length"]
        if self.after != "0":
            text = f"{name} and {into} have equal leading dimensions, as many as {self.after}."
            holds = f"{name}.shape[:{after}] == {into}.shape[:{after}]"
            yield self.requirement("extents", text, holds, *shape)
            shape.append("extents")
        extent = f"{into}.shape[{after} + k % {name}.shape[-1]]"
        least = f"-{extent}" if self.negative else "0"
        text = f"Each coordinate in {name} is one of its axis of {into}."
        holds = f"all({least} <= value < {extent} for k, value in enumerate({name}.values))"
        yield self.requirement("range", text, holds, "type", *shape)
