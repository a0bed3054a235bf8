"""The levels of integers that concern an axis each: each element of a list is a point."""

from typing import Any

import pytest

from opcert.arrays.calls import Call
from opcert.arrays.tensor_functions import filled, vector
from tests.points import BROADCAST, GATHER, JOIN, SLICE, SPLIT, has, points, sliced

SHRINK = Call(
    {"data": filled("f32", (1,)), **dict.fromkeys(("begin", "end"), vector("i64", (0,)))},
    {"begin_mask": [0], "end_mask": [0], "shrink_axis_mask": [1]},
)


def test_a_mark_is_no_number_that_compares_with_others() -> None:
    (point,) = points("openvino/StridedSlice-1", SHRINK, ())
    assert point["shrink_axis_mask value"] == {"1"}
    assert "begin region" in point
    assert "shrink_axis_mask region" not in point
    assert point["begin equality"] == {"equal to end"}
    assert "1 - n" in point["begin value"]


@pytest.mark.parametrize(
    ("stop", "levels"),
    [
        (127, set()),
        (128, {"above 2^7 - 1"}),
        (1 << 31, {f"above 2^{bits} - 1" for bits in (7, 15, 31)}),
        (-(1 << 15) - 1, {f"below -2^{bits}" for bits in (7, 15)}),
    ],
)
def test_an_integer_past_a_narrower_type_is_a_level(stop: int, levels: set[str]) -> None:
    (point,) = points(SLICE, sliced(start=0, stop=stop), (2, 3))
    assert point["stop past"] == levels


def test_each_of_a_few_indices_is_a_point_with_its_place() -> None:
    inputs = {"data": filled("f32", (50, 2)), "indices": vector("i32", (0, 49, -1))}
    call = Call({**inputs, "axis": vector("i32", (0,))}, {"batch_dims": 0})
    values = [point["indices value"] for point in points(GATHER, call, (3, 2))]
    assert [set(names) for names in values] == [{"0"}, {"n - 1"}, {"-1"}]
    assert has(points(GATHER, call, (3, 2))[2], {"indices place": "last"})


def test_of_many_indices_the_least_and_the_greatest_are_points() -> None:
    indices = [1] * 20
    indices[7], indices[13] = -5, 4
    inputs = {"data": filled("f32", (5, 2)), "indices": vector("i32", tuple(indices))}
    call = Call({**inputs, "axis": vector("i32", (0,))}, {})
    found = points(GATHER, call, (20, 2))
    for value in ("-n", "n - 1"):
        assert any(value in point["indices value"] for point in found)


def test_a_length_belongs_to_its_output() -> None:
    inputs = {"data": filled("f32", (5,)), "axis": vector("i32", (0,))}
    call = Call({**inputs, "split_lengths": vector("i32", (5, -1))}, {})
    rest = points(SPLIT, call, (5,), (0,))[1]
    assert has(rest, {"split_lengths before": "other elements", "split_lengths after": "nothing"})
    assert has(rest, {"split_lengths value": "-1", "output length": "none of an axis"})
    assert has(rest, {"split_lengths positive": "1"})


def test_equality_of_the_elements_of_two_lists_of_one_role_is_a_level() -> None:
    pads = {"pads_begin": vector("i64", (1, 2)), "pads_end": vector("i64", (1, 0))}
    call = Call({"data": filled("f32", (5, 2)), **pads}, {"pad_mode": "edge"})
    first, last = points("openvino/Pad-1", call, (7, 4))
    assert has(first, {"pads_begin equality": "equal to pads_end"})
    assert has(last, {"pads_begin equality": "other than pads_end"})
    assert has(last, {"pads_begin equality": "above pads_end"})


@pytest.mark.parametrize(
    ("step", "levels"),
    [
        (3, ("no power of 2", "does not divide n", "does not divide stop")),
        (4, ("a power of 2", "divides n - 1", "divides stop")),
        (-1, ("a power of 2", "divides n", "divides stop")),
    ],
)
def test_what_an_integer_divides_is_a_level(step: int, levels: tuple[str, ...]) -> None:
    (point,) = points(SLICE, sliced(start=0, stop=8, step=step), (2, 3))
    power, *divisions = levels
    assert has(point, {"step power": power})
    assert {*divisions} <= point["step divisor"]


def test_with_which_number_a_list_begins_and_ends_is_a_level() -> None:
    inputs = {"data": filled("f32", (2,)), "repeats": vector("i64", (1, 3, 0))}
    point = points("openvino/Tile-1", Call(inputs, {}), (1, 3, 0))[0]
    ends = {"with 1 at the beginning", "with 0 at the end", "different at both ends"}
    assert point["repeats ends"] == ends


def test_a_single_element_is_like_all_others() -> None:
    call = Call({"data": filled("f32", (2,)), "repeats": vector("i64", (3,))}, {})
    assert points("openvino/Tile-1", call, (6,))[0]["repeats order"] == {"all alike"}


def test_a_number_on_either_side_of_an_axis_is_a_level() -> None:
    pads = {"pads_begin": vector("i64", (0,)), "pads_end": vector("i64", (4,))}
    (point,) = points("openvino/Pad-1", Call({"data": filled("f32", (5,)), **pads}, {}), (9,))
    assert has(point, {"pads_begin or pads_end value": "0"})
    assert has(point, {"pads_begin or pads_end value": "n - 1"})
    assert not any(" or " in factor for factor in points(SLICE, sliced(start=0, stop=2), (2, 3))[0])


@pytest.mark.parametrize(("before", "sum_"), [(0, "below n"), (1, "equal to n"), (2, "above n")])
def test_how_much_is_added_on_both_sides_of_an_axis_is_a_level(before: int, sum_: str) -> None:
    pads = {"pads_begin": vector("i64", (before,)), "pads_end": vector("i64", (4,))}
    call = Call({"data": filled("f32", (5,)), **pads}, {})
    (point,) = points("openvino/Pad-1", call, (9 + before,))
    assert point["pads_begin and pads_end sum"] == {sum_}


def test_a_target_belongs_to_the_axis_that_it_stretches() -> None:
    inputs = {"data": filled("f32", (1, 3)), "target_shape": vector("i64", (7, 4, 3))}
    stretched, kept = points(BROADCAST, Call(inputs, {"mode": "numpy"}), (7, 4, 3))
    assert has(stretched, {"target_shape value": "4", "target_shape region": "of n or more"})
    assert has(kept, {"target_shape value": "n", "mode value": "numpy"})


def test_each_joined_tensor_is_a_point() -> None:
    tensors = {f"InputTensors[{k}]": filled("f32", (k, 2)) for k in range(3)}
    sizes = {"Sizes": [3, 2], "DataType": "FLOAT32"}
    attributes: dict[str, Any] = {"InputCount": 3, "OutputTensor": sizes, "Axis": 0}
    found = points(JOIN, Call(tensors, attributes), (3, 2))
    assert has(found[0], {"InputTensors number": "3", "InputTensors place": "first"})
    assert has(found[0], {"InputTensors empty": "first"})
    assert "last" not in found[0]["InputTensors empty"]
