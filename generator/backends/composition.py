"""What adapters do on the host, where a runtime has no argument of an operator's form.

Runtimes take Python numbers where documents have tensors. What is read here goes to the runtime
as it is, which judges its type and its value; what no runtime gets to see is judged here, within
`on_the_host`, so that it counts as rejected by the adapter.
"""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from types import ModuleType
from typing import Any

import numpy as np

from opcert.arrays import INTEGERS, Array, type_name
from opcert.errors import BackendError


def runtime(module: str, package: str, backend: str) -> ModuleType:
    """Import what a backend runs on.

    Raises:
        BackendError: its package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in (module, module.partition(".")[0]):
            raise
        needs = f"backend '{backend}' needs the package {package}"
        raise BackendError(f"{needs}; pip install 'opcert[{backend}]'") from None


def number(tensor: Array) -> Any:
    """Return what a scalar or a list of one holds; of any other shape nested lists.

    No runtime takes those for a number, so that it is the runtime that rejects them.
    """
    return tensor.item() if tensor.shape in ((), (1,)) else tensor.tolist()


def numbers(tensor: Array) -> list[Any]:
    """Return what a tensor lists, nested where it has further dimensions.

    Raises:
        ValueError: it is a scalar, which means something else to runtimes than a list of one, or
            nothing is listed, so that no runtime would see its dimensions or its type.
    """
    if tensor.ndim == 0 or (tensor.ndim > 1 and not tensor.shape[0]):
        raise ValueError(f"a tensor of shape {tensor.shape}; expected one dimension")
    if not tensor.size and type_name(tensor.dtype) not in (*INTEGERS, "boolean"):
        raise TypeError(f"no elements of {tensor.dtype}; expected integers")
    found: list[Any] = tensor.tolist()
    return found


def with_rest(lengths: list[Any], shape: Sequence[int], axis: Any) -> list[Any]:
    """Return `lengths` with a lone -1 replaced by what the others leave, be it negative.

    Where they are no numbers, or the axis is none of the shape, the runtime is to reject them.
    """
    known = are_integers([*lengths, axis]) and -len(shape) <= axis < len(shape)
    if not known or lengths.count(-1) != 1:
        return lengths
    rest = shape[axis] - sum(lengths) - 1
    return [rest if length == -1 else length for length in lengths]


def are_integers(values: Iterable[Any]) -> bool:
    """Whether `values` are Python's integers."""
    return all(isinstance(value, int) for value in values)


def region(
    rank: int, start: Array, stop: Array, step: Array, axes: Array | None
) -> tuple[slice, ...]:
    """Return for each dimension the slice of it that is asked for, as it was given."""
    if not rank:
        # A scalar that is indexed by nothing is right for a library.
        raise ValueError("data of rank 0; expected one dimension or more")
    listed = range(start.size) if axes is None else numbers(axes)
    slices: dict[int, slice] = {}
    for axis, *ends in zip(listed, *map(numbers, (start, stop, step)), strict=True):
        where = range(rank)[axis]
        if where in slices:
            raise ValueError(f"axis {axis} is listed twice")
        slices[where] = slice(*ends)
    return tuple(slices.get(axis, slice(None)) for axis in range(rank))


def mapping(mode: str, axes_mapping: Array | None) -> list[Any] | None:
    """Return the axes that data is mapped to, or None where they align at the end."""
    if mode not in ("numpy", "explicit"):
        raise ValueError(f"mode '{mode}'; expected numpy or explicit")
    if (mode == "explicit") != (axes_mapping is not None):
        raise ValueError("axes_mapping goes with mode explicit, and only with it")
    return None if axes_mapping is None else numbers(axes_mapping)


def aligned(shape: Sequence[int], axes: list[Any], rank: int) -> list[int]:
    """Return `shape` spread over the `axes` of an output, with 1 for the others."""
    if len(axes) != len(shape):
        raise ValueError(f"{len(axes)} axes mapped for data of rank {len(shape)}")
    if not all(type(axis) is int and 0 <= axis < rank for axis in axes):
        raise ValueError(f"axes {axes}; expected axes of an output of rank {rank}")
    if axes != sorted(set(axes)):
        raise ValueError(f"axes {axes} are not in rising order")
    extents = dict(zip(axes, shape, strict=True))
    return [extents.get(axis, 1) for axis in range(rank)]


def has_axis(data: Array, axis: Any) -> bool:
    """Whether `axis` is an integer that data has a dimension for."""
    return are_integers([axis]) and -data.ndim <= axis < data.ndim


def batches(data: Array, indices: Array, axis: Any, batch_dims: int) -> int:
    """Return how many leading dimensions of data and indices are batches.

    It is none where data does not have the axis, for the runtime to reject that.
    """
    if not batch_dims or not has_axis(data, axis):
        return 0
    count = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    if not (0 <= count <= range(data.ndim)[axis] and abs(batch_dims) <= data.ndim):
        raise ValueError(f"batch_dims {batch_dims} with axis {axis}")
    if count > indices.ndim or data.shape[:count] != indices.shape[:count]:
        raise ValueError(f"batches {data.shape[:count]} of data, indices of {indices.shape}")
    return count


class Picking:
    """A gather as slices along one axis, by indices that are all in range.

    Where there are batches, data is to be reshaped to `table`, (batches, outer, extent, inner), and
    its batches joined along the extents; there are `picks` for each batch. `axis` is that of the
    slices, with `behind` dimensions after it; `rows` are their indices, flat, and `inside` whether
    they were in range; `output` is the shape of the result.
    """

    def __init__(self, data: Array, indices: Array, axis: Any, batch_dims: int) -> None:
        if not data.ndim:
            raise ValueError("data without dimensions; expected one to gather along")
        batch = batches(data, indices, axis, batch_dims)
        where = range(data.ndim)[axis] if has_axis(data, axis) else 0
        shape, self.axis = data.shape, axis
        self.output = shape[:where] + indices.shape[batch:] + shape[where + 1 :]
        self.behind = data.ndim - where - 1
        self.picks = indices.size
        rows, self.inside = in_range(indices.ravel(), shape[where])
        self.table: tuple[int, int, int, int] | None = None
        if batch:
            outer, inner = prod(shape[batch:where]), prod(shape[where + 1 :])
            self.table = (prod(shape[:batch]), outer, shape[where], inner)
            self.axis, self.behind = 0, 2
            self.picks = prod(indices.shape[batch:])
            first = np.repeat(np.arange(self.table[0]), self.picks) * shape[where]
            rows = rows + first.astype(rows.dtype)
        self.rows = rows


def in_range(indices: Array, extent: int) -> tuple[Array, Array]:
    """Return indices counted from the front, 0 for those out of range; and which are in range.

    Indices of no integer type stay as they are, for the runtime to reject.
    """
    if type_name(indices.dtype) not in (*INTEGERS, "boolean"):
        return indices, np.ones(indices.shape, bool)
    wide = signed(indices)
    inside = (wide >= -extent) & (wide < extent)
    return np.where(inside, np.where(wide < 0, wide + extent, wide), 0), inside


def signed(indices: Array) -> Array:
    """Return indices as 64-bit integers; what is past those stays beyond every dimension."""
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    found: Array = indices.astype(np.int64)
    return found


def described_lengths(OutputCount: int, OutputTensors: Any, Axis: int) -> list[int]:  # noqa: N803
    """Return how long each of DirectML's output tensors is along the axis, which has no sign.

    Where they do not have the axis, the runtime is to reject it.
    """
    if not 0 < OutputCount == len(OutputTensors):
        raise ValueError(f"OutputCount {OutputCount} for {len(OutputTensors)} OutputTensors")
    if Axis < 0:
        raise ValueError(f"Axis {Axis}; expected a number without a sign")
    sizes = [each["Sizes"] for each in OutputTensors]
    return [described[Axis] if Axis < len(described) else 0 for described in sizes]


def as_described(parts: list[Array], descriptions: Sequence[Mapping[str, Any]]) -> list[Array]:
    """Return `parts`, if they are what DirectML's descriptions of the output tensors say."""
    for part, description in zip(parts, descriptions, strict=True):
        found = {"Sizes": list(part.shape), "DataType": part.dtype.name.upper()}
        if found != description:
            raise ValueError(f"the output is {found}, its description {description}")
    return parts
