"""Runs batches of cases in several processes at once, each with a backend of its own."""

import signal
import sys
from collections.abc import Generator, Iterable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import cast

from opcert.backends.contract import close_backend
from opcert.backends.source_files import SourceFiles
from opcert.certificate.setup import Setup
from opcert.certificate.tasks import Finished, Task, TaskRun, Tasks
from opcert.errors import BackendError, OpcertError
from opcert.parent_process import end_with_parent
from opcert.scope.support import checked_support
from opcert.suite.suite import Suite
from opcert.verdicts.batches import Batch
from opcert.verdicts.certification import Certification
from opcert.verdicts.verdict import Verdict

# Verdicts are sent together that come within so many seconds.
_GROUP_SECONDS = 0.05
# How many seconds a process may take to close its backend.
_EXIT_SECONDS = 10.0


class Processes:
    """Processes of this machine, each with a backend of its own; close them at the end."""

    def __init__(self, jobs: int, setup: Setup, files: SourceFiles, suite: Suite) -> None:
        """Start `jobs` processes, which start their backends meanwhile."""
        # Spawned rather than forked: the caller may have threads, and a runtime may be loaded.
        context = get_context("spawn")
        self._started: list[tuple[BaseProcess, Connection]] = []
        try:
            for _ in range(jobs):
                ours, theirs = context.Pipe()
                arguments = (theirs, setup, files, suite)
                process = context.Process(target=_run_batches, args=arguments, daemon=True)
                process.start()
                theirs.close()
                self._started.append((process, ours))
        except BaseException:
            self.close()
            raise

    def verdicts(
        self, certification: Certification, batches: Iterable[Batch]
    ) -> Generator[Verdict]:
        """Yield verdicts as processes reach them; `certification` takes them over.

        Raises:
            BackendError: a backend cannot be started, or ends the process in which it runs.
        """
        tasks = Tasks(certification, batches)
        running: dict[Connection, Task] = {}

        def hand_out(connection: Connection) -> None:
            """Send the next task to a process, if there is one."""
            last = running.pop(connection, None)
            task = tasks.next(running.values(), last)
            if task is not None:
                running[connection] = task
                connection.send(task)

        for _, connection in self._started:
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
                if isinstance(message, list):
                    for verdict in message:
                        certification.accept([verdict])
                        yield verdict
                elif isinstance(message, Finished):
                    tasks.accept(message)
                    hand_out(connection)
                else:
                    raise message

    def close(self) -> None:
        """Kill the processes."""
        for process, connection in self._started:
            connection.close()
            process.terminate()
        for process, _ in self._started:
            process.join(_EXIT_SECONDS)
            process.kill()
            process.join()
        self._started.clear()


def _run_batches(
    connection: Connection,
    setup: Setup,
    files: SourceFiles,
    suite: Suite,
) -> None:
    """Run batches that arrive on a connection, and send verdicts, until the connection ends."""
    end_with_parent()
    # An interrupt of the terminal reaches all its processes; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # It closes its backend, which may have started processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        backend = setup.start_backend(files)
    except OpcertError as error:
        connection.send(error)
        return
    try:
        # Read once: to check it may read operators.
        start = setup.start_certification(suite, checked_support(backend, suite))
        while True:
            run = TaskRun(connection.recv(), backend, start)
            for verdicts in _grouped(run):
                connection.send(verdicts)
            connection.send(run.finish())
    except (EOFError, ConnectionError):
        # The run has ended before this batch, for example by an interrupt.
        pass
    except OpcertError as error:
        connection.send(error)
    finally:
        close_backend(backend)


def _grouped(verdicts: Iterable[Verdict]) -> Iterator[list[Verdict]]:
    """Yield the verdicts of each twentieth of a second: a message for each is slow to receive."""
    group: list[Verdict] = []
    begin = monotonic()
    for verdict in verdicts:
        group.append(verdict)
        if monotonic() - begin > _GROUP_SECONDS:
            yield group
            group, begin = [], monotonic()
    if group:
        yield group
