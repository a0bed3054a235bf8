"""The role `permutation`: an operator that exchanges axes, and wrong implementations of it."""

from pathlib import Path

from opcert.arrays.layouts import Layout
from tests.roles.made_up import SPECS, holds, random_calls, read

SPEC = SPECS["permutation"]


def test_orders_are_permutations_or_omitted(tmp_path: Path) -> None:
    orders = [
        (call.inputs["data"].rank, call.attributes.get("order"))
        for call in random_calls(read(tmp_path, SPEC), 150)
    ]
    assert all(order is None or sorted(order) == [*range(rank)] for rank, order in orders)
    assert {order is None for _, order in orders} == {True, False}


def test_a_tensor_has_a_type_a_rank_and_a_layout_too(tmp_path: Path) -> None:
    order = "{name: order, role: permutation, of: data, type: N, text: O.}"
    rules = [
        f"  - {{id: {rule}, from: order.{rule}, clause: O}}\n"
        for rule in ("type", "rank", "length", "range", "unique")
    ]
    spec = read(
        tmp_path,
        f"types: {{T: [f32], N: integer}}\ninputs:\n"
        f"  - {{name: data, role: data, type: T, rank: [0, 3], text: D.}}\n  - {order}\n"
        f"outputs: [{{name: moved, type: T, shape: data.shape, text: M.}}]\n"
        f"rules:\n{''.join(rules)}",
    )
    form = ("type", "rank")
    assert holds(spec)["length"] == ("order.size == data.rank", form)
    assert holds(spec)["unique"][1] == (*form, "length")
    layouts = {call.inputs["order"].layout for call in random_calls(spec, 150)}
    assert layouts >= {Layout(), Layout(backwards=(0,)), Layout(gaps=(1,)), Layout(offset=1)}


def test_an_empty_order_is_built_where_it_reverses_the_axes(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC.replace("of: data, required", "of: data, empty: reverses, required"))
    assert holds(spec)["length"] == ("len(order) in [0, data.rank]", ())
    orders = [
        (call.inputs["data"].rank, call.attributes.get("order")) for call in random_calls(spec, 400)
    ]
    assert {rank for rank, order in orders if order == []} == {0, 1, 2, 3, 4, 5}
    assert all(not order or sorted(order) == [*range(rank)] for rank, order in orders)
