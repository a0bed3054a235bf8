"""PyTorch in eager mode as a backend, on any of its devices."""

import os
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, Array, bits_dtype, type_name
from opcert.backends import composition as host
from opcert.backends.array_adapter import ArrayAdapter
from opcert.backends.array_functions import FLOATS, NAMES, Compute, function_support
from opcert.backends.native import Traced

# PyTorch's name of each element type that it computes with.
TYPES = {
    "boolean": "bool",
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
}
# PyTorch exchanges arrays of these types with NumPy only as bits.
EXCHANGED_AS = {"bf16": "uint16", "f8e4m3": "uint8", "f8e5m2": "uint8"}
# PyTorch's index_select lacks these types, and has these of the same width.
SELECTED_AS = {"u16": "int16", "u32": "int32", "u64": "int64"}
# PyTorch's flip, gather and scatter lack some types, and have an integer of each width in bytes.
INTEGER_OF_WIDTH = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}
# How each operator is computed.
HOW = {
    "openvino/VariadicSplit-1": "composed: torch.split, a -1 in split_lengths replaced on the host",
    "openvino/Slice-8": "composed: indexing by slices, then torch.flip of bits for negative steps",
    "openvino/Broadcast-1": "composed: torch.broadcast_to; in mode explicit of data reshaped on "
    "the host's reading of axes_mapping",
    "openvino/Gather-8": "composed: torch.index_select by int64 indices, which the host compares "
    "with the dimension, batches by reshape, zeros by torch.where",
    "directml/DML_OPERATOR_SPLIT": "composed: torch.split, OutputTensors compared with what it "
    "gives on the host",
    "openvino/Split-1": "composed: torch.split, equal lengths computed on the host",
    "openvino/Concat-1": "native: torch.cat",
    "openvino/Tile-1": "native: torch.tile",
    "openvino/Pad-1": "composed: torch.nn.functional.pad; in the other modes torch.index_select by "
    "the host's positions",
    "openvino/Transpose-1": "native: torch.permute",
    "openvino/Reshape-1": "composed: torch.reshape, sizes that are copied replaced on the host",
    "openvino/GatherElements-6": "composed: torch.gather of bits",
    "openvino/ScatterElementsUpdate-3": "composed: torch.scatter of bits by int64 indices",
    "directml/DML_OPERATOR_JOIN": "composed: torch.cat, OutputTensor compared with what it gives "
    "on the host",
    "directml/DML_OPERATOR_SLICE1": "composed: indexing by slices, the window and OutputTensor "
    "read on the host",
}


# PyTorch computes with these types; others it only moves.
NUMBERS = ("bf16", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8")
# The functions of PyTorch that compute with numbers.
FUNCTIONS = NAMES | {
    "openvino/Convert-1": "Tensor.to",
    "openvino/Clamp-1": "clamp",
}
# Filters of integers cannot be dilated.
CONVOLUTION = {"openvino/Convolution-1": "._convolve"}
COMPOSED = {
    "openvino/Convolution-1": "composed: torch.nn.functional.pad, then conv1d, conv2d or conv3d; "
    "the host counts the pads"
}


def support_on(device: str) -> dict[str, Any]:
    """Return the declared support on a device: CUDA's kernels lack some integers."""
    functions = function_support(FUNCTIONS, "torch", TYPES, NUMBERS)
    if device.startswith("cuda"):
        lacking = {name: FUNCTIONS[name] for name in ("openvino/MatMul-1", "openvino/Select-1")}
        selected = [name for name in TYPES if name not in SELECTED_AS]
        functions |= function_support(lacking, "torch", selected, FLOATS)
    return {
        # PyTorch has every type of DirectML.
        **{
            operator: {"how": how}
            | ({"types": list(TYPES)} if operator.startswith("openvino/") else {})
            for operator, how in HOW.items()
        },
        **functions,
        **function_support(CONVOLUTION, "torch", TYPES, FLOATS, COMPOSED),
    }


class Torch(ArrayAdapter):
    """Runs operators by PyTorch's functions on `device`: cpu, cuda, xpu, mps or a plug-in's."""

    name = "torch"
    functions = FUNCTIONS | CONVOLUTION
    reuse = "nothing: computed eagerly"
    support: Mapping[str, Any] = support_on("cpu")

    def __init__(self, device: str = "cpu") -> None:
        self._torch: Any = host.import_runtime("torch", "torch", "torch")
        self._device = device
        # A device that is missing or broken fails here, before the first case.
        self._torch.zeros(1, device=device)
        self.support = support_on(device)
        suffix = "" if device == "cpu" else f" on {device}"
        self.version = f"{self._torch.__version__}{suffix}"
        self._names = {getattr(self._torch, theirs): name for name, theirs in TYPES.items()}

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Compute `operator`, and end the process if the call breaks the device.

        After an assertion that failed in a kernel, every later call of the process fails.
        """
        broken = getattr(self._torch, "AcceleratorError", ())
        try:
            return super().run(operator, inputs, attributes)
        except broken:
            try:
                self._torch.zeros(1, device=self._device).cpu()
            except broken:
                traceback.print_exc()
                os.abort()
            raise

    def _tensor(self, array: Array) -> Any:
        """Return `array` as a tensor on the device; the CPU's shares the array's memory."""
        name = type_name(array.dtype)
        if name not in TYPES:
            raise NotImplementedError(f"torch: element type {name}")
        if any(stride < 0 for stride in array.strides):
            array = array.copy()
        if name not in EXCHANGED_AS:
            return self._torch.from_numpy(array).to(self._device)
        bits = self._torch.from_numpy(array.view(bits_dtype(array.dtype))).to(self._device)
        return bits.view(getattr(self._torch, TYPES[name]))

    def _array(self, tensor: Any) -> Array:
        contiguous = self._torch.contiguous_format
        copy = tensor.to("cpu", copy=True, memory_format=contiguous)
        name = self._names[tensor.dtype]
        if name in EXCHANGED_AS:
            copy = copy.view(getattr(self._torch, EXCHANGED_AS[name]))
        array: Array = copy.numpy()
        return array.view(ELEMENT_TYPES[name])

    @property
    def _library(self) -> Any:
        return self._torch

    def _typed(self, tensor: Any, name: str) -> Any:
        if name not in TYPES:
            raise NotImplementedError(f"torch: element type {name}")
        return tensor.to(getattr(self._torch, TYPES[name]))

    def _array_code(self, tensor: Traced) -> str:
        traced: Any = self._array(tensor)
        return str(traced.text)

    def _split(self, data: Array, lengths: list[Any], axis: Any) -> Compute:
        return lambda: self._torch.split(self._tensor(data), lengths, axis)

    def _slice(self, data: Array, slices: tuple[slice, ...]) -> Compute:
        # PyTorch has no negative steps: take the same elements in ascending order, then flip them.
        flipped = [axis for axis, bounds in enumerate(slices) if _is_backwards(bounds)]
        ascending = tuple(
            _ascending(bounds, data.shape[axis]) if axis in flipped else bounds
            for axis, bounds in enumerate(slices)
        )

        def compute() -> list[Any]:
            region = self._tensor(data)[ascending]
            if not flipped:
                return [region]
            return [self._torch.flip(self._bits(region), flipped).view(region.dtype)]

        return compute

    def _broadcast(self, data: Array, target: list[Any], axes: list[Any] | None) -> Compute:
        if -1 in target:
            raise ValueError(f"target {target}; PyTorch keeps the size of data for a -1")
        shape = data.shape if axes is None else host.spread_shape(data.shape, axes, len(target))
        return lambda: [self._torch.broadcast_to(self._tensor(data).reshape(shape), target)]

    def _gather(self, data: Array, indices: Array, axis: Any, batch_dims: int) -> Compute:
        plan = host.GatherPlan(data, indices, axis, batch_dims)

        def compute() -> list[Any]:
            tensor = self._tensor(data)
            if plan.batched_shape is None:
                return [self._select(tensor, plan).reshape(plan.output_shape)]
            batches, outer, extent, inner = plan.batched_shape
            table = tensor.reshape(plan.batched_shape).transpose(1, 2)
            rows = self._select(table.reshape(batches * extent, outer, inner), plan)
            by_batch = rows.reshape(batches, plan.picks, outer, inner)
            return [by_batch.transpose(1, 2).reshape(plan.output_shape)]

        return compute

    def _select(self, tensor: Any, plan: host.GatherPlan) -> Any:
        """Return the rows of the plan, zeros for indices out of range."""
        torch, any_in_range = self._torch, bool(plan.in_range.any())
        dtype, bits = tensor.dtype, SELECTED_AS.get(self._names[tensor.dtype])
        tensor = tensor.view(getattr(torch, bits)) if bits else tensor
        # Nothing can be selected from an empty dimension. Selecting no row still lets PyTorch check
        # the axis and the types.
        rows = self._tensor(plan.rows if any_in_range else plan.rows[:0])
        selected = torch.index_select(tensor, plan.axis, rows)
        if not any_in_range:
            shape = list(tensor.shape)
            shape[plan.axis] = len(plan.rows)
            return tensor.new_zeros(shape).view(dtype)
        in_range = self._tensor(plan.in_range).reshape(-1, *[1] * plan.trailing)
        zero = torch.zeros((), dtype=tensor.dtype, device=self._device)
        return torch.where(in_range, selected, zero).view(dtype)

    def _concat(self, arrays: Sequence[Array], axis: Any) -> Compute:
        return lambda: [self._torch.cat([self._tensor(array) for array in arrays], axis)]

    def _tile(self, data: Array, repeats: list[Any]) -> Compute:
        return lambda: [self._torch.tile(self._tensor(data), repeats)]

    def _pad(self, data: Array, begin: Array, end: Array, mode: str, fill: Array | None) -> Compute:
        host.check_padding(data, [begin, end], mode, fill)
        pads = list(zip(host.to_list(begin), host.to_list(end), strict=True))
        if mode == "constant":
            # The first pair is for the last dimension.
            flat = [number for pair in reversed(pads) for number in pair]
            number = 0 if fill is None else (int if fill.dtype.kind in "iub" else float)(fill)
            pad = self._torch.nn.functional.pad
            return lambda: [pad(self._tensor(data), flat, mode, number)]
        # PyTorch has edge and reflect for images only.
        positions = [
            np.pad(np.arange(n), pair, cast("Any", mode))
            for n, pair in zip(data.shape, pads, strict=True)
        ]

        def compute() -> list[Any]:
            tensor = self._tensor(data)
            bits = self._bits(tensor)
            for axis, rows in enumerate(positions):
                bits = self._torch.index_select(bits, axis, self._tensor(rows))
            return [bits.view(tensor.dtype)]

        return compute

    def _convolve(
        self, tensor: Any, weights: Any, strides: Any, pads: Any, rhs_dilation: Any
    ) -> Any:
        functional = self._torch.nn.functional
        # The first pair is for the last dimension.
        padded = functional.pad(tensor, [number for pair in reversed(pads) for number in pair])
        convolve = getattr(functional, f"conv{len(pads)}d")
        return convolve(padded, weights, None, strides, 0, rhs_dilation)

    def _permute(self, data: Array, order: list[Any]) -> Compute:
        return lambda: [self._torch.permute(self._tensor(data), order)]

    def _reshape(self, data: Array, shape: list[Any]) -> Compute:
        return lambda: [self._torch.reshape(self._tensor(data), shape)]

    def _gather_elements(self, data: Array, indices: Array, axis: Any) -> Compute:
        def compute() -> list[Any]:
            tensor = self._tensor(data)
            bits = self._bits(tensor)
            return [self._torch.gather(bits, axis, self._tensor(indices)).view(tensor.dtype)]

        return compute

    def _scatter_elements(self, data: Array, indices: Array, updates: Array, axis: Any) -> Compute:
        places = host.to_int64(indices)

        def compute() -> list[Any]:
            tensor, new = self._tensor(data), self._bits(self._tensor(updates))
            scattered = self._torch.scatter(self._bits(tensor), axis, self._tensor(places), new)
            return [scattered.view(tensor.dtype)]

        return compute

    def _bits(self, tensor: Any) -> Any:
        """Return a tensor as integers of the same width."""
        return tensor.view(getattr(self._torch, INTEGER_OF_WIDTH[tensor.dtype.itemsize]))


def _is_backwards(bounds: slice) -> bool:
    # Bounds that are not integers are left to PyTorch.
    ends = bounds.start, bounds.stop, bounds.step
    return bounds.step is not None and host.are_integers(ends) and bounds.step < 0


def _ascending(bounds: slice, extent: int) -> slice:
    """Return the slice of the same elements as those of a backwards slice, in ascending order."""
    positions = range(extent)[bounds]
    if not positions:
        return slice(0, 0)
    # The step of a single element is irrelevant, and may be the least integer, whose negative
    # overflows in PyTorch.
    step = -positions.step if len(positions) > 1 else 1
    return slice(positions[-1], positions[0] + 1, step)
