"""Wrong values of references that only the element formula detects: no example and no law does."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opcert.arrays.element_types import Array
from opcert.cases.case import Case
from opcert.cases.generation import generate_cases
from opcert.cases.vectors import make_vectors
from opcert.errors import SpecError
from opcert.specification.files import SpecFile, read_spec
from tests import shipped
from tests.cases.wrong_values import MISTAKES, SHIFT, Mistake

FEW_ELEMENTS = 1500
FEW_CASES = 600

SHIFT_SPEC = """operator: example/Shift-1
slug: shift-1
version: 1
document: {title: Shift, version: "1"}
reference: shift.py:shift
roles: {chosen: 'tests.chosen:Chosen'}
types: {T: any}
inputs:
  - {name: data, role: data, type: T, rank: [1, 3], text: The tensor.}
attributes:
  - {name: axis, role: axis, of: data, negative: false, type: int, text: The axis.}
  - {name: by, role: chosen, type: int, text: How far.,
     values: {two: 2, none: 0, back: -1, far: 12}}
  - {name: fill, role: mode, type: string, one_of: [other_end, zeros], text: What follows.}
outputs:
  - name: output
    type: T
    shape: data.shape
    element: data[replace(at, axis, k % n)] if fill == 'other_end' or 0 <= k < n else 0
    where: {n: "data.shape[axis]", k: "at[axis] - by"}
    text: Data shifted.
rules:
  - {id: axis-range, from: axis.range, clause: Attributes}
  - {id: fill-word, from: fill.word, clause: Attributes}
"""
SHIFT_REFERENCE = """import numpy as np

from opcert.reference import require


def shift(data, axis, by, fill):
    require(0 <= axis < data.ndim, "shift-1/axis-range", f"axis {axis}")
    require(fill in ("other_end", "zeros"), "shift-1/fill-word", fill)
    rolled = np.roll(data, by, axis)
    k = (np.arange(data.shape[axis]) - by).reshape(-1, *[1] * (data.ndim - 1 - axis))
    inside = (k >= 0) & (k < data.shape[axis]) | (fill == "other_end")
    return [np.where(inside, rolled, np.zeros_like(data))]
"""


@cache
def shift_spec(folder: Path) -> SpecFile:
    (folder / "shift.py").write_text(SHIFT_REFERENCE)
    (folder / "Shift-1.yaml").write_text(SHIFT_SPEC)
    return read_spec(folder / "Shift-1.yaml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shift")


@cache
def spec_and_cases(operator: str, folder: Path) -> tuple[SpecFile, list[Case]]:
    """Return the spec without examples and laws, and some small, valid cases of no ambiguity."""
    if operator == SHIFT:
        spec_file = shift_spec(folder)
        cases: Sequence[Case] = generate_cases(spec_file, "core", 0)
    else:
        spec_file, cases = shipped.spec(operator), shipped.cases(operator)
    bare = spec_file.spec.model_copy(update={"examples": (), "laws": ()})
    small = [
        case
        for case in cases
        if (case.violated_rule, case.baseline, case.ambiguity, case.example) == (None,) * 4
        and all(tensor.size <= FEW_ELEMENTS for tensor in case.call.inputs.values())
    ]
    return replace(spec_file, spec=bare), small[:: 1 + len(small) // FEW_CASES]


def wrong_by(spec_file: SpecFile, wrong: Mistake) -> SpecFile:
    """Return a spec whose reference makes a mistake where it can."""

    def reference(**args: Any) -> list[Array]:
        right = spec_file.reference(**deepcopy(args))
        outputs = [np.array(array, order="C") for array in wrong(right, **args)]
        forms = [(array.dtype, array.shape) for array in right]
        assert forms == [(output.dtype, output.shape) for output in outputs]
        return outputs

    return replace(spec_file, reference=reference)


# The cases of the others take seconds to generate.
@pytest.mark.parametrize(
    ("operator", "name"),
    [
        pytest.param(
            *row, marks=() if row[0] in (SHIFT, "DML_OPERATOR_SPLIT") else pytest.mark.slow
        )
        for row in MISTAKES
    ],
)
def test_the_formula_alone_detects_a_wrong_value(operator: str, name: str, folder: Path) -> None:
    spec_file, cases = spec_and_cases(operator, folder)
    wrong = wrong_by(spec_file, MISTAKES[operator, name])
    with pytest.raises(SpecError) as caught:
        make_vectors(wrong, cases)
    (mistake,) = caught.value.mistakes
    line = Path(mistake.file).read_text().splitlines()[mistake.line - 1]
    assert line.strip().startswith("element: ")
    assert "the formula gives" in mistake.text
    plain = tuple(each.model_copy(update={"element": None}) for each in spec_file.spec.outputs)
    silent = wrong.spec.model_copy(update={"outputs": plain})
    assert len(make_vectors(replace(wrong, spec=silent), cases)) == len(cases)


@shipped.at_length("operator", sorted({(operator,) for operator, _ in MISTAKES}))
def test_the_formula_accepts_right_values(operator: str, folder: Path) -> None:
    spec_file, cases = spec_and_cases(operator, folder)
    assert len(make_vectors(wrong_by(spec_file, lambda right, **_: right), cases)) == len(cases)
