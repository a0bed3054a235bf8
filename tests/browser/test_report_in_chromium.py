"""The report in a real browser, opened from disk: filtered, unfolded, printed, audited."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from opcert.report.files import render_side_by_side, report_files
from opcert.suite.format import IndexedCase
from opcert.verdicts.verdict import FAILURE_STATUSES, STATUSES, Verdict
from tests import samples
from tests.browser.chromium import expect, launched, opened

PAGES = ["right", "faulty", "side-by-side"]
WIDTHS = [360, 400, 900, 1400]
# The rows of the list of cases.
ROWS = "ol.cases > li"
each_page = pytest.mark.parametrize("name", PAGES)
each_scheme = pytest.mark.parametrize("scheme", ["light", "dark"])


def verdicts() -> tuple[Verdict, ...]:
    return samples.faulty().verdicts


@cache
def cases() -> dict[str, IndexedCase]:
    return {case.id: case for _, case in samples.suite()}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages on disk, in folders with a blank and an umlaut in their names."""
    home = tmp_path_factory.mktemp("a b\N{LATIN SMALL LETTER O WITH DIAERESIS}")
    files = {
        "right": report_files(samples.right(), samples.suite()),
        "faulty": report_files(samples.faulty(), samples.suite()),
        "side-by-side": render_side_by_side([samples.right(), samples.faulty(), samples.right()]),
    }
    found = {}
    for name, of in files.items():
        for path, data in of.items():
            (home / name / path).parent.mkdir(parents=True, exist_ok=True)
            (home / name / path).write_bytes(data)
        page = "side-by-side.html" if name == "side-by-side" else "report.html"
        found[name] = home / name / page
    return found


@pytest.fixture
def page(browser: Any, paths: dict[str, Path]) -> Iterator[Any]:
    """The report of the faulty backend."""
    with opened(browser, paths["faulty"]) as report:
        yield report


def listed(page: Any) -> int:
    """Return the number of cases that the list states."""
    return int(page.locator("#cases .live").inner_text().partition(" ")[0].replace(",", ""))


def expect_listed(page: Any, number: int) -> None:
    """Wait until the list states a number of cases: a link's event comes after its click."""
    expect(page.locator("#cases .live")).to_have_text(re.compile(f"^{number:,} of "))


@each_scheme
@each_page
def test_axe_finds_no_violations(
    name: str, scheme: str, browser: Any, paths: dict[str, Path]
) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe: opcert[browser]"
    )
    # The page's own content security policy would block axe.
    with opened(browser, paths[name], bypass_csp=True, color_scheme=scheme) as found:
        # An opened cause, operator and case, and everything that is folded.
        found.evaluate(
            "document.querySelectorAll('header details, main details')"
            ".forEach((details, i) => { if (i < 30) details.open = true; })"
        )
        for case in found.locator("details.case").all()[:3]:
            case.evaluate("details => { details.open = true; }")
        results = axe.Axe().run(found)
        assert results.violations_count == 0, results.generate_report()


@each_page
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_is_no_wider_than_the_window(
    name: str, width: int, browser: Any, paths: dict[str, Path]
) -> None:
    with opened(browser, paths[name], viewport={"width": width, "height": 800}) as found:
        found.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert found.evaluate("document.documentElement.scrollWidth") <= width


def test_the_conclusion_is_on_the_first_screen(page: Any) -> None:
    conclusion = page.locator(".conclusion")
    assert "Not conformant" in conclusion.inner_text()
    assert conclusion.bounding_box()["y"] < 250


def test_without_a_filter_every_case_matches_and_the_first_are_displayed(page: Any) -> None:
    expect_listed(page, len(verdicts()))
    assert page.locator(ROWS).count() == 200
    page.get_by_role("button", name="Show more").click()
    assert page.locator(ROWS).count() == 400


@pytest.mark.parametrize("status", [*STATUSES, "failures"])
def test_filter_by_status(status: str, page: Any) -> None:
    page.get_by_label("Status", exact=True).select_option(status)
    statuses = FAILURE_STATUSES if status == "failures" else (status,)
    expect_listed(page, sum(verdict.status in statuses for verdict in verdicts()))


def test_filter_by_operator_type_and_rule_together(page: Any) -> None:
    rule = verdicts()[0].rules[0]
    page.get_by_label("Operator", exact=True).select_option(verdicts()[0].operator)
    page.get_by_label("Type", exact=True).select_option("f32")
    page.get_by_label("Rule", exact=True).select_option(rule)
    expected = [v.case for v in verdicts() if rule in v.rules and cases()[v.case].type == "f32"]
    assert expected
    assert page.locator(f"{ROWS} summary .id").all_inner_texts() == expected
    page.get_by_role("button", name="Clear").click()
    expect_listed(page, len(verdicts()))


@pytest.mark.parametrize("text", ["VALID-F16", "musical", "expected 0x", "<script>", "none such"])
def test_filter_by_text_typed_key_by_key(text: str, page: Any) -> None:
    page.get_by_label("Text", exact=True).press_sequentially(text)
    texts = [f"{v.case} {v.detail.partition(chr(10))[0][:200]}".lower() for v in verdicts()]
    expect_listed(page, sum(text.lower() in searched for searched in texts))


def test_a_cell_of_the_matrix_links_to_its_cases(page: Any) -> None:
    page.locator(".matrix td.fail:not(.all) a, .matrix td.crash:not(.all) a").first.click()
    chosen = page.get_by_label("Type", exact=True)
    expect(chosen).not_to_have_value("")
    expect_listed(page, sum(cases()[v.case].type == chosen.input_value() for v in verdicts()))
    expect(page.locator("form.filter")).to_be_in_viewport()


def test_a_link_to_a_case_shows_and_highlights_it(browser: Any, paths: dict[str, Path]) -> None:
    case = verdicts()[7].case
    with opened(browser, paths["faulty"], f"#case={case}") as found:
        selected = found.locator(f"{ROWS} .selected")
        expect(selected.locator("summary .id")).to_have_text([case])
        expect(selected.locator(".inside")).to_be_visible()
        expect(selected).to_be_in_viewport()


@pytest.mark.parametrize(
    "fragment", ["#case=%", "#case=none", "#filter?status=nothing&x=1", "#%E0", "#filter?"]
)
def test_a_link_to_an_unknown_case_or_filter_is_ignored(
    fragment: str, browser: Any, paths: dict[str, Path]
) -> None:
    with opened(browser, paths["faulty"], fragment) as found:
        assert found.locator("#cases .live").inner_text()


def test_a_counter_a_rule_and_a_cause_link_to_their_cases(page: Any) -> None:
    page.locator(".tally li.crash a").click()
    expect_listed(page, samples.faulty().counts["crash"])
    page.locator("#cases").get_by_role("button", name="Clear").click()
    expect_listed(page, len(verdicts()))
    rule = page.locator(".rules li").first
    name = rule.get_attribute("id")
    rule.locator(".verdicts a").click()
    expect_listed(page, sum(name in verdict.rules for verdict in verdicts()))
    page.locator("details.bug > summary").first.click()
    page.locator("details.bug").first.get_by_text("List the").first.click()
    expect(page.get_by_label("Cause", exact=True)).to_have_value("1")
    assert listed(page) == page.locator("ol.cases .mark").count() > 0


def test_an_opened_case_shows_call_expectation_levels_and_program(page: Any) -> None:
    page.get_by_label("Status", exact=True).select_option("fail")
    page.locator("ol.cases summary").first.click()
    terms = page.locator("ol.cases details[open] dt").all_inner_texts()
    assert {"Verdict", "Call", "Expected", "Observed", "Rules", "Program"} <= set(terms)
    program = page.locator("ol.cases details[open] dd pre").last.inner_text()
    assert program.startswith("opcert explain --program ")


def test_a_list_is_shared_by_its_address(page: Any, paths: dict[str, Path], browser: Any) -> None:
    page.get_by_label("Type", exact=True).select_option("f32")
    page.get_by_label("Text", exact=True).fill("valid")
    fragment = page.evaluate("location.hash")
    with opened(browser, paths["faulty"], fragment) as other:
        assert listed(other) == listed(page) < len(verdicts())


def test_everything_in_a_section_expands_and_collapses(page: Any) -> None:
    section = page.locator("section:has(> .heading #bugs)")
    section.get_by_role("button", name="Expand all").click()
    assert section.locator("details:not([open])").count() == 0
    section.get_by_role("button", name="Collapse all").click()
    assert section.locator("details[open]").count() == 0


def test_a_program_is_copied(browser: Any, paths: dict[str, Path]) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    with opened(browser, paths["faulty"], permissions=permissions) as found:
        found.locator("details.bug > summary").first.click()
        button = found.get_by_role("button", name="Copy the program").first
        button.click()
        found.get_by_text("Copied", exact=True).wait_for()
        program = found.locator("pre[data-copy=program]").first.inner_text()
        assert found.evaluate("navigator.clipboard.readText()").strip() == program.strip()


def test_the_navigation_stays_in_view_and_names_the_section(page: Any) -> None:
    page.get_by_role("navigation").get_by_text("Rules").click()
    expect(page.get_by_role("navigation")).to_be_in_viewport()
    expect(page.locator(".contents a[aria-current]")).to_have_text("Rules")


def test_a_link_to_what_is_folded_unfolds_it(browser: Any, paths: dict[str, Path]) -> None:
    with opened(browser, paths["faulty"], "#cause-2") as found:
        assert found.locator("details.bug[open] #cause-2").count() == 1
        expect(found.locator("#cause-2")).to_be_in_viewport()


def test_a_failure_is_unfolded_by_keyboard(page: Any) -> None:
    folded = page.locator("details.bug:not([open])").first.element_handle()
    summary = folded.query_selector("summary")
    summary.focus()
    page.keyboard.press("Enter")
    assert folded.evaluate("details => details.open")
    assert folded.query_selector("pre").is_visible()
    page.keyboard.press("Space")
    assert not folded.evaluate("details => details.open")


def test_the_first_tab_stop_skips_to_the_content(page: Any) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"


def test_texts_of_a_backend_are_never_executed(browser: Any, paths: dict[str, Path]) -> None:
    with opened(browser, paths["faulty"]) as found:
        alerts: list[str] = []
        found.on("dialog", lambda dialog: alerts.append(dialog.message))
        found.get_by_label("Text", exact=True).fill("<script>")
        assert found.locator(f"{ROWS} script").count() == 0
        assert listed(found) > 0
        assert not alerts


@each_page
def test_it_prints(name: str, browser: Any, paths: dict[str, Path]) -> None:
    with opened(browser, paths[name]) as found:
        pdf = found.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type /Page\b", pdf)) > 1


@each_page
def test_a_printed_page_is_no_wider_than_the_sheet(
    name: str, browser: Any, paths: dict[str, Path]
) -> None:
    with opened(browser, paths[name], viewport={"width": 720, "height": 1000}) as found:
        found.emulate_media(media="print")
        assert found.evaluate("document.documentElement.scrollWidth") <= 720


def test_printing_unfolds_every_failure_and_folds_it_again(page: Any) -> None:
    folded = page.locator("details.bug:not([open])").count()
    assert folded
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.bug:not([open])").count() == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.bug:not([open])").count() == folded


@pytest.mark.parametrize("name", ["right", "faulty"])
def test_without_scripts_everything_but_the_list_is_visible(
    name: str, browser: Any, paths: dict[str, Path]
) -> None:
    with opened(browser, paths[name], java_script_enabled=False) as found:
        for selector in (".conclusion", ".matrix", "#bugs", "#rules", "noscript p"):
            assert found.locator(selector).first.is_visible(), selector
        assert not found.locator("form.filter").is_visible()
        summaries = found.locator("details.bug > summary")
        if name == "faulty":
            summaries.last.click()
            assert found.locator("details.bug").last.locator("pre").first.is_visible()
        assert not found.locator("[data-needs-script]:visible, .copy").count()


def test_statuses_are_distinguishable_without_colour(page: Any) -> None:
    marks: Callable[[], list[str]] = page.locator(".tally .mark").all_inner_texts
    assert len(set(marks())) == len({verdict.status for verdict in verdicts()})
