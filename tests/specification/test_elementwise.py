"""Formulas for all elements at once give what each element gives by itself."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from opcert.arrays.element_types import Array
from opcert.errors import ExpressionError
from opcert.specification.elementwise import (
    FORMULA_FUNCTIONS,
    OUTSIDE_SOURCE,
    ZERO_SOURCE,
    ElementwiseValues,
    IndexedInput,
    SourceElements,
    parse_elementwise,
    source_positions,
)
from opcert.specification.expressions import evaluate, evaluate_in, evaluation_scope

FAR = (2**64 - 1, 2**63 - 1, 7, 0)
NUMBERS = (
    "at[0] + 2 * at[1] - 3",
    "5 - at[0] * at[1]",
    "-at[0] // 2 + (at[1] - 2) // 3",
    "7 % (at[0] + 1) + (at[0] - at[1]) % 3",
    "20 // (at[1] + 1)",
    "at[0] if at[1] > 1 else -at[1]",
    "1 if at[0] == at[1] else 2 if at[0] != 2 else 3",
    "at[0] if 1 <= at[1] + 1 < 3 >= at[0] else 9",
    "4 if at[0] < 1 and at[1] < 2 or not at[0] <= 1 else 5",
    "wrap(at[0] - 1, 3) + wrap(-1, 4)",
    "max(at[0], at[1]) - min(at[1] - 1, 0, at[0])",
    "abs(at[0] - at[1])",
    "max([at[0], 1]) + max(1, 2)",
    "sum([k * 10 for k in at])",
    "prod([at[0] + 1, at[1] + 1])",
    "at[0] * 2**62 // 2**60",
    "at[0] - 2**64 + at[1] + 2**64",
    "1 if at[0] * 2**40 < 2**40 + at[1] else 0",
    "indices.values[0] if at is None else at[0]",
    "(at[0] > 0 and at[1]) if len(at) == 1 else at[1]",
)


def one_by_one(text: str, shape: Sequence[int]) -> list[int]:
    indices = product(*map(range, shape))
    return [evaluate(text, {"at": at, "indices": None}) for at in indices]


def index(shape: Sequence[int]) -> tuple[ElementwiseValues, ...]:
    return tuple(map(ElementwiseValues, np.ix_(*map(range, shape))))


def together(text: str, shape: Sequence[int], **names: object) -> object:
    return evaluate_in(
        evaluation_scope({"at": index(shape), **names}, FORMULA_FUNCTIONS), parse_elementwise(text)
    )


def numbers(value: object, shape: Sequence[int]) -> list[int]:
    assert isinstance(value, ElementwiseValues)
    flat: list[int] = np.broadcast_to(value.array, shape).reshape(-1).tolist()
    return flat


@pytest.mark.parametrize("text", NUMBERS)
@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (4, 2)])
def test_all_elements_at_once_are_what_each_is_alone(text: str, shape: tuple[int, int]) -> None:
    assert numbers(together(text, shape, indices=None), shape) == one_by_one(text, shape)


def test_a_condition_without_elements_evaluates_one_branch_only() -> None:
    assert numbers(together("axes[0] if axes else at[0]", (3,), axes=None), (3,)) == [0, 1, 2]
    assert numbers(together("at[0] if not axes or axes[9] else 0", (2,), axes=()), (2,)) == [0, 1]


def positions(text: str, shape: Sequence[int], *tensors: IndexedInput) -> list[int]:
    value = together(text, shape, **{tensor.name: tensor for tensor in tensors})
    sources: Array | None = source_positions(value)
    assert sources is not None
    flat: list[int] = np.broadcast_to(sources, shape).reshape(-1).tolist()
    return flat


DATA = IndexedInput("f32", (2, 3), name="data")
INDICES = IndexedInput("i64", (4,), (2, -1, 0, 9), name="indices", first=6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("data[at]", [0, 1, 2, 3, 4, 5]),
        ("data[(1 - at[0], at[1])]", [3, 4, 5, 0, 1, 2]),
        ("data[[0, at[1]]]", [0, 1, 2, 0, 1, 2]),
        ("data[(0, 2)]", [2] * 6),
        ("0", [ZERO_SOURCE] * 6),
        ("data[at] if at[1] > 0 else 0", [ZERO_SOURCE, 1, 2, ZERO_SOURCE, 4, 5]),
        ("indices[at[1] + at[0]]", [6, 7, 8, 7, 8, 9]),
        ("data[at] if at[0] == 0 else indices[at[1]]", [0, 1, 2, 6, 7, 8]),
        ("data[(at[0], at[1] + 1)]", [1, 2, OUTSIDE_SOURCE, 4, 5, OUTSIDE_SOURCE]),
        ("data[(at[0] - 1, at[1])]", [OUTSIDE_SOURCE, OUTSIDE_SOURCE, OUTSIDE_SOURCE, 0, 1, 2]),
        ("data[(2, at[1])]", [OUTSIDE_SOURCE] * 6),
        (
            "data[(at[0], at[1] * 2**62)]",
            [0, OUTSIDE_SOURCE, OUTSIDE_SOURCE, 3, OUTSIDE_SOURCE, OUTSIDE_SOURCE],
        ),
        ("data[(indices[0] * 2**64, at[1])]", [OUTSIDE_SOURCE] * 6),
        ("data[(0, wrap(indices[at[1]], 3))]", [2, 2, 0, 2, 2, 0]),
        ("data[(0, indices[at[1]])] if indices[at[1]] >= 0 else 0", [2, ZERO_SOURCE, 0] * 2),
        ("data[(0, (indices[at[1]] if at[1] > 0 else 0) + 1)]", [1, 0, 1] * 2),
    ],
)
def test_an_element_of_an_input_has_a_position(text: str, expected: list[int]) -> None:
    assert positions(text, (2, 3), DATA, INDICES) == expected


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("far", FAR)
def test_the_greatest_integers_are_exact(rank: int, far: int) -> None:
    shape = (1,) * rank
    indices = IndexedInput("u64", shape, (far,), name="indices", first=6)
    at = "at" if rank else "()"
    assert positions(f"data[(0, indices[{at}] - {far})]", shape, DATA, indices) == [0]
    limited = f"data[(1, indices[{at}])] if -3 <= indices[{at}] < 3 else 0"
    assert positions(limited, shape, DATA, indices) == [3 if far == 0 else ZERO_SOURCE]
    assert numbers(together(f"indices[{at}] // 2", shape, indices=indices), shape) == [far // 2]


def test_elements_of_rank_0_have_the_empty_index() -> None:
    scalar = IndexedInput("f32", (), name="data", first=3)
    assert positions("data[at]", (), scalar) == [3]
    assert positions("data[()]", (2,), scalar) == [3, 3]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("data[at[0]]", "1 indices into 'data' of rank 2"),
        ("data[(at, 0)]", "where an integer is expected"),
        ("data[at] + 1", "the elements of 'data' are not known integers"),
        ("(data[at] if at[0] > 0 else indices[at[1]]) + 1", "cannot be used as numbers"),
        ("[k for k in at if k > 0]", "can only be used in 'if … else', 'and', 'or' or 'not'"),
        ("at[0] in (0, 1)", "can only be used in 'if … else', 'and', 'or' or 'not'"),
        ("sum(data)", "not iterable"),
        ("[k for k in at[0]]", "not iterable"),
        ("at[0] + 'a'", "'a' where an integer is expected"),
    ],
)
def test_a_value_that_is_no_element_is_rejected(text: str, why: str) -> None:
    with pytest.raises(ExpressionError, match=why.replace("(", r"\(")):
        together(text, (2, 3), data=DATA, indices=INDICES)


@pytest.mark.parametrize("value", [1, 0.0, False, None, (), ElementwiseValues(np.array(0))])
def test_only_elements_and_zero_have_positions(value: object) -> None:
    assert source_positions(value) is None
    assert isinstance(DATA[0, 0], SourceElements)
