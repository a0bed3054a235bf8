"""Wrong ways to concatenate."""

from collections.abc import Callable

import numpy as np

from opcert.arrays.element_types import Array
from tests.operators import joining
from tests.operators.planted import (
    Attributes,
    Compute,
    Inputs,
    rejecting,
    right,
    taking,
)

OPERATOR = "openvino/Concat-1"


def _repaired(repair: Callable[[list[Array]], list[Array]]) -> Compute:
    """Return a backend that makes tensors which can be joined of any tensors."""
    return taking(OPERATOR, lambda i, a: ({"inputs": repair(i["inputs"])}, {"axis": a["axis"]}))


def _with_axis(change: Callable[[Inputs, Attributes], int]) -> Compute:
    return taking(OPERATOR, lambda i, a: (i, {"axis": change(i, a)}))


def _squeezed(tensors: list[Array]) -> list[Array]:
    rank = max(array.ndim for array in tensors)
    return [array.reshape((1,) * (rank - array.ndim) + array.shape) for array in tensors]


def _padded(tensors: list[Array]) -> list[Array]:
    first = tensors[0]
    if any(array.ndim != first.ndim for array in tensors):
        return tensors
    return [
        array if array.shape == first.shape else np.resize(array, first.shape) for array in tensors
    ]


FAULTS: dict[str, Compute] = {
    **joining.faults(OPERATOR, "inputs", "axis"),
    "types-converted": _repaired(lambda ts: [array.astype(ts[0].dtype) for array in ts]),
    "ranks-extended": _repaired(_squeezed),
    "shapes-accepted": _repaired(_padded),
    "scalars-joined": _repaired(lambda ts: [np.atleast_1d(array) for array in ts]),
    "nothing-joined": lambda inputs, attributes: right(OPERATOR, inputs, attributes)
        if inputs.get("inputs") else [np.zeros(0, np.float32)],
    "axis-wraps": _with_axis(lambda i, a: a["axis"] % max(1, i["inputs"][0].ndim)),
    "axis-in-8-bits": _with_axis(lambda _, a: (a["axis"] + 128) % 256 - 128),
    "axis-defaults-to-0": _with_axis(lambda _, a: a.get("axis", 0)),
    "negative-axis-rejected": rejecting(OPERATOR, lambda _, a: a["axis"] < 0),
    "empty-rejected": rejecting(OPERATOR, lambda i, _: any(t.size == 0 for t in i["inputs"][1:])),
}  # fmt: skip
