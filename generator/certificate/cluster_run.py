"""A run on a cluster: its tasks, and what the workers have in common."""

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

from opcert.certificate.certificate import ClusterEntry, WorkerPlatform
from opcert.certificate.cluster_worker import (
    RemoteRun,
    Report,
    Site,
    confirm,
    describe,
    end,
    run_tasks,
)
from opcert.certificate.execution import Execution
from opcert.certificate.file import json_differences
from opcert.certificate.setup import Finished, Setup, Task, Tasks, stated_arguments
from opcert.cluster import Cluster, ClusterLostError, TaskKilledError
from opcert.errors import BackendError
from opcert.suite.format import SuiteEntry
from opcert.suite.suite import Suite
from opcert.verdicts.certification import Certification, batches
from opcert.verdicts.confirmation import Confirmed
from opcert.verdicts.verdict import Verdict

# Tasks are handed out in groups of so many seconds, and so many batches at most.
_GROUP_SECONDS, _MAX_GROUP = 4.0, 50


@dataclass
class _RemoteBackend:
    """The declarations of a backend that runs on the workers of a cluster."""

    name: str
    version: str
    support: Any

    def run(self, *_: object) -> Sequence[Any]:
        raise NotImplementedError


class ClusterExecution(Execution):
    """Makes the calls on the workers of a cluster, each with a backend of its own."""

    def __init__(self, cluster: Cluster, setup: Setup, suite: Suite) -> None:
        """Start the backend on all workers.

        Raises:
            OpcertError: it cannot be started, or the workers have different versions of it.
        """
        self._cluster = cluster
        specs = setup.settings.specs
        # Workers may have another current folder.
        settings = replace(setup.settings, specs=specs and Path(specs).absolute())
        self._run = RemoteRun(
            id=uuid4().hex,
            setup=replace(setup, settings=settings),
            suite=SuiteEntry(**suite.identity),
            folder=suite.folder.absolute(),
            stated=stated_arguments(setup.backend, setup.options),
        )
        # How long a batch takes; the first ones find out.
        self._seconds = float(_GROUP_SECONDS)
        # All workers have tasks of one operator, so that none of them has read many operators.
        self._last: Task | None = None
        self._changed: set[str] = set()
        self._cases: Counter[WorkerPlatform] = Counter()
        # A cluster may be used for several runs.
        self._lost_before = len(cluster.lost)
        threads = cluster.workers()
        try:
            # Each of these workers may have been lost in the meantime.
            described = cluster.on_each(describe, self._run, workers=threads)
            described = described or [self._call(describe)]
        except TaskKilledError as error:
            raise BackendError(f"the backend cannot be started: {error}") from None
        site = described[0]
        super().__init__(
            _RemoteBackend(site.backend.name, site.backend.version, site.support),
            site.backend,
            site.run.model_copy(update={"jobs": sum(threads.values())}),
            suite,
        )
        for other in described:
            self._check(other)

    @property
    def cluster(self) -> ClusterEntry:
        """The workers that have taken part so far."""
        with suppress(ClusterLostError):
            self._cluster.workers()
        platforms = (on.model_copy(update={"cases": count}) for on, count in self._cases.items())
        lost = len(self._cluster.lost) - self._lost_before
        return ClusterEntry(platforms=tuple(platforms), lost=lost)

    def verdicts(self, certification: Certification, cases: Sequence[str]) -> Generator[Verdict]:
        """Run batches of the cases on all workers; those of a lost worker run again elsewhere.

        Raises:
            ClusterLostError: the scheduler or all workers are gone.
            OpcertError: a worker has another version of the backend.
        """
        tasks = Tasks(certification, batches(self.suite, cases))
        running: dict[Any, list[Task]] = {}
        # Those of a group that ended workers: only one of them need be at fault.
        alone: list[Task] = []
        try:
            while True:
                while len(running) < self._cluster.capacity:
                    under_way = [task for group in running.values() for task in group]
                    group = [alone.pop()] if alone else self._next_group(tasks, under_way)
                    if not group:
                        break
                    running[self._cluster.submit(run_tasks, self._run, group)] = group
                if not running:
                    return
                for future in self._cluster.completed(running):
                    group = running.pop(future)
                    try:
                        reached = self._accept(self._cluster.result(future), group)
                    except TaskKilledError as error:
                        if len(group) > 1:
                            alone += group
                            continue
                        reached = [Finished([*_crashes(self.suite, group[0], error)], {}, ())]
                    for finished in reached:
                        tasks.accept(finished)
                    for task in group:
                        done = (name for name in task.batch.cases if name in certification.verdicts)
                        yield from map(certification.verdicts.__getitem__, done)
        finally:
            self._cluster.cancel(running)

    def _next_group(self, tasks: Tasks, running: Sequence[Task]) -> list[Task]:
        """Return the next tasks that together take some seconds, by what earlier ones took."""
        group: list[Task] = []
        while len(group) < max(1, min(_MAX_GROUP, _GROUP_SECONDS // self._seconds)):
            task = tasks.next([*running, *group], self._last)
            if task is None:
                break
            self._last = task
            group.append(task)
        return group

    def _accept(self, report: Report, group: Sequence[Task]) -> Sequence[Finished]:
        """Note where tasks ran, and for how long; return what they came to."""
        self._check(report.site)
        self._changed.update(report.changed)
        self._seconds = max(1e-3, report.seconds / len(group))
        self._cases[report.site.platform] += sum(len(task.batch.cases) for task in group)
        return report.finished

    def _check(self, site: Site) -> None:
        """Check that a worker has the same backend as the others.

        Raises:
            BackendError: it has another one.
        """
        expected = {"opcert": version("opcert"), "backend": self.entry.model_dump(mode="json")}
        found = {"opcert": site.opcert, "backend": site.backend.model_dump(mode="json")}
        for place, one, other in json_differences(expected, found):
            raise BackendError(
                f"cluster {self._cluster.address}: two workers differ: {'.'.join(place)} is {one} "
                f"and {other}; install the same versions and files on all of them"
            )

    def _call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Have a worker call a function, and return its result."""
        future = self._cluster.submit(function, self._run, *arguments)
        try:
            self._cluster.completed([future])
            return self._cluster.result(future)
        finally:
            self._cluster.cancel([future])

    def interrupt(self) -> None:
        """End the calls that are under way."""
        self._cluster.run_everywhere(end, self._run.id)

    def confirm(self, verdicts: Mapping[str, Verdict], repeated: Sequence[str]) -> Confirmed:
        """Confirm failures on one of the workers; none if the cluster is lost meanwhile."""
        try:
            confirmed: Confirmed = self._call(confirm, verdicts, repeated)
            return confirmed
        except (ClusterLostError, TaskKilledError):
            return Confirmed()

    def changed_files(self) -> set[str]:
        """Return the files of the backend that workers found to have changed."""
        return self._changed

    def close(self) -> None:
        """Close the backends on all workers; the cluster stays."""
        self.interrupt()


def _crashes(suite: Suite, task: Task, error: TaskKilledError) -> Iterator[Verdict]:
    """Yield a crash for each case of a task that ended several workers."""
    for case in task.batch.cases:
        operator, record = suite.cases[case]
        text = f"{error}, with the {len(task.batch.cases)} cases of its batch"
        yield Verdict(case, operator.index.operator, "crash", None, "crash", record.rules, text)
