"""The base class of adapters for array libraries, and the Python array API standard."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from itertools import accumulate, pairwise
from operator import index
from typing import Any, ClassVar, TypeAlias

import numpy as np

from opcert.arrays.element_types import Array, type_name
from opcert.backends import composition as host
from opcert.backends.contract import adapter_rejections

# DirectML's highest rank of a tensor that is sliced.
MAX_DIMENSIONS = 8
# The library's part of a call, which runs after the host has read the arguments.
Compute: TypeAlias = Callable[[], Sequence[Any]]


class ArrayAdapter(ABC):
    """Runs operators by the functions of an array library, which subclasses wrap.

    A call has two phases, so that a rejection can be attributed: the host reads the arguments and
    prepares a computation, then the library computes. Each input is copied to the library's device
    once, and each output is copied back once.
    """

    name: str
    support: ClassVar[dict[str, Any]]

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Compute `operator` with the library.

        Raises:
            NotImplementedError: the adapter lacks the operator, or the library a type.
            AdapterRejection: the call violates a rule that the library cannot check.
            Exception: the library rejects the call.
        """
        if operator not in self.support:
            raise NotImplementedError(f"{self.name}: {operator}")
        with adapter_rejections():
            compute = self._operators[operator](**inputs, **attributes)
        outputs = [self._array(tensor) for tensor in compute()]
        described = attributes.get("OutputTensors", [attributes.get("OutputTensor")])
        if described != [None]:
            with adapter_rejections():
                return host.check_descriptions(outputs, described)
        return outputs

    @cached_property
    def _operators(self) -> Mapping[str, Callable[..., Compute]]:
        return {
            "openvino/VariadicSplit-1": self._variadic_split,
            "openvino/Slice-8": self._slice_8,
            "openvino/Broadcast-1": self._broadcast_1,
            "openvino/Gather-8": self._gather_8,
            "openvino/Split-1": self._split_1,
            "openvino/Concat-1": self._concat_1,
            "openvino/Tile-1": self._tile_1,
            "openvino/Pad-1": self._pad_1,
            "openvino/Transpose-1": self._transpose_1,
            "openvino/Reshape-1": self._reshape_1,
            "openvino/GatherElements-6": self._gather_elements_6,
            "openvino/ScatterElementsUpdate-3": self._scatter_elements_update_3,
            "directml/DML_OPERATOR_SPLIT": self._dml_split,
            "directml/DML_OPERATOR_JOIN": self._dml_join,
            "directml/DML_OPERATOR_SLICE1": self._dml_slice1,
        }

    def _variadic_split(self, data: Array, axis: Array, split_lengths: Array) -> Compute:
        number = host.to_number(axis)
        lengths = host.replace_rest(host.to_list(split_lengths), data.shape, number)
        return self._split(data, lengths, number)

    def _slice_8(
        self, data: Array, start: Array, stop: Array, step: Array, axes: Array | None = None
    ) -> Compute:
        return self._slice(data, host.slices_by_dimension(data.ndim, start, stop, step, axes))

    def _broadcast_1(
        self,
        data: Array,
        target_shape: Array,
        axes_mapping: Array | None = None,
        mode: str = "numpy",
    ) -> Compute:
        axes = host.explicit_axes(mode, axes_mapping)
        return self._broadcast(data, host.to_list(target_shape), axes)

    def _gather_8(self, data: Array, indices: Array, axis: Array, batch_dims: int = 0) -> Compute:
        return self._gather(data, indices, host.to_number(axis), batch_dims)

    def _split_1(self, data: Array, axis: Array, num_splits: Any) -> Compute:
        if axis.ndim:
            raise ValueError(f"an axis of shape {axis.shape}; expected a scalar")
        number = axis.item()
        return self._split(data, host.equal_lengths(data.shape, number, num_splits), number)

    def _concat_1(self, inputs: Sequence[Array], axis: Any) -> Compute:
        host.check_tensors(inputs)
        return self._concat(inputs, axis)

    def _tile_1(self, data: Array, repeats: Array) -> Compute:
        return self._tile(data, host.to_list(repeats))

    def _pad_1(
        self,
        data: Array,
        pads_begin: Array,
        pads_end: Array,
        pad_mode: str,
        pad_value: Array | None = None,
    ) -> Compute:
        return self._pad(data, pads_begin, pads_end, pad_mode, pad_value)

    def _transpose_1(self, arg: Array, input_order: Array) -> Compute:
        return self._permute(arg, host.axes_order(arg.ndim, input_order))

    def _reshape_1(self, data: Array, shape: Array, special_zero: Any) -> Compute:
        return self._reshape(data, host.copied_sizes(data.shape, shape, special_zero))

    def _gather_elements_6(self, data: Array, indices: Array, axis: Any) -> Compute:
        host.check_element_indices(data, indices, axis)
        return self._gather_elements(data, indices, axis)

    def _scatter_elements_update_3(
        self, data: Array, indices: Array, updates: Array, axis: Array
    ) -> Compute:
        host.check_updates(data, indices, updates)
        return self._scatter_elements(data, indices, updates, host.to_number(axis))

    def _dml_join(
        self,
        InputTensors: Sequence[Array],  # noqa: N803
        InputCount: int,  # noqa: N803
        OutputTensor: Mapping[str, Any],  # noqa: ARG002, N803 -- compared with the output
        Axis: int,  # noqa: N803
    ) -> Compute:
        host.check_join(InputTensors, InputCount, Axis)
        return self._concat(InputTensors[:InputCount], Axis)

    def _dml_slice1(
        self,
        InputTensor: Array,  # noqa: N803
        OutputTensor: Mapping[str, Any],  # noqa: N803
        DimensionCount: int,  # noqa: N803
        InputWindowOffsets: Sequence[int],  # noqa: N803
        InputWindowSizes: Sequence[int],  # noqa: N803
        InputWindowStrides: Sequence[int],  # noqa: N803
    ) -> Compute:
        if not 0 < DimensionCount == InputTensor.ndim <= MAX_DIMENSIONS:
            raise ValueError(f"DimensionCount {DimensionCount} for rank {InputTensor.ndim}")
        lists = InputWindowOffsets, InputWindowSizes, InputWindowStrides
        slices = host.window_slices(InputTensor.shape, OutputTensor["Sizes"], *lists)
        return self._slice(InputTensor, slices)

    def _dml_split(
        self,
        InputTensor: Array,  # noqa: N803 -- as the document has it
        OutputCount: int,  # noqa: N803
        OutputTensors: Sequence[Mapping[str, Any]],  # noqa: N803
        Axis: int,  # noqa: N803
    ) -> Compute:
        lengths = host.described_lengths(OutputCount, OutputTensors, Axis)
        return self._split(InputTensor, lengths, Axis)

    @abstractmethod
    def _array(self, tensor: Any) -> Array:
        """Return a tensor of the library as an array with memory of its own."""

    # Exceptions of the methods below are the adapter's rejections; those of the functions that
    # they return are the library's.

    @abstractmethod
    def _split(self, data: Array, lengths: list[Any], axis: Any) -> Compute:
        """Prepare consecutive parts of `data` with the given lengths along `axis`."""

    @abstractmethod
    def _slice(self, data: Array, slices: tuple[slice, ...]) -> Compute:
        """Prepare the elements that a slice of each dimension selects."""

    @abstractmethod
    def _broadcast(self, data: Array, target: list[Any], axes: list[Any] | None) -> Compute:
        """Prepare `data` in shape `target`, with axes mapped to `axes` or aligned at the end."""

    @abstractmethod
    def _gather(self, data: Array, indices: Array, axis: Any, batch_dims: int) -> Compute:
        """Prepare the slices of `data` at `indices`, zeros for indices out of range."""

    @abstractmethod
    def _concat(self, arrays: Sequence[Array], axis: Any) -> Compute:
        """Prepare `arrays` one after the other along `axis`."""

    @abstractmethod
    def _tile(self, data: Array, repeats: list[Any]) -> Compute:
        """Prepare copies of `data` along each of the last dimensions."""

    @abstractmethod
    def _permute(self, data: Array, order: list[Any]) -> Compute:
        """Prepare `data` with its axes in another order."""

    @abstractmethod
    def _reshape(self, data: Array, shape: list[Any]) -> Compute:
        """Prepare the elements of `data` in `shape`, in which the library infers a -1."""

    @abstractmethod
    def _gather_elements(self, data: Array, indices: Array, axis: Any) -> Compute:
        """Prepare, for each index, the element of `data` at this index along `axis`."""

    # Not every library has a function for the rest.

    def _pad(self, data: Array, begin: Array, end: Array, mode: str, fill: Array | None) -> Compute:
        """Prepare `data` with new elements at the ends of each dimension."""
        raise NotImplementedError(f"{self.name}: pad")

    def _scatter_elements(self, data: Array, indices: Array, updates: Array, axis: Any) -> Compute:
        """Prepare `data` with `updates` at `indices` along `axis`."""
        raise NotImplementedError(f"{self.name}: scatter")


# The standard's real types. A namespace may have more, which the standard does not cover.
TYPES = ["boolean", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
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


class ArrayApi(ArrayAdapter):
    """Runs operators in `namespace`: numpy, cupy, torch, dask.array, array_api_strict, ..."""

    name = "array-api"
    support: ClassVar[dict[str, Any]] = {
        operator: {"how": how, "types": TYPES} for operator, how in HOW.items()
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

    def _array(self, tensor: Any) -> Array:
        # CuPy copies to the host only by a method of its own.
        return np.array(tensor.get() if hasattr(tensor, "get") else tensor)

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
