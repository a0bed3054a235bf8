"""Links, anchors, contents lists and paths of the guides lead somewhere."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

from tests.guides.guides import FOLDERS, GUIDES, ROOT, Guide, anchor_of, with_guide

# A longer guide has a list of its sections; the project's README never gets longer.
LONG = 150


@cache
def anchors(path: Path) -> frozenset[str]:
    return frozenset(heading.anchor for heading in Guide(path).headings)


@with_guide
def test_relative_links_lead_to_files_and_headings(guide: Guide) -> None:
    for link in guide.links:
        if re.match(r"\w+:", link):
            continue
        place, _, anchor = link.partition("#")
        path = (guide.path.parent / place).resolve() if place else guide.path
        assert path.exists(), link
        assert path.is_relative_to(ROOT), link
        page = path / "README.md" if path.is_dir() else path
        if anchor:
            assert page.suffix == ".md", link
            assert anchor in anchors(page), link


@with_guide
def test_a_guide_has_one_title_and_no_level_is_left_out(guide: Guide) -> None:
    levels = [heading.level for heading in guide.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


@with_guide
def test_a_long_guide_has_a_contents_list_of_its_headings(guide: Guide) -> None:
    if len(guide.text.splitlines()) <= LONG and not guide.contents:
        return
    # The list has all sections, and where it has parts of sections, all of them.
    depth = max((depth for depth, _, _ in guide.contents), default=0)
    listed = [
        (heading.level - 2, heading.text, heading.anchor)
        for heading in guide.headings
        if 2 <= heading.level <= depth + 2 and heading.text != "Contents"
    ]
    assert guide.contents == listed


def test_the_readme_of_the_project_is_short() -> None:
    assert len(GUIDES[0].text.splitlines()) <= LONG


@with_guide
def test_paths_in_code_exist(guide: Guide) -> None:
    for span in guide.inline_code:
        if re.fullmatch(rf"({'|'.join(FOLDERS)})/[\w/.-]*", span):
            assert (ROOT / span).exists(), span
    for command in guide.commands:
        for path in re.findall(rf"(?<= )(?:{'|'.join(FOLDERS)})/[\w/.-]+", command.text):
            assert (ROOT / path).exists(), command.text


def test_anchors_are_those_of_code_hosts() -> None:
    assert anchor_of("What a `certificate` says: C++, f8e4m3 & co.") == (
        "what-a-certificate-says-c-f8e4m3--co"
    )
