"""Confirmation: what fails alone, what depends on earlier calls, and the calls that show it."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from opcert.generator import Certificate, certify
from opcert.generator.arrays.element_types import Array
from tests import wrong_backends as wrong
from tests.faults.finding import core_suite
from tests.wrong_backends import Attributes, Inputs

HERE = __file__


class PlansByShape(wrong.Right):
    """Keeps the axis of the first call of each shape, as a plan whose key lacks the axis does."""

    name = "plans-by-shape"

    def __init__(self) -> None:
        super().__init__()
        self.plans: dict[object, Array] = {}

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        if operator != "openvino/VariadicSplit-1" or "axis" not in inputs or "data" not in inputs:
            return super().run(operator, inputs, attributes)
        key = inputs["data"].shape, inputs["data"].dtype
        if key in self.plans:
            inputs = {**inputs, "axis": self.plans[key]}
        outputs = super().run(operator, inputs, attributes)
        self.plans.setdefault(key, inputs["axis"].copy())
        return outputs


class RoundsThroughF16(wrong.ThroughFloat16):
    name = "rounds"


class KeepsByShape(wrong.CachesByShape):
    name = "keeps"


class LosesItsData(wrong.Right):
    """Gives zeros for f32, so that other data gives the same as the call before."""

    name = "loses"

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        outputs = super().run(operator, inputs, attributes)
        return [np.zeros_like(each) if each.dtype == np.float32 else each for each in outputs]


@cache
def certificate(name: str, case: str) -> Certificate:
    return certify(f"{HERE}:{name}", core_suite(), case=case)


def test_a_plan_whose_key_lacks_the_axis_is_of_the_kind_state_and_names_the_baseline() -> None:
    found = certificate("PlansByShape", "variadic-split-1/axis-range.*")
    accepted = [v for v in found.verdicts if v.status == "fail"]
    assert accepted
    assert {v.kind for v in accepted} == {"state"}
    for case, reproduction in found.reproductions.items():
        assert reproduction.shows == "after-others"
        assert [call.case for call in reproduction.calls] == [
            core_suite().cases[case][1].twin,
            case,
        ]


def test_what_fails_by_itself_fails_alone_with_its_own_kind() -> None:
    found = certificate("RoundsThroughF16", "dml-split/valid-f32-[12]-*")
    assert found.reproductions
    for case, reproduction in found.reproductions.items():
        assert (reproduction.shows, reproduction.kind) == ("alone", "value")
        assert {call.case for call in reproduction.calls} == {case}


def test_a_result_that_is_kept_is_of_the_kind_state() -> None:
    found = certificate("KeepsByShape", "dml-split/valid-i32-[12]-*")
    assert {v.kind for v in found.verdicts if v.status == "fail"} == {"state"}


def test_a_result_that_is_always_the_same_is_not() -> None:
    found = certificate("LosesItsData", "dml-split/valid-f32-[12]-*")
    assert {v.kind for v in found.verdicts if v.status == "fail"} == {"value"}


def test_a_large_failing_call_is_made_smaller() -> None:
    found = certificate("RoundsThroughF16", "dml-split/valid-f32-2-*")
    (reproduction,) = found.reproductions.values()
    (*_, step) = reproduction.reduced
    (given,) = step.inputs.values()
    assert given.array.size <= 20
    assert step.outputs is not None


def test_an_object_in_this_process_is_not_confirmed() -> None:
    found = certify(RoundsThroughF16(), core_suite(), case="dml-split/valid-f32-[12]-*")
    assert found.counts["fail"] > 0
    assert not found.reproductions
