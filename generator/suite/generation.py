"""Generates suites and series from specs; where their parts are made changes no byte."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from operator import attrgetter
from pathlib import Path

from opcert.cases.generation import COVERING_STRENGTH
from opcert.cluster import Cluster
from opcert.errors import Mistake, OpcertError, SpecError
from opcert.output_files import FileContents
from opcert.specification.files import SpecFile, read_specs_in
from opcert.specs import CORE_OPERATORS
from opcert.suite.emit import OperatorPart, SuiteInProgress
from opcert.suite.format import MANIFEST, SERIES, CopyEntry
from opcert.suite.parts import (
    MakeParts,
    PartTask,
    parts_here,
    parts_in_processes,
    parts_on_cluster,
)
from opcert.suite.series import series_file
from opcert.suite.writing import check_suite_folder, folder_differences, write_suite_files

MAX_COPIES = 10_000
# The seeds of the command line are below it.
_SEED_LIMIT = 1 << 62


def generate(
    out: str | Path,
    specs: str | Path | None = None,
    *,
    profile: str = "core",
    operator: str | None = None,
    seed: int = 0,
    repeat: int = 1,
    jobs: int = 1,
    cluster: Cluster | None = None,
    check: bool = False,
    on_operator: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Generate a suite in the folder `out`, and replace an earlier suite.

    `specs` is a folder of specs, by default opcert's own. `operator` is a glob that selects
    operators, by default all of `specs`, or those of the core suite among opcert's own. With
    `repeat` above 1, `out` becomes a series: so many suites, with the seeds `seed`, `seed` + 1 and
    so on. `jobs` is the number of worker processes. The workers of a `cluster` take their place;
    they need other specs than opcert's own at the same path. `on_operator` is called with each
    finished operator, in a series after the folder of its suite. With `check`, nothing is written;
    the result lists the differences between `out` and the suite, one line per file.

    Raises:
        OpcertError: a spec has mistakes, or `out` holds other files or cannot be written.
    """
    spec_files = read_specs_in(None if specs is None else Path(specs), operator or "*")
    if specs is None and operator is None:
        spec_files = [file for file in spec_files if file.spec.operator in CORE_OPERATORS]
    if not check:
        check_suite_folder(Path(out))
    make = parts_on_cluster(cluster) if cluster else _part_maker(spec_files, jobs)
    files = iterate_files(spec_files, profile, seed, repeat, make=make, on_operator=on_operator)
    if check:
        return folder_differences(Path(out), files)
    write_suite_files(Path(out), files)
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
    make = _part_maker(specs, jobs)
    return dict(iterate_files(specs, profile, seed, make=make, on_operator=on_operator))


def _part_maker(specs: Sequence[SpecFile], jobs: int) -> MakeParts:
    return parts_here(specs) if jobs <= 1 else parts_in_processes(jobs)


def iterate_files(
    specs: Sequence[SpecFile],
    profile: str,
    seed: int,
    repeat: int = 1,
    *,
    make: MakeParts,
    on_operator: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of each file of a suite, or of a series of `repeat` suites.

    After its files, only what the manifest states of a part is in memory.

    Raises:
        SpecError: with the mistakes of all specs.
        OpcertError: the profile or the number of copies is unknown, or a spec changes meanwhile.
    """
    _check_profile(profile)
    folders = _copy_folders(repeat, seed)
    by_path = {file.path: file for file in specs}
    tasks = [PartTask(path, profile, seed + k) for k in range(repeat) for path in by_path]
    unfinished = {
        seed + k: _Copy(folder, SuiteInProgress(profile, seed + k), len(specs))
        for k, folder in enumerate(folders)
    }
    entries: list[CopyEntry] = []
    mistakes: list[Mistake] = []
    for task, part in make(tasks):
        copy = unfinished[task.seed]
        copy.left -= 1
        if isinstance(part, list):
            mistakes += part
        else:
            _check_unchanged(by_path[task.spec], part)
            yield from copy.placed(copy.suite.add(part))
            on_operator(copy.name_of(part))
        # Free its files, which may be large, before the next part is made.
        del part
        if mistakes and not copy.left:
            # The other copies would have the same ones.
            raise SpecError(mistakes)
        if not copy.left:
            last_files = unfinished.pop(task.seed).suite.finish()
            yield from copy.placed(last_files)
            if copy.folder:
                entries.append(copy.entry(task.seed, last_files))
    # A suite without operators has no part.
    for copy in unfinished.values():
        yield from copy.placed(copy.suite.finish())
    if entries:
        entries.sort(key=attrgetter("seed"))
        yield SERIES, series_file(profile, entries)


@dataclass
class _Copy:
    """A suite in the making, the folder of a series that it is for, and how many parts are left."""

    folder: str
    suite: SuiteInProgress
    left: int

    def placed(self, files: FileContents) -> Iterator[tuple[str, bytes]]:
        """Yield the files with their paths in the series."""
        prefix = f"{self.folder}/" if self.folder else ""
        return ((f"{prefix}{name}", data) for name, data in files.items())

    def name_of(self, part: OperatorPart) -> str:
        """Return the name of a part in messages."""
        return f"{self.folder}: {part[0]}" if self.folder else part[0]

    def entry(self, seed: int, last_files: FileContents) -> CopyEntry:
        """Return the entry in the series; `last_files` have the manifest."""
        digest = sha256(last_files[MANIFEST]).hexdigest()
        return CopyEntry(folder=self.folder, seed=seed, digest=digest, cases=self.suite.cases)


def _check_profile(profile: str) -> None:
    if profile not in COVERING_STRENGTH:
        *others, last = COVERING_STRENGTH
        raise OpcertError(f"unknown profile '{profile}'; expected {', '.join(others)} or {last}")


def _copy_folders(repeat: int, seed: int) -> list[str]:
    """Return the folder of each copy; a single suite is not in a folder of its own."""
    if not 1 <= repeat <= MAX_COPIES:
        raise OpcertError(f"found {repeat} copies; expected 1 to {MAX_COPIES}")
    if repeat > 1 and seed + repeat > _SEED_LIMIT:
        raise OpcertError(
            f"the last of {repeat} copies has the seed {seed + repeat - 1}; expected a seed below "
            f"{_SEED_LIMIT}"
        )
    digits = max(2, len(str(repeat - 1)))
    return [f"copy-{k:0{digits}}" for k in range(repeat)] if repeat > 1 else [""]


def _check_unchanged(spec_file: SpecFile, part: OperatorPart) -> None:
    """Check that a process that read a spec itself found the same spec."""
    if part[1].spec_sha256 != spec_file.digest:
        raise OpcertError(
            f"{spec_file.path}: another process found other text in it; it was changed meanwhile, "
            "or a worker of the cluster has another version of it; start again with the same files"
        )
