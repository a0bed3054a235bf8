"""Siblings: calls that differ from another in nothing by which a runtime may tell them apart."""

import pytest

from opcert.generator.arrays.calls import Call, Tensor, filled, laid_out, listed, scalar, tensor
from opcert.generator.arrays.patterns import STORED
from opcert.generator.cases.siblings import with_other_data, with_other_values
from opcert.generator.suite.operator_suite import OperatorSuite
from tests.faults.finding import core_suite

SUITE = core_suite()
DATA = filled("f32", (8, 9))


def call(*indices: int, data: Tensor = DATA, index_type: str = "i64", axis: int = 0) -> Call:
    return Call({"data": data, "indices": listed(index_type, indices)}, {"axis": axis})


def signature(one: Call) -> object:
    """What a runtime may take for the whole call: all but the values."""
    inputs = {name: (each.type, each.shape, each.laid) for name, each in one.inputs.items()}
    return inputs, dict(one.attributes)


def values(found: Call, name: str = "indices") -> tuple[bool | int | float, ...] | None:
    return found.inputs[name].values


def test_values_are_turned_round_and_moved_on() -> None:
    found = [*with_other_values(call(1, 2, 3), [])]
    assert [values(each) for each in found] == [(3, 2, 1), (2, 3, 1)]


def test_values_that_are_all_one_stay() -> None:
    assert not [*with_other_values(call(4, 4, 4), [])]
    assert not [*with_other_values(call(4), [])]
    assert not [*with_other_values(call(), [])]


def test_values_may_be_those_of_another_call() -> None:
    found = [*with_other_values(call(4), [call(4), call(7), call(9)])]
    assert [values(each) for each in found] == [(7,), (9,)]


@pytest.mark.parametrize(
    "other",
    [
        call(7, index_type="i32"),
        call(7, 7),
        Call({"data": DATA, "indices": scalar("i64", 7)}),
        Call({"data": DATA}),
    ],
    ids=["type", "length", "rank", "left out"],
)
def test_values_of_an_input_of_another_form_are_not_taken(other: Call) -> None:
    assert not [*with_other_values(call(4), [other])]


def test_nothing_but_the_values_of_one_input_differs() -> None:
    indices = laid_out(tensor("i32", (2, 2), (0, 1, 2, 3)), "fortran")
    one = Call({"data": DATA, "indices": indices, "axis": scalar("i8", 1)}, {"batch_dims": 1})
    other = Call({**one.inputs, "axis": scalar("i8", 0)}, {"batch_dims": 0})
    found = [*with_other_values(one, [other])]
    assert len(found) == 3
    for each in found:
        assert signature(each) == signature(one)
        changed = [name for name in one.inputs if each.inputs[name] != one.inputs[name]]
        assert len(changed) == 1
        assert each.inputs["data"] is DATA


def test_the_second_half_of_the_data_is_turned() -> None:
    (found,) = with_other_data(call(1), [DATA])
    assert found.inputs["data"].turned
    assert signature(found) == signature(call(1))
    assert found.inputs["indices"] == call(1).inputs["indices"]


@pytest.mark.parametrize(
    ("data", "is_turned"),
    [
        (filled("u8", (255,)), False),
        (filled("u8", (256,)), True),
        (filled("f64", (32,)), True),
        (filled("u8", (STORED,)), True),
        (filled("u8", (STORED + 1,)), False),
        (tensor("i64", (40,), tuple(range(40))), False),
    ],
    ids=["few bytes", "enough", "by width", "the most stored", "made", "values"],
)
def test_data_is_turned_where_a_look_at_its_beginning_does_not_tell(
    data: Tensor, is_turned: bool
) -> None:
    assert bool([*with_other_data(call(1, data=data), [data])]) == is_turned


def test_data_is_turned_only_where_it_is_sure_to_be_moved() -> None:
    half, more = filled("f32", (36,)), filled("f32", (37,))
    assert not [*with_other_data(call(1), [half])]
    assert [*with_other_data(call(1), [more])]
    assert [*with_other_data(call(1), [half, scalar("f32", 1)])]
    assert not [*with_other_data(call(1), [])]


@pytest.mark.parametrize("operator", SUITE.operators.values(), ids=[*SUITE.operators])
def test_siblings_of_the_core_suite_follow_the_call_that_they_are_like(
    operator: OperatorSuite,
) -> None:
    order = [*operator.cases]
    siblings = [case for case in operator.cases.values() if "/other-" in case.id]
    assert siblings
    for case in siblings:
        assert case.twin is not None
        between = order[order.index(case.twin) + 1 : order.index(case.id)]
        assert all(operator.cases[each].twin == case.twin for each in between)
        assert all("/other-" in each for each in between)
        one, other = operator.cases[case.twin], case
        assert other.attributes == one.attributes
        assert [*other.inputs] == [*one.inputs]
        forms = [[(e.type, e.shape, e.layout) for e in c.inputs.values()] for c in (one, other)]
        assert forms[0] == forms[1]
        arrays = [operator.inputs(each) for each in (one, other)]
        changed = [n for n in one.inputs if arrays[0][n].tobytes() != arrays[1][n].tobytes()]
        assert len(changed) == 1
