"""A suite is read operator by operator: a run of one operator reads none of the others."""

import tracemalloc
from pathlib import Path

import pytest

from opcert import certify
from opcert.errors import SuiteError
from opcert.suite.generation import load
from opcert.suite.suite import Suite

OPERATOR = "directml/DML_OPERATOR_SPLIT"
OTHERS = "openvino"


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Return a core suite in which the files of all operators but one are damaged."""
    folder = tmp_path / "suite"
    core = Suite()
    for name in core.manifest.files.keys() | {"manifest.json"}:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        content = (core.folder / name).read_bytes()
        (folder / name).write_bytes(b"" if name.startswith(OTHERS) else content)
    return folder


def test_a_run_of_one_operator_reads_no_other(damaged: Path) -> None:
    certificate = certify("reference", damaged, operator=OPERATOR, case="dml-split/drawn-f32-3-*")
    assert certificate.counts["pass"]


def test_a_run_of_all_operators_finds_the_damage_before_any_case_runs(damaged: Path) -> None:
    with pytest.raises(SuiteError, match="generate the suite again"):
        certify("reference", damaged, progress=lambda *_: pytest.fail("a case has run"))


def test_load_reads_all_of_a_suite(damaged: Path) -> None:
    with pytest.raises(SuiteError, match="generate the suite again"):
        load(damaged)


def test_an_index_takes_little_memory() -> None:
    entries = Suite().manifest.operators
    name = max(entries, key=lambda name: entries[name].cases)
    tracemalloc.start()
    try:
        operator = Suite().read_operator(name)
        assert len([*operator.cases.values()]) == len(operator.cases)
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # 150 MB for the 50,000 cases of the profile `full`.
    assert size / len(operator.cases) < 3000
