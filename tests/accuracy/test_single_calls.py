"""Single calls at the edges of what is allowed: what an honest kernel may give, or none may."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.element_types import ELEMENT_TYPES, Array, type_name
from opcert.cases.formulas import ElementFormulas
from opcert.run.comparison import compare_outputs
from tests.shipped import spec

INSIDE = {"normalize_variance": True, "eps": 2.0**-30, "eps_mode": "inside_sqrt"}
WINDOW = {"strides": [1], "pads_begin": [0], "pads_end": [0], "kernel": [2]}
FIRST = np.array([0])


def f32(*values: float) -> Array:
    return np.array(values, np.float32)


def f16(*values: float) -> Array:
    return np.array(values, np.float16)


def bf16(*values: float) -> Array:
    return np.array(values).astype(ELEMENT_TYPES["bf16"])


def normalised(data: Array, factor: Any = 1.0, *, ddof: int = 0) -> Array:
    centred = data.astype(np.float64) - data.astype(np.float64).mean()
    return np.asarray(factor * centred / np.sqrt(centred.var(ddof=ddof) + 2.0**-30)).astype(
        data.dtype
    )


def welford(data: Array) -> Array:
    mean = squares = data.dtype.type(0)
    for count, x in enumerate(data, 1):
        difference = x - mean
        mean += difference / data.dtype.type(count)
        squares += difference * (x - mean)
    deviation = np.sqrt(squares / data.dtype.type(data.size) + data.dtype.type(2.0**-30))
    return np.asarray((data - mean) / deviation)


def by_reciprocal_of_count(data: Array) -> Array:
    share = data.dtype.type(1) / data.dtype.type(data.size)
    centred = data - data.sum() * share
    return np.asarray(
        centred / np.sqrt((centred * centred).sum() * share + data.dtype.type(2.0**-30))
    )


SMALL, TINY = f32(1e-45), f32(-1.1754942e-38)
STEPS, WIDE = f32(1, 2, 4, 9), f16(300, -300, 100, -50)
ROW = f32(-1e38, 0, 1e38)
WHOLE = np.random.default_rng(5).integers(1, 5, 16).astype(np.float64)
# Operator, inputs, attributes, output, and whether it is allowed.
CALLS: dict[str, tuple[str, dict[str, Array], dict[str, Any], Array, bool]] = {
    # Subnormal operands may count as zeros, and so may results below the least normal number.
    "greatest subnormal": ("Maximum-1", {"a": SMALL, "b": TINY}, {}, TINY, True),
    "flushed products": (
        "MatMul-1",
        {"a": f32(*[1e-20] * 64), "b": f32(*[1e-19] * 64)},
        {},
        f32(0).reshape(()),
        True,
    ),
    "flushed partial sum": (
        "ReduceSum-1",
        {"data": f32(1.5e-38, -1.4e-38, 1.3e-38), "axes": FIRST},
        {},
        f32(1.3e-38).reshape(()),
        True,
    ),
    "flushed differences": (
        "MVN-6",
        {"data": f32(1.5e-38, 1.4e-38), "axes": FIRST},
        INSIDE,
        f32(0, 0),
        True,
    ),
    "infinity times a flushed operand": (
        "Multiply-1",
        {"a": f32(np.inf), "b": f32(1e-39)},
        {},
        f32(np.nan),
        True,
    ),
    "zero times a flushed operand": (
        "Multiply-1",
        {"a": f32(-1e-40), "b": f32(0)},
        {},
        f32(0),
        True,
    ),
    "zero times a negative number": ("Multiply-1", {"a": f32(-1), "b": f32(0)}, {}, f32(0), False),
    # Forms as tight as the document's.
    "mean by a reciprocal": (
        "MVN-6",
        {"data": f32(*[1] * 41), "axes": FIRST},
        INSIDE,
        by_reciprocal_of_count(f32(*[1] * 41)),
        True,
    ),
    "Welford": ("MVN-6", {"data": WHOLE, "axes": FIRST}, INSIDE, welford(WHOLE), True),
    "truncated mean": (
        "ReduceMean-1",
        {"data": bf16(1, 2), "axes": FIRST},
        {},
        bf16(1.41).reshape(()),
        False,
    ),
    # The variance is a mean of squares.
    "variance": ("MVN-6", {"data": STEPS, "axes": FIRST}, INSIDE, normalised(STEPS), True),
    "variance of n - 1": (
        "MVN-6",
        {"data": STEPS, "axes": FIRST},
        INSIDE,
        normalised(STEPS, ddof=1),
        False,
    ),
    "factors": (
        "MVN-6",
        {"data": STEPS, "axes": FIRST},
        INSIDE,
        normalised(STEPS, np.array([0.55, 0.9, 0.7, 0.6])),
        False,
    ),
    # An intermediate result that overflows.
    "divided by infinity": ("MVN-6", {"data": WIDE, "axes": FIRST}, INSIDE, f16(0, 0, 0, 0), True),
    "twice the right result": (
        "MVN-6",
        {"data": WIDE, "axes": FIRST},
        INSIDE,
        normalised(WIDE, 2.0),
        False,
    ),
    "hyperbolic tangent of an overflow": ("Tanh-1", {"data": f16(4e4)}, {}, f16(-1), False),
    "softmax of a wide row": ("Softmax-8", {"data": ROW}, {"axis": 0}, f32(0.3, 0.3, 0.3), False),
    # Units are those of the type in which a kernel computes, and powers are not negative.
    "power of f16, two units off": ("Exp-1", {"data": f16(-13)}, {}, f16(40 * 2.0**-24), False),
    "negative power": ("Exp-1", {"data": f16(-20)}, {}, f16(-1.2e-7), False),
    # A NaN may be dropped, but makes no other number.
    "bound for NaN": ("Clamp-1", {"data": f32(np.nan)}, {"min": -1.0, "max": 1.0}, f32(1), True),
    "NaN for NaN": ("Clamp-1", {"data": f32(np.nan)}, {"min": -1.0, "max": 1.0}, f32(np.nan), True),
    "other number for NaN": (
        "Clamp-1",
        {"data": f32(np.nan)},
        {"min": -1.0, "max": 1.0},
        f32(7),
        False,
    ),
    "window with NaN": (
        "MaxPool-1",
        {"data": f32(np.nan, 1)[None, None]},
        WINDOW,
        f32(1)[None, None],
        True,
    ),
}


@cache
def formulas(name: str) -> ElementFormulas:
    return ElementFormulas(spec(name))


@pytest.mark.parametrize("name", CALLS)
def test_an_output_is_allowed_or_not(name: str) -> None:
    operator, inputs, attributes, output, is_allowed = CALLS[name]
    tensors = {
        key: Tensor(type_name(array.dtype), array.shape, tuple(array.reshape(-1).tolist()))
        for key, array in inputs.items()
    }
    outputs = spec(operator).reference(
        **{key: array.copy() for key, array in inputs.items()}, **attributes
    )
    golden = formulas(operator).with_open_elements(
        Call(tensors, attributes), inputs, [np.asarray(one) for one in outputs]
    )
    difference = compare_outputs(golden, [np.asarray(output)])
    assert (difference is None) is is_allowed
