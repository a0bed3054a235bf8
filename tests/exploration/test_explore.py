"""Exploring: what is found beyond the suite, how small, how soon, and what does not count."""

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from opcert.arrays.element_types import Array
from opcert.errors import SpecError
from opcert.exploration.explore import ExplorationResult, explore
from opcert.settings import RunSettings
from tests.command_line import MISBEHAVING, WRONG, opcert
from tests.faults.catalogue import FAULTS
from tests.faults.exploring import explored, of_several_conditions
from tests.faults.fault import OPERATORS, SLICE, the_right_one
from tests.small_spec import spec
from tests.wrong_backends import Attributes, Inputs, Right, SupportsNothing

pytestmark = pytest.mark.slow

SPLITS = "openvino/VariadicSplit-1"
MINUTES = 0.25


def alone(
    backend: Any, operator: str = SPLITS, *, minutes: float = MINUTES, seed: int = 0
) -> ExplorationResult:
    """Return the first result of exploring one operator."""
    return next(explore(backend, RunSettings(operator=operator), minutes=minutes, seed=seed))


@pytest.mark.parametrize("operator", [each for each in OPERATORS if each != SLICE])
def test_the_reference_has_no_counterexample(operator: str) -> None:
    result = alone(the_right_one(operator).make, operator, minutes=0.05)
    assert (result.operator, result.counterexample) == (operator, None)
    assert result.tried


@pytest.mark.parametrize("fault", [*of_several_conditions()][::12], ids=lambda fault: fault.name)
def test_faults_of_several_conditions_are_found(fault: Any) -> None:
    result = explored(fault, 4 * MINUTES)
    assert result.counterexample is not None
    assert result.counterexample.repeatable


def test_a_counterexample_is_as_small_as_one_that_a_person_would_write() -> None:
    fault = FAULTS["variadic-split-1/zero-with-rest"]
    counterexample = alone(fault.make, fault.operator, minutes=1).counterexample
    assert counterexample is not None
    assert counterexample.fault.kind == "value"
    (step,) = counterexample.steps
    # Shrinking may end with its time, with one part more than are needed.
    assert step.inputs["data"].size <= 2
    assert step.inputs["split_lengths"].size <= 3


def test_what_failed_is_tried_first_the_next_time(tmp_path: Path) -> None:
    fault = FAULTS["variadic-split-1/rest-first-on-the-last-axis"]
    first, second = (alone(fault.make, fault.operator, seed=seed) for seed in (1, 2))
    assert first.counterexample is not None
    assert second.counterexample is not None
    assert second.tried == 1
    assert any((tmp_path / ".hypothesis").iterdir())


def test_the_same_seed_finds_the_same_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = FAULTS["variadic-split-1/accepts-axis-shape-two"]
    results = []
    for number, seed in enumerate((5, 5, 6)):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        results.append(alone(fault.make, fault.operator, seed=seed))
    assert all(result.counterexample for result in results)
    first, second, third = (
        (result.tried, result.counterexample.failure) for result in results if result.counterexample
    )
    assert first == second != third


def test_a_counterexample_includes_the_earlier_calls_that_it_needs() -> None:
    class WrongAfterEmptyParts(Right):
        """Spoils what it returns as soon as a part had been empty in the call before."""

        def __init__(self) -> None:
            super().__init__()
            self.empty = False

        def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
            outputs = super().run(operator, inputs, attributes)
            spoiled, self.empty = self.empty, any(each.size == 0 for each in outputs)
            odd = inputs["data"].size % 2 == 1
            return [np.zeros_like(each) for each in outputs] if spoiled and odd else outputs

    counterexample = alone(WrongAfterEmptyParts).counterexample
    assert counterexample is not None
    assert counterexample.repeatable
    assert len(counterexample.steps) == 2
    assert any(each.size == 0 for each in counterexample.steps[0].golden or [])


def test_a_failure_that_does_not_recur_is_marked_as_such() -> None:
    class WrongOnce(Right):
        calls = 0

        def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
            type(self).calls += 1
            return [] if self.calls == 50 else super().run(operator, inputs, attributes)

    counterexample = alone(WrongOnce).counterexample
    assert counterexample is not None
    assert not counterexample.repeatable


def test_unsupported_calls_are_no_counterexample() -> None:
    result = alone(SupportsNothing, minutes=0.05)
    assert result.counterexample is None
    assert result.declined == result.tried > 0


def test_calls_beyond_the_declared_support_are_left_out() -> None:
    class Narrow(Right):
        """Has but three types and some ranks, says so, and gives something else for others."""

        support: ClassVar = {
            SPLITS: {"how": "native", "types": ["f32", "i8", "boolean"], "ranks": [1, 2, 3, 4]}
        }

        def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
            data = inputs["data"]
            fits = data.dtype.name in ("float32", "int8", "bool") and 1 <= data.ndim <= 4
            right = super().run(operator, inputs, attributes)
            return right if fits else []

    result = alone(Narrow, minutes=0.05)
    assert result.counterexample is None
    assert result.tried > result.declined == 0


def test_the_other_operators_are_explored_after_a_counterexample() -> None:
    fault = FAULTS["broadcast-1/rank-7-rejected"]
    results = list(explore(fault.make, RunSettings(operator="openvino/[BV]*"), minutes=0.1))
    assert [(each.operator, each.counterexample is not None) for each in results] == [
        ("openvino/Broadcast-1", True),
        ("openvino/Broadcast-1", False),
        ("openvino/VariadicSplit-1", False),
    ]


def test_shrinking_keeps_to_the_time_limit() -> None:
    class Slow(Right):
        def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
            time.sleep(0.05)
            return super().run(operator, inputs, attributes)[:-1]

    begun = time.monotonic()
    result = alone(Slow, minutes=0.03)
    assert time.monotonic() - begun < 4
    assert result.counterexample is not None


def test_an_interrupt_is_passed_on_after_the_result_so_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("opcert.exploration.explore.shortened", interrupted)
    fault = FAULTS["variadic-split-1/zero-with-rest"]
    results = explore(fault.make, RunSettings(operator=fault.operator), minutes=MINUTES)
    assert next(results).counterexample is not None
    with pytest.raises(KeyboardInterrupt):
        next(results)


def test_a_spec_that_contradicts_its_reference_is_an_error(tmp_path: Path) -> None:
    path = spec(tmp_path, ("take.py:take", "take.py:rejecting"))
    with pytest.raises(SpecError, match="the reference rejects a valid call"):
        list(explore("reference", RunSettings(specs=path.parent), minutes=0.1))


def test_the_command_exits_0_and_leaves_no_files_but_those_of_hypothesis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    spec(tmp_path)
    result = opcert("explore", "--specs", tmp_path, "--minutes", "0.02", exits=0)
    assert result.stdout.startswith("example/Take-1: ")
    assert result.stdout.endswith("calls tried, nothing found\n0 distinct new bugs found\n")
    assert {path.name for path in here.iterdir()} <= {".hypothesis"}


def test_the_command_exits_1_with_a_program_that_fails() -> None:
    options = "--minutes", "0.1", "--operator", "*Split-1"
    result = opcert("explore", "--backend", f"{WRONG}:ReturnsOneOutput", *options, exits=1)
    assert "found (count): 1 outputs; expected 2" in result.stdout
    program = result.stdout.partition("```python\n")[2].partition("```")[0]
    with pytest.raises(AssertionError, match="1 outputs; expected 2"):
        exec(program, {})  # noqa: S102 -- what is printed is to be run


def test_an_interrupted_command_exits_130() -> None:
    backend = "--backend", f"{MISBEHAVING}:Misbehaves", "--backend-option", "how=interrupt"
    result = opcert("explore", *backend, "--operator", SPLITS, "--in-process", exits=130)
    assert re.search("calls? tried, nothing found", result.stdout)
