"""The reference of an operator, without the calls whose outputs would fill the memory."""

from contextlib import suppress
from math import prod

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.element_types import type_name
from opcert.arrays.variadic import argument_of
from opcert.cases.conditions import Conditions
from opcert.errors import ExpressionError, Inapplicable
from opcert.panel.fault import ArrayCall, OperatorSignature, Outputs
from opcert.specification.references import Reference, call_reference

# The integers of a call are harmless where their product is below: outputs are computed for others.
_MAX_PRODUCT = 1 << 16
# How many elements the outputs of a misread call may have.
_MAX_OUTPUT_ELEMENTS = 1 << 22


class LargeOutputsError(ValueError):
    """The outputs of a call would be too large to compute."""


class BoundedReference:
    """Runs the reference, unless the spec declares large outputs for a call.

    A wrong backend may read a number of repetitions as one of billions.
    """

    def __init__(
        self, reference: Reference, conditions: Conditions, signature: OperatorSignature
    ) -> None:
        self._reference = reference
        self._conditions = conditions
        self._signature = signature

    def __call__(self, call: ArrayCall) -> Outputs:
        """Return the outputs of a call.

        Raises:
            LargeOutputsError: they would not fit into the memory.
        """
        for name in self._signature.integers:
            product = prod(max(1, abs(number)) for number in call.integers(name))
            if product > _MAX_PRODUCT and not self._has_small_outputs(call):
                raise LargeOutputsError(f"outputs of more than {_MAX_OUTPUT_ELEMENTS} elements")
        return call_reference(self._reference, call.inputs, call.attributes)

    def declared(self, call: ArrayCall) -> Call:
        """Return a call as a spec sees it: with tensors in place of arrays."""
        tensors = {
            key: Tensor(
                type_name(array.dtype),
                array.shape,
                None
                if argument_of(key) in self._signature.data_arguments
                else tuple(array.ravel().tolist()),
            )
            for key, array in call.inputs.items()
        }
        return Call(tensors, call.attributes)

    def _has_small_outputs(self, call: ArrayCall) -> bool:
        """Whether the call has no large outputs; the spec need not determine any."""
        with suppress(ExpressionError, Inapplicable):
            return self._conditions.has_small_outputs(self.declared(call), _MAX_OUTPUT_ELEMENTS)
        return True
