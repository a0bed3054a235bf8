"""Backends that are wrong on purpose, each in one way, around a right one.

They call the reference functions without reading a spec: processes with them start quickly.
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
    """The reference under another name; the wrong ones change one thing about it."""

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
    """Declines what it does not say beforehand that it declines."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        if next(iter(inputs.values())).ndim > 5:
            raise NotImplementedError("rank")
        return super().run(operator, inputs, attributes)


class DeclinesBfloat16(Right):
    """Declines a whole data type, which needs no declaration."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        if any(array.dtype.name == "bfloat16" for array in inputs.values()):
            raise NotImplementedError("bfloat16")
        return super().run(operator, inputs, attributes)


class AcceptsEverything(Right):
    """Never rejects: returns its input where the reference raises."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        try:
            return super().run(operator, inputs, attributes)
        except ValueError:
            return [array.copy() for array in inputs.values()][:1]


class OutputsPostprocessed(Right):
    """Changes each right output."""

    def change(self, output: Array) -> Any:
        return output

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        return [self.change(each) for each in super().run(operator, inputs, attributes)]


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
    """Gives lists of what is small: large ones take seconds to make."""

    def change(self, output: Array) -> Any:
        return output.tolist() if output.size < 100 else output


class LosesNaNPayloads(OutputsPostprocessed):
    """Keeps each value and loses bits: every NaN becomes the same one."""

    def change(self, output: Array) -> Any:
        if output.dtype.kind != "f":
            return output
        kept = output.copy()
        kept[np.isnan(kept)] = np.nan
        return kept


class LosesNegativeZero(OutputsPostprocessed):
    def change(self, output: Array) -> Any:
        return output + output.dtype.type(0) if output.dtype == np.float32 else output


class ThroughFloat16(OutputsPostprocessed):
    def change(self, output: Array) -> Any:
        with np.errstate(all="ignore"):
            same = output.dtype == np.float32
            return output.astype(np.float16).astype(np.float32) if same else output


class ReturnsOneOutput(Right):
    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        return list(super().run(operator, inputs, attributes))[:1]


class ReturnsArray(Right):
    """Returns an array where a list of arrays is asked for."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Any:
        return np.stack([np.zeros(1)])


class WritesToItsInput(Right):
    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        outputs = super().run(operator, inputs, attributes)
        next(iter(inputs.values()))[...] = 0
        return outputs


class ReturnsViews(OutputsPostprocessed):
    """Returns views of a buffer that the next call with the same shape writes again."""

    def __init__(self) -> None:
        self._buffers: dict[tuple[object, ...], Array] = {}

    def change(self, output: Array) -> Any:
        buffer = self._buffers.setdefault((output.dtype, output.shape), output)
        buffer[...] = output
        return buffer


class CachesByShape(Right):
    """Answers a call with what it had for other data of the same shapes."""

    def __init__(self) -> None:
        self._cache: dict[str, Sequence[Array]] = {}

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        first, *others = inputs.values()
        small = [array.tolist() for array in others]
        key = f"{operator} {first.dtype} {first.shape} {small} {attributes}"
        if key not in self._cache:
            self._cache[key] = super().run(operator, inputs, attributes)
        return [each.copy() for each in self._cache[key]]


class WrongEveryThirdCall(Right):
    """Right at first: the third of three equal calls has other bytes."""

    def __init__(self) -> None:
        self._calls = 0

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        outputs = super().run(operator, inputs, attributes)
        self._calls += 1
        return [
            ~each if each.dtype.kind in "iu" and self._calls % 3 == 0 else each for each in outputs
        ]


def with_support() -> Right:
    """Return a right backend that declares less than all, and declines the rest."""

    class Declares(DeclinesHighRanks):
        support: ClassVar = {
            "openvino/Slice-8": {"how": "native", "ranks": [1, 2, 3, 4, 5]},
            "openvino/Gather-8": {"how": "composed", "types": ["f32"], "ranks": [1, 2]},
        }

    return Declares()
