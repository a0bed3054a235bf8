"""What adapters of array libraries share: operators read on the host, computed by the library."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from opcert.generator.arrays.element_types import Array
from opcert.generator.backends.composition import (
    as_described,
    described_lengths,
    mapping,
    number,
    numbers,
    region,
    with_rest,
)

Make: TypeAlias = Callable[..., list[Array]]


class ArrayAdapter(ABC):
    """Runs operators by the functions of a library for tensors, which a subclass names.

    An input goes to the library's device once; an output comes back from it once.
    """

    name: str

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Compute `operator` with the library.

        Raises:
            NotImplementedError: the operator is none of these, or the library lacks a type.
            Exception: the call breaks a rule, as the library or what it never sees has it.
        """
        if operator not in self._operators:
            raise NotImplementedError(f"{self.name}: {operator}")
        return self._operators[operator](**inputs, **attributes)

    @cached_property
    def _operators(self) -> Mapping[str, Make]:
        return {
            "openvino/VariadicSplit-1": self._variadic_split,
            "openvino/Slice-8": self._slice,
            "openvino/Broadcast-1": self._broadcast,
            "openvino/Gather-8": self._gather,
            "directml/DML_OPERATOR_SPLIT": self._dml_split,
        }

    def _variadic_split(self, data: Array, axis: Array, split_lengths: Array) -> list[Array]:
        where = number(axis)
        lengths = with_rest(numbers(split_lengths), data.shape, where)
        return self._arrays(self._parts(self._tensor(data), lengths, where))

    def _slice(
        self, data: Array, start: Array, stop: Array, step: Array, axes: Array | None = None
    ) -> list[Array]:
        slices = region(data.ndim, start, stop, step, axes)
        return self._arrays([self._region(self._tensor(data), slices)])

    def _broadcast(
        self,
        data: Array,
        target_shape: Array,
        axes_mapping: Array | None = None,
        mode: str = "numpy",
    ) -> list[Array]:
        axes, target = mapping(mode, axes_mapping), numbers(target_shape)
        return self._arrays([self._stretched(self._tensor(data), target, axes)])

    def _gather(self, data: Array, indices: Array, axis: Array, batch_dims: int = 0) -> list[Array]:
        return self._arrays([self._picked(data, indices, number(axis), batch_dims)])

    def _dml_split(
        self,
        InputTensor: Array,  # noqa: N803 -- as the document has it
        OutputCount: int,  # noqa: N803
        OutputTensors: Sequence[Mapping[str, Any]],  # noqa: N803
        Axis: int,  # noqa: N803
    ) -> list[Array]:
        lengths = described_lengths(OutputCount, OutputTensors, Axis)
        parts = self._parts(self._tensor(InputTensor), lengths, Axis)
        return as_described(self._arrays(parts), OutputTensors)

    def _arrays(self, tensors: Sequence[Any]) -> list[Array]:
        return [self._array(each) for each in tensors]

    @abstractmethod
    def _tensor(self, array: Array) -> Any:
        """Return a tensor of `array`, which may lie in memory in any way."""

    @abstractmethod
    def _array(self, tensor: Any) -> Array:
        """Return a copy of `tensor` on the host, in memory of its own."""

    @abstractmethod
    def _parts(self, tensor: Any, lengths: list[Any], axis: Any) -> Sequence[Any]:
        """Return consecutive parts of `tensor` of those lengths along an axis."""

    @abstractmethod
    def _region(self, tensor: Any, slices: tuple[slice, ...]) -> Any:
        """Return what the slices, one for each dimension, select."""

    @abstractmethod
    def _stretched(self, tensor: Any, target: list[Any], axes: list[Any] | None) -> Any:
        """Return `tensor` stretched to a target, whose `axes` are its own or aligned at the end."""

    @abstractmethod
    def _picked(self, data: Array, indices: Array, axis: Any, batch_dims: int) -> Any:
        """Return a tensor of the slices of data that indices pick, zeros where they stray."""
