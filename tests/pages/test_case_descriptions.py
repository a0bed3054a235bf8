"""Case descriptions: every case of the core suite has one, and it agrees with the index."""

import re

import pytest

from opcert.report.explain import CaseDescription, describe_case
from tests.faults.finding import core_suite

SUITE = core_suite()
CASES = SUITE.cases


def description(case: str) -> CaseDescription:
    return describe_case(*CASES[case])


@pytest.mark.parametrize("operator", SUITE.operators)
def test_every_case_has_a_description(operator: str) -> None:
    indexed = SUITE.operators[operator]
    for case in indexed.cases.values():
        described = describe_case(indexed, case)
        assert all(
            described.inputs[name].startswith(f"{array.type}{list(array.shape)}")
            for name, array in case.inputs.items()
        )
        assert described.why
        assert len(described.outputs) == len(case.outputs)
        if case.expects == "rejection":
            assert 1 <= len(described.changes) <= 4


def test_an_example_is_described_with_its_values() -> None:
    described = description("gather-8/example-2")
    assert described.inputs["indices"] == "i64[2, 3] [[0, 0, 4], [4, 0, 0]]"
    assert described.attributes == {"batch_dims": "1"}
    assert described.outputs == ["i32[2, 3] [[1, 1, 5], [10, 6, 6]]"]
    assert described.changes == {}


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
        ("gather-8/batch-dims-at-most-axis.axis-set-to-zero-", r"axis is \[?0\]? instead of .*"),
        ("gather-8/other-half-of-data-", r"data (has|is) .*"),
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
    described = description(next(name for name in CASES if name.startswith(case)))
    (change,) = described.changes.values()
    assert re.fullmatch(words, change)


def test_values_that_do_not_give_every_bit_come_with_the_bits() -> None:
    texts = [
        tensor
        for operator, case in CASES.values()
        if case.id.startswith("slice-8/drawn-bf16-")
        for tensor in describe_case(operator, case).inputs.values()
        if "nan" in tensor
    ]
    assert texts
    assert all(", bits 0x" in text for text in texts)
