"""Memory that is not the backend's: buffers used again, views of inputs, inputs written to."""

from collections.abc import Hashable
from functools import partial
from itertools import accumulate

import numpy as np

from opcert.arrays.element_types import Array
from opcert.reference import RuleBroken
from tests.faults.fault import (
    BROADCAST,
    DML,
    GATHER,
    OPERATORS,
    SLICE,
    SPLIT,
    Call,
    Change,
    Outputs,
    Row,
    Writer,
    axis_of,
    extent_of,
    given_axis,
    of_each,
    right,
    slices,
)


def _ring(length: int) -> Change:
    """Hand out as many buffers as `length` for each form of output, then the first one again."""
    rings: dict[Hashable, list[Array]] = {}

    def placed(position: int, output: Array) -> Array:
        ring = rings.setdefault((position, output.dtype, output.shape), [])
        if len(ring) < length:
            ring.append(output)
            return output
        buffer = ring.pop(0)
        buffer[...] = output
        ring.append(buffer)
        return buffer

    return lambda _, outputs: [placed(i, each) for i, each in enumerate(outputs)]


def _arena(size: int) -> Change:
    """Hand out consecutive parts of one buffer, and begin anew at its end."""
    arena, used = np.zeros(size, np.uint8), [0]

    def placed(output: Array) -> Array:
        if output.nbytes * 2 > size:
            return output
        start = -(-used[0] // 64) * 64
        start = start if start + output.nbytes <= size else 0
        used[0] = start + output.nbytes
        place: Array = arena[start : used[0]].view(output.dtype).reshape(output.shape)
        place[...] = output
        return place

    return lambda _, outputs: [placed(each) for each in outputs]


_REUSED: tuple[Row, ...] = (
    *((Writer.keeps, f"ring-{n}", partial(_ring, n)) for n in (1, 2, 4, 8)),
    (Writer.keeps, "arena-64-kib", partial(_arena, 1 << 16)),
)


def _split_views(call: Call, outputs: Outputs) -> Outputs:
    ends = list(accumulate(each.shape[axis_of(call)] for each in outputs))
    return list(np.split(call.data, ends[:-1], axis_of(call))) if outputs else outputs


def _slice_view(call: Call, _: Outputs) -> Outputs:
    region = [slice(None)] * call.data.ndim
    for axis, *ends in slices(call):
        region[axis] = slice(*ends)
    return [call.data[tuple(region)]]


def _slice_view_if_packed(call: Call, outputs: Outputs) -> Outputs:
    view = _slice_view(call, outputs)
    return view if view[0].flags.c_contiguous else outputs


def _broadcast_view(call: Call, outputs: Outputs) -> Outputs:
    return outputs if "axes_mapping" in call else [np.broadcast_to(call.data, outputs[0].shape)]


def _gather_view(call: Call, outputs: Outputs) -> Outputs:
    """Return the one slice that a scalar index picks on the first axis, as a view."""
    index, extent = call["indices"], call.data.shape[0]
    if index.ndim or axis_of(call) != 0 or not -extent <= int(index) < extent:
        return outputs
    return [call.data[int(index)][...]]


def _identity(call: Call, outputs: Outputs) -> Outputs:
    """Return data itself where it is the output."""
    if len(outputs) != 1 or outputs[0].tobytes() != call.data.tobytes():
        return outputs
    return [call.data] if outputs[0].shape == call.data.shape else outputs


def _reshaped(call: Call, outputs: Outputs) -> Outputs:
    """Return a view of data where the output has the same elements in another shape."""
    if len(outputs) != 1 or outputs[0].tobytes() != call.data.tobytes():
        return outputs
    return [call.data.reshape(outputs[0].shape)]


def _one_buffer(_: Call, outputs: Outputs) -> Outputs:
    buffers: dict[Hashable, Array] = {}
    for each in outputs:
        buffers.setdefault(each.shape, each)[...] = each
    return [buffers[each.shape] for each in outputs]


_VIEWS: dict[str, dict[str, Change]] = {
    SPLIT: {"views": _split_views, "identity": _identity, "one-buffer": _one_buffer},
    DML: {"views": _split_views, "identity": _identity, "one-buffer": _one_buffer},
    SLICE: {"view": _slice_view, "view-if-packed": _slice_view_if_packed, "identity": _identity},
    BROADCAST: {"view": _broadcast_view, "identity": _identity, "reshaped": _reshaped},
    GATHER: {"view-of-a-row": _gather_view, "identity": _identity, "reshaped": _reshaped},
}  # fmt: skip


def _scratch(call: Call, outputs: Outputs) -> Outputs:
    if call.data.size:
        last = call.data.reshape(-1)[-1:]
        last.view(np.uint8)[...] ^= 1
    return outputs


def _when_rejecting(operator: str, call: Call) -> Outputs:
    try:
        return right(operator, call)
    except RuleBroken:
        _scratch(call, [])
        raise


def _one_call_later() -> Change:
    """Take the data of the call before for a buffer of its own."""
    kept: list[Call] = []

    def change(call: Call, outputs: Outputs) -> Outputs:
        for before in kept:
            _scratch(before, outputs)
        kept[:] = [call]
        return outputs

    return change


def _axes_normalised(call: Call, outputs: Outputs) -> Outputs:
    if "axes" in call and call["axes"].dtype.kind == "i":
        call["axes"][...] %= call.data.ndim
    return outputs


def _bounds_clamped(call: Call, outputs: Outputs) -> Outputs:
    for k, (axis, _, stop, _) in enumerate(slices(call)):
        call["stop"][k] = min(stop, call.data.shape[axis])
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
    if "axes_mapping" not in call and call.data.ndim < outputs[0].ndim:
        padding = (1,) * (outputs[0].ndim - call.data.ndim)
        call.data.shape = (*padding, *call.data.shape)
    return outputs


def _target_consumed(call: Call, outputs: Outputs) -> Outputs:
    call["target_shape"][...] = 0
    return outputs


_NORMALISED: tuple[tuple[str, str, Change], ...] = (
    (SLICE, "axes-normalised", _axes_normalised),
    (SLICE, "stop-clamped", _bounds_clamped),
    (SPLIT, "rest-filled-in", _rest_filled_in),
    (SPLIT, "axis-normalised", _axis_normalised),
    (GATHER, "axis-normalised", _axis_normalised),
    (GATHER, "indices-normalised", _indices_normalised),
    (BROADCAST, "shape-padded", _shape_padded),
    (BROADCAST, "target-consumed", _target_consumed),
)

FAULTS = [
    *of_each(OPERATORS, "reused buffers", *_REUSED),
    *(Writer(of, "aliasing").returns(*row) for of in OPERATORS for row in _VIEWS[of].items()),
    *of_each(OPERATORS, "input written", (Writer.returns, "data-as-scratch", _scratch)),
    *(Writer(of, "input written").computes("when-rejecting", partial(_when_rejecting, of))
        for of in OPERATORS),
    *of_each(OPERATORS, "input written", (Writer.keeps, "one-call-later", _one_call_later)),
    *(Writer(of, "input written").returns(name, change) for of, name, change in _NORMALISED),
]  # fmt: skip
