"""The levels that compare arguments of a call with one another and with its outputs."""

import pytest

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.tensor_functions import filled, vector
from opcert.cases.comparisons import EQUAL_OUTPUTS, EQUAL_SIZES
from opcert.cases.conditions import Conditions
from opcert.cases.properties import Properties
from opcert.diagnosis.table import Point
from tests.points import BROADCAST, SPECS, SPLIT, has, points

BUT_FOR_ONES = "the data and an output but for extents of 1"
RUNS = [f"the data and {which} axes of an output" for which in ("consecutive", "the last")]
LATER = "new_axis_mask after one of ellipsis_mask"


def split(lengths: tuple[int, ...]) -> list[Point]:
    """The levels of a call that splits the first axis of (5, 2)."""
    inputs = {"data": filled("f32", (5, 2)), "axis": vector("i64", (0,))}
    call = Call({**inputs, "split_lengths": vector("i64", lengths)}, {})
    return points(SPLIT, call, *((length, 2) for length in lengths))


@pytest.mark.parametrize(
    ("repeats", "level"), [((2,), "fewer"), ((2, 2), "as many"), ((2, 2, 2), "more")]
)
def test_a_list_has_as_many_elements_as_the_data_has_dimensions_or_not(
    repeats: tuple[int, ...], level: str
) -> None:
    call = Call({"data": filled("f32", (3, 3)), "repeats": vector("i64", repeats)}, {})
    for point in points("openvino/Tile-1", call, (6, 6)):
        assert point["repeats count"] == {level}


@pytest.mark.parametrize(
    ("lengths", "level"),
    [((2, 1, 2), "fewer"), ((3, 0, 0, 1, 1), "as many"), ((4, 0, 0, 0, 0, 1), "more")],
)
def test_a_list_has_as_many_elements_as_its_axis_has_or_not(
    lengths: tuple[int, ...], level: str
) -> None:
    for point in split(lengths):
        assert point["split_lengths amount"] == {level}


@pytest.mark.parametrize(("lengths", "expected"), [((2, 1, 2), True), ((5, 0, 0), False)])
def test_whether_two_outputs_have_one_shape_is_a_level(
    lengths: tuple[int, ...], expected: bool
) -> None:
    for point in split(lengths):
        assert ("two outputs with elements" in point[EQUAL_OUTPUTS]) is expected


@pytest.mark.parametrize(
    ("output", "equal"),
    [
        ((3, 2), {*RUNS, BUT_FOR_ONES}),
        ((3, 1, 2), {BUT_FOR_ONES}),
        ((2, 3, 2), {*RUNS}),
        ((3, 2, 4), {RUNS[0]}),
        ((2, 3), set()),
    ],
)
def test_what_an_output_has_of_the_shape_of_data_is_a_level(
    output: tuple[int, ...], equal: set[str]
) -> None:
    call = Call({"data": filled("f32", (3, 2)), "target_shape": vector("i64", output)}, {})
    for point in points(BROADCAST, call, output):
        assert point[EQUAL_OUTPUTS] == equal


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [((2, 3), {"indices and updates"}), ((3, 2), {"indices and updates"}), ((6, 2), set())],
)
def test_which_inputs_have_equally_many_elements_is_a_level_of_invalid_calls(
    shape: tuple[int, ...], sizes: set[str]
) -> None:
    indices = Tensor("i32", (2, 3), (0,) * 6)
    data = {"data": filled("f32", (5, 5)), "indices": indices, "updates": filled("f32", shape)}
    call = Call({**data, "axis": vector("i32", (0,))}, {})
    spec = SPECS["openvino/ScatterElementsUpdate-3"]
    assert Properties(Conditions(spec)).of_changed(call, ["updates"])[EQUAL_SIZES] == sizes


def test_where_the_marks_of_one_mask_come_after_those_of_another_is_a_level() -> None:
    lists = dict.fromkeys(("begin", "end"), vector("i64", (0, 0, 1)))
    masks = {"begin_mask": [1, 0, 0], "end_mask": [0, 0, 0], "new_axis_mask": [0, 1]}
    masks["ellipsis_mask"] = [1]
    call = Call({"data": filled("f32", (2, 2)), **lists}, masks)
    for point in points("openvino/StridedSlice-1", call, (2, 1, 1)):
        assert point["marks"] == {"new_axis_mask after one of begin_mask", LATER}


@pytest.mark.parametrize(
    ("a", "b", "levels"),
    [
        ((2, 3), (2, 3), set()),
        ((1, 3), (2, 3), {"a", "a along the first axis"}),
        ((2, 3), (2, 1), {"b", "b along the last axis"}),
        ((2, 1), (3,), {"a", "b", "several inputs"}),
    ],
)
def test_which_inputs_are_stretched_is_a_level(
    a: tuple[int, ...], b: tuple[int, ...], levels: set[str]
) -> None:
    call = Call({"a": filled("f32", a), "b": filled("f32", b)}, {})
    for point in points("openvino/Add-1", call, (2, 3)):
        assert levels <= point["stretched"]
        assert bool(levels) is bool(point["stretched"])


def test_the_axes_on_which_another_input_is_shorter_than_the_data_are_levels() -> None:
    tensors = {"data": filled("f32", (4, 5)), "updates": filled("f32", (4, 3))}
    indices = Tensor("i64", (4, 3), values=(0,) * 12)
    call = Call({**tensors, "indices": indices, "axis": vector("i64", (0,))}, {})
    point = points("openvino/ScatterElementsUpdate-3", call, (4, 5))[0]
    assert has(point, {"indices shorter": "last", "updates shorter": "any but the first"})
    assert "first" not in point["indices shorter"]
    assert has(point, {"indices shorter": "any but the operator's"})


def test_which_lists_have_fewer_elements_is_a_level() -> None:
    lists = {"begin": (0, 0), "end": (1, 1), "stride": (1, 1)}
    inputs = {name: vector("i64", values) for name, values in lists.items()}
    masks = {"begin_mask": [1], "end_mask": [1, 0]}
    call = Call({"data": filled("f32", (2, 3)), **inputs}, masks)
    point = points("openvino/StridedSlice-1", call, (1, 1))[0]
    assert "begin_mask than begin" in point["fewer elements"]
    assert "end_mask than begin" not in point["fewer elements"]


def test_a_stretched_axis_next_to_one_that_is_kept_is_a_level() -> None:
    inputs = {"data": filled("f32", (3, 1)), "target_shape": vector("i64", (3, 4))}
    point = points(BROADCAST, Call(inputs, {"mode": "numpy"}), (3, 4))[0]
    assert "data along an axis after one that it keeps" in point["stretched"]
    assert "data along an axis before one that it keeps" not in point["stretched"]


def test_matrices_are_stretched_along_the_axes_of_their_batches() -> None:
    inputs = {"a": filled("f32", (2, 1, 3, 4)), "b": filled("f32", (2, 5, 4, 6))}
    for point in points("openvino/MatMul-1", Call(inputs, {}), (2, 5, 3, 6)):
        assert "a along the second axis" in point["stretched"]
        assert "b" not in point["stretched"]


@pytest.mark.parametrize("shape", [(), (3,)])
def test_which_input_has_the_lower_rank_is_a_level(shape: tuple[int, ...]) -> None:
    inputs = {"a": filled("f32", shape), "b": filled("f32", (2, 3))}
    (point, *_) = points("openvino/Add-1", Call(inputs, {}), (2, 3))
    assert point["ranks"] == {"other in a than in b", "lower in a than in b"}


@pytest.mark.parametrize(
    ("to", "level"),
    [
        ("i32", {"wider in destination_type than in data"}),
        ("i8", {"narrower in destination_type than in data"}),
        ("f16", set()),
    ],
)
def test_whether_a_type_is_wider_than_that_of_the_data_is_a_level(to: str, level: set[str]) -> None:
    call = Call({"data": Tensor("i16", (1,), (3,))}, {"destination_type": to})
    assert points("openvino/Convert-1", call, (1,))[0]["widths"] == level


def test_which_lists_of_an_invalid_call_have_fewer_elements_is_a_level() -> None:
    lists = {"begin": (0,), "end": (1, 1), "stride": (1,)}
    inputs = {name: vector("i64", values) for name, values in lists.items()}
    call = Call({"data": filled("f32", (2, 3)), **inputs}, {"begin_mask": [], "end_mask": []})
    properties = Properties(Conditions(SPECS["openvino/StridedSlice-1"]))
    levels = properties.of_changed(call, {"end"})["fewer elements"]
    assert {"begin than end", "stride than end"} <= levels
    assert "begin than stride" not in levels
