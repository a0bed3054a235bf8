"""Making failing calls smaller: still failing, still a call of the same sort, and small."""

from collections.abc import Sequence

import numpy as np
import pytest

from opcert.cases import Conditions
from opcert.run import Session, SessionStep
from opcert.verdicts import Candidate, Reduction, ReproducedCall
from opcert.verdicts.confirmation import step_of_call
from opcert.verdicts.reduction import is_small
from tests.faults.catalogue import FAULTS
from tests.faults.finding import core_suite, found

# Of each operator a valid call and an invalid one that are larger than needs be.
NAMES = [
    "variadic-split-1/rank-7-rejected",
    "variadic-split-1/accepts-axis-range-above",
    "dml-split/tail-16",
    "dml-split/accepts-output-sizes-sum-in-8-bits",
    "slice-8/start-clamped-to-zero-backwards",
    "broadcast-1/f16-as-f32",
    "gather-8/data-rejected",
]


def reduced(name: str) -> tuple[Candidate, list[SessionStep], str | None]:
    """Return the first failing call of a fault made smaller, its step, and the rule it breaks."""
    verdict = found(name)
    assert verdict is not None
    operator, case = core_suite().cases[verdict.case]
    first = step_of_call(operator, ReproducedCall(case=case.id))
    start = Candidate.of(first)
    rule = None if case.violated_rule is None else case.violated_rule.partition("/")[2]

    def fails(steps: Sequence[SessionStep]) -> bool:
        fault = Session(FAULTS[name].make()).first_fault(steps)
        return fault is not None and fault[1].kind == verdict.kind

    reduction = Reduction(core_suite().spec_files()[operator.index.operator], fails)
    smaller = reduction.reduced(start, rule, [False]) or start
    steps = reduction.steps(smaller, rule, [False])
    assert fails(steps)
    return smaller, steps, rule


@pytest.mark.parametrize("name", [each for each in NAMES if each in FAULTS])
def test_a_smaller_call_fails_in_the_same_way_and_is_of_the_same_sort(name: str) -> None:
    smaller, steps, rule = reduced(name)
    conditions = Conditions(core_suite().spec_files()[FAULTS[name].operator].spec)
    assert conditions.check(smaller.call).violated == (() if rule is None else (rule,))
    assert conditions.ambiguity(smaller.call) is None
    # Sums that agree in 8 bits take 256 elements.
    assert sum(each.size for each in steps[0].inputs.values()) <= 260


def test_a_call_of_rank_7_that_fails_for_its_rank_keeps_it() -> None:
    _, (step,), _ = reduced("broadcast-1/rank-7-rejected")
    assert max(each.ndim for each in step.inputs.values()) == 7
    assert sum(each.size for each in step.inputs.values()) <= 60


def test_small_is_what_is_read_at_a_glance() -> None:
    data = np.zeros((2, 2, 2, 2), np.int8)
    step = SessionStep("a/B", {"data": data}, {}, [data], {"data": "c"}, ("data",))
    assert is_small(step)
    high = np.zeros((1, 1, 1, 1, 1), np.int8)
    assert not is_small(SessionStep("a/B", {"data": high}, {}, [], {"data": "c"}, ("data",)))
    long = np.zeros(21, np.int8)
    assert not is_small(SessionStep("a/B", {"data": data}, {}, [long], {"data": "c"}, ("data",)))
