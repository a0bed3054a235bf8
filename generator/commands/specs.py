"""The commands for specs and suites: `check`, `generate`, `coverage`, `docs`, `schema`."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from opcert.accuracy.bounds import undistinguished
from opcert.certificate.file import certificate_json_schema
from opcert.commands import options
from opcert.commands.options import ExitCode, echo_line, open_selected, takes_settings
from opcert.errors import OpcertError
from opcert.report.documentation import MARKS, render_docs
from opcert.report.files import console, print_line, table_cell
from opcert.settings import RunSettings
from opcert.specification.files import find_spec_files, read_specs_in
from opcert.specification.model import Spec
from opcert.strength.strength import Strength, Survivor, measure_strength
from opcert.suite.coverage import Coverage, measure_coverage
from opcert.suite.format import StoredArray
from opcert.suite.formats import SUITE
from opcert.suite.generation import generate as generate_suite
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.spec_check import RuleCounts, check_specs
from opcert.suite.writing import check_marked_folder, refuse_path_in_suite, replace_marked_folder
from opcert.system import check_output_folder


@takes_settings("specs", "profile")
def check(
    *,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Spec files; by default opcert's own."),
    ] = None,
    settings: RunSettings,
    strength: Annotated[
        bool,
        typer.Option(
            "--strength/--no-strength",
            help="Measure which faults the suite finds, which takes most of the time.",
        ),
    ] = True,
) -> None:
    """Check specs, and measure the strength of their suite.

    Reports mistakes, warnings, the number of cases for each rule, the requirements that the
    reference does not check, and which faults of backends the suite finds: of those drawn at
    random, and of systematic ones.

    Examples:
        opcert check my_specs/Reverse-1.yaml
        opcert check --specs my_specs
    """
    if files and settings.specs:
        raise OpcertError("FILE and --specs contradict each other; choose one")
    paths = files or find_spec_files(settings.specs)
    announce = options.announce if len(paths) > 1 else lambda _: None
    checked = check_specs(paths, settings.profile, announce)
    for spec in checked:
        for warning in spec.warnings:
            echo_line(f"warning: {warning}", err=True)
    for spec in checked:
        if spec.stated_once:
            rules = ", ".join(spec.stated_once)
            echo_line(f"{spec.spec_file.spec.operator}: only the spec states {rules}")
    for spec in checked:
        for line in _distinguished_arithmetics(spec.operator):
            echo_line(line)
    print_rule_counts([counts for spec in checked for counts in spec.counts], console())
    if strength:
        for spec in checked:
            print_strength(measure_strength(spec.spec_file, spec.operator), console())


def _distinguished_arithmetics(operator: OperatorSuite) -> Iterator[str]:
    """Yield, for each element type, which neighbouring arithmetics the cases distinguish."""
    computed = (
        case
        for case in operator.cases.values()
        if any(isinstance(o, StoredArray) and o.allowance for o in case.outputs)
    )
    outputs = (operator.outputs(case) for case in computed)
    for element_type, pairs in undistinguished(outputs).items():
        texts = ", ".join(f"{loose} from {tight}" for tight, loose in pairs)
        which = f"all but {texts}" if pairs else "all"
        name = f"{operator.index.operator}, {element_type}"
        yield f"{name}: neighbouring arithmetics distinguished: {which}"


@takes_settings("operator", "specs", "profile", "jobs")
def generate(
    *,
    out: Annotated[
        Path, options.out("FOLDER", "Folder for the suite; replaces an earlier one.")
    ] = Path("generated"),
    settings: RunSettings,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="suite; onnx-backend-test, for the runner of ONNX; or safetensors, which adds "
            "files of this format to the suite.",
        ),
    ] = SUITE,
    seed: options.SeedOption = 0,
    cluster: options.ClusterOption = None,
    cluster_resources: options.ClusterResourcesOption = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Write nothing; list how the folder differs, with exit code 1."
        ),
    ] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Generate a suite from specs.

    By default it has the operators of the core suite, or all operators of --specs.

    Examples:
        opcert generate -o suite --profile full
        opcert generate -o suite --operator 'directml/*' --seed 7
        opcert generate -o suite --check
    """
    with options.open_cluster(cluster, cluster_resources) as connected:
        lines = generate_suite(
            out,
            seed=seed,
            cluster=connected,
            check=check,
            format=format_,
            on_operator=(lambda _: None) if quiet else options.announce,
            **settings.changes(),
        )
    for line in lines:
        echo_line(line)
    if check and lines:
        text = f"{out} differs from the suite of the specs; run the same command without --check"
        echo_line(text, err=True)
        raise typer.Exit(ExitCode.FAILURE)
    echo_line(f"{out} is the suite of the specs" if check else f"wrote {out}")


@takes_settings("operator", "specs", "profile")
def coverage(*, suite: options.SuiteOption = None, settings: RunSettings) -> None:
    """Measure how much a suite covers of what fresh calls show. It is a measure, and no goal.

    With --specs alone, generate a temporary core suite from these specs.

    Examples:
        opcert coverage
        opcert coverage --suite suite --operator 'directml/*'
    """
    spec_files = read_specs_in(settings.specs, settings.operator)
    opened = open_selected(suite, settings)
    coverages = list(measure_coverage(opened, spec_files))
    for operator, covered in coverages:
        print_coverage(operator, covered, console())
    if not coverages:
        place = settings.specs or "the specs of opcert"
        raise OpcertError(
            f"no spec of {', '.join(opened.operators)} in {place}, so nothing was measured; name "
            "the folder of these specs by --specs"
        )


@takes_settings("specs", "operator", "profile")
def docs(
    *,
    out: Annotated[Path, options.out("FOLDER", "Folder for the Markdown, without other files.")],
    settings: RunSettings,
    suite: options.SuiteOption = None,
) -> None:
    """Write Markdown: the rules and the cases of each operator.

    `python -m sphinx -W FOLDER SITE` makes a site of it; the extra `docs` installs Sphinx.

    Examples:
        opcert docs -o docs
    """
    refuse_path_in_suite(check_output_folder(out), suite)
    own = MARKS, "the Markdown of `opcert docs`"
    check_marked_folder(out, *own)
    spec_files = read_specs_in(settings.specs, settings.operator)
    opened = open_selected(suite, settings)
    replace_marked_folder(out, render_docs(spec_files, opened), *own)
    echo_line(f"wrote {out / 'index.md'} and the other pages")


def schema(
    certificate: Annotated[
        bool, typer.Option("--certificate", help="Print the schema of certificate.json instead.")
    ] = False,
) -> None:
    """Print the JSON Schema of specs, or of certificates.

    Examples:
        opcert schema > spec.schema.json
        opcert schema --certificate
    """
    schema = certificate_json_schema() if certificate else Spec.model_json_schema()
    typer.echo(json.dumps(schema, indent=1))


def print_rule_counts(counts: Sequence[RuleCounts], console: Console) -> None:
    """Print the number of positive and negative cases of each rule."""
    numbers = (Column(heading, justify="right") for heading in ("positive", "negative"))
    table = Table("rule", "kind", *numbers)
    for rule_counts in counts:
        negative = str(rule_counts.negative) if rule_counts.kind == "requirement" else ""
        table.add_row(
            table_cell(rule_counts.rule), rule_counts.kind, str(rule_counts.positive), negative
        )
    console.print(table)
    console.print(f"{len(counts)} rules, each exercised", highlight=False)


# How many of the faults that survive are listed.
_SURVIVORS = 5


def print_strength(strength: Strength, console: Console) -> None:
    """Print how many faults the cases of an operator find, and list others with calls."""
    line = partial(print_line, console)
    count = f"{strength.systematic_found} of {strength.systematic}"
    line(f"{strength.operator}: systematic faults found: {count}")
    _print_survivors(strength.missed, line)
    count = f"{strength.found} of {strength.drawn}"
    line(
        f"{strength.operator}: random faults found: {count}, so {strength.percent} of such faults, "
        "with 95 % confidence"
    )
    _print_survivors(strength.simplest[:_SURVIVORS], line)


def _print_survivors(survivors: Sequence[Survivor], line: Callable[[str], None]) -> None:
    for survivor in survivors:
        line(f"  not found: {survivor.text}")
        line(f"    it shows in {survivor.call:.300}")


# How many missing items of a dimension are listed.
_LISTED = 20


def print_coverage(operator: str, coverage: Coverage, console: Console) -> None:
    """Print the coverage of one operator, and list the missing items."""
    line = partial(print_line, console)
    line(operator)
    for dimension, items in coverage.items():
        missing = [name for name, is_covered in items.items() if not is_covered]
        whole, present = len(items), len(items) - len(missing)
        line(f"  {_percent(present, whole):>7}  {dimension}: {present} of {whole}")
        for name in missing[:_LISTED]:
            line(f"           missing: {name}")
        if len(missing) > _LISTED:
            line(f"           and {len(missing) - _LISTED} more")


def _percent(present: int, whole: int) -> str:
    """Return a share as a percentage that is 100% only for complete coverage."""
    return "100%" if present == whole else f"{min(100 * present / whole, 99.9):.1f}%"
