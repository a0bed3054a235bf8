"""The role `shape`: a target shape that data broadcasts to."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import cycle, islice
from math import prod
from typing import Any, Literal

from pydantic import Field

from opcert.arrays.calls import Call
from opcert.arrays.element_types import fits
from opcert.errors import Inapplicable
from opcert.roles.data import OfDataRole
from opcert.roles.drawing import MAX_OUTPUTS, Drawing
from opcert.roles.mapping import MappingRole
from opcert.roles.role import ListRole, Requirement


class ShapeRole(ListRole, OfDataRole):
    """The shape to which data broadcasts, in this direction only.

    Data aligns at the end, and a size of 1 stretches. With a `mapping`, each axis of data becomes
    the axis of the target that the mapping lists. A target has up to `most` elements, and unless
    `empty` is false, it may have none.
    """

    role: Literal["shape"]
    most: int = Field(8, ge=1, le=8)
    empty: bool = True

    @cached_property
    def mapping(self) -> MappingRole | None:
        """The mapping of axes of data onto its own, if the operator has one."""
        mappings = (role for role in self.referrers("into") if isinstance(role, MappingRole))
        return next(mappings, None)

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
        ones = "stretched" if mapping is None or self.mapping is None else self.mapping.ones
        stretch = "none"
        if 1 in shape and ones == "stretched":
            stretch = call.one(self, "stretched", ["all", "some", "none"])
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

    def axes_in(self, call: Call) -> Sequence[int | None]:
        """Return the axis of data that becomes each axis of the target; None for a new one."""
        count, rank = len(self.values_in(call)), call.inputs[self.of].rank
        mapped = () if self.mapping is None else self.mapping.values_in(call)
        axes = {place: axis for axis, place in enumerate(mapped or range(count - rank, count))}
        return [axes.get(place) for place in range(count)]

    def requirements(self) -> Iterator[Requirement]:
        """Yield its form, and that data broadcasts to it unless a mapping is given."""
        yield from super().requirements()
        name, of, values = self.name, self.of, f"{self.name}.values"
        text = f"{name} lists sizes, none of them negative."
        holds = f"all(size >= 0 for size in {values})"
        yield self.requirement("least", text, holds, *self.list_keys)
        mapping, when, begin = self.mapping, "True", ""
        prerequisites: tuple[str, ...] = ()
        if mapping is not None:
            if mapping.required:
                return
            when, begin, prerequisites = mapping.aligned
        text = f"{begin}{of} has no more dimensions than {name} has elements."
        keys = (*prerequisites, *self.list_keys, "least")
        yield self.requirement("ranks", text, f"{of}.rank <= {name}.size", *keys, when=when)
        text = f"{begin}each size of {of}, aligned at the end, is 1 or that of {name}."
        holds = f"broadcasts({of}.shape, {values})"
        yield self.requirement("extents", text, holds, "ranks", when=when)
