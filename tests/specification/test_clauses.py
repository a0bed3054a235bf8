"""Every clause of the shipped specs names an existing place of its document: a sentence, line, row.

A clause is one place or several, separated by semicolons. A place is a path of headings, with a
unit and numbers, as in "Inputs, 3: axis, sentence 2". The headings of Japanese documents are
given in both languages.
"""

import re
from collections.abc import Iterator

import pytest

from opcert.specification.model import Spec
from tests.shipped import SPECS, each_spec, spec

PLACE = re.compile(
    r"(?P<path>.+), (?P<unit>sentence|line|row|layer|example)s? "
    r"(?P<first>\d+)(?: (?P<to>to|and) (?P<last>\d+))?"
)
JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]+ \([A-Z][A-Za-z ]+\)")

# The outline of each document: how many sentences, lines, rows or examples each place has.
# Sentences of a list's entry are counted after the name that it begins with.
_BATCH_DIMS = "属性 (Attributes), batch_dims"
_MODE = "属性 (Attributes), mode"
_RANGE = "値の範囲 (Range of values)"
_DETAILS = "詳細な説明 (Detailed Description)"
OUTLINES: dict[str, dict[str, dict[str, int]]] = {
    "VariadicSplit-1": {
        "Short description": {"sentence": 2},
        "Detailed Description, paragraph 1": {"sentence": 3},
        "Detailed Description, paragraph 3": {"sentence": 2},
        "Inputs, 1: data": {"sentence": 2},
        "Inputs, 2: axis": {"sentence": 4},
        "Inputs, 3: split_lengths": {"sentence": 6},
        "Outputs": {"sentence": 3},
        "Types, T1": {"sentence": 1},
        "Types, T2": {"sentence": 1},
        "Examples": {"layer": 2},
    },
    "DML_OPERATOR_SPLIT": {
        "Introduction, paragraph 1": {"sentence": 1},
        "Introduction, paragraph 2": {"sentence": 5},
        "Introduction, pseudocode": {"line": 9},
        "Introduction, paragraph 3": {"sentence": 1},
        "Introduction, paragraph 4": {"sentence": 1},
        "Syntax": {"line": 6},
        "Members, InputTensor": {"line": 1, "sentence": 1},
        "Members, OutputCount": {"line": 1, "sentence": 2},
        "Members, OutputTensors": {"line": 1, "sentence": 2},
        "Members, Axis": {"line": 1, "sentence": 3},
        "Examples": {"example": 2},
        "Tensor constraints": {"sentence": 1},
        "Tensor support, DML_FEATURE_LEVEL_4_1": {"row": 2},
    },
    "DML_OPERATOR_SLICE1": {
        "Description, paragraph 1": {"sentence": 1},
        "Description, paragraph 2": {"sentence": 2},
        "Description, offset": {"sentence": 1},
        "Description, size": {"sentence": 2},
        "Description, stride": {"sentence": 4},
        "Description, paragraph 3": {"sentence": 2},
        "Description, pseudocode": {"line": 5},
        "Description, paragraph 4": {"sentence": 2},
        "Description, formula": {"line": 1},
        "Description, paragraph 5": {"sentence": 2},
        "Struct fields, InputTensor": {"line": 1, "sentence": 1},
        "Struct fields, OutputTensor": {"line": 1, "sentence": 1},
        "Struct fields, DimensionCount": {"line": 1, "sentence": 4},
        "Struct fields, InputWindowOffsets": {"line": 1, "sentence": 2},
        "Struct fields, InputWindowSizes": {"line": 1, "sentence": 2},
        "Struct fields, InputWindowStrides": {"line": 1, "sentence": 4},
        "Examples": {"example": 2},
        "Remarks": {"sentence": 3},
        "Tensor constraints": {"sentence": 1},
        "Tensor support, DML_FEATURE_LEVEL_3_0": {"row": 2},
        "Tensor support, DML_FEATURE_LEVEL_2_1": {"row": 2},
    },
    "Slice-8": {
        "Detailed Description, paragraph 1": {"sentence": 2},
        "Detailed Description, paragraph 2": {"sentence": 3},
        "Detailed Description, paragraph 3": {"sentence": 2},
        "Detailed Description, paragraph 4": {"sentence": 1},
        "Inputs, 1: data, paragraph 1": {"sentence": 2},
        "Inputs, 2: start, paragraph 1": {"sentence": 2},
        "Inputs, 2: start, paragraph 2": {"sentence": 4},
        "Inputs, 3: stop, paragraph 1": {"sentence": 1},
        "Inputs, 3: stop, paragraph 2": {"sentence": 4},
        "Inputs, 4: step, paragraph 1": {"sentence": 1},
        "Inputs, 4: step, paragraph 2": {"sentence": 3},
        "Inputs, 5: axes, paragraph 1": {"sentence": 1},
        "Inputs, 5: axes, paragraph 2": {"sentence": 7},
        "Inputs, closing paragraph": {"sentence": 1},
        "Outputs, 1": {"sentence": 2},
        "Types, T": {"sentence": 1},
        "Types, T_IND": {"sentence": 1},
        "Types, T_AXIS": {"sentence": 1},
        "Examples": {"example": 12},
    },
    "Broadcast-1": {
        "簡単な説明 (Short description)": {"sentence": 1},
        f"{_DETAILS}, paragraph 1": {"sentence": 2},
        f"{_DETAILS}, paragraph 2": {"sentence": 4},
        f"{_DETAILS}, paragraph 3": {"sentence": 3},
        f"{_DETAILS}, paragraph 4": {"sentence": 4},
        f"{_MODE}, {_RANGE}, numpy": {"sentence": 4},
        f"{_MODE}, {_RANGE}, explicit": {"sentence": 1},
        f"{_MODE}, デフォルト値 (Default value)": {"sentence": 1},
        "入力 (Inputs), 1: data": {"sentence": 2},
        "入力 (Inputs), 2: target_shape": {"sentence": 2},
        "入力 (Inputs), 3: axes_mapping": {"sentence": 5},
        "出力 (Outputs), 1": {"sentence": 1},
        "例 (Examples)": {"layer": 3},
    },
    "Gather-8": {
        f"{_DETAILS}, paragraph 1": {"line": 2},
        f"{_DETAILS}, paragraph 2": {"sentence": 4},
        f"{_BATCH_DIMS}, 説明 (Description)": {"sentence": 3},
        f"{_BATCH_DIMS}, {_RANGE}": {"sentence": 2},
        f"{_BATCH_DIMS}, タイプ (Type)": {"sentence": 1},
        f"{_BATCH_DIMS}, デフォルト値 (Default value)": {"sentence": 1},
        _BATCH_DIMS: {"example": 7},
        "入力 (Inputs), 1: data": {"sentence": 2},
        "入力 (Inputs), 2: indices": {"sentence": 5},
        "入力 (Inputs), 3: axis": {"sentence": 6},
        "出力 (Outputs), 1": {"sentence": 2},
        "タイプ (Types), T": {"sentence": 1},
        "タイプ (Types), T_IND": {"sentence": 1},
        "タイプ (Types), T_AXIS": {"sentence": 1},
        "例 (Examples)": {"layer": 1},
    },
    "Pad-1": {
        "Short description": {"sentence": 2},
        "Detailed Description, paragraph 1": {"sentence": 1},
        "Detailed Description": {"example": 4},
        "Attributes, pad_mode, Description": {"sentence": 1},
        "Attributes, pad_mode, Range of values": {"sentence": 1},
        "Attributes, pad_mode, Range of values, constant": {"sentence": 1},
        "Attributes, pad_mode, Range of values, edge": {"sentence": 1},
        "Attributes, pad_mode, Range of values, reflect": {"sentence": 2},
        "Attributes, pad_mode, Range of values, symmetric": {"sentence": 4},
        "Attributes, pad_mode, Type": {"sentence": 1},
        "Attributes, pad_mode, Required": {"sentence": 1},
        "Inputs, 1: data": {"sentence": 2},
        "Inputs, 2: pads_begin": {"sentence": 4},
        "Inputs, 3: pads_end": {"sentence": 4},
        "Inputs, 4: pad_value": {"sentence": 5},
        "Outputs, 1": {"sentence": 1},
        "Types, T": {"sentence": 1},
        "Types, T_INT": {"sentence": 1},
        "Example": {"layer": 2},
    },
    "Tile-1": {
        "Short description": {"sentence": 3},
        "Inputs, 1: data": {"sentence": 3},
        "Inputs, 2: repeats": {"sentence": 4},
        "Outputs, 1": {"sentence": 2},
        "Types, T1": {"sentence": 1},
        "Types, T2": {"sentence": 1},
        "Detailed description": {"sentence": 1},
        "Examples": {"example": 3},
    },
    "DML_OPERATOR_JOIN": {
        "Description, paragraph 1": {"sentence": 1},
        "Description, paragraph 2": {"sentence": 3},
        "Description, pseudocode": {"line": 9},
        "Description, paragraph 3": {"sentence": 1},
        "Description, paragraph 4": {"sentence": 1},
        "Struct fields, InputCount": {"line": 1, "sentence": 2},
        "Struct fields, InputTensors": {"line": 1, "sentence": 2},
        "Struct fields, OutputTensor": {"line": 1, "sentence": 2},
        "Struct fields, Axis": {"line": 1, "sentence": 3},
        "Examples": {"example": 2},
        "Tensor constraints": {"sentence": 1},
        "Tensor support, DML_FEATURE_LEVEL_3_0": {"row": 2},
        "Tensor support, DML_FEATURE_LEVEL_2_1": {"row": 2},
        "Tensor support, DML_FEATURE_LEVEL_1_0": {"row": 2},
    },
    "Concat-1": {
        "Short description": {"sentence": 1},
        "Attributes, axis": {"line": 4},
        "Attributes, axis, line 2": {"sentence": 3},
        "Inputs, 1..N": {"sentence": 6},
        "Outputs, 1": {"sentence": 1},
        "Types, T": {"sentence": 1},
        "Examples": {"layer": 2},
    },
    "ReverseSequence-1": {
        "Detailed description": {"sentence": 2},
        "Attributes, batch_axis, Description": {"sentence": 1},
        "Attributes, batch_axis, Range of values": {"sentence": 1},
        "Attributes, batch_axis, Default value": {"sentence": 1},
        "Attributes, seq_axis, Description": {"sentence": 1},
        "Attributes, seq_axis, Range of values": {"sentence": 1},
        "Attributes, seq_axis, Default value": {"sentence": 1},
        "Inputs, 1: data": {"sentence": 3},
        "Inputs, 2: seq_lengths": {"sentence": 5},
        "Outputs, 1": {"sentence": 2},
        "Types, T1": {"sentence": 1},
        "Types, T2": {"sentence": 1},
        "Example": {"layer": 1},
    },
    "StridedSlice-1": {
        "Detailed description, introduction": {"sentence": 1},
        "Detailed description, properties, 2": {"sentence": 2},
        "Detailed description, properties, 3": {"sentence": 4},
        "Detailed description, properties, 4": {"sentence": 3},
        "Detailed description, negative values": {"sentence": 4},
        "Detailed description, steps, 1": {"sentence": 2},
        "Detailed description, steps, 2": {"sentence": 3},
        "Detailed description, steps, 3": {"sentence": 2},
        "Detailed description, steps, 4": {"sentence": 2},
        "Detailed description, steps, 5": {"sentence": 1},
        "Detailed description, basic slicing": {"sentence": 1},
        "Detailed description, reverse": {"sentence": 4},
        "Detailed description, clamping, 1": {"sentence": 2},
        "Detailed description, clamping, 2": {"sentence": 2},
        "Detailed description, clamping in reverse, 1": {"sentence": 2},
        "Detailed description, clamping in reverse, 2": {"sentence": 2},
        "Detailed description, mask lengths": {"sentence": 3},
        "Detailed description, masks, 1": {"sentence": 2},
        "Detailed description, masks, 2": {"sentence": 2},
        "Detailed description, masks, 3": {"sentence": 3},
        "Detailed description, masks, 4": {"sentence": 3},
        "Detailed description, masks, 5": {"sentence": 6},
        **{
            f"Attributes, {mask}, Description": {"sentence": 2}
            for mask in ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask")
        },
        **{
            f"Attributes, {mask}, Range of values": {"sentence": 1}
            for mask in ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask")
        },
        "Attributes, ellipsis_mask, Range of values": {"sentence": 2},
        "Attributes, begin_mask, Required": {"sentence": 1},
        "Attributes, end_mask, Required": {"sentence": 1},
        "Inputs, 1: data": {"sentence": 2},
        "Inputs, 2: begin": {"sentence": 5},
        "Inputs, 3: end": {"sentence": 5},
        "Inputs, 4: stride": {"sentence": 3},
        "Types, T": {"sentence": 1},
        "Types, T_IND": {"sentence": 1},
        "Example": {"layer": 8},
    },
    "Split-1": {
        "Short description": {"sentence": 1},
        "Detailed Description, paragraph 1": {"sentence": 3},
        "Detailed Description, paragraph 2": {"line": 1},
        "Detailed Description, paragraph 3": {"sentence": 2},
        "Attributes, num_splits, Description": {"sentence": 2},
        "Attributes, num_splits, Range of values": {"sentence": 1},
        "Attributes, num_splits, Required": {"sentence": 1},
        "Inputs, 1: data": {"sentence": 2},
        "Inputs, 2: axis": {"sentence": 4},
        "Inputs, Note": {"sentence": 1},
        "Outputs": {"sentence": 2},
        "Types, T": {"sentence": 1},
        "Types, T_AXIS": {"sentence": 1},
        "Example": {"layer": 1},
    },
    "Reshape-1": {
        "Short description": {"sentence": 2},
        "Detailed description, paragraph 1": {"sentence": 2},
        "Detailed description, 0": {"sentence": 1},
        "Detailed description, -1": {"sentence": 2},
        "Detailed description, paragraph 2": {"sentence": 1},
        "Attributes, special_zero, Description": {"sentence": 4},
        "Attributes, special_zero, Range of values": {"sentence": 1},
        "Attributes, special_zero, Required": {"sentence": 1},
        "Inputs, 1: data": {"sentence": 2},
        "Inputs, 2: shape": {"sentence": 2},
        "Outputs, 1": {"sentence": 1},
        "Types, T": {"sentence": 1},
        "Types, T_SHAPE": {"sentence": 1},
        "Examples": {"layer": 5},
    },
    "GatherElements-6": {
        "Detailed description, paragraph 1": {"sentence": 5},
        "Detailed description, equations": {"line": 3},
        "Detailed description, examples": {"example": 3},
        "Attributes, axis, Description": {"sentence": 2},
        "Attributes, axis, Range of values": {"sentence": 1},
        "Attributes, axis, Required": {"sentence": 1},
        "Inputs, 1": {"sentence": 3},
        "Inputs, 2": {"sentence": 3},
        "Outputs, 1": {"sentence": 2},
        "Types, T": {"sentence": 1},
        "Types, T_IND": {"sentence": 1},
        "Example": {"layer": 1},
    },
    "ScatterElementsUpdate-3": {
        "Short description": {"sentence": 1},
        "Detailed description, paragraph 1": {"sentence": 1},
        "Detailed description, equations": {"line": 3},
        "Detailed description, paragraph 3": {"sentence": 1},
        "Inputs, 1": {"sentence": 2},
        "Inputs, 2": {"sentence": 6},
        "Inputs, 3": {"sentence": 2},
        "Inputs, 4": {"sentence": 3},
        "Outputs, 1": {"sentence": 1},
        "Types, T": {"sentence": 1},
        "Types, T_IND": {"sentence": 1},
        "Types, T_AXIS": {"sentence": 1},
        "Example": {"layer": 1},
    },
    "Transpose-1": {
        "Short description": {"sentence": 1},
        "Detailed description": {"sentence": 2},
        "Attributes": {"sentence": 1},
        "Inputs, 1: arg": {"sentence": 3},
        "Inputs, 2: input_order": {"sentence": 4},
        "Outputs, 1": {"sentence": 1},
        "Types, T": {"sentence": 1},
        "Types, T_AXIS": {"sentence": 1},
        "Examples": {"example": 2},
    },
}


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
