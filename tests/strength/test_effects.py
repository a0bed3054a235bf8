"""Effects and conditions: each acts where its text says so, and nowhere else."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import yaml

from opcert.arrays.element_types import Array
from opcert.arrays.layouts import copy_in_layout
from opcert.choices import Choices
from opcert.reference.rules import require
from opcert.run.comparison import compare_outputs
from opcert.specification.model import Spec
from opcert.strength.effects import (
    CORRUPTIONS,
    OUTPUT_LISTS,
    Effect,
    FinishedCall,
    Steps,
    Turn,
    memory_faults,
)
from opcert.strength.faults import drawn_fault, misreadings
from tests.layouts import LAYOUTS

MOVE = Spec.model_validate(
    yaml.safe_load("""\
operator: example/Move-1
slug: move-1
version: 1
document: {title: Move, version: "1"}
reference: move.py:move
types: {T: [f32, i8], T_INT: [i64]}
inputs:
  - {name: data, type: T, required: true, text: Rows., rank: ["1", "2"]}
  - {name: rows, type: T_INT, required: true, text: Which., rank: ["1", "1"]}
attributes:
  - {name: mode, type: string, required: false, default: plain, one_of: [plain, twice],
     text: Once or twice.}
outputs: [{name: output, type: T, shape: data.shape, text: Rows.}]
rules:
  - {id: rows-range, kind: requirement, clause: Inputs, text: Text., holds: "True"}
"""),
    strict=False,
)
DATA = frozenset({"data"})


def move(arguments: Mapping[str, Any]) -> list[Array]:
    """Take rows of data, once or twice; a negative one counts from the end."""
    data, rows = arguments["data"], arguments["rows"].tolist()
    is_in_range = all(-len(data) <= row < len(data) for row in rows)
    require(is_in_range, "move-1/rows-range", f"rows {rows}")
    taken = np.take(data, np.array(rows, np.int64), 0, mode="wrap")
    return [taken] * (2 if arguments.get("mode") == "twice" else 1)


def call(rows: Sequence[int], data: Array | None = None, **attributes: Any) -> FinishedCall:
    array = np.arange(1, 7, dtype=np.float32) if data is None else data
    made = FinishedCall({"data": array, "rows": np.array(rows, np.int64)}, attributes)
    try:
        return FinishedCall(made.inputs, attributes, move(made.arguments))
    except ValueError as error:
        return FinishedCall(made.inputs, attributes, None, error.rule)  # type: ignore[attr-defined]


EFFECTS = {
    effect.text: effect
    for effect in (
        *misreadings(MOVE, DATA),
        *memory_faults(MOVE, DATA),
        *CORRUPTIONS,
        *OUTPUT_LISTS,
    )
}


def differs(effect: Effect, finished: FinishedCall, before: FinishedCall | None = None) -> bool:
    """Whether a caller sees a difference."""
    with np.errstate(all="ignore"):
        try:
            outputs = effect.apply(Turn(finished, before, move))
        except ValueError:
            return finished.outputs is not None
    if outputs is None:
        return False
    return finished.outputs is None or compare_outputs(finished.outputs, outputs) is not None


ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)
NAN = np.array([np.nan, -0.0, 1e-40], np.float32)
NAN[:1].view(np.uint32)[:] = 0xFFC00005
LIFTED = copy_in_layout(ROWS, LAYOUTS["fortran"])
BACKWARDS = copy_in_layout(ROWS, LAYOUTS["reversed"])
GAPPED = copy_in_layout(ROWS, LAYOUTS["gapped"])
OFFSET = copy_in_layout(ROWS, LAYOUTS["offset"])
REPEATED = copy_in_layout(np.ones((3, 2), np.float32), LAYOUTS["repeated_row"])


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        ("move-1/rows-range is not checked", call([-9], ROWS), call([5])),
        ("rows is cut to 8 bits", call([129], np.arange(200)), call([1], np.arange(200))),
        ("rows loses its sign", call([-1]), call([1])),
        (
            "calls are accepted since rows is cut to 32 bits before the check",
            call([1 << 32]),
            call([9]),
        ),
        ("rows has its last two items exchanged", call([0, 1, 2]), call([0, 1, 1])),
        ("rows is read up to its fourth item", call([0, 1, 2, 3, 4]), call([0, 1, 2, 3])),
        ("mode is ignored", call([1], mode="twice"), call([1], mode="plain")),
        ("mode is 'twice' where it is omitted", call([1]), call([1], mode="plain")),
        ("mode is taken for 'plain'", call([1], mode="twice"), call([1])),
        ("data is read in the order of memory", call([0, 1], LIFTED), call([0, 1], ROWS)),
        ("data is read forwards where it lies backwards", call([0], BACKWARDS), call([0], LIFTED)),
        ("data is read as if its memory had nothing else", call([0], GAPPED), call([0], LIFTED)),
        ("data is read as if its memory had nothing else", call([0], OFFSET), call([0], ROWS)),
        ("data is read on where a stride is 0", call([1], REPEATED), call([0], OFFSET)),
        ("data loses payloads and signs of NaNs", call([0], NAN), call([1], NAN)),
        ("data loses the sign of -0.0", call([1], NAN), call([0, 2], NAN)),
        ("data has its subnormal elements flushed to 0", call([2], NAN), call([0], NAN)),
        (
            "data loses the highest bit of each element",
            call([0], np.array([-1], np.int8)),
            call([0], np.array([1], np.int8)),
        ),
        ("data itself is returned where an output equals it", call([*range(6)]), call([0])),
        ("the call is rejected", call([0]), call([9])),
        ("the invalid call is accepted", call([9]), call([])),
        ("the last output is shifted by one element", call([0, 1]), call([0, 0])),
        ("the last output is missing", call([0]), call([9])),
        ("outputs without elements are missing", call([]), call([0])),
    ],
)
def test_an_effect_acts_where_its_text_says_so_and_nowhere_else(
    text: str, wrong: FinishedCall, right: FinishedCall
) -> None:
    effect = EFFECTS[text]

    def shows(finished: FinishedCall) -> bool:
        is_valid = finished.outputs is not None
        return is_valid == effect.on_valid and differs(effect, finished)

    assert shows(wrong)
    assert not shows(right)


@pytest.mark.parametrize(
    ("text", "before", "wrong"),
    [
        ("rows of the call before is used again", call([1]), call([2])),
        ("former results are returned", call([1]), call([1], np.zeros(6, np.float32))),
        ("an invalid call is accepted", call([1]), call([6])),
    ],
)
def test_what_is_kept_of_a_call_changes_the_next_one(
    text: str, before: FinishedCall, wrong: FinishedCall
) -> None:
    effect = EFFECTS[f"{text} where types and shapes are those of the call before"]
    assert differs(effect, wrong, before)
    assert not differs(effect, wrong)
    assert not differs(effect, wrong, call([1, 2]))


def test_a_fault_acts_where_its_conditions_are_true() -> None:
    steps = Steps(MOVE, DATA, [call([k % 4] * (k % 3), ROWS[: k % 5 + 1]) for k in range(40)])
    kinds = [[EFFECTS["the call is rejected"]]]
    drawn = [fault for k in range(3000) if (fault := drawn_fault(Choices(k), kinds, steps))]
    conditions = {condition.text: condition for fault in drawn for condition in fault.conditions}
    sizes = np.array([each.inputs["rows"].size for each in steps.calls])
    compared = [text for text in conditions if re.fullmatch(r"rows\.size (==|<|>=|%) .+\d", text)]
    assert len(compared) > 3
    for text in compared:
        expected = eval(text.replace("rows.size", "sizes"), {"sizes": sizes})  # noqa: S307 -- own text
        assert (conditions[text].holds(steps) == expected).all(), text
    assert {len(fault.conditions) for fault in drawn} == {1, 2, 3}
    for fault in drawn:
        acts = [each.holds(steps) for each in fault.conditions]
        assert (fault.acts(steps) == (steps.is_valid & np.all(acts, axis=0))).all()
    # The first call has none before it, and each other one has its predecessor.
    before = next(each for each in conditions.values() if each.uses_before)
    assert not before.holds(steps)[0]
