"""junit.xml, for build servers that display test results."""

from collections import Counter
from xml.etree import ElementTree

from opcert.certificate.certificate import Certificate
from opcert.errors import visible_text
from opcert.verdicts.bugs import bugs_of
from opcert.verdicts.verdict import Status, Verdict

# Test cases with other statuses than these and `pass` are skipped.
_ELEMENTS: dict[Status, str] = {"fail": "failure", "crash": "error", "hang": "error"}


def junit_xml(certificate: Certificate) -> bytes:
    """Return the content of junit.xml, with one test case per verdict.

    The failures of a bug are a test suite, and the other cases of an operator are one. A
    rejection that is not credited is skipped: another case is at fault.
    """
    titles = {case: bug.statement for bug in bugs_of(certificate.causes) for case in bug.cases}
    name = visible_text(f"opcert {certificate.backend.name} {certificate.backend.version}")
    root = ElementTree.Element("testsuites", name=name)
    suites: dict[str, list[Verdict]] = {operator: [] for operator in certificate.operators}
    for verdict in certificate.verdicts:
        suites.setdefault(titles.get(verdict.case, verdict.operator), []).append(verdict)
    for title, verdicts in suites.items():
        suite = ElementTree.SubElement(root, "testsuite", name=visible_text(title))
        suite.extend(_test_case(verdict, titles.get(verdict.case)) for verdict in verdicts)
        suite.attrib |= _totals(suite, sum(verdict.seconds for verdict in verdicts))
    root.attrib |= _totals(root, certificate.seconds)
    ElementTree.indent(root, " ")
    text: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return text + b"\n"


def _totals(element: ElementTree.Element, seconds: float) -> dict[str, str]:
    """Return the counts of the test cases of a test suite, or of all, and their time."""
    tags = Counter(case[0].tag if len(case) else "" for case in element.iter("testcase"))
    counts = {"failures": tags["failure"], "errors": tags["error"], "skipped": tags["skipped"]}
    counts = {"tests": tags.total(), **counts}
    return {**{name: str(count) for name, count in counts.items()}, "time": f"{seconds:.6f}"}


def _test_case(verdict: Verdict, bug: str | None) -> ElementTree.Element:
    """Return a test case; the type of a failure is its bug, or else its kind."""
    test_case = ElementTree.Element(
        "testcase",
        classname=visible_text(verdict.operator),
        name=visible_text(verdict.case),
        # Without an exponent, as build servers read them.
        time=f"{verdict.seconds:.6f}",
    )
    if verdict.status == "pass":
        return test_case
    first_line, _, _ = verdict.detail.partition("\n")
    message = visible_text(f"{verdict.status}: {first_line}")
    tag = "skipped" if verdict.kind == "uncredited" else _ELEMENTS.get(verdict.status, "skipped")
    result = ElementTree.SubElement(test_case, tag, message=message)
    if tag != "skipped":
        result.set("type", visible_text(bug or verdict.kind or verdict.status))
        result.text = visible_text(verdict.detail)
    return test_case
