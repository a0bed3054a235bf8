"""Wrong ways to concatenate."""

from collections.abc import Callable
from functools import partial

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import Compute, rejecting, right
from tests.operators import joining
from tests.operators.planted import misreading, taking

OPERATOR = "openvino/Concat-1"


_with_axis = partial(misreading, OPERATOR, "axis")


def _repaired(repair: Callable[[list[Array]], list[Array]]) -> Compute:
    """Return a backend that makes tensors which can be joined of any tensors."""
    return misreading(OPERATOR, "inputs", lambda call: repair(call["inputs"]))


def _squeezed(tensors: list[Array]) -> list[Array]:
    rank = max(array.ndim for array in tensors)
    return [array.reshape((1,) * (rank - array.ndim) + array.shape) for array in tensors]


def _padded(tensors: list[Array]) -> list[Array]:
    first = tensors[0]
    if any(array.ndim != first.ndim for array in tensors):
        return tensors
    return [np.resize(array, first.shape) for array in tensors]


FAULTS: dict[str, Compute] = {
    **joining.faults(OPERATOR, "inputs", "axis"),
    "types-converted": _repaired(lambda ts: [array.astype(ts[0].dtype) for array in ts]),
    "ranks-extended": _repaired(_squeezed),
    "shapes-accepted": _repaired(_padded),
    "scalars-joined": _repaired(lambda ts: [np.atleast_1d(array) for array in ts]),
    "nothing-joined":
        lambda c: right(OPERATOR, c) if c.get("inputs") else [np.zeros(0, np.float32)],
    "axis-wraps": _with_axis(lambda c: c["axis"] % max(1, c["inputs"][0].ndim)),
    "axis-in-8-bits": _with_axis(lambda c: (c["axis"] + 128) % 256 - 128),
    "axis-defaults-to-0": taking(OPERATOR, lambda c: c.given(axis=c.get("axis", 0))),
    "negative-axis-rejected": rejecting(OPERATOR, lambda c, _: c["axis"] < 0),
    "empty-rejected": rejecting(OPERATOR, lambda c, _: any(t.size == 0 for t in c["inputs"][1:])),
}  # fmt: skip
