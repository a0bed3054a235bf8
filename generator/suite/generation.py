"""Generates a suite from specs, or opens the one that a call is about."""

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from fnmatch import fnmatchcase
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

from opcert.cases.generation import generate_cases
from opcert.cases.vectors import iterate_vectors
from opcert.errors import Mistake, OpcertError, SpecError, listed
from opcert.settings import PROFILES
from opcert.specification.files import (
    SpecFile,
    find_spec_files,
    is_selected,
    read_spec,
    read_specs_in,
    shipped_operators,
)
from opcert.specs import CORE_OPERATORS
from opcert.suite.emit import OperatorPart, operator_files, suite_files
from opcert.suite.format import SuiteEntry
from opcert.suite.formats import SUITE, check_format, files_in_format
from opcert.suite.suite import Suite, core_suite_folder, read_manifest
from opcert.suite.writing import folder_differences, refuse_path_in_suite, write_suite
from opcert.workers import Processes, Workers


def generate(
    out: str | Path,
    specs: str | Path | None = None,
    *,
    profile: str = "core",
    operator: str | None = None,
    seed: int = 0,
    jobs: int = 1,
    cluster: Workers | None = None,
    check: bool = False,
    format: str = SUITE,  # noqa: A002 - the name of the option
    on_operator: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Generate a suite in the folder `out`, and replace an earlier suite.

    `specs` is a folder of specs, by default opcert's own. `operator` has globs that select
    operators, by default all of `specs`, or those of the core suite among opcert's own. `jobs` is
    the number of worker processes. The workers of a `cluster`, an `opcert.workers.Cluster`, take
    their place; they need other specs than opcert's own at the same path. `on_operator` is called
    with each finished operator. The `format` "onnx-backend-test" writes tests for ONNX's own runner
    instead, and "safetensors" adds files of this format.

    The result lists what the format cannot hold, one line per operator and reason. With `check`,
    nothing is written; the result lists the differences between `out` and the suite, one line per
    file.

    Raises:
        OpcertError: a spec has mistakes, the format is unknown or needs an extra, or `out` holds
            other files or cannot be written.
    """
    check_format(format)
    if format != SUITE:
        refuse_path_in_suite(Path(out).resolve(), None)
    spec_files = _selected(None if specs is None else Path(specs), operator)
    left_out: list[str] = []
    with _workers(jobs, cluster) as workers:
        files = iterate_files(spec_files, profile, seed, workers, on_operator)
        if format != SUITE:
            files = files_in_format(format, files, None if specs is None else Path(specs), left_out)
        if check:
            return folder_differences(Path(out), files)
        write_suite(Path(out), files)
    return left_out


def _selected(specs: Path | None, operator: str | None) -> list[SpecFile]:
    """Return the specs that match globs; without any, those of the core suite among opcert's."""
    spec_files = read_specs_in(specs, operator)
    if specs is None and operator is None:
        return [file for file in spec_files if file.spec.operator in CORE_OPERATORS]
    return [*spec_files]


def _workers(jobs: int, cluster: Workers | None = None) -> AbstractContextManager[Workers | None]:
    """Return the workers that make parts, which end with the context; a cluster goes on."""
    return Processes(jobs) if cluster is None and jobs > 1 else nullcontext(cluster)


def iterate_files(
    specs: Sequence[SpecFile],
    profile: str = "core",
    seed: int = 0,
    workers: Workers | None = None,
    on_operator: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of each file of a suite.

    Its parts are made on `workers`, by default in this process. After its files, only what the
    manifest states of a part is in memory.

    Raises:
        SpecError: with the mistakes of all specs.
        OpcertError: the profile is unknown, or a spec changes meanwhile.
    """
    if profile not in PROFILES:
        raise OpcertError(f"unknown profile '{profile}'; expected {listed([*PROFILES], 'or')}")

    def parts() -> Iterator[OperatorPart]:
        mistakes: list[Mistake] = []
        for file, part_of in _iterate_parts(specs, profile, seed, workers):
            try:
                part = part_of()
            except SpecError as error:
                mistakes += error.mistakes
                continue
            if part[1].spec_sha256 != file.digest:
                # A process that reads a spec itself may find another one.
                raise OpcertError(
                    f"{file.path}: another process found other text in it; it was changed "
                    "meanwhile, or a worker of the cluster has another version of it; start again "
                    "with the same files"
                )
            yield part
            on_operator(part[0])
            # Free its files, which may be large, before the next part is made.
            del part
        if mistakes:
            raise SpecError(mistakes)

    yield from suite_files(profile, seed, parts())


def _iterate_parts(
    specs: Sequence[SpecFile], profile: str, seed: int, workers: Workers | None
) -> Iterator[tuple[SpecFile, Callable[[], OperatorPart]]]:
    """Yield each spec with a function that returns its part of a suite, or raises its mistakes.

    The function makes the part in this process; on workers, it has been made, in any order.

    Raises:
        OpcertError: no worker is left.
    """
    if workers is None:
        yield from ((file, partial(_part_of, profile, seed, file)) for file in specs)
        return
    # A long spec takes long; if it started last, it would run alone at the end.
    longest_first = sorted(specs, key=lambda file: -file.path.stat().st_size)
    # Workers may have another current folder.
    files = {file.path.absolute(): file for file in longest_first}
    for path, future in workers.each(partial(make_part, profile, seed, version("opcert")), files):
        yield files[path], partial(workers.result, future)


def make_part(profile: str, seed: int, opcert: str, path: Path) -> OperatorPart:
    """Make a part in another process, also on a machine with opcert's own specs elsewhere.

    `opcert` is the version that asks for it. Arguments and result can be pickled; a spec, which has
    functions such as its reference, cannot.

    Raises:
        OpcertError: this is another version of opcert, or the spec is missing or has mistakes.
    """
    worker = f"worker on {platform.node()}"
    if version("opcert") != opcert:
        raise OpcertError(
            f"{worker}: found opcert {version('opcert')}; expected {opcert}, as here; install the "
            "same version on all workers"
        )
    if not path.is_file():
        own = [own for own in find_spec_files(None) if own.parts[-2:] == path.parts[-2:]]
        if not own:
            raise OpcertError(
                f"{worker}: {path} is missing; expected the specs in the same folder on all workers"
            )
        path = own[0]
    return _part_of(profile, seed, read_spec(path))


def _part_of(profile: str, seed: int, spec_file: SpecFile) -> OperatorPart:
    vectors = iterate_vectors(spec_file, generate_cases(spec_file, profile, seed))
    return operator_files(spec_file, vectors, PROFILES[profile].stored)


# Called with a sentence about a suite that was generated.
Announce = Callable[[str], None]


def load(
    folder: str | Path | None = None, specs: str | Path | None = None, operator: str | None = None
) -> Suite:
    """Read a suite, by default the core suite that comes with opcert.

    The globs `operator` select shipped operators. If the core suite lacks one of them, the suite of
    all that match is generated. Without `folder`, `specs` is a folder whose suite is generated.

    A suite yields its cases with their golden data, in the order in which a certification runs
    them:

        for case in opcert.load():
            if case.expects == "outputs" and case.ambiguity is None:
                outputs = run(case.operator, case.inputs, case.attributes)
                for actual, expected in zip(outputs, case.outputs, strict=True):
                    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
                    assert actual.tobytes() == expected.tobytes()

    `suite.cases[id]` is the case with an id. A case has `id`, `operator`, `expects` ("outputs" or
    "rejection"), `inputs` (arrays by name), `attributes`, `outputs` (a list of arrays), and where
    they apply `violated_rule`, `baseline`, `ambiguity` and `rules`; `record` has all that the
    index states. Element types that NumPy lacks are those of ml_dtypes.

    Outputs that are not stored are recomputed by the reference of the operator's spec in
    the folder `specs`, by default opcert's own, and checked by their digests.

    Raises:
        SuiteError: the suite is missing, damaged, incomplete or of another format.
        OpcertError: a spec is at fault, or no operator of `specs` matches.
    """
    suite = open_suite(folder, specs, operator)
    # Read all of it now, so that no damage is found later.
    suite.validate()
    return suite


def open_suite(
    suite: str | Path | Suite | None = None,
    specs: str | Path | None = None,
    operator: str | None = None,
    profile: str = "core",
    *,
    jobs: int = 1,
    announce: Announce = lambda _: None,
) -> Suite:
    """Return a suite as passed, from a folder, or generated from `specs`; by default the core.

    If the globs `operator` match shipped operators that the core suite lacks, the suite of all
    shipped operators that match is generated instead; and so is a suite of another profile.

    Raises:
        OpcertError: the suite or a spec is at fault, or no operator of `specs` matches.
    """
    if isinstance(suite, Suite):
        return suite
    folder = None if specs is None else Path(specs)
    if suite is not None:
        return Suite(Path(suite), folder)
    if folder is None and profile == "core":
        core = read_manifest(core_suite_folder()).operators
        lacking = (name for name in shipped_operators() if name not in core)
        if operator is None or not any(is_selected(name, operator) for name in lacking):
            return Suite()
    return _generated(_selected(folder, operator), folder, jobs, announce, profile)


def open_suite_of_case(
    case: str,
    suite: str | Path | None = None,
    specs: str | Path | None = None,
    *,
    announce: Announce = lambda _: None,
) -> Suite:
    """Return the suite that has the cases whose ids match the glob `case`; see `open_suite`.

    If the core suite has none, but an id can be one of other shipped operators, their suite is
    generated.

    Raises:
        OpcertError: the suite or a spec is at fault.
    """
    opened = open_suite(suite, specs, announce=announce)
    if suite is not None or specs is not None or opened.select("*", case):
        return opened
    slug, _, _ = case.partition("/")
    spec_files = [
        spec_file
        for spec_file in read_specs_in(None)
        if spec_file.spec.operator not in opened.operators
        and fnmatchcase(spec_file.spec.slug, slug)
    ]
    return _generated(spec_files, None, 1, announce) if spec_files else opened


def open_certified_suite(
    entry: SuiteEntry,
    suite: Path | None = None,
    specs: Path | None = None,
    *,
    jobs: int = 1,
    announce: Announce = lambda _: None,
) -> Suite:
    """Return the suite of a certificate, which is in a folder or generated again from specs.

    `specs` are by default opcert's own, if the suite was generated from them; otherwise the result
    is the core suite, which differs from that of the certificate. The caller compares the digests.

    Raises:
        OpcertError: the suite or a spec is at fault, or the profile is unknown.
    """
    if suite is not None:
        return Suite(suite, specs)
    if specs is None and entry.digest == (core := Suite()).digest:
        return core
    spec_files = [file for file in read_specs_in(specs) if file.spec.operator in entry.specs]
    if specs is None and {file.spec.operator: file.digest for file in spec_files} != entry.specs:
        return core
    return _generated(spec_files, specs, jobs, announce, entry.profile, entry.seed)


def _generated(
    spec_files: Sequence[SpecFile],
    specs: Path | None,
    jobs: int,
    announce: Announce,
    profile: str = "core",
    seed: int = 0,
) -> Suite:
    """Return the suite of `spec_files`, files of the folder `specs`, and announce it."""
    start = perf_counter()
    # A worker process takes a second to start, about as long as an operator takes.
    with _workers(min(jobs, (len(spec_files) + 1) // 2)) as workers:
        files = dict(iterate_files(spec_files, profile, seed, workers))
    suite = Suite(Path("the generated suite"), specs, files)
    names = ", ".join(file.spec.operator for file in spec_files)
    of_operators = names if len(spec_files) <= 3 else f"{len(spec_files)} operators"
    seconds = perf_counter() - start
    announce(f"generated the {profile} suite of {of_operators} in {seconds:.1f} s")
    return suite
