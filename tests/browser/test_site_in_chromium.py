"""The site of `opcert docs` in a real browser, opened from disk: search, links, an audit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from opcert.pages.guides import GUIDES
from opcert.pages.site import render_site, write_site
from opcert.suite.suite import Suite
from tests.browser.chromium import launched, opened
from tests.shipped import SPECS, spec

SPLIT = "openvino-VariadicSplit-1"
PAGES = [*(f"{name}.html" for name in GUIDES), "operators.html", f"{SPLIT}.html"]
WIDTHS = [360, 800, 1400]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site on disk, in a folder with a blank and an umlaut in its name."""
    folder = tmp_path_factory.mktemp("a b\N{LATIN SMALL LETTER O WITH DIAERESIS}") / "docs"
    write_site(folder, render_site([spec(name) for name in SPECS], Suite()))
    return folder


def search(page: Any, query: str) -> Any:
    """Type a query, and return the links of the results."""
    page.keyboard.press("/")
    page.keyboard.type(query)
    page.locator(".results [role=status]", has_text="result").wait_for()
    return page.locator(".results a")


def test_search_finds_a_rule_and_a_link_leads_on_to_a_case(browser: Any, site: Path) -> None:
    with opened(browser, site / "index.html", site=site) as page:
        first = search(page, "variadic-split-1/axis-range").first
        assert first.locator(".name").inner_text() == "variadic-split-1/axis-range"
        assert first.locator(".kind").inner_text() == "rule"
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/{SPLIT}.html#variadic-split-1/axis-range")
        rule = page.locator("article:target")
        assert rule.locator("h4").inner_text() == "variadic-split-1/axis-range"
        link = rule.locator("a[href*='-cases.html#']").first
        case = link.inner_text()
        link.click()
        page.wait_for_url(f"**/{SPLIT}-cases.html#**")
        target = page.locator("article:target")
        assert target.locator("h3").inner_text() == case
        assert 0 <= target.bounding_box()["y"] < 900
        # From the case back to the rule that it shows.
        target.locator(f"a[href^='{SPLIT}.html#']").first.click()
        page.wait_for_url(f"**/{SPLIT}.html#**")


def test_search_finds_sections_of_guides_and_cases(browser: Any, site: Path) -> None:
    with opened(browser, site / f"{SPLIT}.html", site=site) as page:
        results = search(page, "measure strength")
        assert results.first.get_attribute("href") == "specs.html#6-measure-the-strength"
        page.keyboard.press("Control+a")
        page.keyboard.type("gather-8/example-7")
        page.locator(".results .name", has_text="gather-8/example-7").first.wait_for()
        assert results.first.locator(".kind").inner_text() == "case"


def test_results_are_reached_and_left_by_keyboard(browser: Any, site: Path) -> None:
    with opened(browser, site / "specs.html", site=site) as page:
        results = search(page, "axis")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        assert results.nth(1).evaluate("link => link === document.activeElement")
        page.keyboard.press("Escape")
        assert not page.locator(".results").is_visible()
        assert page.evaluate("document.activeElement.type") == "search"


@pytest.mark.parametrize("query", ["<script>alert(1)</script>", "qqq zzz", "a" * 500])
def test_a_query_without_results_says_so(query: str, browser: Any, site: Path) -> None:
    with opened(browser, site / "operators.html", site=site) as page:
        assert search(page, query).count() == 0
        assert page.locator(".results [role=status]").inner_text() == "0 results"


def test_without_scripts_all_but_the_search_is_there(browser: Any, site: Path) -> None:
    with opened(browser, site / "index.html", site=site, java_script_enabled=False) as page:
        assert not page.locator("form.search").is_visible()
        page.get_by_role("navigation", name="Pages").get_by_text("openvino/Gather-8").click()
        assert page.locator("h1").inner_text() == "openvino/Gather-8"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(name: str, scheme: str, browser: Any, site: Path) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe: opcert[browser]"
    )
    # Within a context whose policy lets axe in; the page's own lets nothing in.
    with opened(browser, site / name, site=site, bypass_csp=True, color_scheme=scheme) as page:
        search(page, "axis range")
        results = axe.Axe().run(page)
        assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [*PAGES, f"{SPLIT}-cases.html"])
def test_nothing_is_beyond_the_side_of_the_window(
    name: str, width: int, browser: Any, site: Path
) -> None:
    with opened(browser, site / name, site=site, viewport={"width": width, "height": 800}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
