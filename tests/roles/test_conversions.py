"""Numbers that are converted: a few calls have those that a wrong conversion gets wrong."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import ELEMENT_TYPES, Array, bits_of, fits
from opcert.arrays.patterns import materialize
from opcert.cases.drawn import drawn_calls
from opcert.choices import Choices
from opcert.roles.drawing import Drawing
from opcert.roles.numbers import CONVERTED, draw_converted
from tests.shipped import spec

types = st.sampled_from(CONVERTED)


@dataclass
class Data:
    name: str = "data"


def drawn(source: str, into: str, seed: int, size: int = 256) -> Tensor:
    choices = Drawing(Choices(seed), str)
    values = draw_converted(Data(), choices, Tensor(source, (size,)), into)
    return Tensor(source, (size,), values)


@given(types, types, st.integers(0, 1 << 40))
def test_a_type_holds_what_is_drawn_of_it(source: str, into: str, seed: int) -> None:
    values = drawn(source, into, seed, 16).values or ()
    assert all(math.isnan(number) or fits(source, number) for number in values)


def through(*names: str) -> Callable[[Array], Array]:
    def convert(array: Array) -> Array:
        for name in names:
            array = array.astype(ELEMENT_TYPES[name])
        return array

    return convert


def added_in_bits(array: Array) -> Array:
    """Round f32 to bf16 without a check for NaN."""
    bits = array.view(np.uint32)
    upper = (bits + np.uint32(0x7FFF) + (bits >> 16 & 1)) >> 16
    return upper.astype(np.uint16).view(ELEMENT_TYPES["bf16"])


def of_the_upper_bits(array: Array) -> Array:
    return (array.view(np.uint32) >> 16).astype(np.uint16).view(ELEMENT_TYPES["bf16"])


def rounded_up_from_halves(array: Array) -> Array:
    return np.floor(array + np.float32(0.5)).astype(np.int64)


@pytest.mark.parametrize(
    ("source", "into", "wrong"),
    [
        ("u64", "f32", through("f64", "f32")),
        ("i64", "f64", through("f32", "f64")),
        ("u64", "f64", through("i64", "f64")),
        ("f64", "u64", through("i64", "u64")),
        ("f32", "u32", through("i32", "u32")),
        ("i32", "boolean", through("u8", "boolean")),
        ("u64", "boolean", through("u32", "boolean")),
        ("i64", "u64", through("f64", "i64", "u64")),
        ("bf16", "f32", through("f16", "f32")),
        ("f64", "f64", through("f32", "f64")),
        ("f32", "bf16", added_in_bits),
        ("f32", "bf16", of_the_upper_bits),
        ("f32", "i64", rounded_up_from_halves),
    ],
)
def test_a_wrong_conversion_differs_for_some(
    source: str, into: str, wrong: Callable[[Array], Array]
) -> None:
    arrays = [materialize(drawn(source, into, seed)) for seed in range(3)]
    with np.errstate(all="ignore"):
        pairs = [(wrong(array), through(into)(array)) for array in arrays]
        assert any(not np.array_equal(*pair, equal_nan=True) for pair in pairs)


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_nans_of_all_types_have_several_payloads(name: str) -> None:
    array = materialize(drawn(name, "f32", 0))
    with np.errstate(invalid="ignore"):
        nans = bits_of(array)[np.isnan(array)]
    assert len({*nans.tolist()}) > 4


def test_all_pairs_of_types_are_converted_about_as_often() -> None:
    calls = (call for _, call, _ in islice(drawn_calls(spec("Convert-1").spec, 7), 500))
    pairs = Counter((c.inputs["data"].type, c.attributes["destination_type"]) for c in calls)
    assert len(pairs) == len(CONVERTED) ** 2
    assert max(pairs.values()) <= 6
