"""Fresh calls: what is drawn anew, and what it leaves as it was."""

from itertools import islice

import pytest

from opcert.arrays.element_types import same_bytes
from opcert.cases.drawn import drawn_calls, drawn_number
from opcert.verdicts.fresh_calls import FreshCalls
from opcert.verdicts.reproduction import FreshDraw
from tests import shipped


@pytest.mark.parametrize("profile", ["core", "stress"])
def test_replays_are_of_the_calls_that_the_suite_draws(profile: str) -> None:
    spec_file = shipped.spec("Broadcast-1")
    manifest = shipped.suite("openvino/Broadcast-1").manifest.model_copy(
        update={"profile": profile}
    )
    assert manifest.is_large == (profile == "stress")
    calls = FreshCalls(spec_file, manifest)
    drawn = drawn_calls(spec_file.spec, manifest.seed, large=manifest.is_large)
    for number, call, choices in islice(drawn, 20):
        arguments = {name: str(value) for name, value in call.arguments.items()}
        for anew in choices.levels:
            for change in calls.changes(FreshDraw(number=number, anew=anew)):
                if change.startswith("other elements of "):
                    continue
                former = arguments.get(change.partition(" ")[0], "omitted")
                assert change.partition(" in place of ")[2].startswith(former)


@pytest.mark.parametrize("name", ["Broadcast-1", "Add-1"])
def test_what_a_replay_leaves_as_it_was_has_the_elements_of_the_case(name: str) -> None:
    suite = shipped.suite(f"openvino/{name}")
    calls = FreshCalls(shipped.spec(name), suite.manifest)
    numbers = {
        number: case
        for case in suite
        if (number := drawn_number(case.id)) is not None and name in case.operator
    }
    kept = 0
    for number, case in islice(numbers.items(), 10):
        for replay in islice(calls.replays(number), 20):
            if (call := calls.call(replay)) is None:
                continue
            changes = (
                change.removeprefix("other elements of ") for change in calls.changes(replay)
            )
            changed = {change.partition(" ")[0] for change in changes}
            for key, array in calls.steps(replay, call)[0].inputs.items():
                if key not in changed:
                    assert same_bytes(array, case.inputs[key])
                    kept += 1
    assert kept >= 20


def test_a_part_of_a_replay_changes_one_of_several_arguments() -> None:
    suite = shipped.suite("openvino/Slice-8")
    calls = FreshCalls(shipped.spec("Slice-8"), suite.manifest)
    numbers = [n for case in suite if (n := drawn_number(case.id)) is not None][:3]
    made = 0
    for replay in (replay for number in numbers for replay in calls.replays(number)):
        changes, parts = calls.changes(replay), [*calls.parts(replay)]
        assert len(parts) == (len(changes) if len(changes) > 1 else 0)
        for part in parts:
            if calls.call(part) is not None:
                assert calls.changes(part) in [[change] for change in changes]
                made += 1
    assert made >= 10


@pytest.mark.parametrize(
    ("case", "number"),
    [
        ("x-1/drawn-f32-2-000017", 17),
        ("x-1/drawn-f8e4m3-0-1234567", 1234567),
        ("x-1/drawn-shape", None),
        ("x-1/drawn-limit.axis-above-000017", None),
        ("x-1/neighbour-f32-2-000017", None),
    ],
)
def test_the_number_of_a_drawn_case_is_that_of_its_name(case: str, number: int | None) -> None:
    assert drawn_number(case) == number
