"""Makes the parts of a suite, one operator at a time: in this process, in several, on a cluster."""

import gc
import platform
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from opcert.cases.generation import generate_cases
from opcert.cases.vectors import iterate_vectors
from opcert.cluster import Cluster
from opcert.errors import Mistake, OpcertError, SpecError
from opcert.parent_process import end_with_parent
from opcert.specification.files import SpecFile, read_spec
from opcert.specification.references import find_spec_files
from opcert.suite.emit import OperatorPart, operator_files

# How many tasks are given out for each process: it finds the next one when it has finished one.
_TASKS_PER_PROCESS = 2


class PartTask(NamedTuple):
    """One operator of a suite: the path of its spec, and the profile and seed of the suite."""

    spec: Path
    profile: str
    seed: int


# What a task makes: the part of the suite, or the mistakes in the spec.
Part = OperatorPart | list[Mistake]
# Makes the parts of tasks, wherever that is; yields each with its task, in any order, and keeps few
# of them that are not yet taken.
MakeParts = Callable[[Sequence[PartTask]], Iterator[tuple[PartTask, Part]]]


def make_part(task: PartTask) -> Part:
    """Return the part of the suite that a task describes, or the mistakes in its spec.

    Task and result can be pickled; a spec, which has functions such as its reference, cannot.
    """
    try:
        return _part_of(read_spec(task.spec), task)
    except SpecError as error:
        return error.mistakes


def parts_here(specs: Sequence[SpecFile]) -> MakeParts:
    """Return a function that makes the parts of `specs` in this process, in the order of tasks."""
    by_path = {file.path: file for file in specs}

    def make(tasks: Sequence[PartTask]) -> Iterator[tuple[PartTask, Part]]:
        return ((task, _part_of(by_path[task.spec], task)) for task in tasks)

    return make


def parts_in_processes(jobs: int) -> MakeParts:
    """Return a function that makes parts in so many processes.

    Raises:
        OpcertError: a process ended early.
    """

    def make(tasks: Sequence[PartTask]) -> Iterator[tuple[PartTask, Part]]:
        waiting = iter(_longest_first(tasks))
        given: dict[Future[Part], PartTask] = {}
        # Spawned rather than forked: the caller may have threads.
        context = get_context("spawn")
        pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=end_with_parent)
        try:
            while True:
                for task in islice(waiting, _TASKS_PER_PROCESS * jobs - len(given)):
                    given[pool.submit(make_part, task)] = task
                if not given:
                    return
                for future in wait(given, return_when=FIRST_COMPLETED).done:
                    yield given.pop(future), future.result()
        except BrokenProcessPool:
            raise OpcertError(
                f"one of {jobs} worker processes ended early; if the memory was short, use fewer "
                "--jobs"
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)

    return make


def parts_on_cluster(cluster: Cluster) -> MakeParts:
    """Return a function that makes parts on the workers of a cluster, in the order of tasks.

    Raises:
        OpcertError: a worker has another version of opcert, or lacks a spec.
    """
    make_one = partial(make_part_elsewhere, version("opcert"))

    def make(tasks: Sequence[PartTask]) -> Iterator[tuple[PartTask, Part]]:
        ordered = _longest_first(tasks)
        # Workers may have another current folder.
        remote = (task._replace(spec=task.spec.absolute()) for task in ordered)
        return zip(ordered, cluster.map(make_one, remote), strict=True)

    return make


def make_part_elsewhere(opcert: str, task: PartTask) -> Part:
    """Make a part on another machine, where opcert's own specs may be in another folder.

    Raises:
        OpcertError: this is another version of `opcert`, or the spec is missing.
    """
    worker = f"worker on {platform.node()}"
    if version("opcert") != opcert:
        raise OpcertError(
            f"{worker}: found opcert {version('opcert')}; expected {opcert}, as here; install the "
            "same version on all workers"
        )
    if not task.spec.is_file():
        ends = task.spec.parts[-2:]
        own = [path for path in find_spec_files(None) if path.parts[-2:] == ends]
        if not own:
            raise OpcertError(
                f"{worker}: {task.spec} is missing; expected the specs in the same folder on all "
                "workers"
            )
        task = task._replace(spec=own[0])
    return make_part(task)


def _longest_first(tasks: Sequence[PartTask]) -> list[PartTask]:
    """Return the tasks, the longest first.

    A long spec takes long; if it started last, it would run alone at the end.
    """
    sizes = {path: path.stat().st_size for path in {task.spec for task in tasks}}
    return sorted(tasks, key=lambda task: -sizes[task.spec])


def _part_of(spec_file: SpecFile, task: PartTask) -> Part:
    try:
        with _rare_garbage_collection():
            cases = generate_cases(spec_file, task.profile, task.seed)
            vectors = iterate_vectors(spec_file, cases)
            return spec_file.spec.operator, *operator_files(spec_file, vectors, task.profile)
    except SpecError as error:
        return error.mistakes


@contextmanager
def _rare_garbage_collection() -> Iterator[None]:
    """Collect garbage a hundred times less often.

    Cases live until they are written, and have no cycles: to visit all of them again and again
    takes a fifteenth of the time.
    """
    first, *others = gc.get_threshold()
    gc.set_threshold(100 * first, *others)
    try:
        yield
    finally:
        gc.set_threshold(first, *others)
