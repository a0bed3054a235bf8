"""VariadicSplit-1: the reference against the document's formula and rules."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcert.reference import RuleBroken
from opcert.reference.variadic_split import variadic_split_1
from tests.property import drawing, oracles
from tests.property.drawing import Call, DType, Ranks, Types
from tests.property.oracles import described


@st.composite
def calls(
    draw: st.DrawFn,
    dtypes: Types = drawing.ANY_TYPE,
    index_types: Types = drawing.ANY_INTEGER,
    ranks: Ranks = drawing.ANY_RANK,
    rests: st.SearchStrategy[bool] = drawing.EITHER,
) -> Call:
    """Valid calls; where `rests` says so and the type allows, -1 stands for one of the lengths."""
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
    """-1 stands twice or three times among lengths that would do without it."""
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
    """-1 stands beside lengths that exceed the dimension already."""
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


@pytest.mark.parametrize("dtype", drawing.DATA_TYPES, ids=str)
@drawing.FEW
@given(drawn=st.data())
def test_every_data_type_is_split_by_the_formula(dtype: DType, drawn: st.DataObject) -> None:
    call = drawn.draw(calls(dtypes=st.just(dtype)))
    assert [*map(described, variadic_split_1(**call))] == oracles.variadic_split_1(**call)


@pytest.mark.parametrize("index_type", drawing.INTEGER_TYPES, ids=str)
@drawing.FEW
@given(drawn=st.data())
def test_every_integer_type_states_axis_and_lengths(
    index_type: DType, drawn: st.DataObject
) -> None:
    call = drawn.draw(calls(index_types=st.just(index_type)))
    assert [*map(described, variadic_split_1(**call))] == oracles.variadic_split_1(**call)


@pytest.mark.parametrize("rank", range(1, 9))
@drawing.FEW
@given(drawn=st.data())
def test_every_rank_is_split_by_the_formula(rank: int, drawn: st.DataObject) -> None:
    call = drawn.draw(calls(ranks=st.just(rank)))
    assert [*map(described, variadic_split_1(**call))] == oracles.variadic_split_1(**call)


def test_no_lengths_split_an_empty_axis_into_nothing() -> None:
    call = {"data": np.ones((2, 0)), "axis": np.array(1), "split_lengths": np.array([], np.int32)}
    assert variadic_split_1(**call) == oracles.variadic_split_1(**call) == []


@drawing.MANY
@given(call=CALLS)
def test_no_output_shares_memory(call: Call) -> None:
    assert not drawing.shared_memory(call, variadic_split_1(**call))


@drawing.MANY
@given(call=CALLS)
def test_inputs_stay_as_they_were(call: Call) -> None:
    before = drawing.snapshot(call)
    variadic_split_1(**call)
    assert drawing.snapshot(call) == before


@pytest.mark.parametrize("rule", BREACHES)
@drawing.FEW
@given(drawn=st.data())
def test_a_breach_is_rejected_by_the_rule_it_breaks(rule: str, drawn: st.DataObject) -> None:
    call = drawn.draw(BREACHES[rule])
    with pytest.raises(RuleBroken) as rejection:
        variadic_split_1(**call)
    assert rejection.value.rule == f"variadic-split-1/{rule}"


def test_every_rule_of_the_reference_has_a_breach() -> None:
    assert drawing.rules_beside(variadic_split_1) <= BREACHES.keys()
