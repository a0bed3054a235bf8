"""Opens the suite that a call is about: the core suite, one in a folder, or one generated now."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from time import perf_counter

from opcert.specification.files import SpecFile, read_specs_in
from opcert.specification.references import shipped_operators
from opcert.suite.format import SuiteEntry
from opcert.suite.suite import Suite, core_suite_folder, read_manifest

# Called with a sentence about a suite that was generated.
Announce = Callable[[str], None]


def load(
    folder: str | Path | None = None,
    specs: str | Path | None = None,
    operator: str | None = None,
) -> Suite:
    """Read a suite, by default the core suite that comes with opcert.

    The glob `operator` selects shipped operators. If the core suite lacks one of them, the suite of
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

    Outputs that are too large to store are recomputed by the reference of the operator's spec in
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
    *,
    jobs: int = 1,
    announce: Announce = lambda _: None,
) -> Suite:
    """Return a suite as passed, from a folder, or generated from `specs`; by default the core.

    If the glob `operator` matches shipped operators that the core suite lacks, the suite of all
    shipped operators that match is generated instead.

    Raises:
        OpcertError: the suite or a spec is at fault, or no operator of `specs` matches.
    """
    if isinstance(suite, Suite):
        return suite
    folder = None if specs is None else Path(specs)
    if suite is not None:
        return Suite(Path(suite), folder)
    if folder is None:
        matching = [] if operator is None else _shipped(operator)
        if not set(matching) - read_manifest(core_suite_folder()).operators.keys():
            return Suite()
    return _generated(read_specs_in(folder, operator or "*"), folder, jobs, announce)


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
    suite: str | Path | None = None,
    specs: str | Path | None = None,
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
        return open_suite(suite, specs)
    folder = None if specs is None else Path(specs)
    if folder is None and entry.digest == (core := Suite()).digest:
        return core
    spec_files = [file for file in read_specs_in(folder) if file.spec.operator in entry.specs]
    if folder is None and {file.spec.operator: file.digest for file in spec_files} != entry.specs:
        return core
    return _generated(spec_files, folder, jobs, announce, entry.profile, entry.seed)


def _shipped(operator: str) -> list[str]:
    return [name for name in shipped_operators() if fnmatchcase(name, operator)]


def _generated(
    spec_files: Sequence[SpecFile],
    specs: Path | None,
    jobs: int,
    announce: Announce,
    profile: str = "core",
    seed: int = 0,
) -> Suite:
    """Return the suite of `spec_files`, files of the folder `specs`, and announce it."""
    # To open a suite in a folder takes no generation.
    from opcert.suite.generation import generate_suite_files  # noqa: PLC0415

    start = perf_counter()
    # A worker process takes a second to start, about as long as an operator takes.
    workers = min(jobs, (len(spec_files) + 1) // 2)
    files = generate_suite_files(spec_files, profile, seed, workers)
    suite = Suite(Path("the generated suite"), specs, files)
    names = ", ".join(file.spec.operator for file in spec_files)
    of_operators = names if len(spec_files) <= 3 else f"{len(spec_files)} operators"
    seconds = perf_counter() - start
    announce(f"generated the {profile} suite of {of_operators} in {seconds:.1f} s")
    return suite
