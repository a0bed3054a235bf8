"""Any namespace of the Python array API standard as a backend, by that standard's functions."""

from importlib.metadata import version
from itertools import accumulate, pairwise
from operator import index
from typing import Any, ClassVar

import numpy as np

from opcert.arrays import Array, type_name
from opcert.backends.array_adapter import ArrayAdapter, Compute
from opcert.backends.composition import Picking, aligned, are_integers, runtime

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
            "how": "composed: take by int64 indices, which the host compares with the dimension, "
            "batches by reshape, zeros by where",
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
        if type_name(array.dtype) not in TYPES:
            raise NotImplementedError(f"array-api: element type {type_name(array.dtype)}")
        return self._xp.asarray(array.copy(order="C"))

    def _array(self, tensor: Any) -> Array:
        # CuPy's say how only by a method of their own.
        return np.array(tensor.get() if hasattr(tensor, "get") else tensor)

    def _parts(self, data: Array, lengths: list[Any], axis: Any) -> Compute:
        # The standard has no function for consecutive parts, so nothing of it judges the lengths.
        where = range(data.ndim)[axis]
        if any(index(length) < 0 for length in lengths) or sum(lengths) != data.shape[where]:
            raise ValueError(f"lengths {lengths} of an axis of {data.shape[where]}")
        before, behind = (slice(None),) * where, (slice(None),) * (data.ndim - where - 1)
        bounds = list(pairwise(accumulate(lengths, initial=0)))

        def compute() -> list[Any]:
            tensor = self._tensor(data)
            return [tensor[(*before, slice(*ends), *behind)] for ends in bounds]

        return compute

    def _region(self, data: Array, slices: tuple[slice, ...]) -> Compute:
        inside = tuple(map(_inside, slices, data.shape))
        return lambda: [self._tensor(data)[inside]]

    def _stretched(self, data: Array, target: list[Any], axes: list[Any] | None) -> Compute:
        xp = self._xp
        if axes is None:
            return lambda: [xp.broadcast_to(self._tensor(data), tuple(target))]
        shape = tuple(aligned(data.shape, axes, len(target)))
        return lambda: [xp.broadcast_to(xp.reshape(self._tensor(data), shape), tuple(target))]

    def _picked(self, data: Array, indices: Array, axis: Any, batch_dims: int) -> Compute:
        if type_name(indices.dtype) not in TYPES:
            raise ValueError(f"indices of {indices.dtype}, which the standard does not have")
        picking = Picking(data, indices, axis, batch_dims)

        def compute() -> list[Any]:
            xp, tensor = self._xp, self._tensor(data)
            if picking.table is None:
                return [xp.reshape(self._taken(tensor, picking), picking.output)]
            batches, outer, extent, inner = picking.table
            apart = xp.permute_dims(xp.reshape(tensor, picking.table), (0, 2, 1, 3))
            rows = self._taken(xp.reshape(apart, (batches * extent, outer, inner)), picking)
            by_batch = xp.reshape(rows, (batches, picking.picks, outer, inner))
            return [xp.reshape(xp.permute_dims(by_batch, (0, 2, 1, 3)), picking.output)]

        return compute

    def _taken(self, tensor: Any, picking: Picking) -> Any:
        """Return slices of `tensor` along an axis, zeros where an index is out of range."""
        xp, any_inside = self._xp, bool(picking.inside.any())
        # Of a dimension without elements nothing can be taken; axis and type are judged so too.
        rows = self._tensor(picking.rows if any_inside else picking.rows[:0])
        taken = xp.take(tensor, rows, axis=picking.axis)
        if not any_inside:
            shape = list(tensor.shape)
            shape[picking.axis] = len(picking.rows)
            return xp.zeros(tuple(shape), dtype=tensor.dtype)
        inside = self._tensor(picking.inside.reshape(-1, *[1] * picking.behind))
        return xp.where(inside, taken, xp.zeros_like(taken))


def _inside(each: slice, extent: int) -> slice:
    """Return the slice of the same elements as those of `each`, with bounds in the dimension.

    Bounds that are no integers, and a step of 0, are for the namespace to reject.
    """
    ends = each.start, each.stop, each.step
    if ends == (None, None, None) or not are_integers(ends) or not each.step:
        return each
    picked = range(extent)[each]
    if not picked:
        return slice(0, 0)
    # Before the first element there is nothing that a bound could name.
    stop = picked.stop if picked.stop >= 0 else None
    return slice(picked.start, stop, picked.step)
