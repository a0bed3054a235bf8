"""Elements of inputs, as formulas read, compare and choose them."""

from typing import Any

import numpy as np
import pytest

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import ELEMENT_TYPES, FLOATS
from opcert.arrays.patterns import materialize
from opcert.arrays.tensor_functions import filled, vector
from opcert.errors import ExpressionError
from opcert.specification.elements import (
    FORMULA_FUNCTIONS,
    Candidates,
    Element,
    FloatElement,
    IndexedInput,
)
from opcert.specification.expressions import evaluate


def indexed(name: str, tensor: Tensor) -> IndexedInput:
    return IndexedInput(
        tensor.type, tensor.shape, tensor.values, name=name, array=materialize(tensor)
    )


DATA = indexed("data", Tensor("f32", (2, 3), (0.5, -0.0, float("nan"), 7.0, -2.0, 1.0)))
INDICES = indexed("indices", vector("i64", (2, -1, 0, 9)))


def value(text: str, *at: int, **names: object) -> Any:
    known = {"at": at, "data": DATA, "indices": INDICES, **names}
    return evaluate(text, known, FORMULA_FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("data[at]", "data[1, 2] = 1.0 (0x3f800000)"),
        ("data[[0, 1]]", "data[0, 1] = -0.0 (0x80000000)"),
        ("data[(at[0] - 1, indices[0])]", "data[0, 2] = nan (0x7fc00000)"),
        ("data[at] if data[at] > data[(1, 1)] else 0", "data[1, 2] = 1.0 (0x3f800000)"),
        ("max(data[(1, 0)], data[at])", "data[1, 0] = 7.0 (0x40e00000)"),
        ("indices[indices[0] - 1]", "indices[1] = -1 (0xffffffffffffffff)"),
    ],
)
def test_a_formula_chooses_an_element_by_indices_and_comparisons(text: str, expected: str) -> None:
    element = value(text, 1, 2)
    assert isinstance(element, Element)
    assert str(element) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("indices[0] * 2 - indices[1]", 5),
        ("wrap(indices[1], 3)", 2),
        ("data[(0, 2)] == data[(0, 2)]", False),
        ("data[(0, 1)] == 0 and not data[(0, 1)]", True),
        ("sum([indices[k] for k in range(4) if k != at[0]])", 11),
        ("int(data[(1, 0)]) // 2", 3),
        ("modulo('u8', indices[1])", 255),
        ("modulo('i8', 128 + indices[3])", -119),
        ("modulo('i64', indices[3])", 9),
    ],
)
def test_elements_are_numbers(text: str, expected: object) -> None:
    assert value(text, 1) == expected


@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
def test_elements_of_every_type_are_exact(element_type: str) -> None:
    data = indexed("data", filled(element_type, (4,)))
    elements = [value("data[at]", k, data=data) for k in range(4)]
    assert {isinstance(element, FloatElement) for element in elements} == {element_type in FLOATS}
    scalars = [element.scalar for element in elements]
    assert b"".join(scalar.tobytes() for scalar in scalars) == data.array.tobytes()
    for element, scalar in zip(elements, scalars, strict=True):
        assert element == scalar or np.isnan(scalar)


@pytest.mark.parametrize("far", [2**64 - 1, 2**63 - 1, 7])
def test_the_greatest_integers_are_exact(far: int) -> None:
    numbers = indexed("numbers", Tensor("u64", (), (far,)))
    assert value("numbers[()] * 2", numbers=numbers) == 2 * far


def test_elements_are_grouped_by_the_places_that_they_are_for() -> None:
    text = "grouped([(indices[k] % 2, indices[k]) for k in positions(indices.shape)])[at[0]]"
    assert value(text, 0) == (2, 0)
    assert value(text, 1) == (-1, 9)
    assert value(text, 2) == ()
    assert value("list(positions((2, 1)))") == ((0, 0), (1, 0))
    assert value("list(positions(()))") == ((),)


def test_candidates_are_all_of_the_elements_or_else_another() -> None:
    some, none = value("one_of([3, 4], 5)"), value("one_of([], 5)")
    assert isinstance(some, Candidates)
    assert isinstance(none, Candidates)
    assert (some, none) == ((3, 4), (5,))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("data[at[0]]", "1 indices into 'data' of rank 2"),
        ("data[(at, 0)]", "not supported between instances of 'int' and 'tuple'"),
        ("data[(0, 3)]", "data[0, 3] is out of the bounds [2, 3]"),
        ("data[(0, -1)]", "data[0, -1] is out of the bounds [2, 3]"),
        ("sum(data)", "not iterable"),
        ("[k for k in indices]", "not iterable"),
        ("data[at] + 1", "arithmetic with elements of f32; only integers have arithmetic"),
        ("1 - data[at]", "arithmetic with elements of f32; only integers have arithmetic"),
        ("-data[at]", "arithmetic with elements of f32; only integers have arithmetic"),
        ("int(data[(0, 2)])", "cannot convert float NaN to integer"),
    ],
)
def test_a_mistake_says_what_is_wrong(text: str, why: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        value(text, 1, 2)
    assert why in str(caught.value)


@pytest.mark.parametrize("text", ["sum(terms)", "sum(terms) // 3", "-(-sum(terms) // 3)"])
def test_a_sum_of_integers_knows_between_which_ends_its_partial_sums_lie(text: str) -> None:
    assert value(text, terms=[100, -3, 100, -120]).ends == (-123, 200)
