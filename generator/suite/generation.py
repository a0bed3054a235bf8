"""Generates a suite from specs; the number of worker processes does not affect its bytes."""

import gc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from opcert.cases import COVERING_STRENGTH, generate_cases, iterate_vectors
from opcert.errors import Mistake, OpcertError, SpecError
from opcert.output_files import FileContents
from opcert.specification import SpecFile, read_spec, read_specs_in
from opcert.specs import CORE_OPERATORS
from opcert.suite.emit import operator_files, suite_files
from opcert.suite.format import OperatorEntry
from opcert.suite.writing import check_suite_folder, folder_differences, write_suite

# An operator's id, its entry in the manifest, and its files.
OperatorPart = tuple[str, OperatorEntry, FileContents]


def generate(
    out: str | Path,
    specs: str | Path | None = None,
    *,
    profile: str = "core",
    operator: str | None = None,
    seed: int = 0,
    jobs: int = 1,
    check: bool = False,
    on_operator: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Generate a suite in the folder `out`, and replace an earlier suite.

    `specs` is a folder of specs, by default opcert's own. `operator` is a glob that selects
    operators, by default all of `specs`, or those of the core suite among opcert's own. `jobs` is
    the number of worker processes. `on_operator` is called with each finished
    operator. With `check`, nothing is written; the result lists the differences between `out` and
    the suite, one line per file.

    Raises:
        OpcertError: a spec has mistakes, or `out` holds other files or cannot be written.
    """
    spec_files = read_specs_in(None if specs is None else Path(specs), operator or "*")
    if specs is None and operator is None:
        spec_files = [file for file in spec_files if file.spec.operator in CORE_OPERATORS]
    if not check:
        check_suite_folder(Path(out))
    files = generate_suite_files(spec_files, profile, seed, jobs, on_operator)
    if check:
        return folder_differences(Path(out), files)
    write_suite(Path(out), files)
    return []


def generate_suite_files(
    specs: Sequence[SpecFile],
    profile: str = "core",
    seed: int = 0,
    jobs: int = 1,
    on_operator: Callable[[str], None] = lambda _: None,
) -> FileContents:
    """Return the files of the suite of `specs` by path.

    Raises:
        SpecError: with the mistakes of all specs.
        OpcertError: the profile is unknown.
    """
    if profile not in COVERING_STRENGTH:
        *others, last = COVERING_STRENGTH
        raise OpcertError(f"unknown profile '{profile}'; expected {', '.join(others)} or {last}")
    parts: list[OperatorPart] = []
    mistakes: list[Mistake] = []
    results: Iterator[OperatorPart | list[Mistake]]
    if jobs <= 1:
        results = (_generate_part(spec, profile, seed) for spec in specs)
    else:
        results = _map_in_processes([spec.path for spec in specs], profile, seed, jobs)
    for spec, part in zip(specs, results, strict=True):
        if isinstance(part, list):
            mistakes += part
        else:
            parts.append(part)
            on_operator(spec.spec.operator)
    if mistakes:
        raise SpecError(mistakes)
    return suite_files(profile, seed, parts)


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


def _generate_part(spec_file: SpecFile, profile: str, seed: int) -> OperatorPart | list[Mistake]:
    """Return one operator's part of the suite, or the mistakes in its spec."""
    try:
        with _rare_garbage_collection():
            vectors = iterate_vectors(spec_file, generate_cases(spec_file, profile, seed))
            return spec_file.spec.operator, *operator_files(spec_file, vectors, profile)
    except SpecError as error:
        return error.mistakes


def _generate_part_of(path: Path, profile: str, seed: int) -> OperatorPart | list[Mistake]:
    """Return what `_generate_part` does, for the spec at `path`."""
    try:
        return _generate_part(read_spec(path), profile, seed)
    except SpecError as error:
        return error.mistakes


def _map_in_processes(
    paths: Sequence[Path], profile: str, seed: int, jobs: int
) -> Iterator[OperatorPart | list[Mistake]]:
    """Yield the parts of the specs at `paths`, in this order."""
    # Spawned rather than forked: the caller may have threads.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        # A long spec takes long; if it started last, it would run alone at the end.
        longest_first = sorted(paths, key=lambda path: -path.stat().st_size)
        # A spec has functions, such as its reference, that cannot be pickled.
        futures = {
            path: pool.submit(_generate_part_of, path, profile, seed) for path in longest_first
        }
        yield from (futures[path].result() for path in paths)
