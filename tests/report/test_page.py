"""The page of a certificate, as HTML: nothing is lost, nothing is markup, every link leads on."""

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
from opcert.verdicts import FAILURE_STATUSES, STATUSES, Verdict, group_by_cause
from tests import shown
from tests.parsed_pages import Page, parsed

Made = Callable[[], Certificate]
DATA = '<script type="application/json" id="verdicts">'
each_page = pytest.mark.parametrize("of", [shown.right, shown.faulty], ids=["right", "faulty"])


@cache
def files(of: Made) -> Mapping[str, bytes]:
    return report_files(of(), shown.suite())


def html(of: Made) -> str:
    return files(of)[REPORT_FILE].decode()


@cache
def page(of: Made) -> Page:
    """What a reader without scripts has."""
    before, _, after = html(of).partition(DATA)
    text = before + re.sub(r"(?s)^.*</script>", "", after)
    return parsed(re.sub(r"</(td|th|dt|dd)>", r" \g<0>", text))


def data(of: Made) -> dict[str, Any]:
    """What the list of cases is made of."""
    text = html(of).partition(DATA)[2].partition("</script>")[0]
    found: dict[str, Any] = json.loads(text)
    return found


def told(text: str) -> Counter[str]:
    """Read counts as they are told: 3 pass, 1 fail."""
    pairs = (each.split(" ") for each in text.split(", "))
    return Counter({status: int(number) for number, status in pairs})


def by_status(verdicts: Sequence[Verdict]) -> str:
    """Tell how many verdicts have each status, the gravest first, as the page does."""
    tally = count_statuses(verdicts)
    counts = {tally.status: tally.count, **tally.others}
    return ", ".join(f"{STATUS_MARKS[status]} {count} {status}" for status, count in counts.items())


def normal(text: str) -> str:
    return " ".join(text.split())


@each_page
def test_it_is_well_formed_with_unique_ids_and_headings_in_order(of: Made) -> None:
    found = parsed(html(of))
    assert len(set(found.ids)) == len(found.ids)
    levels = [int(tag[1]) for tag, _ in found.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@each_page
def test_it_asks_for_nothing_beside_it(of: Made) -> None:
    found = parsed(html(of))
    assert not {"img", "link", "iframe", "object"} & {tag for tag, _ in found.tags}
    assert not [given for tag, given in found.tags if "src" in given]
    assert "url(" not in html(of)
    assert "@import" not in html(of)
    policy = next(g for _, g in found.tags if g.get("http-equiv") == "Content-Security-Policy")
    assert str(policy["content"]).startswith("default-src 'none';")


@each_page
def test_every_link_leads_somewhere(of: Made) -> None:
    found, cases = page(of), {each.case for each in of().verdicts}
    for link in found.links:
        place, _, fragment = link.partition("#")
        if place:
            assert fragment in parsed(files(of)[place].decode()).ids
        elif fragment.startswith("case="):
            assert unquote(fragment.removeprefix("case=")) in cases
        elif not fragment.startswith("filter?"):
            assert fragment in found.ids


@each_page
def test_a_link_to_a_part_of_the_cases_names_what_can_be_chosen(of: Made) -> None:
    options = html(of)
    links = [each for each in page(of).links if each.startswith("#filter?")]
    assert links
    for link in links:
        for pair in link.removeprefix("#filter?").split("&"):
            assert f"<option>{unquote(pair.partition('=')[2])}</option>" in options


@each_page
def test_the_answer_comes_first_with_what_it_is_about(of: Made) -> None:
    certificate = of()
    head = normal(page(of).text.partition("On this page")[0])
    assert ("Not conformant" in head) is not certificate.conformant
    assert ("bit-exact" in head) is certificate.conformant
    for said in (certificate.backend.name, certificate.suite.digest, "operator directml/*"):
        assert said in head
    assert "none; the scope is what the backend declares" in head
    assert certificate.platform.date.replace("T", " ") in head
    assert certificate.platform.machine in head
    assert all(reason in head for reason in certificate.reasons)


@each_page
def test_the_counts_of_the_matrix_add_up_to_those_of_the_certificate(of: Made) -> None:
    cells = [str(given["title"]) for _, given in page(of).tags if given.get("title")]
    total: Counter[str] = sum((told(each) for each in cells), Counter())
    assert total == Counter({s: n for s, n in of().counts.items() if n})


@each_page
def test_every_status_is_told_apart_by_mark_and_by_name(of: Made) -> None:
    text = page(of).text
    for status in {each.status for each in of().verdicts}:
        assert f"{STATUS_MARKS[status]} {status}" in text


def test_the_certificate_of_the_test_has_every_status() -> None:
    assert {each.status for each in shown.faulty().verdicts} == set(STATUSES)


@each_page
def test_every_rule_with_cases_has_its_row_with_its_counts(of: Made) -> None:
    texts = shown.suite().operators[of().verdicts[0].operator].index.rules
    of_rule: dict[str, list[Verdict]] = {}
    for each in of().verdicts:
        for rule in each.rules if each.counts_for_rules else ():
            of_rule.setdefault(rule, []).append(each)
    text = normal(page(of).text)
    assert of_rule
    for rule, verdicts in of_rule.items():
        entry = texts[rule]
        row = f"{rule} {entry.text} {entry.clause} {len(verdicts)} {by_status(verdicts)}"
        assert normal(row) in text, rule


def test_every_cause_is_there_with_its_smallest_case_expected_and_got() -> None:
    certificate, text = shown.faulty(), normal(page(shown.faulty).text)
    found = group_by_cause(certificate.verdicts)
    parts = text.split(" Operator directml/")[1:]
    assert len(parts) == len(found) > 5
    for cause, part in zip(found, parts, strict=True):
        smallest = cause.smallest_failure(shown.suite().cases)
        assert smallest.case in part
        assert normal(smallest.detail.partition("\n")[0]) in part
        assert "Not confirmed in a fresh process." in part
        if smallest.case in certificate.excerpts:
            assert "whole" in part or "elements" in part
    assert len(certificate.excerpts) >= 2


def test_the_elements_that_differ_are_marked() -> None:
    rows = [given for tag, given in page(shown.faulty).tags if tag == "tr"]
    assert [each for each in rows if each.get("class") == "differs"]
    # A NaN of f16, bf16 or f64 whose bits are lost.
    text = page(shown.faulty).text
    assert any(bits in text for bits in ("0x7e00", "0x7fc0", "0x7ff8000000000000"))


def test_where_nothing_failed_the_page_says_so() -> None:
    text = normal(page(shown.right).text)
    assert "Failures None." in text
    assert "details" not in [tag for tag, _ in page(shown.right).tags]


def test_what_a_backend_says_is_no_markup_and_is_all_there() -> None:
    found = parsed(html(shown.faulty))
    assert [tag for tag, _ in found.tags].count("script") == 2
    assert html(shown.faulty).count("</script>") == 2
    assert page(shown.faulty).text.count(shown.ODD) >= 4
    assert [each for each in data(shown.faulty)["cases"] if shown.ODD in each[6]]


def test_what_was_printed_stands_apart_from_what_was_observed() -> None:
    text = page(shown.faulty).text
    assert f"Printed meanwhile:\n{shown.ODD}\nsecond line" in text
    assert "printed: " not in text


def test_waivers_are_shown_with_reason_owner_and_end() -> None:
    text = normal(page(shown.faulty).text)
    assert f"dml-split/* any {normal(shown.ODD)} a team a/link 2030-01-01" in text


@each_page
def test_the_list_has_every_case_with_its_verdict(of: Made) -> None:
    found = data(of)
    rows = [
        (case, found["operators"][operator], found["statuses"][status]["name"])
        for case, operator, _, status, *_ in found["cases"]
    ]
    assert rows == [(each.case, each.operator, each.status) for each in of().verdicts]
    failures = [each["name"] for each in found["statuses"] if each["failure"]]
    assert sorted(failures) == sorted(FAILURE_STATUSES)
    for row, verdict in zip(found["cases"], of().verdicts, strict=True):
        assert [found["rules"][each] for each in row[5]] == list(verdict.rules)
        assert (None if row[4] is None else found["kinds"][row[4]]) == verdict.kind


def test_feature_levels_count_the_cases_that_are_in_them() -> None:
    operator = shown.suite().operators["directml/DML_OPERATOR_SPLIT"]
    text = normal(page(shown.faulty).text)
    verdicts = {each.case: each for each in shown.faulty().verdicts}
    assert operator.index.feature_levels
    for level in operator.index.feature_levels:
        inside = [
            verdicts[each.id]
            for each in operator.index.cases
            if level in operator.cases[each.baseline or each.id].feature_levels
        ]
        row = f"DML_OPERATOR_SPLIT {level} {len(inside)} {by_status(inside)}"
        assert row in text


def test_the_same_certificate_gives_the_same_bytes() -> None:
    assert report_files(shown.faulty(), shown.suite()) == files(shown.faulty)
