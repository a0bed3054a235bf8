"""A run on workers, to which this process gives batches of cases."""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from opcert.certificate.certificate import ClusterEntry, WorkerPlatform
from opcert.certificate.file import json_differences
from opcert.certificate.setup import Setup, stated_arguments
from opcert.certificate.worker import RemoteRun, Site, Task, confirm, describe, end, run_batch
from opcert.errors import BackendError
from opcert.suite.format import SuiteEntry
from opcert.suite.suite import Suite
from opcert.suite.writing import write_suite
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.certification import Batch, Certification, batches
from opcert.verdicts.confirmation import Confirmed
from opcert.verdicts.verdict import Evidence, Verdict
from opcert.workers import ClusterLostError, Processes, TaskKilledError, Workers


@dataclass
class _RemoteBackend:
    """The declarations of a backend that runs on workers."""

    name: str
    version: str
    support: Any

    def run(self, *_: object) -> Sequence[Any]:
        raise NotImplementedError


class RemoteExecution:
    """Makes the calls of a run on workers, each with a backend of its own.

    Its attributes are those of `LocalExecution`; `backend` has the declarations only.
    """

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
        self._files = setup.source_files()
        self._changed: set[str] = set()
        self._cases: Counter[WorkerPlatform] = Counter()
        try:
            self._remote = self._remote_run(setup, suite)
            sites = self._started(setup, suite)
            # What they have in common is that of the first.
            site = sites[0]
            self.entry = site.backend
            self.backend = _RemoteBackend(self.entry.name, self.entry.version, site.support)
            self.run = site.run.model_copy(update={"jobs": len(sites)})
            for other in sites:
                self._check(other)
        except BaseException:
            self.close()
            raise

    def _remote_run(self, setup: Setup, suite: Suite) -> RemoteRun:
        folder = suite.folder
        if suite.files is not None:
            folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="opcert-suite-")))
            write_suite(folder, suite.files.items())
        # Workers may have another current folder.
        specs = setup.settings.specs and Path(setup.settings.specs).absolute()
        return RemoteRun(
            id=self._id,
            setup=replace(setup, settings=replace(setup.settings, specs=specs)),
            suite=SuiteEntry(**suite.identity),
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

        starts = self._workers.each(partial(describe, self._remote), numbers())
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
        # The operators for which a worker looks for the call to repeat.
        sought: set[str] = set()

        def tasks() -> Iterator[Task]:
            for batch in batches(self._suite, cases):
                yield _task(certification, batch, sought)

        for task, future in self._workers.each(partial(run_batch, self._remote), tasks()):
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

    def _check(self, site: Site) -> None:
        """Check that a worker has the same backend as the others.

        Raises:
            BackendError: it has another one.
        """
        expected = {"opcert": version("opcert"), "backend": self.entry.model_dump(mode="json")}
        found = {"opcert": site.opcert, "backend": site.backend.model_dump(mode="json")}
        for place, one, other in json_differences(expected, found):
            raise BackendError(
                f"two workers differ: {'.'.join(place)} is {one} and {other}; install the same "
                "versions and files on all of them"
            )

    def interrupt(self) -> None:
        """End the calls that are under way."""
        self._workers.end(end, self._id)

    def confirm(self, verdicts: Mapping[str, Verdict], repeated: Sequence[str]) -> Confirmed:
        """Confirm failures on one of the workers; none if the cluster is lost meanwhile."""
        try:
            return self._workers.call(partial(confirm, self._remote), (verdicts, repeated))
        except (ClusterLostError, TaskKilledError):
            return Confirmed()

    def changed_files(self) -> set[str]:
        """Return the files of the backend that have changed here, or where a worker runs."""
        self._files.check()
        return self._files.changed | self._changed

    def close(self) -> None:
        """Close the backends on all workers; those of a cluster stay."""
        with self._stack:
            self.interrupt()


def _task(certification: Certification, batch: Batch, sought: set[str]) -> Task:
    """Return the task for a batch, with what is known when it is given out.

    One worker at a time looks for the call of an operator that it can repeat.
    """
    operator = certification.suite.operators[batch.operator]
    reached = certification.verdicts
    former = tuple(reached[name] for name in batch.baselines - {*batch.cases} if name in reached)
    is_repeated = any(case in operator.cases for case in certification.repeated)
    repeats = not is_repeated and batch.operator not in sought
    if repeats:
        sought.add(batch.operator)
    return Task(batch, former, repeats, Counter(certification.crashes))


def _crashes(suite: Suite, batch: Batch, error: TaskKilledError) -> Iterator[Verdict]:
    """Yield a crash for each case of a batch that ended several workers."""
    for case in batch.cases:
        _, record = suite.cases[case]
        text = f"{error}, with the {len(batch.cases)} cases of its batch"
        crash = Verdict(case, batch.operator, "crash", None, "crash", record.rules, text)
        yield replace(crash, evidence=Evidence(reason=text))
