"""Certificate -> JUnit XML for build servers."""

from xml.etree import ElementTree

from opcert.certificate.certificate import Certificate
from opcert.errors import visible_text
from opcert.verdicts.verdict import FAILURE_STATUSES, Status, Verdict

# Test cases with other statuses than these and `pass` are skipped.
_ELEMENTS: dict[Status, str] = {"fail": "failure", "crash": "error", "hang": "error"}


def junit_xml(certificate: Certificate) -> bytes:
    """Return the content of junit.xml: one test suite per operator, one test case per verdict."""
    name = visible_text(f"opcert {certificate.backend.name} {certificate.backend.version}")
    totals = {**_counts(certificate.counts), "time": _time(certificate.seconds)}
    root = ElementTree.Element("testsuites", {"name": name, **totals})
    for operator, counts in certificate.operators.items():
        verdicts = [verdict for verdict in certificate.verdicts if verdict.operator == operator]
        seconds = _time(sum(verdict.seconds for verdict in verdicts))
        totals = {**_counts(counts), "time": seconds}
        suite = ElementTree.SubElement(
            root, "testsuite", {"name": visible_text(operator), **totals}
        )
        suite.extend(map(_test_case, verdicts))
    ElementTree.indent(root, " ")
    text: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return text + b"\n"


def _counts(counts: dict[Status, int]) -> dict[str, str]:
    tests = sum(counts.values())
    errors = counts["crash"] + counts["hang"]
    skipped = tests - errors - counts["fail"] - counts["pass"]
    attributes = {"tests": tests, "failures": counts["fail"], "errors": errors, "skipped": skipped}
    return {name: str(count) for name, count in attributes.items()}


def _time(seconds: float) -> str:
    """Return seconds without an exponent, as build servers read them."""
    return f"{seconds:.6f}"


def _test_case(verdict: Verdict) -> ElementTree.Element:
    test_case = ElementTree.Element(
        "testcase",
        classname=visible_text(verdict.operator),
        name=visible_text(verdict.case),
        time=_time(verdict.seconds),
    )
    if verdict.status == "pass":
        return test_case
    first_line, _, _ = verdict.detail.partition("\n")
    message = visible_text(f"{verdict.status}: {first_line}")
    tag = _ELEMENTS.get(verdict.status, "skipped")
    result = ElementTree.SubElement(test_case, tag, message=message)
    if verdict.status in FAILURE_STATUSES:
        result.set("type", verdict.kind or verdict.status)
        result.text = visible_text(verdict.detail)
    return test_case
