"""Where the calls of a run are made: in this process, or in several of this machine."""

import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import cast

from opcert.backends.contract import Backend, close_backend
from opcert.backends.lookup import SourceFiles
from opcert.certificate.certificate import BackendEntry, ClusterEntry, Run
from opcert.certificate.setup import Finished, Setup, Task, TaskRun, Tasks
from opcert.errors import BackendError, OpcertError
from opcert.isolation.supervised import SupervisedBackend
from opcert.suite.suite import Suite
from opcert.suite.support import checked_support
from opcert.system import end_with_parent
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.certification import Batch, Certification, batches
from opcert.verdicts.confirmation import Confirmation, Confirmed
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


def _run_batches(connection: Connection, setup: Setup, files: SourceFiles, suite: Suite) -> None:
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
    except (OpcertError, KeyboardInterrupt) as error:
        # A backend may raise KeyboardInterrupt, which ends the run as in one process.
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


class Execution(ABC):
    """Makes the calls of a run.

    Attributes:
        backend: The backend, or only its declarations if it runs elsewhere.
        entry: The backend as the certificate describes it.
        run: How the calls are made, as the certificate describes it before the first call.
        diagnosis: Finds the causes of failures of the suite.
    """

    def __init__(self, backend: Backend, entry: BackendEntry, run: Run, suite: Suite) -> None:
        self.backend, self.entry, self.run, self.suite = backend, entry, run, suite
        self.diagnosis = Diagnosis(suite)

    @property
    def cluster(self) -> ClusterEntry | None:
        """The workers of a cluster that have taken part so far."""
        return None

    @abstractmethod
    def changed_files(self) -> set[str]:
        """Return the files of the backend that have changed since the run began."""

    @abstractmethod
    def verdicts(self, certification: Certification, cases: Sequence[str]) -> Generator[Verdict]:
        """Yield the verdicts of cases as they are reached, and add them to `certification`."""

    @abstractmethod
    def interrupt(self) -> None:
        """End the calls that are under way."""

    @abstractmethod
    def confirm(self, verdicts: Mapping[str, Verdict], repeated: Sequence[str]) -> Confirmed:
        """Confirm failures, if the backend can be restarted."""

    @abstractmethod
    def close(self) -> None:
        """End what the run has started."""


def confirmed(
    backend: Backend, diagnosis: Diagnosis, verdicts: Mapping[str, Verdict], repeated: Sequence[str]
) -> Confirmed:
    """Confirm failures if the backend can be restarted."""
    if not isinstance(backend, SupervisedBackend):
        return Confirmed()
    return Confirmation(backend, diagnosis, verdicts, repeated).confirm()


class LocalExecution(Execution):
    """Makes the calls in this process or in a few others."""

    def __init__(self, setup: Setup, suite: Suite) -> None:
        """Start the backend.

        Raises:
            BackendError: it cannot be started, or declares what does not exist.
        """
        self._files = setup.source_files()
        backend = setup.start_backend(self._files)
        self._processes: Processes | None = None
        try:
            super().__init__(backend, *setup.entries(backend, suite, self._files), suite)
            if self.run.jobs > 1:
                # They start while this process reads the suite.
                self._processes = Processes(self.run.jobs, setup, self._files, suite)
        except BaseException:
            close_backend(backend)
            raise

    def verdicts(self, certification: Certification, cases: Sequence[str]) -> Generator[Verdict]:
        """Run the cases one after the other, or batches of them in several processes."""
        if self._processes is None:
            yield from map(certification.verdict, cases)
            return
        try:
            yield from self._processes.verdicts(certification, batches(self.suite, cases))
        finally:
            self._processes.close()

    def interrupt(self) -> None:
        """Kill the process of an isolated backend."""
        if isinstance(self.backend, SupervisedBackend):
            self.backend.stop()

    def confirm(self, verdicts: Mapping[str, Verdict], repeated: Sequence[str]) -> Confirmed:
        """Confirm the failures of an isolated backend."""
        return confirmed(self.backend, self.diagnosis, verdicts, repeated)

    def changed_files(self) -> set[str]:
        """Return the files of the backend that changed during the run."""
        self._files.check()
        return self._files.changed

    def close(self) -> None:
        """Close the backend, and end the processes."""
        if self._processes is not None:
            self._processes.close()
        close_backend(self.backend)
