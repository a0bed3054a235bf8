"""Neighbours: calls that differ from another in one respect, whatever that may be."""

import pytest

from opcert.arrays import (
    LAYOUTS,
    MAX_STORED_BYTES,
    Call,
    Tensor,
    filled,
    tensor,
    vector,
    with_layout,
)
from opcert.arrays.tensor_functions import scalar
from opcert.cases.neighbours import ways_to_differ, with_other_data
from opcert.suite import IndexedCase, OperatorSuite
from tests.faults.finding import core_suite
from tests.shipped import spec

SUITE = core_suite()
DATA = filled("f32", (8, 9))


def call(*indices: int, data: Tensor = DATA, index_type: str = "i64", axis: int = 0) -> Call:
    return Call({"data": data, "indices": vector(index_type, indices)}, {"axis": axis})


def values(found: Call, name: str = "indices") -> tuple[bool | int | float, ...] | None:
    return found.inputs[name].values


def varied(way: str, one: Call, *others: Call) -> list[Call]:
    """The calls that differ from one in a thing that calls of Gather differ in."""
    return [*ways_to_differ(spec("Gather-8").spec, lambda _: [DATA])[way](one, others)]


def test_every_argument_may_differ_in_each_way_that_it_can() -> None:
    assert set(ways_to_differ(spec("Gather-8").spec, lambda _: [])) == {
        "other-data",
        "other-shape-of-data",
        "other-layout-of-data",
        "other-type-of-data",
        *(f"other-values-of-{name}" for name in ("indices", "axis")),
        *("other-type-of-T_IND", "other-type-of-T_AXIS"),
        *("other-batch_dims", "without-batch_dims"),
    }


def test_values_are_turned_round_moved_on_and_negated() -> None:
    found = varied("other-values-of-indices", call(1, 2, 3))
    assert [values(each) for each in found] == [(3, 2, 1), (2, 3, 1), (-1, -2, -3)]


def test_values_that_come_to_the_same_stay() -> None:
    assert not varied("other-values-of-indices", call(0, 0, 0))
    assert not varied("other-values-of-indices", call())
    assert not varied("other-values-of-indices", call(4, 4, index_type="u8"))


def test_values_may_be_those_of_another_call() -> None:
    found = varied("other-values-of-indices", call(0), call(0), call(7), call(9), call(7))
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
    assert not varied("other-values-of-indices", call(0), other)


def test_a_shape_is_its_own_backwards_or_another_s_of_the_rank() -> None:
    others = [call(0, data=filled("f32", shape)) for shape in ((8, 9), (3, 3), (7,), (999, 999))]
    found = varied("other-shape-of-data", call(0), *others)
    assert [each.inputs["data"].shape for each in found] == [(9, 8), (3, 3)]


def test_a_layout_is_any_other_that_comes_to_another() -> None:
    found = varied("other-layout-of-data", call(0))
    assert {each.inputs["data"].layout for each in found} == {*LAYOUTS} - {"c", "permuted"}


def test_a_type_has_the_same_bytes_or_the_same_values() -> None:
    found = varied("other-type-of-T_IND", call(-1, 2, index_type="i8"))
    read = [(each.inputs["indices"].type, values(each)) for each in found]
    assert read == [("u8", (255, 2)), *((name, (-1, 2)) for name in ("i16", "i32", "i64"))]


def test_an_attribute_is_another_call_s_or_left_out() -> None:
    one = Call(call(0).inputs, {"batch_dims": 1})
    others = [Call(one.inputs, {"batch_dims": number}) for number in (1, 0, 2, 0)]
    found = varied("other-batch_dims", one, *others, Call(one.inputs))
    assert [each.attributes for each in found] == [{"batch_dims": 0}, {"batch_dims": 2}]
    assert [each.attributes for each in varied("without-batch_dims", one)] == [{}]
    assert not varied("without-batch_dims", Call(one.inputs))


@pytest.mark.parametrize("way", ways_to_differ(spec("Gather-8").spec, lambda _: [DATA]))
def test_all_the_rest_stays(way: str) -> None:
    indices = with_layout(tensor("i32", (2, 2), (0, 1, 2, 3)), "fortran")
    one = Call({"data": DATA, "indices": indices, "axis": scalar("i8", 1)}, {"batch_dims": 1})
    inputs = {"data": filled("f16", (3, 4)), "indices": indices, "axis": scalar("i8", 0)}
    found = varied(way, one, Call(inputs, {"batch_dims": 0}))
    assert found or "shape" in way
    for each in found:
        same = [name for name in one.inputs if each.inputs[name] is one.inputs[name]]
        assert len(same) + (each.attributes == one.attributes) == 3


def test_the_second_half_of_the_data_is_turned() -> None:
    (found,) = with_other_data(call(1), [DATA])
    assert found.inputs["data"].second_half_inverted
    assert found.signature == call(1).signature
    assert found.inputs["indices"] == call(1).inputs["indices"]


@pytest.mark.parametrize(
    ("data", "is_turned"),
    [
        (filled("u8", (255,)), False),
        (filled("u8", (256,)), True),
        (filled("f64", (32,)), True),
        (filled("u8", (MAX_STORED_BYTES,)), True),
        (filled("u8", (MAX_STORED_BYTES + 1,)), False),
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
def test_neighbours_of_the_core_suite_follow_the_call_that_they_are_like(
    operator: OperatorSuite,
) -> None:
    order = [*operator.cases]
    neighbours = [each for each in order if is_neighbour(each)]
    assert neighbours
    for name in neighbours:
        baseline = operator.cases[name].baseline
        assert baseline is not None
        between = order[order.index(baseline) + 1 : order.index(name)]
        assert all(
            operator.cases[each].baseline == baseline and is_neighbour(each) for each in between
        )


@pytest.mark.parametrize("operator", SUITE.operators.values(), ids=[*SUITE.operators])
def test_neighbours_of_the_core_suite_differ_in_one_argument(operator: OperatorSuite) -> None:
    for case in filter(lambda each: is_neighbour(each.id), operator.index.cases):
        one, other = (
            arguments(operator, operator.cases[case.baseline or ""]),
            arguments(operator, case),
        )
        changed = [name for name in {**one, **other} if one.get(name) != other.get(name)]
        # Inputs of one type symbol change their type together.
        assert len(changed) == 1 or "/other-type-of-" in case.id, (case.id, changed)
        assert changed, case.id


def arguments(operator: OperatorSuite, case: IndexedCase) -> dict[str, object]:
    """What each argument of a case is: attributes, and inputs with form and elements."""
    arrays = operator.inputs(case)
    inputs = {
        name: (each.type, each.shape, each.layout, arrays[name].tobytes())
        for name, each in case.inputs.items()
    }
    return {**case.attributes, **inputs}


def is_neighbour(case: str) -> bool:
    return case.partition("/")[2].startswith(("other-", "without-"))


@pytest.mark.parametrize("name", ["Slice-8", "Gather-8"])
def test_the_core_suite_has_neighbours_of_each_way_that_calls_may_differ_in(name: str) -> None:
    described = spec(name).spec
    cases = SUITE.operators[described.operator].cases
    found = {each.partition("/")[2].rpartition("-")[0] for each in cases if is_neighbour(each)}
    assert found == set(ways_to_differ(described, lambda _: []))
