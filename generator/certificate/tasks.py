"""Batches of cases as tasks, which processes of this machine or workers of a cluster run."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from opcert.backends.contract import Backend
from opcert.run.excerpts import Excerpt
from opcert.verdicts.batches import Batch
from opcert.verdicts.certification import Certification
from opcert.verdicts.verdict import Verdict

# Returns a certification on a backend, given keyword arguments for one batch.
StartCertification: TypeAlias = Callable[..., Certification]


@dataclass(frozen=True)
class Task:
    """A batch, and what a certification of its cases depends on."""

    batch: Batch
    former: tuple[Verdict, ...]
    repeats: bool
    crashes: dict[str, int]


@dataclass(frozen=True)
class Finished:
    """What a batch came to, after the last checks of its inputs and outputs."""

    verdicts: list[Verdict]
    excerpts: dict[str, Excerpt]
    repeated: tuple[str, ...]


class Tasks:
    """Makes tasks of batches, one by one; `certification` takes over what they come to."""

    def __init__(self, certification: Certification, batches: Iterable[Batch]) -> None:
        self.certification = certification
        self._batches: dict[str, deque[Batch]] = {}
        for batch in batches:
            self._batches.setdefault(batch.operator, deque()).append(batch)

    def next(self, running: Collection[Task], last: Task | None = None) -> Task | None:
        """Return the next task, or None after the last; `running` are those under way.

        It has the operator of the `last` task of its process, which has read the operator's cases.
        After all of them, it has the operator of which most is left, one that does not run if
        there is one.
        """
        if not self._batches:
            return None
        run = self.certification
        under_way = {task.batch.operator for task in running}
        name = None if last is None else last.batch.operator
        if name not in self._batches:
            name = max(self._batches, key=lambda n: (n not in under_way, len(self._batches[n])))
        batch = self._batches[name].popleft()
        if not self._batches[name]:
            del self._batches[name]
        operator = run.suite.operators[batch.operator]
        baselines = {operator.cases[case].baseline for case in batch.cases} - {*batch.cases}
        former = tuple(run.verdicts[name] for name in baselines if name and name in run.verdicts)
        # One process at a time looks for the call of an operator that it can repeat.
        is_sought = any(task.repeats and task.batch.operator == batch.operator for task in running)
        repeats = not is_sought and not any(case in operator.cases for case in run.repeated)
        return Task(batch, former, repeats, {**run.crashes})

    def accept(self, finished: Finished) -> None:
        """Take over what a task came to."""
        self.certification.accept(finished.verdicts, finished.excerpts, finished.repeated)


class TaskRun:
    """Runs the cases of a task on a backend: yields verdicts, then has the final ones."""

    def __init__(self, task: Task, backend: Backend, start: StartCertification) -> None:
        """Prepare to run a task; `start` starts certifications of a suite of this process alone."""
        self._cases = task.batch.cases
        self._certification = start(
            backend, former=task.former, repeats=task.repeats, crashes=task.crashes
        )
        # The next tasks have the same operator as well, so that a process needs only one.
        self._certification.suite.operators.release_all_but(task.batch.operator)

    def __iter__(self) -> Iterator[Verdict]:
        """Yield each verdict as it is reached; a later case may still change it."""
        return map(self._certification.verdict, self._cases)

    def finish(self) -> Finished:
        """Check inputs and outputs a last time."""
        run = self._certification
        return Finished(run.release(), run.excerpts, run.repeated)
