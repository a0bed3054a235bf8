"""Calls of Slice-8, valid ones and those that break one of its rules."""

import numpy as np
from hypothesis import strategies as st

from opcert.reference.slicing import slice_8
from tests.property import drawing, oracles
from tests.property.drawing import Call, DType, Ranks, Types
from tests.property.oracles import Array
from tests.property.subject import Subject


def steps(extent: int, dtype: DType) -> st.SearchStrategy[int]:
    """A step that is not zero, most often a short one."""
    short = drawing.simplest_first((1, -1, 2, -2, 3, -3), dtype)
    info = np.iinfo(dtype)
    long = {extent, -extent, extent + 1, -extent - 1, info.min, info.max, 2**32, 2**63} - {0}
    return drawing.mostly(short, drawing.simplest_first(long, dtype))


@st.composite
def bounds(draw: st.DrawFn, extent: int, types: tuple[DType, ...]) -> tuple[int, int, int]:
    """A start, a stop and a step for one dimension, seldom such that they select nothing."""
    start, stop = (draw(drawing.positions(extent, dtype)) for dtype in types[:2])
    step = draw(steps(extent, types[2]))
    least, most = np.iinfo(types[1]).min, np.iinfo(types[1]).max
    for ends in ((start, stop), (stop, start), (0, most) if step > 0 else (-1, least)):
        held = all(map(drawing.fits, ends, types))
        if held and range(*slice(*ends, step).indices(extent)):
            return (*draw(st.sampled_from([*[ends] * 7, (start, stop)])), step)
    return start, stop, step


@st.composite
def regions(draw: st.DrawFn, extents: list[int], index_types: Types) -> dict[str, Array]:
    """A start, a stop and a step for each of some dimensions, mostly of one type."""
    alike = index_types.map(lambda dtype: (dtype,) * 3)
    types = draw(drawing.mostly(alike, st.tuples(*[index_types] * 3)))
    values = [draw(bounds(extent, types)) for extent in extents]
    return {
        name: draw(drawing.vectors([value[at] for value in values], types[at]))
        for at, name in enumerate(("start", "stop", "step"))
    }


@st.composite
def calls(
    draw: st.DrawFn,
    dtypes: Types = drawing.ANY_TYPE,
    index_types: Types = drawing.ANY_INTEGER,
    ranks: Ranks = drawing.ANY_RANK,
    listed: st.SearchStrategy[bool] = drawing.EITHER,
    least: int = 1,
) -> Call:
    """Valid calls that slice `least` dimensions or more, and list them where `listed` says so."""
    dtype, rank = draw(dtypes), draw(ranks)
    shape = draw(drawing.shapes(rank))
    selected = draw(st.permutations(range(rank)))[: draw(st.integers(least, rank))]
    with_axes, axis_type = draw(listed), draw(index_types)
    ends = selected if with_axes else range(len(selected))
    call = draw(regions([shape[axis] for axis in ends], index_types))
    if with_axes:
        signed = [draw(drawing.simplest_first((axis, axis - rank), axis_type)) for axis in selected]
        call["axes"] = draw(drawing.vectors(signed, axis_type))
    return {"data": draw(drawing.arrays(shape, dtype)), **call}


CALLS = calls()
LISTED = calls(listed=st.just(True))


@st.composite
def without_slices(draw: st.DrawFn, ranks: Ranks = drawing.ANY_RANK) -> Call:
    """Calls whose index inputs, and axes where it is given, are all empty."""
    shape = draw(drawing.shapes(draw(ranks)))
    names = ["start", "stop", "step", *draw(st.sampled_from([[], ["axes"]]))]
    empty = {name: draw(drawing.vectors([], draw(drawing.ANY_INTEGER))) for name in names}
    return {"data": draw(drawing.arrays(shape, draw(drawing.ANY_TYPE))), **empty}


@st.composite
def index_changed(draw: st.DrawFn) -> Call:
    """One of the three index inputs is of no integer type."""
    call, name = draw(CALLS), draw(st.sampled_from(["start", "stop", "step"]))
    return call | {name: draw(drawing.changed_types(call[name]))}


@st.composite
def unequal_lengths(draw: st.DrawFn) -> Call:
    """One index input, or axes, has an element more or less than the others."""
    call = draw(CALLS)
    name = draw(st.sampled_from([name for name in call if name != "data"]))
    return call | {name: draw(drawing.resized(call[name]))}


@st.composite
def zero_step(draw: st.DrawFn) -> Call:
    """One step is zero."""
    call = draw(CALLS)
    step = call["step"].copy()
    step[draw(st.integers(0, step.size - 1))] = 0
    return call | {"step": step}


@st.composite
def more_slices_than_axes(draw: st.DrawFn) -> Call:
    """There are no axes, and more slices than data has dimensions."""
    call = draw(calls(listed=st.just(False), ranks=st.integers(1, 3)))
    slices = call["data"].ndim + draw(st.integers(1, 3))
    ones = np.ones(slices, draw(drawing.ANY_INTEGER))
    return call | {"start": ones, "stop": ones.copy(), "step": ones.copy()}


@st.composite
def axis_outside(draw: st.DrawFn) -> Call:
    """One axis is not one of data's."""
    call = draw(LISTED)
    dtype, rank = draw(drawing.ANY_INTEGER), call["data"].ndim
    listed = [axis % rank for axis in call["axes"].tolist()]
    listed[draw(st.integers(0, len(listed) - 1))] = draw(drawing.outside(rank, dtype))
    return call | {"axes": draw(drawing.vectors(listed, dtype))}


@st.composite
def repeated_axis(draw: st.DrawFn) -> Call:
    """One axis is named twice, perhaps once from the front and once from the end."""
    call = draw(calls(listed=st.just(True), least=2, ranks=st.integers(2, 8)))
    listed, rank = call["axes"].tolist(), call["data"].ndim
    one, other = draw(st.permutations(range(len(listed))))[:2]
    listed[one] = draw(st.sampled_from([listed[other] % rank, listed[other] % rank - rank]))
    return call | {"axes": draw(drawing.vectors_of_any_type(listed))}


BREACHES = {
    "required-inputs": drawing.lacking(CALLS, "data", "start", "stop", "step"),
    "data-rank": without_slices(ranks=st.just(0)),
    "index-type": index_changed(),
    "start-rank": drawing.with_changed(CALLS, "start", drawing.changed_ranks),
    "stop-rank": drawing.with_changed(CALLS, "stop", drawing.changed_ranks),
    "step-rank": drawing.with_changed(CALLS, "step", drawing.changed_ranks),
    "axes-type": drawing.with_changed(LISTED, "axes", drawing.changed_types),
    "axes-rank": drawing.with_changed(LISTED, "axes", drawing.changed_ranks),
    "equal-lengths": unequal_lengths(),
    "step-nonzero": zero_step(),
    "default-axes-fit": more_slices_than_axes(),
    "axes-range": axis_outside(),
    "axes-unique": repeated_axis(),
}

SUBJECT = Subject(
    slug="slice-8",
    reference=slice_8,
    formula=oracles.slice_8,
    calls=calls,
    breaches=BREACHES,
)
