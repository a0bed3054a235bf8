"""What a backend could keep of a call: facts that an earlier call and a later one share, or not."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TypeAlias

from opcert.arrays.calls import Call
from opcert.arrays.element_types import Array, bit_width
from opcert.errors import Inapplicable
from opcert.roles.axes import AxisRole
from opcert.specification.files import SpecFile

# What a backend could keep of a call, by name in words; equal in two calls that share it.
Facts: TypeAlias = Mapping[str, object]
# How the fact of data whose elements are moved begins.
CONTENT = "content of "
# How the fact of an extent of data begins, before the name of the axis.
_ALONG = "extent along "
# So many elements are compared, and values only of arrays with no more.
_MAX_ELEMENTS = 1 << 12


def facts_of(
    call: Call, data: Callable[[str], Array], spec_file: SpecFile | None = None
) -> dict[str, object]:
    """Return what a backend could keep of a call; a fact precedes those that it implies.

    `data` returns an input that the call describes without its values. Without the spec, it is not
    known which argument is an axis.
    """
    facts: dict[str, object] = {}
    for name, tensor in call.inputs.items():
        if tensor.values is not None and tensor.size <= _MAX_ELEMENTS:
            facts[f"value of {name}"] = tensor.shape, tensor.values
    for name, value in call.attributes.items():
        facts[f"value of {name}"] = json.dumps(value)
        if isinstance(value, list):
            facts[f"length of {name}"] = len(value)
    tensors = {name: tensor.values for name, tensor in call.inputs.items() if tensor.rank == 1}
    for name, values in {**tensors, **call.attributes}.items():
        if isinstance(values, tuple | list) and values:
            facts[f"first element of {name}"] = json.dumps(values[0])
            facts[f"last element of {name}"] = json.dumps(values[-1])
    for name, tensor in call.inputs.items():
        facts[f"shape of {name}"] = tensor.shape
        facts[f"type of {name}"] = tensor.type
        facts[f"layout of {name}"] = tensor.layout
        facts[f"element size of {name}"] = bit_width(tensor.type)
        facts[f"number of elements of {name}"] = tensor.size
        facts[f"rank of {name}"] = tensor.rank
        if tensor.rank > 1:
            facts[f"first extent of {name}"] = tensor.shape[0]
            facts[f"last extent of {name}"] = tensor.shape[-1]
        if tensor.values is None:
            first = data(name).flat[:_MAX_ELEMENTS]
            facts[f"{CONTENT}{name}"] = tensor.shape, hash(first.tobytes())
    return {**facts, **dict(_facts_of_axes(call, spec_file))}


def _facts_of_axes(call: Call, spec_file: SpecFile | None) -> Iterator[tuple[str, object]]:
    """Yield where arguments that are an axis lie, counted from the front, and the extents there."""
    for role in () if spec_file is None else spec_file.spec.bound_roles:
        # An invalid call may have no such axis.
        with suppress(Inapplicable, LookupError, TypeError, ValueError):
            if isinstance(role, AxisRole) and (axis := role.axes_in(call)) is not None:
                extent = role.data.tensor_of(call).shape[axis]
                if role.name in call.arguments:
                    yield f"position of {role.name}", axis
                yield f"{_ALONG}{role.name} of {role.data.name}", extent


def facts_of_outputs(shapes: Iterable[tuple[int, ...]], types: Iterable[str]) -> dict[str, object]:
    """Return what a backend could keep of the outputs of a call."""
    return {"shapes of outputs": (*shapes,), "types of outputs": (*types,)}


def differing(one: Facts, other: Facts) -> tuple[str, ...]:
    """Return in which facts two calls differ, without those that follow from others."""
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]

    def is_of_omitted(name: str) -> bool:
        return (name in one) != (name in other) and name.startswith(("type of ", "layout of "))

    return tuple(name for name in names if not is_of_omitted(name) and not follows(name, names))


# Which differences of an argument make others follow.
_FOLLOWS_FROM = {
    "length": ("value",),
    "first element": ("value",),
    "last element": ("value",),
    "element size": ("type",),
    "shape": ("value",),
    **dict.fromkeys(("first extent", "last extent", "number of elements"), ("value", "shape")),
    "rank": ("value", "shape"),
    "position": ("value",),
    "content": ("shape", "type"),
}


def follows(name: str, names: Collection[str]) -> bool:
    """Whether a fact differs because others of these `names` do."""
    aspect, _, argument = name.rpartition(" of ")
    if aspect.startswith(_ALONG):
        return not {f"shape of {argument}", f"value of {aspect[len(_ALONG) :]}"}.isdisjoint(names)
    return any(f"{other} of {argument}" in names for other in _FOLLOWS_FROM.get(aspect, ()))
