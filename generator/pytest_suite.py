"""The pytest plugin of a generated suite: options, a fixture that runs cases, the result."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from opcert.arrays.calls import flatten_variadic
from opcert.arrays.element_types import ELEMENT_TYPES, Array, same_bytes, type_name
from opcert.backends.contract import close_backend
from opcert.backends.lookup import parse_backend_options
from opcert.certificate.setup import read_scope
from opcert.errors import OpcertError, SpecError, SuiteError
from opcert.isolation.supervised import start_backend
from opcert.settings import DEFAULTS, OPTIONS, RunSettings
from opcert.suite.suite import Suite, SuiteCase
from opcert.verdicts.certification import Certification
from opcert.verdicts.verdict import FAILURE_STATUSES, Verdict, unverified_reasons
from opcert.verdicts.waivers import Waivers

# Statuses that do not block conformance; pytest reports them as skipped.
SKIPPED_STATUSES = ("unsupported", "implementation-defined", "out-of-claim", "waived")


@dataclass(frozen=True)
class PackedArray:
    """An array of a documented example; only the pack has its elements."""

    type: str
    shape: tuple[int, ...]


Literal: TypeAlias = Array | PackedArray


def tensor(element_type: str, elements: Any) -> Array:
    """Return an array with the elements that the document states, nested by dimension."""
    return np.array(elements, ELEMENT_TYPES[element_type])


def packed(element_type: str, shape: Sequence[int]) -> PackedArray:
    """Return a placeholder for an array if the document states only type and shape."""
    return PackedArray(element_type, tuple(shape))


# What is wrong with suites; pytest would print the source of an error that a test file raises.
_DAMAGE: list[OpcertError] = []


@cache
def read_suite(folder: Path) -> Suite:
    """Return the suite in `folder`, which is read once per session."""
    return Suite(folder)


def case_ids(test_file: Path, operator: str) -> list[str]:
    """Return the ids of an operator's cases, except examples, which have their own tests.

    If a file of the operator is damaged, there are none, and the session ends at its first test: no
    backend is at fault.
    """
    try:
        of_operator = read_suite(test_file.resolve().parent.parent).operators[operator]
        of_operator.validate()
    except OpcertError as error:
        _DAMAGE.append(error)
        return []
    return [case.id for case in of_operator.cases.values() if not case.example]


@dataclass(frozen=True)
class Conforms:
    """Runs cases of a suite on the backend, and fails the test of each that does not pass.

    `failed` are the cases whose tests have failed.
    """

    certification: Certification
    waivers: Waivers | None
    claimed: Collection[str]
    failed: set[str] = field(default_factory=set)

    def verdicts(self) -> list[Verdict]:
        """Return all verdicts after the last case has run.

        Raises:
            SpecError: a waiver is unused: none of its matching cases fails.
        """
        verdicts = self.certification.finish()
        if self.waivers is None:
            return verdicts
        if mistakes := self.waivers.unused(verdicts):
            raise SpecError(mistakes)
        return [self.waivers.apply(verdict) for verdict in verdicts]

    def __call__(
        self,
        case: str,
        *,
        inputs: Mapping[str, Literal | Sequence[Literal]] | None = None,
        attributes: Mapping[str, Any] | None = None,
        outputs: Sequence[Literal] = (),
    ) -> None:
        """Run `case`.

        The test of a documented example also states arguments and outputs, which must equal those
        of the case.

        Raises:
            SuiteError: they differ.
        """
        if inputs is not None:
            stated = self.certification.suite.cases[case]
            _check_example(stated, inputs, attributes or {}, outputs)
        verdict = self.certification.verdict(case)
        verdict = verdict if self.waivers is None else self.waivers.apply(verdict)
        text = f"{verdict.status} ({verdict.kind or verdict.observed}): {verdict.detail}"
        if verdict.status in SKIPPED_STATUSES:
            pytest.skip(text)
        if verdict.status != "pass":
            self.failed.add(case)
            pytest.fail(f"{case}: {text}", pytrace=False)


def _check_example(
    case: SuiteCase,
    inputs: Mapping[str, Literal | Sequence[Literal]],
    attributes: Mapping[str, Any],
    outputs: Sequence[Literal],
) -> None:
    stated_inputs: dict[str, Literal] = flatten_variadic(inputs)
    golden_inputs = case.operator_suite.inputs(case.record)
    stated = [*stated_inputs.values(), *outputs]
    golden = [*golden_inputs.values(), *case.outputs]
    if (
        [*stated_inputs] != [*golden_inputs]
        or attributes != case.attributes
        or len(stated) != len(golden)
        or not all(map(_is_same, stated, golden))
    ):
        raise SuiteError(
            f"the arguments or outputs in the test of {case.id} differ from those in the pack; "
            "generate the suite again"
        )


def _is_same(stated: Literal, array: Array) -> bool:
    if isinstance(stated, PackedArray):
        return (stated.type, stated.shape) == (type_name(array.dtype), array.shape)
    is_alike = (stated.dtype, stated.shape) == (array.dtype, array.shape)
    return is_alike and same_bytes(stated, array)


_RUNS = pytest.StashKey[dict[Path, Conforms]]()
# pytest has options of its own for the others.
_SETTINGS = ("isolated", "feature_level", "claim", "waivers")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of `opcert certify` that apply."""
    group = parser.getgroup("opcert")
    text = "as for opcert certify"
    group.addoption("--backend", default="reference", help=text)
    group.addoption("--backend-option", action="append", default=[], metavar="KEY=VALUE", help=text)
    for name in _SETTINGS:
        option, keywords = OPTIONS[name], dict[str, Any]()
        if option.is_flag:
            keywords = {"action": "store_const", "const": option.value}
        elif option.metavar == "FILE":
            keywords = {"type": Path}
        group.addoption(
            option.names[0], dest=name, default=DEFAULTS[name], help=option.help, **keywords
        )


def pytest_configure(config: pytest.Config) -> None:
    """Prepare a session.

    Raises:
        UsageError: pytest-xdist would spread the cases over processes, none of which sees them all.
    """
    if config.getoption("dist", "no") != "no":
        raise pytest.UsageError("opcert judges a run as a whole, in one process; omit -n")
    config.stash[_RUNS] = {}


@pytest.fixture(scope="module")
def conforms(request: pytest.FixtureRequest) -> Conforms:
    """Return the function that runs a case of the test file's suite."""
    folder = request.path.resolve().parent.parent
    runs = request.config.stash[_RUNS]
    if folder not in runs or _DAMAGE:
        try:
            if _DAMAGE:
                raise _DAMAGE.pop()
            runs[folder] = _start_run(read_suite(folder), request.config)
        except OpcertError as error:
            pytest.exit(f"opcert: error: {error}", returncode=2)
    return runs[folder]


def _start_run(suite: Suite, config: pytest.Config) -> Conforms:
    options = parse_backend_options(config.getoption("backend_option"))
    settings = RunSettings(**{name: config.getoption(name) for name in _SETTINGS})
    # All files are read before the backend starts, which may change the working directory.
    claim, waivers, level = read_scope(settings, suite, options)
    backend = start_backend(config.getoption("backend"), options, settings)
    claimed = () if claim is None else claim.content.operators
    return Conforms(Certification(backend, suite, level, claim), waivers, claimed)


def session_result(config: pytest.Config) -> tuple[int, list[str]]:
    """Return the exit code and the reasons that follow from all cases together."""
    reasons: list[str] = []
    try:
        for run in config.stash[_RUNS].values():
            verdicts = run.verdicts()
            reasons += unverified_reasons(verdicts, run.claimed) if verdicts else []
            # What is found later, as an output that changes or a process that ends afterwards.
            reasons += [
                f"FAILED ({verdict.failure}) {verdict.case}: {verdict.detail}"
                for verdict in verdicts
                if verdict.status in FAILURE_STATUSES and verdict.case not in run.failed
            ]
    except OpcertError as error:
        return pytest.ExitCode.INTERRUPTED, [f"opcert: error: {error}"]
    return pytest.ExitCode.TESTS_FAILED if reasons else pytest.ExitCode.OK, reasons


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session without verified cases, with unused waivers, or with what fails later."""
    code, _ = session_result(session.config)
    session.exitstatus = max(int(session.exitstatus), code)
    for run in session.config.stash[_RUNS].values():
        close_backend(run.certification.backend)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the reasons why a session fails that no single test reports."""
    for reason in session_result(config)[1]:
        terminalreporter.write_line(reason)
