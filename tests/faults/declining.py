"""Calls that a backend declines to support, without having declared it."""

from tests.faults.calls import (
    broadcast_call,
    data,
    dml_call,
    gather_call,
    slice_call,
    split_call,
    whole,
)
from tests.faults.fault import BROADCAST, DML, GATHER, OPERATORS, SLICE, SPLIT, Writer

_MECHANISM = "undeclared"
_split, _dml, _slice, _broadcast, _gather = (
    Writer(each, _MECHANISM) for each in (SPLIT, DML, SLICE, BROADCAST, GATHER)
)

FAULTS = [
    *(
        Writer(operator, _MECHANISM).declines(
            "rank-7-declined",
            "declines data of rank 7 and more",
            lambda call, _: call.data.ndim > 6,
            whole(operator, data(2, 1, 1, 2, 1, 1, 3)),
        )
        for operator in OPERATORS
    ),
    _split.declines(
        "rest-declined",
        "declines -1 as a length",
        lambda call, _: -1 in call.ints("split_lengths"),
        split_call(data(4), 0, [1, -1]),
    ),
    _dml.declines(
        "nine-parts-declined",
        "declines more than eight outputs",
        lambda _, outputs: len(outputs) > 8,
        dml_call(data(9), 0, [1] * 9),
    ),
    _slice.declines(
        "negative-step-declined",
        "declines negative steps",
        lambda call, _: min(call.ints("step"), default=1) < 0,
        slice_call(data(4), [3], [0], [-1]),
    ),
    _broadcast.declines(
        "explicit-declined",
        "declines mode explicit",
        lambda call, _: "axes_mapping" in call.inputs,
        broadcast_call(data(4), [4, 2], [0]),
    ),
    _gather.declines(
        "batches-declined",
        "declines batch dimensions",
        lambda call, _: call.attributes.get("batch_dims", 0) != 0,
        gather_call(data(2, 3), [[0], [1]], 1, 1),
    ),
]
