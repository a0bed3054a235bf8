"""PyTorch in eager mode as a backend, on any of its devices."""

import os
import traceback
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, FOUR_BIT_TYPES, Array, bits_dtype, type_name
from opcert.backends import composition as host
from opcert.backends.array_adapter import ArrayAdapter
from opcert.backends.array_functions import COMPOSED, FLOATS, MOVED, Compute, declared_support
from opcert.backends.contract import Arguments, adapter_rejections
from opcert.backends.native import Traced

# PyTorch's names of these are NumPy's.
TYPES = [name for name in ELEMENT_TYPES if name not in FOUR_BIT_TYPES]
# PyTorch's index_select lacks these types.
NOT_SELECTED = ("u16", "u32", "u64")
# PyTorch computes with these types; others it only moves.
NUMBERS = ("bf16", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8")
PATHS = {
    "astype": "Tensor.to",
    "clip": "clamp",
    "concat": "cat",
    "permute_dims": "permute",
    **{name: f"._{name}" for name in ("convolution", "pad", "region", "take", "take_along_axis")},
}
HOW = COMPOSED | {
    "convolution": "composed: torch.nn.functional.pad, then conv1d, conv2d or conv3d",
    "region": "composed: indexing by slices, then torch.flip of bits for negative steps",
    "pad": "composed: torch.nn.functional.pad; in the other modes torch.index_select by the host's "
    "positions",
    "take_along_axis": "composed: torch.gather of bits",
    "scatter": "composed: torch.scatter of bits by int64 indices",
}


def support_on(device: str) -> dict[str, Any]:
    """Return the declared support on a device: CUDA's kernels lack some integers."""
    support = declared_support("torch", TYPES, NUMBERS, PATHS, HOW)
    # Filters of integers cannot be dilated.
    support["openvino/Convolution-1"]["types"] = [*FLOATS]
    if device.startswith("cuda"):
        support["openvino/MatMul-1"]["types"] = [*FLOATS]
        selected = [name for name in TYPES if name not in NOT_SELECTED]
        support["openvino/Select-1"]["input_types"] = dict.fromkeys(MOVED, selected)
    return support


class Torch(ArrayAdapter):
    """Runs operators by PyTorch's functions on `device`: cpu, cuda, xpu, mps or a plug-in's."""

    name = "torch"
    paths = PATHS
    reuse = "nothing: computed eagerly"
    support: Mapping[str, Any] = support_on("cpu")

    def __init__(self, device: str = "cpu") -> None:
        self._library = import_module("torch")
        self._device = device
        # A device that is missing or broken fails here, before the first case.
        self._library.zeros(1, device=device)
        self.support = support_on(device)
        suffix = "" if device == "cpu" else f" on {device}"
        self.version = f"{self._library.__version__}{suffix}"
        self._names = {self._dtype(name): name for name in TYPES}

    def run(self, operator: str, inputs: Arguments, attributes: Arguments) -> list[Array]:
        """Compute `operator`, and end the process if the call breaks the device.

        After an assertion that failed in a kernel, every later call of the process fails.
        """
        broken = getattr(self._library, "AcceleratorError", ())
        try:
            return super().run(operator, inputs, attributes)
        except broken:
            try:
                self._library.zeros(1, device=self._device).cpu()
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
        if array.dtype.isbuiltin == 1:
            return self._library.from_numpy(array).to(self._device)
        # PyTorch exchanges arrays of types that NumPy lacks only as bits.
        bits = self._library.from_numpy(array.view(bits_dtype(array.dtype))).to(self._device)
        return bits.view(self._dtype(name))

    def _array(self, tensor: Any) -> Array:
        contiguous = self._library.contiguous_format
        copy = tensor.to("cpu", copy=True, memory_format=contiguous)
        dtype = ELEMENT_TYPES[self._names[tensor.dtype]]
        if dtype.isbuiltin != 1:
            copy = copy.view(getattr(self._library, bits_dtype(dtype).name))
        array: Array = copy.numpy()
        return array.view(dtype)

    def _array_code(self, tensor: Traced) -> str:
        traced: Any = self._array(tensor)
        return str(traced.text)

    def _region(self, tensor: Any, slices: tuple[slice, ...]) -> Any:
        # PyTorch has no negative steps: take the same elements in ascending order, then flip them.
        flipped = [axis for axis, bounds in enumerate(slices) if _is_backwards(bounds)]
        ascending = tuple(
            _ascending(bounds, tensor.shape[axis]) if axis in flipped else bounds
            for axis, bounds in enumerate(slices)
        )
        region = tensor[ascending]
        if not flipped:
            return region
        return self._library.flip(self._bits(region), flipped).view(region.dtype)

    def _broadcast(self, data: Array, target: list[Any], axes: list[Any] | None) -> Compute:
        if -1 in target:
            raise ValueError(f"target {target}; PyTorch keeps the size of data for a -1")
        return super()._broadcast(data, target, axes)

    def _rows(self, tensor: Any, plan: host.GatherPlan) -> Any:
        is_bits = self._names[tensor.dtype] in NOT_SELECTED
        return super()._rows(self._bits(tensor) if is_bits else tensor, plan).view(tensor.dtype)

    def _take(self, tensor: Any, rows: Any, axis: Any) -> Any:
        return self._library.index_select(tensor, axis, rows)

    def _pad(self, tensor: Any, pads: list[tuple[Any, Any]], mode: Any, fill: Array) -> Any:
        if mode == "constant":
            number = (int if fill.dtype.kind in "iub" else float)(fill)
            # The first pair is for the last dimension.
            flat = [number for pair in reversed(pads) for number in pair]
            return self._library.nn.functional.pad(tensor, flat, mode, number)
        # PyTorch has edge and reflect for images only.
        with adapter_rejections():
            places = [
                np.pad(np.arange(extent), pair, mode)
                for extent, pair in zip(tensor.shape, pads, strict=True)
            ]
        bits = self._bits(tensor)
        for axis, rows in enumerate(places):
            bits = self._library.index_select(bits, axis, self._tensor(rows))
        return bits.view(tensor.dtype)

    def _convolution(
        self, tensor: Any, weights: Any, strides: Any, pads: Any, rhs_dilation: Any
    ) -> Any:
        functional = self._library.nn.functional
        # The first pair is for the last dimension.
        padded = functional.pad(tensor, [number for pair in reversed(pads) for number in pair])
        convolve = getattr(functional, f"conv{len(pads)}d")
        return convolve(padded, weights, None, strides, 0, rhs_dilation)

    def _take_along_axis(self, tensor: Any, indices: Any, axis: Any) -> Any:
        return self._library.gather(self._bits(tensor), axis, indices).view(tensor.dtype)

    def _scatter_elements_update_3(
        self, data: Array, indices: Array, updates: Array, axis: Array
    ) -> Compute:
        host.check_updates(data, indices, updates)
        number, places = host.to_number(axis), host.to_int64(indices)

        def compute() -> list[Any]:
            tensor, new = self._tensor(data), self._bits(self._tensor(updates))
            bits, scatter = self._bits(tensor), self._library.scatter
            return [scatter(bits, number, self._tensor(places), new).view(tensor.dtype)]

        return compute

    def _bits(self, tensor: Any) -> Any:
        """Return a tensor as integers of the same width: some functions lack other types."""
        return tensor.view(getattr(self._library, f"int{8 * tensor.dtype.itemsize}"))


def _is_backwards(bounds: slice) -> bool:
    # Bounds that are not integers are left to PyTorch.
    return host.are_integers([bounds.start, bounds.stop, bounds.step]) and bounds.step < 0


def _ascending(bounds: slice, extent: int) -> slice:
    """Return the slice of the same elements as those of a backwards slice, in ascending order."""
    positions = range(extent)[bounds]
    if not positions:
        return slice(0, 0)
    # The step of a single element is irrelevant, and may be the least integer, whose negative
    # overflows in PyTorch.
    step = -positions.step if len(positions) > 1 else 1
    return slice(positions[-1], positions[0] + 1, step)
