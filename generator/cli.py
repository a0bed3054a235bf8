"""The command line: all commands, the common options and the entry point.

A command is a function in a module of `opcert.commands`; its docstring is its help. Only the module
of the command that is called is imported.
"""

import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from traceback import print_exc
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from opcert.commands.options import ExitCode, echo_line, interruption_text, print_error
from opcert.commands.parsing import (
    CLICK_EXCEPTION,
    Command,
    option_mistake,
    print_click_error,
    tolerant_output,
)
from opcert.errors import OpcertError, did_you_mean

# The commands by the heading of their group: the module, and the examples of the help.
COMMANDS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "Certify a backend": {
        "certify": (
            "certify",
            "opcert certify -b my_backend.py:Backend -o results",
            "opcert certify -b openvino --backend-option device=GPU --operator 'openvino/*'",
            "opcert certify -b 'driver:./my_driver --fast' --timeout 5",
        ),
        "backends": ("backends", "opcert backends"),
        "explore": (
            "certify",
            "opcert explore -b my_backend.py:Backend --minutes 5",
            "opcert explore -b torch --operator 'directml/*' --seed 7",
        ),
        "driver-check": (
            "backends",
            "opcert driver-check ./my_driver",
            "opcert driver-check 'node my_driver.mjs' --timeout 5",
        ),
    },
    "Read a certificate": {
        "report": (
            "certificates",
            "opcert report results",
            "opcert report results -o html",
            "opcert report results/* -o compared",
            "opcert report former results --fail-on new",
        ),
        "verify": (
            "certificates",
            "opcert verify results",
            "opcert verify results --key vendor.pub.pem",
            "opcert verify results --rerun 50 -b my_backend.py:Backend",
        ),
        "sign": ("certificates", "opcert sign results --key vendor.key.pem"),
        "claim": ("backends", "opcert claim --from results -o claim.yaml"),
        "waivers": ("certificates", "opcert waivers --from results -o waivers.yaml"),
        "explain": (
            "certificates",
            "opcert explain CASE",
            "opcert explain CASE --program -b my_backend.py:Backend > call.py",
            "opcert explain CASE --program -b onnxruntime --native > call.py",
        ),
    },
    "Write specs, generate suites": {
        "check": ("specs", "opcert check my_specs/Reverse-1.yaml", "opcert check --specs my_specs"),
        "generate": (
            "specs",
            "opcert generate -o suite --profile full",
            "opcert generate -o suite --operator 'directml/*' --seed 7",
            "opcert generate -o suite --check",
        ),
        "coverage": (
            "specs",
            "opcert coverage",
            "opcert coverage --suite suite --operator 'directml/*'",
        ),
        "docs": ("specs", "opcert docs -o docs"),
        "schema": ("specs", "opcert schema > spec.schema.json", "opcert schema --certificate"),
    },
}


_COMMANDS = {name: command for group in COMMANDS.values() for name, command in group.items()}


class Opcert(TyperGroup):
    """All commands; every mistake of a user ends in a message and an exit code."""

    @staticmethod
    def summary(name: str) -> str:
        """Return the first line of a command's help, without importing its module."""
        module, function = _COMMANDS[name][0], name.replace("-", "_")
        source = Path(__file__).with_name("commands").joinpath(f"{module}.py").read_text("utf-8")
        docstring = re.search(
            rf'^def {function}\(.*?"""([^"\n]+)', source, re.DOTALL | re.MULTILINE
        )
        return docstring[1] if docstring else ""

    def list_commands(self, _: typer.Context) -> list[str]:  # type: ignore[override]
        """Return the names of all commands."""
        return [*_COMMANDS]

    def get_command(self, _: typer.Context, name: str) -> TyperCommand | None:  # type: ignore[override]
        """Return the command of this name, if there is one."""
        return self.load(name) if name in _COMMANDS else None

    @staticmethod
    def load(name: str) -> Command:
        """Return the command of this name."""
        module, *examples = _COMMANDS[name]
        function = getattr(import_module(f"opcert.commands.{module}"), name.replace("-", "_"))
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name, cls=Command, epilog="\n".join(examples))(function)
        return cast("Command", typer.main.get_command(single))

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the command line up to the command.

        Raises:
            OpcertError: it has an unknown option.
        """
        try:
            self.make_parser(ctx).parse_args(args=list(args))
        except CLICK_EXCEPTION as error:
            raise OpcertError(option_mistake(self, ctx, error, args)) from None
        return super().parse_args(ctx, args)

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line."""
        try:
            code = super().main(args, prog_name, standalone_mode=False, **extra)
        except (OpcertError, OSError, MemoryError) as error:
            print_error(error)
            code = ExitCode.INVALID_INPUT
        except CLICK_EXCEPTION as error:
            code = print_click_error(error)
        if standalone_mode:
            sys.exit(code)
        return code

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run the command of a command line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            # Click knows no exit code for it.
            echo_line(interruption_text(), err=True)
            raise typer.Exit(ExitCode.INTERRUPTED) from None

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """Return the command that `args` name.

        Raises:
            OpcertError: there is no such command.
        """
        if args[0] not in _COMMANDS and not ctx.resilient_parsing:
            raise OpcertError(f"unknown command '{args[0]}'{did_you_mean(args[0], [*_COMMANDS])}")
        return super().resolve_command(ctx, args)

    def format_commands(self, _: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write each group of commands with its heading."""
        longest = max(map(len, _COMMANDS))
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
