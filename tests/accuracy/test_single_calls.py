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
# Every square is a multiple of a number that no type has.
HUGE = 2.0**1020 * np.array([1, 7, -2])
ROW = f32(-1e38, 0, 1e38)
WHOLE = np.random.default_rng(5).integers(1, 5, 16).astype(np.float64)
Calling = tuple[str, dict[str, Array], dict[str, Any]]


def mvn(data: Array) -> Calling:
    return "MVN-6", {"data": data, "axes": FIRST}, INSIDE


def of_pair(operator: str, a: Array, b: Array) -> Calling:
    return operator, {"a": a, "b": b}, {}


def reduced(operator: str, data: Array) -> Calling:
    return operator, {"data": data, "axes": FIRST}, {}


def of_data(operator: str, data: Array, **attributes: Any) -> Calling:
    return operator, {"data": data}, attributes


ONES = f32(*[1] * 41)
CLAMPED_NAN = of_data("Clamp-1", f32(np.nan), min=-1.0, max=1.0)
# A call, and an output of it.
ALLOWED: dict[str, tuple[Calling, Array]] = {
    # Subnormal operands may count as zeros, and so may results below the least normal number.
    "greatest subnormal": (of_pair("Maximum-1", SMALL, TINY), TINY),
    "flushed products": (of_pair("MatMul-1", f32(*[1e-20] * 64), f32(*[1e-19] * 64)), f32(0)[0]),
    "flushed partial sum": (
        reduced("ReduceSum-1", f32(1.5e-38, -1.4e-38, 1.3e-38)),
        f32(1.3e-38)[0],
    ),
    "flushed differences": (mvn(f32(1.5e-38, 1.4e-38)), f32(0, 0)),
    "infinity times a flushed operand": (
        of_pair("Multiply-1", f32(np.inf), f32(1e-39)),
        f32(np.nan),
    ),
    "zero times a flushed operand": (of_pair("Multiply-1", f32(-1e-40), f32(0)), f32(0)),
    # Forms as tight as the document's.
    "mean by a reciprocal": (mvn(ONES), by_reciprocal_of_count(ONES)),
    "Welford": (mvn(WHOLE), welford(WHOLE)),
    # The variance is a mean of squares.
    "variance": (mvn(STEPS), normalised(STEPS)),
    # An intermediate result that overflows.
    "divided by infinity": (mvn(WIDE), f16(0, 0, 0, 0)),
    "multiples past every type": (mvn(HUGE), 0 * HUGE),
    # A NaN may be dropped.
    "bound for NaN": (CLAMPED_NAN, f32(1)),
    "NaN for NaN": (CLAMPED_NAN, f32(np.nan)),
    "window with NaN": (
        of_data("MaxPool-1", f32(np.nan, 1)[None, None], **WINDOW),
        f32(1)[None, None],
    ),
}
REFUSED: dict[str, tuple[Calling, Array]] = {
    "zero times a negative number": (of_pair("Multiply-1", f32(-1), f32(0)), f32(0)),
    "truncated mean": (reduced("ReduceMean-1", bf16(1, 2)), bf16(1.41)[0]),
    "variance of n - 1": (mvn(STEPS), normalised(STEPS, ddof=1)),
    "factors": (mvn(STEPS), normalised(STEPS, np.array([0.55, 0.9, 0.7, 0.6]))),
    # An intermediate result that overflows.
    "twice the right result": (mvn(WIDE), normalised(WIDE, 2.0)),
    "hyperbolic tangent of an overflow": (of_data("Tanh-1", f16(4e4)), f16(-1)),
    "softmax of a wide row": (of_data("Softmax-8", ROW, axis=0), f32(0.3, 0.3, 0.3)),
    # Units are those of the type in which a kernel computes, and powers are not negative.
    "power of f16, two units off": (of_data("Exp-1", f16(-13)), f16(40 * 2.0**-24)),
    "negative power": (of_data("Exp-1", f16(-20)), f16(-1.2e-7)),
    # A NaN makes no other number.
    "other number for NaN": (CLAMPED_NAN, f32(7)),
}


@cache
def formulas(name: str) -> ElementFormulas:
    return ElementFormulas(spec(name))


@pytest.mark.parametrize("name", [*ALLOWED, *REFUSED])
def test_an_output_is_allowed_or_not(name: str) -> None:
    (operator, inputs, attributes), output = (ALLOWED | REFUSED)[name]
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
    assert (difference is None) is (name in ALLOWED)
