"""Clusters of real dask processes, as a user starts them."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from os import environ
from pathlib import Path


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@contextmanager
def dask(*arguments: str | Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start `dask ARGUMENTS` with environment variables, and kill it afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *map(str, arguments)],
        env={**environ, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def real_cluster(
    folder: Path, *workers: Mapping[str, str], resources: str = ""
) -> Iterator[tuple[Path, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler, and a worker with each of these environments.

    Each worker has one thread, and offers `resources`. Yields the scheduler file and the processes,
    that of the scheduler first.
    """
    file = folder / "scheduler.json"
    with ExitStack() as stack:
        scheduler = ("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file)
        first = stack.enter_context(dask(*scheduler))
        wait_until(lambda: file.is_file() and file.stat().st_size > 0)
        offered = ("--resources", resources) if resources else ()
        worker = ("worker", "--scheduler-file", file, "--nthreads", "1", "--no-nanny", *offered)
        yield (
            file,
            [
                first,
                *(
                    stack.enter_context(dask(*worker, "--no-dashboard", **variables))
                    for variables in workers
                ),
            ],
        )
