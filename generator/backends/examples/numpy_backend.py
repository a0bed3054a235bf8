"""A NumPy backend with two operators.

opcert certify --backend numpy_backend.py:Backend
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np


class RejectedError(ValueError):
    """The call violates a rule of the operator; this file found it, not NumPy."""

    rejected_by = "adapter"


def require(condition: bool, rule: str) -> None:
    """Reject the call unless `condition` holds."""
    if not condition:
        raise RejectedError(rule)


def integers(tensor: np.ndarray, name: str) -> list[int]:
    """Return the elements of a 1-D tensor of integers."""
    require(tensor.ndim == 1 and tensor.dtype.kind in "iu", f"{name} is a list of integers")
    elements: list[int] = tensor.tolist()
    return elements


def slice_8(
    data: np.ndarray,
    start: np.ndarray,
    stop: np.ndarray,
    step: np.ndarray,
    axes: np.ndarray | None = None,
) -> list[np.ndarray]:
    """Select a part of each axis in `axes`, by default of the first ones."""
    starts, stops, steps = integers(start, "start"), integers(stop, "stop"), integers(step, "step")
    places = list(range(len(starts))) if axes is None else integers(axes, "axes")
    require(len(starts) == len(stops) == len(steps) == len(places), "the lists are equally long")
    require(data.ndim > 0 and all(steps), "data has an axis and no step is 0")
    region = [slice(None)] * data.ndim
    for place, *bounds in zip(places, starts, stops, steps, strict=True):
        require(-data.ndim <= place < data.ndim, "every axis is one of data's")
        require(region[place] == slice(None), "no axis is listed twice")
        region[place] = slice(*bounds)
    return [data[tuple(region)].copy()]


def variadic_split(
    data: np.ndarray, axis: np.ndarray, split_lengths: np.ndarray
) -> list[np.ndarray]:
    """Split an axis into parts of the given lengths; a length of -1 takes the rest."""
    lengths = integers(split_lengths, "split_lengths")
    require(axis.ndim < 2 and axis.size == 1, "axis is one integer")
    (place,) = integers(axis.reshape(1), "axis")
    require(-data.ndim <= place < data.ndim, "axis is one of data's")
    if lengths.count(-1) == 1:
        lengths[lengths.index(-1)] = data.shape[place] - sum(lengths) - 1
    require(all(length >= 0 for length in lengths), "lengths are positive or one -1")
    require(sum(lengths) == data.shape[place], "the lengths sum to the axis")
    ends = np.cumsum(lengths, dtype=int)
    return [part.copy() for part in np.split(data, ends, place)[:-1]]


OPERATORS: dict[str, Callable[..., list[np.ndarray]]] = {
    "openvino/Slice-8": slice_8,
    "openvino/VariadicSplit-1": variadic_split,
}


class Backend:
    """What opcert makes once, and calls for each case."""

    name = "my-numpy"
    version = "1.0"
    support: ClassVar = {operator: {"how": "native"} for operator in OPERATORS}

    def run(
        self, operator: str, inputs: Mapping[str, np.ndarray], attributes: Mapping[str, Any]
    ) -> list[np.ndarray]:
        """Compute `operator`."""
        if operator not in OPERATORS:
            raise NotImplementedError(operator)
        return OPERATORS[operator](**inputs, **attributes)
