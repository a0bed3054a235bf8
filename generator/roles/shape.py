"""The role `shape`: a target shape that data broadcasts to."""

from collections.abc import Iterator, Sequence
from functools import partial
from math import prod
from typing import Any, ClassVar, Literal

from pydantic import Field

from opcert.arrays.calls import HUGE_EXTENT, WIDE_EXTENT, Call, Tensor, extent_kinds, insert
from opcert.arrays.element_types import ELEMENT_TYPES, LONG_AXES_NEEDED, fits, highest
from opcert.errors import Inapplicable
from opcert.roles.data import DataRole
from opcert.roles.drawing import MAX_OUTPUTS, Drawing
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    Factor,
    LevelName,
    ObservationPoint,
    ObservedLevels,
    Sampler,
    forbid,
    levels_where,
)
from opcert.roles.mapping import (
    ALIGNED,
    FAR,
    STRETCHED,
    MappingRole,
    ShapeAndTarget,
    Stretch,
    observed_stretches,
    stretched_shapes,
)
from opcert.roles.role import ListRole, Requirement, Role

# The number of axes that the target has in addition to those of data.
_ADDED = {"one": 1, "none": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_ADDED |= {"seven": 7, "eight": 8}
_EMPTY = "empty"
# With all extents equal to the length of the axis, a target has at most so many elements.
_MAX_SAME_ELEMENTS = 700
_MILLION = 1_000_000
# An axis that is stretched among extents past a tile is at most so long.
_MAX_STRETCHED_PAST_A_TILE = 127


class ShapeRole(ListRole):
    """The shape to which data broadcasts, in this direction only.

    Data aligns at the end, and a size of 1 stretches. With a `mapping`, each axis of data becomes
    the axis of the target that the mapping lists. A target has up to `most` elements, and unless
    `empty` is false, it may have none.
    """

    relations: ClassVar = {"of": ("data",)}

    role: Literal["shape"]
    of: str
    most: int = Field(8, ge=1, le=max(_ADDED.values()))
    empty: bool = True

    @property
    def shapes(self) -> Sequence[str]:
        """The data that broadcasts to it."""
        return (self.of,)

    @property
    def data(self) -> DataRole:
        """The data that broadcasts to it."""
        return self.related(self.of, DataRole)

    @property
    def mapping(self) -> MappingRole | None:
        """The mapping of axes of data onto its own, if the operator has one."""
        mappings = (role for role in self.referrers("into") if isinstance(role, MappingRole))
        return next(mappings, None)

    @property
    def _plain_types(self) -> tuple[str, str]:
        """The element types of data and of the target for levels that need only one pair."""
        types = self._signature.types
        data_types, own_types = types[self.data.type], types[self.type]
        data_type = "f32" if "f32" in data_types else data_types[0]
        return data_type, "i64" if "i64" in own_types else max(own_types, key=highest)

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield type, number of added axes, stretched axes, added axes of 0, and layout."""
        yield from self.type_factors(profile)
        is_stress, mapping = profile == "stress", self.mapping
        least_rank, most_rank = map(int, self.data.rank)
        most_added = 2 if is_stress else self.most - least_rank
        added = {level: n for level, n in _ADDED.items() if n <= most_added}
        words = {level: f"{level} axes more" for level in added}
        words |= {"one": "one axis more", "none": "equal ranks"}
        if self.empty and least_rank == 0 and not is_stress:
            added[_EMPTY], words[_EMPTY] = 0, "an empty target"
        yield Factor(self.factor("added"), added, words=words)
        relations, stretched = {"same": "kept", "stretched": "stretched"}, {**STRETCHED}
        if mapping is not None and mapping.required and mapping.ones != "stretched":
            relations, stretched = {"same": "kept"}, {"none": ""}
        else:
            # A far stretch needs data of rank 2: see `_single_choice_constraints`.
            is_rank_2_valid = least_rank <= 2 <= min(most_rank, self.most)
            if is_stress or not is_rank_2_valid or not fits(self._plain_types[1], FAR):
                stretched.pop("far")
        yield Factor.of_names(self.factor("relation"), relations)
        yield Factor.of_names(self.factor("stretched"), stretched)
        # An added axis of size 0 makes the output empty, although data is not.
        new = {"drawn": ""}
        if self.data.empty and not is_stress:
            new["zero"] = "a new axis of 0"
        yield Factor.of_names(self.factor("new"), new)
        yield self.layout_factor()

    def full_combinations(self) -> Iterator[tuple[str, ...]]:
        """Yield each axis, kept and stretched, with each kind of others that stretch."""
        yield self.factor("relation"), self.data.factor("axis"), self.factor("stretched")

    def constraints(self) -> Iterator[Constraint]:
        """Forbid combinations of levels that a target and data cannot have."""
        data = self.data
        rank, length, others = map(data.factor, ("rank", "length", "others"))
        added, types = self.factor("added"), self.type_factor
        # The number of elements, and their type.
        yield forbid(lambda rank, added: rank + added > self.most, rank, added)
        yield forbid(
            lambda rank, added: (added == "none" and rank == 0) or (added == _EMPTY and rank > 0),
            *(rank, LevelName(added)),
        )
        yield forbid(lambda n, t: not fits(t, n), length, types)
        yield forbid(
            lambda others, t: (
                (others in ("wide", "tall") and not fits(t, WIDE_EXTENT))
                or (others == "huge" and not fits(t, HUGE_EXTENT))
            ),
            *(others, types),
        )
        # The extents of the other axes.
        yield forbid(
            lambda others, n, rank, added: (
                (others != "varied" and rank + added < 2)
                or (others == "same" and (n < 2 or n ** (rank + added) > _MAX_SAME_ELEMENTS))
                or (others == "varied" and n > _MILLION and rank + added > 1)
            ),
            *(others, length, rank, added),
        )
        yield from self._stretching_constraints()
        yield from self._layout_constraints()
        yield from self._single_choice_constraints()

    def _stretching_constraints(self) -> Iterator[Constraint]:
        """Forbid stretches without effect, and those to outputs that are too large."""
        rank, length, others = map(self.data.factor, ("rank", "length", "others"))
        relation, stretched = self.factor("relation"), self.factor("stretched")
        yield forbid(
            lambda relation, n, others: (
                relation == "stretched"
                and (n == 1 or (n > _MAX_STRETCHED_PAST_A_TILE and others in ("wide", "tall")))
            ),
            *(relation, length, others),
        )
        # If only an inner axis is stretched, the axes on both sides are longer than 1.
        yield forbid(
            lambda relation, stretched, rank, others: (
                relation == "stretched"
                and stretched == "none"
                and rank > 2
                and others not in ("equal", "same", "zero")
            ),
            *(relation, stretched, rank, others),
        )
        yield forbid(
            lambda stretched, rank: (
                stretched != "none" and rank < (3 if stretched == "alternating" else 2)
            ),
            *(stretched, rank),
        )
        yield forbid(lambda stretched, n: stretched == "alternating" and n < 2, stretched, length)
        yield forbid(
            lambda stretched, others: (
                (stretched != "none" and others in ("ones", "zero", "tall"))
                or (stretched == "alternating" and others not in ("equal", "same"))
            ),
            *(stretched, others),
        )

    def _layout_constraints(self) -> Iterator[Constraint]:
        """Forbid layouts without effect: most of them need two axes longer than 1."""
        data = self.data
        rank, others, layout = map(data.factor, ("rank", "others", "layout"))
        relation, stretched, added = map(self.factor, ("relation", "stretched", "added"))
        of_two = ("fortran", "pitched", "first_reversed", "last_reversed")
        yield forbid(
            lambda layout, rank, others: (
                (layout in of_two and (rank < 2 or others not in ("varied", "equal", "same")))
                or (layout == "permuted" and (rank < 3 or others != "same"))
            ),
            *(layout, rank, others),
        )
        mapping = self.mapping
        places: list[str] = []
        if mapping is not None and mapping.ones != "stretched":
            places = [mapping.factor("places")]
        # Data with a layout or a mapping is not stretched. As one constraint the factors share a
        # table of the covering array, which takes fewer rows.
        yield forbid(
            lambda layout, relation, stretched, places=ALIGNED: (
                (relation == "stretched" and (layout != "c" or places != ALIGNED))
                or (stretched != "none" and (layout in (*of_two, "permuted") or places != ALIGNED))
            ),
            *(layout, relation, stretched, *places),
        )
        yield forbid(
            lambda elements, relation: elements != "no" and relation == "stretched",
            *(data.factor("elements"), relation),
        )
        yield forbid(
            lambda layout, rank, added: layout != "c" and rank + added < 2,
            *(self.factor("layout"), rank, added),
        )

    def _single_choice_constraints(self) -> Iterator[Constraint]:
        """Restrict two levels for which one choice of the other factors is enough."""
        data = self.data
        data_type, own_type = self._plain_types
        small = min(
            self._signature.types[data.type], key=lambda t: (ELEMENT_TYPES[t].itemsize, t != "i8")
        )
        plain = {
            data.factor("layout"): "c",
            data.factor("elements"): "no",
            self.factor("layout"): "c",
            self.type_factor: own_type,
        }
        new_axis = {
            data.factor("others"): "zero",
            data.factor("length"): 6,
            data.type_factor: data_type,
            self.factor("added"): 1,
        }
        # Two elements, of one byte each.
        far = {
            data.factor("others"): "varied",
            data.factor("length"): 2,
            data.type_factor: small,
            data.factor("rank"): 2,
            self.factor("added"): 0,
            self.factor("relation"): "same",
            self.factor("new"): "drawn",
        }
        for factor, level, needed in (
            (self.factor("new"), "zero", {**plain, **new_axis}),
            (self.factor("stretched"), "far", {**plain, **far}),
        ):
            for other, value in needed.items():
                yield forbid(
                    lambda own, chosen, level=level, value=value: own == level and chosen != value,
                    *(factor, other),
                )

    def masking(self) -> Iterator[Constraint]:
        """Mask data of one element, and targets without elements."""
        rank, length, others = map(self.data.factor, ("rank", "length", "others"))
        relation, stretched = self.factor("relation"), self.factor("stretched")
        yield forbid(lambda new: new == "zero", self.factor("new"))
        yield forbid(
            lambda relation, others: relation == "stretched" and others == "ones", relation, others
        )
        # All axes of data that could be longer than 1 are stretched.
        yield forbid(
            lambda relation, n, rank, stretched: (
                (relation == "stretched" and rank < 2)
                or (
                    (relation == "stretched" or n == 1)
                    and (stretched == "all" or (stretched != "none" and rank == 2))
                )
            ),
            *(relation, length, rank, stretched),
        )
        # Around the middle one of three axes, every second axis is every other one.
        yield forbid(
            lambda relation, rank, axis, stretched: (
                relation == "stretched" and stretched == "alternating" and (rank, axis) == (3, 1)
            ),
            *(relation, rank, self.data.factor("axis"), stretched),
        )

    def build(self, context: BuildContext) -> Tensor:
        """Return the target."""
        _, target = self._extents(context)
        return self.integer_tensor(context, target, context.choice[self.factor("layout")])

    def shape_for(self, argument: Role, context: BuildContext) -> tuple[int, ...]:  # noqa: ARG002
        """Return the shape of data."""
        shape, _ = self._extents(context)
        return shape

    def _extents(self, context: BuildContext) -> ShapeAndTarget:
        """Return the shape of data and the target."""
        return context.draw(self.name, partial(self._draw, context))

    def _places(self, context: BuildContext) -> tuple[int, ...]:
        """Return the axis of the target of each axis of data."""
        mapping = self.mapping
        if mapping is not None and context.choice[mapping.factor("places")] != ALIGNED:
            return mapping.places(context)
        rank, added = context.choice[self.data.factor("rank")], context.choice[self.factor("added")]
        return tuple(range(added, rank + added))

    def _draw(self, context: BuildContext, sampler: Sampler) -> ShapeAndTarget:
        choice, data, places = context.choice, self.data, self._places(context)
        rank, length = choice[data.factor("rank")], choice[data.factor("length")]
        size = rank + choice[self.factor("added")]
        others = choice[data.factor("others")]
        if not rank:
            return (), sampler.dims(size, others, length)
        tested_axis = choice[data.factor("axis")]
        target = [*insert(sampler.dims(size - 1, others, length), places[tested_axis], length)]
        if choice[self.factor("new")] == "zero":
            target = [(extent or 2) if d in places else 0 for d, extent in enumerate(target)]
        is_stretched = choice[self.factor("relation")] == "stretched"
        # If no other axis is kept, data may have a single element, or its layout no effect.
        long_axes = LONG_AXES_NEEDED[choice[data.factor("layout")]]
        keeps_another = is_stretched or length == 1 or long_axes > 1
        kind = choice[self.factor("stretched")]
        stretch = Stretch(tested_axis, is_stretched, kind, others, keeps_another)
        return stretched_shapes(target, places, stretch, sampler)

    def observe(self, call: Call, point: ObservationPoint) -> ObservedLevels:
        """Observe its own factors, and the factors of data that the target determines."""
        data, axis = call.inputs[self.of], point.get("axis", 0)
        tensor, mapping, target = call.inputs[self.name], self.mapping, self.values_in(call)
        places = tuple(range(len(target) - data.rank, len(target)))
        if mapping is not None and mapping.is_given_in(call):
            places = mapping.values_in(call)
        size = target[places[axis]] if data.rank else 1
        others = [extent for d, extent in enumerate(target) if not data.rank or d != places[axis]]
        own = data.shape[axis] if data.rank else 1
        added = [extent for d, extent in enumerate(target) if d not in places]
        relations = {"same": own == size, "stretched": own == 1 != size}
        new = {"drawn": True, "zero": 0 in added and 0 not in data.shape}
        return ObservedLevels(
            {
                **self.observed_type(call),
                self.data.factor("axis"): axis,
                self.data.factor("length"): size,
                self.data.factor("others"): extent_kinds(others, size),
                self.factor("layout"): tensor.layout,
                self.factor("added"): len(target) - data.rank,
            },
            {
                self.factor("relation"): levels_where(relations),
                self.factor("stretched"): observed_stretches(data.shape, target, places, axis),
                self.factor("new"): levels_where(new),
            },
        )

    def draw_rank(self, call: Drawing) -> int:
        """Draw how many elements it has."""
        rank = call.fact(self.data.draw_rank)
        return rank + call.one(self, "more axes", range(max(0, self.most - rank) + 1))

    def draw(self, call: Drawing) -> Any:
        """Return a target that keeps or stretches the axes of data, and adds some."""
        shape, count = call.fact(self.data.draw_shape), call.fact(self.draw_rank)
        mapping = None if self.mapping is None else call.fact(self.mapping.draw_places)
        listed = [*range(count - len(shape), count)] if mapping is None else mapping
        room = max(2, MAX_OUTPUTS // max(1, prod(shape)))
        target = [*call.extents(self, count, room, empty=self.empty)]
        keeps_ones = (
            self.mapping is not None and mapping is not None and self.mapping.ones != "stretched"
        )
        ones = [place for place, extent in zip(listed, shape, strict=True) if extent == 1]
        stretch = (
            "none"
            if keeps_ones or not ones
            else call.one(self, "stretched", ["all", "some", "none"])
        )
        for number, (place, extent) in enumerate(zip(listed, shape, strict=True)):
            is_kept = stretch == "none" or (
                stretch == "some" and call.integer(self, f"keeps {number}", 0, 1)
            )
            if extent != 1 or is_kept:
                target[place] = extent
            elif target[place] == 1:
                target[place] = 2
        element_type = call.fact(self.draw_type)
        if not all(fits(element_type, extent) for extent in target):
            raise Inapplicable("an extent does not fit its type")
        return self.drawn_list(call, target)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its form, and that data broadcasts to it unless a mapping is given."""
        yield from super().requirements()
        name, of, values = self.name, self.of, f"{self.name}.values"
        form = (f"{name}.type", f"{name}.rank")
        yield self.rank_requirement()
        yield Requirement(
            f"{name}.least",
            f"{name} lists sizes, none of them negative.",
            f"all(size >= 0 for size in {values})",
            prerequisites=form,
        )
        mapping, when, begin = self.mapping, "True", ""
        prerequisites: tuple[str, ...] = ()
        if mapping is not None:
            if mapping.required:
                return
            when, begin, prerequisites = mapping.aligned
        yield Requirement(
            f"{name}.ranks",
            f"{begin}{of} has no more dimensions than {name} has elements.",
            f"{of}.rank <= {name}.size",
            when,
            (*prerequisites, *form, f"{name}.least"),
        )
        yield Requirement(
            f"{name}.extents",
            f"{begin}each size of {of}, aligned at the end, is 1 or that of {name}.",
            f"broadcasts({of}.shape, {values})",
            when,
            (f"{name}.ranks",),
        )
