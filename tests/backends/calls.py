"""Calls of every operator that runtimes have to agree on with the reference, and broken ones."""

from typing import Any, TypeAlias

import numpy as np

from opcert.arrays import ELEMENT_TYPES, Array, bits_dtype
from opcert.backends import Backend
from opcert.run import compare_outputs

Call: TypeAlias = tuple[str, dict[str, Array], dict[str, Any]]


def listed(*values: int) -> Array:
    return np.array(values, np.int64)


def bits(name: str, *shape: int) -> Array:
    """Elements of which no two neighbours are alike, of any type."""
    dtype = ELEMENT_TYPES[name]
    count = int(np.prod(shape))
    if name in ("boolean", "i4", "u4"):
        return (np.arange(count) % (2 if name == "boolean" else 7)).astype(dtype).reshape(shape)
    numbers = np.arange(1, count + 1, dtype=np.uint64) * 3
    return numbers.astype(bits_dtype(dtype)).view(dtype).reshape(shape)


def split(data: Array, *lengths: int, axis: int = -1) -> Call:
    inputs = {"data": data, "axis": np.array(axis), "split_lengths": listed(*lengths)}
    return "openvino/VariadicSplit-1", inputs, {}


def sliced(data: Array, start: int, stop: int, step: int, **more: Array) -> Call:
    ends = {"start": listed(start), "stop": listed(stop), "step": listed(step)}
    return "openvino/Slice-8", {"data": data, **ends, **more}, {}


def broadcast(data: Array, *target: int, **attributes: str) -> Call:
    return "openvino/Broadcast-1", {"data": data, "target_shape": listed(*target)}, attributes


def gather(data: Array, *indices: int, axis: int = 0, **attributes: int) -> Call:
    inputs = {"data": data, "indices": listed(*indices), "axis": np.array(axis)}
    return "openvino/Gather-8", inputs, attributes


def of_every_operator(name: str) -> list[Call]:
    """Return a call of each of OpenVINO's operators that moves data of a type."""
    row = bits(name, 2, 7)[:, ::-1]
    return [
        split(row, 2, -1, 4),
        sliced(row, -1, -6, -2, axes=listed(1)),
        broadcast(bits(name, 3, 1), 2, 3, 4),
        gather(row, 1, -1, 0, axis=0),
    ]


SQUARE = np.arange(6, dtype=np.float32).reshape(2, 3)
BROKEN: list[Call] = [
    split(SQUARE, 1, 1),
    split(SQUARE, 1, 2, axis=2),
    sliced(SQUARE, 0, 2, 0),
    sliced(SQUARE, 0, 2, 1, axes=listed(5)),
    broadcast(SQUARE, 5, 5),
    broadcast(SQUARE, 2, 3, mode="none at all"),
    gather(SQUARE.astype(np.int32), 0, axis=7),
    gather(SQUARE, 0, batch_dims=3),
    # Of the inputs, which go by position, one in the middle is left out.
    ("openvino/Slice-8", {**sliced(SQUARE, 0, 1, 1)[1], "axes": listed(0)}, {}),
]
del BROKEN[-1][1]["start"]
COMPLEX = split(np.zeros(3, np.complex64), 3)


def outcome(backend: Backend, call: Call) -> tuple[str, list[Array]]:
    """What came of a call: nothing, or the name of what was raised, and the outputs."""
    operator, inputs, attributes = call
    try:
        return "", list(backend.run(operator, dict(inputs), dict(attributes)))
    except Exception as error:
        return type(error).__name__, []


def differs(backend: Backend, other: Backend, call: Call) -> str:
    """Say how the outcomes of a call on two backends differ; nothing where they agree."""
    (raised, outputs), (as_well, expected) = outcome(backend, call), outcome(other, call)
    if raised != as_well:
        return f"{raised or 'outputs'}, not {as_well or 'outputs'}"
    difference = compare_outputs(expected, outputs)
    return difference.text if difference else ""
