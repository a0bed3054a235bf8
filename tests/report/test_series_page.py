"""The page of a series: operators and causes of all copies together, with links to each."""

import re
from dataclasses import replace

from opcert.errors import visible_text
from opcert.report.files import render_series
from opcert.report.series_page import SeriesPage
from tests import samples
from tests.parsed_pages import parsed


def html(page: SeriesPage) -> str:
    (text,) = render_series(page).values()
    return text.decode()


def test_statuses_are_summed_by_operator() -> None:
    page = samples.series()
    certificates = samples.right(), samples.faulty(), samples.run_of_faulty()
    for operator, tally in page.operators.items():
        for status, count in tally.counts.items():
            assert count == sum(each.operators[operator][status] for each in certificates)
    assert sum(tally.cases for tally in page.operators.values()) == page.tally.cases


def test_causes_with_the_same_words_are_one() -> None:
    page = samples.series()
    keys = [(cause.operator, cause.statement) for cause in page.causes]
    assert len({*keys}) == len(keys)
    certificates = {"copy-01": samples.faulty(), "copy-02": samples.run_of_faulty()}
    merged = [
        (folder, of_copy.number)
        for cause in page.causes
        for folder, causes in cause.places.items()
        for of_copy in causes
    ]
    assert sorted(merged) == [
        (folder, number)
        for folder, certificate in certificates.items()
        for number in range(1, len(certificate.causes) + 1)
    ]
    assert any(len(cause.places) == 2 for cause in page.causes)
    failures = sum(cause.failures for cause in page.causes)
    causes = [cause for each in certificates.values() for cause in each.causes]
    assert failures == sum(len(cause.cases) for cause in causes)


def test_causes_of_the_most_copies_come_first() -> None:
    counts = [len(cause.places) for cause in samples.series().causes]
    assert counts == sorted(counts, reverse=True)


def test_each_copy_and_each_cause_has_a_link() -> None:
    linked = re.findall(r'href="(copy-\d\d)/report\.html(?:#cause-(\d+))?"', html(samples.series()))
    certificates = samples.right(), samples.faulty(), samples.run_of_faulty()
    causes = [
        (f"copy-0{k}", str(number))
        for k, each in enumerate(certificates)
        for number in range(1, len(each.causes) + 1)
    ]
    assert sorted(linked) == sorted([*causes, *((f"copy-0{k}", "") for k in range(3))])


def test_a_copy_without_a_report_has_no_link() -> None:
    page = samples.series()
    copies = [replace(copy, has_report=copy.result.folder != "copy-01") for copy in page.copies]
    text = html(SeriesPage(page.result, copies))
    assert "copy-01" in text
    assert 'href="copy-01/' not in text
    assert 'href="copy-02/report.html"' in text


def test_links_lead_to_the_folder_of_the_copies() -> None:
    page = samples.series()
    elsewhere = SeriesPage(page.result, page.copies, "../a b#")
    assert 'href="../a%20b%23/copy-00/report.html"' in html(elsewhere)


def test_a_missing_copy_is_stated() -> None:
    page = samples.series()
    assert page.conclusion == "Not conformant: 2 of 3 certified copies, of 4"
    assert page.conclusion_line.startswith("NOT CONFORMANT: 2 of 3 certified copies, of 4: ")


def test_the_page_is_well_formed_and_has_no_script() -> None:
    text = html(samples.series())
    parsed(text)
    assert "<script" not in text
    assert visible_text(text) == text
