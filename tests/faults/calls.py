"""Calls of each operator, written short: the witnesses of faults are made of them."""

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, Array
from tests.faults.fault import BROADCAST, DML, GATHER, SLICE, SPLIT, Call

DML_NAMES = {
    **{f"f{width}": f"FLOAT{width}" for width in (16, 32, 64)},
    **{f"i{width}": f"INT{width}" for width in (8, 16, 32, 64)},
    **{f"u{width}": f"UINT{width}" for width in (8, 16, 32, 64)},
}
Indices: TypeAlias = int | Sequence["Indices"]


def data(*shape: int, of: str = "f32") -> Array:
    """Return elements that differ from their neighbours, none of them 0 where the type has more."""
    dtype, count = ELEMENT_TYPES[of], np.arange(prod(shape))
    if of == "boolean":
        thirds: Array = (count % 3 == 0).reshape(shape)
        return thirds
    if dtype.itemsize == 1:
        bits: Array = (count % 100 + 1).astype(np.uint8)
        return bits.view(dtype).reshape(shape)
    return (count % 200 + 1).astype(dtype).reshape(shape)


def ints(values: Indices, of: str = "i64") -> Array:
    """Return indices of a type."""
    return np.array(values, ELEMENT_TYPES[of])


def split_call(tensor: Array, axis: Indices, lengths: Indices, of: str = "i64") -> Call:
    """Return a call of VariadicSplit."""
    return Call({"data": tensor, "axis": ints(axis, of), "split_lengths": ints(lengths, of)})


def dml_call(tensor: Array, axis: int, parts: Sequence[int]) -> Call:
    """Return a call of DirectML's split whose outputs are `parts` long on the axis."""
    shape = list(tensor.shape)
    types = {ELEMENT_TYPES[name]: text for name, text in DML_NAMES.items()}
    outputs = [
        {
            "Sizes": [*shape[:axis], part, *shape[axis + 1 :]],
            "DataType": types.get(tensor.dtype, "FLOAT32"),
        }
        for part in parts
    ]
    attributes = {"OutputCount": len(outputs), "OutputTensors": outputs, "Axis": axis}
    return Call({"InputTensor": tensor}, attributes)


def slice_call(
    tensor: Array,
    start: Indices,
    stop: Indices,
    step: Indices,
    axes: Indices | None = None,
    of: str = "i64",
) -> Call:
    """Return a call of Slice."""
    call = Call(
        {"data": tensor, "start": ints(start, of), "stop": ints(stop, of), "step": ints(step, of)}
    )
    return call if axes is None else call.given(axes=ints(axes, of))


def broadcast_call(
    tensor: Array,
    target: Indices,
    axes_mapping: Indices | None = None,
    mode: str | None = None,
    of: str = "i64",
) -> Call:
    """Return a call of Broadcast, explicit where it has an axes_mapping and no mode is passed."""
    call = Call({"data": tensor, "target_shape": ints(target, of)})
    if axes_mapping is not None:
        call = call.given(axes_mapping=ints(axes_mapping, of)).with_attributes(mode="explicit")
    return call if mode is None else call.with_attributes(mode=mode)


def gather_call(
    tensor: Array,
    indices: Indices,
    axis: Indices = 0,
    batch_dims: int | None = None,
    of: str = "i64",
) -> Call:
    """Return a call of Gather."""
    call = Call({"data": tensor, "indices": ints(indices, of), "axis": ints(axis)})
    return call if batch_dims is None else call.with_attributes(batch_dims=batch_dims)


def whole(operator: str, tensor: Array) -> Call:
    """Return a call whose one output has all of `tensor`, of rank 1 or more, as it is."""
    extent = tensor.shape[0]
    calls = {
        SPLIT: lambda: split_call(tensor, 0, [extent]),
        DML: lambda: dml_call(tensor, 0, [extent]),
        SLICE: lambda: slice_call(tensor, [0], [extent], [1], [0]),
        BROADCAST: lambda: broadcast_call(tensor, list(tensor.shape)),
        GATHER: lambda: gather_call(tensor, list(range(extent))),
    }
    return calls[operator]()


def broken(operator: str) -> Call:
    """Return a call that has to be rejected, with the inputs of `whole` for data of [4, 3]."""
    call = whole(operator, data(4, 3))
    return {
        SPLIT: lambda: call.given(axis=ints(2)),
        DML: lambda: call.with_attributes(Axis=2),
        SLICE: lambda: call.given(axes=ints([2])),
        BROADCAST: lambda: call.given(target_shape=ints([4, 2])),
        GATHER: lambda: call.given(axis=ints(2)),
    }[operator]()
