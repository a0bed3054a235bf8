"""Case descriptions: every case of the core suite has one, and it agrees with the index."""

import re
from math import prod

import pytest

from opcert.programs.case_programs import MAX_LISTED_ELEMENTS
from opcert.report.explain import CaseDescription, describe_case
from tests.faults.finding import core_suite

SUITE = core_suite()
CASES = SUITE.cases
AXIS_BEFORE = re.compile(r"gather-8/batch-dims-at-most-axis\.axis-set-to-zero-[0-9a-f]{8}")
AXIS = re.compile(r"(\w+\[1?\]) \[?(-?\d)\]?")


def description(case: str) -> CaseDescription:
    return describe_case(*CASES[case])


@pytest.mark.parametrize("operator", SUITE.operators)
def test_every_case_has_an_description(operator: str) -> None:
    indexed = SUITE.operators[operator]
    for case in indexed.cases.values():
        described = describe_case(indexed, case)
        assert [tensor.shape for tensor in described.inputs] == [
            array.shape for array in case.inputs.values()
        ]
        assert described.why
        assert len(described.outputs) == len(case.outputs)
        if case.expects == "rejection":
            assert 1 <= len(described.changes) <= 4
        for tensor in described.inputs:
            assert tensor.values is None or prod(tensor.shape) <= MAX_LISTED_ELEMENTS


def test_an_example_is_described_with_its_values() -> None:
    described = description("gather-8/example-2")
    assert str(described.inputs[1]) == "i64[2, 3] [[0, 0, 4], [4, 0, 0]]"
    assert described.attributes == {"batch_dims": "1"}
    assert described.outputs[0].values == "[[1, 1, 5], [10, 6, 6]]"
    assert described.changes == ()


def test_a_rejection_has_the_one_change_to_its_baseline() -> None:
    case = next(name for name in CASES if AXIS_BEFORE.fullmatch(name))
    (change,) = description(case).changes
    before, after = AXIS.fullmatch(change.before or ""), AXIS.fullmatch(change.after or "")
    assert before is not None
    assert after is not None
    assert (change.name, before[1]) == ("axis", after[1])
    assert before[2] != after[2]


def test_a_change_may_omit_an_argument_or_change_elements_only() -> None:
    left_out = next(name for name in CASES if name.startswith("gather-8/required-inputs.indices-"))
    (change,) = description(left_out).changes
    assert change.name == "indices"
    assert change.after is None
    other = next(name for name in CASES if name.startswith("gather-8/other-half-of-data-"))
    (change,) = description(other).changes
    assert change.name == "data"
    assert change.after is not None
    assert change.after == f"{change.before} of other elements" or change.before != change.after


def test_errata_that_affect_a_rule_or_an_example_are_with_its_cases() -> None:
    assert "gather-8/output-port" in description("gather-8/layer-example").errata
    broken = next(name for name in CASES if name.startswith("broadcast-1/target-rank."))
    assert set(description(broken).errata) == {"broadcast-1/taget-shape"}
    sorts = next(name for name in CASES if name.startswith("broadcast-1/axes-mapping-sorted."))
    assert description(sorts).errata == {}


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("gather-8/required-inputs.axis-", r"axis is omitted"),
        ("gather-8/axis-type.axis-as-f16-", r"axis is of f16 instead of [iu]\d+"),
        ("gather-8/axis-range.axis-above-", r"axis is \[?\d\]? instead of \[?-?\d\]?"),
        (
            "gather-8/batch-shapes-equal.data-first-extent-plus-",
            r"data has the shape \[.*\] instead of .*",
        ),
        ("broadcast-1/mode-known.mode-set-to-pdpd-", r'mode is "pdpd" instead of .*'),
        (
            "dml-split/output-type.OutputTensors-first-field-set-to-F",
            r"OutputTensors .*DataType is \"F.*\" instead of .*",
        ),
        (
            "dml-split/surplus-descriptors.OutputTensors-with-first-record-again-",
            r"OutputTensors has \d+ elements .*",
        ),
    ],
)
def test_a_change_is_described_in_words(case: str, words: str) -> None:
    (change,) = description(next(name for name in CASES if name.startswith(case))).changes
    assert re.fullmatch(words, change.words)


def test_values_that_do_not_give_every_bit_come_with_the_bits() -> None:
    texts = [
        tensor.values
        for operator, case in CASES.values()
        if case.id.startswith("slice-8/drawn-bf16-")
        for tensor in describe_case(operator, case).inputs
        if tensor.values and "nan" in tensor.values
    ]
    assert texts
    assert all(", bits 0x" in text for text in texts)
