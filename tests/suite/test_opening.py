"""Which suite a call is about: the core suite, one in a folder, or one generated for the call."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from opcert import certify, generate, load
from opcert.certificate.certificate import Certificate
from opcert.errors import OpcertError
from opcert.specification.files import SpecFile, read_specs_in, shipped_operators
from opcert.specs import CORE_OPERATORS
from opcert.suite import generation
from opcert.suite.generation import (
    iterate_files,
    open_certified_suite,
    open_suite,
    open_suite_of_case,
)
from opcert.suite.suite import Suite, core_suite_folder
from opcert.system import FileContents
from tests.command_line import opcert
from tests.faults.finding import core_suite
from tests.suite_of_levels import write_specs

LACKING = "openvino/Transpose-1"
SENTENCE = rf"generated the core suite of {LACKING} in \d+\.\d s"


@pytest.fixture(scope="module")
def suite() -> Suite:
    """The suite of an operator that the core suite lacks."""
    return load(operator=LACKING)


@pytest.fixture(scope="module")
def certificate(suite: Suite) -> Certificate:
    """A certificate of that suite."""
    return certify("reference", suite, operator=LACKING)


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operators whose suite would be generated."""
    operators: list[str] = []

    def record(spec_files: Sequence[SpecFile], *_: object, **__: object) -> FileContents:
        operators.extend(file.spec.operator for file in spec_files)
        return {}

    def generated_suite(spec_files: Sequence[SpecFile], *_: object) -> Suite:
        record(spec_files)
        return core_suite()

    monkeypatch.setattr(generation, "_generated", generated_suite)
    monkeypatch.setattr(generation, "iterate_files", record)
    monkeypatch.setattr(generation, "write_suite", lambda *_: None)
    return operators


def test_the_core_suite_has_the_core_operators() -> None:
    assert tuple(core_suite().manifest.operators) == CORE_OPERATORS
    assert LACKING in set(shipped_operators()) - set(CORE_OPERATORS)


@pytest.mark.parametrize("operator", [None, CORE_OPERATORS[0], "openvino/[BG]*-[18]", "no/such"])
def test_the_core_suite_serves_its_operators(operator: str | None, generated: list[str]) -> None:
    assert open_suite(operator=operator).folder == core_suite_folder()
    assert not generated


def test_a_glob_that_matches_both_kinds_gives_one_suite(generated: list[str]) -> None:
    open_suite(operator="*")
    assert generated == [file.spec.operator for file in read_specs_in(None)]


def test_commas_separate_globs(generated: list[str]) -> None:
    open_suite(operator=f"{LACKING}, openvino/Sl*-8")
    assert sorted(generated) == sorted([LACKING, "openvino/Slice-8"])


def test_a_plain_generate_writes_the_core_operators(tmp_path: Path, generated: list[str]) -> None:
    generate(tmp_path)
    assert tuple(generated) == CORE_OPERATORS


def test_generate_writes_every_shipped_operator_that_matches(
    tmp_path: Path, generated: list[str]
) -> None:
    generate(tmp_path, operator="*")
    assert sorted(generated) == sorted(shipped_operators())


@pytest.mark.slow
def test_a_generated_suite_has_the_bytes_of_generate(suite: Suite, tmp_path: Path) -> None:
    assert [*suite.operators] == [LACKING]
    generate(tmp_path / "suite", operator=LACKING)
    assert Suite(tmp_path / "suite").digest == suite.digest


def test_a_suite_of_other_specs_is_generated(tmp_path: Path) -> None:
    write_specs(tmp_path)
    assert [*load(specs=tmp_path).operators] == ["example/Take-1"]
    with pytest.raises(OpcertError, match="no operator matches 'example/Tale-1'"):
        load(specs=tmp_path, operator="example/Tale-1")


@pytest.mark.slow
def test_the_suite_of_a_certificate_is_generated_again(
    suite: Suite, certificate: Certificate
) -> None:
    assert certificate.conformant
    announced: list[str] = []
    again = open_certified_suite(certificate.suite, announce=announced.append)
    assert again.digest == suite.digest
    (sentence,) = announced
    assert re.fullmatch(SENTENCE, sentence)


@pytest.mark.parametrize("name", ["vendor/Reverse-1", LACKING])
def test_a_certificate_of_other_specs_is_compared_with_the_core_suite(
    name: str, certificate: Certificate, generated: list[str]
) -> None:
    entry = certificate.suite.model_copy(update={"specs": {name: "0" * 64}})
    assert open_certified_suite(entry).folder == core_suite_folder()
    assert not generated


def test_the_suite_of_a_case_has_the_case(generated: list[str]) -> None:
    assert open_suite_of_case("gather-8/example-1").folder == core_suite_folder()
    assert open_suite_of_case("no-such/example-1").folder == core_suite_folder()
    assert not generated
    open_suite_of_case("transpose-1/example-1")
    assert generated == [LACKING]


@pytest.mark.slow
def test_the_commands_generate_what_the_core_suite_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: dict[tuple[object, ...], FileContents] = {}

    def generated_once(spec_files: Sequence[SpecFile], *how: object) -> FileContents:
        """Generate a suite, which is that of the next command too."""
        key = (*(file.digest for file in spec_files), *how)
        if key not in kept:
            kept[key] = dict(iterate_files(spec_files, *how))  # type: ignore[arg-type]
        return kept[key]

    monkeypatch.setattr(generation, "iterate_files", generated_once)
    out = tmp_path / "results"
    for command in (
        ("certify", "--operator", LACKING, "--out", out),
        ("verify", out),
        ("report", out, "--out", tmp_path / "html"),
        ("explain", "transpose-1/example-1"),
        ("coverage", "--operator", LACKING),
        ("claim", "--from", out, "--out", tmp_path / "claim.yaml"),
        ("docs", "--operator", LACKING, "--out", tmp_path / "docs"),
    ):
        result = opcert(*command, exits=0)
        assert len(re.findall(SENTENCE, result.stderr)) == 1, command


def test_a_program_that_needs_the_arrays_of_a_generated_suite_is_refused() -> None:
    result = opcert("explain", "relu-1/example", "--program", exits=2)
    assert "write one by 'opcert generate' and pass it by --suite" in result.stderr
    # What explains the case without a program is printed.
    explained = opcert("explain", "relu-1/example", exits=0).stdout
    assert "relu-1/example" in explained
    assert "pass it by --suite" in explained
