"""A run on workers: they get batches of cases, and keep a backend open from batch to batch."""

import atexit
import platform
import threading
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from opcert.backends.lookup import SourceFiles
from opcert.certificate.certificate import BackendEntry, ClusterEntry, Run, WorkerPlatform
from opcert.certificate.file import json_differences
from opcert.certificate.setup import LocalExecution, Setup, stated_arguments, this_machine
from opcert.errors import BackendError, OpcertError, SuiteError
from opcert.isolation.supervised import SupervisedBackend
from opcert.run.comparison import Excerpt
from opcert.suite.format import SuiteEntry
from opcert.suite.generation import open_certified_suite
from opcert.suite.suite import Suite
from opcert.suite.writing import write_suite
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.certification import Batch, Certification, batches
from opcert.verdicts.confirmation import Confirmed
from opcert.verdicts.verdict import Evidence, Verdict
from opcert.workers import ClusterLostError, Processes, TaskKilledError, Workers


@dataclass(frozen=True)
class _RemoteRun:
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
    run: Run
    opcert: str
    platform: WorkerPlatform


@dataclass(frozen=True)
class _Task:
    """A batch, and what a certification of its cases depends on."""

    batch: Batch
    former: tuple[Verdict, ...]
    repeats: bool
    crashes: Counter[str]


@dataclass(frozen=True)
class Report:
    """What a batch came to, after its last checks, and where; which of its files changed."""

    verdicts: Sequence[Verdict]
    excerpts: Mapping[str, Excerpt]
    repeated: Sequence[str]
    site: Site
    changed: frozenset[str]


class _Host(LocalExecution):
    """A backend of a run with a suite of its own, in one thread of a worker."""

    def __init__(self, run: _RemoteRun) -> None:
        self.id = run.id
        self.suite = _suite(run)
        claim = run.setup.claim
        self.suite.claim({} if claim is None else claim.content.arithmetic)
        super().__init__(run.setup, self.suite)
        self.crashes: Counter[str] = Counter()
        device = run.setup.options.get("device")
        named = None if device is None else str(device)
        self.site = Site(
            backend=self.entry.model_copy(update=run.stated),
            run=self.run,
            opcert=version("opcert"),
            platform=WorkerPlatform(**this_machine(), device=named, cases=0),
        )
        self.is_busy = False


# The backend that each thread of this process has started last, and the runs that have ended.
_hosts: dict[int, _Host] = {}
_ended: set[str] = set()
# A backend in the process of a worker shares it with those of other threads.
_in_process = threading.Lock()


def _describe(run: _RemoteRun, _: object = None) -> Site:
    """Start the backend, unless it is running, and describe it and this worker."""
    with _host_of(run) as host:
        return host.site


def _run_batch(run: _RemoteRun, task: _Task) -> Report:
    """Run the cases of a batch, one after the other, until the run ends."""
    with _host_of(run) as host:
        # Other batches of this worker may have crashed since this one was given out.
        crashes = task.crashes | host.crashes
        certification = run.setup.start_certification(
            host.backend,
            host.entry,
            host.suite,
            former=task.former,
            repeats=task.repeats,
            crashes=crashes,
        )
        for case in task.batch.cases:
            if run.id in _ended:
                break
            certification.verdict(case)
        verdicts = certification.release()
        host.crashes |= certification.crashes
        changed = frozenset(host.files.changed)
        return Report(verdicts, certification.excerpts, certification.repeated, host.site, changed)


def _confirm(run: _RemoteRun, failed: tuple[Mapping[str, Verdict], Sequence[str]]) -> Confirmed:
    """Confirm the failures of a run, given its verdicts and the cases that were repeated."""
    with _host_of(run) as host:
        return host.confirm(*failed)


def _end(run: str) -> None:
    """End a run on this worker: its batches stop, and its backends are closed."""
    _ended.add(run)
    for thread, host in [*_hosts.items()]:
        if host.id != run:
            continue
        if host.is_busy:
            # Its call ends at once, and its batch after it.
            host.interrupt()
        else:
            del _hosts[thread]
            host.close()


@atexit.register
def _close_backends() -> None:
    for host in _hosts.values():
        host.close()


@contextmanager
def _host_of(run: _RemoteRun) -> Iterator[_Host]:
    """Use the backend that this thread has for a run, which may start now."""
    thread = threading.get_ident()
    try:
        if thread in _hosts and _hosts[thread].id != run.id:
            _hosts.pop(thread).close()
        if thread not in _hosts:
            _hosts[thread] = _Host(run)
        host = _hosts[thread]
        host.is_busy = True
        is_isolated = isinstance(host.backend, SupervisedBackend)
        try:
            with nullcontext() if is_isolated else _in_process:
                yield host
        finally:
            host.is_busy = False
            if run.id in _ended:
                _hosts.pop(thread, None)
                host.close()
    except OpcertError as error:
        if not run.is_elsewhere:
            raise
        raise OpcertError(f"worker on {platform.node()}: {error}") from None


def _suite(run: _RemoteRun) -> Suite:
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


class RemoteExecution:
    """Makes the calls of a run on workers, each with a backend of its own.

    Its attributes are those of `LocalExecution`, but that no `backend` is in this process.
    """

    backend: Any = None

    def __init__(self, cluster: Workers | None, setup: Setup, suite: Suite) -> None:
        """Start the backend on the workers of a cluster, or in processes of this machine.

        Raises:
            OpcertError: it cannot be started, or the workers have different versions of it.
        """
        self._suite, self.diagnosis = suite, Diagnosis(suite)
        self._id = uuid4().hex
        self._stack = ExitStack()
        self._is_cluster = cluster is not None
        self._workers = cluster or self._stack.enter_context(Processes(setup.settings.jobs))
        # A cluster may be used for several runs.
        self._lost_before = len(self._workers.lost)
        self._files = SourceFiles(setup.backend)
        self._changed: set[str] = set()
        self._cases: Counter[WorkerPlatform] = Counter()
        try:
            self._remote = self._remote_run(setup, suite)
            sites = self._started(setup, suite)
            # What they have in common is that of the first.
            self.entry = sites[0].backend
            self.run = sites[0].run.model_copy(update={"jobs": len(sites)})
            for other in sites:
                self._check(other)
        except BaseException:
            self.close()
            raise

    def _remote_run(self, setup: Setup, suite: Suite) -> _RemoteRun:
        folder = suite.folder
        if suite.files is not None:
            folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="opcert-suite-")))
            write_suite(folder, suite.files.items())
        # Workers may have another current folder.
        specs = setup.settings.specs and Path(setup.settings.specs).absolute()
        return _RemoteRun(
            id=self._id,
            setup=replace(setup, settings=replace(setup.settings, specs=specs)),
            suite=suite.identity,
            folder=folder.absolute(),
            stated=stated_arguments(setup.backend, setup.options),
            is_elsewhere=self._is_cluster,
        )

    def _started(self, setup: Setup, suite: Suite) -> list[Site]:
        """Start a backend for each task that can run at once; describe them."""

        def numbers() -> Iterator[int]:
            yield from range(self._workers.count)
            # They start while this process reads the suite.
            suite.select(setup.settings.operator or "*", "")

        starts = self._workers.each(partial(_describe, self._remote), numbers())
        try:
            return [self._workers.result(future) for _, future in starts]
        except TaskKilledError as error:
            raise BackendError(f"the backend cannot be started: {error}") from None

    @property
    def cluster(self) -> ClusterEntry | None:
        """The workers of a cluster that have taken part so far."""
        if not self._is_cluster:
            return None
        with suppress(ClusterLostError):
            self._workers.check()
        platforms = (on.model_copy(update={"cases": count}) for on, count in self._cases.items())
        lost = len(self._workers.lost) - self._lost_before
        return ClusterEntry(platforms=tuple(platforms), lost=lost)

    def verdicts(self, certification: Certification, cases: Sequence[str]) -> Generator[Verdict]:
        """Run batches of the cases on all workers; those of a lost worker run again elsewhere.

        Raises:
            ClusterLostError: the scheduler or all workers are gone.
            OpcertError: a worker has another version of the backend.
        """
        # The operators for which a worker looks for the call to repeat, one at a time.
        sought: set[str] = set()
        tasks = self._tasks(certification, cases, sought)
        for task, future in self._workers.each(partial(_run_batch, self._remote), tasks):
            batch, platform = task.batch, None
            if task.repeats:
                sought.discard(batch.operator)
            try:
                report = self._workers.result(future)
            except TaskKilledError as error:
                verdicts: Sequence[Verdict] = [*_crashes(self._suite, batch, error)]
            else:
                self._check(report.site)
                self._changed |= report.changed
                certification.accept((), report.excerpts, report.repeated)
                verdicts, platform = report.verdicts, report.site.platform
            # One by one, since whoever takes them may end the run in between.
            for verdict in verdicts:
                certification.accept([verdict])
                if verdict.case in batch.cases:
                    if platform is not None:
                        self._cases[platform] += 1
                    yield verdict

    def _tasks(
        self, certification: Certification, cases: Sequence[str], sought: set[str]
    ) -> Iterator[_Task]:
        """Yield the tasks, each with what is known when it is given out."""
        reached = certification.verdicts
        for batch in batches(self._suite, cases):
            others = batch.baselines - {*batch.cases}
            former = tuple(reached[name] for name in others if name in reached)
            own = certification.suite.operators[batch.operator].cases.keys()
            repeats = own.isdisjoint(certification.repeated) and batch.operator not in sought
            if repeats:
                sought.add(batch.operator)
            yield _Task(batch, former, repeats, Counter(certification.crashes))

    def _check(self, site: Site) -> None:
        """Check that a worker has the same backend as the others.

        Raises:
            BackendError: it has another one.
        """
        expected = {"opcert": version("opcert"), "backend": self.entry.model_dump(mode="json")}
        found = {"opcert": site.opcert, "backend": site.backend.model_dump(mode="json")}
        for place, one, other in json_differences(expected, found):
            raise BackendError(
                f"two workers differ: {place} is {one} and {other}; install the same "
                "versions and files on all of them"
            )

    def interrupt(self) -> None:
        """End the calls that are under way."""
        self._workers.end(_end, self._id)

    def confirm(self, verdicts: Mapping[str, Verdict], repeated: Sequence[str]) -> Confirmed:
        """Confirm failures on one of the workers; none if the cluster is lost meanwhile."""
        try:
            return self._workers.call(partial(_confirm, self._remote), (verdicts, repeated))
        except (ClusterLostError, TaskKilledError):
            return Confirmed()

    def changed_files(self) -> set[str]:
        """Return the files of the backend that have changed here, or where a worker runs."""
        return self._files.check() | self._changed

    def close(self) -> None:
        """Close the backends on all workers; those of a cluster stay."""
        with self._stack:
            self.interrupt()


def _crashes(suite: Suite, batch: Batch, error: TaskKilledError) -> Iterator[Verdict]:
    """Yield a crash for each case of a batch that ended several workers."""
    text = f"{error}, with the {len(batch.cases)} cases of its batch"
    end = Evidence(reason=text)
    for case in batch.cases:
        rules = suite.cases[case].rules
        yield Verdict(case, batch.operator, "crash", None, "crash", rules, text, evidence=end)
