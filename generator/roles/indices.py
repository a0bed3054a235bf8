"""The role `indices`: the elements to take along an axis."""

from collections.abc import Iterator
from functools import partial
from math import prod
from typing import Literal

from opcert.arrays.calls import Call, Tensor, extent_kinds, replace
from opcert.arrays.element_types import LAYOUTS, LONG_AXES_NEEDED, fits
from opcert.arrays.tensor_functions import tensor, with_layout
from opcert.errors import Inapplicable
from opcert.roles.axes import AxisRole
from opcert.roles.data import LAYOUT_WORDS, PAST_A_TILE
from opcert.roles.dims import LeadingDimsRole
from opcert.roles.drawing import MAX_INDICES, MAX_OUTPUT_RANK, MAX_OUTPUTS, Drawing
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    DerivedFactor,
    Factor,
    LevelName,
    ObservationPoint,
    ObservedLevels,
    Sampler,
    forbid,
    levels_where,
)
from opcert.roles.index_levels import (
    EXTENTS,
    ORDERS,
    PLACES,
    IndexingRole,
    consecutive,
    draw_indices,
    index_values,
    observed_orders,
    places_of,
)
from opcert.roles.role import LIST_LAYOUTS, Requirement

# Kinds of extents that may leave fewer than two indices.
_PERHAPS_SINGLE = ("ones", "zero", "alike")


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

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield type, rank, extents, the tested index, its place, the other indices, and layout."""
        yield from self.type_factors(profile)
        name, is_stress = self.name, profile == "stress"
        least, most = map(int, self.rank)
        most = min(most, max(2, least)) if is_stress else most
        # A list is the plainest.
        ranks = {str(n): n for n in sorted(range(least, most + 1), key=lambda rank: rank != 1)}
        yield Factor(self.factor("rank"), ranks, words=f"{name} of rank {{}}")
        extents = ("varied", "ones", "huge") if is_stress else EXTENTS
        yield Factor.of_names(self.factor("extents"), extents, f"{{}} extents of {name}")
        table = index_values(is_stress, negative=self.negative, outside=self.may_be_outside)
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
        yield Factor.of_names(self.factor("order"), {"drawn": ""} if is_stress else ORDERS)
        layouts = LIST_LAYOUTS if is_stress else LAYOUTS
        words = {layout: LAYOUT_WORDS[layout].format(name) for layout in layouts}
        yield Factor.of_names(self.factor("layout"), words)

    def derived_factors(self) -> Iterator[DerivedFactor]:
        """Derive whether the tested index is in range: conditions use this instead of its value."""
        if self.may_be_outside:
            value, n = self.factor("value"), self.data.factor("length")
            yield DerivedFactor(self.factor("reach"), self._reach, (value, n))

    def constraints(self) -> Iterator[Constraint]:
        """Forbid extents, indices and layouts that exclude each other."""
        data, types, value = self.data, self.type_factor, self.factor("value")
        n, extents, layout = data.factor("length"), self.factor("extents"), self.factor("layout")
        place, ranks = self.factor("place"), self._rank_factors
        if self.along is None:
            yield forbid(lambda axis: axis != "first", LevelName(data.factor("axis")))
        yield forbid(lambda t, index: not fits(t, index), types, value)
        yield forbid(
            lambda data_rank, rank, shared=0: data_rank - 1 + rank - shared > MAX_OUTPUT_RANK,
            *(data.factor("rank"), *ranks),
        )
        yield forbid(
            lambda extents, rank, shared=0: extents != "varied" and rank == shared, extents, *ranks
        )
        # Empty indices have no value and no place.
        yield forbid(
            lambda extents, value, place: (
                extents == "zero" and (value != "zero" or place != "first")
            ),
            *(extents, LevelName(value), place),
        )
        yield forbid(lambda place, rank: place != "first" and rank == 0, place, ranks[0])
        yield from self._extent_constraints()
        yield from self._order_constraints()
        # A layout differs from C order only with enough dimensions longer than 1.
        yield forbid(
            lambda layout, extents, rank, shared=0: (
                layout != "c"
                and (
                    extents in _PERHAPS_SINGLE
                    or rank - shared < LONG_AXES_NEEDED[layout]
                    or (LONG_AXES_NEEDED[layout] > 1 and extents not in ("varied", "equal"))
                )
            ),
            *(layout, extents, *ranks),
        )
        if self.outside != "zeros":
            yield forbid(lambda n, extents: n == 0 and extents != "zero", n, extents)
        if not self.may_be_outside:
            yield forbid(lambda index, n: n > 0 and not self.is_inside(index, n), value, n)

    def _extent_constraints(self) -> Iterator[Constraint]:
        """Forbid extents that together with those of data make outputs too large."""
        others, extents = self.data.factor("others"), self.factor("extents")
        yield forbid(
            lambda extents, others: others in PAST_A_TILE and extents in (*PAST_A_TILE, "alike"),
            *(extents, others),
        )
        yield forbid(
            lambda extents, others, n: extents == "alike" and (others == "zero" or n == 0),
            *(extents, others, self.data.factor("length")),
        )
        if self._leading is not None:
            yield forbid(
                lambda extents, others, shared: (
                    shared > 0
                    and (
                        (others in ("wide", "tall") and extents in ("long", "equal"))
                        or (others != "ones" and extents in PAST_A_TILE)
                    )
                ),
                *(extents, others, self._leading.count_factor),
            )

    def _order_constraints(self) -> Iterator[Constraint]:
        """Forbid orders and other indices that the tested index excludes."""
        n, types, value = self.data.factor("length"), self.type_factor, self.factor("value")
        extents, order, rest = self.factor("extents"), self.factor("order"), self.factor("rest")
        ranks, place = self._rank_factors, self.factor("place")
        yield forbid(
            lambda order, extents: order != "drawn" and extents in _PERHAPS_SINGLE, order, extents
        )
        # In a list that rises, extents are replaced by the length of the axis.
        yield forbid(
            lambda order, extents, rank, shared=0: (
                (order != "drawn" and rank == shared)
                or (order == "rising" and rank == shared + 1 and extents != "varied")
            ),
            *(order, extents, *ranks),
        )
        yield forbid(lambda order, place: order != "drawn" and place != "first", order, place)
        starts = {"rising": "zero", "falling": "last"}
        yield forbid(
            lambda order, value: order in starts and value != starts[order], order, LevelName(value)
        )
        yield forbid(
            lambda order, n, t: order in starts and (n == 0 or not fits(t, n)), order, n, types
        )
        if not self.may_be_outside:
            return
        yield forbid(lambda order, rest: order in starts and rest == "outside", order, rest)
        yield forbid(
            lambda order, rest, reach: order == "alike" and rest != reach,
            *(order, rest, self.factor("reach")),
        )
        yield forbid(
            lambda rest, extents: rest == "outside" and extents in _PERHAPS_SINGLE, rest, extents
        )
        yield forbid(lambda rest, rank: rest == "outside" and rank == 0, rest, ranks[0])
        yield forbid(lambda rest, n, t: rest == "outside" and not fits(t, n), rest, n, types)
        if self._leading is not None:
            # With all dimensions shared, these may leave a single index.
            short = ("ones", "long", "wide", "huge")
            yield forbid(
                lambda rest, others, rank, shared: (
                    rest == "outside" and rank == shared and others in short
                ),
                *(rest, self.data.factor("others"), *ranks),
            )

    def masking(self) -> Iterator[Constraint]:
        """Mask indices if none of them gives an element of data."""
        extents, reach, rest = map(self.factor, ("extents", "reach", "rest"))
        yield forbid(lambda extents: extents == "zero", extents)
        if self.outside != "zeros":
            return
        # These may leave a single index.
        yield forbid(
            lambda reach, extents, rank, shared=0: (
                reach == "outside" and (extents in ("ones", "alike") or rank == shared)
            ),
            *(reach, extents, *self._rank_factors),
        )
        yield forbid(lambda reach, rest: reach == rest == "outside", reach, rest)

    def shape(self, context: BuildContext) -> tuple[int, ...]:
        """Return the shape for a choice: the shared extents, then its own."""
        return context.draw(self.factor("shape"), partial(self._draw_extents, context))

    def _draw_extents(self, context: BuildContext, sampler: Sampler) -> tuple[int, ...]:
        choice, shape = context.choice, self.data.shape(context)
        rank, kind = choice[self.factor("rank")], choice[self.factor("extents")]
        if kind == "alike":
            return (*shape, *(1,) * rank)[:rank]
        shared = () if self._leading is None else self._leading.extents(context)
        axis = choice[self.data.factor("axis")]
        outer_size = prod(extent for d, extent in enumerate(shape) if d != axis)
        own = sampler.dims(rank - len(shared), kind, outer_size)
        n = choice[self.data.factor("length")]
        if choice[self.factor("order")] == "rising" and rank == len(own) == 1 and n > 1:
            # The output equals data, so that a backend may return its input itself.
            own = (n,)
        needed = LONG_AXES_NEEDED[choice[self.factor("layout")]]
        if sum(extent > 1 for extent in own) < needed:
            # Too few of the drawn extents exceed 1 for the layout to differ from C order.
            first, *others = sampler.sample(range(len(own)), needed)
            extents = {first: 3 if kind == "varied" else 2} | dict.fromkeys(others, 2)
            own = tuple(extents.get(d, 1) for d in range(len(own)))
        return (*shared, *own)

    def build(self, context: BuildContext) -> Tensor:
        """Return the indices."""
        choice, shape = context.choice, self.shape(context)
        values = context.draw(self.name, partial(self._draw_values, context, prod(shape)))
        indices = tensor(choice[self.type_factor], shape, values)
        return with_layout(indices, choice[self.factor("layout")])

    def _draw_values(self, context: BuildContext, count: int, sampler: Sampler) -> tuple[int, ...]:
        """Draw the indices, with the tested one at its place."""
        choice = context.choice
        n, value = choice[self.data.factor("length")], choice[self.factor("value")]
        order = choice[self.factor("order")]
        if order == "alike":
            return (value,) * count
        if order in ("rising", "falling"):
            return consecutive(order, n, count)
        outside = choice.level(self.factor("rest")) == "outside"
        types = choice[self.type_factor]
        indices = draw_indices(sampler, n, types, count, negative=self.negative, outside=outside)
        position = places_of(count)[choice[self.factor("place")]]
        return replace(indices, position, value) if count else indices

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
