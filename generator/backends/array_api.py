"""The Python array API standard as a backend, in the namespace of any library."""

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from itertools import accumulate, pairwise
from math import prod
from operator import index
from typing import Any

import numpy as np

from opcert.arrays.element_types import INTEGERS, Array, type_name
from opcert.backends.array_adapter import ArrayAdapter
from opcert.backends.array_functions import COMPOSED, Compute, declared_support
from opcert.backends.composition import are_integers
from opcert.backends.contract import adapter_rejections
from opcert.backends.native import Traced

# The standard's real types. A namespace may have more, which the standard does not cover.
TYPES = ("boolean", "f32", "f64", *INTEGERS)
# The namespaces that array-api-compat wraps; others implement the standard themselves.
WRAPPED = ("numpy", "cupy", "torch", "dask.array")
# The standard has none of these functions: methods compose them.
PATHS = {name: f"._{name}" for name in ("relu", "sigmoid", "softmax", "split", "region")}
HOW = COMPOSED | {
    "relu": "composed: maximum of data and zeros",
    "sigmoid": "composed: exp, add and divide",
    "softmax": "composed: exp without the maximum, sum and divide",
    "split": "composed: slices, whose bounds are added up and checked on the host",
    "region": "composed: indexing by slices, whose bounds are clamped on the host, since the "
    "standard leaves them open beyond the dimension",
}
LACKING = ("convolution", "pad", "scatter")


class ArrayApi(ArrayAdapter):
    """Runs operators in `namespace`: numpy, cupy, torch, dask.array, array_api_strict, ..."""

    name = "array-api"
    paths = PATHS
    support: Mapping[str, Any] = declared_support("xp", TYPES, TYPES[1:], PATHS, HOW, LACKING)

    def __init__(self, namespace: str = "numpy") -> None:
        is_wrapped = namespace in WRAPPED
        self._library = import_module(f"array_api_compat.{namespace}" if is_wrapped else namespace)
        wrapper = f" by array-api-compat {version('array-api-compat')}" if is_wrapped else ""
        library = import_module(namespace.partition(".")[0])
        self.version = f"{namespace} {library.__version__}{wrapper}"

    def _tensor(self, array: Array) -> Any:
        name = type_name(array.dtype)
        if name not in TYPES:
            raise NotImplementedError(f"array-api: element type {name}")
        return self._library.asarray(array.copy(order="C"))

    def _relu(self, tensor: Any) -> Any:
        return self._library.maximum(tensor, self._library.zeros_like(tensor))

    def _sigmoid(self, tensor: Any) -> Any:
        xp, one = self._library, self._library.ones_like(tensor)
        return xp.divide(one, xp.add(one, xp.exp(xp.negative(tensor))))

    def _softmax(self, tensor: Any, axis: Any) -> Any:
        xp = self._library
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

    def _split(self, tensor: Any, lengths: list[Any], axis: Any) -> list[Any]:
        # The standard has no split, so none of its functions checks the lengths.
        with adapter_rejections():
            dimension = range(len(tensor.shape))[axis]
            extent = tensor.shape[dimension]
            if any(index(length) < 0 for length in lengths) or sum(lengths) != extent:
                raise ValueError(f"lengths {lengths} of an axis of {extent}")
        before = (slice(None),) * dimension
        bounds = pairwise(accumulate(lengths, initial=0))
        return [tensor[(*before, slice(*ends), ...)] for ends in bounds]

    def _region(self, tensor: Any, slices: tuple[slice, ...]) -> Any:
        return tensor[tuple(map(_clamp, slices, tensor.shape))]

    def _gather_8(self, data: Array, indices: Array, axis: Array, batch_dims: int = 0) -> Compute:
        if type_name(indices.dtype) not in TYPES:
            raise ValueError(f"indices of {indices.dtype}, which the standard does not have")
        return super()._gather_8(data, indices, axis, batch_dims)


def _clamp(bounds: slice, extent: int) -> slice:
    """Return the slice of the same elements with bounds within the dimension.

    The namespace checks bounds that are not integers, and a step of 0.
    """
    if not are_integers([bounds.start, bounds.stop, bounds.step]) or not bounds.step:
        return bounds
    positions = range(extent)[bounds]
    if not positions:
        return slice(0, 0)
    # A negative stop would count from the end; None is the only way to end before element 0.
    stop = positions.stop if positions.stop >= 0 else None
    return slice(positions.start, stop, positions.step)
