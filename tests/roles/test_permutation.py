"""The role `permutation`: an operator that exchanges axes, and wrong implementations of it."""

from pathlib import Path

import pytest

from tests.roles.made_up import (
    assert_certified,
    assert_fails,
    assert_observed,
    holds,
    mistakes,
    read,
)

SPEC = """\
types: {T: [f32, u8]}
inputs:
  - {name: data, role: data, type: T, rank: [0, 5], text: Data.}
attributes:
  - {name: order, role: permutation, of: data, required: false, type: list, text: O.}
outputs:
  - name: moved
    type: T
    shape: "[data.shape[axis] for axis in (order or range(data.rank)[::-1])]"
    text: Data with its axes in another order.
rules:
  - {id: length, from: order.length, clause: O}
  - id: in-range
    from: order.range
    clause: O
  - {id: once, from: order.unique, clause: O}
  - {id: moved, clause: D, text: Axes change places., when: data.rank > 1}
"""
REFERENCE = """\
import numpy as np

from opcert.reference import require


def up(data, order=None):
    order = [*range(data.ndim)][::-1] if order is None else order
    require(len(order) == data.ndim, "up-1/length", f"{order}")
    require(all(0 <= axis < data.ndim for axis in order), "up-1/in-range", f"{order}")
    require(len(set(order)) == len(order), "up-1/once", f"{order}")
    return [np.transpose(data, order).copy()]
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the spec, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("suite"), SPEC, REFERENCE)


def test_built_calls_exhibit_their_levels(tmp_path: Path) -> None:
    orders = [
        (call.inputs["data"].rank, call.attributes.get("order"))
        for call in assert_observed(read(tmp_path, SPEC), rows=140)
    ]
    assert all(order is None or sorted(order) == [*range(rank)] for rank, order in orders)
    assert {order is None for _, order in orders} == {True, False}


def test_derived_requirements(tmp_path: Path) -> None:
    assert holds(read(tmp_path, SPEC)) == {
        "length": ("len(order) == data.rank", ()),
        "in-range": ("all(0 <= axis < data.rank for axis in order)", ("length",)),
        "once": ("len(set(order)) == len(order)", ("length",)),
    }


def test_a_tensor_has_a_type_a_rank_and_a_layout_too(tmp_path: Path) -> None:
    order = "{name: order, role: permutation, of: data, type: N, text: O.}"
    rules = [
        f"  - {{id: {rule}, from: order.{rule}, clause: O, unbreakable: Not of interest.}}\n"
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
    layouts = {call.inputs["order"].layout for call in assert_observed(spec, rows=150)}
    assert layouts == {"c", "reversed", "gapped"}


def test_an_empty_order_is_built_where_it_reverses_the_axes(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC.replace("of: data, required", "of: data, empty: reverses, required"))
    assert holds(spec)["length"] == ("len(order) in [0, data.rank]", ())
    orders = [
        (call.inputs["data"].rank, call.attributes.get("order"))
        for call in assert_observed(spec, rows=400)
    ]
    assert {rank for rank, order in orders if order == []} == {0, 1, 2, 3, 4, 5}
    assert all(not order or sorted(order) == [*range(rank)] for rank, order in orders)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("np.transpose(data, order)", "np.transpose(data, np.argsort(order))"),
        ("np.transpose(data, order)", "np.transpose(data).reshape([data.shape[d] for d in order])"),
        ("np.transpose(data, order)", "data.reshape([data.shape[d] for d in order])"),
        ("[::-1] if order is None", " if order is None"),
        ("order is None else", "order is None or data.ndim == 5 else"),
        ('require(len(set(order)) == len(order), "up-1/once", f"{order}")', "order[-1:] = [*{*range(data.ndim)} - {*order[:-1]}][:1]"),  # noqa: E501
    ],
)  # fmt: skip
def test_a_wrong_implementation_fails(old: str, new: str, suite: Path) -> None:
    assert_fails(suite, REFERENCE, old, new)


def test_an_attribute_that_is_no_list_is_a_mistake(tmp_path: Path) -> None:
    (mistake,) = mistakes(tmp_path, SPEC, "type: list", "type: int")
    text = "an attribute of type 'int' has no number for each axis"
    assert mistake.endswith(f": {text}; expected the type 'list', or a tensor")
