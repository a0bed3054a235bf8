"""Helpers of adapters: options, and computations on the host.

Runtimes take Python numbers where documents have tensors. Values read here reach the runtime
unchanged, so that the runtime checks their type and range. Values that never reach the runtime are
checked here, within `adapter_rejections`.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, prod
from typing import Any

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, INTEGERS, Array, highest, lowest, type_name

# DirectML's highest rank of a tensor that is sliced.
MAX_DIMENSIONS = 8
# The values of `auto_broadcast`.
BROADCASTS_OF_MAXIMUM = ("none", "numpy")
BROADCASTS = (*BROADCASTS_OF_MAXIMUM, "pdpd")


def check_options(choices: Mapping[str, Sequence[str]], **options: str) -> None:
    """Check that each option has one of its choices.

    Raises:
        ValueError: an option has another value.
    """
    for option, value in options.items():
        if value not in choices[option]:
            raise ValueError(f"{option}={value}; expected {' or '.join(choices[option])}")


def to_number(tensor: Array) -> Any:
    """Return the element of a scalar or a list of one; nested lists for any other shape.

    Runtimes reject nested lists where they expect a number.
    """
    return tensor.item() if tensor.shape in ((), (1,)) else tensor.tolist()


def to_list(tensor: Array) -> list[Any]:
    """Return the elements of a tensor, as nested lists where its rank is above 1.

    Raises:
        ValueError: it is a scalar, or has no rows, so that its list does not show its rank.
        TypeError: it is empty and of a wrong type, which its list does not show.
    """
    if tensor.ndim == 0 or (tensor.ndim > 1 and not tensor.shape[0]):
        raise ValueError(f"a tensor of shape {tensor.shape}; expected one dimension")
    if not tensor.size and not _is_integer_type(tensor):
        raise TypeError(f"no elements of {tensor.dtype}; expected integers")
    elements: list[Any] = tensor.tolist()
    return elements


def _is_integer_type(array: Array) -> bool:
    return type_name(array.dtype) in (*INTEGERS, "boolean")


def are_integers(values: Iterable[Any]) -> bool:
    """Whether all `values` are Python integers."""
    return all(isinstance(value, int) for value in values)


def has_axis(rank: int, axis: Any) -> bool:
    """Whether `axis` is an integer that names a dimension of a tensor of this rank."""
    return are_integers([axis]) and -rank <= axis < rank


def replace_rest(lengths: list[Any], shape: Sequence[int], axis: Any) -> list[Any]:
    """Return `lengths` with a single -1 replaced by the rest of the axis, even if negative.

    The runtime checks lengths and axes of another type, and an axis out of range.
    """
    if not (are_integers(lengths) and has_axis(len(shape), axis)) or lengths.count(-1) != 1:
        return lengths
    rest = shape[axis] - sum(lengths) - 1
    return [rest if length == -1 else length for length in lengths]


def slices_by_dimension(
    rank: int, start: Array, stop: Array, step: Array, axes: Array | None = None
) -> tuple[slice, ...]:
    """Return the slice of each dimension, with unchanged bounds."""
    if not rank:
        # Indexing a scalar by an empty tuple is valid in every library.
        raise ValueError("data of rank 0; expected one dimension or more")
    listed = range(start.size) if axes is None else to_list(axes)
    slices: dict[int, slice] = {}
    for axis, *ends in zip(listed, *map(to_list, (start, stop, step)), strict=True):
        dimension = range(rank)[axis]
        if dimension in slices:
            raise ValueError(f"duplicate axis {axis}")
        slices[dimension] = slice(*ends)
    return tuple(slices.get(dimension, slice(None)) for dimension in range(rank))


def explicit_axes(mode: str = "numpy", axes_mapping: Array | None = None) -> list[Any] | None:
    """Return the axes that data is mapped to in mode explicit, None in mode numpy."""
    if mode not in ("numpy", "explicit"):
        raise ValueError(f"unknown mode '{mode}'; expected numpy or explicit")
    if (mode == "explicit") != (axes_mapping is not None):
        raise ValueError(f"mode {mode}: expected axes_mapping in mode explicit, and only there")
    return None if axes_mapping is None else to_list(axes_mapping)


def spread_shape(shape: Sequence[int], axes: list[Any], rank: int) -> list[int]:
    """Return a shape of this rank with the extents of `shape` on `axes`, 1 elsewhere."""
    if not are_integers(axes) or axes != sorted({*axes} & {*range(rank)}):
        raise ValueError(f"axes {axes}; expected ascending axes of an output of rank {rank}")
    extents = dict(zip(axes, shape, strict=True))
    return [extents.get(axis, 1) for axis in range(rank)]


def batch_rank(data: Array, indices: Array, axis: Any, batch_dims: int) -> int:
    """Return the number of leading dimensions of data and indices that are batches.

    It is 0 if data does not have the axis, which the runtime then rejects.
    """
    if not batch_dims or not has_axis(data.ndim, axis):
        return 0
    count = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    if not (0 <= count <= range(data.ndim)[axis] and abs(batch_dims) <= data.ndim):
        raise ValueError(f"batch_dims {batch_dims} with axis {axis}")
    if count > indices.ndim or data.shape[:count] != indices.shape[:count]:
        text = f"batches of data {data.shape[:count]} and of indices {indices.shape} differ"
        raise ValueError(text)
    return count


class GatherPlan:
    """A gather as one selection along one axis, by indices that are all in range.

    `rows` are flat indices along `axis` of the data in `table_shape`, from the start; `in_range`
    marks those that were in range. `trailing` is the number of dimensions after the axis. With
    batches, the table has a row for each index of each batch; else it is the data. `output_shape`
    is the shape of the result.
    """

    def __init__(self, data: Array, indices: Array, axis: Any, batch_dims: int) -> None:
        if not data.ndim:
            raise ValueError("data of rank 0; expected a dimension to gather along")
        batch = batch_rank(data, indices, axis, batch_dims)
        dimension = range(data.ndim)[axis] if has_axis(data.ndim, axis) else 0
        shape, extent = data.shape, data.shape[dimension]
        self.axis, self.table_shape = axis, shape
        self.output_shape = shape[:dimension] + indices.shape[batch:] + shape[dimension + 1 :]
        rows, in_range = normalise_indices(indices, extent)
        if batch:
            self.axis, self.table_shape = 0, (prod(shape[: dimension + 1]), *shape[dimension + 1 :])
            # The indices of a batch select from each of its parts before the axis.
            parts = np.arange(prod(shape[:dimension])).astype(rows.dtype) * extent
            parts = parts.reshape(*shape[:batch], prod(shape[batch:dimension]), 1)
            by_batch = (*shape[:batch], 1, prod(indices.shape[batch:]))
            rows = rows.reshape(by_batch) + parts
            in_range = np.broadcast_to(in_range.reshape(by_batch), rows.shape).copy()
        self.rows, self.in_range = rows.ravel(), in_range.ravel()
        self.trailing = len(self.table_shape) - 1 - (0 if batch else dimension)


def normalise_indices(indices: Array, extent: int) -> tuple[Array, Array]:
    """Return indices from the start, 0 for those out of range, and a mask of those in range.

    The runtime checks indices that are not integers.
    """
    if not _is_integer_type(indices):
        return indices, np.ones(indices.shape, bool)
    wide = to_int64(indices)
    in_range = (wide >= -extent) & (wide < extent)
    return np.where(in_range, np.where(wide < 0, wide + extent, wide), 0), in_range


def to_int64(indices: Array) -> Array:
    """Return indices as 64-bit integers; larger values become the largest one."""
    if indices.dtype == np.uint64:
        # The largest i64 is out of range as well.
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    # The smallest of a scalar is no array.
    return np.asarray(indices, np.int64)


def described_lengths(OutputCount: int, OutputTensors: Any, Axis: int) -> list[int]:
    """Return the length of each of DirectML's output tensors on the axis.

    A description without that axis has length 0: the runtime rejects the axis.
    """
    if not 0 < OutputCount == len(OutputTensors):
        raise ValueError(f"OutputCount {OutputCount} for {len(OutputTensors)} OutputTensors")
    if Axis < 0:
        raise ValueError(f"Axis {Axis}; expected an unsigned number")
    shapes = [description["Sizes"] for description in OutputTensors]
    return [sizes[Axis] if Axis < len(sizes) else 0 for sizes in shapes]


def check_descriptions(outputs: list[Array], descriptions: Sequence[Mapping[str, Any]]) -> None:
    """Check that shapes and types of outputs are those of DirectML's `descriptions`."""
    for output, description in zip(outputs, descriptions, strict=True):
        actual = {"Sizes": list(output.shape), "DataType": output.dtype.name.upper()}
        if actual != description:
            raise ValueError(f"the output is {actual}, its description {description}")


def equal_lengths(shape: Sequence[int], axis: Any, parts: Any) -> list[int]:
    """Return the length of each of `parts` equal parts of an axis, which must divide it.

    The list is empty for an axis that the runtime then rejects.
    """
    if not has_axis(len(shape), axis):
        return []
    extent = shape[axis]
    if not are_integers([parts]) or not 0 < parts <= max(extent, 1) or extent % parts:
        raise ValueError(f"{parts} parts of an axis of {extent}")
    return [extent // parts] * parts


def check_tensors(arrays: Sequence[Array]) -> None:
    """Check that tensors have one type and one rank: libraries promote, or skip empty ones."""
    if len({(array.dtype, array.ndim) for array in arrays}) > 1:
        raise ValueError("the tensors differ in type or rank")


def check_padding(data: Array, pads: Sequence[Array], mode: str, fill: Array | None) -> None:
    """Check what libraries allow beyond the document: other modes, pads and values.

    Raises:
        ValueError: a negative pad would crop, and a large one reflect several times.
    """
    if mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError(f"unknown mode '{mode}'")
    if any(array.shape != (data.ndim,) or (array < 0).any() for array in pads):
        raise ValueError("expected a number for each dimension, none of them negative")
    most = [n - (mode == "reflect") for n in data.shape]
    if mode in ("reflect", "symmetric") and any((array > most).any() for array in pads):
        raise ValueError(f"pads {pads} in mode {mode} for data of shape {data.shape}")
    if mode == "constant" and fill is not None and (fill.dtype != data.dtype or fill.ndim):
        raise ValueError(f"a fill {fill.dtype}{list(fill.shape)} for data of {data.dtype}")


def check_truth(name: str, value: Any) -> None:
    """Check that an attribute is a truth value: libraries take numbers for it."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} {value!r}; expected a truth value")


def copied_sizes(shape: Sequence[int], target: Array, special_zero: Any) -> list[Any]:
    """Return a target of reshape in which, with `special_zero`, sizes of `shape` replace zeros."""
    check_truth("special_zero", special_zero)
    sizes = to_list(target)
    if not (special_zero and are_integers(sizes)):
        return sizes
    return [shape[axis] if size == 0 else size for axis, size in enumerate(sizes)]


def check_element_indices(data: Array, indices: Array, axis: Any) -> None:
    """Check indices with one dimension for each of data: libraries broadcast, or ignore a rest."""
    if type_name(indices.dtype) not in ("i32", "i64"):
        raise TypeError(f"indices of {indices.dtype}; expected i32 or i64")
    if not data.ndim == indices.ndim > 0:
        raise ValueError(f"indices of rank {indices.ndim} for data of rank {data.ndim}")
    check_off_axis(data, indices, axis)


def check_off_axis(data: Array, indices: Array, axis: Any) -> None:
    """Check the extents of indices, of the rank of data, but for that of the axis."""
    if has_axis(data.ndim, axis):
        extents = [np.delete(array.shape, axis).tolist() for array in (data, indices)]
        if extents[0] != extents[1]:
            raise ValueError(f"indices of shape {indices.shape} for data of {data.shape}")


def check_updates(data: Array, indices: Array, updates: Array) -> None:
    """Check indices and updates: libraries ignore those without an index."""
    if not _is_integer_type(indices):
        raise TypeError(f"indices of {indices.dtype}; expected integers")
    if updates.dtype != data.dtype or updates.shape != indices.shape:
        raise ValueError(f"updates {updates.dtype}{list(updates.shape)}")
    check_extents(data, indices)


def check_extents(data: Array, indices: Array) -> None:
    """Check that indices have the rank of data, and no extent above its."""
    if any(n > extent for n, extent in zip(indices.shape, data.shape, strict=True)):
        raise ValueError(f"indices of shape {indices.shape} for data of {data.shape}")


def check_join(arrays: Sequence[Array], count: int, axis: int) -> None:
    """Check what DirectML demands of joined tensors and libraries do not."""
    if not 0 < count <= len(arrays) or axis < 0:
        raise ValueError(f"InputCount {count} for {len(arrays)} InputTensors, Axis {axis}")
    check_tensors(arrays)
    if any(axis < array.ndim and not array.shape[axis] for array in arrays[:count]):
        raise ValueError("a tensor of size 0")


def window_slices(
    shape: Sequence[int],
    OutputTensor: Mapping[str, Any],
    DimensionCount: int,
    InputWindowOffsets: Sequence[int],
    InputWindowSizes: Sequence[int],
    InputWindowStrides: Sequence[int],
) -> tuple[slice, ...]:
    """Return the slice of each dimension for a DirectML window, whose end comes first backwards.

    Raises:
        ValueError: no slice of this size lies within the window.
    """
    rank = len(shape)
    if not 0 < DimensionCount == rank <= MAX_DIMENSIONS:
        raise ValueError(f"DimensionCount {DimensionCount} for rank {rank}")
    lists = InputWindowOffsets, InputWindowSizes, InputWindowStrides
    slices = []
    windows = zip(*(part[:rank] for part in lists), shape, OutputTensor["Sizes"], strict=True)
    for offset, size, stride, extent, count in windows:
        is_window = 0 <= offset < offset + size <= extent
        if not is_window or not 0 < count <= len(range(0, size, abs(stride))):
            raise ValueError(f"{count} elements of a window [{offset}, {size}, {stride}]")
        if not -(2**31) <= stride < 2**32:
            raise ValueError(f"stride {stride}; expected 32 bits")
        first = offset if stride > 0 else offset + size - 1
        stop = first + count * stride
        # A negative stop would count from the end.
        slices.append(slice(first, stop if stop >= 0 else -extent - 1, stride))
    return tuple(slices)


def check_broadcast(
    inputs: Mapping[str, Array], mode: Any, modes: Sequence[str] = BROADCASTS
) -> None:
    """Check what `auto_broadcast` forbids, and NumPy's rules, by which libraries broadcast, allow.

    A condition `cond` is stretched to the others, not the reverse.
    """
    if mode not in modes:
        raise ValueError(f"unknown mode '{mode}'; expected {' or '.join(modes)}")
    shapes = {name: array.shape for name, array in inputs.items()}
    if mode == "none" and len({*shapes.values()}) > 1:
        raise ValueError(f"shapes {[*shapes.values()]} differ")
    stretched = [shapes.pop("cond")] if "cond" in shapes else []
    target, *others = shapes.values()
    if mode == "pdpd":
        stretched += others
    elif stretched:
        target = np.broadcast_shapes(target, *others)
    for shape in stretched:
        if np.broadcast_shapes(target, shape) != target:
            raise ValueError(f"a tensor of shape {shape} would stretch {target}")


def clamp_bounds(name: str, low: float, high: float) -> list[Any]:
    """Return bounds in an element type: of integers the whole numbers between them."""
    if name not in INTEGERS:
        with np.errstate(over="ignore"):
            bounds = np.array([low, high]).astype(ELEMENT_TYPES[name])
            return [float(bound) for bound in bounds]
    least, greatest = lowest(name), highest(name)
    low, high = (min(max(bound, least), greatest) for bound in (low, high))
    return [ceil(low), floor(high)]
