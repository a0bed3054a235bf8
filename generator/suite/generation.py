"""Specs -> suite: every operator in a process of its own where asked for, the same bytes always."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from opcert.cases import COVERING_STRENGTH, generate_cases, iterate_vectors
from opcert.errors import Mistake, OpcertError, SpecError
from opcert.specification import SpecFile, read_spec, read_specs_in
from opcert.suite.emit import FileContents, operator_files, suite_files
from opcert.suite.format import OperatorEntry
from opcert.suite.writing import differences, write_suite

Part = tuple[str, OperatorEntry, FileContents]


def generate_suite_files(
    specs: Sequence[SpecFile],
    profile: str = "core",
    seed: int = 0,
    jobs: int = 1,
    done: Callable[[str], None] = lambda _: None,
) -> FileContents:
    """Return the files of the suite that `specs` give; `done` is told each finished operator.

    Raises:
        SpecError: with the mistakes of every spec.
        OpcertError: the profile is not one that can be generated.
    """
    if profile not in COVERING_STRENGTH:
        known = ", ".join(COVERING_STRENGTH)
        raise OpcertError(f"profile '{profile}' is none; expected one of {known}")
    parts: list[Part] = []
    mistakes: list[Mistake] = []
    make = partial(_part, profile=profile, seed=seed)
    for spec, part in zip(specs, _mapped(make, [each.path for each in specs], jobs), strict=True):
        if isinstance(part, list):
            mistakes += part
        else:
            parts.append(part)
            done(spec.spec.operator)
    if mistakes:
        raise SpecError(mistakes)
    return suite_files(profile, seed, parts)


def _mapped(
    make: Callable[[Path], Part | list[Mistake]], paths: Sequence[Path], jobs: int
) -> Iterator[Part | list[Mistake]]:
    if jobs <= 1:
        yield from map(make, paths)
        return
    # Spawned, since the caller may have threads of its own.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        # The longest spec first: it takes longest, and would be waited for alone.
        longest = sorted(paths, key=lambda path: -path.stat().st_size)
        parts = {path: pool.submit(make, path) for path in longest}
        yield from (parts[path].result() for path in paths)


def _part(path: Path, profile: str, seed: int) -> Part | list[Mistake]:
    """Return one operator's part, or the mistakes in its spec."""
    try:
        spec_file = read_spec(path)
        vectors = iterate_vectors(spec_file, generate_cases(spec_file, profile, seed))
        return spec_file.spec.operator, *operator_files(spec_file, vectors, profile)
    except SpecError as error:
        return error.mistakes


def generate(
    out: str | Path,
    specs: str | Path | None = None,
    *,
    profile: str = "core",
    operator: str = "*",
    seed: int = 0,
    jobs: int = 1,
    check: bool = False,
    done: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Write the suite that the specs give to the folder `out`, in the place of one there.

    With `check`, write nothing and return how `out` differs from it, one line a file.

    Raises:
        OpcertError: a spec has mistakes, or `out` cannot be written or holds something else.
    """
    folder = Path(specs) if specs is not None else None
    files = generate_suite_files(read_specs_in(folder, operator), profile, seed, jobs, done)
    if check:
        return differences(Path(out), files)
    write_suite(Path(out), files)
    return []
