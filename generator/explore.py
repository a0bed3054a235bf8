"""Specs x backend -> findings: each operator searched in turn, for its share of the time."""

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis.configuration import set_hypothesis_home_dir

from opcert.generator.backends import Backend, checked, load
from opcert.generator.search import Explored, Make, Search
from opcert.generator.spec_files import references_in, specs_in
from opcert.generator.trials import Trials


def explore(
    backend: str | Backend | Make,
    *,
    options: Mapping[str, Any] | None = None,
    specs: str | Path | None = None,
    operator: str = "*",
    minutes: float = 1,
    seed: int = 0,
) -> Iterator[Explored]:
    """Try fresh calls of each operator in turn, and yield what became of it.

    `backend` is an object, what makes one, or what `load` looks up. The operators share the time
    alike; getting ready for one is not counted. An interrupt passes on once what was found so far
    is yielded.

    Raises:
        OpcertError: backend, specs or selection are at fault.
    """
    folder = Path(specs) if specs is not None else None
    make = _maker(backend, dict(options or {}), specs)
    make()
    files = specs_in(folder, operator)
    references = {**references_in(None), **references_in(folder)}
    seconds = 60 * minutes
    for left, spec_file in zip(range(len(files), 0, -1), files, strict=True):
        trials = Trials(spec_file, references)
        begun = time.monotonic()
        search = Search(make, trials, seconds / left)
        try:
            search.run(seed)
        finally:
            yield search.explored()
        seconds -= time.monotonic() - begun


@contextmanager
def without_traces() -> Iterator[None]:
    """Let Hypothesis keep what it remembers in a folder that is gone behind it."""
    with tempfile.TemporaryDirectory() as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)


def _maker(
    backend: str | Backend | Make, options: dict[str, Any], specs: str | Path | None
) -> Make:
    if isinstance(backend, type) or (callable(backend) and not hasattr(backend, "run")):
        return backend
    if not isinstance(backend, str):
        given = checked(backend, type(backend).__name__)
        return lambda: given
    if backend == "reference" and specs is not None:
        options = {"specs": specs, **options}
    return partial(load, backend, **options)
