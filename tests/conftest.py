"""How tests run: those that share much run in one process, which keeps what they share."""

import gc
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from opcert.settings import PROFILES
from opcert.specification import files
from opcert.specification.files import find_spec_files
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite, core_suite_folder
from opcert.verdicts import confirmation, earlier_calls, fresh_calls, further_calls, reduction
from opcert.verdicts.case_levels import CaseLevels
from opcert.verdicts.causes import Diagnosis
from tests import short_suite

# What tests share is large, and Python would look through it for garbage again and again.
gc.set_threshold(50_000, 20, 100)

# The names of the operators' files, by the names that ids of tests and of their files have.
OPERATORS = {
    name: path.stem
    for path in find_spec_files(None)
    for name in (path.stem, *re.findall(r"^slug: (\S+)$", path.read_text("utf-8"), re.MULTILINE))
}
# Tests that generate much of an operator.
BY_OPERATOR = re.compile(
    r"tests/(accuracy|cases|faults|operators|property|readings)/|tests/suite/test_profiles|tests/test_reference_checks"
)
# Tests that share the certificates of `samples.py`.
OF_SAMPLES = re.compile(r"tests/(report/|commands/test_report|verdicts/test_bugs)")
_NAME = re.compile(rf"(?<![\w-])({'|'.join(OPERATORS)})(?![\w-])")


@pytest.fixture(scope="session", autouse=True)
def _the_same_environment_everywhere() -> Iterator[None]:
    """Give every test, and what it starts, interrupts and a terminal of 80 columns with colours."""
    # A process that was started in the background ignores interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
            patch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "25"}.items():
            patch.setenv(name, value)
        # The threads of OpenBLAS take a third of the CPU time of NumPy's import.
        patch.setenv("OPENBLAS_NUM_THREADS", "1")
        # OpenVINO's telemetry forks at some of its uses, of which JAX warns.
        patch.setitem(sys.modules, "openvino_telemetry", None)
        yield


# Core suites that tests generate or open are short, to be fast.
short_suite.install()


@pytest.fixture(scope="module")
def few_calls() -> Iterator[None]:
    """Give core suites even fewer drawn calls, for claims that need no more of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PROFILES, "core", replace(PROFILES["core"], calls=150))
        yield


@pytest.fixture(autouse=True)
def _few_fresh_calls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Try causes on few fresh calls, as each run with a failure does, but for the tests of this."""
    if "tried_at_length" not in request.fixturenames:
        monkeypatch.setattr(further_calls, "_REPLAYED", 1)
        monkeypatch.setattr(further_calls, "_MORE", 60)
        monkeypatch.setattr(fresh_calls, "_ANSWERS", 1)


@pytest.fixture
def tried_at_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw as many fresh calls as a run of its own, and reduce as long as a busy machine needs."""
    monkeypatch.setattr(reduction, "SECONDS", 60.0)
    monkeypatch.setattr(confirmation, "_REDUCTION_SECONDS", 600.0)


@pytest.fixture
def barely_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try each failure alone, and look for no earlier, smaller and fresh calls."""
    monkeypatch.setattr(further_calls, "_CALLS", 0)
    monkeypatch.setattr(confirmation, "_REDUCTION_SECONDS", 0.0)
    monkeypatch.setattr(earlier_calls, "_SHORTENING", (0, 0.0))
    for limit in ("_EARLIER", "_RELATION", "_DEPENDENT"):
        monkeypatch.setattr(confirmation, limit, (0, 0.0))


def operator_of(test: str) -> str | None:
    """Return the operator that a test shares its cases of, if any."""
    file, _, name = test.partition("::")
    _, _, parameters = name.partition("[")
    own = Path(file).stem.removeprefix("test_").replace("_", "-")
    match = _NAME.search(parameters) or _NAME.fullmatch(own)
    return OPERATORS[match[1]] if match and BY_OPERATOR.match(test) else None


def scope_of(test: str) -> str:
    """Return what runs in one process: of `BY_OPERATOR` all tests of an operator, else a file.

    The tests of a made-up operator share its suite, and those of reports their certificates.
    """
    made_up = re.search(r"roles/test_made_up\.py::\w+\[(\w+)", test)
    of_file = "samples" if OF_SAMPLES.match(test) else test.partition("::")[0]
    return operator_of(test) or (made_up and made_up[1]) or of_file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out the tests in their order: by the number of tests the slowest would be last."""
    config.option.loadscopereorder = False
    scheduling = LoadScopeScheduling(config, log)
    scheduling._split_scope = scope_of
    return scheduling


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the operators first where several processes share the tests, for they take longest."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: operator_of(item.nodeid) is None)


def pytest_configure(config: pytest.Config) -> None:
    """Keep the specs and the suite that come with opcert, and the levels of the suite's cases.

    Every command reads them anew, and every run with a failure observes all the levels again.
    """
    # A run that loses a process ends, and does not begin again what took the process down.
    config.option.maxworkerrestart = getattr(config.option, "maxworkerrestart", None) or "0"
    read_spec = files.read_spec
    shipped = frozenset(find_spec_files(None))
    kept = cache(read_spec)
    files.read_spec = lambda path: (kept if path in shipped else read_spec)(path)

    read_operator = Suite.read_operator
    operators: dict[tuple[str, str, Path | None], OperatorSuite] = {}

    def operator(suite: Suite, name: str) -> OperatorSuite:
        if suite.folder != core_suite_folder():
            return read_operator(suite, name)
        # The digest of the manifest is that of all the files, which are proved before.
        key = suite.digest, name, suite._specs
        if key not in operators:
            operators[key] = read_operator(suite, name)
        return operators[key]

    Suite.read_operator = operator  # type: ignore[method-assign, assignment]

    levels_of = Diagnosis._levels
    levels: dict[tuple[int, str | None], CaseLevels] = {}

    def kept_levels(diagnosis: Diagnosis, name: str) -> CaseLevels:
        suite, spec_file = diagnosis.suite.operators[name], diagnosis.specs.get(name)
        if not any(suite is one for one in operators.values()):
            return levels_of(diagnosis, name)
        key = id(suite), None if spec_file is None else spec_file.digest
        if key not in levels:
            levels[key] = levels_of(diagnosis, name)
        return levels[key]

    Diagnosis._levels = kept_levels  # type: ignore[method-assign, assignment]
