"""Batches of cases as tasks, which processes of this machine or workers of a cluster run."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from opcert.backends import Backend
from opcert.run import Excerpt
from opcert.verdicts import Batch, Certification, Verdict

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
        self._batches = iter(batches)

    def next(self, running: Iterable[Task]) -> Task | None:
        """Return the next task, or None after the last; `running` are those under way."""
        batch = next(self._batches, None)
        if batch is None:
            return None
        run = self.certification
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
        self._cases = task.batch.cases
        self._certification = start(
            backend, former=task.former, repeats=task.repeats, crashes=task.crashes
        )

    def __iter__(self) -> Iterator[Verdict]:
        """Yield each verdict as it is reached; a later case may still change it."""
        return map(self._certification.verdict, self._cases)

    def finish(self) -> Finished:
        """Check inputs and outputs a last time."""
        run = self._certification
        return Finished(run.release(), run.excerpts, run.repeated)
