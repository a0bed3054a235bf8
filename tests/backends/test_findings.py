"""The deviations claimed of runtimes: their programs show them, and the guide lists them."""

import json
import re
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest

from tests.backends.findings import ANYTHING_ELSE, FINDINGS, HELPERS, Finding, table

GUIDE = Path(__file__).parents[2] / "generator" / "backends" / "README.md"
each_finding = pytest.mark.parametrize("finding", FINDINGS.values(), ids=FINDINGS)
REQUIRED_MODULES = {"onnxruntime": ("onnx", "onnxruntime")}


def require_runtime(finding: Finding) -> None:
    for module in REQUIRED_MODULES.get(finding.package, (finding.package,)):
        reason = f"needs the extra {finding.package}"
        pytest.importorskip(module, reason=reason, exc_type=ImportError)


@each_finding
def test_the_program_gives_the_claimed_result(finding: Finding) -> None:
    require_runtime(finding)
    result = finding.result()
    if "on some processors" in finding.got and result == finding.right:
        pytest.skip("this processor gives the right result")
    assert result != finding.right, "the runtime is right now: remove the finding"
    assert finding.wrong in (result, ANYTHING_ELSE)


@each_finding
def test_the_claimed_result_is_not_the_right_one(finding: Finding) -> None:
    assert finding.right != finding.wrong
    # The result of a program in a process of its own comes as JSON.
    assert json.loads(json.dumps([finding.right, finding.wrong])) == [finding.right, finding.wrong]


@each_finding
def test_a_program_uses_only_the_runtime(finding: Finding) -> None:
    modules = re.findall(r"^ +(?:from|import) (\w+)", finding.text, re.MULTILINE)
    assert finding.package in modules
    assert set(modules) <= {finding.package, "numpy", "onnx"}
    assert "opcert" not in finding.text


@pytest.mark.parametrize("package", HELPERS)
def test_a_printed_program_runs_by_itself(package: str, tmp_path: Path) -> None:
    finding = next(
        each for each in FINDINGS.values() if each.package == package and not each.ends_its_process
    )
    require_runtime(finding)
    (tmp_path / "program.py").write_text(finding.text)
    process = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert process.stdout.strip() == str(finding.wrong), process.stderr


def test_the_guide_has_the_table_of_the_findings() -> None:
    lines = GUIDE.read_text(encoding="utf-8").splitlines()
    rows = table()
    start = lines.index(rows[0])
    assert list(takewhile(lambda line: line.startswith("|"), lines[start:])) == rows
