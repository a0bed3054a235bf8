"""Calls before they have arrays, and the functions that build and change their tensors."""

import pytest

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.tensor_functions import (
    TENSOR_BUILDERS,
    TENSOR_CHANGES,
    filled,
    scalar,
    tensor,
    vector,
    with_shape,
    with_type,
    with_values,
)
from opcert.errors import Inapplicable

DATA = filled("f32", (2, 3))
AXES = vector("i8", (0, -1))
ORDER = ("data", "axes", "mode", "sizes")
CALL = Call({"data": DATA, "axes": AXES}, {"mode": "numpy", "sizes": [1, 2]})


@pytest.mark.parametrize(
    ("shape", "rank", "size"), [((), 0, 1), ((0,), 1, 0), ((2, 3, 4), 3, 24), ((2, 0), 2, 0)]
)
def test_a_tensor_knows_its_rank_and_size(shape: tuple[int, ...], rank: int, size: int) -> None:
    tensor = filled("u8", shape)
    assert (tensor.rank, tensor.size) == (rank, size)


def test_a_filled_tensor_has_no_values_of_its_own() -> None:
    assert filled("f16", (2, 2)) == Tensor("f16", (2, 2), None)


def test_builders_give_tensors_of_values() -> None:
    assert vector("i32", (4, 5, 6)) == Tensor("i32", (3,), (4, 5, 6))
    assert vector("i32", ()) == Tensor("i32", (0,), ())
    assert scalar("u8", 255) == Tensor("u8", (), (255,))
    assert tensor("i64", (2, 1), (7, 8)) == Tensor("i64", (2, 1), (7, 8))


@pytest.mark.parametrize(
    ("element_type", "value"), [("i8", 128), ("i8", -129), ("u8", -1), ("u64", 2**64)]
)
def test_a_value_out_of_range_of_its_integer_type_is_inapplicable(
    element_type: str, value: int
) -> None:
    with pytest.raises(Inapplicable, match=rf"\[{value}\] does not fit {element_type}"):
        scalar(element_type, value)


def test_values_that_do_not_fill_the_shape_are_inapplicable() -> None:
    with pytest.raises(Inapplicable, match=r"3 values for the shape \[2, 2\]"):
        tensor("i32", (2, 2), (1, 2, 3))


def test_other_values_keep_a_shape_that_they_fill_and_become_a_vector_otherwise() -> None:
    column = tensor("i16", (2, 1), (1, 2))
    assert with_values(column, (3, 4)) == Tensor("i16", (2, 1), (3, 4))
    assert with_values(column, (3, 4, 5)) == Tensor("i16", (3,), (3, 4, 5))
    assert with_values(scalar("i16", 1), (9,)) == Tensor("i16", (), (9,))


def test_other_values_must_fit_the_type() -> None:
    with pytest.raises(Inapplicable, match="does not fit u8"):
        with_values(vector("u8", (1,)), (-1,))


def test_another_type_keeps_shape_pattern_and_values() -> None:
    patterned = Tensor("f32", (2,), pattern="case|data")
    assert with_type(patterned, "i8") == Tensor("i8", (2,), pattern="case|data")
    assert with_type(tensor("i64", (1, 2), (3, 4)), "f32") == Tensor("f32", (1, 2), (3, 4))


@pytest.mark.parametrize(
    ("value", "element_type"),
    [
        (300, "u8"),
        (-1, "u64"),
        (2, "boolean"),
        (-1, "boolean"),
        (70000, "f16"),
        (500, "f8e4m3"),
        (60000, "f8e5m2"),
    ],
)
def test_another_type_is_inapplicable_where_a_value_does_not_fit(
    value: int, element_type: str
) -> None:
    with pytest.raises(Inapplicable, match=rf"\[{value}\] does not fit {element_type}"):
        with_type(vector("i64", (value,)), element_type)


@pytest.mark.parametrize(
    ("value", "element_type"),
    [(1, "boolean"), (65504, "f16"), (-65504, "f16"), (448, "f8e4m3"), (57344, "f8e5m2")],
)
def test_another_type_accepts_its_greatest_value(value: int, element_type: str) -> None:
    assert with_type(vector("i64", (value,)), element_type).values == (value,)


@pytest.mark.parametrize("element_type", ["i32", "boolean", "f16"])
def test_a_fraction_has_no_other_type(element_type: str) -> None:
    with pytest.raises(Inapplicable, match=r"\[0\.5\] does not fit"):
        with_type(Tensor("f32", (1,), (0.5,)), element_type)


def test_another_shape_keeps_pattern_and_values() -> None:
    patterned = Tensor("f32", (2, 3), pattern="case|data")
    assert with_shape(patterned, (9, 9)) == Tensor("f32", (9, 9), pattern="case|data")
    assert with_shape(vector("i8", (1, 2)), (2, 1)) == Tensor("i8", (2, 1), (1, 2))


def test_another_shape_is_inapplicable_where_the_values_do_not_fill_it() -> None:
    with pytest.raises(Inapplicable, match=r"2 values for the shape \[3\]"):
        with_shape(vector("i8", (1, 2)), (3,))


def test_attributes_of_a_call_are_plain_lists_and_mappings() -> None:
    call = Call({}, {"sizes": (1, (2, 3)), "outputs": ({"Sizes": (4,)},), "mode": "numpy"})
    assert call.attributes == {"sizes": [1, [2, 3]], "outputs": [{"Sizes": [4]}], "mode": "numpy"}


def test_a_changed_call_differs_in_one_argument_and_shares_the_others() -> None:
    changed = CALL.changed("axes", vector("i8", (1,)), ORDER)
    assert changed.inputs["axes"].values == (1,)
    assert changed.inputs["data"] is DATA
    assert changed.attributes == CALL.attributes
    assert list(changed.inputs) == ["data", "axes"]
    changed = CALL.changed("mode", "explicit", ORDER)
    assert list(changed.attributes.items()) == [("mode", "explicit"), ("sizes", [1, 2])]
    assert changed.inputs == CALL.inputs
    for name in ("axes", "mode"):
        omitted = CALL.changed(name, None, ORDER)
        assert {**omitted.inputs, **omitted.attributes}.keys() == {*ORDER} - {name}
    # The original is as it was.
    assert list(CALL.inputs) == ["data", "axes"]
    assert CALL.attributes["mode"] == "numpy"


def test_omitting_an_absent_argument_changes_nothing() -> None:
    assert CALL.changed("steps", None, ORDER) == CALL


def test_an_omitted_argument_can_be_added() -> None:
    omitted = CALL.changed("axes", None, ORDER).changed("mode", None, ORDER)
    assert list(omitted.changed("axes", AXES, ORDER).inputs) == ["data", "axes"]
    assert list(omitted.changed("mode", "numpy", ORDER).attributes) == list(CALL.attributes)


def test_expressions_call_builders_and_changes_by_their_own_names() -> None:
    assert set(TENSOR_BUILDERS) == {"filled", "tensor", "vector", "scalar"}
    assert set(TENSOR_CHANGES) == {"with_values", "with_type", "with_shape"}
