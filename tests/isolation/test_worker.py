"""A backend that introduces itself wrongly is told in one line, wherever it runs."""

from pathlib import Path

import pytest

from opcert.generator.suite.writing import write_suite
from tests.command_line import opcert
from tests.small_suite import OPERATOR, files


class _Odd:
    name = version = "odd"

    def __init__(self, **options: str) -> None:
        pass

    def run(self, *_: object) -> None:
        raise NotImplementedError


class ReuseRaises(_Odd):
    @property
    def reuse(self) -> str:
        raise RuntimeError("no reuse")


class ReuseLeaves(_Odd):
    @property
    def reuse(self) -> str:
        raise SystemExit(0)


class ReuseIsLong(_Odd):
    reuse = 10**5000


class ReuseIsHalf(_Odd):
    reuse = "\udc80"


class SupportLeaves(_Odd):
    @property
    def support(self) -> object:
        raise SystemExit(0)


class RankIsLong(_Odd):
    support = {OPERATOR: {"how": "native", "ranks": [10**5000]}}  # noqa: RUF012 -- as users do


class HowIsHalf(_Odd):
    support = {OPERATOR: {"how": "\udc80"}}  # noqa: RUF012 -- as users do


class OperatorIsLong(_Odd):
    support = {10**5000: {"how": "native"}}  # noqa: RUF012 -- as users do


class ValueIsHalf(_Odd):
    configurations = {"device": ["\udc80", "b"]}  # noqa: RUF012 -- as users do


class ValueIsLong(_Odd):
    configurations = {"device": [10**5000, 2]}  # noqa: RUF012 -- as users do


class _Raising(type):
    @property
    def configurations(cls) -> object:
        raise RuntimeError("no list")


class ConfigurationsRaise(_Odd, metaclass=_Raising):
    pass


TOLD = {
    ReuseRaises: "reuse: RuntimeError: no reuse",
    ReuseLeaves: "reuse: SystemExit: 0",
    ReuseIsLong: "reuse: found a value of the type int; expected printable text",
    ReuseIsHalf: "reuse: found '\\udc80'; expected printable text",
    SupportLeaves: "support: SystemExit: 0",
    RankIsLong: "support: cannot be written as JSON",
    HowIsHalf: "support: cannot be written as JSON",
    OperatorIsLong: "found a value of the type int",
    ValueIsHalf: "those of 'device' are not so",
    ValueIsLong: "those of 'device' are not so",
    ConfigurationsRaise: "configurations: RuntimeError: no list",
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suites") / "suite"
    write_suite(folder, files())
    return folder


@pytest.mark.parametrize("in_process", [[], ["--in-process"]], ids=["isolated", "in-process"])
@pytest.mark.parametrize("odd", TOLD, ids=lambda odd: odd.__name__)
def test_an_odd_introduction_is_told(
    odd: type[_Odd], suite: Path, tmp_path: Path, in_process: list[str]
) -> None:
    call = ["--suite", str(suite), "--backend", f"{__file__}:{odd.__name__}", *in_process]
    made = ["--backend-option", "device=all", "--out", str(tmp_path / "out")]
    result = opcert("certify", *call, *made)
    assert result.exit_code == 2
    assert TOLD[odd] in result.stderr
    assert result.stderr.count("\n") == 1
