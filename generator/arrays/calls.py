"""Calls of an operator before they have arrays, variadic inputs, and arithmetic of indices.

Inside opcert, the inputs of a call are a flat mapping: the tensors of a variadic input `x` are
`x[0]`, `x[1]`, and so on. No argument has a bracket in its name, so a key explains itself. Where a
call leaves opcert, for a reference, a backend or an expression, they become one list.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from math import prod
from typing import Any, Literal, TypeVar

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.arrays.layouts import C_ORDER, Layout
from opcert.errors import Inapplicable

Item = TypeVar("Item")

# Extents that exceed a vector register (with a tail), a tile, 16 bits.
LONG_EXTENT, WIDE_EXTENT, HUGE_EXTENT = 11, 521, 65539


def wrap(axis: int, rank: int) -> int:
    """Return `axis` counted from the front, where a negative one counts from the end."""
    return axis + rank if axis < 0 else axis


def broadcasts(shape: Sequence[int], target: Sequence[int]) -> bool:
    """Whether `shape`, aligned at the end, broadcasts to `target` in one direction."""
    if len(shape) > len(target):
        return False
    aligned = target[len(target) - len(shape) :]
    return all(source in (1, extent) for source, extent in zip(shape, aligned, strict=True))


def compatible(shapes: Iterable[Sequence[int]]) -> bool:
    """Whether tensors of these shapes, aligned at the end, broadcast to one another."""
    sizes = zip_longest(*map(reversed, shapes), fillvalue=1)
    return all(len({1, *axis}) <= 2 for axis in sizes)


def broadcast_shape(shapes: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """Return the shape to which compatible shapes broadcast."""
    sizes = zip_longest(*map(reversed, shapes), fillvalue=1)
    return tuple(next((n for n in axis if n != 1), 1) for axis in sizes)[::-1]


def aligned(at: Sequence[int], shape: Sequence[int]) -> tuple[int, ...]:
    """Return the indices into a tensor of `shape` that broadcasts, for those into the result."""
    own = at[len(at) - len(shape) :]
    return tuple(0 if n == 1 else i for i, n in zip(own, shape, strict=True))


def python_slice(n: int, start: int, stop: int, step: int) -> range:
    """Return the indices that Python's [start:stop:step] selects of `n` elements."""
    return range(*slice(start, stop, step).indices(n))


def part_at(lengths: Sequence[int], position: int) -> tuple[int, int]:
    """Return which of consecutive parts has the element at `position`, and its position in it.

    Raises:
        IndexError: no part has it.
    """
    first = 0
    for number, length in enumerate(lengths):
        if first <= position < first + length:
            return number, position - first
        first += length
    raise IndexError(f"position {position} of {first}")


def within(values: Sequence[int], low: int, high: int) -> bool:
    """Whether any of `values` is at least `low` and less than `high`."""
    return any(low <= value < high for value in values)


def extent_kinds(extents: Sequence[int], taken: int) -> tuple[str, ...]:
    """Return the kinds of extents that describe `extents`.

    `taken` is the number of elements of the other dimensions.
    """
    if not extents:
        return ("varied",)
    if 0 in extents:
        return ("zero",)
    if max(extents) == 1:
        return ("ones",)
    long_extents = [extent for extent in extents if extent > 1]
    kinds = {
        "varied": len(extents) == 1 or min(extents) < max(extents),
        "equal": len(extents) == 1 or len(set(long_extents)) < len(long_extents),
        "same": set(extents) == {taken},
        "long": extents[-1] >= LONG_EXTENT,
        "wide": extents[-1] >= WIDE_EXTENT,
        "tall": extents[0] >= WIDE_EXTENT,
        "huge": max(extents) >= HUGE_EXTENT,
    }
    return tuple(kind for kind, applies in kinds.items() if applies)


def insert(items: Sequence[Item], position: int, item: Item) -> tuple[Item, ...]:
    """Return `items` with `item` inserted before `position`."""
    return (*items[:position], item, *items[position:])


def replace(items: Sequence[Item], position: int, item: Item) -> tuple[Item, ...]:
    """Return `items` with one of them replaced; a negative position counts from the end.

    Raises:
        Inapplicable: the position is out of range.
    """
    if not -len(items) <= position < len(items):
        raise Inapplicable(f"no element {position} in {items}")
    position %= len(items)
    return (*items[:position], item, *items[position + 1 :])


def repeats(indices: "Tensor", axis: int, n: int) -> bool:
    """Whether two elements of `indices` in one line along `axis` are the same place of `n`."""
    if indices.size < 2 or not n or not indices.values:
        return False
    numbers = np.array([*map(int, indices.values)]).reshape(indices.shape) % n
    ordered = np.sort(numbers, axis=axis)
    return not np.diff(ordered, axis=axis).all()


def tensor_key(name: str, number: int) -> str:
    """Return the key of one tensor of the variadic input `name`."""
    return f"{name}[{number}]"


def argument_of(key: str) -> str:
    """Return the name of the argument that the input `key` belongs to."""
    return key.partition("[")[0]


def keys_of(name: str, inputs: Mapping[str, object]) -> list[str]:
    """Return the keys of the tensors of an argument among `inputs`; none if it is omitted."""
    return [key for key in inputs if argument_of(key) == name]


def group_variadic(inputs: Mapping[str, Item]) -> dict[str, Item | list[Item]]:
    """Return inputs by the names of their arguments, with a list for each variadic one."""
    grouped: dict[str, Item | list[Item]] = {}
    for key, item in inputs.items():
        name, bracket, _ = key.partition("[")
        if not bracket:
            grouped[name] = item
        elif isinstance(items := grouped.setdefault(name, []), list):
            items.append(item)
    return grouped


def tuples_of_variadic(inputs: Mapping[str, Item]) -> dict[str, Item | tuple[Item, ...]]:
    """Return inputs by the names of their arguments, with a tuple for each variadic one."""
    grouped = group_variadic(inputs).items()
    return {name: tuple(item) if isinstance(item, list) else item for name, item in grouped}


def flatten_variadic(inputs: Mapping[str, Item | Sequence[Item]]) -> dict[str, Item]:
    """Return inputs by key, as `group_variadic` takes them; a list without items is omitted."""
    flat: dict[str, Item] = {}
    for name, item in inputs.items():
        if isinstance(item, list | tuple):
            flat.update({tensor_key(name, k): part for k, part in enumerate(item)})
        else:
            flat[name] = item  # type: ignore[assignment]
    return flat


# How many values a message lists.
_MAX_LISTED_VALUES = 16
# A union of types would be built again for each value.
_SEQUENCES = (list, tuple)


@dataclass(frozen=True)
class Tensor:
    """A tensor as expressions see it: its type, its shape, and its values if the call fixes them.

    `values` is flat, in C order. It is None where a data pattern fills the tensor: `pattern` names
    it, and two tensors of one type, shape and pattern have the same elements, unless the `layout`
    of one repeats them along an axis. A `uniform` tensor repeats a single element, which may be
    zero. With `second_half_inverted`, every bit of its second half is inverted.
    """

    type: str
    shape: tuple[int, ...]
    values: tuple[bool | int | float, ...] | None = None
    pattern: str = ""
    layout: Layout = C_ORDER
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


@dataclass(frozen=True)
class Call:
    """The inputs and attributes of one call, in the order of the spec; an omitted one is absent.

    The tensors of a variadic input `x` are the inputs `x[0]`, `x[1]`, and so on.
    """

    inputs: Mapping[str, Tensor] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", plain_copy(dict(self.attributes)))

    def __str__(self) -> str:
        arguments = {**self.inputs, **self.attributes}
        return ", ".join(f"{name}={value}" for name, value in arguments.items())

    @cached_property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments by name; a variadic input is a tuple of tensors."""
        if not any("[" in key for key in self.inputs):
            return {**self.inputs, **self.attributes}
        return {**tuples_of_variadic(self.inputs), **self.attributes}

    @property
    def signature(self) -> tuple[object, ...]:
        """The key of a runtime's plan: the types and shapes of the inputs, and the attributes."""
        inputs = tuple((name, tensor.type, tensor.shape) for name, tensor in self.inputs.items())
        return inputs, str(self.attributes)

    def patterned(self, seed: str, *, only_new: bool = False) -> "Call":
        """Return the call with a distinct pattern for each tensor that a pattern fills.

        With `only_new`, tensors that have a pattern keep it.
        """
        inputs = {**self.inputs}
        for name, tensor in inputs.items():
            if tensor.values is None and not (only_new and tensor.pattern):
                inputs[name] = dataclasses.replace(tensor, pattern=f"{seed}|{name}")
        return Call(inputs, self.attributes)

    def changed(self, name: str, value: Any, order: Iterable[str] = ()) -> "Call":
        """Return the call with one argument replaced, added at its place in `order`, or omitted.

        A value that takes the place of one of its kind needs no `order`.
        A tensor becomes an input, several a variadic one, and anything else an attribute. None
        omits the argument, and no tensors a variadic one. `name` may be the key of one tensor of a
        variadic input, which another one replaces.
        """
        inputs, attributes = self.inputs, self.attributes
        # Most changes replace a value by one of its kind, which keeps its place.
        if name in inputs and isinstance(value, Tensor):
            return self._with({**inputs, name: value}, attributes)
        if name in attributes and value is not None and not isinstance(value, Tensor):
            return self._with(inputs, {**attributes, name: plain_copy(value)})
        arguments = {**self.arguments}
        # Attributes have lists, so that only the tensors of variadic inputs are in tuples.
        is_variadic = isinstance(arguments.get(name), tuple) or (
            isinstance(value, list | tuple) and any(isinstance(part, Tensor) for part in value)
        )
        arguments[name] = (tuple(value or ()) or None) if is_variadic else plain_copy(value)
        present = {key: arguments[key] for key in order if arguments.get(key) is not None}
        tensors = {key: item for key, item in present.items() if isinstance(item, Tensor | tuple)}
        attributes = {key: item for key, item in present.items() if key not in tensors}
        return self._with(flatten_variadic(tensors), attributes)

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
