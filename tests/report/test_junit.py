"""junit.xml: a test suite for each operator and cause, a test case for each verdict, the counts."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from opcert.certificate.certificate import Certificate
from opcert.report.files import junit_xml
from opcert.verdicts.cause_text import bugs_of
from opcert.verdicts.verdict import Verdict
from tests import samples
from tests.made_certificate import OPERATOR, certificate

ELEMENTS = {"pass": None, "fail": "failure", "crash": "error", "hang": "error"}
both = pytest.mark.parametrize("of", [samples.right, samples.faulty], ids=["right", "faulty"])


def parsed(of: Certificate) -> ElementTree.Element:
    return ElementTree.fromstring(junit_xml(of))


@both
def test_every_verdict_is_a_test_case(of: Callable[[], Certificate]) -> None:
    certificate = of()
    cases = {case.get("name"): case for case in parsed(certificate).iter("testcase")}
    assert len([*parsed(certificate).iter("testcase")]) == len(certificate.verdicts)
    # Each test suite has them in the order of the certificate.
    order = {verdict.case: number for number, verdict in enumerate(certificate.verdicts)}
    for suite in parsed(certificate):
        numbers = [order[str(case.get("name"))] for case in suite]
        assert numbers == sorted(numbers)
    for verdict in certificate.verdicts:
        case = cases[verdict.case]
        assert case.get("classname") == verdict.operator
        tag = ELEMENTS.get(verdict.status, "skipped")
        tag = "skipped" if verdict.kind == "uncredited" else tag
        assert [element.tag for element in case] == ([tag] if tag else [])
        if tag:
            assert str(case[0].get("message")).startswith(f"{verdict.status}: ")


@both
def test_the_counts_are_those_of_the_test_cases(of: Callable[[], Certificate]) -> None:
    root = parsed(of())
    for suite in (root, *root):
        tags = Counter(case[0].tag if len(case) else "" for case in suite.iter("testcase"))
        counts = {
            name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")
        }
        assert counts == {
            "tests": sum(tags.values()),
            "failures": tags["failure"],
            "errors": tags["error"],
            "skipped": tags["skipped"],
        }


def test_each_test_case_has_its_time_and_a_test_suite_their_sum() -> None:
    slow = Verdict("a/1", OPERATOR, "pass", None, "outputs", (), "", seconds=1.5)
    skipped = Verdict("a/2", OPERATOR, "out-of-claim", None, "not-run", (), "")
    root = parsed(certificate([slow, skipped, replace(slow, case="a/3", seconds=2e-6)]))
    assert [case.get("time") for case in root.iter("testcase")] == [
        "1.500000",
        "0.000000",
        "0.000002",
    ]
    assert [suite.get("time") for suite in (root, *root)] == ["1.500002", "1.500002"]


def test_a_failure_has_its_kind_and_the_whole_detail() -> None:
    verdict = Verdict("a/1", OPERATOR, "fail", "value", "outputs", (), "wrong\n    in x=1")
    (failure,) = parsed(certificate([verdict])).iter("failure")
    assert failure.get("type") == "value"
    assert failure.get("message") == "fail: wrong"
    assert failure.text == verdict.detail


def test_the_failures_of_a_bug_are_a_test_suite_with_its_statement() -> None:
    certificate = samples.faulty()
    assert certificate.causes
    suites = {suite.get("name"): suite for suite in parsed(certificate)}
    for bug in bugs_of(certificate.causes):
        assert [case.get("name") for case in suites[bug.statement]] == [
            verdict.case for verdict in certificate.verdicts if verdict.case in bug.cases
        ]
        types = {element[0].get("type") for element in suites[bug.statement] if len(element)}
        assert types == {bug.statement}


def test_a_rejection_that_is_not_credited_is_skipped() -> None:
    verdict = Verdict("a/1", OPERATOR, "fail", "uncredited", "rejected", (), "its baseline failed")
    root = parsed(certificate([verdict]))
    assert [skipped.get("message") for skipped in root.iter("skipped")] == [
        "fail: its baseline failed"
    ]
