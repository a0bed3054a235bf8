"""Which calls have another result if only the low bits of their integer inputs count.

A runtime that narrows integers fails in all of these calls and in no other. No levels say so: a
stop of 2^32 + 1 is read as 1, which changes nothing where the data ends before. As in a fault
dictionary, the cases that reveal a common fault are listed, here with the help of the reference.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from opcert.arrays import Array, bits_of
from opcert.cases import Conditions
from opcert.errors import ExpressionError, Inapplicable, OpcertError
from opcert.specification import SpecFile, golden_outputs
from opcert.suite import IndexedCase, OperatorSuite
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
        arrays = operator.inputs(case)
        if sum(array.size for array in arrays.values()) > _MAX_ELEMENTS:
            return frozenset()
        layouts = {name: stored.layout for name, stored in case.inputs.items()}
        call = Candidate(arrays, case.attributes, layouts, case.data_inputs)
        own = None
        levels = set()
        for bits in _WIDTHS:
            narrowed = _narrowed(call, bits)
            if narrowed is not None:
                if own is None:
                    own = self._result(call) if case.expects == "outputs" else ()
                if self._result(narrowed) != own:
                    levels.add(f"{bits} bits")
        return frozenset(levels)

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


def _narrowed(call: Candidate, bits: int) -> Candidate | None:
    """Return a call whose integer inputs have only their low bits; None if that changes none."""
    inputs: dict[str, Array] = {}
    changed = False
    for name, array in call.inputs.items():
        is_number = array.dtype.kind in "iu" and name not in call.data_inputs
        inputs[name] = array.astype(f"i{bits // 8}").astype(np.int64) if is_number else array
        changed |= is_number and inputs[name].tolist() != array.tolist()
    return replace(call, inputs=inputs) if changed else None
