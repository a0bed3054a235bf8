"""Every clause of the shipped specs names an existing place of its document: a sentence, line, row.

A clause is one place or several, separated by semicolons. A place is a path of headings, with a
unit and numbers, as in "Inputs, 3: axis, sentence 2". The headings of Japanese documents are
given in both languages. `outlines.yaml` has what each document has.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from opcert.specification.model import Spec
from tests.shipped import SPECS, each_spec, spec

PLACE = re.compile(
    r"(?P<path>.+), (?P<unit>sentence|line|row|layer|example)s? "
    r"(?P<first>\d+)(?: (?P<to>to|and) (?P<last>\d+))?"
)
JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]+ \([A-Z][A-Za-z ]+\)")

OUTLINES: dict[str, dict[str, dict[str, int]]] = yaml.safe_load(
    Path(__file__).with_name("outlines.yaml").read_text("utf-8")
)


def clauses_of(described: Spec) -> Iterator[tuple[str, str]]:
    """Yield the id and the clause of every part of a spec."""
    for part in (described.rules, described.ambiguities, described.errata):
        yield from ((each.id, each.clause) for each in part)
    for other in (described.laws, described.examples):
        yield from ((each.id, each.clause) for each in other)


@each_spec
def test_every_clause_names_existing_sentences_lines_or_rows(name: str) -> None:
    unknown = []
    for owner, clause in clauses_of(spec(name).spec):
        for text in clause.split("; "):
            place = PLACE.fullmatch(text)
            outline = OUTLINES[name].get(place["path"], {}) if place else {}
            last = int(place["last"] or place["first"]) if place else 0
            if place is None or not int(place["first"]) <= last <= outline.get(place["unit"], 0):
                unknown.append((owner, text))
    assert not unknown


@each_spec
def test_a_place_in_a_japanese_document_has_its_japanese_heading(name: str) -> None:
    described = spec(name).spec
    japanese = [bool(JAPANESE.search(text)) for _, text in clauses_of(described)]
    assert set(japanese) == {described.document.language == "ja"}


@pytest.mark.parametrize(
    "clause", ["Inputs", "Inputs, 3: axis", "Inputs, sentence", "the first paragraph", "sentence 1"]
)
def test_a_section_is_not_a_place(clause: str) -> None:
    assert PLACE.fullmatch(clause) is None


def test_every_shipped_spec_has_an_outline() -> None:
    assert set(OUTLINES) == set(SPECS)


@each_spec
def test_a_shipped_spec_records_the_digest_of_its_document(name: str) -> None:
    digests = {each: spec(each).spec.document.sha256 for each in SPECS}
    assert digests[name] is not None
    assert list(digests.values()).count(digests[name]) == 1
