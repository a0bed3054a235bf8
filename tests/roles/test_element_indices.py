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
    MADE_UP,
    SPECS,
    Backend,
    certified_suite,
    random_calls,
    read,
    write_spec,
)

pytestmark = pytest.mark.usefixtures("few_calls")

SPEC, REFERENCE = (MADE_UP["updates"][key] for key in ("spec", "reference"))


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


@pytest.mark.parametrize(
    ("n", "ambiguity"), [(-4, "outside"), (-3, None), (2, None), (3, "outside")]
)
def test_an_index_outside_of_the_axis_may_be_an_ambiguity(
    n: int, ambiguity: str | None, tmp_path: Path
) -> None:
    inputs = {"data": tensor("u8", (3,), (1, 2, 3)), "at_row": vector("i8", (n, 0, 0, 0))}
    conditions = Conditions(read(tmp_path, SPECS["take_along"]))
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
