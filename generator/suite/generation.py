"""Generates suites from specs; where their parts are made changes no byte."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from opcert.cases.generation import COVERING_STRENGTH
from opcert.cluster import Cluster
from opcert.errors import Mistake, OpcertError, SpecError
from opcert.output_files import FileContents
from opcert.specification.files import SpecFile, read_specs_in
from opcert.specs import CORE_OPERATORS
from opcert.suite.emit import OperatorPart, SuiteInProgress
from opcert.suite.parts import (
    MakeParts,
    PartTask,
    parts_here,
    parts_in_processes,
    parts_on_cluster,
)
from opcert.suite.writing import folder_differences, write_suite


def generate(
    out: str | Path,
    specs: str | Path | None = None,
    *,
    profile: str = "core",
    operator: str | None = None,
    seed: int = 0,
    jobs: int = 1,
    cluster: Cluster | None = None,
    check: bool = False,
    on_operator: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Generate a suite in the folder `out`, and replace an earlier suite.

    `specs` is a folder of specs, by default opcert's own. `operator` is a glob that selects
    operators, by default all of `specs`, or those of the core suite among opcert's own. `jobs` is
    the number of worker processes. The workers of a `cluster` take their place; they need other
    specs than opcert's own at the same path. `on_operator` is called with each finished operator.
    With `check`, nothing is written; the result lists the differences between `out` and the suite,
    one line per file.

    Raises:
        OpcertError: a spec has mistakes, or `out` holds other files or cannot be written.
    """
    spec_files = read_specs_in(None if specs is None else Path(specs), operator or "*")
    if specs is None and operator is None:
        spec_files = [file for file in spec_files if file.spec.operator in CORE_OPERATORS]
    make = parts_on_cluster(cluster) if cluster else _part_maker(spec_files, jobs)
    files = iterate_files(spec_files, profile, seed, make=make, on_operator=on_operator)
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
    make = _part_maker(specs, jobs)
    return dict(iterate_files(specs, profile, seed, make=make, on_operator=on_operator))


def _part_maker(specs: Sequence[SpecFile], jobs: int) -> MakeParts:
    return parts_here(specs) if jobs <= 1 else parts_in_processes(jobs)


def iterate_files(
    specs: Sequence[SpecFile],
    profile: str,
    seed: int,
    *,
    make: MakeParts,
    on_operator: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of each file of a suite.

    After its files, only what the manifest states of a part is in memory.

    Raises:
        SpecError: with the mistakes of all specs.
        OpcertError: the profile is unknown, or a spec changes meanwhile.
    """
    if profile not in COVERING_STRENGTH:
        *others, last = COVERING_STRENGTH
        raise OpcertError(f"unknown profile '{profile}'; expected {', '.join(others)} or {last}")
    by_path = {file.path: file for file in specs}
    suite = SuiteInProgress(profile, seed)
    mistakes: list[Mistake] = []
    for task, part in make([PartTask(path, profile, seed) for path in by_path]):
        if isinstance(part, list):
            mistakes += part
        else:
            _check_unchanged(by_path[task.spec], part)
            yield from suite.add(part).items()
            on_operator(part[0])
        # Free its files, which may be large, before the next part is made.
        del part
    if mistakes:
        raise SpecError(mistakes)
    yield from suite.finish().items()


def _check_unchanged(spec_file: SpecFile, part: OperatorPart) -> None:
    """Check that a process that read a spec itself found the same spec."""
    if part[1].spec_sha256 != spec_file.digest:
        raise OpcertError(
            f"{spec_file.path}: another process found other text in it; it was changed meanwhile, "
            "or a worker of the cluster has another version of it; start again with the same files"
        )
