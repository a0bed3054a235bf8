"""Neighbours of calls with a variadic input: its tensors in another number, order or form."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from opcert.arrays.calls import Call, Tensor, tensors_in
from opcert.arrays.element_types import ELEMENT_TYPES, fits
from opcert.arrays.layouts import LAYOUTS
from opcert.arrays.patterns import MAX_STORED_BYTES
from opcert.arrays.variadic import argument_of, flatten_variadic

# Neighbours of a call with more tensors of one variadic input would take much space.
_MAX_TENSORS = 32


def other_tensors(
    name: str,
    numbers: tuple[int, int],
    change: Callable[[tuple[Tensor, ...]], Sequence[Sequence[Tensor]]],
    call: Call,
    _: Sequence[Call],
) -> Iterator[Call]:
    """Yield calls with the tensors of a variadic input in another number, order or form.

    `numbers` are the least and the greatest number of tensors.
    """
    least, most = numbers
    tensors = tensors_in(call.arguments.get(name))
    if not 0 < len(tensors) <= _MAX_TENSORS or any(t.nbytes > MAX_STORED_BYTES for t in tensors):
        return
    others = {key: tensor for key, tensor in call.inputs.items() if argument_of(key) != name}
    for changed in change(tensors):
        if changed and least <= len(changed) <= most and tuple(changed) != tensors:
            yield Call({**flatten_variadic({name: changed}), **others}, call.attributes)


def _relaid(tensors: Sequence[Tensor]) -> Sequence[Sequence[Tensor]]:
    return [
        [*tensors[:-1], replace(tensors[-1], requested_layout=layout)]
        for layout in LAYOUTS
        if replace(tensors[-1], requested_layout=layout).layout != tensors[-1].layout
    ]


def _exchanged_inside(tensors: Sequence[Tensor]) -> Sequence[Sequence[Tensor]]:
    """Return lists with two tensors of other shapes exchanged, neither the first nor the last.

    The last pairs come first: a runtime may keep the offsets under the shapes of the first tensors.
    """
    inner = range(1, len(tensors) - 1)
    pairs = [(i, j) for j in inner for i in inner[: j - 1] if tensors[i].shape != tensors[j].shape]
    return [
        [tensors[{i: j, j: i}.get(k, k)] for k in range(len(tensors))] for i, j in reversed(pairs)
    ]


def _resized(tensors: Sequence[Tensor]) -> Sequence[Sequence[Tensor]]:
    """Return lists whose second tensor, or the only one, is longer by one along some axis.

    The tensors of an example have values, which would not fill a longer one.
    """
    number = min(1, len(tensors) - 1)
    changed = tensors[number]
    if changed.values is not None:
        return []
    shapes = (
        (*changed.shape[:axis], changed.shape[axis] + 1, *changed.shape[axis + 1 :])
        for axis in range(changed.rank)
    )
    return [
        [*tensors[:number], replace(changed, shape=shape), *tensors[number + 1 :]]
        for shape in shapes
    ]


# The lists of tensors that a list is changed to, by how they differ.
TENSOR_LISTS: dict[str, Callable[[tuple[Tensor, ...]], Sequence[Sequence[Tensor]]]] = {
    "one-more": lambda tensors: [(*tensors, tensors[0])],
    "one-fewer": lambda tensors: [tensors[:-1]],
    "other-order": lambda tensors: [tensors[::-1], (*tensors[1:], tensors[0])],
    "other-inner-order": _exchanged_inside,
    "other-layout": _relaid,
    "other-length": _resized,
    "other-type": lambda tensors: [
        [replace(tensor, type=name) for tensor in tensors]
        for name in ELEMENT_TYPES
        if all(fits(name, value) for tensor in tensors for value in tensor.values or ())
    ],
}
