"""Stretching to a target shape, and the role `mapping`: the axes that data's axes become."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias

from opcert.arrays.calls import Call, Tensor
from opcert.errors import Inapplicable
from opcert.roles.data import DataRole
from opcert.roles.drawing import Drawing
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    Factor,
    ObservationPoint,
    ObservedLevels,
    Sampler,
    forbid,
    levels_where,
)
from opcert.roles.role import ListRole, Requirement, Role
from opcert.roles.scalar_values import ModeRole

# The shape of data, and the target shape to which it broadcasts.
ShapeAndTarget: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
# An extent past 16 bits.
FAR = 65537
# Which axes stretch in addition to the tested one, with words.
STRETCHED = {
    "none": "",
    "some": "some other axes stretched",
    "all": "all other axes stretched",
    "alternating": "every second axis stretched",
    "far": "another axis stretched past 16 bits",
}


@dataclass(frozen=True)
class Stretch:
    """Which axes of data stretch: the tested `axis` if `is_stretched`, and others by their `kind`.

    `others` is the kind of the other extents of the target. With `keeps_another`, one axis other
    than the tested one does not stretch, and is longer than 1 if `others` allows it.
    """

    axis: int
    is_stretched: bool
    kind: str
    others: str
    keeps_another: bool


def stretched_shapes(
    target: Sequence[int], places: Sequence[int], stretch: Stretch, sampler: Sampler
) -> ShapeAndTarget:
    """Return the shape of data whose axes become `places` of a target, and the target.

    Extents of the target grow from 1 if a stretch would have no effect otherwise, or if no axis
    longer than 1 would be kept.
    """
    extents, kind = list(target), stretch.kind
    tested_place = places[stretch.axis]
    other_axes = [axis for axis in range(len(places)) if axis != stretch.axis]
    if kind == "some":
        # Axes longer than 1, and axes of 1 only where there are too few longer ones.
        longer = [axis for axis in other_axes if extents[places[axis]] > 1]
        ones = sampler.disordered([axis for axis in other_axes if axis not in longer])
        candidates = [*longer, *ones][: max(len(longer), 1 + stretch.keeps_another)]
        most = max(1, len(candidates) - stretch.keeps_another)
        stretched = sampler.sample(candidates, sampler.between(1, most))
    elif kind == "alternating":
        stretched = tuple(axis for axis in other_axes if (axis - stretch.axis) % 2)
    else:
        stretched = () if kind == "none" else tuple(other_axes)
    if kind == "far":
        extents[places[stretched[0]]] = FAR
    # Groups of axes; at least one axis of each group has to be longer than 1 in the target.
    groups: list[tuple[int, ...]] = [stretched]
    if kind == "alternating":
        groups = [(axis,) for axis in stretched]
    if stretch.keeps_another and stretch.others not in ("ones", "zero"):
        groups.append(tuple(axis for axis in other_axes if axis not in stretched))
    for axes in groups:
        if axes and all(extents[places[axis]] == 1 for axis in axes):
            place = places[sampler.pick(axes)]
            rest = {n for d, n in enumerate(extents) if d not in (place, tested_place)}
            # Varied extents are not all equal.
            extents[place] = 3 if stretch.others == "varied" and rest == {2} else 2
    single = {*stretched, stretch.axis} if stretch.is_stretched else {*stretched}
    shape = [1 if axis in single else extents[place] for axis, place in enumerate(places)]
    return tuple(shape), tuple(extents)


def observed_stretches(
    shape: Sequence[int], target: Sequence[int], places: Sequence[int], tested_axis: int
) -> frozenset[str]:
    """Return the kinds of axes of data that stretch in addition to the tested one."""
    others = [axis for axis in range(len(shape)) if axis != tested_axis]
    growth = {axis: target[places[axis]] - shape[axis] for axis in others}
    any_stretches = any(extent > 0 for extent in growth.values())
    is_alternating = all((growth[axis] > 0) == bool((axis - tested_axis) % 2) for axis in others)
    return levels_where(
        {
            "none": not any_stretches,
            "some": any_stretches,
            "all": any_stretches and all(shape[axis] == 1 for axis in others),
            "alternating": any_stretches and is_alternating,
            "far": max(growth.values(), default=0) >= FAR - 1,
        }
    )


# The level of an omitted mapping: data aligns with the end of the target.
ALIGNED = "aligned"
# Which axes of the target are listed: `ends` are the first one and the last ones, `inner` are all
# but the first one and another.
_PLACES = ("trailing", "leading", "spread", "ends", "inner")


class MappingRole(ListRole):
    """For each axis of data an axis of the target shape, in ascending order.

    With the key `mode`, it is given only if that mode is `mode_is`. Along an axis that it maps, a
    size of 1 is `kept` or `stretched`, or the document leaves it `open`.
    """

    relations: ClassVar = {"of": ("data",), "into": ("shape",), "mode": ("mode",)}

    role: Literal["mapping"]
    of: str
    into: str
    mode: str | None = None
    mode_is: str | None = None
    ones: Literal["kept", "stretched", "open"] = "kept"

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an unknown word of the mode, and missing or superfluous keys."""
        mode = self.selected_by
        if mode is None:
            if self.mode_is is not None:
                yield "mode_is", "missing key 'mode'; expected it together with 'mode_is'"
        else:
            yield from mode.selection_mistakes(self, self.mode_is)

    def bounds(self) -> tuple[str, str]:
        """Return the first and the last axis of the target."""
        return ("0", f"{self.into}.size - 1")

    @property
    def data(self) -> DataRole:
        """The data that has the mapped axes."""
        return self.related(self.of, DataRole)

    @property
    def target(self) -> Role:
        """The target shape that has the listed axes."""
        return self.related(self.into, Role)

    @property
    def selected_by(self) -> ModeRole | None:
        """The mode that determines whether it is given, if there is one."""
        return None if self.mode is None else self.related(self.mode, ModeRole)

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield the kind of axes that it lists."""
        yield from self.type_factors(profile)
        words = {level: f"mapped to {level} axes" for level in _PLACES}
        if not self.required:
            words = {ALIGNED: "", **words}
        yield Factor.of_names(self.factor("places"), words)

    def constraints(self) -> Iterator[Constraint]:
        """Forbid axes that the target does not have, and the wrong mode."""
        places = self.factor("places")
        rank, added = self.data.factor("rank"), self.target.factor("added")
        mode = self.selected_by
        if mode is not None:
            yield forbid(
                lambda places, word: (places == ALIGNED) == (word == self.mode_is),
                *(places, mode.factor("word")),
            )
        yield from self.omission_constraints(places, ALIGNED)
        yield forbid(
            lambda places, added: places not in (ALIGNED, "trailing") and added == 0, places, added
        )
        several = ("spread", "ends", "inner")
        yield forbid(lambda places, rank: places in several and rank < 2, places, rank)
        yield forbid(lambda places, added: places == "inner" and added < 2, places, added)

    @property
    def aligned(self) -> tuple[str, str, tuple[str, ...]]:
        """The condition that data aligns at the end, the words for it, and its prerequisites."""
        mode = self.selected_by
        if mode is None:
            return f"{self.name} is None", f"Without {self.name}, ", ()
        words = [word for word in mode.one_of if word != self.mode_is]
        return mode.is_one_of(words), f"In mode {' or '.join(words)}, ", (mode.word_requirement,)

    def places(self, context: BuildContext) -> tuple[int, ...]:
        """Return the axis of the target of each axis of data."""
        return context.draw(self.name, partial(self._draw, context))

    def _draw(self, context: BuildContext, sampler: Sampler) -> tuple[int, ...]:
        choice = context.choice
        rank, added = choice[self.data.factor("rank")], choice[self.target.factor("added")]
        places, size = choice.level(self.factor("places")), rank + added
        if places == "leading":
            return tuple(range(rank))
        if places == "ends":
            return (0, *range(1 + added, size))
        if places == "inner":
            return sampler.sample(range(1, size), rank)
        if places == "spread":
            return sampler.subset_with(range(size), 0, rank)[:rank]
        return tuple(range(added, size))

    def build(self, context: BuildContext) -> Tensor | None:
        """Return the axes in the layout of the target."""
        if context.choice[self.factor("places")] == ALIGNED:
            return None
        return self.integer_tensor(
            context, self.places(context), context.choice[self.target.factor("layout")]
        )

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Observe the kind of axes that it lists."""
        places = self.values_in(call)
        rank, size = len(places), call.inputs[self.into].size
        is_given, are_several = self.is_given_in(call), rank > 1
        levels = {
            ALIGNED: not is_given,
            "trailing": is_given and places == tuple(range(size - rank, size)),
            "leading": is_given and places == tuple(range(rank)),
            "spread": is_given and are_several and places[0] == 0,
            "ends": is_given and are_several and places == (0, *range(size - rank + 1, size)),
            "inner": is_given and are_several and places[0] > 0 and places[-1] - places[0] >= rank,
        }
        return ObservedLevels(
            self.observed_type(call), {self.factor("places"): levels_where(levels)}
        )

    def draw_places(self, call: Drawing) -> list[int] | None:
        """Draw the axes of the target, in ascending order; None if data aligns at the end."""
        if self.selected_by is not None and call.fact(self.selected_by.draw_meant) != self.mode_is:
            return None
        if self.selected_by is None and not call.fact(self.draw_given):
            return None
        rank, most = call.fact(self.data.draw_rank), call.fact(self.target.draw_rank)
        if most < rank:
            raise Inapplicable("the target has fewer axes than data")
        return sorted(call.sample(self, "places", range(most), rank))

    def draw(self, call: Drawing) -> Any:
        """Return the mapping, None if it is omitted."""
        listed = call.fact(self.draw_places)
        return None if listed is None else self.drawn_list(call, listed)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its presence, its form, its range and order, and the extents of data."""
        name, of, into = self.name, self.of, self.into
        mode, values, target = self.selected_by, f"{self.name}.values", f"{into}.values"
        form = (f"{into}.type", f"{into}.rank")
        selected: tuple[str, ...] = ()
        when, begin = self.given_expr, ""
        if mode is not None:
            selected = (mode.word_requirement,)
            is_selected, begin = mode.is_one_of([str(self.mode_is)]), f"In mode {self.mode_is}, "
            yield Requirement(
                f"{name}.given",
                f"{begin}{name} is given.",
                f"{name} is not None",
                is_selected,
                (*selected, *form, f"{into}.least"),
            )
            when = f"{is_selected} and {when}"
        for requirement in (*super().requirements(), self.rank_requirement()):
            yield replace(requirement, when=when, prerequisites=selected)
        yield Requirement(
            f"{name}.size",
            f"{name} has as many elements as {of} has dimensions.",
            f"{name}.size == {of}.rank",
            when,
            (f"{name}.rank",),
        )
        least, _ = self.range or self.bounds()
        yield Requirement(
            f"{name}.range",
            f"{name} lists axes of the output.",
            f"all({least} <= axis < {into}.size for axis in {values})",
            when,
            (*form, f"{name}.type", f"{name}.rank", f"{name}.size"),
        )
        yield Requirement(
            f"{name}.order",
            f"{name} is in ascending order.",
            f"tuple(sorted(set({values}))) == {values}",
            when,
            (f"{name}.range",),
        )
        sizes = f"[1, {target}[axis]]" if self.ones != "kept" else f"[{target}[axis]]"
        yield Requirement(
            f"{name}.extents",
            f"{begin}each size of {of} is {'1 or ' if self.ones != 'kept' else ''}that of the "
            f"axis of the output that {name} maps it to.",
            f"all(n in {sizes} for n, axis in zip({of}.shape, {values}))",
            when,
            (
                f"{into}.least",
                *(f"{name}.{aspect}" for aspect in ("given", "size", "range", "order")),
            ),
        )
