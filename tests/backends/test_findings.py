"""What is claimed of runtimes: each program gives it, and the guide to backends has it."""

import json
import re
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest

from tests.backends.findings import ANYTHING_ELSE, FINDINGS, HELPERS, Finding, table

GUIDE = Path(__file__).parents[2] / "generator" / "backends" / "README.md"
FOUND = pytest.mark.parametrize("finding", FINDINGS.values(), ids=FINDINGS)
NEEDED = {"onnxruntime": ("onnx", "onnxruntime")}


def needs(finding: Finding) -> None:
    for module in NEEDED.get(finding.package, (finding.package,)):
        reason = f"needs the extra {finding.package}"
        pytest.importorskip(module, reason=reason, exc_type=ImportError)


@FOUND
def test_the_runtime_gives_what_is_claimed(finding: Finding) -> None:
    needs(finding)
    result = finding.result()
    assert result != finding.right, "mended: the finding goes"
    assert finding.wrong in (result, ANYTHING_ELSE)


@FOUND
def test_what_is_claimed_is_not_what_is_right(finding: Finding) -> None:
    assert finding.right != finding.wrong
    # What a process of its own prints comes as JSON.
    assert json.loads(json.dumps([finding.right, finding.wrong])) == [finding.right, finding.wrong]


@FOUND
def test_a_program_uses_the_runtime_alone(finding: Finding) -> None:
    modules = re.findall(r"^ +(?:from|import) (\w+)", finding.text, re.MULTILINE)
    assert finding.package in modules
    assert set(modules) <= {finding.package, "numpy", "onnx"}
    assert "opcert" not in finding.text


@pytest.mark.parametrize("package", HELPERS)
def test_a_printed_program_runs_by_itself(package: str, tmp_path: Path) -> None:
    finding = next(
        each for each in FINDINGS.values() if each.package == package and not each.ends_its_process
    )
    needs(finding)
    (tmp_path / "program.py").write_text(finding.text)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == str(finding.wrong), done.stderr


def test_the_guide_has_the_table_of_the_findings() -> None:
    lines = GUIDE.read_text(encoding="utf-8").splitlines()
    rows = table()
    start = lines.index(rows[0])
    shown = list(takewhile(lambda line: line.startswith("|"), lines[start:]))
    assert shown == rows
