"""PyTorch as a backend, eager, on any of its devices."""

from typing import Any, ClassVar

from opcert.generator.arrays.element_types import ELEMENT_TYPES, Array, bits_dtype, name_of
from opcert.generator.backends.array_adapter import ArrayAdapter
from opcert.generator.backends.composition import Picking, aligned, runtime

# What PyTorch calls the element types that it computes with.
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
# Those that NumPy has no name for pass to and from it as bits.
AS_BITS = {"bf16": "uint16", "f8e4m3": "uint8", "f8e5m2": "uint8"}


class Torch(ArrayAdapter):
    """Runs operators by PyTorch's functions on `device`: cpu, cuda, xpu, mps or a plug-in's."""

    name = "torch"
    reuse = "nothing: computed eagerly"
    support: ClassVar[dict[str, Any]] = {
        "openvino/VariadicSplit-1": {
            "how": "composed: torch.split, a -1 in split_lengths replaced on the host",
            "types": list(TYPES),
        },
        "openvino/Slice-8": {
            "how": "composed: indexing by slices, behind torch.flip of bits for negative steps",
            "types": list(TYPES),
        },
        "openvino/Broadcast-1": {
            "how": "composed: torch.broadcast_to; in mode explicit of data reshaped on the host's "
            "reading of axes_mapping",
            "types": list(TYPES),
        },
        "openvino/Gather-8": {
            "how": "composed: indexing by int64 tensors, batches by reshape, zeros by torch.where",
            "types": list(TYPES),
        },
        "directml/DML_OPERATOR_SPLIT": {
            "how": "composed: torch.split, OutputTensors compared with what it gives on the host"
        },
    }

    def __init__(self, device: str = "cpu") -> None:
        self._torch: Any = runtime("torch", "torch", "torch")
        self._device = self._torch.device(device)
        # What the device lacks is to be told before the first case.
        self._torch.zeros(1, device=self._device)
        on = "" if device == "cpu" else f" on {device}"
        self.version = f"{self._torch.__version__}{on}"
        self._names = {getattr(self._torch, theirs): name for name, theirs in TYPES.items()}

    def _tensor(self, array: Array) -> Any:
        """Return `array` on the device; on the CPU in the memory that it has."""
        name = name_of(array.dtype)
        if name not in TYPES:
            raise NotImplementedError(f"torch: element type {name}")
        if any(stride < 0 for stride in array.strides):
            array = array.copy()
        bits = array.view(bits_dtype(array.dtype)) if name in AS_BITS else array
        tensor = self._torch.from_numpy(bits).to(self._device)
        return tensor.view(getattr(self._torch, TYPES[name])) if name in AS_BITS else tensor

    def _array(self, tensor: Any) -> Array:
        contiguous = self._torch.contiguous_format
        host = tensor.to("cpu", copy=True, memory_format=contiguous)
        name = self._names[tensor.dtype]
        bits = host.view(getattr(self._torch, AS_BITS[name])) if name in AS_BITS else host
        array: Array = bits.numpy()
        return array.view(ELEMENT_TYPES[name])

    def _parts(self, tensor: Any, lengths: list[Any], axis: Any) -> Any:
        return self._torch.split(tensor, lengths, axis)

    def _region(self, tensor: Any, slices: tuple[slice, ...]) -> Any:
        # PyTorch steps forwards only, so the same elements are taken in order and then turned.
        turned = [axis for axis, each in enumerate(slices) if _is_backwards(each)]
        ahead = tuple(
            _forwards(each, tensor.shape[axis]) if axis in turned else each
            for axis, each in enumerate(slices)
        )
        found = tensor[ahead]
        return self._flipped(found, turned) if turned else found

    def _stretched(self, tensor: Any, target: list[Any], axes: list[Any] | None) -> Any:
        if axes is not None:
            tensor = tensor.reshape(aligned(tensor.shape, axes, len(target)))
        return self._torch.broadcast_to(tensor, target)

    def _picked(self, data: Array, indices: Array, axis: Any, batch_dims: int) -> Any:
        torch = self._torch
        picking = Picking(data, indices, axis, batch_dims)
        tensor, index = self._tensor(data), self._tensor(picking.indices)
        if 0 in (picking.extent, *picking.output):
            return tensor.new_zeros(picking.output)
        inside = (index >= -picking.extent) & (index < picking.extent)
        picked = torch.where(inside, index, 0)
        rows = torch.arange(len(index), device=self._device)[:, None]
        # By batch and index first: (batches, picks, outer, inner).
        slices = tensor.reshape(picking.data).transpose(1, 2)[rows, picked]
        zero = torch.zeros((), dtype=tensor.dtype, device=self._device)
        gathered = torch.where(inside[:, :, None, None], slices, zero)
        return gathered.transpose(1, 2).reshape(picking.output)

    def _flipped(self, tensor: Any, axes: list[int]) -> Any:
        # PyTorch does not flip every type, so what is flipped is bits.
        signed = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}[tensor.dtype.itemsize]
        bits = tensor.view(getattr(self._torch, signed))
        return self._torch.flip(bits, axes).view(tensor.dtype)


def _is_backwards(each: slice) -> bool:
    return each.step is not None and each.step < 0


def _forwards(each: slice, extent: int) -> slice:
    """Return the slice of the same elements as those of `each`, which is backwards, in order."""
    picked = range(extent)[each]
    if not picked:
        return slice(0, 0)
    return slice(picked[-1], picked[0] + 1, -picked.step)
