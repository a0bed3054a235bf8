"""Output buffers that are used again, and outputs that are views of inputs."""

from collections.abc import Hashable
from functools import partial
from itertools import accumulate

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.axis import axis_of
from tests.faults.calls import (
    broadcast_call,
    data,
    dml_call,
    gather_call,
    slice_call,
    split_call,
    whole,
)
from tests.faults.fault import (
    BROADCAST,
    DML,
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


def _reused(operator: str) -> list[Fault]:
    write = Writer(operator, "reused buffers")
    small, large = whole(operator, data(3, 2)), whole(operator, data(40, 50))
    other = small.moving(small.data[::-1].copy())
    return [
        *(
            write.keeps(
                f"ring-{n}",
                f"hands an output's buffer out again after {n} calls of the same form",
                partial(_ring, n),
                *([small] * n),
                other,
            )
            for n in (1, 2, 4, 8)
        ),
        write.keeps(
            "arena-64-kib",
            "hands out parts of an arena of 64 KiB, again and again",
            partial(_arena, 1 << 16),
            *([large] * 8),
            large.moving(large.data[::-1].copy()),
        ),
    ]


def _split_views(operator: str) -> Compute:
    def compute(call: Call) -> Outputs:
        outputs = right(operator, call)
        ends = list(accumulate(each.shape[axis_of(call)] for each in outputs))
        return list(np.split(call.data, ends[:-1], axis_of(call))) if outputs else outputs

    return compute


def _slice_view(call: Call) -> Outputs:
    right(SLICE, call)
    axes = call.ints("axes") if "axes" in call.inputs else range(call["start"].size)
    region = [slice(None)] * call.data.ndim
    for axis, *ends in zip(axes, *map(call.ints, ("start", "stop", "step")), strict=True):
        region[axis] = slice(*ends)
    return [call.data[tuple(region)]]


def _slice_view_if_packed(call: Call) -> Outputs:
    view = _slice_view(call)
    return view if view[0].flags.c_contiguous else right(SLICE, call)


def _broadcast_view(call: Call) -> Outputs:
    outputs = right(BROADCAST, call)
    if "axes_mapping" in call.inputs:
        return outputs
    return [np.broadcast_to(call.data, outputs[0].shape)]


def _gather_view(call: Call) -> Outputs:
    """Return the one slice that a scalar index picks on the first axis, as a view."""
    outputs = right(GATHER, call)
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


_VIEWS: dict[str, tuple[tuple[str, str, Compute, Call], ...]] = {
    SPLIT: (
        ("views", "returns views of data", _split_views(SPLIT), split_call(data(4, 3), 1, [1, 2])),
    ),
    DML: (("views", "returns views of data", _split_views(DML), dml_call(data(4, 3), 1, [1, 2])),),
    SLICE: (
        ("view", "returns a view of data", _slice_view, slice_call(data(6), [5], [0], [-2])),
        (
            "view-if-packed",
            "returns a view of data where the region is packed",
            _slice_view_if_packed,
            slice_call(data(6), [1], [4], [1]),
        ),
    ),
    BROADCAST: (
        ("view", "returns a view of data", _broadcast_view, broadcast_call(data(3), [2, 3])),
    ),
    GATHER: (
        (
            "view-of-a-row",
            "returns a view of the row that a scalar index picks",
            _gather_view,
            gather_call(data(4, 3), 2),
        ),
    ),
}
_RESHAPES = {
    BROADCAST: broadcast_call(data(3), [1, 3]),
    GATHER: gather_call(data(1, 3), 0),
}


def _aliasing(operator: str) -> list[Fault]:
    write = Writer(operator, "aliasing")
    found = [write.computes(name, text, run, call) for name, text, run, call in _VIEWS[operator]]
    text = "returns data itself where nothing changes"
    found.append(write.returns("identity", text, _identity, whole(operator, data(3, 2))))
    if operator in _RESHAPES:
        text = "returns a view of data where only the shape changes"
        found.append(write.returns("reshaped", text, _reshaped, _RESHAPES[operator]))
    if operator in (SPLIT, DML):
        call = whole(operator, data(4, 2))
        call = (
            dml_call(call.data, 0, [2, 2]) if operator == DML else split_call(call.data, 0, [2, 2])
        )
        text = "returns equal parts in one buffer"
        found.append(write.returns("one-buffer", text, _one_buffer, call))
    return found


def _one_buffer(_: Call, outputs: Outputs) -> Outputs:
    buffers: dict[Hashable, Array] = {}
    for each in outputs:
        buffers.setdefault(each.shape, each)[...] = each
    return [buffers[each.shape] for each in outputs]


FAULTS = [fault for operator in OPERATORS for fault in (*_reused(operator), *_aliasing(operator))]
