"""What an emitted suite needs of pytest: options, the fixture that runs a case, the last word."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from opcert.arrays import ELEMENT_TYPES, Array, type_name
from opcert.backends import close_backend, parse_backend_options
from opcert.errors import OpcertError, SpecError, SuiteError
from opcert.isolation import start_backend
from opcert.scope import Waivers, read_claim, read_waivers
from opcert.suite import IndexedCase, OperatorSuite, Suite
from opcert.verdicts import WAIVABLE_KINDS, Certification, Verdict, unverified_reasons

# Statuses that do not block, and are shown as skipped.
SILENT = ("unsupported", "implementation-defined", "out-of-claim", "waived")


@dataclass(frozen=True)
class Packed:
    """An array of a documented example that the document gives only by type and shape."""

    type: str
    shape: tuple[int, ...]


Literal: TypeAlias = Array | Packed


def tensor(element_type: str, elements: Any) -> Array:
    """Return the array that a documented example spells out."""
    return np.array(elements, ELEMENT_TYPES[element_type])


def packed(element_type: str, shape: Sequence[int]) -> Packed:
    """Return what stands for an array whose elements are in the pack alone."""
    return Packed(element_type, tuple(shape))


@cache
def open_suite(folder: Path) -> Suite:
    """Return the suite in `folder`, read once."""
    return Suite(folder)


def case_ids(test_file: Path, operator: str) -> list[str]:
    """Return the ids of an operator's cases but the examples, which are tests of their own."""
    suite = open_suite(test_file.resolve().parent.parent)
    return [case.id for case in suite.operators[operator].index.cases if not case.example]


@dataclass(frozen=True)
class Run:
    """A certification as pytest carries it out, case by case, and the failures that are known."""

    certification: Certification
    waivers: Waivers | None = None
    claimed: Collection[str] = ()

    def verdict(self, case: str) -> Verdict:
        """Return the verdict of a case, which runs now unless it has."""
        verdict = self.certification.verdict(case, retain=False)
        return verdict if self.waivers is None else self.waivers.apply(verdict)

    def verdicts(self) -> list[Verdict]:
        """Return all verdicts, when every case has run.

        Raises:
            SpecError: a waiver applies to no failure.
        """
        verdicts = self.certification.finish()
        if self.waivers is None:
            return verdicts
        if mistakes := self.waivers.unused(verdicts):
            raise SpecError(mistakes)
        return [self.waivers.apply(verdict) for verdict in verdicts]


class Conforms:
    """Runs a case of the suite on the backend under test, and fails unless it passes."""

    def __init__(self, suite: Suite, run: Run) -> None:
        self._suite = suite
        self._run = run

    def __call__(
        self,
        case: str,
        *,
        inputs: Mapping[str, Literal] | None = None,
        attributes: Mapping[str, Any] | None = None,
        outputs: Sequence[Literal] = (),
    ) -> None:
        """Run `case`; what a documented example spells out has to be what the pack holds."""
        if inputs is not None:
            _same_as_packed(*self._suite.cases[case], inputs, attributes or {}, outputs)
        verdict = self._run.verdict(case)
        text = f"{verdict.status} ({verdict.kind or verdict.observed}): {verdict.detail}"
        if verdict.status in SILENT:
            pytest.skip(text)
        if verdict.status != "pass":
            pytest.fail(f"{case}: {text}", pytrace=False)


def _same_as_packed(
    operator: OperatorSuite,
    case: IndexedCase,
    inputs: Mapping[str, Literal],
    attributes: Mapping[str, Any],
    outputs: Sequence[Literal],
) -> None:
    held = [*operator.inputs(case).values(), *operator.outputs(case)]
    spelled = [*inputs.values(), *outputs]
    same = len(held) == len(spelled) and all(map(_same, spelled, held))
    if list(inputs) != list(case.inputs) or attributes != case.attributes or not same:
        raise SuiteError(f"{case.id}: the test file is not of this pack; generate the suite again")


def _same(spelled: Literal, held: Array) -> bool:
    if isinstance(spelled, Packed):
        return (spelled.type, spelled.shape) == (type_name(held.dtype), held.shape)
    return spelled.dtype == held.dtype and spelled.tobytes() == held.tobytes()


_RUNS = pytest.StashKey[dict[Path, Run]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that say what is certified."""
    group = parser.getgroup("opcert")
    alike = "as for opcert certify"
    group.addoption("--backend", default="reference", help=alike)
    group.addoption("--backend-option", action="append", default=[], metavar="KEY=VALUE")
    group.addoption("--in-process", action="store_true", help=alike)
    group.addoption("--feature-level", default=None, help=alike)
    group.addoption("--claim", default=None, type=Path, help=alike)
    group.addoption("--waivers", default=None, type=Path, help=alike)


def pytest_configure(config: pytest.Config) -> None:
    """Begin with no case run.

    Raises:
        UsageError: the cases are to be spread over processes, none of which would see them all.
    """
    if config.getoption("dist", "no") != "no":
        raise pytest.UsageError("opcert judges a run as a whole, in one process; leave out -n")
    config.stash[_RUNS] = {}


@pytest.fixture(scope="module")
def conforms(request: pytest.FixtureRequest) -> Conforms:
    """Return what runs a case of the suite that the test file is in."""
    folder = request.path.resolve().parent.parent
    runs = request.config.stash[_RUNS]
    suite = open_suite(folder)
    if folder not in runs:
        try:
            runs[folder] = _begun(suite, request.config)
        except OpcertError as error:
            pytest.exit(f"opcert: {error}", returncode=2)
    return Conforms(suite, runs[folder])


def _begun(suite: Suite, config: pytest.Config) -> Run:
    """Begin a run as the options say; files are read before a backend may change the folder."""
    options = parse_backend_options(config.getoption("backend_option"))
    claim, waivers = config.getoption("claim"), config.getoption("waivers")
    level = config.getoption("feature_level")
    claimed = None if claim is None else read_claim(claim, suite)
    known = None
    if waivers is not None:
        known = read_waivers(waivers, suite, options.get("device"), kinds=WAIVABLE_KINDS)
    isolated = False if config.getoption("in_process") else None
    level = level if claimed is None else claimed.feature_level(level)
    backend = start_backend(config.getoption("backend"), options, isolated)
    operators = () if claimed is None else claimed.content.operators
    return Run(Certification(backend, suite, level, claimed), known, operators)


def last_word(config: pytest.Config) -> tuple[int, list[str]]:
    """Return what shows only when all cases have run: the exit code, and the reasons for it."""
    lines: list[str] = []
    try:
        for run in config.stash[_RUNS].values():
            verdicts = run.verdicts()
            lines += unverified_reasons(verdicts, run.claimed) if verdicts else []
            undeclared = [v for v in verdicts if v.status == "fail" and v.kind == "undeclared"]
            lines += [f"FAILED (undeclared) {v.case}: {v.detail}" for v in undeclared]
    except OpcertError as error:
        return pytest.ExitCode.INTERRUPTED, [f"opcert: {error}"]
    return pytest.ExitCode.TESTS_FAILED if lines else pytest.ExitCode.OK, lines


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session that verified nothing, declined undeclared, or waived what does not fail."""
    code, _ = last_word(session.config)
    session.exitstatus = max(int(session.exitstatus), code)
    for run in session.config.stash[_RUNS].values():
        close_backend(run.certification.backend)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say why a session fails whose tests did not."""
    for line in last_word(config)[1]:
        terminalreporter.write_line(line)
