"""Recipes: they generate data too large to store, and are followed here independently."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import ELEMENT_TYPES, bits_of
from opcert.arrays.patterns import (
    MAX_STORED_BYTES,
    pattern_array,
    recipe_seed,
    seeded_array,
    with_special_values,
)
from opcert.errors import SuiteError
from opcert.suite.format import GeneratedArray
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
    assert seeded_array("u64", (5,), 1234567).tolist() == [*islice(split_mix(1234567), 5)]


@each_type
@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, (1 << 32) - 1), shape=st.sampled_from([(), (7,), (3, 4), (2, 1, 5)]))
def test_an_element_is_the_upper_bits_of_the_next_number_in_c_order(
    element_type: str, seed: int, shape: tuple[int, ...]
) -> None:
    array = seeded_array(element_type, shape, seed)
    assert (array.dtype, array.shape) == (ELEMENT_TYPES[element_type], shape)
    expected = [
        number >> (64 - WIDTHS[element_type]) for number in islice(split_mix(seed), array.size)
    ]
    assert bits_of(array).ravel().tolist() == expected


def test_the_bytes_are_the_same_on_every_machine() -> None:
    assert bits_of(seeded_array("f32", (2, 2), 7)).tolist() == [
        [number >> 32 for number in islice(split_mix(7), 2)],
        [number >> 32 for number in islice(split_mix(7), 2, 4)],
    ]
    assert seeded_array("u8", (6,), 0).tolist() == [226, 110, 6, 248, 27, 83]
    assert sha256(seeded_array("i16", (300, 7), 2**32 - 1).tobytes()).hexdigest() == (
        "a14c0f1c44f61033c773f87b6f1253b6e26a41a2a61cb966bae3e4f84fa12e80"
    )


@each_type
def test_other_seeds_give_other_data(element_type: str) -> None:
    assert len({seeded_array(element_type, (64,), seed).tobytes() for seed in range(20)}) == 20


@each_type
def test_seeded_data_has_nearly_every_value_of_its_type(element_type: str) -> None:
    bits = bits_of(seeded_array(element_type, (1 << 13,), 3))
    assert len(np.unique(bits)) > 0.9 * min(1 << WIDTHS[element_type], 1 << 13)


@each_type
def test_exactly_the_data_that_is_too_large_to_store_has_a_recipe(element_type: str) -> None:
    most = MAX_STORED_BYTES // ELEMENT_TYPES[element_type].itemsize
    stored = Tensor(element_type, (most,), pattern="any")
    larger = Tensor(element_type, (most + 1,), pattern="any")
    assert recipe_seed(stored) is None
    seed = recipe_seed(larger)
    assert seed is not None
    assert (
        pattern_array(larger).tobytes() == seeded_array(element_type, (most + 1,), seed).tobytes()
    )


def test_values_that_a_call_fixes_have_no_recipe_however_many() -> None:
    assert recipe_seed(Tensor("i64", (3000,), tuple(range(3000)))) is None


def test_another_pattern_has_another_seed() -> None:
    seeds = {recipe_seed(Tensor("i8", (5000,), pattern=str(i))) for i in range(100)}
    assert len(seeds) == 100
    assert all(seed is not None and 0 <= seed < 1 << 32 for seed in seeds)


def test_seeded_data_gets_no_special_values() -> None:
    tensor = Tensor("f32", (5000,), pattern="any")
    array = pattern_array(tensor)
    assert with_special_values({"x": array}, {"x": tensor}, [array])["x"] is array


def test_the_digests_of_seeded_data_in_the_core_suite_are_right() -> None:
    proved: set[str] = set()
    for operator, case in core_suite():
        made = {n: array for n, array in case.inputs.items() if isinstance(array, GeneratedArray)}
        fresh = {name: array for name, array in made.items() if array.sha256 not in proved}
        inputs = operator.inputs(case) if fresh else {}
        for name, array in fresh.items():
            assert sha256(inputs[name].tobytes()).hexdigest() == array.sha256
            proved.add(array.sha256)
    assert len(proved) > 100


def test_a_pack_has_no_data_that_a_recipe_could_generate() -> None:
    for operator, case in core_suite():
        for name in case.data_inputs:
            given = case.inputs[name]
            size = int(np.prod(given.shape)) * ELEMENT_TYPES[given.type].itemsize
            if isinstance(given, GeneratedArray):
                assert size > MAX_STORED_BYTES
            elif size > MAX_STORED_BYTES:
                # No recipe makes data that repeats one element.
                assert len(np.unique(bits_of(operator.inputs(case)[name]))) == 1


def test_seeded_data_with_another_digest_is_rejected(tmp_path: Path) -> None:
    write_suite(tmp_path, files().items())

    def another_seed(index: Any) -> None:
        made = (array for case in index["cases"] for array in case["inputs"].values())
        next(array for array in made if "seed" in array)["seed"] += 1

    edit_index(tmp_path, another_seed)
    with pytest.raises(SuiteError):
        assert [operator.inputs(case) for operator, case in Suite(tmp_path)]
