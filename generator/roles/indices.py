"""The role `indices`: the elements to take along an axis."""

from collections.abc import Iterator
from math import prod
from typing import Literal

from opcert.arrays.calls import Call, Tensor, extent_kinds
from opcert.arrays.element_types import LAYOUTS
from opcert.errors import Inapplicable
from opcert.roles.axes import AxisRole
from opcert.roles.data import LAYOUT_WORDS
from opcert.roles.dims import LeadingDimsRole
from opcert.roles.drawing import MAX_INDICES, MAX_OUTPUT_RANK, MAX_OUTPUTS, Drawing
from opcert.roles.factors import (
    Factor,
    ObservationPoint,
    ObservedLevels,
    levels_where,
)
from opcert.roles.index_levels import (
    EXTENTS,
    ORDERS,
    PLACES,
    IndexingRole,
    index_values,
    observed_orders,
    places_of,
)
from opcert.roles.role import Requirement


class IndicesRole(IndexingRole):
    """Indices into an axis of data: a tensor.

    They replace the axis by their own dimensions. If the least rank is also the greatest, it is a
    requirement.
    """

    role: Literal["indices"]

    def rank_bounds(self) -> tuple[str, str]:
        """Return all ranks that outputs can have."""
        return ("0", str(MAX_OUTPUT_RANK))

    @property
    def _leading(self) -> LeadingDimsRole | None:
        """The role of the number of dimensions that it shares with data, if there is one."""
        roles = self.referrers("shared_with")
        return next((role for role in roles if isinstance(role, LeadingDimsRole)), None)

    @property
    def _rank_factors(self) -> tuple[str, ...]:
        """The factors of its rank and, if there is one, of the number of shared dimensions."""
        rank = self.factor("rank")
        return (rank,) if self._leading is None else (rank, self._leading.count_factor)

    def _reach(self, index: int, n: int) -> str:
        return "in_range" if self.is_inside(index, n) else "outside"

    def factors(self) -> Iterator[Factor]:
        """Yield type, rank, extents, the tested index, its place, the other indices, and layout."""
        yield from self.type_factors()
        name = self.name
        least, most = map(int, self.rank)
        # A list is the plainest.
        ranks = {str(n): n for n in sorted(range(least, most + 1), key=lambda rank: rank != 1)}
        yield Factor(self.factor("rank"), ranks, words=f"{name} of rank {{}}")
        yield Factor.of_names(self.factor("extents"), EXTENTS, f"{{}} extents of {name}")
        table = index_values(negative=self.negative, outside=self.may_be_outside)
        values = {level: value for level, (value, _) in table.items()}
        words = {level: text for level, (_, text) in table.items()}
        yield Factor(
            self.factor("value"), values, (self.data.factor("length"), self.type_factor), words
        )
        yield Factor.of_names(self.factor("place"), PLACES)
        if self.may_be_outside:
            # The words of the value imply it already.
            yield Factor.of_names(self.factor("reach"), {"in_range": "", "outside": ""})
            rest = {"in_range": "others in range", "outside": "others out of range too"}
            yield Factor.of_names(self.factor("rest"), rest)
        yield Factor.of_names(self.factor("order"), ORDERS)
        words = {layout: LAYOUT_WORDS[layout].format(name) for layout in LAYOUTS}
        yield Factor.of_names(self.factor("layout"), words)

    def observe(self, call: Call, point: ObservationPoint) -> ObservedLevels:
        """Observe all factors, with the index at the place of `point` as the tested index."""
        indices, values = call.inputs[self.name], self.values_in(call)
        data, position = call.inputs[self.into], point[self.factor("place")]
        n = data.shape[point["axis"]]
        value = values[position] if values else 0
        others = (*values[:position], *values[position + 1 :])
        shared = 0 if self._leading is None else self._leading.count_in(call)
        extents = [*extent_kinds(indices.shape[shared:], 0)]
        if indices.shape == (*data.shape, *(1,) * indices.rank)[: indices.rank]:
            extents.append("alike")
        places = places_of(len(values))
        levels = {
            self.factor("extents"): frozenset(extents),
            self.factor("place"): levels_where({name: k == position for name, k in places.items()}),
            self.factor("order"): observed_orders(values, n),
        }
        if self.may_be_outside:
            are_inside = not others or (
                self.is_inside(min(others), n) and self.is_inside(max(others), n)
            )
            rest = {"in_range": are_inside or n == 0, "outside": not are_inside}
            levels[self.factor("rest")] = levels_where(rest)
            levels[self.factor("reach")] = frozenset([self._reach(value, n)])
        return ObservedLevels(
            {
                **self.observed_type(call),
                self.factor("rank"): indices.rank,
                self.factor("layout"): indices.layout,
                self.factor("value"): value,
            },
            levels,
        )

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
        axis = 0 if self.along is None else call.fact(self.related(self.along, AxisRole).draw_axis)
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
        axis = 0 if self.along is None else call.fact(self.related(self.along, AxisRole).draw_axis)
        values = self.draw_values(call, call.fact(self.data.draw_shape)[axis], prod(shape))
        return call.laid_out(self, Tensor(element_type, shape, tuple(values)))

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank if there is only one, and its range with `outside: reject`."""
        yield from super().requirements()
        name, (least, most) = self.name, self.rank
        if least == most:
            text = f"{name} is of rank {most}."
            yield Requirement(f"{name}.rank", text, f"{name}.rank == {most}")
        yield from self.range_requirements(f"{name}.rank")
