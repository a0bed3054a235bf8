"""Guides, specs and a suite -> a static site: guides, operators with their cases, and a search.

A page needs only the files of the site, so it works from disk. The HTML elements of rules,
ambiguities, errata, laws, examples and cases have their full ids; the id of a factor is
SLUG/factor/NAME.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from opcert.output_files import FileContents
from opcert.pages.addresses import OPERATORS_PAGE, addresses, cases_page_name, page_name
from opcert.pages.case_pages import cases_page
from opcert.pages.guides import Guide, read_guides, render_guides, repository_address
from opcert.pages.operator_page import operator_page
from opcert.pages.rendering import render_operator_page, render_template
from opcert.pages.search_index import MARK as INDEX_MARK
from opcert.pages.search_index import search_index
from opcert.panel.strength import Strength
from opcert.specification.files import SpecFile
from opcert.suite.suite import Suite
from opcert.suite.writing import check_marked_folder, replace_marked_folder

# Each file has a mark near its beginning, so that foreign files are recognised.
MARK = '<meta name="generator" content="opcert docs">'
# In messages.
_KIND = "the pages of `opcert docs`"


@dataclass(frozen=True)
class Site:
    """The entries of the navigation: titles of guides by page, and operators."""

    guides: Mapping[str, str]
    operators: tuple[str, ...]
    operators_with_cases: frozenset[str]


def render_site(
    spec_files: Iterable[SpecFile],
    suite: Suite,
    strengths: Mapping[str, Strength] | None = None,
    guides: Sequence[Guide] | None = None,
) -> FileContents:
    """Return every file of the site by name.

    The pages of operators in `strengths` state their strength. `guides` are by default those of the
    installation.

    Raises:
        OpcertError: the suite was generated from another text of a spec, or a guide is missing.
    """
    strengths = strengths or {}
    pages = [
        operator_page(spec_file, suite, strengths.get(spec_file.spec.operator))
        for spec_file in spec_files
    ]
    operators = tuple(page.spec.operator for page in pages)
    cases = {
        name: cases_page(suite.operators[name]) for name in operators if name in suite.operators
    }
    guides = read_guides() if guides is None else guides
    rendered = render_guides(guides, addresses(pages, cases), repository_address())
    titles = {name: guide.sections[0].title for name, guide in rendered.items()}
    site = Site(titles, operators, frozenset(cases))
    files = {
        name: render_template("guide.html.jinja", site=site, current=name, guide=guide)
        for name, guide in rendered.items()
    }
    files[OPERATORS_PAGE] = render_template(
        "operators.html.jinja", site=site, current=OPERATORS_PAGE, pages=pages, suite=suite
    )
    for page in pages:
        files[page_name(page.spec.operator)] = render_operator_page(page, suite, site)
    for operator, listed in cases.items():
        name = cases_page_name(operator)
        files[name] = render_template(
            "cases.html.jinja", site=site, current=name, page=listed, suite=suite
        )
    script = resources.files("opcert") / "templates" / "search.js"
    return {
        **files,
        "search.js": script.read_bytes(),
        "search-index.js": search_index(rendered, pages, cases),
    }


def check_site_folder(folder: Path) -> None:
    """Check that a site can be written to `folder`, before its pages are made.

    Raises:
        OpcertError: the folder holds other files, or cannot be written.
    """
    check_marked_folder(folder, [MARK, INDEX_MARK], _KIND)


def write_site(folder: Path, files: FileContents) -> None:
    """Write the files of a site to `folder`, and replace an earlier site.

    Raises:
        OpcertError: the folder holds other files, or cannot be written.
    """
    replace_marked_folder(folder, files, [MARK, INDEX_MARK], _KIND)
