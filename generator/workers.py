"""Where tasks run at once: in processes of this machine, or on a cluster of dask.distributed."""

import json
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, TypeVar

from opcert.errors import OpcertError, describe_error
from opcert.system import end_with_parent, hold_interrupts

if TYPE_CHECKING:
    from distributed import Client

Task = TypeVar("Task")
Result = TypeVar("Result")
# Tasks that are given out for each worker: one runs, and one waits, so that no worker does.
_TASKS_PER_WORKER = 2
# How often the workers are checked while none of them finishes a task.
_POLL_SECONDS = 2.0
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
                        given[self._executor.submit(_call, function, task)] = task
                if not given:
                    return
                done = wait(given, _POLL_SECONDS, FIRST_COMPLETED).done
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


class _Process(SpawnProcess):
    """A process that no interrupt of the terminal reaches: its parent ends it."""

    def start(self) -> None:
        """Start it."""
        hold_interrupts(True, signal.SIGINT)
        try:
            super().start()
        finally:
            hold_interrupts(False, signal.SIGINT)


class _Context(SpawnContext):
    """Starts the processes of a pool, and keeps them: a pool has no means to end them."""

    # They are spawned, not forked: the caller may have threads, and a runtime may be loaded.
    def __init__(self) -> None:
        super().__init__()
        self.started: list[SpawnProcess] = []

    def Process(self, *arguments: Any, **options: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802 - the name that a pool calls
        """Return a new process."""
        self.started.append(_Process(*arguments, **options))
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
    # No interrupt of the terminal reaches what it starts either.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)


# The signals that have asked this process to end.
_requests: list[int] = []


def _end(number: int, _: object) -> None:
    """Exit as usual, and so close what was opened."""
    _requests.append(number)
    # An exit within a destructor is lost, and would be printed.
    sys.unraisablehook = lambda _: None
    sys.exit()


def _call(function: Callable[[Task], Result], task: Task) -> Result:
    """Call a function with a task, unless this process ends, of which a pool takes no notice."""
    if _requests:
        sys.exit()
    return function(task)


# How many seconds a scheduler has to answer, and suitable workers to appear, at first or again.
CONNECT_SECONDS = 10.0
WORKERS_SECONDS = 60.0


class ClusterLostError(OpcertError):
    """The scheduler, or every suitable worker, is gone."""


class Cluster(Workers):
    """A connection to a cluster."""

    def __init__(self, address: str, resources: Mapping[str, float] | None = None) -> None:
        """Connect to the scheduler with this address, or with this scheduler file.

        Only workers that offer the `resources`, such as {"GPU": 1}, get tasks.

        Raises:
            OpcertError: the package distributed is missing, no scheduler answers at the address, or
                no worker offers the resources.
        """
        self.address = address
        self.resources = dict(resources or {})
        # Workers that were there once.
        self._known: set[str] = set()
        self._alone_since: float | None = None
        self._client = _connected(address)
        super().__init__(self._client.get_executor(pure=False, resources=self.resources or None))
        try:
            self._await_workers()
        except BaseException:
            self.close()
            raise

    @property
    def count(self) -> int:
        """How many threads the suitable workers have."""
        return max(1, sum(self.workers().values()))

    def workers(self) -> dict[str, int]:
        """Return the number of threads of each suitable worker, by its address.

        Raises:
            ClusterLostError: the scheduler does not answer.
        """
        try:
            answer = self._client.sync(self._client.scheduler.identity, n_workers=-1)
        except (OSError, TimeoutError):
            raise self._lost("the scheduler is") from None
        found = {
            address: int(worker["nthreads"])
            for address, worker in answer["workers"].items()
            if all(worker["resources"].get(name, 0) >= n for name, n in self.resources.items())
        }
        self.lost |= self._known - found.keys()
        self._known |= found.keys()
        return found

    def check(self) -> None:
        """Check that the scheduler answers, and that a worker is left, or comes soon.

        Raises:
            ClusterLostError: it does not, or none does.
        """
        if self.workers():
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = monotonic()
        elif monotonic() - self._alone_since > WORKERS_SECONDS:
            raise self._lost("all workers are")

    def _lost(self, what: str) -> ClusterLostError:
        return ClusterLostError(f"cluster {self.address}: {what} gone")

    def _await_workers(self) -> None:
        start = monotonic()
        while not self.workers():
            if monotonic() - start > CONNECT_SECONDS:
                wanted = ", ".join(f"{name}={amount:g}" for name, amount in self.resources.items())
                kind = f"worker that offers {wanted}" if wanted else "worker"
                raise OpcertError(
                    f"cluster {self.address}: no {kind}; start one with `dask worker ADDRESS`"
                    + (f" --resources '{wanted}'" if wanted else "")
                )
            with suppress(TimeoutError):
                self._client.wait_for_workers(1, timeout=_POLL_SECONDS)

    def end(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a quick function on all workers; ignore those that do not answer."""

        def call() -> None:
            with suppress(Exception):
                self._client.run(function, *arguments, on_error="ignore")

        # A worker whose interpreter is held by a backend does not answer.
        thread = Thread(target=call, daemon=True)
        thread.start()
        thread.join(CONNECT_SECONDS)

    def close(self) -> None:
        """Disconnect."""
        with suppress(OSError, TimeoutError):
            self._client.close()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn the exceptions of dask into errors."""
        from distributed import KilledWorker  # noqa: PLC0415 - it takes a second, and few runs need it

        try:
            yield
        except KilledWorker as error:
            count = error.allowed_failures + 1
            raise TaskKilledError(f"it ended {count} workers of the cluster") from None
        except CancelledError:
            raise self._lost("the scheduler is") from None
        except (ImportError, AttributeError) as error:
            text = f"a worker cannot run opcert: {error}; install the same version of opcert on"
            raise OpcertError(f"cluster {self.address}: {text} all workers") from None


def _connected(address: str) -> "Client":
    """Connect to a scheduler once it has answered.

    A client of dask waits for ever for a scheduler file that does not exist, or for a server that
    does not answer, and complains as it is collected if it could not connect.

    Raises:
        OpcertError: no scheduler answers there, or the package distributed is missing.
    """
    try:
        import asyncio  # noqa: PLC0415 - with the rest of what clusters need

        from distributed import Client  # noqa: PLC0415
    except ImportError as error:
        raise OpcertError(
            f"--cluster needs the package {error.name}; pip install 'opcert[cluster]'"
        ) from None
    try:
        scheduler = address
        if address.endswith(".json") or Path(address).is_file():
            scheduler = str(json.loads(Path(address).read_bytes())["address"])
        # In a thread, since the caller may have an event loop.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, _answer(scheduler)).result()
    except TimeoutError:
        reason = "no answer"
    except Exception as error:
        reason = getattr(error, "strerror", None) or describe_error(error).partition("\n")[0]
    else:
        return Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    raise OpcertError(
        f"cluster {address}: {reason}; expected the address of a dask scheduler, such as "
        "tcp://host:8786, or its scheduler file"
    )


async def _answer(address: str) -> Any:
    """Connect to a scheduler, and disconnect."""
    import asyncio  # noqa: PLC0415

    from distributed.comm import connect  # noqa: PLC0415
    from distributed.security import Security  # noqa: PLC0415

    arguments = Security().get_connection_args("client")
    connection = await asyncio.wait_for(
        connect(address, timeout=CONNECT_SECONDS, **arguments), CONNECT_SECONDS
    )
    connection.abort()
