"""The members of the panel: each kind makes one real difference, and none elsewhere."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from opcert.arrays import LAYOUTS, Array, copy_in_layout
from opcert.panel.argument_members import argument_members, requirement_members
from opcert.panel.data_members import data_members, layout_of
from opcert.panel.integer_members import integer_members
from opcert.panel.member import ArrayCall, Member, Outputs, Signature
from opcert.panel.output_members import output_members
from opcert.reference.rules import require
from opcert.specification import Spec

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
        "cases": {"factors": {"n": "1"}, "inputs": {"data": "filled('f32', [1])"}},
    },
    strict=False,
)
SIGNATURE = Signature(
    MOVE,
    ("data",),
    {"data": (1, 2), "rows": (1,)},
    {"data": ("f32", "i8"), "rows": ("i64",)},
)


def move(call: ArrayCall) -> list[Array]:
    """Take rows of data, once or twice; a negative one counts from the end."""
    data, rows = call.inputs["data"], call.inputs["rows"]
    there = all(-len(data) <= row < len(data) for row in rows.tolist())
    require(there, "move-1/rows-range", f"rows {rows}")
    outputs = [data[[*rows.tolist()]].copy()]
    return outputs * (2 if call.attributes.get("mode") == "twice" else 1)


def members() -> dict[str, Member]:
    found = [
        member
        for make in (
            requirement_members,
            argument_members,
            integer_members,
            data_members,
            output_members,
        )
        for member in make(SIGNATURE)
    ]
    named = {member.name: member for member in found}
    assert len(named) == len(found)
    return named


MEMBERS = members()


def call(rows: Sequence[int], data: Array | None = None, **attributes: Any) -> ArrayCall:
    given = np.arange(1, 7, dtype=np.float32) if data is None else data
    return ArrayCall({"data": given, "rows": np.array(rows, np.int64)}, attributes)


def told(name: str, *calls: ArrayCall) -> Any:
    """Return what a fresh member answers to the last of some calls."""
    answer = MEMBERS[name].begin()
    answers = []
    with np.errstate(all="ignore"):
        for each in calls:
            try:
                answers.append(answer(each, move))
            except ValueError as error:
                answers.append(error)
    return answers[-1]


def differs(name: str, *calls: ArrayCall) -> bool:
    """Whether the last call has another result than the reference's."""

    def form(found: Any) -> object:
        if not isinstance(found, list):
            return type(found)
        return [(each.dtype, each.shape, each.tobytes()) for each in found]

    try:
        right: Outputs | ValueError = move(calls[-1])
    except ValueError as error:
        right = error
    found = told(name, *calls)
    return found is not None and form(found) != form(right)


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
def test_a_member_differs_where_it_says_and_not_elsewhere(
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
def test_what_a_member_remembers_shows_in_the_next_call(
    name: str, before: ArrayCall, wrong: ArrayCall
) -> None:
    assert differs(name, before, wrong)
    assert not differs(name, wrong)


def test_a_requirement_that_nothing_can_be_computed_without_is_accepted_all_the_same() -> None:
    with pytest.raises(IndexError):
        MEMBERS["rows-range-computed"].begin()(call([6]), move)
    assert MEMBERS["rows-range-unchecked"].begin()(call([6]), move)
    assert MEMBERS["rows-range-unchecked"].rule == "move-1/rows-range"


def test_a_view_shares_memory_with_its_input() -> None:
    given = call([2, 3])
    (view,) = told("view-of-data", given)
    assert np.shares_memory(view, given.inputs["data"])
    assert view.tolist() == [3, 4]
    assert told("view-of-data", call([3, 2])) is None


def test_an_input_that_is_returned_is_the_input() -> None:
    given = call([0, 1], np.array([1, 2], np.float32))
    assert told("data-returned", given)[0] is given.inputs["data"]
    assert told("data-returned", call([1, 0], np.array([1, 2], np.float32))) is None


def test_a_buffer_is_used_again_after_so_many_calls() -> None:
    answer = MEMBERS["buffers-reused-after-2"].begin()
    first, second, third = (answer(call([row]), move)[0] for row in (0, 1, 2))
    assert first is third
    assert second.tolist() == [2]


def test_an_input_is_written_to() -> None:
    given = call([0])
    assert told("data-written-to", given)[0].tolist() == [1]
    assert not given.inputs["data"].any()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_is_known_by_its_strides(layout: Any) -> None:
    assert layout_of(copy_in_layout(np.zeros((2, 3, 4)), layout)) == layout


def test_names_and_texts_say_one_thing_each() -> None:
    texts = [member.text for member in MEMBERS.values()]
    assert len(set(texts)) == len(texts)
    assert all(text[0] not in "\n." and not text.endswith(".") for text in texts)
