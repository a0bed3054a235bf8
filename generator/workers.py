"""Where tasks run at once: in processes of this machine, or on a cluster (see `cluster`)."""

import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Self, TypeVar

from opcert.errors import OpcertError
from opcert.system import end_with_parent

Task = TypeVar("Task")
Result = TypeVar("Result")

# Tasks that are given out for each worker: one runs, and one waits, so that no worker does.
_TASKS_PER_WORKER = 2
# How often the workers are checked while none of them finishes a task.
POLL_SECONDS = 2.0
# How many seconds a process may take to end, and to close its backend.
_EXIT_SECONDS = 10.0


class TaskKilledError(OpcertError):
    """A task ended several workers, one after the other."""


class Workers(ABC):
    """An executor of `concurrent.futures` with what it lacks; use it as a context manager.

    Attributes:
        lost: The workers that were there once, and are gone.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.lost: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    @abstractmethod
    def count(self) -> int:
        """How many tasks run at once."""

    @abstractmethod
    def end(self, function: Callable[..., object], *arguments: object) -> None:
        """End the tasks that run: by a quick function on each worker, or with their processes."""

    @abstractmethod
    def close(self) -> None:
        """End the workers that were started here."""

    @abstractmethod
    def check(self) -> None:
        """Check that a worker is left.

        Raises:
            OpcertError: none is left.
        """

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn the exceptions of the executor into errors."""
        yield

    def each(
        self, function: Callable[[Task], Result], tasks: Iterable[Task]
    ) -> Iterator[tuple[Task, Future[Result]]]:
        """Call a function with each task on the workers; yield each when it is done.

        A task is made when it is given out, shortly before a worker is free.

        Raises:
            OpcertError: no worker is left.
        """
        waiting = iter(tasks)
        given: dict[Future[Result], Task] = {}
        try:
            while True:
                free = max(0, _TASKS_PER_WORKER * self.count - len(given))
                for task in islice(waiting, free):
                    with self.errors():
                        given[self._executor.submit(function, task)] = task
                if not given:
                    return
                done = wait(given, POLL_SECONDS, FIRST_COMPLETED).done
                if not done:
                    self.check()
                for future in done:
                    yield given.pop(future), future
        finally:
            for future in given:
                future.cancel()

    def result(self, future: Future[Result]) -> Result:
        """Return what a task has come to.

        Raises:
            TaskKilledError: the task ended several workers.
            OpcertError: the function raised it, or the worker is gone.
        """
        with self.errors():
            return future.result()

    def call(self, function: Callable[[Task], Result], task: Task) -> Result:
        """Return the result of one task."""
        ((_, future),) = self.each(function, [task])
        return self.result(future)


class _Context(SpawnContext):
    """Starts the processes of a pool, and keeps them: a pool has no means to end them.

    They are spawned, not forked: the caller may have threads, and a runtime may be loaded.
    """

    def __init__(self) -> None:
        super().__init__()
        self.started: list[SpawnProcess] = []

    def Process(self, *arguments: Any, **options: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802 - the name that a pool calls
        """Return a new process."""
        self.started.append(SpawnProcess(*arguments, **options))
        return self.started[-1]


class Processes(Workers):
    """Processes of this machine."""

    def __init__(self, jobs: int) -> None:
        self._jobs, self._context = jobs, _Context()
        super().__init__(ProcessPoolExecutor(jobs, self._context, _begin))

    @property
    def count(self) -> int:
        """How many processes there are."""
        return self._jobs

    def check(self) -> None:
        """Do nothing: a pool that has lost a process fails its tasks."""

    def end(self, *_: object) -> None:
        """End the processes, in which the tasks run."""
        self.close()

    def close(self) -> None:
        """End the processes, which close what they have opened; kill those that do not."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        # The system may have refused to start one.
        started = [process for process in self._context.started if process.pid is not None]
        for process in started:
            process.terminate()
        for process in started:
            process.join(_EXIT_SECONDS)
            process.kill()
            # The pool waits for it too, and may be the one that learns of its end.
            while process.exitcode is None:
                process.join()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Name what may have ended a process."""
        try:
            yield
        except BrokenProcessPool:
            raise OpcertError(
                f"one of {self._jobs} processes ended early; use fewer --jobs if the memory was "
                "short, and leave out --in-process, so that a backend has a process of its own"
            ) from None


def _begin() -> None:
    """Prepare a new process."""
    end_with_parent()
    # An interrupt of the terminal reaches all its processes; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # It exits as usual, and so closes what it has opened.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
