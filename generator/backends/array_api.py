"""The Python array API standard as a backend, in the namespace of any library."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import accumulate, pairwise
from math import prod
from operator import index
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array, type_name
from opcert.backends import composition as host
from opcert.backends.array_adapter import ArrayAdapter
from opcert.backends.array_functions import NAMES, Compute, function_support
from opcert.backends.native import Traced

# The standard's real types. A namespace may have more, which the standard does not cover.
TYPES = {"boolean": "bool", "f32": "float32", "f64": "float64"}
TYPES |= {f"{s}{n}": f"{'u' * (s == 'u')}int{n}" for s in "iu" for n in (8, 16, 32, 64)}
# The namespaces that array-api-compat wraps; others implement the standard themselves.
WRAPPED = ("numpy", "cupy", "torch", "dask.array")
# How each operator is computed.
HOW = {
    "openvino/VariadicSplit-1": "composed: slices, whose bounds are added up and checked on the "
    "host",
    "openvino/Slice-8": "composed: indexing by slices, whose bounds are clamped on the host, since "
    "the standard leaves them open beyond the dimension",
    "openvino/Broadcast-1": "composed: broadcast_to; in mode explicit of data reshaped on the "
    "host's reading of axes_mapping",
    "openvino/Gather-8": "composed: take by int64 indices, which the host compares with the "
    "dimension, batches by reshape, zeros by where",
    "directml/DML_OPERATOR_SPLIT": "composed: slices, OutputTensors compared with what they give "
    "on the host",
    "openvino/Split-1": "composed: slices, whose bounds are computed on the host",
    "openvino/Concat-1": "native: concat",
    "openvino/Tile-1": "native: tile",
    "openvino/Transpose-1": "native: permute_dims",
    "openvino/Reshape-1": "composed: reshape, sizes that are copied replaced on the host",
    "openvino/GatherElements-6": "native: take_along_axis",
    "directml/DML_OPERATOR_JOIN": "composed: concat, OutputTensor compared with what it gives on "
    "the host",
    "directml/DML_OPERATOR_SLICE1": "composed: indexing by slices, the window and OutputTensor "
    "read on the host",
}


# The standard has no function of these: methods compose them.
FUNCTIONS = NAMES | {
    "openvino/Relu-1": "._relu",
    "openvino/Sigmoid-1": "._sigmoid",
    "openvino/Softmax-8": "._softmax",
}


COMPOSED = {
    "openvino/Relu-1": "composed: maximum of data and zeros",
    "openvino/Sigmoid-1": "composed: exp, add and divide",
    "openvino/Softmax-8": "composed: exp without the maximum, sum and divide",
}


class ArrayApi(ArrayAdapter):
    """Runs operators in `namespace`: numpy, cupy, torch, dask.array, array_api_strict, ..."""

    name = "array-api"
    functions = FUNCTIONS
    support: Mapping[str, Any] = {
        **{operator: {"how": how, "types": list(TYPES)} for operator, how in HOW.items()},
        **function_support(FUNCTIONS, "xp", TYPES, [*TYPES][1:], COMPOSED),
    }

    def __init__(self, namespace: str = "numpy") -> None:
        host.import_runtime("array_api_compat", "array-api-compat", self.name)
        top_level = namespace.partition(".")[0]
        base = host.import_runtime(namespace, top_level.replace("_", "-"), self.name)
        compat_version = ""
        if namespace in WRAPPED:
            wrapper = f"array_api_compat.{namespace}"
            self._xp: Any = host.import_runtime(wrapper, "array-api-compat", self.name)
            compat_version = f" by array-api-compat {version('array-api-compat')}"
        else:
            self._xp = base
        library = host.import_runtime(top_level, namespace, self.name)
        self.version = f"{namespace} {library.__version__}{compat_version}"

    def _tensor(self, array: Array) -> Any:
        name = type_name(array.dtype)
        if name not in TYPES:
            raise NotImplementedError(f"array-api: element type {name}")
        return self._xp.asarray(array.copy(order="C"))

    @property
    def _library(self) -> Any:
        return self._xp

    def _typed(self, tensor: Any, name: str) -> Any:
        if name not in TYPES:
            raise NotImplementedError(f"array-api: element type {name}")
        return self._xp.astype(tensor, getattr(self._xp, TYPES[name]))

    def _relu(self, tensor: Any) -> Any:
        return self._xp.maximum(tensor, self._xp.zeros_like(tensor))

    def _sigmoid(self, tensor: Any) -> Any:
        xp, one = self._xp, self._xp.ones_like(tensor)
        return xp.divide(one, xp.add(one, xp.exp(xp.negative(tensor))))

    def _softmax(self, tensor: Any, axis: Any) -> Any:
        xp = self._xp
        # Nothing has no maximum; an axis out of range is left to the namespace.
        if not prod(tensor.shape) and -len(tensor.shape) <= axis < len(tensor.shape):
            return tensor
        powers = xp.exp(xp.subtract(tensor, xp.max(tensor, axis=axis, keepdims=True)))
        return xp.divide(powers, xp.sum(powers, axis=axis, keepdims=True))

    def _array(self, tensor: Any) -> Array:
        # CuPy copies to the host only by a method of its own.
        return np.array(tensor.get() if hasattr(tensor, "get") else tensor)

    def _array_code(self, tensor: Traced) -> str:
        to_host = ".get()" if hasattr(tensor.value, "get") else ""
        return f"np.array({tensor.text}{to_host})"

    def _split(self, data: Array, lengths: list[Any], axis: Any) -> Compute:
        # The standard has no split, so none of its functions checks the lengths.
        dimension = range(data.ndim)[axis]
        extent = data.shape[dimension]
        if any(index(length) < 0 for length in lengths) or sum(lengths) != extent:
            raise ValueError(f"lengths {lengths} of an axis of {extent}")
        before = (slice(None),) * dimension
        after = (slice(None),) * (data.ndim - dimension - 1)
        bounds = list(pairwise(accumulate(lengths, initial=0)))

        def compute() -> list[Any]:
            tensor = self._tensor(data)
            return [tensor[(*before, slice(*ends), *after)] for ends in bounds]

        return compute

    def _slice(self, data: Array, slices: tuple[slice, ...]) -> Compute:
        clamped = tuple(map(_clamp, slices, data.shape))
        return lambda: [self._tensor(data)[clamped]]

    def _broadcast(self, data: Array, target: list[Any], axes: list[Any] | None) -> Compute:
        xp = self._xp
        if axes is None:
            return lambda: [xp.broadcast_to(self._tensor(data), tuple(target))]
        shape = tuple(host.spread_shape(data.shape, axes, len(target)))
        return lambda: [xp.broadcast_to(xp.reshape(self._tensor(data), shape), tuple(target))]

    def _gather(self, data: Array, indices: Array, axis: Any, batch_dims: int) -> Compute:
        if type_name(indices.dtype) not in TYPES:
            raise ValueError(f"indices of {indices.dtype}, which the standard does not have")
        plan = host.GatherPlan(data, indices, axis, batch_dims)

        def compute() -> list[Any]:
            xp, tensor = self._xp, self._tensor(data)
            if plan.batched_shape is None:
                return [xp.reshape(self._take(tensor, plan), plan.output_shape)]
            batches, outer, extent, inner = plan.batched_shape
            table = xp.permute_dims(xp.reshape(tensor, plan.batched_shape), (0, 2, 1, 3))
            rows = self._take(xp.reshape(table, (batches * extent, outer, inner)), plan)
            by_batch = xp.reshape(rows, (batches, plan.picks, outer, inner))
            return [xp.reshape(xp.permute_dims(by_batch, (0, 2, 1, 3)), plan.output_shape)]

        return compute

    def _take(self, tensor: Any, plan: host.GatherPlan) -> Any:
        """Return the rows of the plan, zeros for indices out of range."""
        xp, any_in_range = self._xp, bool(plan.in_range.any())
        # Nothing can be taken from an empty dimension. Taking no row still lets the namespace check
        # the axis and the types.
        rows = self._tensor(plan.rows if any_in_range else plan.rows[:0])
        taken = xp.take(tensor, rows, axis=plan.axis)
        if not any_in_range:
            shape = list(tensor.shape)
            shape[plan.axis] = len(plan.rows)
            return xp.zeros(tuple(shape), dtype=tensor.dtype)
        in_range = self._tensor(plan.in_range.reshape(-1, *[1] * plan.trailing))
        return xp.where(in_range, taken, xp.zeros_like(taken))

    def _concat(self, arrays: Sequence[Array], axis: Any) -> Compute:
        return lambda: [self._xp.concat([self._tensor(array) for array in arrays], axis=axis)]

    def _tile(self, data: Array, repeats: list[Any]) -> Compute:
        return lambda: [self._xp.tile(self._tensor(data), tuple(repeats))]

    def _permute(self, data: Array, order: list[Any]) -> Compute:
        return lambda: [self._xp.permute_dims(self._tensor(data), tuple(order))]

    def _reshape(self, data: Array, shape: list[Any]) -> Compute:
        return lambda: [self._xp.reshape(self._tensor(data), tuple(shape))]

    def _gather_elements(self, data: Array, indices: Array, axis: Any) -> Compute:
        take = self._xp.take_along_axis
        return lambda: [take(self._tensor(data), self._tensor(indices), axis=axis)]


def _clamp(bounds: slice, extent: int) -> slice:
    """Return the slice of the same elements with bounds within the dimension.

    The namespace checks bounds that are not integers, and a step of 0.
    """
    ends = bounds.start, bounds.stop, bounds.step
    if ends == (None, None, None) or not host.are_integers(ends) or not bounds.step:
        return bounds
    positions = range(extent)[bounds]
    if not positions:
        return slice(0, 0)
    # A negative stop would count from the end; None is the only way to end before element 0.
    stop = positions.stop if positions.stop >= 0 else None
    return slice(positions.start, stop, positions.step)
