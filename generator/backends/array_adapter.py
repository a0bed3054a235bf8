"""What adapters of array libraries share: operators read on the host, computed by the library."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from opcert.arrays import Array
from opcert.backends import adapter_rejections
from opcert.backends.composition import (
    as_described,
    described_lengths,
    mapping,
    number,
    numbers,
    region,
    with_rest,
)

# What the library is to compute of a call that was read.
Compute: TypeAlias = Callable[[], Sequence[Any]]


class ArrayAdapter(ABC):
    """Runs operators by the functions of a library for tensors, which a subclass names.

    A call has two stages, so that it is plain who rejects it: the host reads the arguments and
    prepares a computation, which the library then makes. An input goes to the library's device
    once; an output comes back from it once.
    """

    name: str

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Compute `operator` with the library.

        Raises:
            NotImplementedError: the operator is none of these, or the library lacks a type.
            AdapterRejection: the call breaks a rule that the library never gets to judge.
            Exception: the library rejects the call.
        """
        if operator not in self._operators:
            raise NotImplementedError(f"{self.name}: {operator}")
        with adapter_rejections():
            compute = self._operators[operator](**inputs, **attributes)
        outputs = [self._array(tensor) for tensor in compute()]
        if "OutputTensors" in attributes:
            with adapter_rejections():
                return as_described(outputs, attributes["OutputTensors"])
        return outputs

    @cached_property
    def _operators(self) -> Mapping[str, Callable[..., Compute]]:
        return {
            "openvino/VariadicSplit-1": self._variadic_split,
            "openvino/Slice-8": self._slice,
            "openvino/Broadcast-1": self._broadcast,
            "openvino/Gather-8": self._gather,
            "directml/DML_OPERATOR_SPLIT": self._dml_split,
        }

    def _variadic_split(self, data: Array, axis: Array, split_lengths: Array) -> Compute:
        where = number(axis)
        return self._parts(data, with_rest(numbers(split_lengths), data.shape, where), where)

    def _slice(
        self, data: Array, start: Array, stop: Array, step: Array, axes: Array | None = None
    ) -> Compute:
        return self._region(data, region(data.ndim, start, stop, step, axes))

    def _broadcast(
        self,
        data: Array,
        target_shape: Array,
        axes_mapping: Array | None = None,
        mode: str = "numpy",
    ) -> Compute:
        axes, target = mapping(mode, axes_mapping), numbers(target_shape)
        return self._stretched(data, target, axes)

    def _gather(self, data: Array, indices: Array, axis: Array, batch_dims: int = 0) -> Compute:
        return self._picked(data, indices, number(axis), batch_dims)

    def _dml_split(
        self,
        InputTensor: Array,  # noqa: N803 -- as the document has it
        OutputCount: int,  # noqa: N803
        OutputTensors: Sequence[Mapping[str, Any]],  # noqa: N803
        Axis: int,  # noqa: N803
    ) -> Compute:
        lengths = described_lengths(OutputCount, OutputTensors, Axis)
        return self._parts(InputTensor, lengths, Axis)

    @abstractmethod
    def _array(self, tensor: Any) -> Array:
        """Return what the library computed as an array of the caller's own."""

    # What these raise is the adapter's rejection; what the function raises that they return is
    # the library's.

    @abstractmethod
    def _parts(self, data: Array, lengths: list[Any], axis: Any) -> Compute:
        """Prepare consecutive parts of `data`, of these lengths along the axis."""

    @abstractmethod
    def _region(self, data: Array, slices: tuple[slice, ...]) -> Compute:
        """Prepare the elements that a slice of each dimension selects."""

    @abstractmethod
    def _stretched(self, data: Array, target: list[Any], axes: list[Any] | None) -> Compute:
        """Prepare `data` in shape `target`, its axes being those of the output in `axes`."""

    @abstractmethod
    def _picked(self, data: Array, indices: Array, axis: Any, batch_dims: int) -> Compute:
        """Prepare the slices of `data` that `indices` name, zeros for those out of range."""
