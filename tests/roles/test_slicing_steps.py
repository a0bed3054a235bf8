"""The roles `slicing_steps` and `mask`: slices for each step, and what masks change."""

from pathlib import Path

from opcert.specification.model import Spec
from opcert.specification.named_values import with_named_values
from tests.roles.made_up import assert_observed, mistakes, read

SPEC = """\
types: {T: [f32, u8], I: [i32, i8, u8]}
names: {marked: "[k for k in range(start.size) if 1 in new[k:k + 1]]"}
inputs:
  - {name: data, role: data, type: T, rank: [1, 4], text: Data.}
  - {name: start, role: slicing_steps, part: start, of: data, type: I, text: Starts.}
  - {name: stop, role: slicing_steps, part: stop, of: data, type: I, text: Stops.}
  - {name: step, role: slicing_steps, part: step, of: data, type: I, required: false, text: Steps.}
attributes:
  - {name: low, role: mask, of: start, marks: start, text: A mask.}
  - {name: high, role: mask, of: start, marks: stop, text: A mask.}
  - {name: new, role: mask, of: start, marks: new, required: false, default: [0], text: A mask.}
  - {name: one, role: mask, of: start, marks: single, required: false, default: [0], text: A mask.}
  - {name: rest, role: mask, of: start, marks: rest, required: false, default: [0], text: A mask.}
outputs: [{name: out, type: T, shape: "data.shape[:len(marked)]", text: A slice.}]
rules:
  - {id: types, from: start.type, clause: A}
  - {id: start-rank, from: start.rank, clause: A}
  - {id: stop-rank, from: stop.rank, clause: A}
  - {id: step-rank, from: step.rank, clause: A}
  - {id: lengths, from: start.length, clause: A}
  - {id: nonzero, from: step.nonzero, clause: A}
  - {id: bits, from: low.bits, clause: A}
  - {id: once, from: rest.once, clause: A}
  - {id: new-axes, clause: A, text: Some axes are new., when: len(marked) > 0}
"""


def test_built_calls_exhibit_their_levels(tmp_path: Path) -> None:
    calls = assert_observed(read(tmp_path, SPEC))
    assert {bit for call in calls for bit in call.attributes["low"]} == {0, 1}
    assert {"step" in call.inputs for call in calls} == {False, True}


def test_named_values_become_variables_of_shapes(tmp_path: Path) -> None:
    spec: Spec = read(tmp_path, SPEC)
    assert spec.outputs[0].shape == "data.shape[:len(marked)]"
    assert with_named_values(spec).outputs[0].shape == (
        "[(data.shape[:len(marked)]) for marked in "
        "[[k for k in range(start.size) if 1 in new[k:k + 1]]]][0]"
    )


def test_a_missing_mask_is_a_mistake(tmp_path: Path) -> None:
    (reported,) = mistakes(tmp_path, SPEC, "marks: stop", "marks: start")
    assert reported.endswith(
        "no mask marks 'stop'; expected an argument with 'role: mask', 'of: start', 'marks: stop'"
    )
