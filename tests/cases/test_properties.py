"""Properties: the levels of finished calls, which causes of failures name."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.layouts import Layout
from opcert.arrays.tensor_functions import filled, vector
from opcert.cases.conditions import Conditions
from opcert.cases.properties import OUTPUT_EXTENTS, Properties
from opcert.suite.spec_check import valid_calls
from opcert.verdicts.condition_text import level_text
from tests import shipped
from tests.points import BROADCAST, GATHER, SLICE, SPECS, has, points, sliced

each_spec_at_length = shipped.at_length("name", zip(SPECS))


@pytest.mark.parametrize(
    ("rows", "length", "levels"),
    [
        (3, 12, ("9 to 16", "four times an odd number", "rectangular")),
        (8, 8, ("5 to 8", "a multiple of 8", "square")),
        (1, 0, ("0", None, "rectangular")),
    ],
)
def test_the_sizes_that_a_spec_names_and_square_matrices_are_levels(
    rows: int, length: int, levels: tuple[str | None, ...]
) -> None:
    call = Call({"a": filled("f32", (rows, length)), "b": filled("f32", (length, 2))}, {})
    for point in points("openvino/MatMul-1", call, (rows, 2)):
        found = point["length range"], point["length evenness"], point["a matrices"]
        assert [next(iter(names), None) for names in found] == [*levels]


@pytest.mark.parametrize(
    ("order", "moved"),
    [
        ((0, 1, 2), "no axis"),
        ((1, 0, 2), "no axis"),
        ((0, 2, 1), "an axis"),
        # The axes are reversed.
        ((), "an axis"),
    ],
)
def test_whether_a_permutation_moves_axes_of_several_elements_is_a_level(
    order: tuple[int, ...], moved: str
) -> None:
    call = Call({"arg": filled("f32", (1, 2, 3)), "input_order": vector("i64", order)}, {})
    output = tuple((1, 2, 3)[axis] for axis in order or (2, 1, 0))
    for point in points("openvino/Transpose-1", call, output):
        assert point["input_order moved"] == {f"{moved} of several elements"}


def test_what_is_computed_has_no_numbers_of_note_where_its_numbers_are_unknown() -> None:
    call = Call(dict.fromkeys("ab", filled("f32", (2,))), {})
    (point,) = points("openvino/Add-1", call, (2,))
    assert "a special" not in point


@pytest.mark.parametrize(
    ("call", "output", "levels"),
    [
        (sliced(start=4, stop=5), (1, 3), {"start value": "n - 1", "stop value": "n"}),
        (sliced(start=-6, stop=5), (5, 3), {"start region": "below -n", "step value": "1"}),
        (sliced(start=0, stop=3, axis=1), (5, 3), {"data axis": "last", "data length": "3"}),
        (sliced(start=0, stop=2), (2, 3), {"output length": "some of an axis"}),
        (sliced(start=2, stop=2), (0, 3), {"output length": "none of an axis"}),
        (sliced(start=2, stop=3), (1, 3), {"output length": "one of an axis"}),
        (sliced(start=0, stop=9), (5, 3), {"output length": "all of an axis"}),
        (sliced(start=0, stop=9, axis=-1), (5, 3), {"axes signs": "below 0"}),
        (sliced(start=0, stop=9), (5, 3), {"axes listed": "some axes"}),
        (
            sliced(start=0, stop=9),
            (5, 3),
            {OUTPUT_EXTENTS: "the extents of the data"},
        ),
    ],
)
def test_a_sliced_axis_is_a_point(
    call: Call, output: tuple[int, ...], levels: Mapping[str, str]
) -> None:
    (point,) = points(SLICE, call, output)
    assert has(point, levels)


@pytest.mark.parametrize(
    ("call", "levels"),
    [
        (sliced(start=4, stop=0, step=-3), {"step sign": "-2 or less", "start sign": "2 or more"}),
        (sliced(start=0, stop=2**31 - 1), {"stop value": "2^31 - 1", "data multiple": "odd"}),
        (sliced(start=0, stop=2), {"data axis": "any but the last", "data extents": "2 or more"}),
        (sliced(start=0, stop=2), {"equal shapes": "start and stop", "axes greatest": "1 or less"}),
        (sliced(start=0, stop=300), {"stop greatest": "257 to 1,023"}),
    ],
)
def test_what_a_person_would_say_of_a_call_is_a_level(
    call: Call, levels: Mapping[str, str]
) -> None:
    (point,) = points(SLICE, call, (2, 3))
    assert has(point, levels)


def test_the_axes_that_run_backwards_are_levels() -> None:
    data = replace(filled("f32", (5, 3)), layout=Layout(backwards=(1,)))
    call = sliced(start=0, stop=2)
    (point,) = points(SLICE, replace(call, inputs={**call.inputs, "data": data}), (2, 3))
    assert {"last", "second"} <= point["data backwards"]
    assert "first" not in point["data backwards"]


@pytest.mark.parametrize(("axis", "levels"), [(0, set()), (1, {"backwards in memory"})])
def test_how_the_sliced_axis_lies_in_memory_is_a_level(axis: int, levels: set[str]) -> None:
    data = replace(filled("f32", (5, 3)), layout=Layout(backwards=(1,)))
    call = sliced(start=0, stop=2, axis=axis)
    (point,) = points(SLICE, replace(call, inputs={**call.inputs, "data": data}), (2, 3))
    assert point["data along"] == levels


@pytest.mark.parametrize(
    ("element_type", "family", "size"),
    [
        ("bf16", "floats", "2 bytes"),
        ("i8", "signed integers", "1 byte"),
        ("u64", "unsigned integers", "8 bytes"),
    ],
)
def test_what_element_types_share_is_a_level(element_type: str, family: str, size: str) -> None:
    call = Call({"data": filled("boolean", (2,))}, {"destination_type": element_type})
    (point,) = points("openvino/Convert-1", call, (2,))
    assert point["destination_type family"] == {family}
    assert point["destination_type width"] == {f"elements of {size}"}
    assert point["data family"] == set()


def test_an_order_of_a_few_axes_is_a_level() -> None:
    call = Call({"arg": filled("f32", (2, 3, 4)), "input_order": vector("i64", (0, 2, 1))}, {})
    assert has(
        points("openvino/Transpose-1", call, (2, 4, 3))[0], {"input_order list": "[0, 2, 1]"}
    )


def test_each_axis_is_a_point_with_its_place_in_an_order() -> None:
    call = Call({"arg": filled("f32", (2, 3, 5)), "input_order": vector("i64", (0, 2, 1))}, {})
    found = {
        next(name for name in ("first", "last", "second") if name in point["arg axis"]): point
        for point in points("openvino/Transpose-1", call, (2, 5, 3))
    }
    assert has(
        found["first"], {"input_order place": "first", "arg multiple": "twice an odd number"}
    )
    assert has(found["last"], {"input_order place": "any but the last", "arg length": "5 to 8"})


def test_what_a_whole_call_has_is_a_level_at_each_of_its_points() -> None:
    call = Call(
        {
            "data": replace(filled("f32", (5, 5)), layout=Layout(backwards=(1,))),
            **{name: vector("i64", (0, 1)) for name in ("start", "stop")},
            "step": vector("i64", (1, 1)),
        },
        {},
    )
    both = points(SLICE, call, (0, 0))
    assert len(both) == 2
    for point in both:
        assert has(point, {"equal shapes": "start and stop", "data backwards": "last"})


def test_the_integers_of_an_invalid_call_are_levels() -> None:
    properties = Properties(Conditions(SPECS[SLICE]))
    call = sliced(start=0, stop=2, step=0, axis=-7)
    point = properties.of_changed(call, {"step", "axes"})
    assert has(point, {"step sign": "0", "axes signs": "below 0"})
    assert "stop sign" not in point


def test_an_invalid_string_is_a_level() -> None:
    call = Call({"data": filled("f32", (1,))}, {"mode": "none"})
    assert has(
        Properties(Conditions(SPECS[BROADCAST])).of_changed(call, {"mode"}), {"mode value": "none"}
    )


def test_an_omitted_argument_is_a_level() -> None:
    call = sliced(start=0, stop=1)
    inputs = {name: tensor for name, tensor in call.inputs.items() if name != "axes"}
    (point,) = points(SLICE, Call(inputs, {}), (1, 3))
    assert has(point, {"axes given": "omitted", "data axis": "first"})
    assert "axes rank" not in point


@pytest.mark.parametrize(
    ("axes", "level"),
    [((2, 0), "another axis"), ((1, 0), "no other axis"), ((1,), "no other axis")],
)
def test_a_gap_between_axes_is_a_level(axes: tuple[int, ...], level: str) -> None:
    call = Call({"data": filled("f32", (2, 3, 4)), "axes": vector("i64", axes)}, {})
    for point in points("openvino/ReduceSum-1", call, ()):
        assert has(point, {"axes between": level})


def test_what_lies_before_an_axis_and_after_it_are_levels() -> None:
    inputs = {"data": filled("f16", (4, 3, 2, 5)), "indices": vector("i32", (0,))}
    call = Call({**inputs, "axis": vector("i32", (1,))}, {"batch_dims": 0})
    (point,) = points(GATHER, call, (4, 1, 2, 5))
    levels = {"data outer": "4", "data inner": "9 to 16", "data bytes": "four times an odd number"}
    assert has(point, levels)


@pytest.mark.parametrize(
    ("slice_", "ends"),
    [
        ((0, 5, 2), {"with the first element", "with the last element"}),
        ((4, -9, -3), {"without the first element", "with the last element"}),
        ((-5, 4, 1), {"with the first element", "without the last element"}),
        ((2, 2, 1), {"without the first element", "without the last element"}),
    ],
)
def test_whether_a_slice_selects_the_ends_of_its_axis_is_a_level(
    slice_: tuple[int, int, int], ends: set[str]
) -> None:
    start, stop, step = slice_
    selected = len(range(5)[start:stop:step])
    (point,) = points(SLICE, sliced(start=start, stop=stop, step=step), (selected, 3))
    assert point["data slice"] == ends


def test_of_many_integers_the_first_in_each_region_has_a_point() -> None:
    # The ends and the middle have points in any case.
    indices = (0, 0, 0, -3, 2, 0, -1, *[0] * 13)
    inputs = {"data": filled("f16", (2, 3)), "indices": vector("i32", indices)}
    call = Call({**inputs, "axis": vector("i32", (0,))}, {"batch_dims": 0})
    levels = [point["indices region"] for point in points(GATHER, call, (20, 3))]
    assert {frozenset(["of n or more"]), frozenset(["from -n to -1"])} <= {*levels}
    once = {"indices region": "below -n", "indices rounds": "from -2n to -n - 1"}
    assert any(has(point, once) for point in points(GATHER, call, (20, 3)))


def test_what_is_among_the_numbers_of_a_list_that_the_spec_names_is_a_level() -> None:
    attributes = {"kernel": [2, 1], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
    call = Call({"data": filled("f32", (1, 1, 3, 4))}, {**attributes, "auto_pad": "same_lower"})
    for point in points("openvino/MaxPool-1", call, (1, 1, 3, 4)):
        assert point["missing special"] == {"0", "an odd number", "a number above 0"}


def test_how_great_a_number_of_an_attribute_is_is_a_level() -> None:
    inputs = {"data": Tensor("f32", (2,), values=(1.0, 2.0)), "axes": vector("i64", (0,))}
    attributes = {"eps": 0.125, "eps_mode": "inside_sqrt", "normalize_variance": True}
    point = points("openvino/MVN-6", Call(inputs, attributes), (2,))[0]
    assert has(point, {"eps range": "2^-4 to 1"})


def test_an_output_that_differs_on_two_axes_differs_on_several() -> None:
    pads = {"pads_begin": vector("i64", (1, 2)), "pads_end": vector("i64", (1, 0))}
    call = Call({"data": filled("f32", (5, 2)), **pads}, {"pad_mode": "edge"})
    for point in points("openvino/Pad-1", call, (7, 4)):
        assert has(point, {OUTPUT_EXTENTS: "other extents than the data on several axes"})


def test_an_invalid_axis_is_a_level_also_if_it_would_be_valid_after_adding_the_rank_twice() -> None:
    call = sliced(start=0, stop=9, axis=-3)
    levels = Properties(Conditions(SPECS[SLICE])).of_changed(call, {"axes"})
    assert has(levels, {"axes value": "-n - 1", "axes region": "below -n"})
    assert has(levels, {"axes rounds": "from -2n to -n - 1"})


@each_spec_at_length
def test_every_valid_call_has_a_point_whose_levels_have_words(name: str) -> None:
    properties, operator = Properties(Conditions(SPECS[name])), shipped.suite(name).operators[name]
    for case, call in valid_calls(operator).items():
        shapes = [output.shape for output in operator.cases[case].outputs]
        found = properties.points(call, shapes)
        assert found
        for factor, levels in found[0].items():
            assert all(len(level_text(factor, level)) > len(level) for level in levels)
