"""Which side rejects a call: the runtime, or the adapter before the runtime sees it."""

from typing import Any

import numpy as np
import pytest

from opcert.backends.contract import AdapterRejection, adapter_rejections
from tests.backends import invalid_calls
from tests.backends.calls import (
    SQUARE,
    Call,
    broadcast,
    described_split,
    gather,
    int64s,
    make_call,
    padded,
    sliced,
    split,
)
from tests.backends.runtimes import CONFIGURATIONS, shared

STRICT = {"namespace": "array_api_strict"}
# What the adapter of a runtime does not support, in calls that it supports else.
UNSUPPORTED = [("onnxruntime", "symmetric")]
CUBE = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


def changed(call: Call, **changes: Any) -> Call:
    """Return a call with other inputs or attributes; None omits one."""
    operator, inputs, attributes = call
    parts: dict[str, Any] = {**inputs, **attributes, **changes}
    return (
        operator,
        {name: part for name, part in parts.items() if isinstance(part, np.ndarray)},
        {
            name: part
            for name, part in parts.items()
            if not isinstance(part, np.ndarray) and part is not None
        },
    )


SLICED = sliced(SQUARE, 0, 2, 1)
AVERAGED: Call = (
    "openvino/AvgPool-1",
    {"data": np.ones((1, 1, 4), np.float32)},
    {"strides": [1], "pads_begin": [0], "pads_end": [0], "kernel": [2], "exclude_pad": True},
)
PADDED = padded(SQUARE, (0, 1), (0, 1), "edge")
COMMON = {
    "sum of lengths": split(SQUARE, 1, 1),
    "axis of split": split(SQUARE, 1, 2, axis=2),
    "step 0": sliced(SQUARE, 0, 2, 0),
}
BY_RUNTIME: dict[str, dict[str, Call]] = {
    "openvino": {
        **COMMON,
        "target too large": broadcast(SQUARE, 5, 5),
        "attribute": gather(SQUARE, 0, batch_dims=3),
    },
    "onnxruntime": {
        "target too large": broadcast(SQUARE, 5, 5),
        **COMMON,
        "type of lengths": changed(split(SQUARE, 1, 2), split_lengths=np.array([1.0, 2.0])),
        "shape of axis": changed(gather(SQUARE, 0), axis=np.array([[0]])),
        "unknown attribute": broadcast(SQUARE, 2, 3, mode="none at all"),
        "described sizes": described_split([2, 1], [2, 1]),
        "described extents": described_split([2, 1], [3, 2]),
        "described rank": described_split([2, 1], [2, 2, 1]),
        "described type": described_split([2, 1], [2, 2], of="INT32"),
        "described type of no name": described_split([2, 1], [2, 2], of="FLOAT"),
        "count": described_split([2, 1], [2, 2], count=1),
        "large count": described_split([2, 1], [2, 2], count=1 << 40),
    },
    "torch": {
        **COMMON,
        "axis with a rest": split(SQUARE, 1, -1, axis=2),
        "shape of axis": changed(split(SQUARE, 1, 2), axis=np.array([[1]])),
        "type of lengths": changed(split(SQUARE, 1, 2), split_lengths=np.array([1.0, 2.0])),
        "lengths in a matrix": changed(split(SQUARE, 1, 2), split_lengths=int64s(1, 2)[None]),
        "type of step": changed(SLICED, step=np.array([-1.0])),
        "target too small": broadcast(SQUARE, 5),
        "target of -2": broadcast(SQUARE, -2, 3),
        "type of target": changed(broadcast(SQUARE, 2, 3), target_shape=np.array([2.0, 3.0])),
        "axis of gather": gather(SQUARE, 0, axis=7),
        "axis of gather in batches": gather(SQUARE, 0, axis=7, batch_dims=1),
        "described axis": described_split([2, 1], [2, 2], axis=2),
        "type of axis": changed(gather(SQUARE, 0), axis=np.array(0.0)),
        "type of indices": changed(gather(SQUARE, 0), indices=np.array([0.0], np.float16)),
    },
    "jax": {
        **COMMON,
        "shape of axis": changed(split(SQUARE, 1, 2), axis=np.array([[1]])),
        "target too small": broadcast(SQUARE, 5),
        "axes_mapping out of range": changed(
            broadcast(SQUARE, 2, 3), axes_mapping=int64s(0, 7), mode="explicit"
        ),
        "axis of gather": gather(SQUARE, 0, axis=7),
        "type of indices": changed(gather(SQUARE, 0), indices=np.array([0.0])),
    },
    "array-api": {
        "step 0": COMMON["step 0"],
        "type of stop": changed(SLICED, stop=np.array([1.5])),
        "target too small": broadcast(SQUARE, 5),
        "axis of gather": gather(SQUARE, 0, axis=7),
        "shape of axis": changed(gather(SQUARE, 0), axis=np.array([[0]])),
        "type of indices": changed(gather(SQUARE, 0), indices=np.array([0.0])),
    },
}
REJECTED_ON_THE_HOST = {
    "missing input": changed(SLICED, stop=None),
    "unknown input": changed(SLICED, ends=int64s(1)),
    "lengths as a scalar": changed(split(SQUARE, 3), split_lengths=np.array(3)),
    "type of no lengths": changed(split(SQUARE, 3), split_lengths=np.zeros(0)),
    "unequal lengths": changed(SLICED, stop=int64s(1, 1)),
    "axes out of range": changed(SLICED, axes=int64s(2)),
    "duplicate axes": changed(sliced(SQUARE, 0, 1, 1), axes=int64s(0, 0)),
    "mode": broadcast(SQUARE, 2, 3, mode="none at all"),
    "batches": changed(gather(CUBE, 0, axis=1), indices=int64s(0), batch_dims=1),
    "batch_dims": gather(CUBE, 0, batch_dims=9),
    "described sizes": described_split([1, 1], [1, 2]),
    "described type": described_split([2, 1], [2, 2], of="INT32"),
    "OutputCount": described_split([2, 1], [2, 2], count=3),
    "Axis": described_split([2, 1], [2, 2], axis=-1),
    "missing member": changed(described_split([2, 3]), Axis=None),
}
BY_ADAPTER: dict[str, dict[str, Call]] = {
    "openvino": {"missing input": changed(SLICED, stop=None)},
    "onnxruntime": {
        "missing input": changed(SLICED, stop=None),
        "target stretched": broadcast(SQUARE, 1, 3),
        "target stretched to nothing": broadcast(SQUARE[:0], 1, 3),
        "target with fewer dimensions": broadcast(SQUARE[:1], 3),
        "negative Axis": described_split([2, 1], [2, 2], axis=-1),
        "negative size": described_split([2, 1], [2, -1]),
        "size past 64 bits": described_split([2, 1], [2, 1 << 64]),
        "missing member": changed(described_split([2, 3]), Axis=None),
        "word for rounding": changed(AVERAGED, rounding_type="round"),
        "no exclude_pad": changed(AVERAGED, exclude_pad=None),
        "mode that only ONNX has": changed(PADDED, pad_mode="wrap"),
    },
    "torch": {
        **REJECTED_ON_THE_HOST,
        "target of -1": broadcast(SQUARE, -1, 3),
        "axes_mapping out of range": changed(
            broadcast(SQUARE, 2, 3), axes_mapping=int64s(0, 7), mode="explicit"
        ),
    },
    "jax": {
        **REJECTED_ON_THE_HOST,
        "axes_mapping not sorted": changed(
            broadcast(SQUARE, 2, 2, 3), axes_mapping=int64s(2, 0), mode="explicit"
        ),
    },
    "array-api": {
        **REJECTED_ON_THE_HOST,
        "sum of lengths": split(SQUARE, 1, 1),
        "axis of split": split(SQUARE, 1, 2, axis=2),
        "indices of a type that the standard lacks": changed(
            gather(SQUARE, 0), indices=np.array([0.0], np.float16)
        ),
    },
}


def cases(calls: dict[str, dict[str, Call]]) -> list[Any]:
    return [
        pytest.param(adapter, call, id=f"{adapter}: {what}")
        for adapter, by_name in calls.items()
        for what, call in by_name.items()
    ]


def rejected_by(adapter: str, call: Call) -> str:
    """Return which side rejects a call, by the exception's attribute."""
    backend = shared(adapter, **STRICT) if adapter == "array-api" else shared(adapter)
    operator, inputs, attributes = call
    try:
        backend.run(operator, dict(inputs), dict(attributes))
    except NotImplementedError:
        return "unsupported"
    except Exception as error:
        return getattr(error, "rejected_by", "runtime")
    return "accepted"


@pytest.mark.parametrize(("adapter", "call"), cases(BY_RUNTIME))
def test_the_runtime_rejects(adapter: str, call: Call) -> None:
    assert rejected_by(adapter, call) == "runtime"


@pytest.mark.parametrize(("adapter", "call"), cases(BY_ADAPTER))
def test_the_adapter_rejects(adapter: str, call: Call) -> None:
    assert rejected_by(adapter, call) == "adapter"


@pytest.mark.parametrize("call", [SLICED, AVERAGED, PADDED], ids=lambda call: call[0])
def test_onnxruntime_accepts_the_valid_calls_that_are_changed(call: Call) -> None:
    assert rejected_by("onnxruntime", call) == "accepted"


@pytest.mark.parametrize(("name", "options"), [*CONFIGURATIONS, ("array-api", STRICT)], ids=str)
def test_no_invalid_call_is_computed(name: str, options: dict[str, str]) -> None:
    backend = shared(name, **options)
    # The adapter of OpenVINO checks nothing, and so accepts what OpenVINO does.
    calls = invalid_calls.OF_FOUR.items() if name == "openvino" else invalid_calls.ALL
    for what, call in calls:
        raised, _ = make_call(backend, call)
        assert raised, what
        is_supported = call[0] in backend.support and (name, what) not in UNSUPPORTED
        assert (raised == "NotImplementedError") == (not is_supported), what


def test_exceptions_on_the_host_are_the_adapters_rejections() -> None:
    with pytest.raises(AdapterRejection, match="IndexError: no"), adapter_rejections():
        raise IndexError("no")
    with pytest.raises(NotImplementedError), adapter_rejections():
        raise NotImplementedError
    with pytest.raises(KeyboardInterrupt), adapter_rejections():
        raise KeyboardInterrupt


def test_a_rejection_keeps_its_cause() -> None:
    with pytest.raises(AdapterRejection) as caught, adapter_rejections():
        range(3)[4]
    assert isinstance(caught.value.__cause__, IndexError)
