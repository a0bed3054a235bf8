"""Runs batches of cases in several processes at once, each with a backend of its own."""

import signal
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TypeAlias, cast

from opcert.backends import Backend, close_backend
from opcert.errors import BackendError
from opcert.run import Excerpt
from opcert.verdicts import Batch, Certification, Verdict

# How many seconds a process may take to close its backend.
_EXIT_SECONDS = 10.0
# Starts the backend of a process.
StartBackend: TypeAlias = Callable[[], Backend]
# Returns a certification on a backend, given keyword arguments for one batch.
StartCertification: TypeAlias = Callable[..., Certification]


@dataclass(frozen=True)
class _Task:
    """A batch, and what a certification of its cases depends on."""

    batch: Batch
    former: tuple[Verdict, ...]
    repeats: bool
    crashes: dict[str, int]


@dataclass(frozen=True)
class _Finished:
    """What a batch came to, after the last checks of its inputs and outputs."""

    verdicts: list[Verdict]
    excerpts: dict[str, Excerpt]
    repeated: tuple[str, ...]


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
    waiting = iter(batches)
    with _processes(jobs, start_backend, start_certification) as connections:
        tasks: dict[Connection, _Task] = {}

        def hand_out(connection: Connection) -> None:
            """Send the next batch to a process, if there is one."""
            tasks.pop(connection, None)
            batch = next(waiting, None)
            if batch is not None:
                # One process at a time looks for the call of an operator that it can repeat.
                is_sought = any(
                    t.repeats and t.batch.operator == batch.operator for t in tasks.values()
                )
                tasks[connection] = _task(batch, certification, is_sought)
                connection.send(tasks[connection])

        for connection in connections:
            hand_out(connection)
        while tasks:
            for connection in cast("list[Connection]", wait([*tasks])):
                try:
                    message = connection.recv()
                except EOFError:
                    raise BackendError(
                        "a process of the run ended; run the backend in a process of its own, "
                        "without --in-process"
                    ) from None
                if isinstance(message, Verdict):
                    certification.accept([message])
                    yield message
                elif isinstance(message, _Finished):
                    certification.accept(message.verdicts, message.excerpts, message.repeated)
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


def _task(batch: Batch, run: Certification, is_sought: bool) -> _Task:
    """Return the task for a batch; `is_sought` says that a call to repeat is sought elsewhere."""
    operator = run.suite.operators[batch.operator]
    baselines = {operator.cases[case].baseline for case in batch.cases} - {*batch.cases}
    former = tuple(run.verdicts[name] for name in baselines if name and name in run.verdicts)
    repeats = not is_sought and not any(case in operator.cases for case in run.repeated)
    return _Task(batch, former, repeats, {**run.crashes})


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
            task: _Task = connection.recv()
            certification = start_certification(
                backend,
                former=task.former,
                repeats=task.repeats,
                crashes=task.crashes,
            )
            for case in task.batch.cases:
                connection.send(certification.verdict(case))
            connection.send(
                _Finished(certification.release(), certification.excerpts, certification.repeated)
            )
    except (EOFError, ConnectionError):
        # The run has ended before this batch, for example by an interrupt.
        pass
    finally:
        close_backend(backend)
