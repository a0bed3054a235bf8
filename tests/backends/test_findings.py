"""The deviations claimed of runtimes: their programs show them, and the guide lists them."""

import re
from itertools import takewhile
from pathlib import Path

import pytest

from tests.at_length import at_length
from tests.backends.findings import ACCEPTED, ANYTHING_ELSE, FINDINGS, Finding, table
from tests.backends.runtimes import need

GUIDE = Path(__file__).parents[2] / "generator" / "backends" / "README.md"
each_finding = pytest.mark.parametrize("finding", FINDINGS.values(), ids=FINDINGS)


@pytest.mark.parametrize("finding", at_length(FINDINGS.values(), 4), ids=FINDINGS)
def test_the_program_gives_the_claimed_result(finding: Finding, tmp_path: Path) -> None:
    need(finding.package, gpu=finding.where == "cuda")
    result = finding.result(tmp_path)
    if "on some processors" in finding.got and result == finding.right:
        pytest.skip("this processor gives the right result")
    assert result != finding.right, "the runtime is right now: remove the finding"
    assert finding.wrong in (result, ACCEPTED, ANYTHING_ELSE)


@each_finding
def test_the_claim_is_a_deviation_and_needs_the_runtime_only(finding: Finding) -> None:
    assert finding.right not in (finding.wrong, ACCEPTED, ANYTHING_ELSE)
    modules = set(re.findall(r"^ *(?:from|import) (\w+)", finding.text, re.MULTILINE))
    standard = {"json", "functools", "collections", "typing"}
    assert finding.package in modules
    assert modules <= {finding.package, "numpy", "onnx", *standard}
    assert finding.wrong != ACCEPTED or finding.right == "rejected"


def test_the_guide_has_the_table_of_the_findings() -> None:
    lines = GUIDE.read_text(encoding="utf-8").splitlines()
    rows = table()
    start = lines.index(rows[0])
    assert list(takewhile(lambda line: line.startswith("|"), lines[start:])) == rows
