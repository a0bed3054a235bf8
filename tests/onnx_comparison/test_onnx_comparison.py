"""ONNX's node cases: all there, right for a right backend, and judged as ONNX judges."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="onnx of the extra 'onnx' is not installed")

from opcert.arrays.element_types import Array
from opcert.backends.reference import Reference
from tests.faults.fault import Fault
from tests.faults.finding import core_suite
from tests.onnx_comparison.calls import onnx_cases, onnx_failure
from tests.onnx_comparison.findings import Finding, findings
from tests.onnx_comparison.tables import by_mechanism, by_operator, complaints
from tests.wrong_backends import (
    Attributes,
    DoesNothing,
    Inputs,
    LosesNegativeZero,
    RejectsEverything,
    ReturnsViews,
    Right,
    ThroughFloat16,
    WritesToItsInput,
    WrongDtype,
    WrongShape,
)

OPERATORS = tuple(core_suite().operators)
SLICE = "openvino/Slice-8"


def fault(make: type[Right], mechanism: str) -> Fault:
    return Fault(make.__name__, SLICE, mechanism, make)


def test_onnx_has_cases_of_every_operator() -> None:
    counts = Counter(case.operator for case in onnx_cases())
    assert counts.keys() == set(OPERATORS)
    assert counts[SLICE] >= 8
    assert len({(case.name, case.operator) for case in onnx_cases()}) == counts.total()


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_reference_passes(operator: str) -> None:
    assert not onnx_failure(Reference(), operator)


@pytest.mark.parametrize("wrong", [RejectsEverything, DoesNothing, WrongDtype, WrongShape])
@pytest.mark.parametrize("operator", OPERATORS)
def test_wrong_in_every_call(wrong: type[Right], operator: str) -> None:
    assert onnx_failure(wrong(), operator)


@pytest.mark.parametrize("missed", [ThroughFloat16, LosesNegativeZero])
def test_what_a_tolerance_lets_through(missed: type[Right]) -> None:
    assert not any(onnx_failure(missed(), operator) for operator in OPERATORS)
    (found,) = findings([fault(missed, "bits")])
    assert found.opcert


def test_one_backend_runs_all_cases() -> None:
    """A buffer used again shows within one call only: no case looks at an earlier one's outputs."""
    assert onnx_failure(ReturnsViews(), "openvino/VariadicSplit-1")
    assert not onnx_failure(ReturnsViews(), SLICE)


def test_expected_outputs_are_views_as_in_onnx_and_restored() -> None:
    assert "Not equal" in onnx_failure(WritesToItsInput(), SLICE)
    assert not onnx_failure(WritesToItsInput(), "openvino/Gather-8")
    assert not onnx_failure(Reference(), SLICE)


class Recorder(Right):
    """Keeps the calls that it gets."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Mapping[str, Array], Mapping[str, Any]]] = []

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        self.calls.append((inputs, attributes))
        return super().run(operator, inputs, attributes)


def calls(name: str) -> dict[str, tuple[Mapping[str, Array], Mapping[str, Any]]]:
    found = {}
    for operator in OPERATORS:
        names = [case.name for case in onnx_cases() if case.operator == operator]
        backend = Recorder()
        assert not onnx_failure(backend, operator)
        found.update({operator: backend.calls[names.index(name)]} if name in names else {})
    return found


def test_defaults_are_spelled_out() -> None:
    by_operator = calls("test_split_1d_uneven_split_opset18")
    inputs, _ = by_operator["openvino/VariadicSplit-1"]
    assert inputs["axis"] == 0
    assert inputs["split_lengths"].tolist() == [2, 2, 2, 1]
    _, attributes = by_operator["directml/DML_OPERATOR_SPLIT"]
    assert attributes["Axis"] == 0
    assert [each["Sizes"] for each in attributes["OutputTensors"]] == [[2], [2], [2], [1]]
    inputs, _ = calls("test_slice_default_steps")[SLICE]
    assert inputs["step"].tolist() == [1, 1, 1]
    inputs, _ = calls("test_slice_default_axes")[SLICE]
    assert inputs.keys() == {"data", "start", "stop", "step"}
    inputs, attributes = calls("test_gather_2d_indices")["openvino/Gather-8"]
    assert inputs["axis"].shape == ()
    assert inputs["axis"] == 1
    assert not attributes
    inputs, _ = calls("test_expand_dim_changed")["openvino/Broadcast-1"]
    assert inputs["target_shape"].tolist() == [2, 3, 6]


class WritesLater(Right):
    """Keeps the first input that it gets, and writes to it in the next call."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: Array | None = None

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        if self.kept is not None:
            self.kept[...] = 0
        self.kept = self.kept if self.kept is not None else inputs["data"]
        return super().run(operator, inputs, attributes)


def test_what_a_backend_writes_later_is_restored_too() -> None:
    onnx_failure(WritesLater(), "openvino/VariadicSplit-1")
    assert not onnx_failure(Reference(), "openvino/VariadicSplit-1")


class Near(Right):
    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        outputs = super().run(operator, inputs, attributes)
        return [each * np.float32(1.0005) for each in outputs]


def test_a_tolerated_difference_passes() -> None:
    assert not onnx_failure(Near(), SLICE)
    assert onnx_failure(RejectsEverything(), SLICE).endswith(": ValueError: no")


def test_tables() -> None:
    faults = [fault(WrongShape, "form"), fault(ThroughFloat16, "bits"), fault(Near, "bits")]
    found = list(findings([*faults, fault(Right, "none")]))
    assert [(each.onnx, each.opcert) for each in found] == [
        (True, True),
        (False, True),
        (False, True),
        (False, False),
    ]
    rows = list(by_operator(found))
    cases = len(core_suite().operators[SLICE].cases)
    onnx = sum(case.operator == SLICE for case in onnx_cases())
    assert f"| {SLICE} | 4 | {onnx} | 1 | {cases} | 3 |" in rows
    assert rows[-1].startswith(f"| all | 4 | {len(onnx_cases())} | 1 | ")
    assert list(by_mechanism(found))[2:] == [
        "| bits | 2 | 0 | 2 |",
        "| form | 1 | 1 | 1 |",
        "| none | 1 | 0 | 0 |",
    ]
    assert not list(complaints(found))


def test_a_fault_that_only_onnx_finds_is_a_complaint() -> None:
    (text,) = complaints([Finding(fault(WrongShape, "form"), onnx=True, opcert=False)])
    assert text == "only ONNX's cases find WrongShape"
