"""The command line: all commands, the common options and the entry point.

A command is a function in a module of `opcert.commands`; its docstring is its help, with examples.
Only the module of the command that is called is imported.
"""

import os
import re
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from textwrap import dedent
from traceback import print_exc
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from opcert.commands.options import ExitCode, echo_line, interruption_text, print_error
from opcert.commands.parsing import (
    CLICK_EXCEPTION,
    Command,
    print_click_error,
    tolerant_output,
)
from opcert.errors import OpcertError, did_you_mean

# The commands by the heading of their group, each with its module.
COMMANDS = {
    "Certify a backend": {
        "certify": "certify",
        "backends": "backends",
        "explore": "certify",
        "driver-check": "backends",
    },
    "Read a certificate": {
        "report": "certificates",
        "verify": "certificates",
        "sign": "certificates",
        "claim": "backends",
        "waivers": "certificates",
        "explain": "certificates",
    },
    "Write specs, generate suites": {
        "check": "specs",
        "generate": "specs",
        "coverage": "specs",
        "docs": "specs",
        "schema": "specs",
    },
}
_MODULES = {name: module for group in COMMANDS.values() for name, module in group.items()}


class Opcert(TyperGroup):
    """All commands; every mistake of a user ends in a message and an exit code."""

    @staticmethod
    def summary(name: str) -> str:
        """Return the first line of a command's help, without importing its module."""
        module, function = _MODULES[name], name.replace("-", "_")
        source = Path(__file__).with_name("commands").joinpath(f"{module}.py").read_text("utf-8")
        docstring = re.search(
            rf'^def {function}\(.*?"""([^"\n]+)', source, re.DOTALL | re.MULTILINE
        )
        return docstring[1] if docstring else ""

    def list_commands(self, _: typer.Context) -> list[str]:  # type: ignore[override]
        """Return the names of all commands."""
        return [*_MODULES]

    def get_command(self, _: typer.Context, name: str) -> TyperCommand | None:  # type: ignore[override]
        """Return the command of this name, if there is one."""
        return self.load(name) if name in _MODULES else None

    @staticmethod
    def load(name: str) -> TyperCommand:
        """Return the command of this name."""
        module = import_module(f"opcert.commands.{_MODULES[name]}")
        function = getattr(module, name.replace("-", "_"))
        text, _, examples = cleandoc(function.__doc__).partition("\n\nExamples:\n")
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name, cls=Command, help=text, epilog=dedent(examples))(function)
        return cast("TyperCommand", typer.main.get_command(single))

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line."""
        args = sys.argv[1:] if args is None else args
        try:
            code = super().main(args, prog_name, standalone_mode=False, **extra)
        except (OpcertError, OSError, MemoryError) as error:
            print_error(error)
            code = ExitCode.INVALID_INPUT
        except CLICK_EXCEPTION as error:
            print_click_error(error, args)
            code = ExitCode.INVALID_INPUT
        except typer.Abort:
            echo_line(interruption_text(), err=True)
            code = ExitCode.INTERRUPTED
        if standalone_mode:
            sys.exit(code)
        return code

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """Return the command that `args` name.

        Raises:
            OpcertError: there is no such command.
        """
        if args[0] not in _MODULES and not ctx.resilient_parsing:
            raise OpcertError(f"unknown command '{args[0]}'{did_you_mean(args[0], [*_MODULES])}")
        return super().resolve_command(ctx, args)

    def format_commands(self, _: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write each group of commands with its heading."""
        longest = max(map(len, _MODULES))
        for heading, names in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl((f"{name:<{longest}}", self.summary(name)) for name in names)


app = typer.Typer(
    name="opcert",
    cls=Opcert,
    no_args_is_help=True,
    # Plain text, which fits any width and any log.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="Certify implementations of tensor operators against written specifications.",
    epilog="Exit codes of every command: 3 the output could not be printed; 70 an error in opcert; "
    "130 interrupted. The help of a command names the others: opcert COMMAND -h.",
)


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


def _interrupt_on_request() -> None:
    """Treat a request to end, by a service manager or a closed terminal, like Ctrl-C."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # Under nohup, SIGHUP is ignored, and remains so.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _open_standard_streams() -> None:
    """Open those of stdin, stdout and stderr that are closed, as the null device.

    Otherwise the next files that are opened get their numbers, and a worker takes them for its own.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # A system gives the lowest free number.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def main() -> None:
    """Run the command line; an internal error gives a traceback and exit code 70."""
    _open_standard_streams()
    _interrupt_on_request()
    with tolerant_output():
        try:
            app(windows_expand_args=False)
        except KeyboardInterrupt:
            # Another interrupt, after the one that ended the command.
            sys.exit(ExitCode.INTERRUPTED)
        except Exception:
            print_exc()
            sys.exit(ExitCode.INTERNAL_ERROR)


if __name__ == "__main__":
    main()
