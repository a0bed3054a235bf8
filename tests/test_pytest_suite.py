"""`pytest <suite> --backend B`: the same verdicts of the same cases as `opcert certify`."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from opcert import certify
from opcert.suite.suite import Suite
from opcert.suite.writing import write_suite
from tests import wrong_backends
from tests.at_length import at_length
from tests.command_line import WRONG, python
from tests.few_cases import Cases, keep_cases
from tests.small_suite import OPERATOR, PACK, TESTS, files


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of one operator with the cases of two types."""
    folder = tmp_path_factory.mktemp("suites") / "small"
    write_suite(folder, files().items())

    def of_two_types(cases: Cases) -> set[str]:
        few = {name for name, case in cases.items() if case["type"] in ("f16", "f32")}
        # A case may differ from its baseline in the type, and lose it here.
        return {name for name in few if cases[name].get("baseline") in {None, *few}}

    keep_cases(folder, of_two_types)
    return folder


def pytest_on(suite: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on a suite as a user would, without the options of this run of pytest."""
    command = "-m", "pytest", suite, "-p", "no:cacheprovider", *arguments
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_ADDOPTS"}
    return python(*command, cwd=suite.parent, env=environment)


def failures(report: Path) -> set[str]:
    """Return each case whose test failed, from the first line of pytest's own message."""
    messages = [
        str(failure.get("message")) for failure in ElementTree.parse(report).iter("failure")
    ]
    matches = [re.match(r"(?:Failed: )?(\S+): fail \(", message) for message in messages]
    return {match[1] for match in matches if match}


RunInProcess = Callable[..., tuple[int, str]]


@pytest.fixture
def run_pytest(
    suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> RunInProcess:
    """Run pytest within this process, without the outer options: the exit code and the output."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(*arguments: str) -> tuple[int, str]:
        # To look for garbage after each session takes long where tests share much.
        left_out = ("cacheprovider", "xdist", "unraisableexception")
        options = ["-q", *(word for name in left_out for word in ("-p", f"no:{name}"))]
        code = pytest.main([str(suite), *options, *arguments])
        return code, "".join(capsys.readouterr())

    return run


@pytest.mark.parametrize(
    "name",
    [
        "ChangesEarlierOutputs",
        *at_length(
            ["AcceptsEverything", "ThroughFloat16", "WritesToItsInput", "LosesNaNPayloads"], 4
        ),
    ],
)
def test_a_faulty_backend_fails_the_same_cases_as_with_certify(
    suite: Path, run_pytest: RunInProcess, name: str, tmp_path: Path
) -> None:
    verdicts = certify(getattr(wrong_backends, name)(), suite).verdicts
    failed = {verdict.case for verdict in verdicts if verdict.status == "fail"}
    report = tmp_path / "junit.xml"
    code, output = run_pytest("--backend", f"{WRONG}:{name}", f"--junitxml={report}")
    assert code == 1
    assert failed
    found_later = re.findall(r"^FAILED \([a-z-]+\) (\S+): ", output, re.MULTILINE)
    assert {*failures(report), *found_later} == failed


def test_the_reference_passes_every_decisive_case(suite: Path) -> None:
    done = pytest_on(suite, "-q", "-rs")
    entry = Suite(suite).manifest.operators[OPERATOR]
    assert entry.cases > 4 * entry.implementation_defined > 0
    assert done.returncode == 0, done.stdout
    decided = entry.cases - entry.implementation_defined
    assert f"{decided} passed, {entry.implementation_defined} skipped" in done.stdout
    assert "implementation-defined" in done.stdout


def test_undeclared_unsupported_cases_fail_the_session(run_pytest: RunInProcess) -> None:
    code, output = run_pytest("--backend", f"{WRONG}:DeclinesHighRanks")
    assert code == 1
    assert "FAILED (undeclared) dml-split/" in output


@pytest.mark.slow
def test_a_damaged_suite_is_not_a_failure_of_the_backend(tmp_path: Path) -> None:
    copy = tmp_path / "damaged"
    write_suite(copy, files().items())
    pack = copy / PACK
    pack.write_bytes(pack.read_bytes()[:-1])
    done = pytest_on(copy, "-q")
    assert done.returncode == 2
    assert "opcert: error: " in done.stdout
    assert "generate the suite again" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_feature_level_skips_other_cases(run_pytest: RunInProcess) -> None:
    code, output = run_pytest("--feature-level", "1_0", "-rs")
    assert code == 0
    assert "not in feature level 1_0" in output


def test_documented_examples_are_written_out(suite: Path) -> None:
    text = (suite / TESTS).read_text()
    assert text.startswith("# Generated by opcert from directml/DML_OPERATOR_SPLIT.yaml")
    assert "def test_example_1(" in text
    assert 'tensor("f32", [[[[1.0, 2.0], [3.0, 4.0]]]])' in text


@pytest.mark.slow
def test_an_example_that_contradicts_the_pack_is_an_error(tmp_path: Path) -> None:
    copy = tmp_path / "edited"
    write_suite(copy, files().items())
    test_file = copy / TESTS
    test_file.write_text(test_file.read_text().replace("[3.0, 4.0]", "[3.0, 5.0]", 1))
    done = pytest_on(copy, "-q", "-k", "example")
    assert done.returncode != 0
    assert "generate the suite again" in done.stdout


def test_a_run_over_several_processes_is_refused(suite: Path) -> None:
    done = pytest_on(suite, "-q", "-n", "2")
    assert done.returncode == 4
    assert "opcert judges a run as a whole, in one process; omit -n" in done.stderr


def test_an_unknown_backend_ends_the_session_with_2(run_pytest: RunInProcess) -> None:
    code, output = run_pytest("--backend", "refrence")
    assert code == 2
    assert "did you mean 'reference'?" in output


def test_a_backend_that_declines_everything_fails_the_session(run_pytest: RunInProcess) -> None:
    code, output = run_pytest("--backend", f"{WRONG}:SupportsNothing")
    assert code == 1
    assert "nothing was verified" in output


CLAIM = "operators:\n  directml/DML_OPERATOR_SPLIT:\n    types: [{type}]\n"
WAIVER = """\
- case: dml-split/drawn-{type}-*
  reason: computed in f16
  owner: runtime team
  link: https://example.com/17
  expires: 2099-12-31
"""


@pytest.mark.parametrize(("claimed", "code"), [("f16", 0), ("f32", 1)])
def test_a_claim_decides_what_counts(
    run_pytest: RunInProcess, tmp_path: Path, claimed: str, code: int
) -> None:
    claim = tmp_path / "claim.yaml"
    claim.write_text(CLAIM.format(type=claimed))
    arguments = ["--backend", f"{WRONG}:ThroughFloat16", "--claim", str(claim)]
    assert run_pytest(*arguments, "-k", "drawn")[0] == code


def test_a_waived_failure_does_not_fail_the_session(
    run_pytest: RunInProcess, tmp_path: Path
) -> None:
    waivers = tmp_path / "waivers.yaml"
    waivers.write_text(WAIVER.format(type="f32"))
    arguments = ["--backend", f"{WRONG}:ThroughFloat16", "--waivers", str(waivers)]
    code, output = run_pytest(*arguments, "-k", "drawn-f32 or drawn-f16", "-rs")
    assert code == 0
    assert "waived (" in output
    assert run_pytest(*arguments, "-k", "drawn-f32")[0] == 1


def test_an_unused_waiver_ends_the_session_with_2(run_pytest: RunInProcess, tmp_path: Path) -> None:
    waivers = tmp_path / "waivers.yaml"
    waivers.write_text(WAIVER.format(type="f16"))
    code, output = run_pytest("--waivers", str(waivers), "-k", "drawn-f16")
    assert code == 2
    assert "unused waiver" in output


@pytest.mark.parametrize(
    "arguments",
    at_length(
        [
            ["--feature-level", "9"],
            ["--backend-option", "device"],
            ["--claim", "nowhere.yaml"],
            ["--waivers", "nowhere.yaml"],
        ],
        2,
    ),
)
def test_a_wrong_option_ends_the_session_with_2(
    run_pytest: RunInProcess, arguments: list[str]
) -> None:
    assert run_pytest(*arguments)[0] == 2
