"""Variadic inputs: flat inside opcert, one list where a call leaves it."""

from opcert.arrays.calls import (
    Call,
    Tensor,
    argument_of,
    flatten_variadic,
    group_variadic,
    keys_of,
    part_at,
    tensor_key,
)

ONE, TWO, THREE = (Tensor("f32", (n,)) for n in (1, 2, 3))
ORDER = ("x", "y")


def test_keys_name_the_argument_and_the_number() -> None:
    assert tensor_key("x", 12) == "x[12]"
    assert argument_of("x[12]") == argument_of("x") == "x"
    assert keys_of("x", {"x[0]": 1, "xy": 2, "x[1]": 3}) == ["x[0]", "x[1]"]


def test_grouping_undoes_flattening() -> None:
    grouped = {"x": [1, 2, 3], "y": 4}
    assert flatten_variadic(grouped) == {"x[0]": 1, "x[1]": 2, "x[2]": 3, "y": 4}
    assert group_variadic(flatten_variadic(grouped)) == grouped


def test_a_list_without_arrays_is_omitted() -> None:
    assert flatten_variadic({"x": [], "y": 4}) == {"y": 4}


def test_more_than_ten_tensors_keep_their_order() -> None:
    assert group_variadic(flatten_variadic({"x": [*range(30)]})) == {"x": [*range(30)]}


def test_a_call_has_a_tuple_of_tensors() -> None:
    call = Call({"x[0]": ONE, "x[1]": TWO}, {"y": [1]})
    assert call.arguments == {"x": (ONE, TWO), "y": [1]}


def test_one_tensor_is_replaced() -> None:
    call = Call({"x[0]": ONE, "x[1]": TWO}, {"y": [1]})
    assert call.changed("x[0]", THREE, ORDER).arguments["x"] == (THREE, TWO)


def test_all_tensors_are_replaced_or_omitted() -> None:
    call = Call({"x[0]": ONE, "x[1]": TWO}, {"y": [1]})
    assert call.changed("x", (THREE,), ORDER).inputs == {"x[0]": THREE}
    for nothing in (None, ()):
        assert call.changed("x", nothing, ORDER).arguments == {"y": [1]}


def test_an_empty_list_attribute_is_not_omitted() -> None:
    assert Call({"x[0]": ONE}, {"y": [1]}).changed("y", (), ORDER).attributes == {"y": []}


def test_a_part_is_found_by_position() -> None:
    assert [part_at([2, 0, 1], k) for k in range(3)] == [(0, 0), (0, 1), (2, 0)]
