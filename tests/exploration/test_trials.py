"""Trials: random calls within the spec, and the calls that probe each."""

from functools import cache
from pathlib import Path

import pytest

from opcert.choices.choices import Choices, call_seed
from opcert.errors import SpecError
from opcert.exploration.trials import Trial, Trials
from opcert.run.call_protocol import Session
from opcert.specification.files import load_references, read_spec, read_specs_in
from tests.at_length import at_length
from tests.faults.fault import OPERATORS
from tests.small_spec import spec
from tests.wrong_backends import Right

REFERENCES = load_references(None)


@cache
def trials_of(operator: str) -> Trials:
    (file,) = read_specs_in(None, operator)
    return Trials(file, REFERENCES)


def draw(operator: str, count: int, seed: int = 0) -> list[Trial]:
    trials = trials_of(operator)
    drawn = [trials.draw(Choices(call_seed(seed, number))) for number in range(count)]
    return [trial for trial in drawn if trial is not None]


@pytest.mark.parametrize("operator", at_length(OPERATORS, 3))
def test_the_reference_passes_every_trial(operator: str) -> None:
    trials = draw(operator, 60)
    assert len(trials) > 30
    stage = Session(Right())
    for trial in trials:
        assert stage.first_fault(trial.steps) is None, trial


def test_the_same_choices_give_the_same_trial() -> None:
    first, second = (draw("openvino/Gather-8", 20, seed=3) for _ in range(2))
    assert [str(trial) for trial in first] == [str(trial) for trial in second]


def test_a_trial_repeats_its_call_violates_a_rule_and_follows_a_law() -> None:
    relations = {step.relation for trial in draw("openvino/Gather-8", 60) for step in trial.steps}
    assert {
        "",
        "with every bit of the data inverted",
        "repeated",
        "after the rejection",
    } < relations
    assert "by the law gather-8/all-in-order" in relations


def test_a_rejection_violates_one_rule_and_is_followed_by_the_valid_call() -> None:
    trials = draw("openvino/Broadcast-1", 60)
    rejections = [
        (trial.steps, i) for trial in trials for i, step in enumerate(trial.steps) if step.rule
    ]
    assert len(rejections) > 10
    for steps, i in rejections:
        assert steps[i].golden is None
        assert steps[i + 1].rule or steps[i + 1].golden is steps[0].golden


def test_a_reference_that_rejects_a_fresh_call_is_a_mistake_of_the_spec(tmp_path: Path) -> None:
    path = spec(tmp_path, ("take.py:take", "take.py:rejecting"))
    trials = Trials(read_spec(path), {})
    with pytest.raises(SpecError, match="the reference rejects a valid call"):
        trials.draw(Choices(0))
