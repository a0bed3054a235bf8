"""The levels of calls that no argument says alone: those of the data, and of narrowed integers."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from opcert.arrays.calls import Call
from opcert.arrays.element_types import same_bytes
from opcert.arrays.layouts import Layout
from opcert.arrays.notable_numbers import numbers_of_note
from opcert.arrays.tensor_functions import filled
from opcert.cases.drawn import drawn_calls, drawn_number
from opcert.run.session import Step
from opcert.verdicts.call_levels import NARROWED, RESULTS, LevelledCalls, levels_of_data
from opcert.verdicts.reproduction import FreshDraw
from tests import shipped


def test_numbers_of_note_are_levels_of_the_argument_that_has_them() -> None:
    levels = levels_of_data(
        {
            "pad": np.array([-0.0, 1], np.float16),
            "data[0]": np.array([np.inf], np.float32),
            "data[1]": np.array([np.nan, -300, 260], np.float32),
            "integers": np.array([-1], np.int32),
        }
    )
    assert levels.keys() == {"pad special", "data special"}
    assert levels["pad special"] == {"-0.0"}
    assert levels["data special"] == {"infinity", "NaN", "a number below 0"}


@pytest.mark.parametrize(("number", "has_it"), [(1 << 63, True), ((1 << 63) - 1, False)])
def test_that_a_number_would_be_negative_if_it_were_signed_is_a_level(
    number: int, has_it: bool
) -> None:
    found = numbers_of_note(np.array([0, number], np.uint64), computed=True)
    assert ("a number with its top bit set" in found) is has_it


@pytest.mark.parametrize(("name", "found"), [("Add-1", {"infinity"}), ("Pad-1", None)])
def test_what_is_computed_has_levels(name: str, found: set[str] | None) -> None:
    results = LevelledCalls(shipped.spec(name)).results(lambda: [np.array([1, np.inf], np.float16)])
    assert results.get(RESULTS) == found


@pytest.mark.parametrize(("axis", "widths"), [(3, []), (256, ["8"]), (258, [])])
def test_an_attribute_that_narrows_to_a_valid_one_is_a_level(axis: int, widths: list[str]) -> None:
    spec_file, name = shipped.spec("DML_OPERATOR_SPLIT"), "InputTensor"
    described = [{"Sizes": [1, 3], "DataType": "FLOAT32"}] * 2
    attributes = {"OutputCount": 2, "OutputTensors": described, "Axis": axis}
    call = Call({name: filled("f32", (2, 3))}, attributes)
    inputs = {name: np.zeros((2, 3), np.float32)}
    step = Step(spec_file.spec.operator, inputs, attributes, None, {name: Layout()}, (name,))
    levels = LevelledCalls(spec_file).narrowing(call, False, lambda: step)[NARROWED]
    assert levels == {f"{x} out of the {n}-bit range" for n in widths for x in ("integers", "Axis")}


def test_floats_are_not_narrowed() -> None:
    infinite = replace(filled("f32", ()), values=(float("inf"),))
    call = Call({"pad_value": infinite}, {})
    levels = LevelledCalls(shipped.spec("Pad-1")).narrowing(call, False, pytest.fail)
    assert levels[NARROWED] == set()


def test_an_invalid_call_has_the_levels_of_all_arguments_that_its_rule_compares() -> None:
    inputs = {"data": filled("f32", (1,)), "indices": filled("i64", (8, 1))}
    call = Call({**inputs, "axis": filled("i64", ())}, {"batch_dims": -2})
    levels = LevelledCalls(shipped.spec("Gather-8")).violation(call, "batch-dims-range", {"data"})
    assert "from -n to -1" in levels["batch_dims region"]


@pytest.mark.parametrize("profile", ["core", "stress"])
def test_replays_are_of_the_calls_that_the_suite_draws(profile: str) -> None:
    spec_file = shipped.spec("Broadcast-1")
    manifest = shipped.suite("openvino/Broadcast-1").manifest.model_copy(
        update={"profile": profile}
    )
    assert manifest.is_large == (profile == "stress")
    calls = LevelledCalls(spec_file, manifest)
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
    calls = LevelledCalls(shipped.spec(name), suite.manifest)
    numbers = {
        number: case
        for case in suite
        if (number := drawn_number(case.id)) is not None and name in case.operator
    }
    kept = 0
    for number, case in islice(numbers.items(), 10):
        for replay in islice(calls.replays(number), 20):
            if (call := calls.fresh(replay)) is None:
                continue
            changes = (
                change.removeprefix("other elements of ") for change in calls.changes(replay)
            )
            changed = {change.partition(" ")[0] for change in changes}
            for key, array in calls.fresh_steps(replay, call)[0].inputs.items():
                if key not in changed:
                    assert same_bytes(array, case.inputs[key])
                    kept += 1
    assert kept >= 20


def test_a_replay_that_passes_is_followed_by_calls_that_change_one_argument_each() -> None:
    suite = shipped.suite("openvino/Slice-8")
    calls = LevelledCalls(shipped.spec("Slice-8"), suite.manifest)
    numbers = [n for case in suite if (n := drawn_number(case.id)) is not None][:3]
    replays = [replay for number in numbers for replay in calls.replays(number)]
    assert not any(trial.alone for trial in calls.trials(numbers, (), 0))
    passing = {replay.name for replay in replays}
    parts = [trial for trial in calls.trials(numbers, passing, 0) if trial.alone]
    changed = {len(calls.changes(part)) for part in parts if calls.fresh(part) is not None}
    assert changed == {1}


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
