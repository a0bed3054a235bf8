"""Outputs too large to store: the reference recomputes them, and the suite has their digests."""

import shutil
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest

from opcert import certify, generate
from opcert.arrays.element_types import Array
from opcert.errors import SuiteError
from opcert.suite.format import DigestedArray, IndexedCase, StoredArray
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite
from tests.command_line import opcert
from tests.faults.finding import core_suite
from tests.few_cases import read_index
from tests.small_spec import spec
from tests.small_suite import INDEX, edit_index
from tests.small_suite import OPERATOR as SPLIT
from tests.wrong_backends import Attributes, Inputs, Right

OPERATOR = "example/Take-1"
TAKEN = "return [data[:count].copy()]"
FAULTS = {
    "zeros": "return [data[:count] * 0]",
    "fails": "raise OSError('no memory')",
    "rejects": "require(count == 0, 'take-1/count-range', 'broken')",
}
# Each returns the right bytes in another type, shape or container, or no outputs at all.
OTHER_OUTPUTS = {
    "nothing": "return []",
    "too-many": "return [data[:count].copy()] * 2",
    "other-shape": "return [data[:count].ravel()[:, None, None]]",
    "other-type": "return [data[:count].copy().view('u1')]",
    "lists": "return [data[:count].tolist()]",
    "no-list": "return None",
}


pytestmark = pytest.mark.usefixtures("few_calls")


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small valid spec and its reference, with a level of large data."""
    folder = tmp_path_factory.mktemp("specs")
    return spec(folder, ("take.py:Rows", "take.py:ManyRows")).parent


@pytest.fixture(scope="module")
def folder(specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of that spec."""
    suite = tmp_path_factory.mktemp("suites") / "suite"
    generate(suite, specs)
    return suite


def opened(folder: Path, specs: Path | None) -> OperatorSuite:
    return Suite(folder, specs).operators[OPERATOR]


def cases_with_digests(operator: OperatorSuite) -> list[IndexedCase]:
    """Return the cases of which the suite stores only digests of outputs."""
    cases = operator.cases.values()
    return [case for case in cases if any(isinstance(o, DigestedArray) for o in case.outputs)]


def with_reference(specs: Path, body: str) -> Path:
    """Return a copy of the specs whose reference ends with `body`."""
    folder = Path(mkdtemp(dir=specs.parent))
    shutil.copytree(specs, folder, dirs_exist_ok=True)
    text = (folder / "take.py").read_text()
    assert text.count(TAKEN) == 1
    (folder / "take.py").write_text(text.replace(TAKEN, body))
    return folder


def refusal(operator: OperatorSuite) -> str:
    case = cases_with_digests(operator)[0]
    with pytest.raises(SuiteError) as caught:
        operator.outputs(case)
    assert case.id in str(caught.value)
    return str(caught.value)


class Takes(Right):
    """Implements the made-up operator."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        data, count = inputs["data"], attributes["count"]
        if not 0 <= count <= len(data):
            raise ValueError(count)
        return [data[:count].copy()]


def test_only_large_outputs_are_stored_as_digests(folder: Path, specs: Path) -> None:
    operator = opened(folder, specs)
    for output in (output for case in operator.cases.values() for output in case.outputs):
        size = int(np.prod(output.shape)) * (1 if output.type == "i8" else 4)
        assert isinstance(output, StoredArray) == (size <= 4096)
    assert len(cases_with_digests(operator)) > 1


def test_the_reference_recomputes_large_outputs(folder: Path, specs: Path) -> None:
    operator = opened(folder, specs)
    for case in cases_with_digests(operator):
        (golden,), (output,) = case.outputs, operator.outputs(case)
        assert isinstance(golden, DigestedArray)
        assert output.shape == golden.shape
        assert sha256(output.tobytes()).hexdigest() == golden.sha256
        assert operator.inputs(case)["data"].tobytes().startswith(output.tobytes())
        (other,) = operator.inverted_data_outputs(case)
        assert other.tobytes() == bytes(255 - byte for byte in output.tobytes())


def test_a_suite_with_digests_certifies_and_finds_faults(folder: Path, specs: Path) -> None:
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
    assert {case.id for case in cases_with_digests(opened(folder, specs))} <= failed


@pytest.mark.parametrize("fault", FAULTS)
def test_a_reference_with_other_values_is_an_error(folder: Path, specs: Path, fault: str) -> None:
    message = refusal(opened(folder, with_reference(specs, FAULTS[fault])))
    assert message.endswith("; use the specs and the version of opcert that generated the suite")
    assert ("no memory" in message) == (fault == "fails")


@pytest.mark.parametrize("fault", OTHER_OUTPUTS)
def test_a_reference_with_other_outputs_is_an_error(folder: Path, specs: Path, fault: str) -> None:
    refusal(opened(folder, with_reference(specs, OTHER_OUTPUTS[fault])))


def test_without_its_spec_the_error_names_the_option(folder: Path) -> None:
    with pytest.raises(SuiteError, match=r"no spec of example/Take-1.* by --specs"):
        opened(folder, None).outputs(cases_with_digests(opened(folder, None))[0])


def test_without_its_spec_the_rest_of_the_suite_can_be_read(folder: Path) -> None:
    operator = opened(folder, None)
    large = {case.id for case in cases_with_digests(operator)}
    for case in operator.cases.values():
        operator.inputs(case)
        if case.id not in large:
            operator.outputs(case)


def test_the_command_line_needs_the_spec_and_its_reference(folder: Path, specs: Path) -> None:
    command = "certify", "--backend", f"{__file__}:Takes", "--suite", folder
    opcert(*command, "--specs", specs, exits=0)
    other = with_reference(specs, FAULTS["zeros"])
    for more, text in (((), "by --specs"), (("--specs", other), "which are not stored")):
        result = opcert(*command, *more, exits=2)
        assert text in result.stderr.replace("\n", " ")


def test_a_stored_output_is_read_from_the_pack_even_if_others_are_recomputed(
    tmp_path: Path,
) -> None:
    """The offset moves by one byte; the reference would give the original elements."""
    shutil.copytree(core_suite().folder, tmp_path, dirs_exist_ok=True)
    cases = read_index((tmp_path / INDEX).read_bytes())["cases"]
    number, position = next(
        (n, i)
        for n, case in enumerate(cases)
        for i, output in enumerate(case.get("outputs", ()))
        if "array" in output and any("array" not in other for other in case["outputs"])
    )

    def shift_offset(index: Any) -> None:
        index["cases"][number]["outputs"][position]["offset"] += 1

    edit_index(tmp_path, shift_offset)
    operator = Suite(tmp_path).operators[SPLIT]
    case = list(operator.cases.values())[number]
    stored = case.outputs[position]
    assert isinstance(stored, StoredArray)
    start = stored.offset
    expected = operator.pack[start : start + operator.outputs(case)[position].nbytes]
    assert operator.outputs(case)[position].tobytes() == expected
