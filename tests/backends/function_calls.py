"""Calls of functions of numbers whose results are exact in every arithmetic, with these results."""

from typing import Any, TypeAlias

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, Array
from tests.backends.calls import Call

Result: TypeAlias = tuple[Call, list[Any], str]
ROWS = [[1, 2, 4], [4, 2, 1]]
ZEROS = [[0, 0], [0, 0]]


def exact_calls(name: str) -> list[Result]:
    """Return calls with data of a type, their outputs and the types of these."""

    def array(values: Any) -> Array:
        return np.array(values).astype(ELEMENT_TYPES[name])

    def call(function: str, values: Any, result: Any, *others: Any, **attributes: Any) -> Result:
        names = ("a", "b") if others else ("data",)
        arrays = dict(zip(names, map(array, (values, *others)), strict=True))
        return (f"openvino/{function}", arrays, attributes), result, name

    def reduced(function: str, axes: Any, result: Any, **attributes: Any) -> Result:
        inputs = {"data": array(ROWS), "axes": np.array(axes, np.int64)}
        return (f"openvino/{function}", inputs, attributes), result, name

    def windowed(function: str, result: Any, **attributes: Any) -> Result:
        inputs = {"data": array([[[1, 2, 4]]])}
        if function == "Convolution-1":
            inputs["filter"] = array([[[1, 2]]])
        window = {"strides": [1], "pads_begin": [1], "pads_end": [0]}
        return (f"openvino/{function}", inputs, window | attributes), result, name

    choice = {"cond": np.array([[True], [False]]), "then": array(ROWS), "else_": array(7)}
    normalised = {"normalize_variance": True, "eps": 1e-30, "eps_mode": "outside_sqrt"}
    pooled: dict[str, Any] = {"kernel": [2]}
    return [
        call("Exp-1", ZEROS, [[1, 1], [1, 1]]),
        call("Relu-1", ROWS, ROWS),
        call("Sqrt-1", [4, 16, 0], [2, 4, 0]),
        call("Sigmoid-1", [0], [0.5]),
        call("Tanh-1", ZEROS, ZEROS),
        call("Add-1", ROWS, [[2, 4, 8], [5, 4, 5]], [1, 2, 4]),
        call("Add-1", ROWS, [[2, 4, 8], [8, 4, 2]], ROWS, auto_broadcast="none"),
        call("Add-1", ROWS, [[2, 3, 5], [5, 3, 2]], [1], auto_broadcast="pdpd"),
        call("Multiply-1", [[3], [5]], [[6, 3], [10, 5]], [2, 1]),
        call("Divide-1", [6, 9], [3, 3], [2, 3]),
        call("Maximum-1", ROWS, [[2, 2, 4], [4, 2, 2]], 2),
        (*call("Less-1", ROWS, [[1, 0, 0], [0, 0, 1]], 2)[:2], "boolean"),
        (("openvino/Select-1", choice, {}), [[1, 2, 4], [7, 7, 7]], name),
        (*call("Convert-1", ROWS, ROWS, destination_type="i16")[:2], "i16"),
        call("Clamp-1", ROWS, [[2, 2, 3], [3, 2, 2]], min=2.0, max=3.0),
        reduced("ReduceSum-1", [0], [5, 4, 5]),
        reduced("ReduceSum-1", -1, [[7], [7]], keep_dims=True),
        reduced("ReduceSum-1", [], ROWS, keep_dims=True),
        reduced("ReduceMean-1", [0], [2.5, 2, 2.5]),
        call("MatMul-1", [[1, 2]], [[5, 11]], [[1, 2], [3, 4]], transpose_b=True),
        call("MatMul-1", [1, 2], 5, [1, 2], transpose_a=True),
        call("Softmax-8", ZEROS, [[0.5, 0.5], [0.5, 0.5]]),
        windowed("Convolution-1", [[[2, 5, 10]]], dilations=[1]),
        windowed("AvgPool-1", [[[1, 1.5, 3]]], **pooled, **{"exclude_pad": True}),
        windowed("MaxPool-1", [[[1, 2, 4]]], **pooled),
        (
            (
                "openvino/MVN-6",
                {"data": array([[1, 3], [0, 8]]), "axes": np.array([1])},
                normalised,
            ),
            [[-1, 1], [-1, 1]],
            name,
        ),
    ]
