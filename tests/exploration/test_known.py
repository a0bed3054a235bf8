"""Exploring goes on after a finding: each bug once, and none that a certificate explains."""

import re
from dataclasses import replace
from math import prod
from pathlib import Path

import pytest
from typer.testing import Result

from opcert.run.session import step_of
from opcert.verdicts.call_levels import NEIGHBOUR, LevelledCalls
from opcert.verdicts.case_levels import points_of_cases
from opcert.verdicts.cause_text import Cause
from opcert.verdicts.condition_text import Term
from tests.command_line import opcert
from tests.faults.fault import GATHER
from tests.faults.finding import core_suite
from tests.made_certificate import certificate as made_certificate
from tests.small_spec import spec

BACKEND = f"{Path(__file__).with_name('several_bugs.py')}:Backend"
FOUND = re.compile(r"found \((\w+)\)")


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return spec(tmp_path_factory.mktemp("specs")).parent


@pytest.fixture(scope="module")
def certificate(specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with a certificate of the bug `i8`."""
    out = tmp_path_factory.mktemp("out")
    options = "--backend-option", "bugs=i8", "--in-process", "--out", out
    opcert("certify", "--backend", BACKEND, "--specs", specs, *options, exits=1)
    return out


def explored(bugs: str, specs: Path, *more: str | Path) -> Result:
    options = "--backend-option", f"bugs={bugs}", "--in-process", "--minutes", "0.1"
    return opcert("explore", "--backend", BACKEND, *options, "--specs", specs, *more)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bugs", "kinds", "last"),
    [
        ("i8", ["value"], "1 distinct new bug found"),
        ("i8,count", ["accepted", "value"], "2 distinct new bugs found"),
        ("i8,rank", ["rejected", "value"], "2 distinct new bugs found"),
    ],
)
def test_each_bug_is_found_once(bugs: str, kinds: list[str], last: str, specs: Path) -> None:
    result = explored(bugs, specs)
    assert sorted(FOUND.findall(result.stdout)) == kinds, result.stdout
    assert result.stdout.splitlines()[-1] == last
    assert result.exit_code == 1


@pytest.mark.slow
def test_what_a_certificate_explains_is_not_found(specs: Path, certificate: Path) -> None:
    result = explored("i8,count", specs, "--known", certificate)
    assert FOUND.findall(result.stdout) == ["accepted"]
    assert re.search(r"calls tried, \d+ of them with known failures, nothing else", result.stdout)
    result = explored("i8", specs, "--known", certificate / "certificate.json")
    assert (result.exit_code, FOUND.findall(result.stdout)) == (0, [])


@pytest.mark.slow
def test_the_certificate_of_another_backend_and_suite_explains_nothing(
    specs: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_text(made_certificate([]).to_json())
    result = explored("i8", specs, "--known", other)
    assert (result.exit_code, FOUND.findall(result.stdout)) == (1, ["value"])


A, B = (Term(f"data {name}", ("1",), name) for name in "ab")
CAUSE = Cause(
    operator="a/B",
    kinds=("value", "shape"),
    condition=(A,),
    cases=("a", "b"),
    unmatched=(),
    attributed=(),
    failing=2,
    passing=0,
    others_passing=3,
    representative="a",
    alternatives=((B,),),
    statement="",
    figures="",
)


@pytest.mark.parametrize(
    ("cause", "kind", "factor", "is_explained"),
    [
        (CAUSE, "value", "data a", True),
        (CAUSE, "shape", "data b", True),
        (CAUSE, "count", "data a", False),
        (CAUSE, "value", "data c", False),
        (replace(CAUSE, condition=(), alternatives=()), "value", "data c", True),
        # Without a condition, most cases fail, or the failures have no explanation.
        (replace(CAUSE, condition=(), alternatives=(), failing=3), "value", "data c", False),
    ],
)
def test_a_cause_explains_failures_of_its_kinds_that_match_it(
    cause: Cause, kind: str, factor: str, is_explained: bool
) -> None:
    assert cause.explains(kind, [{}, {factor: frozenset(["1"])}]) == is_explained


@pytest.mark.slow
def test_a_call_has_the_levels_that_a_case_has() -> None:
    suite = core_suite()
    operator, spec_file = suite.operators[GATHER], suite.spec_files[GATHER]
    calls = LevelledCalls(spec_file)
    of_cases = points_of_cases(operator, calls)
    for case in [*operator.cases.values()][::7]:
        step = step_of(operator, case)
        if (
            case.ambiguity is not None
            or sum(prod(stored.shape) for stored in case.inputs.values()) > 1000
        ):
            continue
        if case.change is not None and case.change.argument and case.baseline is not None:
            valid = step_of(operator, operator.cases[case.baseline])
            points = calls.invalid_points(valid, step, case.change)
        elif case.expects == "outputs":
            points = calls.points_of(step)
        else:
            continue
        expected = [{k: v for k, v in point if k != NEIGHBOUR} for point in of_cases[case.id]]
        assert points == expected, case.id
