"""Failures by cause: how they are grouped, in what order, and the smallest of each."""

from collections import Counter
from dataclasses import replace
from math import prod

from opcert.verdicts import FAILURE_STATUSES, Verdict, group_by_cause
from tests import samples
from tests.made_certificate import OPERATOR

FAIL = Verdict("a/1", OPERATOR, "fail", "value", "outputs", ("a/rule", "a/other"), "wrong")


def test_failures_of_one_operator_status_kind_and_first_rule_are_grouped() -> None:
    alike = replace(FAIL, case="a/2", rules=("a/rule",), detail="differently")
    others = [
        replace(FAIL, case="a/3", kind="shape"),
        replace(FAIL, case="a/4", operator="vendor/B-1"),
        replace(FAIL, case="a/5", rules=("a/other", "a/rule")),
        replace(FAIL, case="a/6", status="crash", kind=None),
        replace(FAIL, case="a/7", rules=()),
    ]
    found = group_by_cause([FAIL, *others, alike])
    together = {each.verdicts for each in found}
    assert (FAIL, alike) in together
    assert together - {(FAIL, alike)} == {(each,) for each in others}


def test_crashes_come_first_and_bits_last() -> None:
    bits = [replace(FAIL, case=f"b/{i}", kind="bits") for i in range(9)]
    shape = [replace(FAIL, case=f"s/{i}", kind="shape") for i in range(2)]
    hang = replace(FAIL, case="h/1", status="hang", kind=None)
    crash = replace(FAIL, case="c/1", status="crash", kind=None)
    found = group_by_cause([*bits, FAIL, *shape, hang, crash])
    assert [each.kind or each.status for each in found] == [
        *("crash", "hang", "shape", "value", "bits")
    ]


def test_only_failures_have_causes() -> None:
    came = samples.faulty().verdicts
    counted = [v for cause in group_by_cause(came) for v in (*cause.verdicts, *cause.attributed)]
    assert Counter(counted) == Counter(each for each in came if each.status in FAILURE_STATUSES)
    assert not group_by_cause(samples.right().verdicts)


def test_the_smallest_failure_has_the_fewest_input_elements() -> None:
    cases = samples.suite().cases
    for cause in group_by_cause(samples.run_of_faulty().verdicts):
        sizes = {
            each.case: sum(prod(given.shape) for given in cases[each.case][1].inputs.values())
            for each in cause.verdicts
        }
        assert sizes[cause.smallest_failure(cases).case] == min(sizes.values())


def test_an_uncredited_rejection_belongs_to_the_failure_of_its_baseline() -> None:
    uncredited = replace(FAIL, case="a/r", kind="uncredited", attributed_to="a/1")
    (cause,) = group_by_cause([FAIL, uncredited])
    assert (cause.verdicts, cause.attributed) == ((FAIL,), (uncredited,))


def test_an_uncredited_rejection_without_its_baseline_is_a_failure_of_its_own() -> None:
    uncredited = replace(FAIL, case="a/r", kind="uncredited", attributed_to="a/9")
    (cause,) = group_by_cause([uncredited])
    assert cause.verdicts == (uncredited,)


def test_breaches_of_the_contract_are_attributed_to_no_rule() -> None:
    aliased = [
        replace(FAIL, case=f"a/{i}", kind="aliased-output", rules=(f"a/{i}",)) for i in range(3)
    ]
    (cause,) = group_by_cause(aliased)
    assert cause.rule is None
    assert cause.verdicts == tuple(aliased)
