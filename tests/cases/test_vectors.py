"""Vectors: golden outputs are the reference's, in memory of their own, checked against the spec."""

from pathlib import Path

import numpy as np
import pytest

from opcert.arrays.element_types import ELEMENT_TYPES, FLOATS
from opcert.cases.generation import generate_cases
from opcert.cases.vectors import Vector, make_vectors
from opcert.errors import SpecError
from opcert.specification.files import read_spec
from tests.roles.made_up import write_spec
from tests.shipped import cases, each_spec_at_length, vectors

pytestmark = pytest.mark.usefixtures("few_calls")


@each_spec_at_length
def test_every_case_has_its_vector_with_what_the_call_states(name: str) -> None:
    assert [vector.case for vector in vectors(name)] == list(cases(name))
    for vector in vectors(name):
        tensors = vector.case.call.inputs
        assert list(vector.inputs) == list(tensors)
        assert vector.case.violated_rule is None or vector.outputs == []
        for argument, tensor in tensors.items():
            array, dtype = vector.inputs[argument], ELEMENT_TYPES[tensor.type]
            assert (array.dtype, array.shape) == (dtype, tensor.shape)
            if tensor.values is not None:
                exact = [float(v) if tensor.type in FLOATS else v for v in tensor.values]
                # NumPy may change the payload of a NaN.
                is_number = [v == v for v in tensor.values]  # noqa: PLR0124
                expected = np.array(exact, dtype)[is_number]
                assert array.reshape(-1)[is_number].tobytes() == expected.tobytes()


@each_spec_at_length
def test_a_case_shares_unchanged_arrays_with_its_baseline(name: str) -> None:
    known = {vector.case.id: vector for vector in vectors(name)}
    for vector in vectors(name):
        if vector.case.baseline is not None:
            baseline = known[vector.case.baseline]
            for argument, tensor in vector.case.call.inputs.items():
                unchanged = baseline.case.call.inputs.get(argument) == tensor
                assert (baseline.inputs.get(argument) is vector.inputs[argument]) == unchanged


@each_spec_at_length
def test_unrelated_cases_share_no_arrays(name: str) -> None:
    valid = [vector for vector in vectors(name) if vector.case.baseline is None]
    arrays = [id(array) for each in valid for array in (*each.inputs.values(), *each.outputs)]
    assert len(arrays) == len(set(arrays))


SPEC = """\
operator: made/Flip
slug: flip
version: 1
document: {title: x, version: "1"}
reference: flip.py:flip
types: {T: [f32, i8]}
inputs: [{name: data, role: data, type: T, rank: [1, 1], text: x}]
attributes: [{name: axis, type: int, required: true, value: "0", text: x}]
outputs: [{name: out, type: T, shape: data.shape, text: x}]
rules:
  - {id: axis-range, kind: requirement, clause: x, text: x, holds: axis == 0}
  - {id: same, kind: behaviour, clause: x, text: x, holds: "True"}
examples:
  - {id: example, clause: x, text: x, inputs: {data: "i8[3] 1 2 3"}, attributes: {axis: 0},
     outputs: ["i8[3] 3 2 1"]}
"""
RIGHT = """
class Broken(ValueError):
    rule = "flip/axis-range"

def flip(data, axis):
    if axis != 0:
        raise Broken("axis")
    return [data[::-1].copy()]
"""


def made_up(folder: Path, reference: str = RIGHT, spec: str = SPEC) -> list[Vector]:
    """The vectors of a made-up operator with a reference of its own."""
    spec_file = read_spec(write_spec(folder, "flip", spec, reference))
    return make_vectors(spec_file, generate_cases(spec_file, "core", 0))


def mistake(folder: Path, reference: str = RIGHT, spec: str = SPEC) -> str:
    with pytest.raises(SpecError) as caught:
        made_up(folder, reference, spec)
    assert f"{folder / 'flip.yaml'}:" in str(caught.value)
    return str(caught.value)


def test_a_right_reference_is_accepted(tmp_path: Path) -> None:
    vectors = made_up(tmp_path)
    assert vectors[0].outputs[0].tolist() == [3, 2, 1]
    assert {vector.case.violated_rule for vector in vectors} == {None, "flip/axis-range"}


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ("if axis != 0", "if True", "rejects a valid call: Broken: axis"),
        (
            "if axis != 0",
            "if axis > 0",
            "accepts this call; expected RuleBroken('flip/axis-range'",
        ),
        ("flip/axis-range", "flip/same", "names flip/same; expected RuleBroken('flip/axis-range'"),
        (
            'Broken("axis")',
            'Broken("axis") if axis > 0 else IndexError("no axis")',
            "raises IndexError: no axis; expected RuleBroken('flip/axis-range'",
        ),
        ("data[::-1]", "data[1:]", "the reference returns i8[2]; the spec declares i8[3]"),
        ("data[::-1]", "data[::-1].astype('f8')", "the reference returns f64[3]"),
        ("[data[::-1].copy()]", "[]", "the reference returns no outputs"),
        ("[data[::-1].copy()]", "data[::-1].copy()", "returns ndarray; expected a list of arrays"),
        ("return [", "data.sort(); data[0] += 1; return [", "writes to its input 'data'"),
        ("data[::-1]", "data", "output 0 of the example is [3, 2, 1], of the reference [1, 2, 3]"),
    ],
)
def test_a_reference_that_contradicts_the_spec_is_a_mistake_of_it(
    tmp_path: Path, right: str, wrong: str, expected: str
) -> None:
    assert RIGHT.count(right) == 1
    assert expected in mistake(tmp_path, RIGHT.replace(right, wrong))


@pytest.mark.parametrize(
    ("right", "wrong"), [("if axis != 0", "if False"), ("rule = ", "other = ")]
)
def test_a_reference_need_not_name_a_requirement(tmp_path: Path, right: str, wrong: str) -> None:
    assert len(made_up(tmp_path, RIGHT.replace(right, wrong))) == len(made_up(tmp_path))


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ('"True"', "'outputs[0].size == 0'", "the outputs of the reference contradict same"),
        ("i8[3] 3 2 1", "i8[4]", "the example gives i8[4], the reference i8[3]"),
    ],
)
def test_a_spec_that_contradicts_the_outputs_is_a_mistake(
    tmp_path: Path, right: str, wrong: str, expected: str
) -> None:
    assert SPEC.count(right) == 1
    assert expected in mistake(tmp_path, spec=SPEC.replace(right, wrong))


def test_the_mistakes_at_all_places_are_reported_together(tmp_path: Path) -> None:
    text = mistake(tmp_path, RIGHT.replace("if axis != 0", "if axis == 0"))
    assert "flip/example: the reference rejects" in text
    assert "the reference rejects a valid call" in text
    assert "accepts this call; expected RuleBroken('flip/axis-range', …)" in text
