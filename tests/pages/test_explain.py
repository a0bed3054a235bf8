"""`opcert explain` finds a case, and describes it."""

import re

import pytest

from opcert.errors import OpcertError
from opcert.report.explain import describe_case, explain_case, find_case
from tests.faults.finding import core_suite

SUITE = core_suite()
AXIS_BEFORE = re.compile(r"gather-8/batch-dims-at-most-axis\.axis-set-to-zero-[0-9a-f]{8}")


def explained(name: str) -> str:
    return explain_case(describe_case(*find_case(SUITE, name)), "pass\n")


def test_a_case_is_found_by_its_id_or_by_a_glob_that_no_other_matches() -> None:
    _, case = find_case(SUITE, "gather-8/example-2")
    assert find_case(SUITE, "gather-8/exa*-2")[1] is case


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gather-8/exampel-2", r"has no case 'gather-8/exampel-2'; did you mean 'gather-8/exam"),
        ("nonsense", r"has no case 'nonsense'; expected an id from a certificate or an index"),
        ("nonsense", r"\(a case of another suite needs --suite\)$"),
        ("gather-8/example-*", r"^7 cases match .*, expected one: gather-8/example-1, .*-7$"),
        ("*", rf"^{len(SUITE.cases)} cases match '\*', expected one: .*, …$"),
    ],
)
def test_an_unknown_or_ambiguous_name_is_an_error(name: str, message: str) -> None:
    with pytest.raises(OpcertError, match=message):
        find_case(SUITE, name)


def test_a_valid_case_is_explained_with_call_outputs_and_reasons() -> None:
    text = explained("gather-8/example-2")
    assert text.startswith(
        "gather-8/example-2, a case of openvino/Gather-8\n    属性 (Attributes), "
    )
    assert "\n    axis = i64[] 1\n    batch_dims = 1 (attribute)\n" in text
    assert "\nexpected: outputs\n    output 0 = i32[2, 3] [[1, 1, 5], [10, 6, 6]]\n" in text
    assert "\n    gather-8/axis-scalar (入力 (Inputs), 3: axis, sentence 1): Axis may be a " in text
    assert text.endswith("```python\npass\n```")


def test_a_rejection_is_explained_with_its_rule_and_its_baseline() -> None:
    name = next(name for name in SUITE.cases if AXIS_BEFORE.fullmatch(name))
    baseline, text = SUITE.cases[name][1].baseline, explained(name)
    assert f"    one change to its baseline: {baseline}\n" in text
    assert re.search(r"\n    axis is (\[?)-?\d(\]?) instead of \1-?\d\2\n", text)
    assert (
        "\nexpected: rejection, because the call violates\n    gather-8/batch-dims-at-most-axis ("
        in text
    )
    assert f"It counts only if the baseline passes: {baseline}\n" in text
    assert "output" not in text


def test_omissions_and_ambiguities_are_explained() -> None:
    left_out = next(c.id for _, c in SUITE if c.id.startswith("gather-8/required-inputs.axis-"))
    assert "\n    axis is omitted\n" in explained(left_out)
    ambiguous = next(c.id for _, c in SUITE if c.id.startswith("gather-8/boolean-index."))
    text = explained(ambiguous)
    assert "\nimplementation-defined, because of gather-8/boolean-index; it decides no" in text
    assert ") Whether boolean counts as an integer type.\n    It is valid: False and" in text
    assert "\n    It is invalid: The document requires integers;" in text
    assert "\nby the reference: rejection, because the call violates\n" in text
    assert "\n    The reference takes it to be invalid.\n" in text


@pytest.mark.parametrize("ambiguity", sorted({c.ambiguity for _, c in SUITE if c.ambiguity}))
def test_the_reading_of_the_reference_is_explained_right(ambiguity: str) -> None:
    for _, case in SUITE:
        if case.ambiguity == ambiguity:
            text = explained(case.id)
            rejected = case.expects == "rejection"
            assert ("\nby the reference: rejection, " in text) == rejected
            assert (" takes it to be invalid." in text) == rejected
            assert (" takes it to be valid." in text) == (not rejected)


def test_the_document_is_named_with_its_digest() -> None:
    document = SUITE.operators["openvino/Gather-8"].index.document
    digest = document.sha256
    assert f"\n    by the document Gather, Gather-8, SHA-256 {digest}\n" in explained(
        "gather-8/example-2"
    )


def test_errata_are_explained() -> None:
    text = explained("gather-8/layer-example")
    assert "\nerrata\n    (" in text
    assert "The output has the id of an input port. Read as: It is a port of its own." in text


def test_feature_levels_are_explained() -> None:
    drawn = next(
        c.id
        for _, c in SUITE
        if c.id.startswith("dml-split/drawn-") and (c.type, c.rank) == ("i8", 3)
    )
    assert "    in feature levels 4_1, 3_0\n" in explained(drawn)
