"""junit.xml, read back: a suite for each operator, a test case for each verdict, the counts."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from opcert.certificate import Certificate
from opcert.report.junit import junit_xml
from opcert.verdicts import Verdict
from tests import shown
from tests.made_certificate import OPERATOR, certificate

ELEMENTS = {"pass": None, "fail": "failure", "crash": "error", "hang": "error"}
both = pytest.mark.parametrize("of", [shown.right, shown.faulty], ids=["right", "faulty"])


def parsed(of: Certificate) -> ElementTree.Element:
    return ElementTree.fromstring(junit_xml(of))


@both
def test_every_verdict_is_a_test_case(of: Callable[[], Certificate]) -> None:
    told = of()
    found = {each.get("name"): each for each in parsed(told).iter("testcase")}
    assert list(found) == [each.case for each in told.verdicts]
    for verdict in told.verdicts:
        case = found[verdict.case]
        assert case.get("classname") == verdict.operator
        wanted = ELEMENTS.get(verdict.status, "skipped")
        assert [each.tag for each in case] == ([wanted] if wanted else [])
        if wanted:
            assert str(case[0].get("message")).startswith(f"{verdict.status}: ")


@both
def test_the_counts_are_those_of_the_test_cases(of: Callable[[], Certificate]) -> None:
    root = parsed(of())
    for suite in (root, *root):
        tags = Counter(each[0].tag if len(each) else "" for each in suite.iter("testcase"))
        said = {
            name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")
        }
        assert said == {
            "tests": sum(tags.values()),
            "failures": tags["failure"],
            "errors": tags["error"],
            "skipped": tags["skipped"],
        }


def test_a_failure_says_its_kind_and_all_that_was_seen() -> None:
    verdict = Verdict("a/1", OPERATOR, "fail", "value", "outputs", (), "wrong\n    in x=1")
    (failure,) = parsed(certificate([verdict])).iter("failure")
    assert failure.get("type") == "value"
    assert failure.get("message") == "fail: wrong"
    assert failure.text == verdict.detail


def test_what_xml_cannot_hold_is_replaced_and_the_rest_is_kept() -> None:
    odd = f"\x00\x01\x0b\x1f\ufffe{shown.ODD}\ttab"
    verdict = Verdict("a/1", OPERATOR, "crash", None, "crash", (), odd)
    made = certificate([verdict, replace(verdict, case="a/2", status="waived")])
    named = made.replace(backend=made.backend.model_copy(update={"name": "<b>\x02"}))
    root = parsed(named)
    kept = shown.ODD.replace("\x07", "\ufffd").replace("\x1b", "\ufffd")
    assert [each.text for each in root.iter("error")] == ["\ufffd" * 5 + kept + "\ttab"]
    (skipped,) = root.iter("skipped")
    assert str(skipped.get("message")).startswith("waived: ")
    assert root.get("name") == "opcert <b>\ufffd 1"


def test_the_same_certificate_gives_the_same_bytes() -> None:
    assert junit_xml(shown.faulty()) == junit_xml(shown.faulty())
    assert junit_xml(shown.right()).startswith(b"<?xml")
