"""A mistake in opcert itself is noticed: faults of the catalogue are no longer found."""

from functools import partial

import pytest

from opcert import certify
from opcert.verdicts import verdict
from tests.faults import finding, patches
from tests.faults.catalogue import FAULTS
from tests.faults.fault import OPERATORS, the_right_one
from tests.faults.finding import core_suite, first_failure, first_failure_of, found
from tests.faults.harnesses import HARNESSES, Harness
from tests.wrong_backends import RejectsEverything

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("harness", HARNESSES, ids=lambda harness: harness.name)
def test_faults_go_unseen_by_a_wrong_harness(harness: Harness) -> None:
    assert harness.unseen
    failures = {name: found(name) for name in harness.unseen}
    assert None not in failures.values()
    of_short_suite = core_suite().cases.keys()
    with pytest.MonkeyPatch.context() as patch:
        harness.patch(patch)
        # In the suite that has found it: the other one would take minutes.
        seen = {
            name: first_failure_of(
                finding.suites()[0 if failure.case in of_short_suite else -1], FAULTS[name]
            )
            for name, failure in failures.items()
            if failure is not None
        }
    assert {name: found for name, found in seen.items() if found is not None} == {}


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("slice-8/backwards", "slice-8/step-without-sign"),
        ("slice-8/axes-default", "slice-8/default-axes-last"),
        ("broadcast-1/explicit-mode", "broadcast-1/explicit-as-leading"),
        ("gather-8/index-above", "gather-8/above-clamped"),
        ("gather-8/batches", "gather-8/batch-dims-ignored"),
        ("variadic-split-1/rest", "variadic-split-1/rest-last"),
        ("variadic-split-1/zero-length", "variadic-split-1/zero-length-dropped"),
        ("dml-split/unequal-parts", "dml-split/equal-parts"),
    ],
)
def test_a_fault_goes_unseen_without_the_cases_of_a_behaviour(
    rule: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found(name) is not None
    patches.without_showing(rule)(monkeypatch)
    assert first_failure(FAULTS[name]) is None


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_harness_that_credits_no_rejection_fails_the_reference(
    operator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdict, "_judge_rejection", lambda *_: ("fail", "uncredited", ""))
    assert first_failure(the_right_one(operator)) is not None


def test_a_harness_that_runs_no_baseline_passes_what_rejects_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged = partial(certify, RejectsEverything(), core_suite(), case="dml-split/axis-range*")
    assert judged().counts["pass"] == 0
    monkeypatch.setattr(verdict, "_judge_rejection", lambda *_: ("pass", None, ""))
    assert judged().counts["pass"] > 0
