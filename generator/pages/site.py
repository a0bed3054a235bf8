"""Specs + suite -> HTML pages, one for each operator and an index, that need nothing beside them.

The element of a rule has the rule's full id as its own id, and so have examples, laws and
ambiguities; that of a factor is SLUG/factor/NAME.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment

from opcert.pages.operator_page import operator_page
from opcert.panel import Strength
from opcert.specification import SpecFile
from opcert.suite import FileContents, Suite, replace_marked_folder
from opcert.template_environment import template_environment

# What each page says near its beginning, so that it can be told from the files of others.
MARK = '<meta name="generator" content="opcert docs">'


def page_name(operator: str) -> str:
    """Return the file name of an operator's page: its id, with `-` behind the family."""
    return f"{operator.replace('/', '-')}.html"


def render_pages(
    spec_files: Iterable[SpecFile], suite: Suite, strengths: Mapping[str, Strength] | None = None
) -> FileContents:
    """Return the page of each operator, and the index of them, by file name.

    `strengths` are those of operators whose pages are to state them.

    Raises:
        OpcertError: the suite was generated from another text of a spec.
    """
    pages = [
        operator_page(each, suite, (strengths or {}).get(each.spec.operator)) for each in spec_files
    ]
    files = {
        page_name(page.spec.operator): render_template(
            "operator.html.jinja", page=page, suite=suite
        )
        for page in pages
    }
    return {"index.html": render_template("index.html.jinja", pages=pages, suite=suite), **files}


def write_pages(folder: Path, files: FileContents) -> None:
    """Put a folder of just these pages at `folder`, in the place of former ones.

    Raises:
        OpcertError: the folder holds something else, or cannot be written; nothing has changed.
    """
    replace_marked_folder(folder, files, [MARK], "the pages of `opcert docs`")


def render_template(template: str, **names: Any) -> bytes:
    """Return the page that an HTML template gives; every value in it is escaped."""
    return _environment().get_template(template).render(**names).encode()


@cache
def _environment() -> Environment:
    environment = template_environment()
    environment.globals["page_name"] = page_name
    return environment
