"""Runs batches of cases in several processes at once, each with a backend of its own."""

import signal
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TypeAlias, cast

from opcert.backends import Backend, close_backend
from opcert.certificate.tasks import Finished, StartCertification, Task, TaskRun, Tasks
from opcert.errors import BackendError
from opcert.verdicts import Batch, Certification, Verdict

# How many seconds a process may take to close its backend.
_EXIT_SECONDS = 10.0
# Starts the backend of a process.
StartBackend: TypeAlias = Callable[[], Backend]


def verdicts_of_batches(
    certification: Certification,
    batches: Iterable[Batch],
    jobs: int,
    start_backend: StartBackend,
    start_certification: StartCertification,
) -> Generator[Verdict]:
    """Yield verdicts as `jobs` processes reach them; `certification` takes them over.

    To close the generator ends the processes.

    Raises:
        BackendError: a backend cannot be started, or ends the process in which it runs.
    """
    tasks = Tasks(certification, batches)
    with _processes(jobs, start_backend, start_certification) as connections:
        running: dict[Connection, Task] = {}

        def hand_out(connection: Connection) -> None:
            """Send the next task to a process, if there is one."""
            running.pop(connection, None)
            task = tasks.next(running.values())
            if task is not None:
                running[connection] = task
                connection.send(task)

        for connection in connections:
            hand_out(connection)
        while running:
            for connection in cast("list[Connection]", wait([*running])):
                try:
                    message = connection.recv()
                except (EOFError, ConnectionError):
                    raise BackendError(
                        "a process of the run ended; run the backend in a process of its own, "
                        "without --in-process"
                    ) from None
                if isinstance(message, Verdict):
                    certification.accept([message])
                    yield message
                elif isinstance(message, Finished):
                    tasks.accept(message)
                    hand_out(connection)
                else:
                    raise message


@contextmanager
def _processes(
    jobs: int, start_backend: StartBackend, start_certification: StartCertification
) -> Iterator[list[Connection]]:
    """Start processes that run batches, and kill them at the end."""
    # Spawned rather than forked: the caller may have threads, and a runtime may be loaded.
    context = get_context("spawn")
    started = []
    try:
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            arguments = (theirs, start_backend, start_certification)
            process = context.Process(target=_run_batches, args=arguments, daemon=True)
            process.start()
            theirs.close()
            started.append((process, ours))
        yield [connection for _, connection in started]
    finally:
        for process, connection in started:
            connection.close()
            process.terminate()
        for process, _ in started:
            process.join(_EXIT_SECONDS)
            process.kill()
            process.join()


def _run_batches(
    connection: Connection,
    start_backend: StartBackend,
    start_certification: StartCertification,
) -> None:
    """Run batches that arrive on a connection, and send verdicts, until the connection ends."""
    # An interrupt of the terminal reaches all its processes; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # It closes its backend, which may have started processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        backend = start_backend()
    except BackendError as error:
        connection.send(error)
        return
    try:
        while True:
            run = TaskRun(connection.recv(), backend, start_certification)
            for verdict in run:
                connection.send(verdict)
            connection.send(run.finish())
    except (EOFError, ConnectionError):
        # The run has ended before this batch, for example by an interrupt.
        pass
    finally:
        close_backend(backend)
