"""Faults -> findings: which of them ONNX's cases find, and which opcert's core suite."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.faults.fault import Fault
from tests.faults.finding import first_failure
from tests.onnx_comparison.calls import onnx_failure


@dataclass(frozen=True)
class Finding:
    """Whether ONNX's cases and opcert's find a fault."""

    fault: Fault
    onnx: bool
    opcert: bool


def findings(faults: Iterable[Fault]) -> Iterator[Finding]:
    """Put each fault to both, with a fresh backend each time."""
    for fault in faults:
        with warnings.catch_warnings(action="ignore"):
            onnx = bool(onnx_failure(fault.make(), fault.operator))
            opcert = first_failure(fault) is not None
        yield Finding(fault, onnx, opcert)
