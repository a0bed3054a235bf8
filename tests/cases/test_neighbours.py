"""Neighbours: valid calls that differ from another in one respect."""

import pytest

from opcert.arrays.calls import Call, Tensor, flatten_variadic
from opcert.arrays.element_types import LAYOUTS
from opcert.arrays.patterns import MAX_STORED_BYTES
from opcert.arrays.tensor_functions import filled, scalar, tensor, vector, with_layout
from opcert.cases.neighbours import variations, with_other_data
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from tests.faults.finding import core_suite
from tests.shipped import spec

SUITE = core_suite()
DATA = filled("f32", (8, 9))


def call(*indices: int, data: Tensor = DATA, index_type: str = "i64", axis: int = 0) -> Call:
    return Call({"data": data, "indices": vector(index_type, indices)}, {"axis": axis})


def values(call: Call, name: str = "indices") -> tuple[bool | int | float, ...] | None:
    return call.inputs[name].values


def varied(respect: str, original: Call, *others: Call) -> list[Call]:
    """Return the neighbours of a call of Gather in one respect."""
    return [*variations(spec("Gather-8").spec, lambda _: [DATA])[respect](original, others)]


def test_there_is_a_variation_for_each_respect() -> None:
    assert set(variations(spec("Gather-8").spec, lambda _: [])) == {
        "other-data",
        "other-shape-of-data",
        "other-layout-of-data",
        "other-type-of-data",
        *(f"other-values-of-{name}" for name in ("indices", "axis")),
        *("other-type-of-T_IND", "other-type-of-T_AXIS"),
        *("other-batch_dims", "without-batch_dims"),
    }


def test_values_are_reversed_rotated_and_negated() -> None:
    neighbours = varied("other-values-of-indices", call(1, 2, 3))
    assert [values(neighbour) for neighbour in neighbours] == [(3, 2, 1), (2, 3, 1), (-1, -2, -3)]


def test_equal_values_give_no_neighbour() -> None:
    assert not varied("other-values-of-indices", call(0, 0, 0))
    assert not varied("other-values-of-indices", call())
    assert not varied("other-values-of-indices", call(4, 4, index_type="u8"))


def test_values_are_borrowed_from_other_calls() -> None:
    neighbours = varied("other-values-of-indices", call(0), call(0), call(7), call(9), call(7))
    assert [values(neighbour) for neighbour in neighbours] == [(7,), (9,)]


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
def test_values_of_another_type_or_shape_are_not_borrowed(other: Call) -> None:
    assert not varied("other-values-of-indices", call(0), other)


def test_a_shape_is_reversed_or_borrowed_from_a_call_of_the_same_rank() -> None:
    others = [call(0, data=filled("f32", shape)) for shape in ((8, 9), (3, 3), (7,), (999, 999))]
    neighbours = varied("other-shape-of-data", call(0), *others)
    assert [neighbour.inputs["data"].shape for neighbour in neighbours] == [(9, 8), (3, 3)]


def test_a_layout_is_any_other_that_makes_a_difference() -> None:
    neighbours = varied("other-layout-of-data", call(0))
    assert {neighbour.inputs["data"].layout for neighbour in neighbours} == {*LAYOUTS} - {
        "c",
        "permuted",
    }


def test_an_index_type_keeps_the_bytes_or_the_values() -> None:
    neighbours = varied("other-type-of-T_IND", call(-1, 2, index_type="i8"))
    read = [(neighbour.inputs["indices"].type, values(neighbour)) for neighbour in neighbours]
    assert read == [("u8", (255, 2)), *((name, (-1, 2)) for name in ("i16", "i32", "i64"))]


def test_an_attribute_is_borrowed_or_omitted() -> None:
    original = Call(call(0).inputs, {"batch_dims": 1})
    others = [Call(original.inputs, {"batch_dims": number}) for number in (1, 0, 2, 0)]
    neighbours = varied("other-batch_dims", original, *others, Call(original.inputs))
    assert [neighbour.attributes for neighbour in neighbours] == [
        {"batch_dims": 0},
        {"batch_dims": 2},
    ]
    assert [each.attributes for each in varied("without-batch_dims", original)] == [{}]
    assert not varied("without-batch_dims", Call(original.inputs))


@pytest.mark.parametrize("respect", variations(spec("Gather-8").spec, lambda _: [DATA]))
def test_everything_else_stays_the_same(respect: str) -> None:
    indices = with_layout(tensor("i32", (2, 2), (0, 1, 2, 3)), "fortran")
    original = Call({"data": DATA, "indices": indices, "axis": scalar("i8", 1)}, {"batch_dims": 1})
    inputs = {"data": filled("f16", (3, 4)), "indices": indices, "axis": scalar("i8", 0)}
    neighbours = varied(respect, original, Call(inputs, {"batch_dims": 0}))
    assert neighbours or "shape" in respect
    for neighbour in neighbours:
        same = [key for key in original.inputs if neighbour.inputs[key] is original.inputs[key]]
        assert len(same) + (neighbour.attributes == original.attributes) == 3


def test_tensors_with_values_keep_their_length_and_fit_their_type() -> None:
    tensors = [tensor("i16", (1, 2), values) for values in ((1, 2), (3, 300))]
    original = Call(flatten_variadic({"inputs": tensors}), {"axis": 0})
    by_name = variations(spec("Concat-1").spec, lambda _: [])
    assert not [*by_name["other-length-of-inputs"](original, [])]
    neighbours = by_name["other-type-of-inputs"](original, [])
    types = {neighbour.inputs["inputs[0]"].type for neighbour in neighbours}
    assert types >= {"i32", "u64", "f16"}
    assert types.isdisjoint({"i8", "u8", "boolean"})


def test_the_second_half_of_the_data_is_inverted() -> None:
    (neighbour,) = with_other_data(call(1), [DATA])
    assert neighbour.inputs["data"].second_half_inverted
    assert neighbour.signature == call(1).signature
    assert neighbour.inputs["indices"] == call(1).inputs["indices"]


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
def test_data_is_inverted_where_its_size_makes_it_worthwhile(data: Tensor, is_turned: bool) -> None:
    assert bool([*with_other_data(call(1, data=data), [data])]) == is_turned


def test_data_is_inverted_only_where_it_surely_reaches_an_output() -> None:
    half, more = filled("f32", (36,)), filled("f32", (37,))
    assert not [*with_other_data(call(1), [half])]
    assert [*with_other_data(call(1), [more])]
    assert [*with_other_data(call(1), [half, scalar("f32", 1)])]
    assert not [*with_other_data(call(1), [])]


@pytest.mark.parametrize("operator", SUITE.operators.values(), ids=[*SUITE.operators])
def test_neighbours_in_the_core_suite_follow_their_baseline(
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
def test_neighbours_in_the_core_suite_differ_in_one_argument(operator: OperatorSuite) -> None:
    for case in filter(lambda each: is_neighbour(each.id), operator.index.cases):
        own, other = (
            arguments(operator, operator.cases[case.baseline or ""]),
            arguments(operator, case),
        )
        changed = [name for name in {**own, **other} if own.get(name) != other.get(name)]
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
def test_the_core_suite_has_neighbours_of_each_variation(name: str) -> None:
    described = spec(name).spec
    cases = SUITE.operators[described.operator].cases
    names = {each.partition("/")[2].rpartition("-")[0] for each in cases if is_neighbour(each)}
    assert names == set(variations(described, lambda _: []))
