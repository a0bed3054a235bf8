"""Backends that are wrong on purpose, each in one way.

They call the reference functions without reading a spec, so that their processes start quickly.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from opcert.reference.broadcasting import broadcast_1
from opcert.reference.dml_split import dml_split
from opcert.reference.gathering import gather_8
from opcert.reference.rules import Array, Operator
from opcert.reference.slicing import slice_8
from opcert.reference.variadic_split import variadic_split_1

Inputs = Mapping[str, Array]
Attributes = Mapping[str, Any]


FUNCTIONS: Mapping[str, Operator] = {
    "directml/DML_OPERATOR_SPLIT": dml_split,
    "openvino/Broadcast-1": broadcast_1,
    "openvino/Gather-8": gather_8,
    "openvino/Slice-8": slice_8,
    "openvino/VariadicSplit-1": variadic_split_1,
}


class Right:
    """The reference under another name; its subclasses are wrong in one way."""

    name = "right"
    version = "1"

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        if operator not in FUNCTIONS:
            raise NotImplementedError(operator)
        return FUNCTIONS[operator](**inputs, **attributes)


class RejectsEverything(Right):
    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        raise ValueError("no")


class DoesNothing(Right):
    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        return []


class ReturnsItsInput(Right):
    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        return [next(iter(inputs.values()))]


class SupportsNothing(Right):
    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        raise NotImplementedError(operator)


class DeclinesHighRanks(Right):
    """Does not support high ranks, and does not declare that."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        if next(iter(inputs.values())).ndim > 5:
            raise NotImplementedError("rank")
        return super().run(operator, inputs, attributes)


class DeclinesBfloat16(Right):
    """Does not support a whole data type, which needs no declaration."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        if any(array.dtype.name == "bfloat16" for array in inputs.values()):
            raise NotImplementedError("bfloat16")
        return super().run(operator, inputs, attributes)


class DeclinesValidFloat16(Right):
    """Checks all calls, and does not support valid ones of one data type."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        outputs = super().run(operator, inputs, attributes)
        if next(iter(inputs.values())).dtype == np.float16:
            raise NotImplementedError("f16")
        return outputs


class DeclinesSomeIndices(Right):
    """Does not support i64 data, nor some calls with i64 indices, and declares neither."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        data, indices, *_ = inputs.values()
        if "int64" in (data.dtype, indices.dtype) and (data.dtype == "int64" or data.ndim > 2):
            raise NotImplementedError("int64")
        return super().run(operator, inputs, attributes)


class AcceptsEverything(Right):
    """Never rejects: returns its input where the reference raises an error."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        try:
            return super().run(operator, inputs, attributes)
        except ValueError:
            return [array.copy() for array in inputs.values()][:1]


class OutputsPostprocessed(Right):
    """Changes each output of the reference."""

    def change(self, output: Array) -> Any:
        return output

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        return [self.change(output) for output in super().run(operator, inputs, attributes)]


class WrongDtype(OutputsPostprocessed):
    def change(self, output: Array) -> Any:
        return output.astype(np.float64)


class WrongByteOrder(OutputsPostprocessed):
    def change(self, output: Array) -> Any:
        return output.astype(output.dtype.newbyteorder(">")) if output.dtype.kind == "i" else output


class WrongShape(OutputsPostprocessed):
    def change(self, output: Array) -> Any:
        return output.reshape(1, *output.shape)


class NestedLists(OutputsPostprocessed):
    """Returns small outputs as lists; large ones would take seconds."""

    def change(self, output: Array) -> Any:
        return output.tolist() if output.size < 100 else output


class LosesNaNPayloads(OutputsPostprocessed):
    """Preserves values but not bits: every NaN becomes the same one."""

    def change(self, output: Array) -> Any:
        if output.dtype.kind != "f":
            return output
        changed = output.copy()
        changed[np.isnan(changed)] = np.nan
        return changed


class LosesNegativeZero(OutputsPostprocessed):
    def change(self, output: Array) -> Any:
        with np.errstate(invalid="ignore"):
            return output + output.dtype.type(0) if output.dtype == np.float32 else output


class ThroughFloat16(OutputsPostprocessed):
    def change(self, output: Array) -> Any:
        with np.errstate(all="ignore"):
            is_float32 = output.dtype == np.float32
            return output.astype(np.float16).astype(np.float32) if is_float32 else output


class SpoilsTheTail(OutputsPostprocessed):
    """Leaves 0 where the last axis has less than a block of 4 left."""

    def change(self, output: Array) -> Any:
        changed = np.copy(output)
        if output.ndim and output.shape[-1] > 4 and (rest := output.shape[-1] % 4):
            changed[..., -rest:] = 0
        return changed


class NarrowsIntegers(Right):
    """Reads the last 32 bits of the integers of all inputs but the first."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        data, *others = inputs
        narrow = {name: inputs[name].astype(np.int32).astype(np.int64) for name in others}
        return super().run(operator, {data: inputs[data], **narrow}, attributes)


class ReturnsOneOutput(Right):
    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        return list(super().run(operator, inputs, attributes))[:1]


class ReturnsArray(Right):
    """Returns an array instead of a list of arrays."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Any:
        return np.stack([np.zeros(1)])


class WritesToItsInput(Right):
    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        outputs = super().run(operator, inputs, attributes)
        next(iter(inputs.values()))[...] = 0
        return outputs


class ReturnsViews(OutputsPostprocessed):
    """Returns a buffer that the next call with the same shape overwrites."""

    def __init__(self) -> None:
        self._buffers: dict[tuple[object, ...], Array] = {}

    def change(self, output: Array) -> Any:
        buffer = self._buffers.setdefault((output.dtype, output.shape), output)
        buffer[...] = output
        return buffer


class ChangesEarlierOutputs(Right):
    """Writes to the outputs of the call before once a call is of another shape."""

    def __init__(self) -> None:
        self._shape: tuple[int, ...] = ()
        self._outputs: Sequence[Array] = ()

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        outputs = super().run(operator, inputs, attributes)
        shape = next(iter(inputs.values())).shape
        for output in self._outputs if shape != self._shape else ():
            output.view(np.uint8)[...] = ~output.view(np.uint8)
        self._shape, self._outputs = shape, outputs
        return outputs


class CachesByShape(Right):
    """Returns cached outputs of a call with other data of the same shapes."""

    def __init__(self) -> None:
        self._cache: dict[str, Sequence[Array]] = {}

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        first, *others = inputs.values()
        small = [array.tolist() for array in others]
        key = f"{operator} {first.dtype} {first.shape} {small} {attributes}"
        if key not in self._cache:
            self._cache[key] = super().run(operator, inputs, attributes)
        return [output.copy() for output in self._cache[key]]


class WrongEveryThirdCall(Right):
    """Right at first: the third of three equal calls returns other bytes."""

    def __init__(self) -> None:
        self._calls = 0

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        outputs = super().run(operator, inputs, attributes)
        self._calls += 1
        return [
            ~output if output.dtype.kind in "iu" and self._calls % 3 == 0 else output
            for output in outputs
        ]


def with_support() -> Right:
    """Return a right backend that declares support of a part, and does not support the rest."""

    class Declares(DeclinesHighRanks):
        support: ClassVar = {
            "openvino/Slice-8": {"how": "native", "ranks": [1, 2, 3, 4, 5]},
            "openvino/Gather-8": {"how": "composed", "types": ["f32"], "ranks": [1, 2]},
        }

    return Declares()
