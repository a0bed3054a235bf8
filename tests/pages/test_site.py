"""The pages as HTML: well formed, every link leads somewhere, nothing in a spec becomes markup."""

import re
from functools import cache
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import pytest

from opcert.errors import OpcertError
from opcert.pages import page_name, render_pages, write_pages
from opcert.pages.operator_page import factor_id, operator_page
from opcert.pages.site import MARK
from opcert.specification import read_specs_in
from opcert.suite import Suite
from tests.parsed_pages import parsed
from tests.shipped import SPECS, each_spec, spec
from tests.suite_of_levels import write_specs


@cache
def suite() -> Suite:
    return Suite()


@cache
def pages() -> dict[str, str]:
    """The pages of the operators that come with opcert, by file name."""
    found = render_pages([spec(name) for name in SPECS], suite())
    return {name: data.decode() for name, data in found.items()}


each_page = pytest.mark.parametrize("name", ["index.html", *map(page_name, suite().operators)])


@each_page
def test_a_page_is_well_formed_and_its_ids_are_unique(name: str) -> None:
    page = parsed(pages()[name])
    assert len(set(page.ids)) == len(page.ids)
    assert not [each for each in page.ids if re.search(r"\s", each)]


@each_page
def test_every_link_leads_somewhere(name: str) -> None:
    for link in parsed(pages()[name]).links:
        target, _, fragment = link.partition("#")
        assert target in ("", *pages())
        if fragment:
            assert fragment in parsed(pages()[target or name]).ids


@each_page
def test_headings_stand_in_order(name: str) -> None:
    levels = [int(tag[1]) for tag, _ in parsed(pages()[name]).tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    for before, after in pairwise(levels):
        assert after <= before + 1


@each_page
def test_a_page_asks_for_nothing_beside_it(name: str) -> None:
    page = parsed(pages()[name])
    assert not {"script", "img", "link", "iframe"} & {tag for tag, _ in page.tags}
    assert not [link for link in page.links if ":" in link]
    assert "url(" not in pages()[name]
    assert "@import" not in pages()[name]


@each_page
def test_a_page_can_be_read_aloud_and_by_keyboard(name: str) -> None:
    tags = parsed(pages()[name]).tags
    names = [tag for tag, _ in tags]
    assert names.count("main") == names.count("header") == 1
    assert dict(tags)["html"] == {"lang": "en"}
    assert all(given.get("scope") in ("col", "row") for tag, given in tags if tag == "th")
    scrolled = [given for _, given in tags if given.get("class") == "scroll"]
    assert len(scrolled) == names.count("table")
    assert all(each["tabindex"] == "0" and each["aria-label"] for each in scrolled)


@each_spec
def test_every_rule_example_and_factor_has_its_place(name: str) -> None:
    described = spec(name).spec
    page = parsed(pages()[page_name(described.operator)])
    ids = [*(rule.id for rule in described.rules), *(law.id for law in described.laws)]
    ids += [*(each.id for each in described.errata)]
    ids += [*(each.id for each in described.ambiguities), *(e.id for e in described.examples)]
    wanted = set(map(described.full_id, ids))
    wanted |= {factor_id(described.slug, factor) for factor in described.cases.factors}
    assert wanted <= set(page.ids)


@each_spec
def test_what_a_spec_says_is_all_there(name: str) -> None:
    described = spec(name).spec
    text = " ".join(parsed(pages()[page_name(described.operator)]).text.split())
    said = [part for rule in described.rules for part in (rule.text, rule.clause)]
    said += [part for law in described.laws for part in (law.text, law.clause)]
    said += [part for each in described.errata for part in (each.text, each.reading)]
    said += [
        part
        for each in described.ambiguities
        for part in (each.text, *each.readings.__dict__.values())
    ]
    said += [part for each in described.examples for part in (each.text, each.clause)]
    said += [each.text for each in described.arguments]
    said += [rule.holds for rule in described.rules if rule.holds]
    assert all(" ".join(each.split()) in text for each in said)


@each_spec
def test_the_counts_of_a_rule_stand_beside_it(name: str) -> None:
    page = operator_page(spec(name), suite())
    text = parsed(pages()[page_name(page.spec.operator)]).text
    for entry in page.rules:
        told = text.partition(f"\n{entry.id}\n{entry.rule.text}\n")[2]
        numbers = re.findall(r"(?:Valid calls|Must be rejected)(\d+)", told)
        counted = [len(entry.cases.positive), len(entry.cases.negative)]
        counted = counted if entry.rule.kind == "requirement" else counted[:1]
        assert [int(each) for each in numbers[: len(counted)]] == counted


def test_the_same_specs_and_suite_give_the_same_bytes() -> None:
    again = render_pages(read_specs_in(None, "openvino/VariadicSplit-1"), Suite())
    assert [data.decode() for data in again.values()][1:] == [pages()[[*again][1]]]


def test_what_a_spec_says_is_no_markup(tmp_path: Path) -> None:
    write_specs(tmp_path)
    path = tmp_path / "take.yaml"
    hostile = "<script>alert('x')</script> & \"quoted\" </style>"
    text, times = re.subn(r"(?m)^( +)text: .*$", rf"\1text: >-\n\1  {hostile}", path.read_text())
    assert times > 3
    path.write_text(text)
    (name, data), _ = sorted(render_pages(read_specs_in(tmp_path), suite()).items())
    page = parsed(data.decode())
    assert name == "example-Take-1.html"
    assert "script" not in [tag for tag, _ in page.tags]
    assert page.text.count(hostile) > 3
    assert "no cases of this operator" in page.text


def test_the_files_of_others_are_left_alone(tmp_path: Path) -> None:
    files = {"index.html": MARK.encode()}
    (tmp_path / "thesis.html").write_text("<!doctype html>years of work")
    with pytest.raises(OpcertError, match=r"contains thesis\.html, not part of the pages of"):
        write_pages(tmp_path, files)
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.html"]


def test_former_pages_are_replaced(tmp_path: Path) -> None:
    write_pages(tmp_path / "docs", {"gone.html": pages()["index.html"].encode()})
    write_pages(tmp_path / "docs", {"index.html": pages()["index.html"].encode()})
    assert [each.name for each in (tmp_path / "docs").iterdir()] == ["index.html"]


def test_a_link_to_a_page_is_no_page(tmp_path: Path) -> None:
    write_pages(tmp_path / "docs", {"index.html": MARK.encode()})
    (tmp_path / "docs" / "linked.html").symlink_to(tmp_path / "docs" / "index.html")
    with pytest.raises(OpcertError, match=r"linked\.html"):
        write_pages(tmp_path / "docs", {"index.html": MARK.encode()})


@each_page
def test_a_page_says_early_who_wrote_it(name: str) -> None:
    assert MARK in pages()[name][:200]


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


class TestColours:
    INK: ClassVar = ("ink", "muted", "link", "good", "bad", "open")

    @pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
    @pytest.mark.parametrize("ground", ["paper", "panel"])
    @pytest.mark.parametrize("ink", INK)
    def test_text_stands_out_from_its_ground(self, ink: str, ground: str, scheme: int) -> None:
        text = pages()["index.html"]
        colours = [re.findall(rf"--{name}: (#\w{{6}});", text)[scheme] for name in (ink, ground)]
        light, dark = sorted(map(_luminance, colours), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


@each_spec
def test_the_page_of_an_operator_has_its_formula(name: str) -> None:
    shown = re.sub(r"<[^>]*>|\s+", " ", pages()[page_name(spec(name).spec.operator)])
    shown = re.sub(r"\s+", " ", unescape(shown))
    for output in spec(name).spec.outputs:
        assert f"with the indices at is {' '.join(str(output.element).split())}" in shown
        for key, text in output.where.items():
            assert f"{key} is {' '.join(text.split())}" in shown
