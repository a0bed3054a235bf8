"""The role `shape`: a target shape that data broadcasts to."""

from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from math import prod
from typing import Any, ClassVar, Literal

from pydantic import Field

from opcert.arrays.calls import Call, extent_kinds
from opcert.arrays.element_types import fits
from opcert.errors import Inapplicable
from opcert.roles.data import DataRole
from opcert.roles.drawing import MAX_OUTPUTS, Drawing
from opcert.roles.factors import (
    Factor,
    ObservationPoint,
    ObservedLevels,
    levels_where,
)
from opcert.roles.mapping import (
    FAR,
    STRETCHED,
    MappingRole,
    observed_stretches,
)
from opcert.roles.role import ListRole, Requirement

# The number of axes that the target has in addition to those of data.
_ADDED = {"one": 1, "none": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_ADDED |= {"seven": 7, "eight": 8}
_EMPTY = "empty"


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

    def factors(self) -> Iterator[Factor]:
        """Yield type, number of added axes, stretched axes, added axes of 0, and layout."""
        yield from self.type_factors()
        mapping = self.mapping
        least_rank, most_rank = map(int, self.data.rank)
        most_added = self.most - least_rank
        added = {level: n for level, n in _ADDED.items() if n <= most_added}
        words = {level: f"{level} axes more" for level in added}
        words |= {"one": "one axis more", "none": "equal ranks"}
        if self.empty and least_rank == 0:
            added[_EMPTY], words[_EMPTY] = 0, "an empty target"
        yield Factor(self.factor("added"), added, words=words)
        relations, stretched = {"same": "kept", "stretched": "stretched"}, {**STRETCHED}
        if mapping is not None and mapping.required and mapping.ones != "stretched":
            relations, stretched = {"same": "kept"}, {"none": ""}
        else:
            is_rank_2_valid = least_rank <= 2 <= min(most_rank, self.most)
            is_far_held = any(fits(name, FAR) for name in self._signature.types[self.type])
            if not (is_rank_2_valid and is_far_held):
                stretched.pop("far")
        yield Factor.of_names(self.factor("relation"), relations)
        yield Factor.of_names(self.factor("stretched"), stretched)
        # An added axis of size 0 makes the output empty, although data is not.
        new = {"drawn": ""}
        if self.data.empty:
            new["zero"] = "a new axis of 0"
        yield Factor.of_names(self.factor("new"), new)
        yield self.layout_factor()

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
        least = 0 if rank or self.empty else 1
        return rank + call.one(self, "more axes", range(least, max(0, self.most - rank) + 1))

    def draw(self, call: Drawing) -> Any:
        """Return a target that keeps or stretches the axes of data, and adds some."""
        shape, count = call.fact(self.data.draw_shape), call.fact(self.draw_rank)
        mapping = None if self.mapping is None else call.fact(self.mapping.draw_places)
        listed = [*range(count - len(shape), count)] if mapping is None else mapping
        room = max(2, MAX_OUTPUTS // max(1, prod(shape)))
        target = [*call.extents(self, count, room, empty=self.data.empty)]
        like_data = [*islice(cycle(shape or (1,)), count)]
        if prod(like_data) <= MAX_OUTPUTS and not call.integer(self, "like data", 0, 3):
            # Where extents recur, an axis can be taken for another one.
            target = like_data
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
