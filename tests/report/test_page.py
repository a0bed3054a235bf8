"""The HTML report of a certificate: it is complete, every text is escaped, every link works."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

import pytest

from opcert.certificate import Certificate
from opcert.report import REPORT_FILE, report_files
from opcert.report.tallies import STATUS_MARKS, count_statuses
from opcert.verdicts import FAILURE_STATUSES, STATUSES, Verdict
from tests import samples
from tests.parsed_pages import Page, parsed

MakeCertificate = Callable[[], Certificate]
DATA = '<script type="application/json" id="verdicts">'
each_page = pytest.mark.parametrize("of", [samples.right, samples.faulty], ids=["right", "faulty"])


@cache
def files(of: MakeCertificate) -> Mapping[str, bytes]:
    return report_files(of(), samples.suite())


def html(of: MakeCertificate) -> str:
    return files(of)[REPORT_FILE].decode()


@cache
def page(of: MakeCertificate) -> Page:
    """Return the page as a reader without scripts has it."""
    before, _, after = html(of).partition(DATA)
    text = before + re.sub(r"(?s)^.*</script>", "", after)
    return parsed(re.sub(r"</(td|th|dt|dd)>", r" \g<0>", text))


def data(of: MakeCertificate) -> dict[str, Any]:
    """Return the data of the list of cases."""
    text = html(of).partition(DATA)[2].partition("</script>")[0]
    rows: dict[str, Any] = json.loads(text)
    return rows


def parse_counts(text: str) -> Counter[str]:
    """Read counts such as "3 pass, 1 fail"."""
    pairs = (part.split(" ") for part in text.split(", "))
    return Counter({status: int(number) for number, status in pairs})


def by_status(verdicts: Sequence[Verdict]) -> str:
    """Return the number of verdicts with each status as the page has it, the most severe first."""
    tally = count_statuses(verdicts)
    counts = {tally.status: tally.count, **tally.others}
    return ", ".join(f"{STATUS_MARKS[status]} {count} {status}" for status, count in counts.items())


def normal(text: str) -> str:
    return " ".join(text.split())


@each_page
def test_the_page_is_well_formed_with_unique_ids_and_headings_in_order(of: MakeCertificate) -> None:
    parsed_page = parsed(html(of))
    assert len(set(parsed_page.ids)) == len(parsed_page.ids)
    levels = [int(tag[1]) for tag, _ in parsed_page.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@each_page
def test_the_page_loads_no_other_file(of: MakeCertificate) -> None:
    parsed_page = parsed(html(of))
    assert not {"img", "link", "iframe", "object"} & {tag for tag, _ in parsed_page.tags}
    assert not [attributes for _, attributes in parsed_page.tags if "src" in attributes]
    assert "url(" not in html(of)
    assert "@import" not in html(of)
    policy = next(
        g for _, g in parsed_page.tags if g.get("http-equiv") == "Content-Security-Policy"
    )
    assert str(policy["content"]).startswith("default-src 'none';")


@each_page
def test_every_link_has_a_target(of: MakeCertificate) -> None:
    cases = {verdict.case for verdict in of().verdicts}
    for link in page(of).links:
        place, _, fragment = link.partition("#")
        if place:
            assert fragment in parsed(files(of)[place].decode()).ids
        elif fragment.startswith("case="):
            assert unquote(fragment.removeprefix("case=")) in cases
        elif not fragment.startswith("filter?"):
            assert fragment in page(of).ids


@each_page
def test_a_link_to_a_filter_names_options_of_the_form(of: MakeCertificate) -> None:
    options = html(of)
    links = [link for link in page(of).links if link.startswith("#filter?")]
    assert links
    for link in links:
        for pair in link.removeprefix("#filter?").split("&"):
            assert f"<option>{unquote(pair.partition('=')[2])}</option>" in options


@each_page
def test_the_conclusion_comes_first_with_the_facts_of_the_run(of: MakeCertificate) -> None:
    certificate = of()
    head = normal(page(of).text.partition("On this page")[0])
    assert ("Not conformant" in head) is not certificate.conformant
    assert ("bit-exact" in head) is certificate.conformant
    selection = "operator directml/DML_OPERATOR_SPLIT"
    for fact in (certificate.backend.name, certificate.suite.digest, selection):
        assert fact in head
    assert "none; the scope is what the backend declares" in head
    assert certificate.platform.date.replace("T", " ") in head
    assert certificate.platform.machine in head
    assert all(reason in head for reason in certificate.reasons)


@each_page
def test_the_counts_of_the_matrix_add_up_to_those_of_the_certificate(of: MakeCertificate) -> None:
    cells = [str(attrs["title"]) for _, attrs in page(of).tags if attrs.get("title")]
    total: Counter[str] = sum((parse_counts(cell) for cell in cells), Counter())
    assert total == Counter({s: n for s, n in of().counts.items() if n})


@each_page
def test_every_status_has_a_mark_and_a_name(of: MakeCertificate) -> None:
    text = page(of).text
    for status in {verdict.status for verdict in of().verdicts}:
        assert f"{STATUS_MARKS[status]} {status}" in text


def test_the_certificate_of_the_test_has_every_status() -> None:
    assert {verdict.status for verdict in samples.faulty().verdicts} == set(STATUSES)


@each_page
def test_every_rule_with_cases_has_its_row_with_its_counts(of: MakeCertificate) -> None:
    texts = samples.suite().operators[of().verdicts[0].operator].index.rules
    of_rule: dict[str, list[Verdict]] = {}
    for verdict in of().verdicts:
        for rule in verdict.rules if verdict.counts_for_rules else ():
            of_rule.setdefault(rule, []).append(verdict)
    text = normal(page(of).text)
    assert of_rule
    for rule, verdicts in of_rule.items():
        entry = texts[rule]
        row = f"{rule} {entry.text} {entry.clause} {len(verdicts)} {by_status(verdicts)}"
        assert normal(row) in text, rule


def test_every_cause_has_a_case_with_expected_and_actual_elements() -> None:
    certificate, text = samples.faulty(), normal(page(samples.faulty).text)
    verdicts = {verdict.case: verdict for verdict in certificate.verdicts}
    parts = text.split(" Operator directml/")[1:]
    assert len(parts) == len(certificate.causes) > 2
    for cause, part in zip(certificate.causes, parts, strict=True):
        shown = verdicts[cause.representative]
        assert shown.case in part
        assert normal(shown.detail.partition("\n")[0]) in part
        assert "Not confirmed in a fresh process." in part
        if shown.case in certificate.excerpts:
            assert "whole" in part or "elements" in part
    assert len(certificate.excerpts) >= 2


def test_differing_elements_are_marked() -> None:
    rows = [attributes for tag, attributes in page(samples.faulty).tags if tag == "tr"]
    assert [row for row in rows if row.get("class") == "differs"]
    # A NaN of f16, bf16 or f64 whose bits are lost.
    text = page(samples.faulty).text
    assert any(bits in text for bits in ("0x7e00", "0x7fc0", "0x7ff8000000000000"))


def test_a_report_without_failures_says_so() -> None:
    text = normal(page(samples.right).text)
    assert "Failures None." in text
    assert "details" not in [tag for tag, _ in page(samples.right).tags]


def test_texts_of_a_backend_are_escaped_and_complete() -> None:
    parsed_page = parsed(html(samples.faulty))
    assert [tag for tag, _ in parsed_page.tags].count("script") == 2
    assert html(samples.faulty).count("</script>") == 2
    assert page(samples.faulty).text.count(samples.HOSTILE_TEXT) >= 4
    assert [row for row in data(samples.faulty)["cases"] if samples.HOSTILE_TEXT in row[6]]


def test_printed_text_is_separate_from_the_observation() -> None:
    text = page(samples.faulty).text
    assert f"Output of the backend during the call:\n{samples.HOSTILE_TEXT}\nsecond line" in text
    assert "printed: " not in text


def test_waivers_have_their_reason_owner_and_expiry() -> None:
    text = normal(page(samples.faulty).text)
    assert f"dml-split/* any {normal(samples.HOSTILE_TEXT)} a team a/link 2030-01-01" in text


@each_page
def test_the_list_of_cases_has_every_verdict(of: MakeCertificate) -> None:
    names = data(of)
    rows = [
        (case, names["operators"][operator], names["statuses"][status]["name"])
        for case, operator, _, status, *_ in names["cases"]
    ]
    assert rows == [(v.case, v.operator, v.status) for v in of().verdicts]
    failures = [status["name"] for status in names["statuses"] if status["failure"]]
    assert sorted(failures) == sorted(FAILURE_STATUSES)
    for row, verdict in zip(names["cases"], of().verdicts, strict=True):
        assert [names["rules"][number] for number in row[5]] == list(verdict.rules)
        assert (None if row[4] is None else names["kinds"][row[4]]) == verdict.kind


def test_feature_levels_count_their_cases() -> None:
    operator = samples.suite().operators["directml/DML_OPERATOR_SPLIT"]
    text = normal(page(samples.faulty).text)
    verdicts = {verdict.case: verdict for verdict in samples.faulty().verdicts}
    assert operator.index.feature_levels
    for level in operator.index.feature_levels:
        inside = [
            verdicts[case.id]
            for case in operator.index.cases
            if level in operator.cases[case.baseline or case.id].feature_levels
        ]
        row = f"DML_OPERATOR_SPLIT {level} {len(inside)} {by_status(inside)}"
        assert row in text


def test_the_same_certificate_gives_the_same_bytes() -> None:
    assert report_files(samples.faulty(), samples.suite()) == files(samples.faulty)
