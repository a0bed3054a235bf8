"""Any namespace of the Python array API standard as a backend, by that standard's functions."""

from importlib.metadata import version
from itertools import accumulate, pairwise
from operator import index
from typing import Any, ClassVar

import numpy as np

from opcert.generator.arrays.element_types import Array, name_of
from opcert.generator.backends.array_adapter import ArrayAdapter
from opcert.generator.backends.composition import Picking, aligned, runtime

# The standard's real types; a namespace may have more, of which the standard promises nothing.
TYPES = ["boolean", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
# The namespaces that array-api-compat wraps; others follow the standard by themselves.
WRAPPED = ("numpy", "cupy", "torch", "dask.array")


class ArrayApi(ArrayAdapter):
    """Runs operators in `namespace`: numpy, cupy, torch, dask.array, array_api_strict, ..."""

    name = "array-api"
    support: ClassVar[dict[str, Any]] = {
        "openvino/VariadicSplit-1": {
            "how": "composed: slices, whose bounds are added up and checked on the host",
            "types": TYPES,
        },
        "openvino/Slice-8": {
            "how": "composed: indexing by slices, whose bounds are clamped on the host, since the "
            "standard leaves them open beyond the dimension",
            "types": TYPES,
        },
        "openvino/Broadcast-1": {
            "how": "composed: broadcast_to; in mode explicit of data reshaped on the host's "
            "reading of axes_mapping",
            "types": TYPES,
        },
        "openvino/Gather-8": {
            "how": "composed: take by int64 indices, batches by reshape, zeros by where",
            "types": TYPES,
        },
        "directml/DML_OPERATOR_SPLIT": {
            "how": "composed: slices, OutputTensors compared with what they give on the host",
            "types": TYPES,
        },
    }

    def __init__(self, namespace: str = "numpy") -> None:
        runtime("array_api_compat", "array-api-compat", self.name)
        theirs = runtime(namespace, namespace.partition(".")[0].replace("_", "-"), self.name)
        wrapper = f"array_api_compat.{namespace}"
        wrapped = namespace in WRAPPED
        self._xp: Any = runtime(wrapper, "array-api-compat", self.name) if wrapped else theirs
        by = f" by array-api-compat {version('array-api-compat')}" if wrapped else ""
        base = runtime(namespace.partition(".")[0], namespace, self.name)
        self.version = f"{namespace} {base.__version__}{by}"

    def _tensor(self, array: Array) -> Any:
        if name_of(array.dtype) not in TYPES:
            raise NotImplementedError(f"array-api: element type {name_of(array.dtype)}")
        return self._xp.asarray(array.copy(order="C"))

    def _array(self, tensor: Any) -> Array:
        # CuPy's say how only by a method of their own.
        return np.array(tensor.get() if hasattr(tensor, "get") else tensor)

    def _parts(self, tensor: Any, lengths: list[Any], axis: Any) -> list[Any]:
        """Return consecutive parts of `tensor`, which the standard has no function for."""
        where = range(tensor.ndim)[axis]
        if any(index(length) < 0 for length in lengths) or sum(lengths) != tensor.shape[where]:
            raise ValueError(f"lengths {lengths} of an axis of {tensor.shape[where]}")
        before, behind = (slice(None),) * where, (slice(None),) * (tensor.ndim - where - 1)
        bounds = pairwise(accumulate(lengths, initial=0))
        return [tensor[(*before, slice(*ends), *behind)] for ends in bounds]

    def _region(self, tensor: Any, slices: tuple[slice, ...]) -> Any:
        return tensor[tuple(_inside(*each) for each in zip(slices, tensor.shape, strict=True))]

    def _stretched(self, tensor: Any, target: list[Any], axes: list[Any] | None) -> Any:
        if axes is not None:
            tensor = self._xp.reshape(tensor, tuple(aligned(tensor.shape, axes, len(target))))
        return self._xp.broadcast_to(tensor, tuple(target))

    def _picked(self, data: Array, indices: Array, axis: Any, batch_dims: int) -> Any:
        xp = self._xp
        picking = Picking(data, indices, axis, batch_dims)
        tensor, wanted = self._tensor(data), self._tensor(picking.indices)
        if 0 in (picking.extent, *picking.output):
            return xp.zeros(picking.output, dtype=tensor.dtype)
        inside = (wanted >= -picking.extent) & (wanted < picking.extent)
        first = xp.reshape(xp.arange(picking.data[0], dtype=xp.int64), (-1, 1)) * picking.extent
        zero = xp.zeros_like(wanted)
        rows = xp.where(inside, wanted % picking.extent, zero) + first
        # By batch and index first: (batches, extent, outer, inner).
        apart = xp.permute_dims(xp.reshape(tensor, picking.data), (0, 2, 1, 3))
        table = xp.reshape(apart, (-1, picking.data[1], picking.data[3]))
        taken = xp.take(table, xp.reshape(rows, (-1,)), axis=0)
        kept = xp.reshape(inside, (-1, 1, 1))
        gathered = xp.where(kept, taken, xp.zeros_like(taken))
        by_pick = xp.reshape(gathered, (*picking.picked, picking.data[1], picking.data[3]))
        return xp.reshape(xp.permute_dims(by_pick, (0, 2, 1, 3)), picking.output)


def _inside(each: slice, extent: int) -> slice:
    """Return the slice of the same elements as those of `each`, with bounds in the dimension."""
    picked = range(extent)[each]
    if not picked:
        return slice(0, 0)
    # Before the first element there is nothing that a bound could name.
    stop = picked.stop if picked.stop >= 0 else None
    return slice(picked.start, stop, picked.step)
