"""Suite x declared support -> calls that exercise the protocol of a driver."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, FOUR_BIT_TYPES, Array
from opcert.scope.support import Support
from opcert.specification.references import call_reference, load_references
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite

# The minimum size of a large array in bytes, and the number of calls tried for large outputs.
_LARGE_BYTES = 1 << 24
_TRIED_CALLS = 20
_UNKNOWN_OPERATOR = "opcert/no-such-operator"
# Values that hand-written JSON parsers often get wrong.
_TRICKY_ATTRIBUTES: Mapping[str, Any] = {
    "text": 'a "quoted" \\ back slash,\na new line, {[ and é \U0001f600',
    "integers": [0, -(2**63), 2**63 - 1],
    "nested": [[], [{"a": [True, False, None]}], {}],
    "fraction": -1.5e-3,
}


@dataclass(frozen=True)
class Probe:
    """A call with its acceptable answers; `inputs` is None if the driver supports no such call."""

    description: str
    operator: str
    inputs: Mapping[str, Array] | None
    attributes: Mapping[str, Any]
    answers: tuple[str, ...] = ("outputs", "rejected", "unsupported")


def probes(suite: Suite, support: Support) -> Iterator[Probe]:
    """Yield plain calls of each operator, odd, empty and large calls, and a call of each type."""
    cases = _SupportedCases(suite, support)
    for operator in suite.operators.values():
        yield cases.of_operator(operator)
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    large = np.zeros(_LARGE_BYTES, np.uint8)
    for description, inputs, attributes in (
        ("an unknown operator", {"data": data}, {}),
        ("odd attributes", {"data": data}, _TRICKY_ATTRIBUTES),
        ("no inputs", {}, {}),
        ("a variadic input", {f"inputs[{k}]": data for k in range(12)}, {"axis": -1}),
        ("16 MB, unknown", {"data": large}, {}),
    ):
        yield Probe(description, _UNKNOWN_OPERATOR, inputs, attributes, ("unsupported",))
    yield cases.first("a call to reject", lambda case: case.expects == "rejection")
    yield cases.first("a valid call after it", _is_valid)
    yield cases.first("a valid call after it, again", _is_valid)
    yield cases.first("an empty input", _has_empty_input)
    yield cases.first("an input of rank 0", _has_scalar_input)
    for name in ELEMENT_TYPES:
        yield cases.of_type(name)
    yield cases.large()


def _is_valid(case: IndexedCase) -> bool:
    return case.expects == "outputs"


def _has_empty_input(case: IndexedCase) -> bool:
    return _is_valid(case) and any(0 in tensor.shape for tensor in case.inputs.values())


def _has_scalar_input(case: IndexedCase) -> bool:
    return _is_valid(case) and any(tensor.shape == () for tensor in case.inputs.values())


class _SupportedCases:
    """The cases of a suite that the driver declares to support."""

    def __init__(self, suite: Suite, support: Support) -> None:
        self._cases = [
            (operator, case)
            for operator, case in suite
            if case.ambiguity is None
            and not support.exclusion_reason(operator.index.operator, case)
        ]

    def of_operator(self, operator: OperatorSuite) -> Probe:
        """Return a valid call of an operator, a supported one if possible."""
        declared = (case for owner, case in self._cases if owner is operator)
        case = next(filter(_is_valid, (*declared, *operator.index.cases)))
        return _probe(operator.index.operator, operator, case)

    def first(self, description: str, condition: Callable[[IndexedCase], bool]) -> Probe:
        """Return the first call that meets a condition."""
        for operator, case in self._cases:
            if condition(case):
                return _probe(f"{description}: {case.id}", operator, case)
        return Probe(description, "", None, {})

    def of_type(self, name: str) -> Probe:
        """Return a call with data of a type; 4-bit data are the lower halves of bytes."""
        whole = "u8" if name in FOUR_BIT_TYPES else name

        def moves_type(case: IndexedCase) -> bool:
            first = next(iter(case.inputs), None)
            return _is_valid(case) and case.type == whole and first in case.data_inputs

        probe = self.first(name, moves_type)
        if probe.inputs is None or whole == name:
            return probe
        first, data = next(iter(probe.inputs.items()))
        four_bit = (data & 15).view(ELEMENT_TYPES[name])
        return Probe(
            f"{probe.description}, cut from {whole}",
            probe.operator,
            {**probe.inputs, first: four_bit},
            probe.attributes,
        )

    def large(self) -> Probe:
        """Return a call with large inputs and large outputs."""
        references = load_references(None)
        candidates = (
            (operator, case)
            for operator, case in self._cases
            if _is_valid(case) and case.data_inputs
        )
        for operator, case in islice(candidates, _TRIED_CALLS):
            reference = references.get(operator.index.operator)
            if reference is None:
                continue
            for inputs in _enlarged_inputs(operator.inputs(case)):
                try:
                    outputs = call_reference(reference, inputs, case.attributes)
                except Exception:  # noqa: S112 -- enlarged along this axis, the call is invalid
                    continue
                if sum(output.nbytes for output in outputs) >= _LARGE_BYTES:
                    description = f"16 MB, both ways: {case.id}, enlarged"
                    return Probe(description, operator.index.operator, inputs, case.attributes)
        return Probe("16 MB, both ways", "", None, {})


def _enlarged_inputs(inputs: Mapping[str, Array]) -> Iterator[Mapping[str, Array]]:
    """Yield inputs whose first one is enlarged to `_LARGE_BYTES`, along each axis in turn."""
    first, data = next(iter(inputs.items()))
    if data.nbytes:
        for axis in range(data.ndim):
            yield {**inputs, first: np.repeat(data, -(-_LARGE_BYTES // data.nbytes), axis=axis)}


def _probe(description: str, operator: OperatorSuite, case: IndexedCase) -> Probe:
    return Probe(description, operator.index.operator, operator.inputs(case), case.attributes)
