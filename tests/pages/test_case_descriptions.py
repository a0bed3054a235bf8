"""The account of a case: every case of the core suite has one, and it says what the index says."""

import re
from math import prod

import pytest

from opcert.pages import describe_case
from opcert.pages.case_descriptions import CaseDescription
from opcert.programs.reasons import MAX_LISTED_ELEMENTS
from tests.faults.finding import core_suite

SUITE = core_suite()
CASES = SUITE.cases
AXIS_BEFORE = re.compile(r"gather-8/batch-dims-at-most-axis\.axis-set-to-zero-[0-9a-f]{8}")
AXIS = re.compile(r"(\w+\[1?\]) \[?(-?\d)\]?")


def account(case: str) -> CaseDescription:
    return describe_case(*CASES[case])


@pytest.mark.parametrize("operator", SUITE.operators)
def test_every_case_has_an_account(operator: str) -> None:
    of = SUITE.operators[operator]
    for case in of.index.cases:
        told = describe_case(of, case)
        assert (told.id, told.operator, told.expects) == (case.id, operator, case.expects)
        assert [each.shape for each in told.inputs] == [e.shape for e in case.inputs.values()]
        assert (told.broken is None) == (case.violated_rule is None)
        assert (told.open_point is None) == (case.ambiguity is None)
        assert told.why
        assert len(told.outputs) == len(case.outputs)
        if case.expects == "rejection":
            assert 1 <= len(told.changes) <= 4
        for tensor in told.inputs:
            assert tensor.values is None or prod(tensor.shape) <= MAX_LISTED_ELEMENTS


def test_an_example_is_told_with_its_values() -> None:
    told = account("gather-8/example-2")
    assert str(told.inputs[1]) == "i64[2, 3] [[0, 0, 4], [4, 0, 0]]"
    assert told.attributes == {"batch_dims": "1"}
    assert told.outputs[0].values == "[[1, 1, 5], [10, 6, 6]]"
    assert "gather-8/batches" in [rule.id for rule in told.shown]
    assert told.baseline is None
    assert told.changes == ()


def test_a_rejection_names_its_rule_and_the_one_change() -> None:
    case = next(each for each in CASES if AXIS_BEFORE.fullmatch(each))
    told = account(case)
    assert told.broken is not None
    assert told.broken.text == "The dimensions that batch_dims counts lie before axis."
    assert told.broken.clause == SUITE.operators[told.operator].index.rules[told.broken.id].clause
    assert told.baseline == CASES[case][1].baseline
    (change,) = told.changes
    before, after = AXIS.fullmatch(change.before or ""), AXIS.fullmatch(change.after or "")
    assert before is not None
    assert after is not None
    assert (change.name, before[1]) == ("axis", after[1])
    assert before[2] != after[2]


def test_a_change_may_leave_out_or_change_nothing_but_elements() -> None:
    left_out = next(each for each in CASES if each.startswith("gather-8/required-inputs.indices-"))
    (change,) = account(left_out).changes
    assert change.name == "indices"
    assert change.after is None
    other = next(each for each in CASES if each.startswith("gather-8/other-data-"))
    (change,) = account(other).changes
    assert change.name == "data"
    assert change.after is not None
    assert change.after == f"{change.before} of other elements" or change.before != change.after


def test_what_is_left_open_has_an_argument_for_either_reading() -> None:
    case = next(each for each in CASES if each.startswith("gather-8/boolean-index.indices-"))
    told = account(case)
    assert told.ambiguity == "gather-8/boolean-index"
    assert told.open_point is not None
    assert told.open_point.valid.startswith("False and true stand for 0 and 1")
    assert told.open_point.invalid.startswith("The document speaks of integers")


def test_errata_that_affect_a_rule_or_an_example_are_with_its_cases() -> None:
    assert "gather-8/output-port" in account("gather-8/layer-example").errata
    broken = next(each for each in CASES if each.startswith("broadcast-1/target-rank."))
    assert set(account(broken).errata) == {"broadcast-1/taget-shape"}
    sorts = next(each for each in CASES if each.startswith("broadcast-1/axes-mapping-sorted."))
    assert account(sorts).errata == {}


def test_levels_are_told_in_words() -> None:
    drawn = next(c for _, c in CASES.values() if c.levels.get("stop_value") == "beyond")
    words = account(drawn.id).why.split(", ")
    assert {f"data of {drawn.type}", f"data rank {drawn.rank}", "a stop past the end"} <= set(words)


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("gather-8/required-inputs.axis-", r"axis is omitted"),
        ("gather-8/axis-type.axis-as-f16-", r"axis is of f16 instead of [iu]\d+"),
        ("gather-8/axis-range.axis-above-", r"axis is \[?\d\]? instead of \[?-?\d\]?"),
        (
            "gather-8/batch-shapes-equal.data-first-extent-doubled-",
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
def test_a_change_is_told_in_words(case: str, words: str) -> None:
    (change,) = account(next(each for each in CASES if each.startswith(case))).changes
    assert re.fullmatch(words, change.words)


def test_values_that_do_not_give_every_bit_come_with_the_bits() -> None:
    texts = [
        tensor.values
        for operator, case in CASES.values()
        if case.id.startswith("slice-8/valid-bf16-")
        for tensor in describe_case(operator, case).inputs
        if tensor.values and "nan" in tensor.values
    ]
    assert texts
    assert all(", bits 0x" in each for each in texts)
