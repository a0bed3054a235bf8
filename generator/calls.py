"""A call of an operator before it has arrays: what each input is, and the attributes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any

import ml_dtypes

from opcert.generator.element_types import ELEMENT_TYPES, FLOATS, INTEGERS, Array, fits, name_of
from opcert.generator.errors import Inapplicable

# The greatest absolute value of each type that is no integer type.
_MAGNITUDES = {
    "boolean": 1,
    **{
        name: int(ml_dtypes.finfo(ELEMENT_TYPES[name]).max)  # type: ignore[no-untyped-call]
        for name in FLOATS
    },
}


@dataclass(frozen=True)
class Tensor:
    """A tensor as expressions see it; `values` is flat, and None where a data pattern fills it.

    `pattern` names the pattern: two tensors of one type, shape and pattern have the same elements.
    """

    type: str
    shape: tuple[int, ...]
    values: tuple[bool | int | float, ...] | None = None
    pattern: str = ""

    @cached_property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @cached_property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)


@dataclass(frozen=True)
class Call:
    """The inputs and attributes of one call, in the spec's order; an omitted one is absent."""

    inputs: Mapping[str, Tensor] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plain = {name: _plain(value) for name, value in self.attributes.items()}
        object.__setattr__(self, "attributes", plain)

    def changed(self, name: str, value: Any) -> "Call":
        """Return the call with one input or attribute replaced; left out where `value` is None."""
        kept = {**self.inputs, **self.attributes, name: value}
        is_input = isinstance(kept[name], Tensor) or name in self.inputs
        inputs = [*self.inputs, name] if is_input else [*self.inputs]
        attributes = [*self.attributes] if is_input else [*self.attributes, name]
        return Call(
            {key: kept[key] for key in dict.fromkeys(inputs) if kept[key] is not None},
            {key: kept[key] for key in dict.fromkeys(attributes) if kept[key] is not None},
        )


def _plain(value: Any) -> Any:
    """Return `value` as attributes are handed over: lists for all sequences."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def filled(element_type: str, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor for a data pattern to fill."""
    return Tensor(element_type, tuple(shape))


def tensor(element_type: str, shape: tuple[int, ...], values: tuple[int, ...]) -> Tensor:
    """Return a tensor of `values`, flat; inapplicable where one does not fit an integer type."""
    if element_type in INTEGERS and not all(fits(element_type, value) for value in values):
        raise Inapplicable(f"{list(values)} does not fit {element_type}")
    if len(values) != prod(shape):
        raise Inapplicable(f"{len(values)} values for the shape {list(shape)}")
    return Tensor(element_type, tuple(shape), tuple(values))


def listed(element_type: str, values: tuple[int, ...]) -> Tensor:
    """Return a 1-D tensor of `values`."""
    return tensor(element_type, (len(values),), values)


def scalar(element_type: str, value: int) -> Tensor:
    """Return a tensor of rank 0."""
    return tensor(element_type, (), (value,))


def with_values(original: Tensor, values: tuple[int, ...]) -> Tensor:
    """Return a 1-D or one-element tensor like `original` with other values."""
    shape = original.shape if prod(original.shape) == len(values) else (len(values),)
    return tensor(original.type, shape, values)


def with_type(original: Tensor, element_type: str) -> Tensor:
    """Return `original` with another type; inapplicable where a value is not whole or not in it."""
    if original.values is None:
        return replace(original, type=element_type)
    values = tuple(int(value) for value in original.values)
    most = _MAGNITUDES.get(element_type)
    fit = most is None or all(-most * (most > 1) <= value <= most for value in values)
    if not fit or values != original.values:
        raise Inapplicable(f"{list(original.values)} does not fit {element_type}")
    return tensor(element_type, original.shape, values)


def with_shape(original: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return `original` in another shape; inapplicable where its values do not fill it."""
    if original.values is not None and len(original.values) != prod(shape):
        raise Inapplicable(f"{len(original.values)} values for the shape {list(shape)}")
    return replace(original, shape=tuple(shape))


def tensor_of(array: Array) -> Tensor:
    """Return what expressions see of `array`."""
    return Tensor(name_of(array.dtype), array.shape, tuple(array.ravel().tolist()))


BUILDERS = {f.__name__: f for f in (filled, tensor, listed, scalar)}
CHANGES = {f.__name__: f for f in (with_values, with_type, with_shape)}
