"""Check specs, and measure the strength of their suite.

Reports mistakes, warnings, the number of cases for each rule, and the generic wrong backends
that the suite does not detect.
"""

from pathlib import Path
from typing import Annotated

import typer

from opcert.commands.options import (
    echo_line,
    takes_settings,
)
from opcert.commands.tables import print_rule_counts, print_strength
from opcert.panel.strength import measure_strength
from opcert.report.terminal import console
from opcert.run.settings import RunSettings
from opcert.specification.references import find_spec_files
from opcert.suite.spec_check import check_specs


@takes_settings("specs")
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
            help="Measure the strength on generic wrong backends, which takes most of the time.",
        ),
    ] = True,
) -> None:
    checked = check_specs(files or find_spec_files(settings.specs))
    for spec in checked:
        for warning in spec.warnings:
            echo_line(f"warning: {warning}", err=True)
    print_rule_counts([counts for spec in checked for counts in spec.counts], console())
    if strength:
        for spec in checked:
            print_strength(measure_strength(spec.spec_file, spec.operator), console())
