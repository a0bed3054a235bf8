"""What the calls that break a rule show of an implementation which does not check it."""

from collections import defaultdict

import pytest

from opcert.generator.specification.references import references_in
from opcert.reference import RuleBroken, unchecked
from tests.faults.fault import OPERATORS
from tests.faults.finding import core_suite

# The ways of breaking a rule whose calls another rule rejects in any case, and why that must be.
HIDDEN = {
    "dml-split/uint-range.count-negative": "a negative count is not greater than 0 either",
    "dml-split/uint-range.count-minus-one": "a negative count is not greater than 0 either",
    "dml-split/uint-range.count-wraps-in-32-bits": "so many descriptions are not there",
    "dml-split/uint-range.axis-wraps-in-32-bits": "the axis is beyond the rank, too",
    "dml-split/uint-range.axis-first-beyond": "the axis is beyond the rank, too",
    "dml-split/uint-range.size-on-axis": "the sum is wrong unless another size makes up for it",
    "dml-split/uint-range.size-minus-two-on-axis": "the sum is wrong, too",
    "dml-split/uint-range.sizes-two-negative": "the sum is wrong, too",
    "dml-split/uint-range.size-on-axis-wraps-in-32-bits": "the sum is wrong, too",
    "dml-split/uint-range.size-off-axis": "the input has no negative size",
    "dml-split/uint-range.size-off-axis-wraps-in-32-bits": "the input has no such size",
    "dml-split/output-count-positive.zero": "no sizes sum to no more than 0",
    "dml-split/output-count-positive.no-tensors": "no sizes sum to no more than 0",
    "dml-split/output-count-matches.no-tensors": "no sizes sum to no more than 0",
    "dml-split/output-count-matches.tensor-too-few": "the sum lacks a size",
    "dml-split/output-count-matches.two-tensors-too-few": "the sum lacks two sizes",
    "gather-8/batch-dims-range.above": "batch dimensions that one tensor lacks are not equal",
    "gather-8/batch-dims-range.above-by-two": "batch dimensions that one tensor lacks",
    "gather-8/batch-dims-range.rank-of-indices": "batch dimensions that data lacks",
    "gather-8/batch-dims-range.wraps-in-8-bits": "it is beyond the axis, too",
    "gather-8/batch-dims-range.wraps-in-32-bits": "it is beyond the axis, too",
    "gather-8/batch-dims-range.most": "it is beyond the axis, too",
    "slice-8/data-rank.scalar": "a scalar has none of the axes that are sliced",
    "slice-8/default-axes-fit.rank-too-low": "the default lists axes that data lacks",
    "slice-8/default-axes-fit.rank-too-low-by-two": "the default lists axes that data lacks",
}


@pytest.mark.parametrize("operator", OPERATORS)
def test_another_rule_hides_a_missing_check_only_where_that_must_be(operator: str) -> None:
    suite, reference = core_suite().operators[operator], references_in(None)[operator]
    hidden: defaultdict[str, list[bool]] = defaultdict(list)
    for case in suite.index.cases:
        if case.rule is None or case.ambiguity is not None:
            continue
        way = case.id.rpartition("-")[0]
        try:
            with unchecked(case.rule):
                reference(**suite.inputs(case), **case.attributes)
        except RuleBroken:
            hidden[way].append(True)
        except Exception:  # without its check, a reference may fail in any way
            hidden[way].append(False)
        else:
            hidden[way].append(False)
    slug = suite.index.cases[0].id.partition("/")[0]
    always = {way for way, found in hidden.items() if all(found)}
    assert always == {way for way in HIDDEN if way.startswith(f"{slug}/")}
