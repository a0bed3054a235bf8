"""The site of `opcert docs`: well-formed pages, links that lead somewhere, no markup from specs."""

import json
import re
from functools import cache
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import pytest

from opcert.cases.factors import levels_by_factor
from opcert.errors import OpcertError
from opcert.pages.addresses import cases_page_name, page_name
from opcert.pages.guides import GUIDES, Guide
from opcert.pages.operator_page import factor_id, operator_page
from opcert.pages.rendering import render_pages
from opcert.pages.site import MARK, render_site, write_site
from opcert.specification.files import read_specs_in
from opcert.suite.suite import Suite
from tests.parsed_pages import parsed
from tests.shipped import SPECS, each_core_spec, each_spec, spec
from tests.suite_of_levels import write_specs

SCRIPTS = {"search.js", "search-index.js"}


@cache
def suite() -> Suite:
    return Suite()


@cache
def files() -> dict[str, str]:
    """The site of the operators that come with opcert, by file name."""
    site = render_site([spec(name) for name in SPECS], suite())
    return {name: data.decode() for name, data in site.items()}


def pages() -> dict[str, str]:
    """The pages of the site without its scripts."""
    return {name: text for name, text in files().items() if name not in SCRIPTS}


@cache
def standalone() -> dict[str, str]:
    """The pages of the operators as they are of a report."""
    rendered = render_pages([spec(name) for name in SPECS], suite())
    return {name: data.decode() for name, data in rendered.items()}


NAMES = [
    *(f"{name}.html" for name in GUIDES),
    "operators.html",
    *map(page_name, suite().operators),
    *map(cases_page_name, suite().operators),
]
each_page = pytest.mark.parametrize("name", NAMES)
each_standalone = pytest.mark.parametrize("name", [*map(page_name, suite().operators)])


def test_the_site_has_every_page() -> None:
    assert {*NAMES, *SCRIPTS} <= files().keys()


@each_page
def test_a_page_is_well_formed_and_its_ids_are_unique(name: str) -> None:
    page = parsed(pages()[name])
    assert len(set(page.ids)) == len(page.ids)
    assert not [value for value in page.ids if re.search(r"\s", value)]


@each_page
def test_every_link_leads_somewhere(name: str) -> None:
    for link in parsed(pages()[name]).links:
        target, _, fragment = link.partition("#")
        if re.match(r"https?:", target):
            assert name not in {"operators.html", *standalone()}, link
            continue
        assert target in ("", *pages()), link
        if fragment:
            assert fragment in parsed(pages()[target or name]).ids, link


@each_page
def test_headings_are_in_order(name: str) -> None:
    # After the content comes the navigation, with a second level of its own.
    levels = [int(tag[1]) for tag, _ in parsed(pages()[name]).tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    for before, after in pairwise(levels):
        assert after <= before + 1


@each_page
def test_a_page_loads_nothing_but_the_search(name: str) -> None:
    page = parsed(pages()[name])
    assert not {"img", "link", "iframe"} & {tag for tag, _ in page.tags}
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert scripts == [{"src": "search.js"}]
    assert "url(" not in pages()[name]
    assert "@import" not in pages()[name]


@each_page
def test_a_page_can_be_read_aloud_and_used_by_keyboard(name: str) -> None:
    tags = parsed(pages()[name]).tags
    names = [tag for tag, _ in tags]
    assert names.count("main") == names.count("header") == 1
    assert dict(tags)["html"] == {"lang": "en"}
    assert all(given.get("scope") in ("col", "row") for tag, given in tags if tag == "th")
    scrolled = [given for _, given in tags if given.get("class") == "scroll"]
    assert len(scrolled) == names.count("table")
    assert all(region["tabindex"] == "0" and region["aria-label"] for region in scrolled)


@each_page
def test_a_page_is_marked_near_its_beginning(name: str) -> None:
    assert MARK in pages()[name][:200]


@each_page
def test_the_navigation_has_every_page_and_marks_the_current_one(name: str) -> None:
    text = pages()[name]
    navigation = parsed(text[text.index('<nav class="pages"') : text.rindex("</nav>") + 6])
    assert {*navigation.links} == {*pages()}
    current = [given["href"] for _, given in navigation.tags if given.get("aria-current") == "page"]
    assert current == [name]


@each_standalone
def test_a_page_of_a_report_needs_nothing_but_the_report(name: str) -> None:
    page = parsed(standalone()[name])
    assert not {"script", "img", "link", "iframe", "form"} & {tag for tag, _ in page.tags}
    for link in page.links:
        assert link == "../report.html" or link.removeprefix("#") in page.ids


@each_spec
def test_every_rule_example_and_factor_has_its_place(name: str) -> None:
    described = spec(name).spec
    page = parsed(pages()[page_name(described.operator)])
    ids = [*(rule.id for rule in described.rules), *(law.id for law in described.laws)]
    ids += [*(erratum.id for erratum in described.errata)]
    ids += [*(ambiguity.id for ambiguity in described.ambiguities)]
    ids += [*(example.id for example in described.examples)]
    expected = set(map(described.full_id, ids))
    expected |= {
        factor_id(described.slug, factor) for factor in levels_by_factor(described, "core")
    }
    assert expected <= set(page.ids)


@pytest.mark.parametrize("operator", suite().operators)
def test_every_case_has_its_place_and_links_to_its_rule_and_baseline(operator: str) -> None:
    page = parsed(pages()[cases_page_name(operator)])
    ids, links = {*page.ids}, {*page.links}
    for case in suite().operators[operator].index.cases:
        assert case.id in ids
        if case.violated_rule is not None:
            assert f"{page_name(operator)}#{case.violated_rule}" in links
        if case.baseline is not None:
            assert f"#{case.baseline}" in links


@each_core_spec
def test_a_rule_links_to_its_cases(name: str) -> None:
    page = operator_page(spec(name), suite())
    links = {*parsed(pages()[page_name(page.spec.operator)]).links}
    cases = cases_page_name(page.spec.operator)
    for rule in page.rules:
        assert f"{cases}#{rule.cases.positive[0]}" in links
        if rule.cases.negative:
            assert f"{cases}#rejected/{rule.id}" in links


@each_spec
def test_every_text_of_a_spec_is_on_its_page(name: str) -> None:
    described = spec(name).spec
    text = " ".join(parsed(pages()[page_name(described.operator)]).text.split())
    parts = [part for rule in described.rules for part in (rule.text, rule.clause)]
    parts += [part for law in described.laws for part in (law.text, law.clause)]
    parts += [part for erratum in described.errata for part in (erratum.text, erratum.reading)]
    for ambiguity in described.ambiguities:
        readings = ambiguity.readings.__dict__.values() if ambiguity.readings else ()
        parts += [ambiguity.text, *readings, *filter(None, [ambiguity.elements])]
    parts += [part for example in described.examples for part in (example.text, example.clause)]
    parts += [argument.text for argument in described.arguments]
    parts += [rule.holds for rule in described.rules if rule.holds]
    parts += [part for name in described.names.items() for part in name]
    parts += [output.shape for output in described.outputs]
    assert all(" ".join(part.split()) in text for part in parts)


@each_core_spec
def test_a_rule_has_the_counts_of_its_cases(name: str) -> None:
    page = operator_page(spec(name), suite())
    text = parsed(pages()[page_name(page.spec.operator)]).text
    for entry in page.rules:
        section = text.partition(f"\n{entry.id}\n{entry.rule.text}\n")[2]
        numbers = re.findall(r"(?:Valid calls|Must be rejected)(\d+)", section)
        counts = [len(entry.cases.positive), len(entry.cases.negative)]
        counts = counts if entry.rule.kind == "requirement" else counts[:1]
        assert [int(number) for number in numbers[: len(counts)]] == counts


def test_the_same_specs_and_suite_give_the_same_bytes() -> None:
    (name, again) = next(
        iter(render_pages(read_specs_in(None, "openvino/VariadicSplit-1"), Suite()).items())
    )
    assert again.decode() == standalone()[name]


def test_a_spec_brings_no_markup(tmp_path: Path) -> None:
    write_specs(tmp_path)
    path = tmp_path / "take.yaml"
    hostile = "<script>alert('x')</script> & \"quoted\" </style>"
    text, times = re.subn(r"(?m)^( +)text: .*$", rf"\1text: >-\n\1  {hostile}", path.read_text())
    assert times > 3
    path.write_text(text)
    (data,) = render_pages(read_specs_in(tmp_path), suite()).values()
    page = parsed(data.decode())
    assert "script" not in [tag for tag, _ in page.tags]
    assert page.text.count(hostile) > 3
    assert "no cases of this operator" in page.text


def test_an_operator_without_cases_has_no_page_of_cases(tmp_path: Path) -> None:
    write_specs(tmp_path)
    site = render_site(read_specs_in(tmp_path), suite(), guides=[])
    assert site.keys() == {"operators.html", "example-Take-1.html", *SCRIPTS}


def test_names_in_guides_lead_to_rules_cases_and_operators() -> None:
    text = "# Guide\n\n`gather-8/axis-range`, `gather-8/example-1`, `openvino/Gather-8`, `other`"
    guide = Guide("index", "README.md", text)
    site = render_site([spec("Gather-8")], suite(), guides=[guide])
    content = site["index.html"].decode().partition("<main")[2].partition("</main>")[0]
    assert re.findall(r'href="([^"]+)"', content) == [
        "openvino-Gather-8.html#gather-8/axis-range",
        "openvino-Gather-8-cases.html#gather-8/example-1",
        "openvino-Gather-8.html",
    ]


def test_the_index_has_every_rule_case_and_section() -> None:
    script = files()["search-index.js"]
    call = script.partition("opcertSearchIndex(")[2].rpartition(")")[0]
    entries = json.loads(call)["entries"]
    titles = {entry[1] for entry in entries}
    rules = {rule.id for name in SPECS for rule in operator_page(spec(name), suite()).rules}
    assert titles >= {*rules, *suite().cases, *suite().operators, "Tutorial"}
    for _, _, _, address, _ in entries:
        page, _, fragment = address.partition("#")
        assert not fragment or fragment in parsed(pages()[page]).ids


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.html").write_text("<!doctype html>years of work")
    with pytest.raises(OpcertError, match=r"contains thesis\.html, not part of the pages of"):
        write_site(tmp_path, {"index.html": MARK.encode()})
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.html"]


def test_a_former_site_is_replaced(tmp_path: Path) -> None:
    site = {name: text.encode() for name, text in files().items()}
    write_site(tmp_path / "docs", site)
    write_site(tmp_path / "docs", {"index.html": site["index.html"]})
    assert [path.name for path in (tmp_path / "docs").iterdir()] == ["index.html"]


def test_a_link_to_a_page_is_foreign(tmp_path: Path) -> None:
    write_site(tmp_path / "docs", {"index.html": MARK.encode()})
    (tmp_path / "docs" / "linked.html").symlink_to(tmp_path / "docs" / "index.html")
    with pytest.raises(OpcertError, match=r"linked\.html"):
        write_site(tmp_path / "docs", {"index.html": MARK.encode()})


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


class TestColours:
    INK: ClassVar = ("ink", "muted", "link", "good", "bad", "open")

    @pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
    @pytest.mark.parametrize("ground", ["paper", "panel"])
    @pytest.mark.parametrize("ink", INK)
    def test_text_contrasts_with_its_ground(self, ink: str, ground: str, scheme: int) -> None:
        text = pages()["operators.html"]
        colours = [re.findall(rf"--{name}: (#\w{{6}});", text)[scheme] for name in (ink, ground)]
        light, dark = sorted(map(_luminance, colours), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


@each_spec
def test_the_page_of_an_operator_has_its_formula(name: str) -> None:
    page = re.sub(r"<[^>]*>|\s+", " ", pages()[page_name(spec(name).spec.operator)])
    page = re.sub(r"\s+", " ", unescape(page))
    for output in spec(name).spec.outputs:
        assert f"with the indices at is {' '.join(str(output.element).split())}" in page
        for key, text in output.where.items():
            assert f"{key} is {' '.join(text.split())}" in page
