"""Which sizes of 1 stretch to those of a target shape: drawn, and observed."""

from collections.abc import Sequence
from dataclasses import dataclass

from opcert.roles.factors import levels_where
from opcert.roles.samplers import Sampler

# Past 16 bits.
FAR = 65537
# Which axes beside that in focus stretch, and how a sentence says so.
STRETCHED = {
    "none": "",
    "some": "some other axes stretched",
    "all": "all other axes stretched",
    "alternating": "every second axis stretched",
    "far": "another axis stretched past 16 bits",
}


@dataclass(frozen=True)
class Stretch:
    """The axes of data that are to stretch: that in focus or not, and others of one `kind`.

    With `keeps_another`, another axis is to be kept, and longer than 1 where the kind of the
    `others`, the extents that the target has beside the axis in focus, has such.
    """

    focus: int
    is_stretched: bool
    kind: str
    others: str
    keeps_another: bool


def stretched_shapes(
    target: Sequence[int], places: Sequence[int], stretch: Stretch, sampler: Sampler
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape of data whose axes are at `places` of a target, and the target.

    Extents of the target grow from 1 where without it a stretch would not show, or no other axis
    would be kept that has to be.
    """
    extents, kind = list(target), stretch.kind
    in_focus = places[stretch.focus]
    sides = [axis for axis in range(len(places)) if axis != stretch.focus]
    if kind == "some":
        # Longer axes first, one of them is left where one has to be.
        longer = [axis for axis in sides if extents[places[axis]] > 1]
        ones = sampler.disordered([axis for axis in sides if axis not in longer])
        candidates = [*longer, *ones][: max(len(longer), 1 + stretch.keeps_another)]
        most = max(1, len(candidates) - stretch.keeps_another)
        stretched = sampler.sample(candidates, sampler.between(1, most))
    elif kind == "alternating":
        stretched = tuple(axis for axis in sides if (axis - stretch.focus) % 2)
    else:
        stretched = () if kind == "none" else tuple(sides)
    if kind == "far":
        extents[places[stretched[0]]] = FAR
    past_one: list[tuple[int, ...]] = [stretched]
    if kind == "alternating":
        past_one = [(axis,) for axis in stretched]
    if stretch.keeps_another and stretch.others not in ("ones", "zero"):
        past_one.append(tuple(axis for axis in sides if axis not in stretched))
    for axes in past_one:
        if axes and all(extents[places[axis]] == 1 for axis in axes):
            place = places[sampler.pick(axes)]
            beside = {n for d, n in enumerate(extents) if d not in (place, in_focus)}
            # Varied extents are not all the same.
            extents[place] = 3 if stretch.others == "varied" and beside == {2} else 2
    single = {*stretched, stretch.focus} if stretch.is_stretched else {*stretched}
    shape = [1 if axis in single else extents[place] for axis, place in enumerate(places)]
    return tuple(shape), tuple(extents)


def observed_stretches(
    shape: Sequence[int], target: Sequence[int], places: Sequence[int], focus: int
) -> frozenset[str]:
    """Return which kinds of axes of data stretch beside that in focus."""
    sides = [axis for axis in range(len(shape)) if axis != focus]
    by = {axis: target[places[axis]] - shape[axis] for axis in sides}
    is_some = any(length > 0 for length in by.values())
    is_second = all((by[axis] > 0) == bool((axis - focus) % 2) for axis in sides)
    return levels_where(
        {
            "none": not is_some,
            "some": is_some,
            "all": is_some and all(shape[axis] == 1 for axis in sides),
            "alternating": is_some and is_second,
            "far": max(by.values(), default=0) >= FAR - 1,
        }
    )
