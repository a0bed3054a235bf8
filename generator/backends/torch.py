"""PyTorch as a backend, eager, on any of its devices."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from opcert.generator.backends.composition import (
    Picking,
    aligned,
    as_described,
    described_lengths,
    mapping,
    number,
    numbers,
    region,
    runtime,
    with_rest,
)
from opcert.generator.element_types import ELEMENT_TYPES, Array, bits_dtype, name_of

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


class Torch:
    """Runs operators by PyTorch's functions on `device`: cpu, cuda, xpu, mps or a plug-in's."""

    name = "torch"
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
        self._operators: dict[str, Callable[..., list[Array]]] = {
            "openvino/VariadicSplit-1": self._variadic_split,
            "openvino/Slice-8": self._slice,
            "openvino/Broadcast-1": self._broadcast,
            "openvino/Gather-8": self._gather,
            "directml/DML_OPERATOR_SPLIT": self._dml_split,
        }

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Compute `operator` with PyTorch."""
        if operator not in self._operators:
            raise NotImplementedError(f"torch: {operator}")
        return self._operators[operator](**inputs, **attributes)

    def _variadic_split(self, data: Array, axis: Array, split_lengths: Array) -> list[Array]:
        where = number(axis)
        lengths = with_rest(numbers(split_lengths), data.shape, where)
        return self._arrays(self._torch.split(self._tensor(data), lengths, where))

    def _slice(
        self, data: Array, start: Array, stop: Array, step: Array, axes: Array | None = None
    ) -> list[Array]:
        slices = region(data.ndim, start, stop, step, axes)
        # PyTorch steps forwards only, so the same elements are taken in order and then turned.
        turned = [axis for axis, each in enumerate(slices) if _is_backwards(each)]
        ahead = tuple(
            _forwards(each, data.shape[axis]) if axis in turned else each
            for axis, each in enumerate(slices)
        )
        found = self._tensor(data)[ahead]
        return self._arrays([self._flipped(found, turned) if turned else found])

    def _broadcast(
        self,
        data: Array,
        target_shape: Array,
        axes_mapping: Array | None = None,
        mode: str = "numpy",
    ) -> list[Array]:
        axes, target = mapping(mode, axes_mapping), numbers(target_shape)
        tensor = self._tensor(data)
        if axes is not None:
            tensor = tensor.reshape(aligned(data.shape, axes, len(target)))
        return self._arrays([self._torch.broadcast_to(tensor, target)])

    def _gather(self, data: Array, indices: Array, axis: Array, batch_dims: int = 0) -> list[Array]:
        torch = self._torch
        picking = Picking(data, indices, number(axis), batch_dims)
        tensor, index = self._tensor(data), self._tensor(picking.indices)
        if 0 in (picking.extent, *picking.output):
            return self._arrays([tensor.new_zeros(picking.output)])
        inside = (index >= -picking.extent) & (index < picking.extent)
        picked = torch.where(inside, index, 0)
        rows = torch.arange(len(index), device=self._device)[:, None]
        # By batch and index first: (batches, picks, outer, inner).
        slices = tensor.reshape(picking.data).transpose(1, 2)[rows, picked]
        zero = torch.zeros((), dtype=tensor.dtype, device=self._device)
        gathered = torch.where(inside[:, :, None, None], slices, zero)
        return self._arrays([gathered.transpose(1, 2).reshape(picking.output)])

    def _dml_split(
        self,
        InputTensor: Array,  # noqa: N803 -- as the document has it
        OutputCount: int,  # noqa: N803
        OutputTensors: Sequence[Mapping[str, Any]],  # noqa: N803
        Axis: int,  # noqa: N803
    ) -> list[Array]:
        lengths = described_lengths(OutputCount, OutputTensors, Axis)
        parts = self._torch.split(self._tensor(InputTensor), lengths, Axis)
        return as_described(self._arrays(parts), OutputTensors)

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

    def _arrays(self, tensors: Sequence[Any]) -> list[Array]:
        """Return copies of `tensors` in memory of their own."""
        return [self._array(each) for each in tensors]

    def _array(self, tensor: Any) -> Array:
        contiguous = self._torch.contiguous_format
        host = tensor.to("cpu", copy=True, memory_format=contiguous)
        name = self._names[tensor.dtype]
        bits = host.view(getattr(self._torch, AS_BITS[name])) if name in AS_BITS else host
        array: Array = bits.numpy()
        return array.view(ELEMENT_TYPES[name])

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
