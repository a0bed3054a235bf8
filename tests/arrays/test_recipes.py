"""Recipes: they generate data that is not stored, and are followed here independently."""

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import ELEMENT_TYPES, bits_of, digest_of
from opcert.arrays.patterns import (
    MAX_STORED_BYTES,
    Recipe,
    is_large,
    pattern_array,
    recipe_of,
)
from opcert.errors import SuiteError
from opcert.suite.format import GeneratedArray, ListedArray, StoredArray
from opcert.suite.suite import Suite
from opcert.suite.writing import write_suite
from tests.faults.finding import core_suite
from tests.small_suite import edit_index, files

MASK = (1 << 64) - 1
WIDTHS = {
    **{name: 8 * dtype.itemsize for name, dtype in ELEMENT_TYPES.items()},
    **{"boolean": 1, "i4": 4, "u4": 4},
}
each_type = pytest.mark.parametrize("element_type", ELEMENT_TYPES)


def split_mix(seed: int) -> Iterator[int]:
    """The numbers of SplitMix64 as its authors publish it, in plain integers."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        yield mixed ^ (mixed >> 31)


def test_split_mix_gives_its_published_numbers() -> None:
    assert [*islice(split_mix(1234567), 5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_eight_byte_elements_are_the_published_numbers() -> None:
    assert Recipe(1234567).array("u64", (5,)).tolist() == [*islice(split_mix(1234567), 5)]


@each_type
@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, (1 << 32) - 1), shape=st.sampled_from([(), (7,), (3, 4), (2, 1, 5)]))
def test_an_element_is_the_upper_bits_of_the_next_number_in_c_order(
    element_type: str, seed: int, shape: tuple[int, ...]
) -> None:
    array = Recipe(seed).array(element_type, shape)
    assert (array.dtype, array.shape) == (ELEMENT_TYPES[element_type], shape)
    expected = [
        number >> (64 - WIDTHS[element_type]) for number in islice(split_mix(seed), array.size)
    ]
    assert bits_of(array).ravel().tolist() == expected


def test_the_bytes_are_the_same_on_every_machine() -> None:
    assert bits_of(Recipe(7).array("f32", (2, 2))).tolist() == [
        [number >> 32 for number in islice(split_mix(7), 2)],
        [number >> 32 for number in islice(split_mix(7), 2, 4)],
    ]
    assert Recipe(0).array("u8", (6,)).tolist() == [226, 110, 6, 248, 27, 83]
    assert sha256(Recipe(2**32 - 1).array("i16", (300, 7)).tobytes()).hexdigest() == (
        "a14c0f1c44f61033c773f87b6f1253b6e26a41a2a61cb966bae3e4f84fa12e80"
    )


@each_type
def test_other_seeds_give_other_data(element_type: str) -> None:
    assert len({Recipe(seed).array(element_type, (64,)).tobytes() for seed in range(20)}) == 20


@each_type
def test_seeded_data_has_nearly_every_value_of_its_type(element_type: str) -> None:
    bits = bits_of(Recipe(3).array(element_type, (1 << 13,)))
    assert len(np.unique(bits)) > 0.9 * min(1 << WIDTHS[element_type], 1 << 13)


@each_type
@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, (1 << 32) - 1),
    stride=st.integers(0, (1 << 32) - 1),
    shape=st.sampled_from([(), (7,), (3, 4)]),
)
def test_with_a_stride_an_element_is_the_lower_bits_of_a_state(
    element_type: str, seed: int, stride: int, shape: tuple[int, ...]
) -> None:
    array = Recipe(seed, stride).array(element_type, shape)
    states = ((seed + i * stride) * 0x9E3779B97F4A7C15 for i in range(array.size))
    expected = [state & ((1 << WIDTHS[element_type]) - 1) for state in states]
    assert bits_of(array).ravel().tolist() == expected


@each_type
def test_an_odd_stride_repeats_no_element_before_all_occurred(element_type: str) -> None:
    size = min(1 << WIDTHS[element_type], 1000)
    assert len(np.unique(bits_of(Recipe(5, 7).array(element_type, (size,))))) == size


@each_type
def test_large_data_has_no_stride(element_type: str) -> None:
    most = MAX_STORED_BYTES // ELEMENT_TYPES[element_type].itemsize
    larger = Tensor(element_type, (most + 1,), pattern="any")
    assert is_large(larger)
    assert not is_large(Tensor(element_type, (most,), pattern="any"))
    recipe = recipe_of(larger)
    assert recipe.stride is None
    assert pattern_array(larger).tobytes() == recipe.array(element_type, (most + 1,)).tobytes()


def test_values_that_a_call_fixes_have_no_recipe_however_many() -> None:
    assert not is_large(Tensor("i64", (3000,), tuple(range(3000))))


def test_another_pattern_has_another_seed() -> None:
    seeds = {recipe_of(Tensor("i8", (5000,), pattern=str(i))).seed for i in range(100)}
    assert len(seeds) == 100
    assert all(0 <= seed < 1 << 32 for seed in seeds)


def elements(record: ListedArray | GeneratedArray) -> bytes:
    """Return the elements of an array as the guide to golden data describes them."""
    if isinstance(record, ListedArray):
        return bytes.fromhex(record.bytes)
    width, repeated = WIDTHS[record.type], record.layout.repeated
    once = [1 if axis in repeated else n for axis, n in enumerate(record.shape)]
    count = prod(once)
    if record.stride is None:
        numbers = [number >> (64 - width) for number in islice(split_mix(record.seed), count)]
    else:
        states = ((record.seed + i * record.stride) * 0x9E3779B97F4A7C15 for i in range(count))
        numbers = [state & ((1 << width) - 1) for state in states]
    numbers = (
        np.broadcast_to(np.array(numbers, object).reshape(once), record.shape).ravel().tolist()
    )
    for position, digits in record.special:
        numbers[position] = int(digits, 16)
    size = ELEMENT_TYPES[record.type].itemsize
    return b"".join(number.to_bytes(size, "little") for number in numbers)


def test_arrays_that_are_not_stored_are_those_that_the_guide_describes() -> None:
    kinds: Counter[tuple[object, ...]] = Counter()
    for operator, case in core_suite():
        for record in case.inputs.values():
            if isinstance(record, StoredArray) or prod(record.shape) > 2000:
                continue
            kind: tuple[object, ...] = (record.type,)
            if isinstance(record, GeneratedArray):
                kind = (record.type, record.stride is None, not record.special)
            if kinds[kind] < 10:
                kinds[kind] += 1
                assert operator.read_array(record).tobytes() == elements(record)
    assert len(kinds) > 40


def test_large_data_has_a_digest() -> None:
    for operator, case in core_suite():
        for name, record in case.inputs.items():
            if isinstance(record, GeneratedArray):
                size = prod(record.shape) * ELEMENT_TYPES[record.type].itemsize
                assert (record.sha256 is not None) == (size > MAX_STORED_BYTES)
                assert name in case.data_inputs
                assert record.sha256 in (None, digest_of(operator.read_array(record)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"special": [[10**6, "1"]]}, "no element 1000000 with the bits 1"),
        ({"special": [[0, "f" * 16]]}, "no element 0 with the bits ffffffffffffffff"),
    ],
)
def test_special_elements_that_do_not_exist_are_an_error(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    write_suite(tmp_path, files().items())

    def edit(index: Any) -> None:
        made = (array for case in index["cases"] for array in case["inputs"].values())
        small = (array for array in made if "seed" in array and array["type"] == "f32")
        next(small).update(change)

    edit_index(tmp_path, edit)
    with pytest.raises(SuiteError, match=message):
        assert [operator.inputs(case) for operator, case in Suite(tmp_path)]


def test_listed_elements_of_another_number_are_an_error(tmp_path: Path) -> None:
    write_suite(tmp_path, files().items())

    def edit(index: Any) -> None:
        case = index["cases"][0]
        array = next(iter(case["inputs"].values()))
        case["inputs"]["InputTensor"] = {
            "type": array["type"],
            "shape": array["shape"],
            "bytes": "00",
        }

    edit_index(tmp_path, edit)
    with pytest.raises(SuiteError, match=r"1 bytes of f32\[1, 1, 6, 2\]"):
        assert [operator.inputs(case) for operator, case in Suite(tmp_path)]


def test_seeded_data_with_another_digest_is_rejected(tmp_path: Path) -> None:
    write_suite(tmp_path, files().items())

    def another_seed(index: Any) -> None:
        made = (array for case in index["cases"] for array in case["inputs"].values())
        next(array for array in made if "seed" in array)["seed"] += 1

    edit_index(tmp_path, another_seed)
    with pytest.raises(SuiteError):
        assert [operator.inputs(case) for operator, case in Suite(tmp_path)]
