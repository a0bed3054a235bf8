"""Trials: fresh calls within the spec, and what belongs beside each."""

from functools import cache
from pathlib import Path
from random import Random

import pytest

from opcert.errors import SpecError
from opcert.exploration.trials import Trial, Trials
from opcert.run import Session
from opcert.specification import load_references, read_spec, read_specs_in
from tests.faults.fault import OPERATORS
from tests.small_spec import spec
from tests.wrong_backends import Right

REFERENCES = load_references(None)


@cache
def trials_of(operator: str) -> Trials:
    (file,) = read_specs_in(None, operator)
    return Trials(file, REFERENCES)


def drawn(operator: str, count: int, seed: int = 0) -> list[Trial]:
    trials, random = trials_of(operator), Random(seed)
    found = [trials.drawn(random.randrange, random.random) for _ in range(count)]
    return [each for each in found if each is not None]


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_reference_passes_every_trial(operator: str) -> None:
    found = drawn(operator, 60)
    assert len(found) > 30
    stage = Session(Right())
    for trial in found:
        assert stage.first_fault(trial.steps) is None, trial


def test_the_same_draws_give_the_same_trial() -> None:
    one, other = (drawn("openvino/Gather-8", 20, seed=3) for _ in range(2))
    assert [str(each) for each in one] == [str(each) for each in other]


def test_a_trial_repeats_its_call_and_breaks_a_rule_and_follows_a_law() -> None:
    beside = {step.beside for trial in drawn("openvino/Gather-8", 60) for step in trial.steps}
    assert {"", "with every bit of the data inverted", "repeated", "behind the rejection"} < beside
    assert "by the law gather-8/all-in-order" in beside


def test_a_rejection_is_of_one_rule_and_followed_by_the_valid_call() -> None:
    found = [trial.steps for trial in drawn("openvino/Broadcast-1", 60)]
    rejections = [(steps, i) for steps in found for i, each in enumerate(steps) if each.rule]
    assert len(rejections) > 10
    for steps, i in rejections:
        assert steps[i].golden is None
        assert steps[i + 1].rule or steps[i + 1].golden is steps[0].golden


def test_the_least_draws_give_the_simplest_call_with_numbered_data() -> None:
    trial = trials_of("openvino/VariadicSplit-1").drawn(lambda _: 0, lambda: 0.0)
    assert trial is not None
    assert str(trial) == "data=boolean[6], axis=i8[] [0], split_lengths=i8[2] [1, 5]"
    assert trial.steps[0].inputs["data"].tolist() == [True, False, True, False, True, False]


def test_a_reference_that_rejects_a_fresh_call_is_a_mistake_of_the_spec(tmp_path: Path) -> None:
    path = spec(tmp_path, ("take.py:take", "take.py:rejecting"))
    trials = Trials(read_spec(path), {})
    with pytest.raises(SpecError, match="the reference rejects a valid call"):
        trials.drawn(lambda _: 0, lambda: 0.0)
