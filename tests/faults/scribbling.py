"""Inputs that a call writes to: as scratch space, when it normalises them, or one call later."""

import numpy as np

from opcert.reference import RuleBroken
from tests.faults.axis import axis_of, extent_of, given_axis
from tests.faults.calls import (
    broadcast_call,
    broken,
    data,
    gather_call,
    slice_call,
    split_call,
    whole,
)
from tests.faults.fault import (
    BROADCAST,
    GATHER,
    OPERATORS,
    SLICE,
    SPLIT,
    Call,
    Change,
    Compute,
    Fault,
    Outputs,
    Writer,
    right,
)

_MECHANISM = "input written"


def _scratch(call: Call, outputs: Outputs) -> Outputs:
    if call.data.size:
        last = call.data.reshape(-1)[-1:]
        last.view(np.uint8)[...] ^= 1
    return outputs


def _when_rejecting(operator: str) -> Compute:
    def compute(call: Call) -> Outputs:
        try:
            return right(operator, call)
        except RuleBroken:
            _scratch(call, [])
            raise

    return compute


def _one_call_later() -> Change:
    """Take the data of the call before for a buffer of its own."""
    kept: list[Call] = []

    def change(call: Call, outputs: Outputs) -> Outputs:
        for before in kept:
            _scratch(before, outputs)
        kept[:] = [call]
        return outputs

    return change


def _faults(operator: str) -> list[Fault]:
    write, call = Writer(operator, _MECHANISM), whole(operator, data(4, 3))
    return [
        write.returns("data-as-scratch", "uses data as scratch space", _scratch, call),
        write.computes(
            "when-rejecting",
            "has written to data when it rejects a call",
            _when_rejecting(operator),
            broken(operator),
        ),
        write.keeps(
            "one-call-later",
            "writes to the data of the call before",
            _one_call_later,
            call,
            call,
        ),
    ]


def _axes_normalised(call: Call, outputs: Outputs) -> Outputs:
    if "axes" in call.inputs and call["axes"].dtype.kind == "i":
        call["axes"][...] %= call.data.ndim
    return outputs


def _bounds_clamped(call: Call, outputs: Outputs) -> Outputs:
    axes = call.ints("axes") if "axes" in call.inputs else range(call["stop"].size)
    for k, axis in enumerate(axes):
        call["stop"][k] = min(int(call["stop"][k]), call.data.shape[axis])
    return outputs


def _rest_filled_in(call: Call, outputs: Outputs) -> Outputs:
    for k, output in enumerate(outputs):
        if call.ints("split_lengths")[k] == -1:
            call["split_lengths"][k] = output.shape[axis_of(call)]
    return outputs


def _axis_normalised(call: Call, outputs: Outputs) -> Outputs:
    if given_axis(call) < 0:
        call["axis"][...] += call.data.ndim
    return outputs


def _indices_normalised(call: Call, outputs: Outputs) -> Outputs:
    if call["indices"].dtype.kind == "i":
        call["indices"][call["indices"] < 0] += extent_of(call)
    return outputs


def _shape_padded(call: Call, outputs: Outputs) -> Outputs:
    if "axes_mapping" not in call.inputs and call.data.ndim < outputs[0].ndim:
        padding = (1,) * (outputs[0].ndim - call.data.ndim)
        call.data.shape = (*padding, *call.data.shape)
    return outputs


def _target_consumed(call: Call, outputs: Outputs) -> Outputs:
    call["target_shape"][...] = 0
    return outputs


_NORMALISED: tuple[tuple[str, str, str, Change, Call], ...] = (
    (
        SLICE,
        "axes-normalised",
        "makes negative axes positive in place",
        _axes_normalised,
        slice_call(data(3, 4), [0], [2], [1], [-1]),
    ),
    (
        SLICE,
        "stop-clamped",
        "clamps stop in place",
        _bounds_clamped,
        slice_call(data(3, 4), [0], [9], [1]),
    ),
    (
        SPLIT,
        "rest-filled-in",
        "replaces -1 in place",
        _rest_filled_in,
        split_call(data(5), 0, [2, -1]),
    ),
    (
        SPLIT,
        "axis-normalised",
        "makes a negative axis positive in place",
        _axis_normalised,
        split_call(data(2, 5), -1, [2, 3]),
    ),
    (
        GATHER,
        "axis-normalised",
        "makes a negative axis positive in place",
        _axis_normalised,
        gather_call(data(2, 5), [1], -1),
    ),
    (
        GATHER,
        "indices-normalised",
        "makes negative indices positive in place",
        _indices_normalised,
        gather_call(data(5), [1, -1]),
    ),
    (
        BROADCAST,
        "shape-padded",
        "pads the shape of data in place",
        _shape_padded,
        broadcast_call(data(3), [2, 3]),
    ),
    (
        BROADCAST,
        "target-consumed",
        "counts target_shape down in place",
        _target_consumed,
        broadcast_call(data(3), [2, 3]),
    ),
)

FAULTS = [
    *(fault for operator in OPERATORS for fault in _faults(operator)),
    *(
        Writer(operator, _MECHANISM).returns(name, text, change, call)
        for operator, name, text, change, call in _NORMALISED
    ),
]
