"""The Markdown of `opcert docs`: what it has, where its links lead, and that Sphinx takes it."""

import os
import re
from collections import Counter
from html import unescape
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from opcert.report.documentation import operator_markdown, plain, render_docs
from opcert.specification.files import read_specs_in
from opcert.specification.model import Ambiguity, Erratum, Example, Law, Rule, Spec
from opcert.system import write_files
from tests.command_line import python
from tests.faults.finding import core_suite
from tests.guides.guides import Guide
from tests.shipped import CORE, SPECS, spec
from tests.suite_of_levels import write_specs


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(("DML_OPERATOR_SPLIT", "Concat-1"), id="few"),
        pytest.param(tuple(SPECS), id="all", marks=pytest.mark.slow),
    ],
)
def names(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The operators with pages; the pages of all take seconds to parse."""
    found: tuple[str, ...] = request.param
    return found


@pytest.fixture(scope="module")
def pages(names: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Guide]:
    """The Markdown of the operators, parsed."""
    folder = tmp_path_factory.mktemp("a b") / "docs"
    write_files(folder, render_docs([spec(name) for name in names], core_suite()).items())
    return {path.relative_to(folder).as_posix(): Guide(path) for path in folder.rglob("*.md")}


def parts_of(spec: Spec) -> list[str]:
    """Return the ids of all that has a heading of its own on the page of an operator."""
    parts: list[Rule | Ambiguity | Erratum | Law | Example] = [*spec.rules, *spec.ambiguities]
    parts += [*spec.errata, *spec.laws, *spec.examples]
    return [spec.full_id(part.id) for part in parts]


def test_each_operator_rule_and_case_has_one_heading(
    names: tuple[str, ...], pages: dict[str, Guide]
) -> None:
    headings = {
        name: Counter(heading.text for heading in page.headings)
        for name, page in pages.items()
        if name.startswith("operators/")
    }
    expected = {}
    for name in names:
        described = spec(name).spec
        page = f"operators/{described.operator.replace('/', '-')}"
        expected[f"{page}.md"] = [described.operator, *parts_of(described)]
        if described.operator in core_suite().operators:
            cases = core_suite().operators[described.operator].cases.values()
            expected[f"{page}-cases.md"] = [case.id for case in cases]
    assert headings.keys() == expected.keys()
    for name, ids in expected.items():
        assert all(headings[name][each] == 1 for each in ids), name
        of_slug = [text for text in headings[name] if "/" in text and ": " not in text]
        assert {*of_slug} - {*ids} <= {
            f"Cases of {operator}" for operator in core_suite().operators
        }


def test_each_link_leads_to_a_page_and_its_heading(pages: dict[str, Guide]) -> None:
    anchors = {name: {heading.anchor for heading in page.headings} for name, page in pages.items()}
    for name, page in pages.items():
        folder = Path(name).parent
        for link in page.links:
            if re.match(r"https?:", link):
                continue
            place, _, anchor = link.partition("#")
            target = os.path.normpath(folder / place) if place else name
            assert target in pages, (name, link)
            assert not anchor or anchor in anchors[target], (name, link)


def test_a_case_links_to_its_rule_and_baseline_and_a_rule_to_its_cases(
    names: tuple[str, ...], pages: dict[str, Guide]
) -> None:
    for operator in (spec(name).spec.operator for name in {*CORE} & {*names}):
        file = operator.replace("/", "-")
        of_rules, of_cases = (
            dict.fromkeys(pages[f"operators/{file}{end}.md"].links) for end in ("", "-cases")
        )
        for case in core_suite().operators[operator].cases.values():
            if case.violated_rule is not None and case.ambiguity is None:
                assert f"{file}.md#{case.violated_rule.replace('/', '')}" in of_cases
                group = f"rejected-{case.violated_rule.replace('/', '')}"
                assert f"{file}-cases.md#{group}" in of_rules
            if case.baseline is not None:
                assert f"#{re.sub('[/.]', '', case.baseline.lower())}" in of_cases


@pytest.mark.parametrize("name", SPECS)
def test_every_text_of_a_spec_is_on_its_page(name: str) -> None:
    described = spec(name).spec
    (page, *_) = operator_markdown(spec(name), core_suite()).values()
    html = MarkdownIt("commonmark").enable("table").render(page.decode())
    text = " ".join(unescape(re.sub(r"<[^>]*>", "", html)).split())
    parts = [described.document.title, *(argument.text for argument in described.arguments)]
    for rule in described.rules:
        parts += [
            rule.text,
            rule.clause,
            rule.when if rule.when != "True" else "",
            rule.holds or "",
        ]
    for ambiguity in described.ambiguities:
        readings = ambiguity.readings.__dict__.values() if ambiguity.readings else ()
        parts += [ambiguity.text, ambiguity.clause, ambiguity.elements, *readings]
    parts += [part for law in described.laws for part in (law.text, law.clause, law.holds)]
    parts += [part for erratum in described.errata for part in (erratum.text, erratum.reading)]
    parts += [part for example in described.examples for part in (example.text, example.clause)]
    parts += [part for item in described.names.items() for part in item]
    for output in described.outputs:
        parts += [output.text, output.shape, output.element or "", *output.where.values()]
    assert not [part for part in parts if " ".join(part.split()) not in text]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert('x')</script> & \"quoted\" &lt; <!-- -->",
        "a*b*c _d_ e_f `g` [h](i) ![j](k) {l}`m` n\\_o $p$ q~~r~~",
        *("- a", "+ a", "1. a", "1) a", "> a", "# a", "= b", "% a", "(a)=", "a\n\n- b"),
    ],
)
def test_a_text_brings_no_markup(text: str) -> None:
    html = MarkdownIt("commonmark").enable("table").render(str(plain(text)))
    assert html.startswith("<p>")
    assert unescape(html.removeprefix("<p>").removesuffix("</p>\n")) == " ".join(text.split())


def test_without_cases_the_page_says_so(tmp_path: Path) -> None:
    write_specs(tmp_path)
    (spec_file,) = read_specs_in(tmp_path)
    (page,) = operator_markdown(spec_file, core_suite()).values()
    assert b"has no cases of this operator" in page


@pytest.mark.slow
def test_the_strict_build_of_sphinx_makes_a_site_that_needs_no_network(tmp_path: Path) -> None:
    pytest.importorskip("myst_parser", reason="Sphinx is missing: pip install 'opcert[docs]'")
    write_files(tmp_path / "docs", render_docs([spec("VariadicSplit-1")], core_suite()).items())
    sphinx = "-m", "sphinx", "-q", "-W", "--keep-going"
    result = python(*sphinx, tmp_path / "docs", tmp_path / "site")
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "site" / "operators" / "openvino-VariadicSplit-1.html").read_text()
    assert "variadic-split-1/axis-range" in page
    for path in (tmp_path / "site").rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)"', path.read_text()
        )
        assert not loaded, path
