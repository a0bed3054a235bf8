"""Stretching: which axes of 1 grow to the size of a target shape, drawn and observed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from opcert.roles.factors import levels_where
from opcert.roles.samplers import Sampler

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
