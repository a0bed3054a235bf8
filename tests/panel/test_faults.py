"""Generic faults: each makes a difference where its text says so, and nowhere else."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from opcert.arrays.element_types import LAYOUTS, Array, copy_in_layout
from opcert.panel.argument_faults import argument_faults, integer_faults, requirement_faults
from opcert.panel.data_faults import data_faults, layout_of
from opcert.panel.fault import ArrayCall, Fault, OperatorSignature, Outputs
from opcert.panel.output_faults import output_faults
from opcert.reference.rules import require
from opcert.specification.model import Spec

MOVE = Spec.model_validate(
    {
        "operator": "example/Move-1",
        "slug": "move-1",
        "version": 1,
        "document": {"title": "Move", "version": "1"},
        "reference": "move.py:move",
        "types": {"T": ["f32", "i8"], "T_INT": ["i64"]},
        "inputs": (
            {"name": "data", "type": "T", "required": True, "text": "Rows.", "rank": ("1", "2")},
            {"name": "rows", "type": "T_INT", "required": True, "text": "Which.", "rank": (1, 1)},
        ),
        "attributes": (
            {
                "name": "mode",
                "type": "string",
                "required": False,
                "default": "plain",
                "one_of": ("plain", "twice"),
                "text": "Once or twice.",
            },
        ),
        "outputs": ({"name": "output", "type": "T", "shape": "data.shape", "text": "Rows."},),
        "rules": (
            {
                "id": "rows-range",
                "kind": "requirement",
                "clause": "Inputs",
                "text": "Rows are there.",
                "holds": "True",
            },
        ),
    },
    strict=False,
)
SIGNATURE = OperatorSignature(
    MOVE,
    ("data",),
    {"data": (1, 2), "rows": (1,)},
    {"data": ("f32", "i8"), "rows": ("i64",)},
)


def move(call: ArrayCall) -> list[Array]:
    """Take rows of data, once or twice; a negative one counts from the end."""
    data, rows = call.inputs["data"], call.inputs["rows"]
    is_in_range = all(-len(data) <= row < len(data) for row in rows.tolist())
    require(is_in_range, "move-1/rows-range", f"rows {rows}")
    outputs = [data[[*rows.tolist()]].copy()]
    return outputs * (2 if call.attributes.get("mode") == "twice" else 1)


def faults() -> dict[str, Fault]:
    made = [
        fault
        for make in (
            requirement_faults,
            argument_faults,
            integer_faults,
            data_faults,
            output_faults,
        )
        for fault in make(SIGNATURE)
    ]
    by_name = {fault.name: fault for fault in made}
    assert len(by_name) == len(made)
    return by_name


FAULTS = faults()


def call(rows: Sequence[int], data: Array | None = None, **attributes: Any) -> ArrayCall:
    array = np.arange(1, 7, dtype=np.float32) if data is None else data
    return ArrayCall({"data": array, "rows": np.array(rows, np.int64)}, attributes)


def result(name: str, *calls: ArrayCall) -> Any:
    """Return the result of the last of some calls with a fault."""
    run = FAULTS[name].start()
    results = []
    with np.errstate(all="ignore"):
        for array_call in calls:
            try:
                results.append(run(array_call, move))
            except ValueError as error:
                results.append(error)
    return results[-1]


def differs(name: str, *calls: ArrayCall) -> bool:
    """Whether the last call has another result than the reference's."""

    def form(outputs: Any) -> object:
        if not isinstance(outputs, list):
            return type(outputs)
        return [(output.dtype, output.shape, output.tobytes()) for output in outputs]

    try:
        expected: Outputs | ValueError = move(calls[-1])
    except ValueError as error:
        expected = error
    actual = result(name, *calls)
    return actual is not None and form(actual) != form(expected)


NAN = np.array([np.nan, -0.0, 1e-40], np.float32)
NAN[:1].view(np.uint32)[:] = 0xFFC00005
BILLION = np.array([1e9], np.float32)
FORTRAN = copy_in_layout(np.arange(6, dtype=np.float32).reshape(2, 3), "fortran")


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("rows-range-unchecked", call([6]), call([5])),
        ("rows-cut-to-8-bits", call([256]), call([1])),
        ("rows-cut-to-32-bits", call([1 << 32]), call([-1])),
        ("rows-clamped-to-16-bits", call([40000], np.zeros(32768, np.int8)), call([1])),
        ("rows-without-sign", call([-1]), call([1])),
        ("rows-without-sign-checked", call([-1]), call([1])),
        ("rows-at-least-zero", call([-9]), call([1])),
        ("rows-negative-one-high", call([-2]), call([1])),
        ("rows-first-ignored", call([1, 2]), call([1])),
        ("rows-middle-ignored", call([1, 2, 3]), call([1, 3])),
        ("rows-four-read", call([0, 1, 2, 3, 4]), call([0, 1, 2, 3])),
        ("rows-sorted", call([2, 1]), call([1, 2])),
        ("rows-wrong-for-repeated", call([1, 1]), call([1, 2])),
        ("rows-rejected-for-none", call([]), call([0])),
        ("mode-ignored", call([1], mode="twice"), call([1], mode="plain")),
        ("mode-demanded", call([1]), call([1], mode="plain")),
        ("mode-default-twice", call([1]), call([1], mode="plain")),
        ("mode-plain-as-twice", call([1], mode="plain"), call([1], mode="twice")),
        (
            "data-f32-through-f16",
            call([0], np.array([1e9], np.float32)),
            call([0], np.array([1], np.float32)),
        ),
        ("data-f32-nan-bits", call([0], NAN), call([0])),
        ("data-f32-minus-zero", call([1], NAN), call([0])),
        ("data-f32-subnormals", call([2], NAN), call([0])),
        ("data-i8-top-bit", call([0], np.array([-1], np.int8)), call([0], np.array([1], np.int8))),
        ("data-fortran-as-c", call([0, 1], FORTRAN), call([0, 1], FORTRAN.copy(order="C"))),
        ("data-wrong-for-rank-2", call([0], FORTRAN), call([0])),
        ("empty-data-rejected", call([], np.array([], np.float32)), call([])),
        ("results-beyond-64", call([0] * 65), call([0] * 64)),
        ("tails-of-4", call([0] * 5), call([0] * 4)),
        ("outputs-last-missing", call([0], mode="twice"), call([0])),
        ("outputs-empty-missing", call([]), call([0])),
    ],
)
def test_a_fault_makes_a_difference_where_its_text_says_so_and_nowhere_else(
    name: str, wrong: ArrayCall, right: ArrayCall
) -> None:
    assert differs(name, wrong)
    assert not differs(name, right)


@pytest.mark.parametrize(
    ("name", "before", "wrong"),
    [
        ("plan-without-rows", call([1]), call([2])),
        ("plan-by-shapes", call([1]), call([2])),
        ("results-without-data", call([1]), call([1], np.zeros(6, np.float32))),
        ("plan-without-type-of-data", call([1]), call([1], np.zeros(6, np.int8))),
        ("checked-once", call([1]), call([6])),
    ],
)
def test_what_a_fault_keeps_of_a_call_changes_the_next_one(
    name: str, before: ArrayCall, wrong: ArrayCall
) -> None:
    assert differs(name, before, wrong)
    assert not differs(name, wrong)


def test_an_unchecked_call_is_accepted_even_if_nothing_can_be_computed() -> None:
    with pytest.raises(IndexError):
        FAULTS["rows-range-computed"].start()(call([6]), move)
    assert FAULTS["rows-range-unchecked"].start()(call([6]), move)
    assert FAULTS["rows-range-unchecked"].rule == "move-1/rows-range"


def test_a_view_shares_memory_with_its_input() -> None:
    given = call([2, 3])
    (view,) = result("view-of-data", given)
    assert np.shares_memory(view, given.inputs["data"])
    assert view.tolist() == [3, 4]
    assert result("view-of-data", call([3, 2])) is None


def test_a_returned_input_is_the_input_itself() -> None:
    given = call([0, 1], np.array([1, 2], np.float32))
    assert result("data-returned", given)[0] is given.inputs["data"]
    assert result("data-returned", call([1, 0], np.array([1, 2], np.float32))) is None


def test_a_buffer_is_reused_after_the_stated_number_of_calls() -> None:
    run = FAULTS["buffers-reused-after-2"].start()
    first, second, third = (run(call([row]), move)[0] for row in (0, 1, 2))
    assert first is third
    assert second.tolist() == [2]


def test_the_input_is_overwritten() -> None:
    given = call([0])
    assert result("data-written-to", given)[0].tolist() == [1]
    assert not given.inputs["data"].any()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_is_recognised_by_its_strides(layout: Any) -> None:
    assert layout_of(copy_in_layout(np.zeros((2, 3, 4)), layout)) == layout


def test_names_and_texts_are_unique_clauses() -> None:
    texts = [fault.text for fault in FAULTS.values()]
    assert len(set(texts)) == len(texts)
    assert all(text[0] not in "\n." and not text.endswith(".") for text in texts)
