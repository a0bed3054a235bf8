"""A connection to a cluster of dask.distributed, on whose workers tasks run."""

import json
import signal
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Thread, current_thread, main_thread
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from opcert.errors import OpcertError, describe_error

if TYPE_CHECKING:
    from distributed import Client, Future

Argument = TypeVar("Argument")
Result = TypeVar("Result")

LOCAL_PREFIX = "local:"
# How many seconds a scheduler has to answer, and suitable workers to appear, at first or again.
CONNECT_SECONDS = 10.0
WORKERS_SECONDS = 60.0
# A task that ends so many workers of a local cluster is given up. Other schedulers have a setting.
MAX_LOST_WORKERS = 3
# Tasks in flight for each thread of the workers: one runs, and one waits.
_TASKS_PER_THREAD = 2
_POLL_SECONDS = 2.0


class ClusterLostError(OpcertError):
    """The scheduler, or every suitable worker, is gone."""


class TaskKilledError(OpcertError):
    """A task ended several workers, one after the other."""


class Cluster:
    """A connection to a cluster; close it, or use it as a context manager."""

    def __init__(self, address: str, resources: Mapping[str, float] | None = None) -> None:
        """Connect to a scheduler, or start `local:N` worker processes on this machine.

        Only workers that offer the `resources`, such as {"GPU": 1}, get tasks.

        Raises:
            OpcertError: the package distributed is missing, the address is malformed, no scheduler
                answers there, or no worker offers the resources.
        """
        self.address = address
        self.resources = dict(resources or {})
        # Workers that were there once, and those of them that are gone.
        self._known: set[str] = set()
        self.lost: set[str] = set()
        self._looked = 0.0
        with ExitStack() as stack:
            self._client = stack.enter_context(_connection(address, self.resources))
            self._stack: AbstractContextManager[Any] = stack.pop_all()
        try:
            self._await_workers()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect, and end the workers that were started here."""
        with suppress(OSError, TimeoutError):
            self._stack.__exit__(None, None, None)

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

    def run_everywhere(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a quick function on all workers; ignore those that do not answer."""

        def call() -> None:
            with suppress(Exception):
                self._client.run(function, *arguments, on_error="ignore")

        # A worker whose interpreter is held by a backend does not answer.
        thread = Thread(target=call, daemon=True)
        thread.start()
        thread.join(CONNECT_SECONDS)

    def on_each(
        self, function: Callable[..., Result], *arguments: object, workers: Iterable[str]
    ) -> list[Result]:
        """Have each of these workers call a function; return the results of those that are left.

        Raises:
            ClusterLostError: the scheduler is gone.
        """
        from distributed import CancelledError, wait  # noqa: PLC0415

        futures = {worker: self.submit(function, *arguments, worker=worker) for worker in workers}
        try:
            while True:
                # A task would wait for ever for a lost worker.
                present = self.workers()
                left = [f for worker, f in futures.items() if worker in present and not f.done()]
                if not left:
                    break
                with suppress(TimeoutError, CancelledError), self._client.as_current():
                    wait(left, _POLL_SECONDS)
            return [self.result(future) for future in futures.values() if future.done()]
        finally:
            self.cancel(futures.values())

    def submit(
        self, function: Callable[..., Result], *arguments: object, worker: str | None = None
    ) -> "Future":
        """Have a suitable worker, or this one, call a function."""
        return self._client.submit(
            function, *arguments, pure=False, resources=self.resources or None, workers=worker
        )

    def cancel(self, futures: Collection["Future"]) -> None:
        """Cancel futures whose results nobody needs."""
        if futures:
            with suppress(Exception):
                self._client.cancel([*futures])

    def completed(self, futures: Collection["Future"]) -> list["Future"]:
        """Wait until at least one of the futures is finished, and return the finished ones.

        Raises:
            ClusterLostError: the scheduler or all suitable workers are gone.
        """
        from distributed import CancelledError, wait  # noqa: PLC0415 - it takes a second, and few runs need it

        alone_since: float | None = None
        while True:
            if monotonic() - self._looked > _POLL_SECONDS:
                has_workers = bool(self.workers())
                self._looked = monotonic()
                if has_workers:
                    alone_since = None
                elif alone_since is None:
                    alone_since = monotonic()
                elif monotonic() - alone_since > WORKERS_SECONDS:
                    raise self._lost("all workers are")
            try:
                with self._client.as_current():
                    done = wait([*futures], _POLL_SECONDS, return_when="FIRST_COMPLETED").done
                return [*done]
            except TimeoutError:
                continue
            except CancelledError:
                raise self._lost("the scheduler is") from None

    def result(self, future: "Future") -> Any:
        """Return the result of a finished future.

        Raises:
            TaskKilledError: its task ended several workers.
            ClusterLostError: the scheduler is gone.
            OpcertError: the worker cannot import opcert, or another version of it.
        """
        from distributed import CancelledError, KilledWorker  # noqa: PLC0415

        try:
            return future.result()
        except KilledWorker as error:
            count = error.allowed_failures + 1
            raise TaskKilledError(f"it ended {count} workers of the cluster") from None
        except CancelledError:
            raise self._lost("the scheduler is") from None
        except (ImportError, AttributeError) as error:
            text = f"a worker cannot run opcert: {error}; install the same version of opcert on"
            raise OpcertError(f"cluster {self.address}: {text} all workers") from None

    @property
    def capacity(self) -> int:
        """How many tasks keep all suitable workers busy."""
        return _TASKS_PER_THREAD * max(1, sum(self.workers().values()))

    def map(
        self, function: Callable[[Argument], Result], arguments: Iterable[Argument]
    ) -> Iterator[Result]:
        """Yield the results of a function in order; only a few are in flight at a time."""
        waiting = iter(arguments)
        futures: list[Future] = []
        try:
            while True:
                for argument in waiting:
                    futures.append(self.submit(function, argument))
                    if len(futures) >= self.capacity:
                        break
                if not futures:
                    return
                while not futures[0].done():
                    self.completed([future for future in futures if not future.done()])
                yield self.result(futures.pop(0))
        finally:
            self.cancel(futures)


@contextmanager
def _connection(address: str, resources: Mapping[str, float]) -> Iterator["Client"]:
    """Connect to a cluster, or start one on this machine; end what was started afterwards."""
    try:
        import dask  # noqa: PLC0415
        from distributed import Client, LocalCluster  # noqa: PLC0415
    except ImportError as error:
        raise OpcertError(
            f"--cluster needs the package {error.name}; pip install 'opcert[cluster]'"
        ) from None
    settings = {
        "distributed.scheduler.allowed-failures": MAX_LOST_WORKERS - 1,
        # It takes a sample of all threads every 10 ms.
        "distributed.worker.profile.enabled": False,
        # Logs of messages keep the arguments of tasks.
        "distributed.admin.low-level-log-length": 10,
    }
    with ExitStack() as stack:
        if not address.startswith(LOCAL_PREFIX):
            scheduler: Any = _reachable(address)
        else:
            count = address.removeprefix(LOCAL_PREFIX)
            if not count.isdecimal() or not 1 <= int(count) <= 1024:
                text = "expected local:N, with 1 to 1,024 worker processes"
                raise OpcertError(f"cluster {address}: {text}")
            with _interrupts_delayed(), dask.config.set(settings):
                scheduler = LocalCluster(
                    n_workers=int(count),
                    threads_per_worker=1,
                    dashboard_address=":0",
                    resources=dict(resources),
                    silence_logs="CRITICAL",
                    # An interrupt of the terminal reaches all its processes; this one ends workers.
                    preload=["import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"],
                )
                stack.enter_context(scheduler)
        with dask.config.set(settings):
            client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
        yield stack.enter_context(client)


def _reachable(address: str) -> str:
    """Return the address of a scheduler, which may be in a file, once it has answered.

    A client of dask waits for ever for a scheduler file that does not exist, or for a server that
    does not answer, and complains as it is collected if it could not connect.

    Raises:
        OpcertError: no scheduler answers there.
    """
    import asyncio  # noqa: PLC0415 - with the rest of what clusters need

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
        return scheduler
    raise OpcertError(
        f"cluster {address}: {reason}; expected the address of a dask scheduler, such as "
        "tcp://host:8786, its scheduler file, or local:N"
    )


async def _answer(address: str) -> None:
    """Connect to a scheduler, and disconnect."""
    import asyncio  # noqa: PLC0415

    from distributed.comm import connect  # noqa: PLC0415
    from distributed.security import Security  # noqa: PLC0415

    arguments = Security().get_connection_args("client")
    connection = await asyncio.wait_for(
        connect(address, timeout=CONNECT_SECONDS, **arguments), CONNECT_SECONDS
    )
    connection.abort()


@contextmanager
def _interrupts_delayed() -> Iterator[None]:
    """Delay an interrupt until the block has ended: dask cannot clean up in the middle of it."""
    if current_thread() is not main_thread():
        yield
        return
    received: list[int] = []
    # Requests to end are treated like an interrupt.
    numbers = [
        number
        for number in signal.valid_signals()
        if signal.getsignal(number) is signal.default_int_handler
    ]
    for number in numbers:
        signal.signal(number, lambda number, _: received.append(number))
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.default_int_handler)
    if received:
        raise KeyboardInterrupt
