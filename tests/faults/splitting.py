"""The two splits: parts that are cut in the wrong place, and how many there are."""

from itertools import accumulate
from math import prod

import numpy as np

from tests.faults.fault import Call, Fault, Outputs, Writer, axis_of


def lengths(call: Call) -> list[int]:
    """Return the lengths of VariadicSplit as they are given."""
    return call.ints("split_lengths")


def from_the_first(call: Call, outputs: Outputs) -> Outputs:
    """Take every part from the beginning of the axis."""
    before = (slice(None),) * axis_of(call)
    return [call.data[(*before, slice(each.shape[axis_of(call)]))].copy() for each in outputs]


def equal_parts(call: Call, outputs: Outputs) -> Outputs:
    """Split evenly, as an operator with a number of parts does."""
    parts = np.array_split(call.data, len(outputs), axis_of(call)) if outputs else []
    return [part.copy() for part in parts]


def in_memory_order(call: Call, outputs: Outputs) -> Outputs:
    """Take the parts from the buffer one after the other, as is right on the first axis."""
    ends = list(accumulate(prod(each.shape) for each in outputs))
    chunks = np.split(call.data.ravel(), ends[:-1]) if outputs else []
    return [c.reshape(each.shape).copy() for c, each in zip(chunks, outputs, strict=True)]


def wrong_by_number(write: Writer) -> list[Fault]:
    """Write down backends that are wrong with many parts."""
    return [
        write.spoils("nine-parts", lambda _, out: len(out) > 8),
        write.spoils("seventeen-parts", lambda _, out: len(out) > 16),
        write.spoils("four-to-eight-parts", lambda _, out: 4 <= len(out) <= 8),
    ]
