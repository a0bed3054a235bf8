"""What adapters compose on the host, and what they say where their runtime is missing."""

import sys

import numpy as np
import pytest

from opcert.backends import load
from opcert.backends.composition import (
    Picking,
    aligned,
    as_described,
    batches,
    described_lengths,
    in_range,
    mapping,
    number,
    numbers,
    region,
    signed,
    with_rest,
)
from opcert.errors import BackendError


@pytest.mark.parametrize(
    ("backend", "module", "package"),
    [
        ("torch", "torch", "torch"),
        ("jax", "jax", "jax"),
        ("array-api", "array_api_compat", "array-api-compat"),
    ],
)
def test_a_missing_package_is_told(
    backend: str, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BackendError) as error:
        load(backend)
    told = f"backend '{backend}' needs the package {package}; pip install 'opcert[{backend}]'"
    assert str(error.value) == told


def test_a_tensor_of_another_form_becomes_nested_lists_which_runtimes_reject() -> None:
    assert number(np.array(3)) == number(np.array([3])) == 3
    assert number(np.array([[3]])) == [[3]]
    assert numbers(np.array([1, 2])) == [1, 2]
    assert numbers(np.array([[1], [2]])) == [[1], [2]]


@pytest.mark.parametrize("shape", [(), (0, 1)])
def test_a_list_whose_dimensions_a_runtime_would_not_see_is_rejected(shape: tuple[int]) -> None:
    with pytest.raises(ValueError, match="one dimension"):
        numbers(np.zeros(shape, int))


def test_the_type_of_an_empty_list_is_judged_before_it_is_lost() -> None:
    assert numbers(np.zeros(0, int)) == []
    with pytest.raises(TypeError, match="no elements of float64"):
        numbers(np.zeros(0))


def test_a_lone_minus_one_takes_what_is_left() -> None:
    assert with_rest([2, -1, 1], (9, 5), 1) == [2, 2, 1]


@pytest.mark.parametrize(
    ("lengths", "axis", "handed_over"),
    [
        ([-1, -1], 0, [-1, -1]),
        ([7, -1], 0, [7, -2]),
        ([-1], 3, [-1]),
        ([-1.0, 2.0], 0, [-1.0, 2.0]),
    ],
)
def test_lengths_that_are_wrong_go_to_the_runtime(
    lengths: list[float], axis: int, handed_over: list[float]
) -> None:
    assert with_rest(lengths, (5,), axis) == handed_over


def test_slices_go_to_their_axes_as_they_are() -> None:
    lists = np.array([1, 2]), np.array([-9, 99]), np.array([-1, 3])
    whole = slice(None)
    assert region(3, *lists, np.array([-1, 0])) == (slice(2, 99, 3), whole, slice(1, -9, -1))
    with pytest.raises(ValueError, match="listed twice"):
        region(3, *lists, np.array([-1, 2]))
    with pytest.raises(ValueError, match="argument"):
        region(3, *lists, np.array([0]))
    with pytest.raises(IndexError):
        region(1, *lists, None)


def test_axes_mapping_goes_with_mode_explicit() -> None:
    assert mapping("numpy", None) is None
    assert mapping("explicit", np.array([1])) == [1]
    for mode, axes in (("numpy", np.array([1])), ("explicit", None), ("none", None)):
        with pytest.raises(ValueError, match="mode"):
            mapping(mode, axes)


def test_shapes_are_spread_over_their_axes() -> None:
    assert aligned((3, 4), [0, 2], 4) == [3, 1, 4, 1]
    for axes in ([0], [0, 4], [-1, 2], [2, 0], [2, 2], [0.0, 2.0]):
        with pytest.raises(ValueError, match="axes"):
            aligned((3, 4), axes, 4)


def test_batches_are_counted_from_the_front_or_from_the_rank_of_indices() -> None:
    data, indices = np.zeros((2, 3, 5)), np.zeros((2, 3, 1), int)
    assert [batches(data, indices, -1, count) for count in (0, 2, -1, -3)] == [0, 2, 2, 0]
    # The runtime rejects these.
    assert [batches(data, indices, axis, 2) for axis in (3, -4, 2.0)] == [0, 0, 0]
    for axis, count in ((0, 1), (2, 3), (2, -4), (2, 2**32)):
        with pytest.raises(ValueError, match="batch"):
            batches(data, indices, axis, count)
    with pytest.raises(ValueError, match="batches"):
        batches(data, indices[:1], 2, 1)


def test_a_gather_in_batches_picks_rows_of_a_table() -> None:
    picking = Picking(np.zeros((2, 3, 4, 5)), np.array([[0, -1], [9, 3]], np.int8), 2, 1)
    assert (picking.table, picking.picks, picking.output) == ((2, 3, 4, 5), 2, (2, 3, 2, 5))
    assert picking.rows.tolist() == [0, 3, 4, 7]
    assert picking.inside.tolist() == [True, True, False, True]


def test_a_gather_without_batches_leaves_the_axis_to_the_runtime() -> None:
    for axis in (7, -4, 1.0, [[0]]):
        picking = Picking(np.zeros((2, 3)), np.zeros(1, int), axis, 0)
        assert (picking.axis, picking.table) == (axis, None)
    with pytest.raises(ValueError, match="without dimensions"):
        Picking(np.zeros(()), np.zeros(1, int), 0, 0)


def test_indices_of_no_integer_type_are_left_to_the_runtime() -> None:
    indices = np.array([0.5, -9], np.float16)
    rows, inside = in_range(indices, 3)
    assert rows is indices
    assert inside.all()


def test_indices_past_64_bits_stay_beyond() -> None:
    assert signed(np.array([3, 2**64 - 1], np.uint64)).tolist() == [3, 2**63 - 1]


def test_described_outputs_have_to_be_what_comes_out() -> None:
    tensor = {"Sizes": [2, 3], "DataType": "FLOAT32"}
    assert described_lengths(2, [tensor, tensor], 0) == [2, 2]
    # The runtime rejects such an axis.
    assert described_lengths(2, [tensor, tensor], 7) == [0, 0]
    for count, axis in ((1, 0), (0, 0), (2, -1)):
        with pytest.raises(ValueError, match=r"Axis|OutputCount"):
            described_lengths(count, [tensor, tensor], axis)
    part = np.zeros((2, 3), np.float32)
    assert as_described([part], [tensor])[0] is part
    for other in (part.astype(np.int32), part[:1]):
        with pytest.raises(ValueError, match="its description"):
            as_described([other], [tensor])
