"""Certificate -> JUnit XML, as build servers read it."""

import re
from xml.etree import ElementTree

from opcert.certificate import Certificate
from opcert.verdicts import FAILURE_STATUSES, Status, Verdict

# What XML cannot hold.
_UNSPEAKABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# How each status is told: a crash or a hang is an error, what decides nothing is skipped.
_ELEMENTS: dict[Status, str] = {"fail": "failure", "crash": "error", "hang": "error"}


def junit_xml(certificate: Certificate) -> bytes:
    """Return the text of junit.xml: a suite for each operator, a test case for each verdict."""
    name = _text(f"opcert {certificate.backend.name} {certificate.backend.version}")
    root = ElementTree.Element("testsuites", {"name": name, **_numbers(certificate.counts)})
    for operator, counts in certificate.operators.items():
        suite = ElementTree.SubElement(root, "testsuite", {"name": operator, **_numbers(counts)})
        for verdict in certificate.verdicts:
            if verdict.operator == operator:
                suite.append(_test_case(verdict))
    ElementTree.indent(root, " ")
    found: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return found + b"\n"


def _numbers(counts: dict[Status, int]) -> dict[str, str]:
    errors = counts["crash"] + counts["hang"]
    failures, passed = counts["fail"], counts["pass"]
    skipped = sum(counts.values()) - errors - failures - passed
    numbers = {"tests": sum(counts.values()), "failures": failures, "errors": errors}
    return {name: str(number) for name, number in {**numbers, "skipped": skipped}.items()}


def _test_case(verdict: Verdict) -> ElementTree.Element:
    found = ElementTree.Element("testcase", classname=verdict.operator, name=verdict.case)
    if verdict.status == "pass":
        return found
    first, _, _ = verdict.detail.partition("\n")
    message = _text(f"{verdict.status}: {first}")
    told = ElementTree.SubElement(found, _ELEMENTS.get(verdict.status, "skipped"), message=message)
    if verdict.status in FAILURE_STATUSES:
        told.set("type", verdict.kind or verdict.status)
        told.text = _text(verdict.detail)
    return found


def _text(text: str) -> str:
    return _UNSPEAKABLE.sub("\N{REPLACEMENT CHARACTER}", text)
