"""A call of an operator, before it has arrays: a description of each input, and the attributes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, Literal

from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.arrays.layouts import LONG_AXES_NEEDED, Layout
from opcert.arrays.variadic import argument_of, flatten_variadic, group_variadic

# How many values a message lists.
_MAX_LISTED_VALUES = 16
# A union of types would be built again for each value.
_SEQUENCES = (list, tuple)


@dataclass(frozen=True)
class Tensor:
    """A tensor as expressions see it: its type, its shape, and its values if the call fixes them.

    `values` is flat, in C order. It is None where a data pattern fills the tensor: `pattern` names
    it, and two tensors of one type, shape and pattern have the same elements. A `uniform` tensor
    repeats a single element, which may be zero. `requested_layout` is the memory layout in which a
    backend gets it. With `second_half_inverted`, every bit of its second half is inverted.
    """

    type: str
    shape: tuple[int, ...]
    values: tuple[bool | int | float, ...] | None = None
    pattern: str = ""
    requested_layout: Layout = "c"
    second_half_inverted: bool = False
    uniform: Literal["no", "some", "zero"] = "no"

    def __str__(self) -> str:
        values = (
            "" if self.values is None or self.size > _MAX_LISTED_VALUES else f" {list(self.values)}"
        )
        return f"{self.type}{list(self.shape)}{values}"

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes of its elements."""
        return self.size * ELEMENT_TYPES[self.type].itemsize

    @property
    def layout(self) -> Layout:
        """The memory layout; `c` also where the requested one has the same strides."""
        long_axes = sum(extent > 1 for extent in self.shape) if self.size else 0
        needed = LONG_AXES_NEEDED[self.requested_layout]
        return self.requested_layout if long_axes >= needed else "c"


@dataclass(frozen=True)
class Call:
    """The inputs and attributes of one call, in the order of the spec; an omitted one is absent.

    The tensors of a variadic input `x` are the inputs `x[0]`, `x[1]`, and so on.
    """

    inputs: Mapping[str, Tensor] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plain = {name: plain_copy(value) for name, value in self.attributes.items()}
        object.__setattr__(self, "attributes", plain)

    def __str__(self) -> str:
        arguments = {**self.inputs, **self.attributes}
        return ", ".join(f"{name}={value}" for name, value in arguments.items())

    @cached_property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments by name; a variadic input is a tuple of tensors."""
        if not any("[" in key for key in self.inputs):
            return {**self.inputs, **self.attributes}
        grouped = group_variadic(self.inputs).items()
        inputs = {name: tuple(item) if isinstance(item, list) else item for name, item in grouped}
        return {**inputs, **self.attributes}

    @property
    def signature(self) -> tuple[object, ...]:
        """The key of a runtime's plan: the types and shapes of the inputs, and the attributes."""
        inputs = tuple((name, tensor.type, tensor.shape) for name, tensor in self.inputs.items())
        return inputs, str(self.attributes)

    def patterned(self, seed: str, *, only_new: bool = False) -> "Call":
        """Return the call with a distinct pattern for each tensor that a pattern fills.

        With `only_new`, tensors that have a pattern keep it.
        """
        inputs = {
            name: tensor
            if tensor.values is not None or (only_new and tensor.pattern)
            else replace(tensor, pattern=f"{seed}|{name}")
            for name, tensor in self.inputs.items()
        }
        return Call(inputs, self.attributes)

    def changed(self, name: str, value: Any, order: Iterable[str]) -> "Call":
        """Return the call with one argument replaced, added at its place in `order`, or omitted.

        A tensor becomes an input, several a variadic one, and anything else an attribute. None
        omits the argument, and no tensors a variadic one. The key of a tensor of a variadic input
        as `name` replaces or removes that tensor.
        """
        inputs, attributes = self.inputs, self.attributes
        # Most changes replace a value by one of its kind, which keeps its place.
        if name in inputs and isinstance(value, Tensor):
            return self._with({**inputs, name: value}, attributes)
        if name in attributes and value is not None and not isinstance(value, Tensor):
            return self._with(inputs, {**attributes, name: plain_copy(value)})
        arguments = {**self.arguments}
        argument = argument_of(name)
        if argument != name:
            tensors = [*arguments[argument]]
            number = int(name[len(argument) + 1 : -1])
            tensors[number : number + 1] = [] if value is None else [value]
            value = tuple(tensors)
        # Attributes have lists, so that only the tensors of variadic inputs are in tuples.
        is_variadic = isinstance(arguments.get(argument), tuple) or (
            isinstance(value, list | tuple) and any(isinstance(part, Tensor) for part in value)
        )
        arguments[argument] = (tuple(value or ()) or None) if is_variadic else plain_copy(value)
        present = {key: arguments[key] for key in order if arguments.get(key) is not None}
        tensors_by_name = {
            key: item for key, item in present.items() if isinstance(item, Tensor | tuple)
        }
        attributes = {key: plain for key, plain in present.items() if key not in tensors_by_name}
        return self._with(flatten_variadic(tensors_by_name), attributes)

    @staticmethod
    def _with(inputs: Mapping[str, Tensor], attributes: Mapping[str, Any]) -> "Call":
        """Return the call with these arguments, of which the attributes are plain."""
        # Skips __post_init__, since all attributes are plain already: thousands of calls are
        # mutated.
        changed = object.__new__(Call)
        object.__setattr__(changed, "inputs", inputs)
        object.__setattr__(changed, "attributes", attributes)
        return changed


def tensors_in(value: Any) -> tuple[Tensor, ...]:
    """Return the tensors of an input as expressions see it; none if it is omitted."""
    if isinstance(value, tuple):
        return value
    return () if value is None else (value,)


def plain_copy(value: Any) -> Any:
    """Return a deep copy of an attribute as backends get it, with lists for all sequences."""
    if isinstance(value, _SEQUENCES):
        # Most attributes are lists of integers, which need no call for each element.
        return [item if type(item) is int else plain_copy(item) for item in value]
    if isinstance(value, dict):
        return {key: plain_copy(item) for key, item in value.items()}
    return value
