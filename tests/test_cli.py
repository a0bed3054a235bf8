"""The command line: exit codes, messages, and the files that it writes."""

import json
from pathlib import Path

import pytest

from opcert.certificate.certificate import SCHEMA
from opcert.specification.files import shipped_operators
from tests import small_spec
from tests import small_suite as small_suite_files
from tests.command_line import MISBEHAVING, WRONG, opcert, opcert_program, python

pytestmark = pytest.mark.usefixtures("few_calls")
SPLIT = "directml/DML_OPERATOR_SPLIT"


@pytest.fixture(scope="module")
def small_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_suite_files.write(tmp_path_factory.mktemp("suites") / "small")


def test_version_is_that_of_the_distribution() -> None:
    assert opcert("--version").stdout.startswith("opcert 0.")


def test_certify_prints_a_table_and_the_conclusion_and_progress_to_stderr(
    small_suite: Path,
) -> None:
    result = opcert("certify", "--suite", small_suite, exits=0)
    assert SPLIT in result.stdout
    assert result.stdout.splitlines()[-1].startswith("CONFORMANT, bit-exact: reference")
    assert "1/" in result.stderr
    assert "1/" not in result.stdout


def test_a_wrong_backend_exits_1_with_its_failures_each_cause_once(small_suite: Path) -> None:
    backend = f"{WRONG}:WrongShape"
    result = opcert("certify", "--suite", small_suite, "--backend", backend, exits=1)
    assert "expected" in result.stdout
    assert result.stdout.count("gives a wrong shape") == 1
    assert "in every case that would show it (134 of 134 fail)" in result.stdout
    assert "NOT CONFORMANT" in result.stdout


def test_stopping_at_the_first_failure(small_suite: Path) -> None:
    backend = f"{WRONG}:WrongShape"
    result = opcert("certify", "--suite", small_suite, "--backend", backend, "-x", exits=1)
    assert "not-run" in result.stdout


def test_the_certificate_is_written_to_out(small_suite: Path, tmp_path: Path) -> None:
    opcert("certify", "--suite", small_suite, "--out", tmp_path / "new" / "folder", exits=0)
    certificate = json.loads((tmp_path / "new" / "folder" / "certificate.json").read_text())
    assert certificate["schema"] == SCHEMA
    assert certificate["conformant"] is True
    manifest = json.loads((small_suite / "manifest.json").read_text())
    total = sum(each["cases"] for each in manifest["operators"].values())
    assert certificate["summary"]["cases"] == total == len(certificate["verdicts"])
    assert set(certificate) >= {"suite", "backend", "platform", "summary", "operators", "verdicts"}


def test_generate_writes_what_check_then_finds_unchanged(small_suite: Path) -> None:
    arguments = "generate", "--out", small_suite, "--operator", SPLIT
    opcert(*arguments, exits=0)
    opcert(*arguments, "--check", exits=0)


def test_check_names_what_differs(small_suite: Path) -> None:
    result = opcert("generate", "--out", small_suite, "--operator", "*Tile*", "--check", exits=1)
    assert "missing: openvino/tile-1.npz" in result.stdout
    assert "unexpected: directml/dml-split.npz" in result.stdout
    assert "changed: manifest.json" in result.stdout


def test_check_prints_cases_by_rule(tmp_path: Path) -> None:
    result = opcert("check", "--no-strength", small_spec.spec(tmp_path), exits=0)
    assert "take-1/count-range" in result.stdout
    assert "faults found" not in result.stdout
    assert "checking " not in result.stderr


def test_check_of_several_specs_says_at_which_it_is(tmp_path: Path) -> None:
    small_spec.spec(tmp_path)
    other = ("example/Take-1", "example/Take-2"), ("slug: take-1", "slug: take-2")
    small_spec.spec(tmp_path, *other, name="other")
    # Their reference names rules of one of them.
    result = opcert("check", "--no-strength", "--specs", tmp_path, exits=2)
    lines = result.stderr.splitlines()
    assert lines[:2] == ["checking example/Take-1", "checking example/Take-2"]


def test_schema_is_json() -> None:
    assert json.loads(opcert("schema").stdout)["title"] == "Spec"
    assert json.loads(opcert("schema", "--certificate").stdout)["title"] == "Certificate"


def test_the_installed_command_runs_in_an_empty_folder(tmp_path: Path) -> None:
    code, _, stderr = opcert_program("certify", "--case", "dml-split/example-*", cwd=tmp_path)
    assert code == 0, stderr
    assert not list(tmp_path.iterdir())


CLOSES = """
import sys
from opcert.backends.reference import Reference
class Backend(Reference):
    def run(self, *call):
        sys.stdout.close()
        sys.stderr.close()
        return super().run(*call)
"""


def test_a_backend_in_this_process_that_closes_its_output_is_certified(tmp_path: Path) -> None:
    (tmp_path / "closes.py").write_text(CLOSES)
    backend = "--backend", "closes.py:Backend", "--in-process"
    options = *backend, "--case", "dml-split/example-1", "--out", "results"
    code, stdout, stderr = opcert_program("certify", *options, cwd=tmp_path)
    assert (code, "wrote " in stderr) == (0, True)
    assert "CONFORMANT for 1 of 5 operators" in stdout


def test_an_interrupt_exits_130_without_a_traceback() -> None:
    backend = "--backend", f"{MISBEHAVING}:Misbehaves", "--backend-option", "how=interrupt"
    result = opcert("certify", "--in-process", *backend, exits=130)
    assert "interrupted" in result.stderr


def test_backends_are_listed_with_their_declared_support() -> None:
    result = opcert("backends", exits=0)
    lines = [line.split() for line in result.stdout.splitlines()]
    header = next(line for line in lines if line[:1] == ["operator"])
    for operator in shipped_operators():
        support = dict(
            zip(header, next(line for line in lines if line[:1] == [operator]), strict=True)
        )
        assert support["reference"] == "undeclared"
        assert support["torch"] in ("native", "composed", "unsupported")


def test_a_fault_of_opcert_itself_exits_70() -> None:
    done = python("-c", "from opcert import cli; cli.app = lambda **_: 1 // 0; cli.main()")
    assert done.returncode == 70
    assert "ZeroDivisionError" in done.stderr


def test_an_interrupt_that_no_command_handles_shows_no_traceback() -> None:
    program = (
        "from opcert import cli\ndef app(**_): raise KeyboardInterrupt\ncli.app = app\ncli.main()"
    )
    done = python("-c", program)
    assert (done.returncode, done.stderr) == (130, "opcert: interrupted\n")
