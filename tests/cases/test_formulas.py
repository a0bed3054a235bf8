"""Element formulas: which elements are compared, and how a difference is reported."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.element_types import ELEMENT_TYPES, Array
from opcert.arrays.patterns import materialize
from opcert.arrays.tensor_functions import filled, vector
from opcert.cases.case import Case
from opcert.cases.formulas import MAX_COMPARED, ElementFormulas, _until_many_reads
from opcert.errors import ExpressionError
from opcert.specification.files import SpecFile, read_spec
from tests.small_spec import spec

TEXT = "    text: The first rows.\n"


def take(folder: Path, element: str) -> SpecFile:
    return read_spec(spec(folder, (TEXT, f"{TEXT}    element: {element}\n")))


def difference(
    spec_file: SpecFile, data: Tensor, wrong: Callable[[Array], Any] = lambda _: None
) -> str:
    """Return the reported difference of the first rows of `data` that `wrong` has changed."""
    call = Call({"data": data}, {"count": data.shape[0]})
    inputs = {"data": materialize(data)}
    output = inputs["data"].copy()
    wrong(output)
    try:
        ElementFormulas(spec_file).check(Case("take-1/x", call, ("cases",), ()), (inputs, [output]))
    except ExpressionError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
def test_every_bit_of_every_element_type_is_compared(tmp_path: Path, element_type: str) -> None:
    spec_file = take(tmp_path, "data[at]")
    data = filled(element_type, (4, 3))
    assert not difference(spec_file, data)

    def turned(output: Array) -> None:
        bits = output.view(np.uint8).reshape(12, -1)
        bits[7, 0] ^= 1

    assert difference(spec_file, data, turned).startswith(
        "output 0: at [2, 1] the formula gives data"
    )


def test_signed_zeros_differ_by_their_bits(tmp_path: Path) -> None:
    data = Tensor("f16", (1,), (0.0,))

    def negative(output: Array) -> None:
        output[...] = -0.0

    text = "output 0: at [0] the formula gives data[0] = 0.0 (0x0000), the reference -0.0 (0x8000)"
    assert difference(take(tmp_path, "data[at]"), data, negative) == text


def test_zeros_are_compared(tmp_path: Path) -> None:
    spec_file = take(tmp_path, '"data[at] if at[0] > 0 else 0"')
    text = "output 0: at [0] the formula gives 0, the reference 5 (0x05)"
    assert difference(spec_file, vector("i8", (5, 6))) == text
    assert not difference(spec_file, vector("i8", (0, 6)))


@pytest.mark.parametrize("shape", [(70000,), (3, 5000), (5000, 1, 4), (17, 16, 1, 18)])
@pytest.mark.parametrize("place", [0, -1])
def test_corners_and_random_elements_of_large_outputs_are_compared(
    tmp_path: Path, shape: Sequence[int], place: int
) -> None:
    spec_file = take(tmp_path, "data[at]")
    data = filled("i32", tuple(shape))
    assert prod(shape) > MAX_COMPARED
    assert not difference(spec_file, data)

    def change_one(output: Array) -> None:
        output.reshape(-1)[place] ^= 1

    def change_inner(output: Array) -> None:
        output.reshape(-1)[1:-1] ^= 1

    index = str([0 if place == 0 else extent - 1 for extent in shape])
    assert f"at {index} the formula gives data{index}" in difference(spec_file, data, change_one)
    assert difference(spec_file, data, change_inner)


def test_all_elements_of_a_small_output_are_compared(tmp_path: Path) -> None:
    spec_file = take(tmp_path, "data[at]")
    for place in range(MAX_COMPARED):

        def change_one(output: Array, place: int = place) -> None:
            output.reshape(-1)[place] ^= 1

        assert difference(spec_file, filled("i32", (4, MAX_COMPARED // 4)), change_one)


@pytest.mark.parametrize(
    ("element", "data", "golden", "message"),
    [
        ("1.5", Tensor("f16", (1,)), 1.5, ""),
        ("-0.0", Tensor("f32", (1,)), -0.0, ""),
        ("0", Tensor("f32", (1,)), -0.0, "at [0] the formula gives 0, the reference -0.0"),
        ("1.3", Tensor("f16", (1,)), 1.3, "the formula gives 1.3, which f16 cannot hold"),
        ("data[at] + 1", vector("i8", (127,)), -128, "gives 128, the reference -128 (0x80)"),
        ("modulo('i8', data[at] + 1)", vector("i8", (127,)), -128, ""),
        ("data[at] < 3", Tensor("f32", (1,), (2.5,)), 1.0, ""),
        ("max(data[at], 0)", Tensor("f64", (1,), (-2.0,)), 0.0, ""),
        ("data[at] if data[at] > 0 else 0", Tensor("f64", (1,), (2.0,)), 2.0, ""),
        ("data.shape", Tensor("f32", (1,)), 1.0, "'data.shape' is (1,); expected an element of"),
    ],
)
def test_constants_comparisons_and_wrapped_integers(
    tmp_path: Path, element: str, data: Tensor, golden: float, message: str
) -> None:
    def result(output: Array) -> None:
        output[...] = golden

    text = difference(take(tmp_path, f'"{element}"'), data, result)
    assert (message in text) if message else not text


def test_a_value_that_depends_on_no_index_is_computed_once(tmp_path: Path) -> None:
    where = 'where: {n: "data.shape[0]", other: "n - 1 - at[0]", last: "n - 1"}'
    spec_file = take(tmp_path, f'"data[at] if other == last - at[0] else 0"\n    {where}')
    assert not difference(spec_file, filled("i32", (5,)))
    wrong = take(tmp_path, f'"data[other + 1]"\n    {where}')
    text = "output 0: 'data[other + 1]' cannot be evaluated: data[5] is out of the bounds [5], at"
    assert difference(wrong, filled("i32", (5,))) == f"{text} [0]"


def test_elements_of_another_type_are_a_mistake(tmp_path: Path) -> None:
    spec_file = take(tmp_path, "data[at]")
    data, inputs = filled("f16", (2,)), {"data": np.array([1, 2], np.float16)}
    case = Case("take-1/x", Call({"data": data}, {"count": 2}), ("cases",), ())
    with pytest.raises(ExpressionError, match="gives elements of 'data' of type f16; expected f32"):
        ElementFormulas(spec_file).check(case, (inputs, [np.array([1, 2], np.float32)]))


def test_the_outputs_of_each_run_are_compared(tmp_path: Path) -> None:
    data = filled("i8", (2,))
    case = Case("take-1/x", Call({"data": data}, {"count": 2}), ("cases",), ())
    right, other = np.array([1, 2], np.int8), np.array([3, 4], np.int8)
    formulas = ElementFormulas(take(tmp_path, "data[at]"))
    formulas.check(case, ({"data": right}, [right]), ({"data": other}, [other]))
    with pytest.raises(ExpressionError, match=r"data\[0\] = 3 \(0x03\), the reference 1 \(0x01\)"):
        formulas.check(case, ({"data": right}, [right]), ({"data": other}, [right]))


def test_outputs_of_several_descriptions_have_their_own_formulas(tmp_path: Path) -> None:
    spec_file = take(tmp_path, "data[at]")
    (forward,) = spec_file.spec.outputs
    reverse = forward.model_copy(
        update={"element": "data[data.shape[0] - 1 - at[0] - i]", "count": "2"}
    )
    two = spec_file.spec.model_copy(update={"outputs": (forward, reverse)})
    formulas = ElementFormulas(replace(spec_file, spec=two))
    data = np.array([1, 2, 3], np.int8)
    case = Case("take-1/x", Call({"data": filled("i8", (3,))}, {"count": 3}), ("cases",), ())
    formulas.check(case, ({"data": data}, [data, data[::-1].copy(), data[1::-1].copy()]))
    with pytest.raises(ExpressionError, match="output 2: at "):
        formulas.check(case, ({"data": data}, [data, data[::-1].copy(), data[:2].copy()]))


@pytest.mark.parametrize(("each", "compared"), [(1, 32), (10_000, 3)])
def test_elements_that_read_thousands_of_others_end_the_comparison(
    each: int, compared: int
) -> None:
    reads, seen = [0], []
    for index in _until_many_reads(iter([(k,) for k in range(32)]), reads):
        seen.append(index)
        reads[0] += each
    assert len(seen) == compared
