"""Generic faults: each turns the reference of an operator into a wrong backend."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from opcert.arrays.element_types import Array, invert_bits
from opcert.arrays.variadic import argument_of, tensor_key
from opcert.specification.model import Spec


@dataclass(frozen=True, eq=False)
class ArrayCall:
    """One call with its arrays, laid out in memory as a backend gets them."""

    inputs: Mapping[str, Array]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    _integers: dict[str, tuple[int, ...]] = field(default_factory=dict, init=False, repr=False)

    def argument(self, name: str) -> Any:
        """Return an input or an attribute, or None where the call omits it.

        Of a variadic input, that is its first tensor.
        """
        first = self.inputs.get(tensor_key(name, 0))
        return self.inputs.get(name, self.attributes.get(name, first))

    def integers(self, name: str) -> tuple[int, ...]:
        """Return every integer in an argument; cached, since most faults ask for them."""
        if name not in self._integers:
            self._integers[name] = tuple(integers_in(self.argument(name)))
        return self._integers[name]

    def replaced(self, name: str, value: Any) -> "ArrayCall":
        """Return the call with another value of an argument that it does not omit."""
        if name in self.inputs:
            return ArrayCall({**self.inputs, name: value}, self.attributes)
        return ArrayCall(self.inputs, {**self.attributes, name: value})

    def without(self, name: str) -> "ArrayCall":
        """Return the call with an argument omitted."""
        return ArrayCall(
            {key: array for key, array in self.inputs.items() if argument_of(key) != name},
            {key: value for key, value in self.attributes.items() if key != name},
        )


Outputs: TypeAlias = Sequence[Array]
# Runs the reference; its errors are passed on.
RunReference: TypeAlias = Callable[[ArrayCall], Outputs]
# Runs the faulty backend; returns None where it does the same as the reference.
Run: TypeAlias = Callable[[ArrayCall, RunReference], Any]
# How a fault misreads a call: the same object where it makes no difference.
Misreading: TypeAlias = Callable[[ArrayCall], ArrayCall]
# What a fault depends on: each call by itself; also the calls before it; or also the memory of
# inputs and outputs.
Mode: TypeAlias = Literal["calls", "history", "memory"]


@dataclass(frozen=True)
class Fault:
    """A wrong backend; `start` returns the function that runs a fresh one.

    `text` describes the fault as a clause. `rule` is the full id of the requirement that is not
    checked, if there is one.
    """

    name: str
    text: str
    start: Callable[[], Run] = field(repr=False)
    mode: Mode = "calls"
    rule: str | None = None


@dataclass(frozen=True)
class OperatorSignature:
    """The source of faults: a spec, and the types and ranks of its valid calls by input.

    The inputs in `data` have elements that the operator only moves. A variadic input is represented
    by the keys of its first tensors.
    """

    spec: Spec
    data: tuple[str, ...]
    ranks: Mapping[str, tuple[int, ...]]
    types: Mapping[str, tuple[str, ...]]

    @property
    def numbers(self) -> tuple[str, ...]:
        """The inputs whose elements the operator interprets, such as axes, indices or lengths."""
        return tuple(item.name for item in self.spec.inputs if item.name not in self.data_arguments)

    @property
    def data_arguments(self) -> tuple[str, ...]:
        """The inputs in `data`, variadic ones by name."""
        return tuple(dict.fromkeys(map(argument_of, self.data)))

    @property
    def integers(self) -> tuple[str, ...]:
        """The arguments that hold integers: inputs of numbers, and attributes."""
        attributes = [
            item.name
            for item in self.spec.attributes
            if item.type in ("int", "record")
            or (item.type == "list" and item.elements in (None, "int"))
        ]
        return (*self.numbers, *attributes)


def stateless(name: str, text: str, run: Run) -> Fault:
    """Return a fault that depends on each call by itself."""
    return Fault(name, text, lambda: run)


def misreading(name: str, text: str, misread: Misreading) -> Fault:
    """Return a fault that takes a call for another one, before its checks."""

    def run(call: ArrayCall, reference: RunReference) -> Outputs | None:
        misread_call = misread(call)
        return None if misread_call is call else reference(misread_call)

    return stateless(name, text, run)


def misreading_after_checks(name: str, text: str, misread: Misreading) -> Fault:
    """Return a fault that checks a call, and then takes it for another one."""

    def run(call: ArrayCall, reference: RunReference) -> Outputs | None:
        misread_call = misread(call)
        if misread_call is call:
            return None
        reference(call)
        return reference(misread_call)

    return stateless(name, text, run)


def corrupting(name: str, text: str, where: Callable[[ArrayCall, Outputs], bool]) -> Fault:
    """Return a fault that corrupts the last element of each output of some calls."""

    def run(call: ArrayCall, reference: RunReference) -> Outputs | None:
        outputs = reference(call)
        return _corrupted(outputs) if where(call, outputs) else None

    return stateless(name, text, run)


def rejecting(name: str, text: str, where: Callable[[ArrayCall], bool]) -> Fault:
    """Return a fault that rejects some calls, valid ones among them."""

    def run(call: ArrayCall, _: RunReference) -> None:
        if where(call):
            raise ValueError(text)

    return stateless(name, text, run)


def _corrupted(outputs: Outputs) -> Outputs | None:
    """Return copies of outputs with each last element inverted; None where all are empty."""
    if not any(output.size for output in outputs):
        return None
    copies = [output.copy(order="C") for output in outputs]
    for output in copies:
        if output.size:
            last = output.reshape(-1)[-1:]
            last[...] = invert_bits(last)
    return copies


def is_integral(value: Any) -> bool:
    """Whether an argument is an array of integers, or an integer that is no boolean."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iu"
    return isinstance(value, int) and not isinstance(value, bool)


def integers_in(value: Any) -> list[int]:
    """Return every integer in an argument, in order, those of lists and records included."""
    if isinstance(value, np.ndarray):
        return list(value.ravel().tolist()) if is_integral(value) else []
    if isinstance(value, list):
        return [number for part in value for number in integers_in(part)]
    if isinstance(value, dict):
        return [number for part in value.values() for number in integers_in(part)]
    return [value] if is_integral(value) else []


def with_integers(value: Any, change: Callable[[int], int]) -> Any:
    """Return an argument with every integer in it changed."""
    if isinstance(value, np.ndarray):
        return array_like(value, [change(number) for number in value.ravel().tolist()])
    if isinstance(value, list):
        return [with_integers(part, change) for part in value]
    if isinstance(value, dict):
        return {key: with_integers(part, change) for key, part in value.items()}
    return change(value) if is_integral(value) else value


def array_like(array: Array, numbers: Sequence[int]) -> Array:
    """Return integers in the shape of an array where they fill it, in a type that holds them."""
    shape = array.shape if array.size == len(numbers) else (len(numbers),)
    limits = np.iinfo(array.dtype)
    is_in_range = all(limits.min <= number <= limits.max for number in numbers)
    dtype = array.dtype if is_in_range else np.dtype(np.int64)
    return np.array(numbers, dtype).reshape(shape)
