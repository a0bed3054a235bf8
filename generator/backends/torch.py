"""PyTorch as a backend, eager, on any of its devices."""

from typing import Any, ClassVar

from opcert.arrays import ELEMENT_TYPES, Array, bits_dtype, type_name
from opcert.backends.array_adapter import ArrayAdapter, Compute
from opcert.backends.composition import Picking, aligned, are_integers, runtime

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
SELECTED_AS = {"u16": "int16", "u32": "int32", "u64": "int64"}


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
            "how": "composed: torch.index_select by int64 indices, which the host compares with "
            "the dimension, batches by reshape, zeros by torch.where",
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
        name = type_name(array.dtype)
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

    def _parts(self, data: Array, lengths: list[Any], axis: Any) -> Compute:
        return lambda: self._torch.split(self._tensor(data), lengths, axis)

    def _region(self, data: Array, slices: tuple[slice, ...]) -> Compute:
        # PyTorch steps forwards only, so the same elements are taken in order and then turned.
        turned = [axis for axis, each in enumerate(slices) if _is_backwards(each)]
        ahead = tuple(
            _forwards(each, data.shape[axis]) if axis in turned else each
            for axis, each in enumerate(slices)
        )

        def compute() -> list[Any]:
            region = self._tensor(data)[ahead]
            return [self._flipped(region, turned) if turned else region]

        return compute

    def _stretched(self, data: Array, target: list[Any], axes: list[Any] | None) -> Compute:
        if -1 in target:
            raise ValueError(f"target {target}; PyTorch keeps the size of data for a -1")
        shape = data.shape if axes is None else aligned(data.shape, axes, len(target))
        return lambda: [self._torch.broadcast_to(self._tensor(data).reshape(shape), target)]

    def _picked(self, data: Array, indices: Array, axis: Any, batch_dims: int) -> Compute:
        picking = Picking(data, indices, axis, batch_dims)

        def compute() -> list[Any]:
            tensor = self._tensor(data)
            if picking.table is None:
                return [self._taken(tensor, picking).reshape(picking.output)]
            batches, outer, extent, inner = picking.table
            apart = tensor.reshape(picking.table).transpose(1, 2)
            rows = self._taken(apart.reshape(batches * extent, outer, inner), picking)
            by_batch = rows.reshape(batches, picking.picks, outer, inner)
            return [by_batch.transpose(1, 2).reshape(picking.output)]

        return compute

    def _taken(self, tensor: Any, picking: Picking) -> Any:
        """Return slices of `tensor` along an axis, zeros where an index is out of range."""
        torch, any_inside = self._torch, bool(picking.inside.any())
        # PyTorch does not select of every type, so what is selected of these is bits.
        given, bits = tensor.dtype, SELECTED_AS.get(self._names[tensor.dtype])
        tensor = tensor.view(getattr(torch, bits)) if bits else tensor
        # Of a dimension without elements nothing can be selected; axis and type are judged so too.
        rows = self._tensor(picking.rows if any_inside else picking.rows[:0])
        taken = torch.index_select(tensor, picking.axis, rows)
        if not any_inside:
            shape = list(tensor.shape)
            shape[picking.axis] = len(picking.rows)
            return tensor.new_zeros(shape).view(given)
        inside = self._tensor(picking.inside).reshape(-1, *[1] * picking.behind)
        zero = torch.zeros((), dtype=tensor.dtype, device=self._device)
        return torch.where(inside, taken, zero).view(given)

    def _flipped(self, tensor: Any, axes: list[int]) -> Any:
        # PyTorch does not flip every type, so what is flipped is bits.
        signed = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}[tensor.dtype.itemsize]
        bits = tensor.view(getattr(self._torch, signed))
        return self._torch.flip(bits, axes).view(tensor.dtype)


def _is_backwards(each: slice) -> bool:
    # Bounds and steps that are no integers are for PyTorch to reject.
    return (
        each.step is not None and are_integers([each.start, each.stop, each.step]) and each.step < 0
    )


def _forwards(each: slice, extent: int) -> slice:
    """Return the slice of the same elements as those of `each`, which is backwards, in order."""
    picked = range(extent)[each]
    if not picked:
        return slice(0, 0)
    # The step of a single element goes nowhere, and may be the least integer, whose negative
    # PyTorch has no integer for.
    step = -picked.step if len(picked) > 1 else 1
    return slice(picked[-1], picked[0] + 1, step)
