"""Named values: expressions that the conditions, shapes, formulas and laws of a spec refer to."""

from pathlib import Path

import pytest

from opcert.specification.expressions import evaluate, needed_values
from opcert.specification.files import read_spec
from tests.command_line import opcert

SPEC = """\
operator: vendor/Rows-1
slug: rows-1
version: 1
document: {title: Rows, version: "1"}
reference: rows.py:rows
types: {T: [i8]}
names:
  rows: data.shape[0]
  kept: rows // 2
inputs: [{name: data, role: data, type: T, rank: [1, 2], text: D.}]
outputs:
  - {name: half, type: T, shape: "[kept, *data.shape[1:]]", text: H.,
     element: "data[replace(at, 0, at[0] + rows - kept)]"}
rules:
  - {id: last, clause: D, text: The last half., when: rows > 1,
     holds: "outputs[0].shape[0] == kept"}
ambiguities:
  - {id: odd, clause: D, text: Which half has the row in the middle., touches: rows != 2 * kept,
     readings: {valid: The last., invalid: None.},
     violations: {one-more: {data: "filled(data.type, [2 * kept + 1, *data.shape[1:]])"}}}
laws:
  - {id: again, clause: D, text: The half of both halves., when: kept > 0,
     calls: {whole: {inputs: {data: "concatenated([outputs[0]] * (rows // kept), 0)"}}},
     holds: "same(whole[0], outputs[0])"}
"""
REFERENCE = """\
def rows(data):
    return [data[data.shape[0] - data.shape[0] // 2:].copy()]
"""


def test_conditions_shapes_formulas_violations_and_laws_use_named_values(tmp_path: Path) -> None:
    (tmp_path / "rows.py").write_text(REFERENCE)
    path = tmp_path / "Rows-1.yaml"
    path.write_text(SPEC)
    assert read_spec(path).spec.outputs[0].shape == "[kept, *data.shape[1:]]"
    result = opcert("check", "--no-strength", path)
    assert (result.exit_code, "1 rules, each exercised" in result.stdout) == (0, True)
    # Each of these makes the spec wrong, so the value is used.
    for old, new in (("kept: rows // 2", "kept: rows // 3"), ("at[0] + rows - kept", "at[0]")):
        path.write_text(SPEC.replace(old, new))
        assert opcert("check", "--no-strength", path).exit_code == 2


@pytest.mark.parametrize(
    ("text", "needed", "value"),
    [("x", [], 3), ("a", ["a"], 4), ("b + y", ["a", "b"], 15), ("c + a", ["a", "c"], 7)],
)
def test_only_the_needed_values_are_computed_in_their_order(
    text: str, needed: list[str], value: int
) -> None:
    values = {"a": "x + 1", "b": "2 * a", "c": "x", "fails": "x // 0"}
    assert [*needed_values(text, values)] == needed
    assert evaluate(text, {"x": 3, "y": 7}, values=values) == value
