"""The functions that laws call on whole arrays."""

import numpy as np
import pytest

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.arrays.tensor_functions import (
    LAW_FUNCTIONS,
    concatenated,
    elements_of,
    part,
    reshaped,
    same,
    tensor_of_array,
    vector,
)


def test_a_tensor_of_an_array_has_its_type_and_shape() -> None:
    tensor = tensor_of_array(np.zeros((2, 3), np.float16))
    assert (tensor.type, tensor.shape, tensor.rank, tensor.values) == ("f16", (2, 3), 2, None)
    assert elements_of(tensor).shape == (2, 3)


def test_a_built_tensor_has_its_values() -> None:
    assert elements_of(vector("i8", (1, -1))).tolist() == [1, -1]


def test_tensors_are_the_same_only_with_equal_types_shapes_and_bits() -> None:
    zero = tensor_of_array(np.array([0.0], np.float32))
    assert same(zero, tensor_of_array(np.array([0.0], np.float32)))
    assert not same(zero, tensor_of_array(np.array([-0.0], np.float32)))
    assert not same(zero, tensor_of_array(np.array([0.0], np.float64)))
    assert not same(zero, tensor_of_array(np.array([[0.0]], np.float32)))
    nan = tensor_of_array(np.array([0x7FC00001], np.uint32).view(np.float32))
    assert same(nan, nan)
    assert same(vector("i8", (1,)), tensor_of_array(np.array([1], np.int8)))


def test_parts_concatenated_are_the_whole() -> None:
    whole = tensor_of_array(np.arange(12, dtype=np.int16).reshape(3, 4))
    parts = [part(whole, (0, 0), (3, 1)), part(whole, (0, 1), (3, 4))]
    assert same(concatenated(parts, 1), whole)
    assert same(concatenated(parts, -1), whole)
    assert part(whole, (1, 2), (2, 4)).shape == (1, 2)


def test_a_part_needs_a_position_for_every_axis() -> None:
    with pytest.raises(ValueError, match="shorter"):
        part(tensor_of_array(np.zeros((2, 2))), (0, 0), (1,))


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_elements_of_any_type_are_reshaped_in_order(name: str) -> None:
    tensor = Tensor(name, (2, 3), pattern="x")
    assert same(reshaped(reshaped(tensor, (3, 2)), (2, 3)), tensor)


def test_laws_call_the_functions_by_their_names() -> None:
    assert set(LAW_FUNCTIONS) == {"same", "concatenated", "part", "reshaped"}
