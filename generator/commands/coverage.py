"""Measure the coverage of a suite.

With --specs alone, generate a temporary core suite from these specs.

Exit codes: 0 complete; 1 incomplete; 2 invalid input.
"""

import typer

from opcert.commands.options import (
    ExitCode,
    QuietOption,
    SuiteOption,
    announcer,
    takes_settings,
    worker_count,
)
from opcert.commands.tables import print_coverage
from opcert.errors import OpcertError
from opcert.report.terminal import console
from opcert.run.settings import RunSettings
from opcert.specification.files import read_specs_in
from opcert.suite.coverage import measure_coverage
from opcert.suite.opening import open_suite


@takes_settings("operator", "specs")
def coverage(
    *,
    suite: SuiteOption = None,
    settings: RunSettings,
    quiet: QuietOption = False,
) -> None:
    spec_files = {
        spec_file.spec.operator: spec_file
        for spec_file in read_specs_in(settings.specs, settings.operator or "*")
    }
    opened = open_suite(
        suite, settings.specs, settings.operator, jobs=worker_count(), announce=announcer(quiet)
    )
    coverages = list(measure_coverage(opened, spec_files))
    for operator_coverage in coverages:
        print_coverage(operator_coverage, console())
    if not coverages:
        place = settings.specs or "the specs of opcert"
        raise OpcertError(
            f"no spec of {', '.join(opened.operators)} in {place}, so nothing was measured; name "
            "the folder of these specs by --specs"
        )
    if any(operator_coverage.share < 1 for operator_coverage in coverages):
        raise typer.Exit(ExitCode.FAILURE)
