"""Valid calls of every operator, which runtimes compute like the reference."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, Array, bits_dtype
from opcert.backends.contract import Backend
from opcert.backends.reference import Reference
from opcert.run.comparison import compare_outputs
from opcert.specification.files import read_specs_in

Call: TypeAlias = tuple[str, dict[str, Any], dict[str, Any]]


def int64s(*values: int) -> Array:
    return np.array(values, np.int64)


def distinct_elements(name: str, *shape: int) -> Array:
    """Return an array of a type in which neighbouring elements differ."""
    dtype = ELEMENT_TYPES[name]
    count = int(np.prod(shape))
    if name in ("boolean", "i4", "u4"):
        return (np.arange(count) % (2 if name == "boolean" else 7)).astype(dtype).reshape(shape)
    numbers = np.arange(1, count + 1, dtype=np.uint64) * 3
    return numbers.astype(bits_dtype(dtype)).view(dtype).reshape(shape)


def split(data: Array, *lengths: int, axis: int = -1) -> Call:
    inputs = {"data": data, "axis": np.array(axis), "split_lengths": int64s(*lengths)}
    return "openvino/VariadicSplit-1", inputs, {}


def sliced(data: Array, start: int, stop: int, step: int, **more: Array) -> Call:
    ends = {"start": int64s(start), "stop": int64s(stop), "step": int64s(step)}
    return "openvino/Slice-8", {"data": data, **ends, **more}, {}


def broadcast(data: Array, *target: int, **attributes: str) -> Call:
    return "openvino/Broadcast-1", {"data": data, "target_shape": int64s(*target)}, attributes


def gather(data: Array, *indices: int, axis: int = 0, **attributes: int) -> Call:
    inputs = {"data": data, "indices": int64s(*indices), "axis": np.array(axis)}
    return "openvino/Gather-8", inputs, attributes


def padded(data: Array, begin: Sequence[int], end: Sequence[int], mode: str, **more: Array) -> Call:
    ends = {"pads_begin": int64s(*begin), "pads_end": int64s(*end)}
    return "openvino/Pad-1", {"data": data, **ends, **more}, {"pad_mode": mode}


def scattered(data: Array, indices: Array, updates: Array, axis: int) -> Call:
    inputs = {"data": data, "indices": indices, "updates": updates, "axis": np.array(axis)}
    return "openvino/ScatterElementsUpdate-3", inputs, {}


def joined(*arrays: Array, axis: int, **members: Any) -> Call:
    """Return a call of DirectML's JOIN along the last axis but for `members` of its output."""
    sizes = [*arrays[0].shape[:-1], sum(array.shape[-1] for array in arrays)]
    described = {"Sizes": sizes, "DataType": arrays[0].dtype.name.upper(), **members}
    attributes = {"InputCount": len(arrays), "OutputTensor": described, "Axis": axis}
    return "directml/DML_OPERATOR_JOIN", {"InputTensors": [*arrays]}, attributes


def windowed(data: Array, output: list[int], *windows: tuple[int, int, int]) -> Call:
    """Return a call of DirectML's SLICE1; a window is an offset, a size and a stride."""
    offsets, sizes, strides = (list(column) for column in zip(*windows, strict=True))
    attributes = {
        "OutputTensor": {"Sizes": output, "DataType": data.dtype.name.upper()},
        "DimensionCount": len(windows),
        "InputWindowOffsets": offsets,
        "InputWindowSizes": sizes,
        "InputWindowStrides": strides,
    }
    return "directml/DML_OPERATOR_SLICE1", {"InputTensor": data}, attributes


def described_split(
    *sizes: list[int], axis: int = 1, of: str = "FLOAT32", count: int | None = None
) -> Call:
    """Return a call of DirectML's SPLIT of a square with outputs that are described so."""
    attributes = {
        "OutputCount": len(sizes) if count is None else count,
        "OutputTensors": [{"Sizes": each, "DataType": of} for each in sizes],
        "Axis": axis,
    }
    return "directml/DML_OPERATOR_SPLIT", {"InputTensor": SQUARE}, attributes


def calls_of_every_operator(name: str, operators: Collection[str] | None = None) -> list[Call]:
    """Return calls of shipped OpenVINO operators, by default of all, with data of a type."""
    row = distinct_elements(name, 2, 7)[:, ::-1]
    axis, lengths = {"axis": 1}, np.array([7, 2], np.int32)
    calls = [
        split(row, 2, -1, 4),
        sliced(row, -1, -6, -2, axes=int64s(1)),
        broadcast(distinct_elements(name, 3, 1), 2, 3, 4),
        gather(row, 1, -1, 0, axis=0),
        ("openvino/Split-1", {"data": row, "axis": np.array(1)}, {"num_splits": 7}),
        ("openvino/Concat-1", {"inputs": [row, row[:, :3]]}, axis),
        ("openvino/Tile-1", {"data": row, "repeats": int64s(2, 1, 3)}, {}),
        ("openvino/Tile-1", {"data": row, "repeats": int64s(2)}, {}),
        padded(row, (0, 2), (1, 0), "edge"),
        ("openvino/Transpose-1", {"arg": row, "input_order": int64s(1, 0)}, {}),
        ("openvino/Reshape-1", {"data": row, "shape": int64s(0, -1, 1)}, {"special_zero": True}),
        ("openvino/GatherElements-6", {"data": row, "indices": int64s(6, 0).reshape(2, 1)}, axis),
        scattered(row, int64s(6, 0).reshape(2, 1), row[:, :1], axis=1),
        (
            "openvino/StridedSlice-1",
            {"data": row, "begin": int64s(0, 5), "end": int64s(1, 0), "stride": int64s(1, -2)},
            {"begin_mask": [1, 0], "end_mask": [1, 0]},
        ),
        (
            "openvino/ReverseSequence-1",
            {"data": row, "seq_lengths": lengths},
            {"batch_axis": 0, "seq_axis": 1},
        ),
    ]
    if name == "boolean":
        # Whether its data may be boolean is open.
        calls = [call for call in calls if call[0] != "openvino/ScatterElementsUpdate-3"]
    # Those whose document allows the type.
    selected = {
        file.spec.operator
        for file in read_specs_in(None, "openvino/*")
        if name in file.spec.type_sets[file.spec.leading.type]
    }
    if operators is not None:
        selected &= {*operators}
    return [call for call in calls if call[0] in selected]


SQUARE = np.arange(6, dtype=np.float32).reshape(2, 3)
REFERENCE = Reference()
COMPLEX = split(np.zeros(3, np.complex64), 3)


def described(outputs: Iterable[Array]) -> list[Any]:
    """Return all that counts of arrays: their types, shapes and bits."""
    return [(output.dtype, output.shape, output.tobytes()) for output in outputs]


def make_call(backend: Backend, call: Call) -> tuple[str, list[Array]]:
    """Return the name of the exception of a call, "" for none, and its outputs."""
    operator, inputs, attributes = call
    try:
        return "", list(backend.run(operator, dict(inputs), dict(attributes)))
    except Exception as error:
        return type(error).__name__, []


def differences(
    backend: Backend, calls: Iterable[Call], other: Backend = REFERENCE
) -> list[tuple[Call, str]]:
    """Return the calls whose results on two backends differ, with how."""
    found = []
    for call in calls:
        raised, outputs = make_call(backend, call)
        expected_error, expected = make_call(other, call)
        if raised != expected_error:
            found.append((call, f"{raised or 'outputs'}, not {expected_error or 'outputs'}"))
        elif difference := compare_outputs(expected, outputs):
            found.append((call, difference.text))
    return found
