"""The HTML report of a certificate: it is complete, every text is escaped, every link works."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest

from opcert import certify
from opcert.certificate.certificate import Certificate
from opcert.errors import visible_text
from opcert.report.cause_section import observation_lines
from opcert.report.files import REPORT_FILE, report_files
from opcert.report.side_by_side import KIND_MEANINGS, STATUS_MARKS, STATUS_MEANINGS, count_statuses
from opcert.verdicts.cause_text import bugs_of
from opcert.verdicts.verdict import FAILURE_STATUSES, STATUSES, Verdict
from tests import samples
from tests.parsed_pages import Page, parsed

MakeCertificate = Callable[[], Certificate]
DATA = '<script type="application/json" id="verdicts">'
# Verdicts whose cases the page shows without their calls.
UNEXPLAINED = ("pass", "unsupported", "not-run", "out-of-claim")
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


def data(of: MakeCertificate, name: str = "verdicts") -> dict[str, Any]:
    """Return the data of the list of cases, or of opened cases."""
    text = html(of).partition(DATA.replace("verdicts", name))[2].partition("</script>")[0]
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
    return ", ".join(
        f"{STATUS_MARKS[status]} {count:,} {status}" for status, count in counts.items()
    )


# As a page shows it.
VISIBLE_TEXT = visible_text(samples.HOSTILE_TEXT)


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
            assert fragment in ("", *parsed(files(of)[place].decode()).ids)
        elif fragment.startswith("case="):
            assert unquote(fragment.removeprefix("case=")) in cases
        elif fragment.startswith("filter?"):
            for field, value in parse_qsl(fragment.removeprefix("filter?"), strict_parsing=True):
                assert f'name="{field}"' in html(of)
                options = (f"<option>{value}</option>", f'<option value="{value}">')
                assert field == "text" or any(option in html(of) for option in options)
        else:
            assert fragment in page(of).ids


@each_page
def test_the_answer_comes_first_then_bugs_and_the_scope_last(of: MakeCertificate) -> None:
    certificate = of()
    head, _, _ = page(of).text.partition(" Bugs")
    assert certificate.conclusion in normal(head)
    assert ("decisive cases fail" in head) is not certificate.conformant
    assert ("None: no case in scope fails." in normal(page(of).text)) is certificate.conformant
    headings = [i for tag, i in page(of).tags if tag == "h2"]
    assert [heading["id"] for heading in headings] == [
        *("bugs", "matrix", "rules", "levels", "cases-title", "scope")
    ]


def test_documented_examples_that_fail_are_named_first() -> None:
    certificate, suite = samples.faulty(), samples.suite()
    failures = [v.case for v in certificate.verdicts if v.status == "fail"]
    examples = [case for case in failures if suite.cases[case].record.example]
    head, _, rest = normal(page(samples.faulty).text).partition("Documented examples that fail")
    assert f"{len(examples)} documented examples among the failures" in head
    listed, _, _ = rest.partition(bugs_of(certificate.causes)[0].title)
    for case in examples:
        assert f"{case} {normal(suite.cases[case].record.example)}" in listed


def test_a_folded_bug_has_a_title_operators_kinds_a_call_and_what_came_of_it() -> None:
    text = normal(page(samples.faulty).text)
    verdicts = samples.faulty().by_case
    for number, bug in enumerate(bugs_of(samples.faulty().causes), 1):
        operator, case = samples.suite().cases[bug.causes[0].representative]
        first_line, _, _ = verdicts[case.id].detail.partition("\n")
        mark = STATUS_MARKS[verdicts[case.id].status]
        kinds = " ".join(f"{mark} {kind}" for kind in bug.kinds)
        operators = ", ".join(name.partition("/")[2] for name in bug.operators)
        count = f"{len(bug.cases):,} case{'s' * (len(bug.cases) > 1)}"
        call = f"{operator.describe_call(case)} {visible_text(first_line)}"
        assert normal(f"{number} {bug.title} {operators} {kinds} {count} {call}") in text


@each_page
def test_the_scope_says_what_was_selected_claimed_and_excluded(of: MakeCertificate) -> None:
    text = normal(page(of).text)
    cases = len(of().verdicts)
    of_suite = f"{cases:,} of the {of().suite.cases:,} cases of the suite"
    assert f"Selected Operator directml/DML_OPERATOR_SPLIT: {of_suite}." in text
    assert "Claimed There is no claim." in text
    assert "Declared out The backend declares nothing" in text
    assert "Excluded No rule and no level is excluded." in text


@each_page
def test_the_conditions_of_the_run_follow_the_scope(of: MakeCertificate) -> None:
    certificate, text = of(), normal(page(of).text)
    assert certificate.suite.digest in text
    assert f"Started {certificate.platform.date[:10]}" in text
    assert certificate.platform.machine in text
    assert "Command opcert.certify(backend, operator='directml/DML_OPERATOR_SPLIT'" in text
    assert re.search(r"Duration [\d.]+ (s|min \d+ s) in calls", text)


def test_files_of_the_backend_that_changed_during_the_run_are_named() -> None:
    run = samples.right().run.model_copy(update={"changed": ("acme.py",)})
    changed = report_files(samples.right().replace(run=run), samples.suite())[REPORT_FILE].decode()
    assert "acme.py: during the run, so verdicts may be of different versions" in changed


@each_page
def test_the_cells_of_the_matrix_add_up_to_the_certificate(of: MakeCertificate) -> None:
    cells = [
        str(attrs["aria-label"]).partition("; ")[2] or str(attrs["aria-label"]).partition(": ")[2]
        for tag, attrs in page(of).tags
        if tag == "a" and "type=" in str(attrs["href"]) and "aria-label" in attrs
    ]
    total: Counter[str] = sum((parse_counts(cell) for cell in cells), Counter())
    assert total == Counter({s: n for s, n in of().counts.items() if n})


def test_a_type_that_the_document_does_not_define_is_not_reported_as_passed() -> None:
    certificate = samples.faulty()
    table = html(samples.faulty).partition('<table class="matrix">')[2].partition("</table>")[0]
    (operator,) = certificate.operators
    cases = samples.suite().operators[operator].cases.values()
    undefined = {case.type for case in cases} - {
        case.type for case in cases if case.expects == "outputs"
    }
    assert undefined
    for name in undefined:
        assert f'aria-label="{operator}, {name}: not defined; ' in table
    assert table.count("not defined</") == len(undefined)


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
        row = f"{by_status(verdicts)} {entry.text} {rule} {entry.clause}"
        assert normal(row) in text, rule


def test_every_cause_has_its_sentence_and_a_case_with_the_expectation_and_the_observation() -> None:
    certificate, text = samples.faulty(), normal(page(samples.faulty).text)
    causes = certificate.causes
    assert len(causes) > 2
    verdicts = certificate.by_case
    for number, cause in enumerate(causes, 1):
        part = text.partition(f" {number} {bugs_of([cause])[0].title} ")[2]
        head, _, part = part.partition(" List the ")
        assert normal(cause.sentence) in head
        part = part.partition(" List the ")[0]
        assert f"For example {cause.representative}" in part
        observed = verdicts[cause.representative].detail.partition("\n")[0]
        assert normal(visible_text(observed)) in part
        assert "Not tried in a fresh process." in part
    assert len(certificate.excerpts) >= 2


def test_a_cause_says_what_it_leaves_unexplained() -> None:
    certificate = samples.faulty()
    first, *others = certificate.causes
    doubtful = replace(first, unmatched=first.cases[:1])
    files = report_files(certificate.replace(causes=(doubtful, *others)), samples.suite())
    text = normal(parsed(files[REPORT_FILE].decode()).text)
    assert "1 of these failures may have another cause: no combination of levels explains" in text
    assert f"explains them {first.cases[0]}" in text


def test_a_cause_has_a_call_that_passes_if_one_is_known() -> None:
    certificate = samples.faulty()
    first, *others = certificate.causes
    contrast = f"{first.cases[0]} passes with axis 1 in place of <0>"
    for own in ("", contrast):
        causes = (replace(first, contrast=own), *others)
        files = report_files(certificate.replace(causes=causes), samples.suite())
        text = normal(parsed(files[REPORT_FILE].decode()).text)
        assert (f"{contrast}." in text) == (own == contrast)


def test_a_cause_links_to_the_list_of_its_cases() -> None:
    names = data(samples.faulty)
    for number, cause in enumerate(samples.faulty().causes, 1):
        assert f"#filter?cause={number}" in page(samples.faulty).links
        listed = {row[0] for row in names["cases"] if row[6] == number}
        assert listed == {*cause.cases, *cause.attributed}


def test_statuses_and_kinds_are_explained_where_they_are_counted() -> None:
    text = normal(page(samples.faulty).text)
    assert {verdict.status for verdict in samples.faulty().verdicts} == {*STATUSES}
    for status, count in samples.faulty().counts.items():
        assert f"{STATUS_MARKS[status]} {count:,} {status}" in text
        assert f"{status} {STATUS_MEANINGS[status]}" in text
    assert f"accepted {KIND_MEANINGS['accepted']}" in text


def test_differing_elements_are_marked() -> None:
    rows = [attributes for tag, attributes in page(samples.faulty).tags if tag == "tr"]
    assert [row for row in rows if row.get("class") == "differs"]
    # A NaN of f16, bf16 or f64 whose bits are lost.
    text = page(samples.faulty).text
    assert any(bits in text for bits in ("0x7e00", "0x7fc0", "0x7ff8000000000000"))


def test_texts_of_a_backend_are_escaped_and_complete() -> None:
    parsed_page = parsed(html(samples.faulty))
    assert [tag for tag, _ in parsed_page.tags].count("script") == 3
    assert html(samples.faulty).count("</script>") == 3
    assert page(samples.faulty).text.count(VISIBLE_TEXT) >= 3
    assert [row for row in data(samples.faulty)["cases"] if VISIBLE_TEXT in row[8]]


def test_printed_text_is_separate_from_the_observation() -> None:
    text = page(samples.faulty).text
    assert f"Printed by the backend\n{VISIBLE_TEXT}\nsecond line" in text
    assert "printed: " not in text


def test_waivers_have_their_reason_owner_and_expiry() -> None:
    text = normal(page(samples.faulty).text)
    assert f"dml-split/* any {normal(VISIBLE_TEXT)} a team a/link 2030-01-01" in text


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
    assert names["times"] == [verdict.seconds for verdict in of().verdicts]
    for row, verdict in zip(names["cases"], of().verdicts, strict=True):
        assert [names["rules"][number] for number in row[5]] == list(verdict.rules)
        assert (None if row[4] < 0 else names["kinds"][row[4]]["name"]) == verdict.kind


@each_page
def test_an_opened_failure_has_call_expectation_purpose_and_baseline(
    of: MakeCertificate,
) -> None:
    names, details = data(of), data(of, "details")
    explained = [i for i, verdict in enumerate(of().verdicts) if verdict.status not in UNEXPLAINED]
    assert [*map(int, details["cases"])] == explained
    for number, opened in details["cases"].items():
        operator, case = samples.suite().cases[names["cases"][int(number)][0]]
        call, expected, purpose, baseline = opened
        assert call == operator.describe_call(case)
        if case.violated_rule is not None:
            assert case.violated_rule in details["expectations"][expected]
        assert (names["cases"][baseline][0] if baseline >= 0 else None) == case.baseline
        assert purpose


def test_an_opened_failure_has_its_whole_observation() -> None:
    certificate = samples.faulty()
    details = data(samples.faulty, "details")
    listed = [row[-1] for row in data(samples.faulty)["cases"]]
    for number, verdict in enumerate(certificate.verdicts):
        key = str(number)
        if verdict.status in (*FAILURE_STATUSES, "waived"):
            observed, printed = details["failures"].get(key, [listed[number], ""])
            lines = observation_lines(verdict)
            assert [observed, printed] == [visible_text("\n".join(part)) for part in lines]


@pytest.mark.slow
def test_the_report_of_the_core_suite_with_hundreds_of_failures_is_small() -> None:
    certificate = certify(samples.Faulty(), samples.suite())
    assert certificate.counts["fail"] > 900
    assert len(report_files(certificate, samples.suite())[REPORT_FILE]) < 5e6


def test_an_operator_that_is_not_supported_has_no_feature_levels() -> None:
    verdicts = [replace(verdict, status="unsupported") for verdict in samples.right().verdicts]
    unsupported = samples.right().model_copy(update={"verdicts": verdicts})
    assert "Feature levels" in html(samples.right)
    report = report_files(unsupported, samples.suite())[REPORT_FILE].decode()
    assert "Feature levels" not in report


def test_feature_levels_count_their_cases() -> None:
    operator = samples.suite().operators["directml/DML_OPERATOR_SPLIT"]
    text = normal(page(samples.faulty).text)
    verdicts = samples.faulty().by_case
    assert operator.index.feature_levels
    for level in operator.index.feature_levels:
        inside = [
            verdicts[case.id]
            for case in operator.cases.values()
            if level in operator.cases[case.baseline or case.id].feature_levels
        ]
        row = f"DML_OPERATOR_SPLIT {level} {len(inside):,} {by_status(inside)}"
        assert (
            f"#filter?operator=directml%2FDML_OPERATOR_SPLIT&level={level}"
            in page(samples.faulty).links
        )
        assert row in text
