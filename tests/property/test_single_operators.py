"""What one operator alone has: modes, batches, bounds that clamp, outputs that are described."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property import broadcasting, dml_split, drawing, gathering, slicing, variadic_split
from tests.property.drawing import Call
from tests.property.oracles import described


def test_no_lengths_split_an_empty_axis_into_nothing() -> None:
    call = {"data": np.ones((2, 0)), "axis": np.array(1), "split_lengths": np.array([], np.int32)}
    subject = variadic_split.SUBJECT
    assert subject.reference(**call) == subject.formula(**call) == []


@drawing.MANY
@given(call=dml_split.CALLS)
def test_every_output_is_what_its_description_says(call: Call) -> None:
    outputs = [
        (list(output.shape), dml_split.NAMES[output.dtype])
        for output in dml_split.SUBJECT.reference(**call)
    ]
    assert outputs == [
        (descriptor["Sizes"], descriptor["DataType"]) for descriptor in call["OutputTensors"]
    ]


@drawing.MANY
@given(call=slicing.calls(ranks=st.just(1), listed=st.just(False)))
def test_every_bound_on_one_dimension_clamps_as_python_does(call: Call) -> None:
    assert slicing.SUBJECT.outputs(call) == slicing.SUBJECT.formula(**call)


@drawing.MANY
@given(call=slicing.without_slices())
def test_no_slices_leave_data_whole(call: Call) -> None:
    assert slicing.SUBJECT.outputs(call) == [described(call["data"])]


@pytest.mark.parametrize("mode", ["numpy", "explicit"])
@pytest.mark.parametrize("rank", range(9))
@drawing.FEW
@given(drawn=st.data())
def test_every_rank_is_filled_in_either_mode(rank: int, mode: str, drawn: st.DataObject) -> None:
    call = drawn.draw(broadcasting.calls(ranks=st.just(rank), modes=st.just(mode)))
    assert broadcasting.SUBJECT.outputs(call) == broadcasting.SUBJECT.formula(**call)


@drawing.MANY
@given(call=gathering.calls(ranks=st.integers(2, 5), least=1))
def test_batches_are_gathered_by_the_formula(call: Call) -> None:
    assert gathering.SUBJECT.outputs(call) == gathering.SUBJECT.formula(**call)
