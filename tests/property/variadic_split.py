"""Calls of VariadicSplit-1, valid ones and those that break one of its rules."""

import numpy as np
from hypothesis import strategies as st

from opcert.reference.variadic_split import variadic_split_1
from tests.property import drawing, oracles
from tests.property.drawing import Call, Ranks, Types
from tests.property.subject import Subject


@st.composite
def calls(
    draw: st.DrawFn,
    dtypes: Types = drawing.ANY_TYPE,
    index_types: Types = drawing.ANY_INTEGER,
    ranks: Ranks = drawing.ANY_RANK,
    rests: st.SearchStrategy[bool] = drawing.EITHER,
) -> Call:
    """Valid calls; where `rests` is true and the type allows it, -1 replaces one of the lengths."""
    axis_type, length_type, rank = draw(index_types), draw(index_types), draw(ranks)
    shape = draw(drawing.shapes(rank))
    where = draw(st.integers(0, rank - 1))
    lengths = draw(drawing.parts(shape[where], np.iinfo(length_type).max))
    if drawing.fits(-1, length_type) and draw(rests):
        lengths[draw(st.integers(0, len(lengths) - 1))] = -1
    return {
        "data": draw(drawing.arrays(shape, draw(dtypes))),
        "axis": draw(drawing.axes(where, rank, axis_type)),
        "split_lengths": draw(drawing.vectors(lengths, length_type)),
    }


CALLS = calls()
WITHOUT_REST = calls(rests=st.just(False))


@st.composite
def axis_outside(draw: st.DrawFn) -> Call:
    """The axis is not one of data's, or data has none."""
    call = draw(CALLS)
    if draw(st.booleans()):
        return call | {"axis": draw(drawing.axes_outside(call["data"].ndim))}
    axis = draw(st.sampled_from([0, -1]))
    return call | {
        "data": draw(drawing.arrays((), call["data"].dtype)),
        "axis": np.array(axis, np.int32),
    }


@st.composite
def below_minus_one(draw: st.DrawFn) -> Call:
    """One length is -2 or less, and the sum of all is still right."""
    call = draw(WITHOUT_REST)
    lengths = call["split_lengths"].tolist()
    below = draw(st.sampled_from([2, 3, 128, 2**31]))
    lengths[draw(st.integers(0, len(lengths) - 1))] += below
    lengths.insert(draw(st.integers(0, len(lengths))), -below)
    return call | {"split_lengths": draw(drawing.vectors_of_any_type(lengths))}


@st.composite
def several_rests(draw: st.DrawFn) -> Call:
    """-1 occurs twice or three times among lengths that would do without it."""
    call = draw(WITHOUT_REST)
    rests = [-1] * draw(st.integers(2, 3))
    lengths = draw(st.permutations([*call["split_lengths"].tolist(), *rests]))
    return call | {"split_lengths": draw(drawing.vectors_of_any_type(lengths))}


@st.composite
def wrong_sum(draw: st.DrawFn) -> Call:
    """The lengths add up to more or less than the dimension, perhaps by what wraps to 0 or -1."""
    call = draw(WITHOUT_REST)
    lengths = call["split_lengths"].tolist()
    beyond = [[1], [64, 64, 64, 64], [128, 128], [2**8 - 1], [2**64 - 1]]
    wrong = [[*lengths, *more] for more in beyond]
    if any(lengths):
        wrong.append([length for length in lengths if length != max(lengths)])
    lengths = draw(st.sampled_from(wrong))
    return call | {"split_lengths": draw(drawing.vectors_of_any_type(lengths))}


@st.composite
def nothing_left(draw: st.DrawFn) -> Call:
    """-1 occurs with lengths that already exceed the dimension."""
    call = draw(WITHOUT_REST)
    beyond = draw(st.sampled_from([[1], [2], [64, 64, 64, 64]]))
    lengths = draw(st.permutations([*call["split_lengths"].tolist(), *beyond, -1]))
    return call | {"split_lengths": draw(drawing.vectors_of_any_type(lengths))}


BREACHES = {
    "required-inputs": drawing.lacking(CALLS, "data", "axis", "split_lengths"),
    "axis-type": drawing.with_changed(CALLS, "axis", drawing.changed_types),
    "axis-shape": drawing.with_changed(CALLS, "axis", drawing.wrong_axis_shapes),
    "axis-range": axis_outside(),
    "lengths-type": drawing.with_changed(CALLS, "split_lengths", drawing.changed_types),
    "lengths-rank": drawing.with_changed(CALLS, "split_lengths", drawing.changed_ranks),
    "lengths-not-below-minus-one": below_minus_one(),
    "one-minus-one": several_rests(),
    "lengths-sum": wrong_sum(),
    "lengths-leave-rest": nothing_left(),
}

SUBJECT = Subject(
    slug="variadic-split-1",
    reference=variadic_split_1,
    formula=oracles.variadic_split_1,
    calls=calls,
    breaches=BREACHES,
)
