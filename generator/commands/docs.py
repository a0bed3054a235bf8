"""Write Markdown: the guides, and the rules and cases of each operator.

`python -m sphinx -W FOLDER SITE` makes a site of it; the extra `docs` installs Sphinx.
"""

from pathlib import Path
from typing import Annotated

import typer

from opcert.certificate.file import refuse_path_in_suite
from opcert.commands.options import (
    QuietOption,
    SuiteOption,
    announcer,
    echo_line,
    takes_settings,
    worker_count,
)
from opcert.output_files import check_output_folder
from opcert.pages.documentation import MARKS, render_docs
from opcert.panel.strength import measure_strength
from opcert.run.settings import RunSettings
from opcert.specification.files import read_specs_in
from opcert.suite.opening import open_suite
from opcert.suite.writing import check_marked_folder, replace_marked_folder


@takes_settings("specs", "operator")
def docs(
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Folder for the Markdown, without other files."
        ),
    ],
    settings: RunSettings,
    suite: SuiteOption = None,
    strength: Annotated[
        bool,
        typer.Option(
            "--strength", help="Include the strength: which generic faults the suite finds."
        ),
    ] = False,
    quiet: QuietOption = False,
) -> None:
    refuse_path_in_suite(check_output_folder(out), suite)
    own = MARKS, "the Markdown of `opcert docs`"
    check_marked_folder(out, *own)
    spec_files = read_specs_in(settings.specs, settings.operator or "*")
    opened = open_suite(
        suite, settings.specs, settings.operator, jobs=worker_count(), announce=announcer(quiet)
    )
    strengths = {
        file.spec.operator: measure_strength(file, opened.operators[file.spec.operator])
        for file in spec_files
        if strength and file.spec.operator in opened.operators
    }
    replace_marked_folder(out, render_docs(spec_files, opened, strengths), *own)
    echo_line(f"wrote {out / 'index.md'} and the other pages")
