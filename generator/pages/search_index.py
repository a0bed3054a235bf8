"""Pages of the site -> the index for its search field."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from opcert.pages.addresses import cases_page_name, page_name
from opcert.pages.case_pages import CasesPage
from opcert.pages.markdown import RenderedGuide
from opcert.pages.operator_page import OperatorPage
from opcert.specification.model import Ambiguity, Erratum, Law, Rule

# The mark near the beginning of the script; search.js has the same.
MARK = "// opcert docs:"
# The kinds of entries, in the order of the results.
KINDS = ("guide", "operator", "rule", "ambiguity", "erratum", "law", "case")


class Entry(NamedTuple):
    """An entry of the index: number of its kind, title, context, address, and searched text."""

    kind: int
    title: str
    context: str
    address: str
    text: str


def search_index(
    guides: Mapping[str, RenderedGuide],
    pages: Sequence[OperatorPage],
    cases: Mapping[str, CasesPage],
) -> bytes:
    """Return a script that passes the index to search.js; a page on disk cannot read JSON."""
    entries = [*_guide_entries(guides), *_operator_entries(pages), *_case_entries(cases)]
    index = json.dumps(
        {"kinds": KINDS, "entries": entries}, ensure_ascii=False, separators=(",", ":")
    )
    return f"{MARK} the index of the search\nopcertSearchIndex({index});\n".encode()


def _guide_entries(guides: Mapping[str, RenderedGuide]) -> Iterator[Entry]:
    for page, guide in guides.items():
        title = guide.sections[0].title
        for section in guide.sections:
            context = title if section.title != title else ""
            address = f"{page}#{section.id}"
            yield Entry(KINDS.index("guide"), section.title, context, address, section.text)


def _operator_entries(pages: Sequence[OperatorPage]) -> Iterator[Entry]:
    for page in pages:
        spec, file = page.spec, page_name(page.spec.operator)
        title = f"{spec.document.title}, {spec.document.version}"
        yield Entry(KINDS.index("operator"), spec.operator, "", file, title)
        parts: dict[str, Sequence[Rule | Ambiguity | Erratum | Law]] = {
            "rule": spec.rules,
            "ambiguity": spec.ambiguities,
            "erratum": spec.errata,
            "law": spec.laws,
        }
        for kind, parts_of_kind in parts.items():
            for part in parts_of_kind:
                full_id = spec.full_id(part.id)
                text = f"{part.text} ({part.clause})"
                yield Entry(KINDS.index(kind), full_id, "", f"{file}#{full_id}", text)


def _case_entries(cases: Mapping[str, CasesPage]) -> Iterator[Entry]:
    for operator, page in cases.items():
        file = cases_page_name(operator)
        for case in page.cases:
            text = "; ".join(change.words for change in case.changes) or case.why
            yield Entry(KINDS.index("case"), case.id, "", f"{file}#{case.id}", text)
