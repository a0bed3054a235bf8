"""The base class of adapters for array libraries."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from opcert.arrays import Array
from opcert.backends.composition import (
    check_descriptions,
    described_lengths,
    explicit_axes,
    replace_rest,
    slices_by_dimension,
    to_list,
    to_number,
)
from opcert.backends.contract import adapter_rejections

# The library's part of a call, which runs after the host has read the arguments.
Compute: TypeAlias = Callable[[], Sequence[Any]]


class ArrayAdapter(ABC):
    """Runs operators by the functions of an array library, which subclasses wrap.

    A call has two phases, so that a rejection can be attributed: the host reads the arguments and
    prepares a computation, then the library computes. Each input is copied to the library's device
    once, and each output is copied back once.
    """

    name: str

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Compute `operator` with the library.

        Raises:
            NotImplementedError: the adapter lacks the operator, or the library a type.
            AdapterRejection: the call violates a rule that the library cannot check.
            Exception: the library rejects the call.
        """
        if operator not in self._operators:
            raise NotImplementedError(f"{self.name}: {operator}")
        with adapter_rejections():
            compute = self._operators[operator](**inputs, **attributes)
        outputs = [self._array(tensor) for tensor in compute()]
        if "OutputTensors" in attributes:
            with adapter_rejections():
                return check_descriptions(outputs, attributes["OutputTensors"])
        return outputs

    @cached_property
    def _operators(self) -> Mapping[str, Callable[..., Compute]]:
        return {
            "openvino/VariadicSplit-1": self._variadic_split,
            "openvino/Slice-8": self._slice_8,
            "openvino/Broadcast-1": self._broadcast_1,
            "openvino/Gather-8": self._gather_8,
            "directml/DML_OPERATOR_SPLIT": self._dml_split,
        }

    def _variadic_split(self, data: Array, axis: Array, split_lengths: Array) -> Compute:
        number = to_number(axis)
        lengths = replace_rest(to_list(split_lengths), data.shape, number)
        return self._split(data, lengths, number)

    def _slice_8(
        self, data: Array, start: Array, stop: Array, step: Array, axes: Array | None = None
    ) -> Compute:
        return self._slice(data, slices_by_dimension(data.ndim, start, stop, step, axes))

    def _broadcast_1(
        self,
        data: Array,
        target_shape: Array,
        axes_mapping: Array | None = None,
        mode: str = "numpy",
    ) -> Compute:
        axes = explicit_axes(mode, axes_mapping)
        return self._broadcast(data, to_list(target_shape), axes)

    def _gather_8(self, data: Array, indices: Array, axis: Array, batch_dims: int = 0) -> Compute:
        return self._gather(data, indices, to_number(axis), batch_dims)

    def _dml_split(
        self,
        InputTensor: Array,  # noqa: N803 -- as the document has it
        OutputCount: int,  # noqa: N803
        OutputTensors: Sequence[Mapping[str, Any]],  # noqa: N803
        Axis: int,  # noqa: N803
    ) -> Compute:
        lengths = described_lengths(OutputCount, OutputTensors, Axis)
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
