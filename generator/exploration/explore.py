"""Specs x backend -> findings: each operator searched in turn, for its share of the time."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeAlias

from opcert.backends import Backend, close_backend, in_process_backend, load, with_reference_specs
from opcert.exploration.search import ExplorationResult, Open, Search
from opcert.exploration.trials import Trials
from opcert.isolation import CALL_TIMEOUT, SupervisedBackend, start_backend
from opcert.specification import load_references, read_specs_in

Make: TypeAlias = Callable[[], Backend]


def explore(
    backend: str | Backend | Make,
    *,
    options: Mapping[str, Any] | None = None,
    specs: str | Path | None = None,
    operator: str = "*",
    minutes: float = 1,
    seed: int = 0,
    isolated: bool | None = None,
    timeout: float = CALL_TIMEOUT,
) -> Iterator[ExplorationResult]:
    """Try fresh calls of each operator in turn, and yield what became of it.

    `backend` is an object, which is left open, what makes one, or what `load` looks up, which runs
    in a process of its own unless it is the reference, or as `isolated` says; a call that ends that
    process, or takes longer than `timeout` seconds, is a counterexample. The operators share the time
    alike; getting ready for one is not counted. An interrupt passes on once what was found so far
    is yielded.

    Raises:
        OpcertError: backend, specs or selection are at fault.
    """
    folder = Path(specs) if specs is not None else None
    opened = _opening(backend, dict(options or {}), specs, isolated, timeout)
    files = read_specs_in(folder, operator)
    references = {**load_references(None), **load_references(folder)}
    seconds = 60 * minutes
    for left, spec_file in zip(range(len(files), 0, -1), files, strict=True):
        trials = Trials(spec_file, references)
        # What hangs takes its time from no other operator.
        search = Search(opened, trials, max(seconds / left, 60 * minutes / len(files)))
        begun = time.monotonic()
        try:
            search.run(seed)
        finally:
            yield search.explored()
        seconds -= time.monotonic() - begun


def _opening(
    backend: str | Backend | Make,
    options: dict[str, Any],
    specs: str | Path | None,
    isolated: bool | None,
    timeout: float,
) -> Open:
    """Return what opens the backend, once that has been tried."""
    if not isinstance(backend, str):
        return _in_python(backend, isolated)
    options = with_reference_specs(backend, options, specs)
    first = start_backend(backend, options, isolated, timeout=timeout)
    close_backend(first)
    if isinstance(first, SupervisedBackend):
        return lambda: _restarted(first)
    return lambda: _made(lambda: load(backend, **options))


def _in_python(backend: Backend | Make, isolated: bool | None) -> Open:
    if isinstance(backend, type) or (callable(backend) and not hasattr(backend, "run")):
        with _made(backend) as first:
            in_process_backend(first, isolated)
        return lambda: _made(backend)
    given = in_process_backend(backend, isolated)
    return lambda: nullcontext(given)


@contextmanager
def _made(make: Make) -> Iterator[Backend]:
    backend = make()
    try:
        yield backend
    finally:
        close_backend(backend)


@contextmanager
def _restarted(backend: SupervisedBackend) -> Iterator[Backend]:
    try:
        backend.restart()
        yield backend
    finally:
        close_backend(backend)
