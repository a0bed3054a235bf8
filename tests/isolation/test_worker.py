"""A backend with an invalid introduction gives an error of one line, wherever it runs."""

from pathlib import Path

import pytest

from tests.at_length import at_length
from tests.command_line import opcert
from tests.isolation import odd
from tests.small_suite import write

MESSAGES = {
    odd.ReuseRaises: "reuse: RuntimeError: no reuse",
    odd.ReuseLeaves: "reuse: SystemExit: 0",
    odd.ReuseIsLong: "reuse: found a value of the type int; expected printable text",
    odd.ReuseIsHalf: "reuse: found '\\udc80'; expected printable text",
    odd.SupportLeaves: "support: SystemExit: 0",
    odd.RankIsLong: "support: cannot be written as JSON",
    odd.HowIsHalf: "support: cannot be written as JSON",
    odd.OperatorIsLong: "found a value of the type int",
    odd.ValueIsHalf: "distinct, printable values for option 'device'",
    odd.ValueIsLong: "distinct, printable values for option 'device'",
    odd.ConfigurationsRaise: "configurations: RuntimeError: no list",
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("suites") / "suite")


@pytest.mark.parametrize("in_process", [[], ["--in-process"]], ids=["isolated", "in-process"])
@pytest.mark.parametrize("backend", at_length(MESSAGES, 4), ids=lambda backend: backend.__name__)
def test_an_invalid_introduction_is_an_error(
    backend: type[odd.Odd], suite: Path, tmp_path: Path, in_process: list[str]
) -> None:
    call = ["--suite", str(suite), "--backend", f"{odd.__file__}:{backend.__name__}", *in_process]
    made = ["--backend-option", "device=all", "--out", str(tmp_path / "out")]
    result = opcert("certify", *call, *made, exits=2)
    assert MESSAGES[backend] in result.stderr
    assert result.stderr.count("\n") == 1
