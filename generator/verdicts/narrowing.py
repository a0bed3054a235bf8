"""Which calls have another result if only the low bits of their integer inputs count.

A runtime that narrows integers fails in all of these calls and in no other. No levels say so: a
stop of 2^32 + 1 is read as 1, which changes nothing where the data ends before. As in a fault
dictionary, the cases that reveal a common fault are listed, here with the help of the reference.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, Array, bits_of
from opcert.cases.conditions import Conditions
from opcert.errors import ExpressionError, Inapplicable, OpcertError
from opcert.specification.files import SpecFile
from opcert.specification.references import golden_outputs
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.verdicts.reduction import Candidate

# To how many bits integers may be narrowed.
_WIDTHS = (8, 16, 32)
# Larger calls and outputs are not computed.
_MAX_ELEMENTS = 1 << 18


class Narrowing:
    """Computes the calls of one operator with narrowed integers."""

    def __init__(self, spec_file: SpecFile) -> None:
        self._reference = spec_file.reference
        self._conditions = Conditions(spec_file.spec)

    def levels(self, operator: OperatorSuite, case: IndexedCase) -> frozenset[str]:
        """Return to how many bits the integers of a case cannot be narrowed without effect."""
        if sum(prod(stored.shape) for stored in case.inputs.values()) > _MAX_ELEMENTS:
            return frozenset()
        numbers = [
            operator.read_array(stored)
            for name, stored in case.inputs.items()
            if _is_number(name, ELEMENT_TYPES[stored.type], case.data_inputs)
        ]
        widths = [bits for bits in _WIDTHS if any(_exceeds(array, bits) for array in numbers)]
        if not widths:
            return frozenset()
        layouts = {name: stored.layout for name, stored in case.inputs.items()}
        call = Candidate(operator.inputs(case), case.attributes, layouts, case.data_inputs)
        own = self._result(call) if case.expects == "outputs" else ()
        return frozenset(
            f"{bits} bits" for bits in widths if self._result(_narrowed(call, bits)) != own
        )

    def _result(self, call: Candidate) -> Sequence[object]:
        """Return what determines the outputs of a call; nothing if the reference rejects it."""
        try:
            if not self._conditions.has_small_outputs(call.call, _MAX_ELEMENTS):
                return ("large",)
        except (ExpressionError, Inapplicable):
            return ()
        with suppress(OpcertError):
            outputs = golden_outputs(self._reference, call.inputs, call.attributes)
            return tuple((output.shape, bits_of(output).tobytes()) for output in outputs)
        return ()


def _is_number(name: str, dtype: np.dtype[Any], data_inputs: Sequence[str]) -> bool:
    return dtype.kind in "iu" and name not in data_inputs


def _exceeds(array: Array, bits: int) -> bool:
    """Whether a signed integer of so many bits cannot hold one of the elements."""
    if not array.size:
        return False
    return not -1 << (bits - 1) <= int(array.min()) <= int(array.max()) < 1 << (bits - 1)


def _narrowed(call: Candidate, bits: int) -> Candidate:
    """Return a call whose integer inputs have only their low bits."""
    inputs = {
        name: array.astype(f"i{bits // 8}").astype(np.int64)
        if _is_number(name, array.dtype, call.data_inputs)
        else array
        for name, array in call.inputs.items()
    }
    return replace(call, inputs=inputs)
