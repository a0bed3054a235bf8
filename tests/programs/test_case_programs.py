"""The program of a case: it runs as it stands, and hands over just what the suite would."""

import subprocess
import sys
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opcert.arrays import ELEMENT_TYPES, LAYOUTS
from opcert.backends import setup_code
from opcert.programs import case_program
from opcert.suite import DigestedArray, GeneratedArray, IndexedCase, OperatorSuite, StoredArray
from tests.faults.finding import core_suite

SUITE = core_suite()
WRONG = f"{Path(__file__).parents[1] / 'wrong_backends.py'}"


@cache
def a_case(sort: str) -> tuple[OperatorSuite, IndexedCase]:
    """Return the first case of a sort: of a layout, of a type, large, or as it is called."""
    for operator, case in SUITE:
        inputs, plain = case.inputs.values(), case.expects == "outputs" and not case.ambiguity
        large = any(isinstance(each, DigestedArray) for each in case.outputs)
        sorts = {
            "example": case.example,
            "rejected": case.violated_rule is not None and not case.ambiguity,
            "open": case.ambiguity is not None,
            "recipe": plain and any(isinstance(each, GeneratedArray) for each in inputs),
            "large output": plain and large,
            "empty": plain and not all(all(each.shape) for each in inputs),
            **{f"layout {each}": plain and each in [e.layout for e in inputs] for each in LAYOUTS},
            **{f"type {each}": plain and case.type == each for each in ELEMENT_TYPES},
        }
        if sorts[sort]:
            return operator, case
    raise AssertionError(f"no case is {sort}")


SORTS = ["example", "rejected", "open", "recipe", "large output", "empty"]
SORTS += [f"layout {each}" for each in LAYOUTS]
SORTS += [f"type {each}" for each in ELEMENT_TYPES if each not in ("i4", "u4")]


def given_by(program: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(program, found)  # noqa: S102 -- what is printed is to be run
    return found


@pytest.mark.parametrize("sort", SORTS)
def test_a_program_has_the_arrays_of_the_case_and_their_layout(sort: str) -> None:
    operator, case = a_case(sort)
    found = given_by(case_program(operator, case))
    assert found["attributes"] == case.attributes
    wanted = operator.inputs(case)
    assert list(found["inputs"]) == list(wanted)
    for name, array in found["inputs"].items():
        assert array.dtype == wanted[name].dtype
        assert array.tobytes() == wanted[name].tobytes()
        assert array.strides == wanted[name].strides
        assert array.flags.writeable
    for each, golden in zip(found.get("expected", []), case.outputs, strict=True):
        assert (each.dtype, each.shape) == (ELEMENT_TYPES[golden.type], golden.shape)


def test_arrays_that_the_pack_has_once_share_no_memory() -> None:
    operator, case = next(
        (operator, case)
        for operator, case in SUITE
        if len(case.outputs) == 1 and prod(case.outputs[0].shape) > 64
        for given in case.inputs.values()
        if not isinstance(given, GeneratedArray) and given.layout == "c"
        if given.array == _name(case.outputs[0])
    )
    program = case_program(operator, case)
    assert program.count("stored[") >= 2
    found = given_by(program)
    (output,) = found["expected"]
    assert any(array.tobytes() == output.tobytes() for array in found["inputs"].values())
    assert not any(np.shares_memory(array, output) for array in found["inputs"].values())


def _name(golden: StoredArray | DigestedArray) -> str:
    return "" if isinstance(golden, DigestedArray) else golden.array


@pytest.mark.parametrize("sort", ["example", "rejected", "recipe", "large output", "type bf16"])
def test_a_program_without_a_backend_needs_no_opcert(sort: str, tmp_path: Path) -> None:
    program = f"import sys\n\nsys.modules['opcert'] = None\n{case_program(*a_case(sort))}"
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("sort", SORTS)
def test_with_a_backend_the_call_is_made_and_judged(sort: str) -> None:
    given_by(case_program(*a_case(sort), setup_code("reference", {})))


@pytest.mark.parametrize("sort", ["example", "recipe", "large output", "layout gapped"])
def test_a_wrong_backend_fails(sort: str) -> None:
    operator, case = a_case(sort)
    with pytest.raises(AssertionError):
        given_by(case_program(operator, case, setup_code(f"{WRONG}:WrongShape", {})))


def test_a_backend_that_accepts_what_it_must_reject_fails(tmp_path: Path) -> None:
    (tmp_path / "accepts.py").write_text(
        "class Backend:\n"
        "    name, version = 'accepts', '1'\n"
        "    def run(self, operator, inputs, attributes):\n"
        "        return []\n"
    )
    backend = setup_code(f"{tmp_path / 'accepts.py'}:Backend", {})
    with pytest.raises(AssertionError, match="was accepted"):
        given_by(case_program(*a_case("rejected"), backend))


def test_nan_payloads_are_given_by_their_bits() -> None:
    cases = [(o, c) for o, c in SUITE if c.type == "bf16" and c.expects == "outputs"]
    for operator, case in cases:
        program = case_program(operator, case)
        first = next(iter(case.inputs))
        if ".view(ml_dtypes.bfloat16)" in program and "np.array([0x" in program:
            array = given_by(program)["inputs"][first]
            assert np.isnan(array.astype(np.float32)).any()
            assert array.tobytes() == operator.inputs(case)[first].tobytes()
            return
    raise AssertionError("no case has a NaN in so few elements")
