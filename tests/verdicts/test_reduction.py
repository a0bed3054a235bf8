"""Reduction: a smaller call fails in the same way and violates the same rule, if any."""

from collections.abc import Sequence

import numpy as np
import pytest

from opcert.arrays.layouts import C_ORDER
from opcert.cases.conditions import Conditions
from opcert.run.session import Session, Step, step_of
from opcert.verdicts.reduction import StepMaker, call_of, is_small, reduced, shortened
from tests import shipped
from tests.at_length import at_length
from tests.faults.catalogue import FAULTS
from tests.faults.finding import core_suite, found

pytestmark = pytest.mark.usefixtures("tried_at_length")

# For each operator a valid and an invalid call that are larger than necessary.
NAMES = [
    "variadic-split-1/rank-7-rejected",
    "variadic-split-1/accepts-axis-range-above",
    "dml-split/tail-16",
    "dml-split/accepts-output-sizes-sum-in-8-bits",
    "slice-8/start-clamped-to-zero-backwards",
    "broadcast-1/f16-as-f32",
    "gather-8/data-rejected",
]


def smaller_call(name: str) -> Step:
    """Return the first failing call of a fault made smaller."""
    verdict = found(name)
    assert verdict is not None
    operator, case = core_suite().cases[verdict.case]
    start = step_of(operator, case)

    def fails(steps: Sequence[Step]) -> bool:
        fault = Session(FAULTS[name].make()).first_fault(steps)
        return fault is not None and fault[1].kind == verdict.kind

    spec_file = core_suite().spec_files[operator.index.operator]
    maker = StepMaker(spec_file, case.violated_rule)
    steps = reduced(maker, start, [False], fails) or maker.steps(start)
    assert fails(steps)
    return steps[0]


@pytest.mark.parametrize("name", at_length((each for each in NAMES if each in FAULTS), 4))
def test_a_reduced_call_fails_in_the_same_way_and_violates_the_same_rule(name: str) -> None:
    step = smaller_call(name)
    spec = core_suite().spec_files[FAULTS[name].operator].spec
    conditions = Conditions(spec)
    violated = spec.full_ids(*conditions.check(call_of(step)).violated)
    assert [*violated] == [*filter(None, [step.rule])]
    assert conditions.ambiguity(call_of(step)) is None
    # Sums that agree in 8 bits take 256 elements.
    assert sum(each.size for each in step.inputs.values()) <= 260


def test_a_call_of_rank_7_that_fails_for_its_rank_keeps_it() -> None:
    step = smaller_call("broadcast-1/rank-7-rejected")
    assert max(each.ndim for each in step.inputs.values()) == 7
    assert sum(each.size for each in step.inputs.values()) <= 60


def test_a_small_call_has_few_elements_and_dimensions() -> None:
    data = np.zeros((2, 2, 2, 2), np.int8)
    step = Step("a/B", {"data": data}, {}, [data], {"data": C_ORDER}, ("data",))
    assert is_small(step)
    high = np.zeros((1, 1, 1, 1, 1), np.int8)
    assert not is_small(Step("a/B", {"data": high}, {}, [], {"data": C_ORDER}, ("data",)))
    long = np.zeros(21, np.int8)
    assert not is_small(Step("a/B", {"data": data}, {}, [long], {"data": C_ORDER}, ("data",)))


def test_tensors_of_a_variadic_input_are_removed() -> None:
    spec_file = shipped.spec("Concat-1")
    arrays = [np.arange(1, 7, dtype=np.int8).reshape(2, 3) + 6 * k for k in range(5)]
    inputs = {f"inputs[{k}]": array for k, array in enumerate(arrays)}
    layouts = dict.fromkeys(inputs, C_ORDER)
    start = Step("openvino/Concat-1", inputs, {"axis": 0}, None, layouts, tuple(inputs))

    def fails(steps: Sequence[Step]) -> bool:
        return len(steps[0].inputs) > 2

    (smallest,) = reduced(StepMaker(spec_file), start, [False], fails)
    assert list(smallest.inputs) == ["inputs[0]", "inputs[1]", "inputs[2]"]
    assert smallest.layouts.keys() == set(smallest.data_inputs) == smallest.inputs.keys()


def test_calls_without_which_the_last_one_fails_are_left_out() -> None:
    def fails(calls: Sequence[int]) -> bool:
        return {3, 70} <= {*calls}

    assert shortened(range(100), fails) == [3, 70, 99]
    assert shortened([7], fails) == [7]
