"""Indices, axes and sizes that are taken through a narrower integer type."""

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES
from tests.faults.calls import broadcast_call, data, dml_call, gather_call, slice_call, split_call
from tests.faults.fault import (
    BROADCAST,
    DML,
    GATHER,
    SLICE,
    SPLIT,
    Call,
    Fault,
    Outputs,
    Writer,
    right,
)

# Operator, input, type, narrower type, a call that shows it.
_NARROWED: tuple[tuple[str, str, str, str, Call], ...] = (
    (SLICE, "start", "i64", "i32", slice_call(data(5), [2**32 + 1], [9], [1])),
    (SLICE, "start", "u64", "i64", slice_call(data(5), [2**64 - 2], [9], [1], of="u64")),
    (SLICE, "stop", "i64", "i32", slice_call(data(5), [0], [2**63 - 1], [1])),
    (SLICE, "stop", "u64", "i64", slice_call(data(5), [0], [2**64 - 1], [1], of="u64")),
    (SLICE, "stop", "u8", "i8", slice_call(data(200), [0], [150], [1], of="u8")),
    (SLICE, "step", "i64", "i32", slice_call(data(5), [0], [5], [2**32 + 1])),
    (SLICE, "step", "u8", "i8", slice_call(data(5), [4], [9], [255], of="u8")),
    (SLICE, "axes", "u64", "i64", slice_call(data(5), [0], [2], [1], [2**64 - 1], of="u64")),
    (SLICE, "axes", "u8", "i8", slice_call(data(5), [0], [2], [1], [255], of="u8")),
    (GATHER, "indices", "i64", "i32", gather_call(data(5), [2**32 + 1, 1])),
    (GATHER, "indices", "u64", "i64", gather_call(data(5), [2**64 - 1, 1], of="u64")),
    (GATHER, "indices", "u16", "i16", gather_call(data(5), [2**16 - 1, 1], of="u16")),
    (GATHER, "indices", "u8", "i8", gather_call(data(200), [150, 1], of="u8")),
    (GATHER, "axis", "i64", "i32", gather_call(data(5), [1], 2**32)),
    (SPLIT, "axis", "u16", "i16", split_call(data(5), 2**16 - 1, [5], "u16")),
    (SPLIT, "axis", "u8", "i8", split_call(data(5), 255, [5], "u8")),
    (SPLIT, "split_lengths", "i64", "i32", split_call(data(5), 0, [2**32 + 5])),
    (SPLIT, "split_lengths", "u64", "i64", split_call(data(5), 0, [2**64 - 1, 5], "u64")),
    (SPLIT, "split_lengths", "u8", "i8", split_call(data(200), 0, [200], "u8")),
    (BROADCAST, "target_shape", "i64", "i32", broadcast_call(data(0), [2**32, 0])),
    (BROADCAST, "target_shape", "u8", "i8", broadcast_call(data(1), [200], of="u8")),
    (BROADCAST, "axes_mapping", "i64", "i32", broadcast_call(data(5), [5, 2], [2**32])),
)


def _narrowed(operator: str, name: str, of: str, to: str) -> Fault:
    *_, call = next(each for each in _NARROWED if each[:4] == (operator, name, of, to))
    source, narrow = ELEMENT_TYPES[of], ELEMENT_TYPES[to]

    def compute(call: Call) -> Outputs:
        found = call.inputs.get(name)
        if found is not None and found.dtype == source:
            # In i64 again, so that everything else is computed as before.
            call = call.given(**{name: found.astype(narrow).astype(np.int64)})
        return right(operator, call)

    return Writer(operator, "narrow index type").computes(
        f"{name.replace('_', '-')}-{of}-as-{to}",
        f"takes {name} of {of} through {to}",
        compute,
        call,
    )


def _products_past(operator: str, bits: int, call: Call) -> Fault:
    """Write down a backend whose counts of elements have so many bits."""
    return Writer(operator, "narrow index type").spoils(
        f"count-in-{bits}-bits",
        f"counts the elements of an output in {bits} bits",
        lambda _, outputs: any(each.size >= 1 << bits for each in outputs),
        call,
    )


def _offsets_past(operator: str, bits: int, call: Call) -> Fault:
    """Write down a backend that repeats the first element after an offset on the first axis."""

    def change(call: Call, outputs: Outputs) -> Outputs:
        before = 0
        if sum(each.shape[0] for each in outputs) != call.data.shape[0]:
            return outputs
        for each in outputs:
            if before >> bits and each.size:
                each[...] = call.data.reshape(-1)[:1]
            before += each.shape[0]
        return outputs

    return Writer(operator, "narrow index type").returns(
        f"offset-in-{bits}-bits", f"has {bits} bits for offsets on the first axis", change, call
    )


def _lengths_as_rest(call: Call) -> Call:
    """Take the greatest unsigned length for -1."""
    found = call["split_lengths"]
    if found.dtype.kind != "u":
        return call
    return call.given(split_lengths=found.astype(found.dtype.str.replace("u", "i")))


FAULTS = [
    *(_narrowed(*each[:4]) for each in _NARROWED),
    *(
        _products_past(operator, 8, call)
        for operator, call in (
            (SPLIT, split_call(data(300), 0, [300])),
            (DML, dml_call(data(300), 0, [300])),
            (SLICE, slice_call(data(300), [0], [300], [1])),
            (BROADCAST, broadcast_call(data(1), [300])),
            (GATHER, gather_call(data(3), [[1]] * 300)),
        )
    ),
    *(
        _products_past(operator, 16, call)
        for operator, call in (
            (DML, dml_call(data(70000), 0, [70000])),
            (BROADCAST, broadcast_call(data(1), [70000])),
        )
    ),
    _offsets_past(SPLIT, 7, split_call(data(140), 0, [130, 10])),
    _offsets_past(SPLIT, 8, split_call(data(270), 0, [260, 10])),
    _offsets_past(DML, 7, dml_call(data(140), 0, [130, 10])),
    _offsets_past(DML, 8, dml_call(data(270), 0, [260, 10])),
    Writer(SPLIT, "narrow index type").computes(
        "unsigned-as-signed",
        "takes unsigned lengths for signed ones, the greatest for -1",
        lambda call: right(
            SPLIT, _lengths_as_rest(call) if "split_lengths" in call.inputs else call
        ),
        split_call(data(5), 0, [2, 2**32 - 1], "u32"),
    ),
]
