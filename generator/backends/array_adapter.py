"""The base class of adapters for array libraries."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar

from opcert.arrays.element_types import Array
from opcert.backends import composition as host
from opcert.backends.array_functions import ArrayFunctions, Compute
from opcert.backends.contract import adapter_rejections
from opcert.backends.native import Trace, Traced, render_native

# DirectML's highest rank of a tensor that is sliced.
MAX_DIMENSIONS = 8


class ArrayAdapter(ArrayFunctions):
    """Runs operators by the functions of an array library, which subclasses wrap.

    A call has two phases, so that a rejection can be attributed: the host reads the arguments and
    prepares a computation, then the library computes. Each input is copied to the library's device
    once, and each output is copied back once.
    """

    name: str
    # A line of native code that sets the library up.
    setup: ClassVar[str] = ""

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

    def native(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> str:
        """Return the call in the API of the library: the calls of its functions, up to an error.

        Raises:
            NotImplementedError: the adapter lacks the operator, or the library a type.
            AdapterRejection: the call violates a rule that the library cannot check.
        """
        trace, traced = Trace(inputs), copy(self)
        modules = {n: part for n, part in vars(self).items() if isinstance(part, ModuleType)}
        for name, module in modules.items():
            setattr(traced, name, Traced(trace, module, module.__name__))
        # It has the methods of `self`.
        vars(traced).pop("_operators", None)
        with adapter_rejections():
            compute = traced._operators[operator](**inputs, **attributes)
        # The last line is the one that fails.
        with suppress(Exception):
            outputs = [traced._array_code(tensor) for tensor in compute()]
            trace.lines.append(f"return [{', '.join(outputs)}]")
        names = {module.__name__ for module in modules.values()}
        return render_native(
            "native_calls.py.j2", modules=sorted(names), setup=self.setup, lines=trace.lines
        )

    @cached_property
    def _operators(self) -> Mapping[str, Callable[..., Compute]]:
        return {
            **self._function_operators(),
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

    def _array_code(self, tensor: Traced) -> str:
        """Return the expression of a traced tensor as an array."""
        return f"np.array({tensor.text})"

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
