"""A call of an operator before it has arrays: what each input is, and the attributes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, Literal

import ml_dtypes

from opcert.arrays.element_types import ELEMENT_TYPES, FLOATS, INTEGERS, fits
from opcert.arrays.layouts import LAYOUTS, LONG_AXES_NEEDED, Layout
from opcert.errors import Inapplicable, did_you_mean

# What a tensor may have at most: beyond it a spec asks for gigabytes, or more than NumPy has.
MAX_DIMENSIONS = 32
MAX_ELEMENTS = 1 << 25
# How many values a message shows.
_SHOWN = 16
# The greatest absolute value of each type that is no integer type.
_MAGNITUDES = {
    "boolean": 1,
    **{
        name: int(float(ml_dtypes.finfo(ELEMENT_TYPES[name]).max))  # type: ignore[no-untyped-call]
        for name in FLOATS
    },
}


@dataclass(frozen=True)
class Tensor:
    """A tensor as expressions see it; `values` is flat, and None where a data pattern fills it.

    `pattern` names the pattern: two tensors of one type, shape and pattern have the same elements.
    `requested_layout` is how its elements are to lie in memory when it is handed over. `second_half_inverted` is one whose
    second half has every bit the other way round. One that is `alike` repeats a single element.
    """

    type: str
    shape: tuple[int, ...]
    values: tuple[bool | int | float, ...] | None = None
    pattern: str = ""
    requested_layout: Layout = "c"
    second_half_inverted: bool = False
    uniform: Literal["no", "some", "zero"] = "no"

    def __str__(self) -> str:
        values = "" if self.values is None or self.size > _SHOWN else f" {list(self.values)}"
        return f"{self.type}{list(self.shape)}{values}"

    @cached_property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @cached_property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @cached_property
    def nbytes(self) -> int:
        """The number of bytes that its elements take."""
        return self.size * ELEMENT_TYPES[self.type].itemsize

    @cached_property
    def layout(self) -> Layout:
        """How its elements lie in memory: `c` also where another layout would come to the same."""
        long_axes = sum(extent > 1 for extent in self.shape) if self.size else 0
        return (
            self.requested_layout if long_axes >= LONG_AXES_NEEDED[self.requested_layout] else "c"
        )


@dataclass(frozen=True)
class Call:
    """The inputs and attributes of one call, in the spec's order; an omitted one is absent."""

    inputs: Mapping[str, Tensor] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plain = {name: _plain(value) for name, value in self.attributes.items()}
        object.__setattr__(self, "attributes", plain)

    def __str__(self) -> str:
        arguments = {**self.inputs, **self.attributes}
        return ", ".join(f"{name}={value}" for name, value in arguments.items())

    @property
    def signature(self) -> tuple[object, ...]:
        """What a runtime may plan by: the types and shapes of the inputs, and the attributes."""
        inputs = tuple((name, each.type, each.shape) for name, each in self.inputs.items())
        return inputs, str(self.attributes)

    def patterned(self, seed: str) -> "Call":
        """Return the call with a pattern of its own for each tensor that a pattern fills."""
        inputs = {
            name: replace(tensor, pattern=f"{seed}|{name}") if tensor.values is None else tensor
            for name, tensor in self.inputs.items()
        }
        return Call(inputs, self.attributes)

    def changed(self, name: str, value: Any, order: Sequence[str]) -> "Call":
        """Return the call with one argument replaced, added in its place in `order`, or left out.

        Left out is one whose `value` is None; a tensor is an input, anything else an attribute.
        """
        given = {**self.inputs, **self.attributes, name: _plain(value)}
        kept = {each: given[each] for each in order if given.get(each) is not None}
        inputs = {each: kept[each] for each in kept if isinstance(kept[each], Tensor)}
        changed = object.__new__(Call)
        # The other attributes are plain already, and a mutation is tried on thousands of calls.
        object.__setattr__(changed, "inputs", inputs)
        attributes = {each: kept[each] for each in kept if each not in inputs}
        object.__setattr__(changed, "attributes", attributes)
        return changed


def _plain(value: Any) -> Any:
    """Return `value` as attributes are handed over: lists for all sequences."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def filled(element_type: str, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor for a data pattern to fill.

    Raises:
        ValueError: there is no such type, or the shape is none that could be drawn.
    """
    if element_type not in ELEMENT_TYPES:
        near = did_you_mean(str(element_type), list(ELEMENT_TYPES))
        raise ValueError(f"unknown type '{element_type}'{near}")
    whole = all(isinstance(extent, int) and extent >= 0 for extent in shape)
    if not whole or len(shape) > MAX_DIMENSIONS or prod(shape) > MAX_ELEMENTS:
        raise ValueError(
            f"shape {list(shape)}; expected up to {MAX_DIMENSIONS} sizes and {MAX_ELEMENTS} "
            "elements"
        )
    return Tensor(element_type, tuple(shape))


def tensor(element_type: str, shape: tuple[int, ...], values: tuple[int, ...]) -> Tensor:
    """Return a tensor of `values`, flat; inapplicable where one does not fit an integer type.

    Raises:
        ValueError: as for `filled`.
    """
    empty = filled(element_type, shape)
    if element_type in INTEGERS and not all(fits(element_type, value) for value in values):
        raise Inapplicable(f"{list(values)} does not fit {element_type}")
    if len(values) != empty.size:
        raise Inapplicable(f"{len(values)} values for the shape {list(shape)}")
    return replace(empty, values=tuple(values))


def with_layout(original: Tensor, layout: Layout) -> Tensor:
    """Return `original` with its elements in memory as `layout` says.

    Raises:
        ValueError: there is no such layout.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"unknown layout '{layout}'{did_you_mean(layout, list(LAYOUTS))}")
    return replace(original, requested_layout=layout)


def uniform(original: Tensor, kind: str) -> Tensor:
    """Return `original` with data of one element: no (it is not), some, or zero.

    Raises:
        ValueError: there is no such kind.
    """
    for known in ("no", "some", "zero"):
        if kind == known:
            return replace(original, uniform=known)
    raise ValueError(f"unknown kind '{kind}'; expected no, some or zero")


def vector(element_type: str, values: tuple[int, ...]) -> Tensor:
    """Return a 1-D tensor of `values`."""
    return tensor(element_type, (len(values),), values)


def scalar(element_type: str, value: int) -> Tensor:
    """Return a tensor of rank 0."""
    return tensor(element_type, (), (value,))


def with_values(original: Tensor, values: tuple[int, ...]) -> Tensor:
    """Return a 1-D or one-element tensor like `original` with other values."""
    shape = original.shape if prod(original.shape) == len(values) else (len(values),)
    return with_layout(tensor(original.type, shape, values), original.requested_layout)


def with_type(original: Tensor, element_type: str) -> Tensor:
    """Return `original` with another type; inapplicable where a value is not whole or not in it."""
    if original.values is None:
        return replace(original, type=element_type)
    values = tuple(int(value) for value in original.values)
    most = _MAGNITUDES.get(element_type)
    fit = most is None or all(-most * (most > 1) <= value <= most for value in values)
    if not fit or values != original.values:
        raise Inapplicable(f"{list(original.values)} does not fit {element_type}")
    return with_layout(tensor(element_type, original.shape, values), original.requested_layout)


def with_shape(original: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return `original` in another shape; inapplicable where its values do not fill it."""
    if original.values is not None and len(original.values) != prod(shape):
        raise Inapplicable(f"{len(original.values)} values for the shape {list(shape)}")
    if any(extent < 0 for extent in shape):
        raise Inapplicable(f"no tensor has the shape {list(shape)}")
    return replace(original, shape=tuple(shape))


TENSOR_BUILDERS = {f.__name__: f for f in (filled, tensor, vector, scalar, with_layout, uniform)}
TENSOR_CHANGES = {f.__name__: f for f in (with_values, with_type, with_shape)}
