"""Markdown -> HTML: ids of headings, links, highlighted code, and tables."""

import re

import pytest

from opcert.pages.guides import Guide, render_guides
from opcert.pages.markdown import RenderedGuide, render_markdown
from tests.parsed_pages import parsed


def render(text: str) -> RenderedGuide:
    return render_markdown(text, lambda link: link, {"a/rule": "page.html#a/rule"}.get)


def render_link(link: str, label: str = "label", repository: str | None = None) -> str:
    """Return the paragraph of the guide generator/README.md that has one link."""
    guides = [
        Guide("architecture", "generator/README.md", f"[{label}]({link})"),
        Guide("index", "README.md", "# Home"),
        Guide("specs", "specs/README.md", "# Specs"),
    ]
    html = render_guides(guides, {}, repository)["architecture.html"].html
    return html.removeprefix("<p>").removesuffix("</p>\n")


def test_headings_have_the_ids_of_code_hosts() -> None:
    guide = render("# A `check`: C++ & co.\n\n## Twice\n\n## Twice\n")
    assert [section.id for section in guide.sections] == ["a-check-c--co", "twice", "twice-1"]
    assert parsed(guide.html).ids == ["a-check-c--co", "twice", "twice-1"]


def test_sections_have_their_text() -> None:
    title, section = render("# T\n\n*one*\n\n- `two`\n\n## S\n\n```sh\nls -l\n```\n").sections
    assert (title.level, title.title, title.text) == (1, "T", "one two")
    assert (section.level, section.title, section.text) == (2, "S", "ls -l")


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("../README.md", "index.html"),
        ("../specs/README.md#rules", "specs.html#rules"),
        ("../specs/", "specs.html"),
        ("../specs", "specs.html"),
        ("..", "index.html"),
        ("#below", "#below"),
        ("https://example.com/a#b", "https://example.com/a#b"),
    ],
)
def test_links_to_guides_lead_to_their_pages(link: str, address: str) -> None:
    assert render_link(link) == f'<a href="{address}">label</a>'


def test_links_to_other_files_lead_to_the_repository() -> None:
    html = render_link("cases/plan.py#L3", repository="https://example.com/opcert")
    assert (
        html
        == '<a href="https://example.com/opcert/blob/HEAD/generator/cases/plan.py#L3">label</a>'
    )


def test_links_to_other_files_are_code_where_no_repository_is_known() -> None:
    assert render_link("cases/plan.py") == "label (<code>cases/plan.py</code>)"
    assert render_link("cases/", "cases") == "<code>cases/</code>"


def test_names_in_code_become_links() -> None:
    html = render("`a/rule` and `another`").html
    assert '<a href="page.html#a/rule"><code>a/rule</code></a> and <code>another</code>' in html


def test_code_is_highlighted_and_has_its_file() -> None:
    html = render("```python my_file.py\nimport numpy\n```\n").html
    assert "<figcaption>my_file.py</figcaption>" in html
    assert '<span class="kn">import</span>' in html


@pytest.mark.parametrize("info", ["", "text", "no-such-language"])
def test_other_code_is_plain(info: str) -> None:
    assert "<code>a &lt; b\n</code>" in render(f"```{info}\na < b\n```\n").html


def test_tables_scroll_in_a_region_with_a_name() -> None:
    page = parsed(render("| a | b |\n| --- | --- |\n| 1 | 2 |\n").html)
    region = next(given for tag, given in page.tags if tag == "div")
    assert region["aria-label"] == "Table 1"
    assert all(given == {"scope": "col"} for tag, given in page.tags if tag == "th")


def test_comments_and_pictures_are_left_out() -> None:
    html = render("<!-- a\ncomment -->\n\ntext <!-- inline --> ![a <picture>](x.png)\n").html
    assert "comment" not in html
    assert "inline" not in html
    assert not re.search("<img|<picture", html)
    assert "[Picture: a &lt;picture&gt;]" in html
