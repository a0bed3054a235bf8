"""What adapters compute on the host, and the message where their runtime is not installed."""

import sys

import numpy as np
import pytest

from opcert.backends.composition import (
    GatherPlan,
    batch_rank,
    check_descriptions,
    described_lengths,
    explicit_axes,
    normalise_indices,
    replace_rest,
    slices_by_dimension,
    spread_shape,
    to_int64,
    to_list,
    to_number,
)
from opcert.backends.lookup import load
from opcert.errors import BackendError


@pytest.mark.parametrize(
    ("backend", "module", "package"),
    [
        ("torch", "torch", "torch"),
        ("jax", "jax", "jax"),
        ("array-api", "array_api_compat.numpy", "array-api-compat"),
    ],
)
def test_the_message_names_a_missing_package(
    backend: str, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BackendError) as error:
        load(backend)
    message = f"backend '{backend}' needs the package {package}; pip install 'opcert[{backend}]'"
    assert str(error.value) == message


def test_a_tensor_of_higher_rank_becomes_nested_lists_which_runtimes_reject() -> None:
    assert to_number(np.array(3)) == to_number(np.array([3])) == 3
    assert to_number(np.array([[3]])) == [[3]]
    assert to_list(np.array([1, 2])) == [1, 2]
    assert to_list(np.array([[1], [2]])) == [[1], [2]]


@pytest.mark.parametrize("shape", [(), (0, 1)])
def test_a_list_whose_rank_a_runtime_would_not_see_is_rejected(shape: tuple[int]) -> None:
    with pytest.raises(ValueError, match="one dimension"):
        to_list(np.zeros(shape, int))


def test_the_type_of_an_empty_list_is_checked_before_it_is_lost() -> None:
    assert to_list(np.zeros(0, int)) == []
    with pytest.raises(TypeError, match="no elements of float64"):
        to_list(np.zeros(0))


def test_a_single_minus_one_becomes_the_rest() -> None:
    assert replace_rest([2, -1, 1], (9, 5), 1) == [2, 2, 1]


@pytest.mark.parametrize(
    ("lengths", "axis", "passed_on"),
    [
        ([-1, -1], 0, [-1, -1]),
        ([7, -1], 0, [7, -2]),
        ([-1], 3, [-1]),
        ([-1.0, 2.0], 0, [-1.0, 2.0]),
    ],
)
def test_invalid_lengths_are_left_to_the_runtime(
    lengths: list[float], axis: int, passed_on: list[float]
) -> None:
    assert replace_rest(lengths, (5,), axis) == passed_on


def test_slices_keep_their_bounds() -> None:
    bounds = np.array([1, 2]), np.array([-9, 99]), np.array([-1, 3])
    full = slice(None)
    slices = slices_by_dimension(3, *bounds, np.array([-1, 0]))
    assert slices == (slice(2, 99, 3), full, slice(1, -9, -1))
    with pytest.raises(ValueError, match="duplicate axis"):
        slices_by_dimension(3, *bounds, np.array([-1, 2]))
    with pytest.raises(ValueError, match="argument"):
        slices_by_dimension(3, *bounds, np.array([0]))
    with pytest.raises(IndexError):
        slices_by_dimension(1, *bounds, None)


def test_axes_mapping_goes_with_mode_explicit() -> None:
    assert explicit_axes("numpy", None) is None
    assert explicit_axes("explicit", np.array([1])) == [1]
    for mode, axes in (("numpy", np.array([1])), ("explicit", None), ("none", None)):
        with pytest.raises(ValueError, match="mode"):
            explicit_axes(mode, axes)


def test_a_shape_is_spread_over_its_axes() -> None:
    assert spread_shape((3, 4), [0, 2], 4) == [3, 1, 4, 1]
    for axes in ([0], [0, 4], [-1, 2], [2, 0], [2, 2], [0.0, 2.0]):
        with pytest.raises(ValueError, match=r"axes|argument"):
            spread_shape((3, 4), axes, 4)


def test_batches_are_counted_from_the_front_or_from_the_rank_of_indices() -> None:
    data, indices = np.zeros((2, 3, 5)), np.zeros((2, 3, 1), int)
    assert [batch_rank(data, indices, -1, count) for count in (0, 2, -1, -3)] == [0, 2, 2, 0]
    # The runtime rejects these.
    assert [batch_rank(data, indices, axis, 2) for axis in (3, -4, 2.0)] == [0, 0, 0]
    for axis, count in ((0, 1), (2, 3), (2, -4), (2, 2**32)):
        with pytest.raises(ValueError, match="batch"):
            batch_rank(data, indices, axis, count)
    with pytest.raises(ValueError, match="batches"):
        batch_rank(data, indices[:1], 2, 1)


def test_a_gather_in_batches_selects_rows_of_a_table() -> None:
    plan = GatherPlan(np.zeros((2, 3, 4, 5)), np.array([[0, -1], [9, 3]], np.int8), 2, 1)
    assert (plan.table_shape, plan.output_shape) == ((24, 5), (2, 3, 2, 5))
    assert plan.rows.tolist() == [0, 3, 4, 7, 8, 11, 12, 15, 16, 19, 20, 23]
    assert plan.in_range.tolist() == [True] * 6 + [False, True] * 3


def test_a_gather_without_batches_leaves_the_axis_to_the_runtime() -> None:
    for axis in (7, -4, 1.0, [[0]]):
        plan = GatherPlan(np.zeros((2, 3)), np.zeros(1, int), axis, 0)
        assert (plan.axis, plan.table_shape) == (axis, (2, 3))
    with pytest.raises(ValueError, match="data of rank 0"):
        GatherPlan(np.zeros(()), np.zeros(1, int), 0, 0)


def test_indices_of_another_than_an_integer_type_are_left_to_the_runtime() -> None:
    indices = np.array([0.5, -9], np.float16)
    rows, in_range = normalise_indices(indices, 3)
    assert rows is indices
    assert in_range.all()


def test_indices_above_64_bits_stay_out_of_range() -> None:
    assert to_int64(np.array([3, 2**64 - 1], np.uint64)).tolist() == [3, 2**63 - 1]


def test_outputs_must_match_their_descriptions() -> None:
    description = {"Sizes": [2, 3], "DataType": "FLOAT32"}
    descriptions = [description, description]
    assert described_lengths(2, descriptions, 0) == [2, 2]
    # The runtime rejects such an axis.
    assert described_lengths(2, descriptions, 7) == [0, 0]
    for count, axis in ((1, 0), (0, 0), (2, -1)):
        with pytest.raises(ValueError, match=r"Axis|OutputCount"):
            described_lengths(count, descriptions, axis)
    output = np.zeros((2, 3), np.float32)
    check_descriptions([output], [description])
    for other in (output.astype(np.int32), output[:1]):
        with pytest.raises(ValueError, match="its description"):
            check_descriptions([other], [description])
