"""What the workers of a cluster run: tasks on a backend that stays open between them."""

import platform
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from opcert.backends.contract import close_backend
from opcert.certificate.certificate import BackendEntry, Run, WorkerPlatform
from opcert.certificate.execution import confirmed
from opcert.certificate.setup import Finished, Setup, Task, TaskRun, this_machine
from opcert.errors import BackendError, OpcertError, SuiteError
from opcert.isolation.supervised import SupervisedBackend
from opcert.suite.format import SuiteEntry
from opcert.suite.generation import open_certified_suite
from opcert.suite.suite import Suite
from opcert.suite.support import checked_support
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.confirmation import Confirmed
from opcert.verdicts.verdict import Verdict

Result = TypeVar("Result")

# After so many seconds without a task, a worker closes a backend: its run may have been killed.
IDLE_SECONDS = 60.0


@dataclass(frozen=True)
class RemoteRun:
    """A run as its workers need it: an id that distinguishes runs, the setup, and the suite.

    A worker that does not have the `folder` of the suite generates the suite. `stated` is how the
    client states the backend's source and options, which may be paths within its current folder.
    """

    id: str
    setup: Setup
    suite: SuiteEntry
    folder: Path
    stated: Mapping[str, Any]


@dataclass(frozen=True)
class Site:
    """A backend as a worker started it, and the worker's platform."""

    backend: BackendEntry
    support: Any
    run: Run
    opcert: str
    platform: WorkerPlatform


@dataclass(frozen=True)
class Report:
    """What tasks came to in how many seconds, where, and which files of the backend had changed."""

    finished: tuple[Finished, ...]
    seconds: float
    site: Site
    changed: tuple[str, ...]


class _Host:
    """A backend of a run with a suite of its own; one task at a time uses it."""

    def __init__(self, run: RemoteRun) -> None:
        self.run = run.id
        self.suite = _suite(run)
        self.files = run.setup.source_files()
        self.backend = run.setup.start_backend(self.files)
        try:
            entry, run_entry = run.setup.entries(self.backend, self.suite, self.files)
        except BackendError:
            close_backend(self.backend)
            raise
        # Read once: to check it may read operators.
        support = checked_support(self.backend, self.suite)
        self.start_certification = run.setup.start_certification(self.suite, support)
        device = run.setup.options.get("device")
        named = None if device is None else str(device)
        self.site = Site(
            backend=entry.model_copy(update=run.stated),
            support=getattr(self.backend, "support", None),
            run=run_entry,
            opcert=version("opcert"),
            platform=WorkerPlatform(**this_machine(), device=named, cases=0),
        )
        self.timer: threading.Timer | None = None


_lock = threading.Lock()
# Hosts that no task uses, by run; those that a task uses; and the runs that have ended.
_idle: dict[str, list[_Host]] = {}
_busy: set[_Host] = set()
_ended: set[str] = set()
# The last suite, and who may look for it.
_suites: dict[str, Suite] = {}
_suite_lock = threading.Lock()
# A backend in the worker's own process shares it with those of other threads.
_in_process = threading.Lock()


def describe(run: RemoteRun) -> Site:
    """Start the backend, unless it is running, and describe it and this worker."""
    return _with_host(run, lambda host: host.site)


def run_tasks(run: RemoteRun, tasks: Sequence[Task]) -> Report:
    """Run the cases of some tasks, one after the other."""

    def on_host(host: _Host) -> Report:
        begin = perf_counter()
        finished = []
        for task in tasks:
            task_run = TaskRun(task, host.backend, host.start_certification)
            for _ in task_run:
                if run.id in _ended:
                    break
            finished.append(task_run.finish())
        seconds = perf_counter() - begin
        return Report(tuple(finished), seconds, host.site, tuple(sorted(host.files.changed)))

    return _with_host(run, on_host)


def confirm(run: RemoteRun, verdicts: Mapping[str, Verdict], repeated: Sequence[str]) -> Confirmed:
    """Confirm the failures of a run, which ran on any workers."""
    return _with_host(
        run, lambda host: confirmed(host.backend, Diagnosis(host.suite), verdicts, repeated)
    )


def end(run: str) -> None:
    """End a run on this worker: its tasks stop, and its backends are closed."""
    _ended.add(run)
    with _lock:
        idle = _idle.pop(run, [])
        busy = [host for host in _busy if host.run == run]
    for host in busy:
        # Its call ends at once; the task then closes the backend.
        if isinstance(host.backend, SupervisedBackend):
            host.backend.stop()
    for host in idle:
        _close(host)


def _with_host(run: RemoteRun, function: Callable[[_Host], Result]) -> Result:
    try:
        with _host(run) as host:
            if isinstance(host.backend, SupervisedBackend):
                return function(host)
            with _in_process:
                return function(host)
    except OpcertError as error:
        # Subclasses with more than a message, such as SpecError, do not survive pickling.
        raise OpcertError(f"worker on {platform.node()}: {error}") from None


@contextmanager
def _host(run: RemoteRun) -> Iterator[_Host]:
    """Take an idle host of the run, or start one; it is idle again afterwards."""
    with _lock:
        idle = _idle.get(run.id)
        host = idle.pop() if idle else None
    if host is None:
        host = _Host(run)
    elif host.timer is not None:
        host.timer.cancel()
    try:
        with _lock:
            _busy.add(host)
        yield host
    finally:
        with _lock:
            _busy.discard(host)
            is_ended = run.id in _ended
            if not is_ended:
                _idle.setdefault(run.id, []).append(host)
                host.timer = threading.Timer(IDLE_SECONDS, _close_idle, (run.id, host))
                host.timer.daemon = True
                host.timer.start()
        if is_ended:
            _close(host)


def _close_idle(run: str, host: _Host) -> None:
    with _lock:
        hosts = _idle.get(run, [])
        if host not in hosts:
            return
        hosts.remove(host)
    _close(host)


def _close(host: _Host) -> None:
    if host.timer is not None:
        host.timer.cancel()
    close_backend(host.backend)


def _suite(run: RemoteRun) -> Suite:
    """Return the suite of a run: from its folder, or generated.

    Raises:
        OpcertError: this worker has another suite.
    """
    with _suite_lock:
        if run.suite.digest not in _suites:
            _suites.clear()
            _suites[run.suite.digest] = _find_suite(run)
        # Without what it has read, since another thread may use that.
        return copy(_suites[run.suite.digest])


def _find_suite(run: RemoteRun) -> Suite:
    with suppress(SuiteError):
        suite = Suite(run.folder, run.setup.settings.specs)
        if suite.digest == run.suite.digest:
            return suite
    suite = open_certified_suite(run.suite, None, run.setup.settings.specs)
    if suite.digest != run.suite.digest:
        raise OpcertError(
            f"a worker of the cluster has no suite {run.suite.digest[:12]}: {run.folder} is not "
            "the same folder there, and its specs generate another suite; put the suite into a "
            "folder that all machines share"
        )
    return suite
