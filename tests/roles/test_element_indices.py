"""The role `element_indices`, and elements that repeated indices leave open."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opcert import certify
from opcert.arrays.calls import Call
from opcert.arrays.element_types import bits_of
from opcert.arrays.golden import alternatives_of, open_elements
from opcert.arrays.tensor_functions import tensor, vector
from opcert.cases.conditions import Conditions
from opcert.exploration.explore import explore
from opcert.report.explain import case_program
from opcert.settings import RunSettings
from opcert.suite.suite import Suite
from tests.command_line import opcert
from tests.roles.made_up import (
    HEAD,
    Backend,
    certified_suite,
    mistakes,
    random_calls,
    read,
    write_spec,
)

pytestmark = pytest.mark.usefixtures("few_calls")

SPEC = """\
types: {T: [f32, u8], I: [i8, i64]}
inputs:
  - {name: data, role: data, type: T, rank: [1, 3], text: Data.}
  - {name: at_row, role: element_indices, into: data, type: I, negative: false, outside: reject, within: true, repeated: undefined, text: R.}
  - {name: updates, role: data, type: T, type_of: data, shape: at_row.shape, text: U.}
outputs:
  - name: updated
    type: T
    shape: data.shape
    element: "one_of([updates[replace(at, 0, k)] for k in range(updates.shape[0]) if inside and at_row[replace(at, 0, k)] == at[0]], data[at])"
    where: {inside: "all(at[d] < updates.shape[d] for d in range(1, data.rank))"}
    text: Data with updates.
rules:
  - {id: type, from: at_row.type, clause: R}
  - {id: rank, from: at_row.rank, clause: R}
  - {id: extents, from: at_row.extents, clause: R}
  - {id: inside, from: at_row.range, clause: R}
  - {id: same-type, from: updates.type, clause: U}
  - {id: same-shape, from: updates.shape, clause: U}
  - {id: updated, clause: D, text: Rows change., when: updates.size > 0}
ambiguities:
  - {id: order, from: at_row.repeated, clause: R, text: Which is last., elements: Any of the updates for it.}
"""  # noqa: E501
REFERENCE = """\
import numpy as np

from opcert.reference import require


def up(data, at_row, updates):
    require(at_row.dtype.name in ("int8", "int64"), "up-1/type", "")
    require(at_row.ndim == data.ndim, "up-1/rank", "")
    require(all(a <= b for a, b in zip(at_row.shape, data.shape)), "up-1/extents", "")
    require(((at_row >= 0) & (at_row < data.shape[0])).all(), "up-1/inside", "")
    require(updates.dtype == data.dtype, "up-1/same-type", "")
    require(updates.shape == at_row.shape, "up-1/same-shape", "")
    output = data.copy()
    places = list(np.indices(at_row.shape))
    places[0] = at_row
    output[tuple(places)] = updates
    return [output]
"""


def up(data: Any, at_row: Any, updates: Any) -> list[Any]:
    """Return what the reference does."""
    names: dict[str, Any] = {}
    exec(REFERENCE, names)  # noqa: S102 -- the text of this test
    outputs: list[Any] = names["up"](data, at_row, updates)
    return outputs


def last_first(data: Any, at_row: Any, updates: Any) -> list[Any]:
    """Return the output with the updates in the other order."""
    return up(data, at_row[::-1], updates[::-1])


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("up")
    return certified_suite(write_spec(folder, "up", HEAD + SPEC, REFERENCE))


def opened(suite: Path) -> Iterator[Any]:
    return (case for case in Suite(suite) if case.record.open_elements)


def test_updates_have_the_shape_of_indices(tmp_path: Path) -> None:
    calls = random_calls(read(tmp_path, SPEC))
    assert {call.inputs["updates"].shape for call in calls} == {
        call.inputs["at_row"].shape for call in calls
    }


def test_indices_of_the_shape_of_data_off_the_axis(tmp_path: Path) -> None:
    spec = """\
types: {T: [f32, u8], I: integer}
inputs:
  - {name: data, role: data, type: T, rank: [1, 3], text: Data.}
  - {name: at_row, role: element_indices, into: data, along: axis, type: I, outside: undefined, text: R.}
attributes:
  - {name: axis, role: axis, of: data, type: int, text: A.}
outputs:
  - {name: taken, type: T, shape: at_row.shape, text: What is taken.}
rules:
  - {id: type, from: at_row.type, clause: R}
  - {id: rank, from: at_row.rank, clause: R}
  - {id: extents, from: at_row.extents, clause: R}
  - {id: axis-range, from: axis.range, clause: A}
  - {id: taken, clause: D, text: Elements are taken.}
ambiguities:
  - {id: outside, from: at_row.range, clause: R, text: Outside., readings: {valid: Any., invalid: None.}}
"""  # noqa: E501
    calls = random_calls(read(tmp_path, spec))
    values = [value for call in calls for value in call.inputs["at_row"].values or ()]
    assert min(values) < 0 < max(values)
    conditions = Conditions(read(tmp_path, spec))
    for n, ambiguity in ((-4, "outside"), (-3, None), (2, None), (3, "outside")):
        inputs = {"data": tensor("u8", (3,), (1, 2, 3)), "at_row": vector("i8", (n, 0, 0, 0))}
        assert conditions.ambiguity(Call(inputs, {"axis": 0})) == ambiguity


def test_without_repetition_indices_are_distinct(tmp_path: Path) -> None:
    conditions = Conditions(read(tmp_path, SPEC))
    calls = random_calls(conditions.spec, 300)
    opens = [call for call in calls if conditions.open_elements(call)]
    assert 0 < len(opens) < len(calls) / 3


def test_open_elements_are_stored_with_their_candidates(suite: Path) -> None:
    cases = [*opened(suite)]
    assert cases
    for case in cases:
        (golden,), data = case.outputs, case.inputs["updates"]
        assert open_elements(golden).any()
        assert case.ambiguity is None
        for alternative in alternatives_of(golden):
            bits = [bits_of(array) for array in (alternative, np.asarray(golden), data)]
            assert np.isin(bits[0], [*bits[1].flat, *bits[2].flat]).all()
    plain = [case.record for case in Suite(suite) if not case.record.open_elements]
    assert not any(getattr(output, "alternatives", ()) for c in plain for output in c.outputs)


@pytest.mark.parametrize("isolated", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_other_order_is_right(suite: Path, isolated: bool) -> None:
    if isolated:
        path = suite.parent / "other.py"
        path.write_text(
            "import up\n\n\nclass Backend:\n    name = version = 'other'\n\n"
            "    def run(self, operator, inputs, attributes):\n        i = inputs\n"
            "        return up.up(i['data'], i['at_row'][::-1], i['updates'][::-1])\n"
        )
        backend: Any = f"{path}:Backend"
    else:
        backend = Backend(last_first)
    certificate = certify(backend, suite, specs=suite.parent, isolated=isolated)
    assert certificate.conformant, [v for v in certificate.verdicts if v.status == "fail"][:3]
    assert certificate.grade == "bit-exact"


@pytest.mark.slow
def test_an_order_that_changes_from_call_to_call_is_right(suite: Path) -> None:
    calls = count()

    def alternating(**inputs: Any) -> list[Any]:
        return (up if next(calls) % 3 else last_first)(**inputs)

    certificate = certify(Backend(alternating), suite, specs=suite.parent)
    assert certificate.conformant


def test_any_other_value_is_a_failure(suite: Path) -> None:
    def summed(data: Any, at_row: Any, updates: Any) -> list[Any]:
        (output,) = up(data, at_row, updates)
        if at_row.shape[0] > 1 and np.unique(at_row).size == 1:
            output[(int(at_row.flat[0]), *map(slice, at_row.shape[1:]))] = 7
        return [output]

    certificate = certify(Backend(summed), suite, specs=suite.parent)
    failed = {verdict.case for verdict in certificate.verdicts if verdict.status == "fail"}
    of_open = failed & {case.id for case in opened(suite)}
    details = [verdict.detail for verdict in certificate.verdicts if verdict.case in of_open]
    assert any("nor is it another candidate: " in detail for detail in details)
    assert not certificate.conformant


def test_decisive_elements_of_such_a_call_stay_decisive(suite: Path) -> None:
    def other_data(data: Any, at_row: Any, updates: Any) -> list[Any]:
        (output,) = up(data, at_row, updates)
        if at_row.size > 1 and np.unique(at_row).size == 1 and output.shape[0] > 1:
            row = (int(at_row.flat[0]) + 1) % len(output)
            output[row] = output[row - 1]
        return [output]

    certificate = certify(Backend(other_data), suite, specs=suite.parent)
    assert {verdict.case for verdict in certificate.verdicts if verdict.status == "fail"}


@pytest.mark.slow
def test_exploring_accepts_each_order(suite: Path) -> None:
    run = RunSettings(specs=suite.parent)
    (result,) = explore(lambda: Backend(last_first), run, minutes=0.05)
    assert result.tried
    assert result.counterexample is None


def test_explain_names_the_open_elements(suite: Path) -> None:
    case = next(opened(suite))
    text = opcert("explain", case.id, "--suite", suite).output
    assert "are open, because of up-1/order" in " ".join(text.split())
    assert "Any of the updates for it." in text


def test_a_program_accepts_each_candidate_and_nothing_else(suite: Path) -> None:
    case = next(case for case in opened(suite) if case.outputs[0].size <= 64)
    operator = Suite(suite).operators["made/Up-1"]
    program = case_program(operator, case.record, "backend = make()")
    assert "Open(" in program
    for function in (up, last_first):
        exec(program, {"make": lambda function=function: Backend(function)})  # noqa: S102
    wrong = Backend(lambda **inputs: [np.full_like(up(**inputs)[0], 99)])
    with pytest.raises(AssertionError):
        exec(program, {"make": lambda: wrong})  # noqa: S102


@pytest.mark.slow
def test_the_pages_state_what_is_open(suite: Path) -> None:
    folder = suite.parent
    assert opcert("docs", "--specs", folder, "--suite", suite, "--out", folder / "d").exit_code == 0
    pages = "".join(path.read_text() for path in (folder / "d").rglob("*.md"))
    assert "Any of the updates for it. All other elements are decisive." in pages
    assert "with open elements" in pages


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "text: Which is last., elements: Any of the updates for it.",
            "text: Which is last.",
            "neither 'readings' and 'elements'; expected one of them",
        ),
        (
            "elements: Any of the updates for it.",
            "elements: Any., breaks: [type]",
            "'breaks' with 'elements'; a call with open elements is valid",
        ),
        (
            "shape: at_row.shape, ",
            "",
            "no role has the requirement 'updates.shape'",
        ),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert any(expected in text for text in mistakes(tmp_path, SPEC, old, new))


def test_candidates_without_an_ambiguity_are_a_mistake(tmp_path: Path) -> None:
    spec = SPEC.replace("repeated: undefined", "repeated: allowed")
    spec = spec[: spec.index("ambiguities:")]
    path = write_spec(tmp_path, "up", HEAD + spec, REFERENCE)
    checked = opcert("check", "--no-strength", path)
    assert checked.exit_code == 2
    assert "several candidates, but no ambiguity" in " ".join(checked.output.split())


@pytest.mark.slow
def test_a_reference_that_gives_no_candidate_is_a_mistake(tmp_path: Path) -> None:
    wrong = REFERENCE.replace("= updates\n", "= updates[::-1]\n")
    path = write_spec(tmp_path, "up", HEAD + SPEC, wrong)
    checked = opcert("check", "--no-strength", path)
    assert checked.exit_code == 2
    assert "the formula gives updates[" in " ".join(checked.output.split())
