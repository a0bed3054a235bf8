"""Faults -> findings -> tables: which of them ONNX's cases find, and which opcert's core suite."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from opcert.backends.reference import Reference
from tests.faults.fault import Fault
from tests.faults.finding import core_suite, first_failure
from tests.onnx_comparison.calls import onnx_cases, onnx_failure


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


def by_operator(found: Sequence[Finding]) -> Iterator[str]:
    """Yield the guide's table."""
    yield "| operator | faults | ONNX's cases | find | opcert's cases | find |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    totals = [0] * 5
    for name, operator in core_suite().operators.items():
        those = [each for each in found if each.fault.operator == name]
        cases = sum(case.operator == name for case in onnx_cases())
        row = [len(those), cases, _onnx(those), len(operator.cases), _opcert(those)]
        totals = [total + each for total, each in zip(totals, row, strict=True)]
        yield f"| {name} | {' | '.join(map(str, row))} |"
    yield f"| all | {' | '.join(map(str, totals))} |"


def by_mechanism(found: Sequence[Finding]) -> Iterator[str]:
    """Yield the same by what goes wrong."""
    yield "| mechanism | faults | ONNX finds | opcert finds |"
    yield "| --- | ---: | ---: | ---: |"
    for name in sorted({each.fault.mechanism for each in found}):
        those = [each for each in found if each.fault.mechanism == name]
        yield f"| {name} | {len(those)} | {_onnx(those)} | {_opcert(those)} |"


def _onnx(found: Sequence[Finding]) -> int:
    return sum(each.onnx for each in found)


def _opcert(found: Sequence[Finding]) -> int:
    return sum(each.opcert for each in found)


def complaints(found: Sequence[Finding]) -> Iterator[str]:
    """Yield what should not be: ONNX's cases against the reference, or ahead of the core suite."""
    operators = dict.fromkeys(case.operator for case in onnx_cases())
    yield from filter(None, (onnx_failure(Reference(), operator) for operator in operators))
    for each in found:
        if each.onnx and not each.opcert:
            yield f"only ONNX's cases find {each.fault.name}"
