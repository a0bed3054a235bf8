"""The command line: all commands, the common options and the entry point."""

import gc
import sys
from traceback import print_exc
from typing import Annotated

import typer

from opcert.commands.backends import backends, claim, driver_check
from opcert.commands.certify import certify
from opcert.commands.explore import explore
from opcert.commands.options import ExitCode, OnceCommand
from opcert.commands.output import tolerant_output
from opcert.commands.pages import docs, explain, report
from opcert.commands.specs import check, coverage, generate, schema
from opcert.commands.verify import verify

app = typer.Typer(
    name="opcert",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Certify implementations of tensor operators against written specifications.",
    epilog="Exit codes of every command: 3 the output could not be printed; 70 an error in opcert; "
    "130 interrupted. The help of a command names the others.",
)
# In the order of the help: a backend, its certificate, a driver, then specs and suites.
for command in (
    *(certify, backends, claim, explore, driver_check),
    *(verify, report, explain),
    *(check, generate, coverage, docs, schema),
):
    app.command(cls=OnceCommand)(command)


def _print_version(requested: bool) -> None:
    if requested:
        from opcert import __version__

        typer.echo(f"opcert {__version__}")
        raise typer.Exit


@app.callback()
def main_options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Certify implementations of tensor operators against written specifications."""


# After how many new objects the garbage collector looks for cycles; Python's own default is 700.
_OBJECTS_BEFORE_COLLECTION = 50_000


def main() -> None:
    """Run the command line; an internal error gives a traceback and exit code 70."""
    # Commands keep thousands of calls and cases until they end, and make hardly any cycles. To look
    # for cycles after every few objects would cost several percent of their time.
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTION)
    with tolerant_output():
        try:
            app(windows_expand_args=False)
        except Exception:
            print_exc()
            sys.exit(ExitCode.INTERNAL_ERROR)


if __name__ == "__main__":
    main()
