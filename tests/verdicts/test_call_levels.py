"""The levels of calls that no argument says alone: those of the data, and of narrowed integers."""

from dataclasses import replace

import numpy as np
import pytest

from opcert.arrays.calls import Call
from opcert.arrays.element_types import Array, type_name
from opcert.arrays.layouts import Layout
from opcert.arrays.notable_numbers import numbers_of_note
from opcert.arrays.tensor_functions import filled
from opcert.run.session import Step
from opcert.verdicts.call_levels import (
    NARROWED,
    RESULTS,
    LevelledCalls,
    levels_of_data,
    levels_of_outputs,
)
from opcert.verdicts.case_levels import points_of_cases
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.condition_text import level_text
from tests import shipped
from tests.faults.finding import core_suite


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


@pytest.mark.parametrize("index", [127, 128])
def test_an_unsigned_index_that_would_be_negative_if_it_were_signed_is_a_level(index: int) -> None:
    spec_file = shipped.spec("Gather-8")
    arrays: dict[str, Array] = {
        "data": np.arange(300, dtype=np.uint16),
        "indices": np.array(index, np.uint8),
        "axis": np.array(0, np.int64),
    }
    tensors = {name: filled(type_name(a.dtype), a.shape) for name, a in arrays.items()}
    for name in ("indices", "axis"):
        tensors[name] = replace(tensors[name], values=(int(arrays[name]),))
    layouts = {name: Layout() for name in arrays}
    step = Step(spec_file.spec.operator, arrays, {}, None, layouts, ("data",))
    levels = LevelledCalls(spec_file).narrowing(Call(tensors, {}), True, lambda: step)[NARROWED]
    assert ("indices out of the range of the signed type" in levels) == (index > 127)


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


def test_the_last_extents_of_outputs_are_levels() -> None:
    levels = levels_of_outputs([(2, 7), (12,), (3, 0), ()], ())
    assert levels["outputs tail"] == {"odd", "four times an odd number"}
    assert levels["outputs trailing"] == {"5 to 8", "9 to 16", "0"}
    assert level_text("outputs tail", "odd") == "outputs whose last extent is odd"
    assert level_text("outputs trailing", "5 to 8") == "outputs with a last extent of 5 to 8"


def test_equal_levels_of_cases_are_kept_once() -> None:
    points = points_of_cases(core_suite().operators["openvino/Broadcast-1"], None)
    levels = [each for own in points.values() for point in own for each in point]
    assert len({*map(id, levels)}) == len({*levels}) < len(points) < len(levels)


def test_what_nearly_all_failing_calls_have_separates_them_though_others_with_it_pass() -> None:
    levels = Diagnosis(core_suite()).levels["openvino/VariadicSplit-1"]
    condition = (("data rank", ("1", "2")),)
    valid = levels.mask(n for n, c in levels.operator.cases.items() if c.expects == "outputs")
    having = levels.names(levels.table.matching(condition) & valid)
    failing, passing = having[::2], levels.names(valid & ~levels.mask(having[::2]))
    found, count, total = levels.separating("shape", failing, passing)
    assert not (levels.mask(failing) & ~levels.table.matching(found)).any()
    assert 0 < count < 0.2 * total, found


def test_what_few_failing_calls_have_in_common_is_not_stated() -> None:
    levels = Diagnosis(core_suite()).levels["openvino/VariadicSplit-1"]
    cases = levels.operator.cases
    invalid = [name for name, case in cases.items() if case.expects == "rejection"]
    same = [n for n in invalid if cases[n].violated_rule == cases[invalid[0]].violated_rule]
    for count in (5, 6):
        passing = [name for name in invalid if name not in same[:count]]
        found, _, _ = levels.separating("accepted", same[:count], passing)
        assert bool(found) is (count == 6)
