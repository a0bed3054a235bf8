"""Outputs too large to store: the reference gives them, and the suite's digests prove them."""

import json
import shutil
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import Result

from opcert import certify, generate
from opcert.arrays import Array
from opcert.errors import SuiteError
from opcert.suite import DigestedArray, IndexedCase, OperatorSuite, StoredArray, Suite
from tests.command_line import opcert
from tests.small_suite import INDEX, edit_index, files
from tests.small_suite import OPERATOR as SPLIT
from tests.wrong_backends import Attributes, Inputs, Right

FOLDER = Path(__file__).parents[1] / "bad_specs"
OPERATOR = "example/Take-1"
TAKEN = "return [data[:count].copy()]"
FAULTS = {
    "zeros": "return [data[:count] * 0]",
    "fails": "raise OSError('no memory')",
    "rejects": "require(count == 0, 'take-1/count-range', 'broken')",
}
# Each gives something else with the right bytes, or nothing to look at.
UNLIKE = {
    "nothing": "return []",
    "too-many": "return [data[:count].copy()] * 2",
    "other-shape": "return [data[:count].ravel()[:, None, None]]",
    "other-type": "return [data[:count].copy().view('u1')]",
    "lists": "return [data[:count].tolist()]",
    "no-list": "return None",
}


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A folder with the small valid spec, drawn with large data too, and its reference."""
    text = (FOLDER / "take.yaml").read_text()
    assert text.count("n: {three: 3, one: 1, zero: 0}") == 1
    (tmp_path / "specs").mkdir()
    shutil.copy(FOLDER / "take.py", tmp_path / "specs")
    changed = text.replace("n: {three: 3, one: 1, zero: 0}", "n: {three: 3, zero: 0, many: 5003}")
    (tmp_path / "specs" / "take.yaml").write_text(changed)
    return tmp_path / "specs"


@pytest.fixture
def folder(specs: Path, tmp_path: Path) -> Path:
    """The suite of that spec."""
    generate(tmp_path / "suite", specs)
    return tmp_path / "suite"


def opened(folder: Path, specs: Path | None) -> OperatorSuite:
    return Suite(folder, specs).operators[OPERATOR]


def digested(operator: OperatorSuite) -> list[IndexedCase]:
    """The cases that have outputs which are not stored."""
    cases = operator.index.cases
    return [case for case in cases if any(isinstance(o, DigestedArray) for o in case.outputs)]


def broken(specs: Path, instead: str) -> Path:
    """Return a copy of the specs whose reference does something else."""
    folder = Path(shutil.copytree(specs, specs.with_name("broken")))
    text = (folder / "take.py").read_text()
    assert text.count(TAKEN) == 1
    (folder / "take.py").write_text(text.replace(TAKEN, instead))
    return folder


def refusal(operator: OperatorSuite) -> str:
    case = digested(operator)[0]
    with pytest.raises(SuiteError) as caught:
        operator.outputs(case)
    assert case.id in str(caught.value)
    return str(caught.value)


class Takes(Right):
    """Runs the made-up operator, whatever folder its reference is in."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        data, count = inputs["data"], attributes["count"]
        if not 0 <= count <= len(data):
            raise ValueError(count)
        return [data[:count].copy()]


def test_the_suite_has_digests_of_large_outputs_alone(folder: Path, specs: Path) -> None:
    operator = opened(folder, specs)
    outputs = [each for case in operator.index.cases for each in case.outputs]
    for each in outputs:
        size = int(np.prod(each.shape)) * (1 if each.type == "i8" else 4)
        assert isinstance(each, StoredArray) == (size <= 4096)
    assert len(digested(operator)) > 1


def test_the_reference_gives_what_the_suite_has_the_digests_of(folder: Path, specs: Path) -> None:
    operator = opened(folder, specs)
    for case in digested(operator):
        (golden,), (output,) = case.outputs, operator.outputs(case)
        assert isinstance(golden, DigestedArray)
        assert output.shape == golden.shape
        assert sha256(output.tobytes()).hexdigest() == golden.sha256
        assert operator.inputs(case)["data"].tobytes().startswith(output.tobytes())


def test_other_data_has_other_large_outputs(folder: Path, specs: Path) -> None:
    operator = opened(folder, specs)
    for case in digested(operator):
        (output,), (other,) = operator.outputs(case), operator.inverted_data_outputs(case)
        assert other.tobytes() == bytes(255 - each for each in output.tobytes())


def test_such_a_suite_certifies_and_finds_faults(folder: Path, specs: Path) -> None:
    class LosesTheLast(Takes):
        def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
            (output,) = super().run(operator, inputs, attributes)
            if output.size > 4096:
                output.flat[-1] = 0
            return [output]

    assert certify(Takes(), folder, specs=specs).conformant
    assert certify("reference", folder, specs=specs).conformant
    certificate = certify(LosesTheLast(), folder, specs=specs)
    failed = {verdict.case for verdict in certificate.verdicts if verdict.status == "fail"}
    assert {case.id for case in digested(opened(folder, specs))} <= failed


@pytest.mark.parametrize("fault", FAULTS)
def test_a_reference_that_gives_others_is_told(folder: Path, specs: Path, fault: str) -> None:
    told = refusal(opened(folder, broken(specs, FAULTS[fault])))
    assert told.endswith("; use the specs and the opcert that generated the suite")
    assert ("no memory" in told) == (fault == "fails")


@pytest.mark.parametrize("fault", UNLIKE)
def test_a_reference_that_gives_outputs_unlike_the_declared_is_told(
    folder: Path, specs: Path, fault: str
) -> None:
    refusal(opened(folder, broken(specs, UNLIKE[fault])))


def test_without_its_spec_the_option_that_names_it_is_told(folder: Path) -> None:
    with pytest.raises(SuiteError, match=r"no spec of example/Take-1.* by --specs"):
        opened(folder, None).outputs(digested(opened(folder, None))[0])


def test_without_its_spec_the_rest_of_the_suite_can_be_read(folder: Path) -> None:
    operator = opened(folder, None)
    large = {case.id for case in digested(operator)}
    for case in operator.index.cases:
        operator.inputs(case)
        if case.id not in large:
            operator.outputs(case)


def certified(*arguments: str | Path) -> Result:
    backend = f"{__file__}:Takes"
    command = ["certify", "--backend", backend, *arguments]
    return opcert(*command)


def test_the_command_line_exits_2_without_the_spec(folder: Path) -> None:
    result = certified("--suite", folder)
    assert result.exit_code == 2
    assert "no spec of example/Take-1" in result.stderr.replace("\n", " ")
    assert "--specs" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_command_line_exits_2_with_another_reference(folder: Path, specs: Path) -> None:
    result = certified("--suite", folder, "--specs", broken(specs, FAULTS["zeros"]))
    assert result.exit_code == 2
    assert "too large to store" in result.stderr.replace("\n", " ")


def test_the_command_line_certifies_with_the_spec(folder: Path, specs: Path) -> None:
    result = certified("--suite", folder, "--specs", specs)
    assert result.exit_code == 0, result.stderr


def test_a_stored_output_beside_large_ones_is_the_packs(tmp_path: Path) -> None:
    """A golden of the pack stands, whatever the reference gives."""
    for name, data in files().items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    cases = json.loads(files()[INDEX])["cases"]
    number, at = next(
        (n, i)
        for n, case in enumerate(cases)
        for i, each in enumerate(case.get("outputs", ()))
        if "array" in each and any("array" not in other for other in case["outputs"])
    )

    def moved(index: Any) -> None:
        index["cases"][number]["outputs"][at]["offset"] += 1

    edit_index(tmp_path, moved)
    operator = Suite(tmp_path).operators[SPLIT]
    case = operator.index.cases[number]
    stored = case.outputs[at]
    assert isinstance(stored, StoredArray)
    start = stored.offset
    wanted = operator.pack[start : start + operator.outputs(case)[at].nbytes]
    assert operator.outputs(case)[at].tobytes() == wanted
