"""What a worker runs: batches of cases, on a backend that stays open from batch to batch."""

import atexit
import platform
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from opcert.backends.contract import close_backend
from opcert.certificate.certificate import BackendEntry, Run, WorkerPlatform
from opcert.certificate.setup import Setup, confirmed, this_machine
from opcert.errors import BackendError, OpcertError, SuiteError
from opcert.isolation.supervised import SupervisedBackend
from opcert.run.comparison import Excerpt
from opcert.suite.format import SuiteEntry
from opcert.suite.generation import open_certified_suite
from opcert.suite.suite import Suite
from opcert.suite.support import checked_support
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.certification import Batch, Certification
from opcert.verdicts.confirmation import Confirmed
from opcert.verdicts.verdict import Verdict

Result = TypeVar("Result")


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
    is_elsewhere: bool


@dataclass(frozen=True)
class Site:
    """A backend as a worker started it, and the worker's platform."""

    backend: BackendEntry
    support: Any
    run: Run
    opcert: str
    platform: WorkerPlatform


@dataclass(frozen=True)
class Task:
    """A batch, and what a certification of its cases depends on."""

    batch: Batch
    former: tuple[Verdict, ...]
    repeats: bool
    crashes: Counter[str]


@dataclass(frozen=True)
class Report:
    """What a batch came to, after the last checks of its inputs and outputs, and where.

    `changed` are the files of the backend that have changed.
    """

    verdicts: Sequence[Verdict]
    excerpts: Mapping[str, Excerpt]
    repeated: Sequence[str]
    site: Site
    changed: frozenset[str]


class _Host:
    """A backend of a run with a suite of its own, in one thread of a worker."""

    def __init__(self, run: RemoteRun) -> None:
        self.run = run.id
        self.suite = _suite(run)
        if (claim := run.setup.claim) is not None and claim.content.arithmetic:
            self.suite.claim(claim.content.arithmetic)
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
        self.crashes: Counter[str] = Counter()
        device = run.setup.options.get("device")
        named = None if device is None else str(device)
        self.site = Site(
            backend=entry.model_copy(update=run.stated),
            support=getattr(self.backend, "support", None),
            run=run_entry,
            opcert=version("opcert"),
            platform=WorkerPlatform(**this_machine(), device=named, cases=0),
        )
        self.is_busy = False


# The backend that each thread of this process has started last, and the runs that have ended.
_hosts: dict[int, _Host] = {}
_ended: set[str] = set()
# A backend in the process of a worker shares it with those of other threads.
_in_process = threading.Lock()


def describe(run: RemoteRun, _: object = None) -> Site:
    """Start the backend, unless it is running, and describe it and this worker."""
    return _on_host(run, lambda host: host.site)


def run_batch(run: RemoteRun, task: Task) -> Report:
    """Run the cases of a batch, one after the other, until the run ends."""

    def on_host(host: _Host) -> Report:
        # The next batches have the same operator as well, so that a worker needs only one.
        host.suite.operators.release_all_but(task.batch.operator)
        # Other batches of this worker may have crashed since this one was given out.
        crashes = task.crashes | host.crashes
        certification: Certification = host.start_certification(
            host.backend, former=task.former, repeats=task.repeats, crashes=crashes
        )
        for case in task.batch.cases:
            if run.id in _ended:
                break
            certification.verdict(case)
        verdicts = certification.release()
        host.crashes |= certification.crashes
        return Report(
            verdicts,
            certification.excerpts,
            certification.repeated,
            host.site,
            frozenset(host.files.changed),
        )

    return _on_host(run, on_host)


def confirm(run: RemoteRun, failed: tuple[Mapping[str, Verdict], Sequence[str]]) -> Confirmed:
    """Confirm the failures of a run, given its verdicts and the cases that were repeated."""
    return _on_host(run, lambda host: confirmed(host.backend, Diagnosis(host.suite), *failed))


def end(run: str) -> None:
    """End a run on this worker: its batches stop, and its backends are closed."""
    _ended.add(run)
    for thread, host in [*_hosts.items()]:
        if host.run != run:
            continue
        if not host.is_busy:
            del _hosts[thread]
            close_backend(host.backend)
        elif isinstance(host.backend, SupervisedBackend):
            # Its call ends at once, and its batch after it.
            host.backend.stop()


@atexit.register
def _close_backends() -> None:
    for host in _hosts.values():
        close_backend(host.backend)


def _on_host(run: RemoteRun, function: Callable[[_Host], Result]) -> Result:
    """Call a function with the backend that this thread has for a run, which may start now."""
    thread = threading.get_ident()
    try:
        if thread in _hosts and _hosts[thread].run != run.id:
            close_backend(_hosts.pop(thread).backend)
        if thread not in _hosts:
            _hosts[thread] = _Host(run)
        host = _hosts[thread]
        host.is_busy = True
        is_isolated = isinstance(host.backend, SupervisedBackend)
        try:
            with nullcontext() if is_isolated else _in_process:
                return function(host)
        finally:
            host.is_busy = False
            if run.id in _ended:
                _hosts.pop(thread, None)
                close_backend(host.backend)
    except OpcertError as error:
        if not run.is_elsewhere:
            raise
        raise OpcertError(f"worker on {platform.node()}: {error}") from None


def _suite(run: RemoteRun) -> Suite:
    """Return the suite of a run: from its folder, or generated.

    Raises:
        OpcertError: this worker has another suite.
    """
    with suppress(SuiteError):
        suite = Suite(run.folder, run.setup.settings.specs)
        if suite.digest == run.suite.digest:
            return suite
    suite = open_certified_suite(run.suite, None, run.setup.settings.specs)
    if suite.digest != run.suite.digest:
        raise OpcertError(
            f"found no suite {run.suite.digest[:12]}: {run.folder} is not the same folder here, "
            "and the specs generate another suite; put the suite into a folder that all machines "
            "share"
        )
    return suite
