"""Calls of Gather-8, valid ones and those that break one of its rules."""

import numpy as np
from hypothesis import strategies as st

from opcert.reference.gathering import gather_8
from tests.property import drawing, oracles
from tests.property.drawing import Call, DType, Ranks, Types
from tests.property.oracles import Array, Index
from tests.property.subject import Subject


@st.composite
def indices_into(draw: st.DrawFn, extent: int, shape: Index, dtype: DType) -> Array:
    """Indices of some shape, in any layout, into a dimension of some extent and beyond it."""
    size = int(np.prod(shape))
    # Seven go round in the largest of indices, whose extents are mostly other than seven.
    drawn = min(size, 7)
    places = st.lists(drawing.positions(extent, dtype), min_size=drawn, max_size=drawn)
    return draw(drawing.laid_out(np.resize(np.array(draw(places), dtype), shape)))


def shapes_picked(rank: int) -> st.SearchStrategy[Index]:
    """What the indices' shape has after the batch dimensions; few elements, as they multiply."""
    return drawing.shapes(rank, longest=0, room=8)


def spellings(batch: int, data_rank: int, indices_rank: int) -> st.SearchStrategy[dict[str, int]]:
    """The attribute that says how many dimensions are batches: not negative, negative, absent."""
    negative = batch - indices_rank
    attributes = [{"batch_dims": batch}]
    if -min(data_rank, indices_rank) <= negative < 0:
        attributes.append({"batch_dims": negative})
    return st.sampled_from(attributes if batch else [{}, *attributes])


@st.composite
def calls(
    draw: st.DrawFn,
    dtypes: Types = drawing.ANY_TYPE,
    index_types: Types = drawing.ANY_INTEGER,
    ranks: Ranks = drawing.ANY_RANK,
    least: int = 0,
) -> Call:
    """Valid calls with data of one of `ranks` and `least` batch dimensions or more."""
    dtype, index_type, axis_type = draw(dtypes), draw(index_types), draw(index_types)
    rank = draw(ranks)
    shape = draw(drawing.shapes(rank))
    where = draw(st.integers(least, rank - 1))
    batch = draw(st.integers(least, where))
    indices_shape = shape[:batch] + draw(shapes_picked(draw(st.integers(0, 8 - batch))))
    return {
        "data": draw(drawing.arrays(shape, dtype)),
        "indices": draw(indices_into(shape[where], indices_shape, index_type)),
        "axis": draw(drawing.axes(where, rank, axis_type)),
        **draw(spellings(batch, rank, len(indices_shape))),
    }


CALLS = calls()


@st.composite
def axis_outside(draw: st.DrawFn) -> Call:
    """The axis is not one of data's, or data has none."""
    call = draw(CALLS)
    if draw(st.booleans()):
        return call | {"axis": draw(drawing.axes_outside(call["data"].ndim))}
    axis = np.array(draw(st.sampled_from([0, -1])), np.int64)
    data = draw(drawing.arrays((), call["data"].dtype))
    return {"data": data, "indices": call["indices"], "axis": axis}


@st.composite
def batch_dims_outside(draw: st.DrawFn) -> Call:
    """batch_dims exceeds one rank or the other, if only before it is normalized."""
    call = draw(CALLS)
    ranks = call["data"].ndim, call["indices"].ndim
    beyond = {*ranks, min(ranks) + 1, -min(ranks) - 1, -ranks[0], -ranks[1], 2**32, -(2**31)}
    wrong = beyond - set(range(-min(ranks), min(ranks) + 1))
    return call | {"batch_dims": draw(st.sampled_from(sorted(wrong, key=abs)))}


@st.composite
def batch_dims_beyond_axis(draw: st.DrawFn) -> Call:
    """There are more batch dimensions than dimensions in front of the axis."""
    rank = draw(st.integers(1, 6))
    shape = draw(drawing.shapes(rank))
    batch = draw(st.integers(1, rank))
    indices_shape = shape[:batch] + draw(shapes_picked(draw(st.integers(0, 2))))
    return {
        "data": draw(drawing.arrays(shape, draw(drawing.ANY_TYPE))),
        "indices": np.zeros(indices_shape, draw(drawing.ANY_INTEGER)),
        "axis": draw(drawing.axes(draw(st.integers(0, batch - 1)), rank, np.dtype("i4"))),
        **draw(spellings(batch, rank, len(indices_shape))),
    }


@st.composite
def unequal_batches(draw: st.DrawFn) -> Call:
    """The indices differ from data in one of the batch dimensions, perhaps by a 1."""
    call = draw(calls(ranks=st.integers(2, 6), least=1))
    shape, batch_dims = list(call["indices"].shape), call["batch_dims"]
    batch = batch_dims + len(shape) if batch_dims < 0 else batch_dims
    axis = draw(st.integers(0, batch - 1))
    shape[axis] = draw(st.sampled_from(sorted({0, 1, shape[axis] + 1} - {shape[axis]})))
    return call | {"indices": np.zeros(shape, call["indices"].dtype)}


BREACHES = {
    "required-inputs": drawing.lacking(CALLS, "data", "indices", "axis"),
    "indices-type": drawing.with_changed(CALLS, "indices", drawing.changed_types),
    "axis-type": drawing.with_changed(CALLS, "axis", drawing.changed_types),
    "axis-shape": drawing.with_changed(CALLS, "axis", drawing.wrong_axis_shapes),
    "axis-range": axis_outside(),
    "batch-dims-range": batch_dims_outside(),
    "batch-dims-at-most-axis": batch_dims_beyond_axis(),
    "batch-shapes-equal": unequal_batches(),
}

SUBJECT = Subject(
    slug="gather-8",
    reference=gather_8,
    formula=oracles.gather_8,
    calls=calls,
    breaches=BREACHES,
)
