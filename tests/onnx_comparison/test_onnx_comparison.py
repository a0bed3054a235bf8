"""ONNX's node cases: all there, right for a right backend, and judged as ONNX judges."""

from collections import Counter

import pytest

pytest.importorskip("onnx", reason="onnx of the extra 'onnx' is not installed")

from opcert.backends.reference import Reference
from tests.faults.fault import Fault
from tests.faults.finding import core_suite
from tests.onnx_comparison.calls import onnx_cases, onnx_failure
from tests.onnx_comparison.findings import Finding, complaints, findings
from tests.wrong_backends import (
    DoesNothing,
    LosesNegativeZero,
    RejectsEverything,
    Right,
    ThroughFloat16,
    WrongDtype,
    WrongShape,
)

# To import ONNX's cases takes seconds.
pytestmark = pytest.mark.slow
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


def test_a_fault_that_only_onnx_finds_is_a_complaint() -> None:
    (text,) = complaints([Finding(fault(WrongShape, "form"), onnx=True, opcert=False)])
    assert text == "only ONNX's cases find WrongShape"
