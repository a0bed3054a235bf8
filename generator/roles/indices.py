"""The role `indices`: which elements to take along an axis."""

from collections.abc import Iterator
from math import prod
from typing import ClassVar, Literal

from opcert.arrays import (
    LAYOUTS,
    LONG_AXES_NEEDED,
    Call,
    Tensor,
    extent_kinds,
    fits,
    replace,
    tensor,
    with_layout,
)
from opcert.roles.argument import BoundExpressions
from opcert.roles.axis import AxisRole
from opcert.roles.data import LAYOUT_WORDS, PAST_A_TILE, DataRole
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    DerivedAmbiguity,
    DerivedFactor,
    Factor,
    LevelName,
    ObservationPoint,
    ObservedLevels,
    Requirement,
    forbid,
    levels_where,
)
from opcert.roles.index_levels import (
    EXTENTS,
    ORDERS,
    PLACES,
    VALUE_WORDS,
    drawn,
    index_values,
    observed_orders,
    places_of,
    run,
)
from opcert.roles.leading_dims import LeadingDimsRole
from opcert.roles.role import LIST_LAYOUTS, Role
from opcert.roles.samplers import Sampler

# Of no more dimensions does an operator give its output.
_MOST_DIMENSIONS = 8
# Extents of which there may be no two indices.
_PERHAPS_ONE = ("ones", "zero", "alike")


class IndicesRole(Role):
    """Indices into an axis of data: a tensor of any rank from `rank`.

    The axis is that which `along` names, by default the first. `negative` says whether an index
    counts from the end where it is negative; `outside` what one gives that is not inside: zeros,
    the element at the nearer end (`clamp`), a call to be rejected (`reject`), or what the document
    does not say (`undefined`), which an ambiguity then states. A rank of which the least is the
    most is required of a call.
    """

    relations: ClassVar = {"into": ("data",), "along": ("axis",)}

    role: Literal["indices"]
    into: str
    along: str | None = None
    negative: bool = True
    outside: Literal["zeros", "clamp", "reject", "undefined"]

    def rank_bounds(self) -> BoundExpressions:
        """Return any rank."""
        return ("0", str(_MOST_DIMENSIONS))

    def bounds(self) -> BoundExpressions:
        """Return what is inside, or all numbers of its type where an index may lie outside."""
        if self.may_be_outside:
            return (f"lowest({self.name}.type)", f"highest({self.name}.type)")
        return (self._least, f"{self._size} - 1")

    @property
    def may_be_outside(self) -> bool:
        """Whether a valid call may have an index outside of the axis."""
        return self.outside in ("zeros", "clamp")

    @property
    def data(self) -> DataRole:
        """The data that it points into."""
        return self.partner(self.into, DataRole)

    @property
    def _size(self) -> str:
        axis = "0" if self.along is None else self.partner(self.along, AxisRole).wrapped
        return f"{self.into}.shape[{axis}]"

    @property
    def _least(self) -> str:
        return f"-{self._size}" if self.negative else "0"

    @property
    def _all_inside(self) -> str:
        least, most = f"min({self.name}.values)", f"max({self.name}.values)"
        return f"({self.name}.size == 0 or {self._least} <= {least} and {most} < {self._size})"

    @property
    def _leading(self) -> LeadingDimsRole | None:
        """The role that says with how many dimensions of data it begins."""
        for role in self._signature.roles:
            if isinstance(role, LeadingDimsRole) and role.shared_with == self.name:
                return role
        return None

    @property
    def _dims(self) -> tuple[str, ...]:
        """The factors of its rank and, where there are some, of how many dimensions are shared."""
        rank = self.factor("rank")
        return (rank,) if self._leading is None else (rank, self._leading.count_factor)

    def _is_inside(self, index: int, n: int) -> bool:
        return (-n if self.negative else 0) <= index < n

    def _reach(self, index: int, n: int) -> str:
        return "in_range" if self._is_inside(index, n) else "outside"

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield type, rank, extents, layout, the index at a place, and what the others are."""
        yield from self.type_factors(profile)
        name, is_stress = self.name, profile == "stress"
        least, most = map(int, self.rank)
        # The plainest is a list.
        most = min(most, max(2, least)) if is_stress else most
        ranks = sorted(range(least, most + 1), key=lambda rank: rank != 1)
        yield Factor(self.factor("rank"), {str(r): r for r in ranks}, words=f"{name} of rank {{}}")
        extents = ("varied", "ones", "huge") if is_stress else EXTENTS
        words = f"{{}} extents of {name}"
        yield Factor(self.factor("extents"), {each: each for each in extents}, words=words)
        outside = self.may_be_outside
        values = index_values(is_stress, negative=self.negative, outside=outside)
        sizes = (self.data.factor("length"), self.type_factor)
        value_words = {level: VALUE_WORDS[level] for level in values}
        yield Factor(self.factor("value"), values, sizes, value_words)
        yield Factor(self.factor("place"), {each: each for each in PLACES}, words=PLACES)
        if outside:
            # What its value says already needs no words.
            reaches = {"in_range": "", "outside": ""}
            yield Factor(self.factor("reach"), {each: each for each in reaches}, words=reaches)
            rest = {"in_range": "others in range", "outside": "others out of range too"}
            yield Factor(self.factor("rest"), {each: each for each in rest}, words=rest)
        orders = {"drawn": ""} if is_stress else ORDERS
        yield Factor(self.factor("order"), {each: each for each in orders}, words=orders)
        layouts = LIST_LAYOUTS if is_stress else LAYOUTS
        laid = {level: LAYOUT_WORDS[level].format(name) for level in layouts}
        yield Factor(self.factor("layout"), {each: each for each in layouts}, words=laid)

    def derived(self) -> Iterator[DerivedFactor]:
        """Yield whether the index is in range, which conditions ask for in the place of values."""
        if self.may_be_outside:
            value, n = self.factor("value"), self.data.factor("length")
            yield DerivedFactor(self.factor("reach"), self._reach, (value, n))

    def constraints(self) -> Iterator[Constraint]:
        """Yield which extents, indices and layouts go together."""
        data, types, value = self.data, self.type_factor, self.factor("value")
        n, extents, layout = data.factor("length"), self.factor("extents"), self.factor("layout")
        place, dims = self.factor("place"), self._dims
        if self.along is None:
            yield forbid(lambda axis: axis != "first", LevelName(data.factor("axis")))
        yield forbid(lambda t, index: not fits(t, index), types, value)
        yield forbid(
            lambda data_rank, rank, shared=0: data_rank - 1 + rank - shared > _MOST_DIMENSIONS,
            *(data.factor("rank"), *dims),
        )
        yield forbid(
            lambda extents, rank, shared=0: extents != "varied" and rank == shared, extents, *dims
        )
        # Without an index no value shows, and there is no place.
        yield forbid(
            lambda extents, value, place: (
                extents == "zero" and (value != "zero" or place != "first")
            ),
            *(extents, LevelName(value), place),
        )
        yield forbid(lambda place, rank: place != "first" and rank == 0, place, dims[0])
        yield from self._constraints_beside_data()
        yield from self._constraints_of_order()
        # What the layouts change takes so many dimensions that are longer than 1.
        yield forbid(
            lambda layout, extents, rank, shared=0: (
                layout != "c"
                and (
                    extents in _PERHAPS_ONE
                    or rank - shared < LONG_AXES_NEEDED[layout]
                    or (LONG_AXES_NEEDED[layout] > 1 and extents not in ("varied", "equal"))
                )
            ),
            *(layout, extents, *dims),
        )
        if self.outside != "zeros":
            yield forbid(lambda n, extents: n == 0 and extents != "zero", n, extents)
        if not self.may_be_outside:
            yield forbid(lambda index, n: n > 0 and not self._is_inside(index, n), value, n)

    def _constraints_beside_data(self) -> Iterator[Constraint]:
        """Yield which extents there is room for beside those of data."""
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

    def _constraints_of_order(self) -> Iterator[Constraint]:
        """Yield what the indices can be beside the one at the place."""
        n, types, value = self.data.factor("length"), self.type_factor, self.factor("value")
        extents, order, rest = self.factor("extents"), self.factor("order"), self.factor("rest")
        dims, place = self._dims, self.factor("place")
        yield forbid(
            lambda order, extents: order != "drawn" and extents in _PERHAPS_ONE, order, extents
        )
        yield forbid(
            lambda order, extents, rank, shared=0: (
                (order != "drawn" and rank == shared)
                or (order == "rising" and rank == shared + 1 and extents != "varied")
            ),
            *(order, extents, *dims),
        )
        yield forbid(lambda order, place: order != "drawn" and place != "first", order, place)
        begins = {"rising": "zero", "falling": "last"}
        yield forbid(
            lambda order, value: order in begins and value != begins[order], order, LevelName(value)
        )
        yield forbid(
            lambda order, n, t: order in begins and (n == 0 or not fits(t, n)), order, n, types
        )
        if not self.may_be_outside:
            return
        yield forbid(lambda order, rest: order in begins and rest == "outside", order, rest)
        yield forbid(
            lambda order, rest, reach: order == "alike" and rest != reach,
            *(order, rest, self.factor("reach")),
        )
        yield forbid(
            lambda rest, extents: rest == "outside" and extents in _PERHAPS_ONE, rest, extents
        )
        yield forbid(lambda rest, rank: rest == "outside" and rank == 0, rest, dims[0])
        yield forbid(lambda rest, n, t: rest == "outside" and not fits(t, n), rest, n, types)
        if self._leading is not None:
            # All dimensions are shared, and each of them may be 1.
            short = ("ones", "long", "wide", "huge")
            yield forbid(
                lambda rest, others, rank, shared: (
                    rest == "outside" and rank == shared and others in short
                ),
                *(rest, self.data.factor("others"), *dims),
            )

    def masking(self) -> Iterator[Constraint]:
        """Yield where there is no index, or none that shows an element of data."""
        extents = self.factor("extents")
        yield forbid(lambda extents: extents == "zero", extents)
        if self.outside != "zeros":
            return
        reach = self.factor("reach")
        # A single index, or several that are equal or all drawn from outside.
        yield forbid(
            lambda reach, extents, rank, shared=0: (
                reach == "outside" and (extents in ("ones", "alike") or rank == shared)
            ),
            *(reach, extents, *self._dims),
        )
        rest = self.factor("rest")
        yield forbid(lambda reach, rest: reach == rest == "outside", reach, rest)

    def shape(self, scene: BuildContext) -> tuple[int, ...]:
        """Return the shape for a choice: the extents that are shared, then its own."""
        return scene.draw(self.factor("shape"), lambda sampler: self._extents(scene, sampler))

    def _extents(self, scene: BuildContext, sampler: Sampler) -> tuple[int, ...]:
        choice, shape = scene.choice, self.data.shape(scene)
        rank, kind = choice[self.factor("rank")], choice[self.factor("extents")]
        if kind == "alike":
            return (*shape, *(1,) * rank)[:rank]
        shared = () if self._leading is None else self._leading.extents(scene)
        axis = choice[self.data.factor("axis")]
        beside = prod(extent for d, extent in enumerate(shape) if d != axis)
        own = sampler.dims(rank - len(shared), kind, beside)
        n = choice[self.data.factor("length")]
        if choice[self.factor("order")] == "rising" and rank == len(own) == 1 and n > 1:
            # All in order: the output is data, which a backend may then return itself.
            own = (n,)
        needed = LONG_AXES_NEEDED[choice[self.factor("layout")]]
        if sum(extent > 1 for extent in own) < needed:
            # There is room for few elements, but the layout shows in no fewer.
            long_dims = sampler.sample(range(len(own)), needed)
            own = tuple(
                1 if d not in long_dims else 3 if kind == "varied" and d == long_dims[0] else 2
                for d in range(len(own))
            )
        return (*shared, *own)

    def build(self, scene: BuildContext) -> Tensor:
        """Return the indices."""
        choice, shape = scene.choice, self.shape(scene)
        values = scene.draw(self.name, lambda sampler: self._values(scene, prod(shape), sampler))
        indices = tensor(choice[self.type_factor], shape, values)
        return with_layout(indices, choice[self.factor("layout")])

    def _values(self, scene: BuildContext, count: int, sampler: Sampler) -> tuple[int, ...]:
        """Draw the indices, with that in focus at its place."""
        choice = scene.choice
        n, value = choice[self.data.factor("length")], choice[self.factor("value")]
        order = choice[self.factor("order")]
        if order == "alike":
            return (value,) * count
        if order in ("rising", "falling"):
            return run(order, n, count)
        is_outside = choice.level(self.factor("rest")) == "outside"
        types = choice[self.type_factor]
        indices = drawn(sampler, n, types, count, negative=self.negative, outside=is_outside)
        place = places_of(count)[choice[self.factor("place")]]
        return replace(indices, place, value) if count else indices

    def observation_points(self, call: Call) -> list[ObservationPoint]:
        """Return the first, the middle and the last place, on the axis where no role names it."""
        places = sorted({*places_of(call.inputs[self.name].size).values()})
        axis = {"axis": 0} if self.along is None else {}
        return [{self.factor("place"): place, **axis} for place in places]

    def observe(self, call: Call, focus: ObservationPoint) -> ObservedLevels:
        """Return the levels of all factors, with the index in focus."""
        indices, values = call.inputs[self.name], self.values_in(call)
        data, at = call.inputs[self.into], focus[self.factor("place")]
        n = data.shape[focus["axis"]]
        value = values[at] if values else 0
        beside = (*values[:at], *values[at + 1 :])
        shared = 0 if self._leading is None else self._leading.count(call)
        extents = [*extent_kinds(indices.shape[shared:], 0)]
        if indices.shape == (*data.shape, *(1,) * indices.rank)[: indices.rank]:
            extents.append("alike")
        places = places_of(len(values))
        levels = {
            self.factor("extents"): frozenset(extents),
            self.factor("place"): levels_where({name: k == at for name, k in places.items()}),
            self.factor("order"): observed_orders(values, n),
        }
        if self.may_be_outside:
            is_beside = bool(beside) and not (
                self._is_inside(min(beside), n) and self._is_inside(max(beside), n)
            )
            rest = {"in_range": not is_beside or n == 0, "outside": is_beside}
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

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank where that is one, and its range where others are rejected."""
        yield from super().requirements()
        name = self.name
        least, most = self.rank
        if least == most:
            yield Requirement(
                f"{name}.rank", f"{name} is of rank {most}.", f"{name}.rank == {most}"
            )
        if self.outside == "reject":
            axis = () if self.along is None else (f"{self.along}.range",)
            yield Requirement(
                f"{name}.range",
                f"Each of {name} is an index of {self.into} along the axis.",
                self._all_inside,
                given=(f"{name}.type", f"{name}.rank", *axis),
            )

    def ambiguities(self) -> Iterator[DerivedAmbiguity]:
        """Yield what an index outside gives, where the document does not say."""
        if self.outside == "undefined":
            axis = (
                [] if self.along is None else [*self.partner(self.along, AxisRole).requirements()]
            )
            prerequisites = [each.holds for each in (*super().requirements(), *axis)]
            yield DerivedAmbiguity(
                f"{self.name}.range",
                f"What an index of {self.name} outside of the axis gives.",
                " and ".join(f"({holds})" for holds in (*prerequisites, f"not {self._all_inside}")),
            )
