"""What an emitted suite needs of pytest: options, the fixture that runs a case, the last word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from opcert.generator.backends import closed, key_value
from opcert.generator.certification import Certification
from opcert.generator.element_types import ELEMENT_TYPES, Array, name_of
from opcert.generator.errors import OpcertError, SuiteError
from opcert.generator.operator_suite import OperatorSuite
from opcert.generator.suite import Suite
from opcert.generator.supervised import hosted

# Statuses that say nothing against the backend, and are shown as skipped.
SILENT = ("unsupported", "implementation-defined", "out-of-claim")


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


class Conforms:
    """Runs a case of the suite on the backend under test, and fails unless it passes."""

    def __init__(self, suite: Suite, certification: Certification) -> None:
        self._operators = {
            case.id: operator
            for operator in suite.operators.values()
            for case in operator.index.cases
        }
        self._certification = certification

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
            _same_as_packed(self._operators[case], case, inputs, attributes or {}, outputs)
        verdict = self._certification.verdict(case, hold=False)
        text = f"{verdict.status} ({verdict.kind or verdict.observed}): {verdict.detail}"
        if verdict.status in SILENT:
            pytest.skip(text)
        if verdict.status != "pass":
            pytest.fail(f"{case}: {text}", pytrace=False)


def _same_as_packed(
    operator: OperatorSuite,
    case_id: str,
    inputs: Mapping[str, Literal],
    attributes: Mapping[str, Any],
    outputs: Sequence[Literal],
) -> None:
    case = operator.cases[case_id]
    held = [*operator.inputs(case).values(), *operator.outputs(case)]
    spelled = [*inputs.values(), *outputs]
    same = len(held) == len(spelled) and all(map(_same, spelled, held))
    if list(inputs) != list(case.inputs) or attributes != case.attributes or not same:
        raise SuiteError(f"{case_id}: the test file is not of this pack; generate the suite again")


def _same(spelled: Literal, held: Array) -> bool:
    if isinstance(spelled, Packed):
        return (spelled.type, spelled.shape) == (name_of(held.dtype), held.shape)
    return spelled.dtype == held.dtype and spelled.tobytes() == held.tobytes()


_CERTIFICATIONS = pytest.StashKey[dict[Path, Certification]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that say what is certified."""
    group = parser.getgroup("opcert")
    group.addoption("--backend", default="reference", help="as for opcert certify")
    group.addoption("--backend-option", action="append", default=[], metavar="KEY=VALUE")
    group.addoption("--in-process", action="store_true", help="as for opcert certify")
    group.addoption("--feature-level", default=None, help="as for opcert certify")


def pytest_configure(config: pytest.Config) -> None:
    """Begin with no case run."""
    config.stash[_CERTIFICATIONS] = {}


@pytest.fixture(scope="module")
def conforms(request: pytest.FixtureRequest) -> Conforms:
    """Return what runs a case of the suite that the test file is in."""
    folder = request.path.resolve().parent.parent
    certifications = request.config.stash[_CERTIFICATIONS]
    suite = open_suite(folder)
    if folder not in certifications:
        try:
            certifications[folder] = _certification(suite, request.config)
        except OpcertError as error:
            pytest.exit(f"opcert: {error}", returncode=2)
    return Conforms(suite, certifications[folder])


def _certification(suite: Suite, config: pytest.Config) -> Certification:
    options = dict(map(key_value, config.getoption("backend_option")))
    isolated = False if config.getoption("in_process") else None
    backend = hosted(config.getoption("backend"), options, isolated)
    return Certification(backend, suite, config.getoption("feature_level"))


def last_word(config: pytest.Config) -> list[str]:
    """Return what shows only when all cases have run, and fails the session."""
    verdicts = [v for each in config.stash[_CERTIFICATIONS].values() for v in each.finish()]
    if verdicts and not any(v.status == "pass" or v.kind == "bits" for v in verdicts):
        return ["nothing was verified"]
    undeclared = [v for v in verdicts if v.kind == "undeclared"]
    return [f"FAILED (undeclared) {v.case}: {v.detail}" for v in undeclared]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session that verified nothing, or declined what nothing had declared."""
    if last_word(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    for certification in session.config.stash[_CERTIFICATIONS].values():
        closed(certification.backend)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say why a session fails whose tests did not."""
    for line in last_word(config):
        terminalreporter.write_line(line)
