"""Specs x backend -> results: a search for each operator, for its share of the time."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeAlias

from opcert.backends.contract import Backend, close_backend
from opcert.backends.lookup import in_process_backend, load, with_reference_specs
from opcert.exploration.search import ExplorationResult, Open, Search
from opcert.exploration.trials import Trials
from opcert.isolation.supervised import CALL_TIMEOUT, SupervisedBackend, start_backend
from opcert.specification.files import read_specs_in
from opcert.specification.references import load_references

MakeBackend: TypeAlias = Callable[[], Backend]


def explore(
    backend: str | Backend | MakeBackend,
    *,
    options: Mapping[str, Any] | None = None,
    specs: str | Path | None = None,
    operator: str = "*",
    minutes: float = 1,
    seed: int = 0,
    isolated: bool | None = None,
    timeout: float = CALL_TIMEOUT,
    memory: int = 0,
) -> Iterator[ExplorationResult]:
    """Try random calls of each operator in turn, and yield the results.

    `backend` is an object, which is left open, a function that creates one, or a name for `load`.
    A backend that is loaded by name runs in a process of its own unless it is the reference;
    `isolated` overrides this. A call is a counterexample if it ends this process, takes longer than
    `timeout` seconds, or takes more than `memory` bytes (0 is no limit). The operators share the
    time equally; their preparation is not counted. If the search is interrupted, its result so far
    is yielded first.

    Raises:
        OpcertError: backend, specs or selection are at fault.
    """
    folder = Path(specs) if specs is not None else None
    open_backend = _opener(backend, dict(options or {}), specs, isolated, timeout, memory)
    spec_files = read_specs_in(folder, operator)
    references = {**load_references(None), **load_references(folder)}
    seconds = 60 * minutes
    share = seconds / len(spec_files)
    for remaining, spec_file in zip(range(len(spec_files), 0, -1), spec_files, strict=True):
        trials = Trials(spec_file, references)
        # Time that one operator does not use goes to the others; a hang takes none from them.
        search = Search(open_backend, trials, max(seconds / remaining, share))
        begin = time.monotonic()
        try:
            search.run(seed)
        finally:
            yield search.result()
        seconds -= time.monotonic() - begin


def _opener(
    backend: str | Backend | MakeBackend,
    options: dict[str, Any],
    specs: str | Path | None,
    isolated: bool | None,
    timeout: float,
    memory: int,
) -> Open:
    """Return a function that opens the backend; it is opened once to check that it can be."""
    if isinstance(backend, str):
        options = with_reference_specs(backend, options, specs)
        first = start_backend(backend, options, isolated, timeout=timeout, memory=memory)
        close_backend(first)
        if isinstance(first, SupervisedBackend):
            return lambda: _restarted(first)
        return lambda: _made(lambda: load(backend, **options))
    if isinstance(backend, type) or (callable(backend) and not hasattr(backend, "run")):
        with _made(backend) as made:
            in_process_backend(made, isolated)
        return lambda: _made(backend)
    instance = in_process_backend(backend, isolated)
    return lambda: nullcontext(instance)


@contextmanager
def _made(make: MakeBackend) -> Iterator[Backend]:
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
