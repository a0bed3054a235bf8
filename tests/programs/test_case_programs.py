"""The program of a case runs unchanged, and passes exactly the arguments of the suite."""

from contextlib import nullcontext
from dataclasses import fields
from functools import cache
from hashlib import sha256
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.arrays.layouts import C_ORDER, start_of
from opcert.backends.lookup import setup_code
from opcert.programs import CallText, InputText, write_program
from opcert.report.explain import case_program
from opcert.suite.format import DigestedArray, GeneratedArray, IndexedCase, StoredArray
from opcert.suite.operator_suite import OperatorSuite
from tests.command_line import python
from tests.faults.finding import core_suite

SUITE = core_suite()
WRONG = f"{Path(__file__).parents[1] / 'wrong_backends.py'}"


PARTS = [field.name for field in fields(C_ORDER)]


@cache
def first_case(kind: str) -> tuple[OperatorSuite, IndexedCase]:
    """Return the first case of a kind."""
    for operator, case in SUITE:
        inputs, plain = case.inputs.values(), case.expects == "outputs" and not case.ambiguity
        large = any(isinstance(each, DigestedArray) for each in case.outputs)
        kinds = {
            "example": case.example,
            "rejected": case.violated_rule is not None and not case.ambiguity,
            "open": case.ambiguity is not None,
            "recipe": plain and any(isinstance(each, GeneratedArray) for each in inputs),
            "large output": plain and large,
            "empty": plain and not all(all(each.shape) for each in inputs),
            **{
                f"layout {each}": plain and any(each in e.layout.parts for e in inputs)
                for each in PARTS
            },
            **{f"type {each}": plain and case.type == each for each in ELEMENT_TYPES},
        }
        if kinds[kind]:
            return operator, case
    raise AssertionError(f"no case of the kind {kind}")


KINDS = ["example", "rejected", "open", "recipe", "large output", "empty"]
KINDS += [f"layout {each}" for each in PARTS]
KINDS += [f"type {each}" for each in ELEMENT_TYPES if each not in ("i4", "u4")]


def run(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(program, names)  # noqa: S102 -- a printed program is meant to be run
    return names


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_has_the_arrays_of_the_case_in_their_layouts(kind: str) -> None:
    operator, case = first_case(kind)
    names = run(case_program(operator, case))
    assert names["attributes"] == case.attributes
    expected = operator.inputs(case)
    assert list(names["inputs"]) == list(expected)
    for name, array in names["inputs"].items():
        assert array.dtype == expected[name].dtype
        assert array.tobytes() == expected[name].tobytes()
        assert array.strides == expected[name].strides
        assert start_of(array) == start_of(expected[name])
        assert array.flags.writeable
    for each, golden in zip(names.get("expected", []), case.outputs, strict=True):
        assert (each.dtype, each.shape) == (ELEMENT_TYPES[golden.type], golden.shape)


def test_arrays_stored_once_in_the_pack_share_no_memory() -> None:
    operator, case = next(
        (operator, case)
        for operator, case in SUITE
        if len(case.outputs) == 1 and prod(case.outputs[0].shape) > 64
        for given in case.inputs.values()
        if isinstance(given, StoredArray) and given.layout == C_ORDER
        if given.array == _name(case.outputs[0])
    )
    program = case_program(operator, case)
    assert program.count("stored[") >= 2
    names = run(program)
    (output,) = names["expected"]
    assert any(array.tobytes() == output.tobytes() for array in names["inputs"].values())
    assert not any(np.shares_memory(array, output) for array in names["inputs"].values())


def _name(golden: StoredArray | DigestedArray) -> str:
    return "" if isinstance(golden, DigestedArray) else golden.array


@pytest.mark.parametrize("kind", ["example", "rejected", "recipe", "large output", "type bf16"])
def test_a_program_without_a_backend_needs_no_opcert(kind: str, tmp_path: Path) -> None:
    program = f"import sys\n\nsys.modules['opcert'] = None\n{case_program(*first_case(kind))}"
    (tmp_path / "program.py").write_text(program)
    done = python("program.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_with_a_backend_the_call_is_made_and_checked(kind: str) -> None:
    run(case_program(*first_case(kind), setup_code("reference", {})))


@pytest.mark.parametrize("kind", ["example", "recipe", "large output", "layout gaps"])
def test_a_wrong_backend_fails(kind: str) -> None:
    operator, case = first_case(kind)
    with pytest.raises(AssertionError):
        run(case_program(operator, case, setup_code(f"{WRONG}:WrongShape", {})))


def test_a_backend_that_accepts_what_it_must_reject_fails(tmp_path: Path) -> None:
    (tmp_path / "named.py").write_text("NAME = 'accepts'\n")
    (tmp_path / "accepts.py").write_text(
        "from named import NAME\n\n\n"
        "class Backend:\n"
        "    name, version = NAME, '1'\n"
        "    def run(self, operator, inputs, attributes):\n"
        "        return []\n"
    )
    backend = setup_code(f"{tmp_path / 'accepts.py'}:Backend", {})
    with pytest.raises(AssertionError, match="was accepted"):
        run(case_program(*first_case("rejected"), backend))


def test_nan_payloads_are_written_as_bits() -> None:
    cases = [(o, c) for o, c in SUITE if c.type == "bf16" and c.expects == "outputs"]
    for operator, case in cases:
        program = case_program(operator, case)
        first = next(iter(case.inputs))
        if ".view(ml_dtypes.bfloat16)" in program and "np.array([0x" in program:
            array = run(program)["inputs"][first]
            assert array.tobytes() == operator.inputs(case)[first].tobytes()
            if np.isnan(array.astype(np.float32)).any():
                return
    raise AssertionError("no case has a NaN in so few elements")


@pytest.mark.parametrize("wrong", ["listed", "digested", None])
def test_a_program_checks_outputs_that_are_listed_and_others_by_their_digest(
    wrong: str | None,
) -> None:
    digest = sha256(np.zeros(2, np.int8).tobytes()).hexdigest()
    expected = {
        "listed": "np.zeros(2, np.int8)",
        "digested": f'Digest(np.dtype(np.int8), (2,), "{digest}")',
    }
    inputs = {
        name: InputText(f"np.full(2, {int(name == wrong)}, np.int8)", ("i8", (2,), "c"))
        for name in expected
    }
    calls = [
        CallText("", "an/operator", {"data": inputs[name]}, {}, [text])
        for name, text in expected.items()
    ]
    copies = SimpleNamespace(run=lambda _, inputs, __: [inputs["data"].copy()])
    program = write_program(calls, "backend = copies")
    with nullcontext() if wrong is None else pytest.raises(AssertionError):
        exec(program, {"copies": copies})  # noqa: S102 -- what is printed is to be run
