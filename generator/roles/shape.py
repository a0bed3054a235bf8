"""The role `shape`: a target shape that data broadcasts to."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from pydantic import Field

from opcert.arrays import (
    ELEMENT_TYPES,
    HUGE_EXTENT,
    LONG_AXES_NEEDED,
    WIDE_EXTENT,
    Call,
    Tensor,
    extent_kinds,
    fits,
    highest,
    insert,
)
from opcert.roles.argument import BoundExpressions
from opcert.roles.data import DataRole
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    Factor,
    LevelName,
    ObservationPoint,
    ObservedLevels,
    Requirement,
    forbid,
    levels_where,
)
from opcert.roles.mapping import ALIGNED, MappingRole
from opcert.roles.role import Role
from opcert.roles.samplers import Sampler
from opcert.roles.stretching import (
    FAR,
    STRETCHED,
    Stretch,
    observed_stretches,
    stretched_shapes,
)

# How many axes the target has that data lacks.
_ADDED = {"one": 1, "none": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_ADDED |= {"seven": 7, "eight": 8}
_EMPTY = "empty"
# Of equal extents with the length of the axis there are not to be more elements than this.
_MOST_SAME = 700
_LONG_AXIS = 1_000_000
# An axis that is stretched beside extents past a tile is no longer than this.
_MOST_PAST_A_TILE = 127


class ShapeRole(Role):
    """The shape to which data broadcasts, in this direction alone.

    Data aligns with its end, and a size of 1 stretches; where a `mapping` is given, each axis of
    data becomes the axis of the target that this lists. A target has up to `most` elements; unless
    `empty` is false, it may have none.
    """

    relations: ClassVar = {"of": ("data",)}

    role: Literal["shape"]
    of: str
    most: int = Field(8, ge=1, le=max(_ADDED.values()))
    empty: bool = True

    def rank_bounds(self) -> BoundExpressions:
        """Return that it is a list."""
        return ("1", "1")

    @property
    def shapes(self) -> Sequence[str]:
        """The data that broadcasts to it."""
        return (self.of,)

    @property
    def data(self) -> DataRole:
        """The data that broadcasts to it."""
        return self.partner(self.of, DataRole)

    @property
    def mapping(self) -> MappingRole | None:
        """What maps axes of data onto its own, if the operator has it."""
        roles = self._signature.roles
        mappings = (role for role in roles if isinstance(role, MappingRole))
        return next((role for role in mappings if role.into == self.name), None)

    @property
    def _may_stretch(self) -> bool:
        mapping = self.mapping
        return mapping is None or not mapping.required or mapping.ones == "stretched"

    @property
    def _plain_types(self) -> tuple[str, str]:
        """The element types of data and of the target where one pair of them is enough."""
        types = self._signature.types
        of_data, own = types[self.data.type], types[self.type]
        return (
            "f32" if "f32" in of_data else of_data[0],
            "i64" if "i64" in own else max(own, key=highest),
        )

    @property
    def _may_be_far(self) -> bool:
        least, most = map(int, self.data.rank)
        return least <= 2 <= min(most, self.most) and fits(self._plain_types[1], FAR)

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield its type, how many axes it adds, which ones it stretches, and its layout."""
        yield from self.type_factors(profile)
        least_rank = int(self.data.rank[0])
        most = 2 if profile == "stress" else self.most - least_rank
        added = {level: n for level, n in _ADDED.items() if n <= most}
        words = {level: f"{level} axes more" for level in added}
        words |= {"one": "one axis more", "none": "equal ranks"}
        if self.empty and least_rank == 0 and profile != "stress":
            added[_EMPTY], words[_EMPTY] = 0, "an empty target"
        yield Factor(self.factor("added"), added, words=words)
        relations, stretched = {"same": "kept", "stretched": "stretched"}, {**STRETCHED}
        if not self._may_stretch:
            relations, stretched = {"same": "kept"}, {"none": ""}
        elif profile == "stress" or not self._may_be_far:
            stretched.pop("far")
        yield Factor(self.factor("relation"), {each: each for each in relations}, words=relations)
        yield Factor(self.factor("stretched"), {each: each for each in stretched}, words=stretched)
        # A new axis without elements, while data has some.
        new = {"drawn": ""}
        if self.data.empty and profile != "stress":
            new["zero"] = "a new axis of 0"
        yield Factor(self.factor("new"), {each: each for each in new}, words=new)
        yield self.list_layout()

    def full_combinations(self) -> Iterator[tuple[str, ...]]:
        """Yield each axis, kept and stretched, with each choice of others that stretch."""
        yield self.factor("relation"), self.data.factor("axis"), self.factor("stretched")

    def constraints(self) -> Iterator[Constraint]:
        """Yield what a target and data can have together."""
        data = self.data
        rank, length, others = map(data.factor, ("rank", "length", "others"))
        added, types = self.factor("added"), self.type_factor
        # Its size, and what fits its type.
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
        # The extents beside the axis in focus.
        yield forbid(
            lambda others, n, rank, added: (
                (others != "varied" and rank + added < 2)
                or (others == "same" and (n < 2 or n ** (rank + added) > _MOST_SAME))
                or (others == "varied" and n > _LONG_AXIS and rank + added > 1)
            ),
            *(others, length, rank, added),
        )
        yield from self._constraints_of_stretching()
        yield from self._constraints_of_layouts()
        yield from self._constraints_of_single_levels()

    def _constraints_of_stretching(self) -> Iterator[Constraint]:
        """Yield which axes can be stretched."""
        rank, length, others = map(self.data.factor, ("rank", "length", "others"))
        relation, stretched = self.factor("relation"), self.factor("stretched")
        yield forbid(
            lambda relation, n, others: (
                relation == "stretched"
                and (n == 1 or (n > _MOST_PAST_A_TILE and others in ("wide", "tall")))
            ),
            *(relation, length, others),
        )
        # Stretched alone, an inner axis is to lie between kept ones.
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

    def _constraints_of_layouts(self) -> Iterator[Constraint]:
        """Yield which layouts show: most of them change two axes longer than 1."""
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
        # What is laid out or mapped is not stretched: asked at once, so that a row is planned with
        # all of them in view. It takes fewer rows.
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

    def _constraints_of_single_levels(self) -> Iterator[Constraint]:
        """Yield where levels stand that one choice of the other factors is enough for."""
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
        new_of_0 = {
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
            (self.factor("new"), "zero", {**plain, **new_of_0}),
            (self.factor("stretched"), "far", {**plain, **far}),
        ):
            for other, value in needed.items():
                yield forbid(
                    lambda own, found, level=level, value=value: own == level and found != value,
                    *(factor, other),
                )

    def masking(self) -> Iterator[Constraint]:
        """Yield where data has one element, and where the target has none."""
        rank, length, others = map(self.data.factor, ("rank", "length", "others"))
        relation, stretched = self.factor("relation"), self.factor("stretched")
        yield forbid(lambda new: new == "zero", self.factor("new"))
        yield forbid(
            lambda relation, others: relation == "stretched" and others == "ones", relation, others
        )
        # Every axis that might be longer is stretched.
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
        yield forbid(
            lambda relation, rank, axis, stretched: (
                relation == "stretched" and stretched == "alternating" and (rank, axis) == (3, 1)
            ),
            *(relation, rank, self.data.factor("axis"), stretched),
        )

    def build(self, scene: BuildContext) -> Tensor:
        """Return the target."""
        return self.integers(scene, self._extents(scene)[1], scene.choice[self.factor("layout")])

    def shape_for(self, argument: Role, scene: BuildContext) -> tuple[int, ...]:  # noqa: ARG002
        """Return the shape of data."""
        return self._extents(scene)[0]

    def _extents(self, scene: BuildContext) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the shapes of data and of the target."""
        return scene.draw(self.name, lambda sampler: self._drawn(scene, sampler))

    def _places(self, scene: BuildContext) -> tuple[int, ...]:
        """Return the axis of the target of each axis of data."""
        mapping = self.mapping
        if mapping is not None and scene.choice[mapping.factor("places")] != ALIGNED:
            return mapping.places(scene)
        rank, added = scene.choice[self.data.factor("rank")], scene.choice[self.factor("added")]
        return tuple(range(added, rank + added))

    def _drawn(
        self, scene: BuildContext, sampler: Sampler
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        choice, data, places = scene.choice, self.data, self._places(scene)
        rank, length = choice[data.factor("rank")], choice[data.factor("length")]
        size = rank + choice[self.factor("added")]
        others = choice[data.factor("others")]
        if not rank:
            return (), sampler.dims(size, others, length)
        focus = choice[data.factor("axis")]
        target = [*insert(sampler.dims(size - 1, others, length), places[focus], length)]
        if choice[self.factor("new")] == "zero":
            target = [(extent or 2) if d in places else 0 for d, extent in enumerate(target)]
        is_stretched = choice[self.factor("relation")] == "stretched"
        # Without another axis, data would have a single element, or no layout but the plain one.
        keeps_another = (
            is_stretched or length == 1 or LONG_AXES_NEEDED[choice[data.factor("layout")]] > 1
        )
        kind = choice[self.factor("stretched")]
        stretch = Stretch(focus, is_stretched, kind, others, keeps_another)
        return stretched_shapes(target, places, stretch, sampler)

    def observe(self, call: Call, focus: ObservationPoint) -> ObservedLevels:
        """Return the levels of its factors, and of those of data that its shape decides."""
        data, axis = call.inputs[self.of], focus.get("axis", 0)
        tensor, mapping, target = call.inputs[self.name], self.mapping, self.values_in(call)
        places = tuple(range(len(target) - data.rank, len(target)))
        if mapping is not None and mapping.is_in(call):
            places = mapping.values_in(call)
        size = target[places[axis]] if data.rank else 1
        beside = [extent for d, extent in enumerate(target) if not data.rank or d != places[axis]]
        own = data.shape[axis] if data.rank else 1
        new = [extent for d, extent in enumerate(target) if d not in places]
        return ObservedLevels(
            {
                **self.observed_type(call),
                self.data.factor("axis"): axis,
                self.data.factor("length"): size,
                self.data.factor("others"): extent_kinds(beside, size),
                self.factor("layout"): tensor.layout,
                self.factor("added"): len(target) - data.rank,
            },
            {
                self.factor("relation"): levels_where(
                    {"same": own == size, "stretched": own == 1 != size}
                ),
                self.factor("stretched"): observed_stretches(data.shape, target, places, axis),
                self.factor("new"): levels_where(
                    {"drawn": True, "zero": 0 in new and 0 not in data.shape}
                ),
            },
        )

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type and form, and that data broadcasts to it where no mapping is given."""
        yield from super().requirements()
        name, of, values = self.name, self.of, f"{self.name}.values"
        form = (f"{name}.type", f"{name}.rank")
        yield Requirement(form[1], f"{name} is one-dimensional.", f"{name}.rank == 1")
        yield Requirement(
            f"{name}.least",
            f"{name} lists sizes, none of them negative.",
            f"all(size >= 0 for size in {values})",
            given=form,
        )
        mapping, when, begin = self.mapping, "True", ""
        known: tuple[str, ...] = ()
        if mapping is not None:
            if mapping.required:
                return
            when, begin, known = mapping.aligned
        yield Requirement(
            f"{name}.ranks",
            f"{begin}{of} has no more dimensions than {name} has elements.",
            f"{of}.rank <= {name}.size",
            when,
            (*known, *form, f"{name}.least"),
        )
        yield Requirement(
            f"{name}.extents",
            f"{begin}each size of {of}, aligned at the end, is 1 or that of {name}.",
            f"broadcasts({of}.shape, {values})",
            when,
            (f"{name}.ranks",),
        )
