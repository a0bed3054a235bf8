"""The command line: all commands, the common options and the entry point.

A command is a function in a module of `opcert.commands`; its docstring is its help, with examples.
Only the module of the command that is called is imported.
"""

import io
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from inspect import cleandoc
from pathlib import Path
from pkgutil import resolve_name
from textwrap import dedent
from traceback import print_exc
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO, cast

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from opcert.commands.options import ExitCode, echo_line, interruption_text, print_error
from opcert.errors import OpcertError, did_you_mean
from opcert.system import INTERRUPTS, hold_interrupts

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

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


# Recent versions of typer contain Click, and older ones import it: the class has no fixed place.
_CLICK_EXCEPTION = cast(
    "type[Exception]",
    next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"),
)


# Options of which one makes the other meaningless.
_CONTRADICTIONS = [("--suite", "--profile"), ("--jobs", "--cluster")]


class Command(TyperCommand):
    """A command that refuses options that have no effect, and whose help has lines for people."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the command line.

        Raises:
            OpcertError: it has an argument too many or options that contradict each other, or
                repeats an option, of which Click would use only the last value.
        """
        _, surplus, parameters = self.make_parser(ctx).parse_args(args=list(args))
        if surplus and not ctx.resilient_parsing:
            hint = _driver_hint([ctx.command_path, *args])
            raise OpcertError(
                f"unexpected argument '{surplus[0]}'; see `{ctx.command_path} --help`{hint}"
            )
        for option, count in Counter(parameters).items():
            repeatable = not isinstance(option, TyperOption) or option.multiple or option.is_flag
            if count > 1 and not repeatable:
                raise OpcertError(f"{option.opts[0]}: found {count} times; expected once")
        given = {option.opts[0] for option in parameters}
        for first, second in _CONTRADICTIONS:
            if {first, second} <= given:
                raise OpcertError(f"{first} and {second} contradict each other; choose one")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write arguments and options, without the types of Python."""
        arguments, options = [], []
        for parameter in self.get_params(ctx):
            if parameter.param_type_name == "argument":
                arguments.append((parameter.metavar, getattr(parameter, "help", "")))
            else:
                options.append(parameter.get_help_record(ctx))
        for heading, rows in (("Arguments", arguments), ("Options", options)):
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def format_epilog(self, _: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write the examples below the options, one to a line."""
        if self.epilog:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line}\n" for line in self.epilog.splitlines()))


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
        function = resolve_name(f"opcert.commands.{_MODULES[name]}:{name.replace('-', '_')}")
        hold_interrupts(False, *INTERRUPTS)
        text, _, examples = cleandoc(function.__doc__).partition("\n\nExamples:\n")
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name, cls=Command, help=text, epilog=dedent(examples))(function)
        return cast("TyperCommand", typer.main.get_command(single))

    def main(self, args: Sequence[str] | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run a command line, and exit."""
        args = sys.argv[1:] if args is None else args
        try:
            code = super().main(args, standalone_mode=False, **extra)
        except (OpcertError, OSError, MemoryError) as error:
            print_error(error)
            code = ExitCode.INVALID_INPUT
        except _CLICK_EXCEPTION as error:
            _print_click_error(error, args)
            code = ExitCode.INVALID_INPUT
        except typer.Abort:
            echo_line(interruption_text(), err=True)
            code = ExitCode.INTERRUPTED
        sys.exit(code)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run a command; what typer makes of an interrupt depends on its version."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Abort from None

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


def _print_click_error(error: Any, args: Sequence[str]) -> None:
    """Print a mistake that Click found in a command line, in the form of opcert's own."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return
    text = error.format_message().rstrip(".")
    place = error.ctx.command_path if error.ctx else "opcert"
    hint = f"; see `{place} --help`{_driver_hint(args)}"
    print_error(OpcertError(f"{text[:1].lower()}{text[1:]}{hint}"))


def _driver_hint(args: Sequence[str]) -> str:
    """Return a hint if a part of a driver's command may have been taken for an argument."""
    if any("driver" in word for word in args):
        return "; quote the command of a driver: './my_driver --fast'"
    return ""


app = typer.Typer(
    name="opcert",
    cls=Opcert,
    no_args_is_help=True,
    # Plain text, which fits any width and any log.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
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
    for number in INTERRUPTS:
        # Under nohup, SIGHUP is ignored, and remains so.
        if signal.getsignal(number) is signal.SIG_DFL:
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


class _TolerantFile(io.FileIO):
    """Writes to a file that is open already; keeps the last error, and goes on."""

    error: OSError | None = None

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write some bytes, or none."""
        try:
            return super().write(data)
        except OSError as error:
            self.error = error
        return memoryview(data).nbytes


class _OpenText(io.TextIOWrapper):
    """Text that stays open, although a backend in this process may close it."""

    def close(self) -> None:
        """Write what is left."""
        self.flush()


@contextmanager
def _tolerant_output() -> Iterator[None]:
    """Let a command finish although it cannot print; then exit with `OUTPUT_LOST`."""
    (sys.stdout, out), (sys.stderr, _) = _tolerant(sys.stdout, 1), _tolerant(sys.stderr, 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        if out.error is not None:
            text = f"opcert: error: output could not be printed: {out.error.strerror}"
            print(text, file=sys.stderr)
            sys.exit(ExitCode.OUTPUT_LOST)


def _tolerant(stream: TextIO | None, descriptor: int) -> tuple[TextIO, _TolerantFile]:
    file = _TolerantFile(descriptor, "w", closefd=False)
    if stream is None:
        # Python has no stream if the shell has closed it.
        file.error = OSError(0, "it is closed")
    else:
        stream.flush()
    encoding = None if stream is None else stream.encoding
    writer = io.BufferedWriter(file)
    return _OpenText(writer, encoding, "backslashreplace", line_buffering=True), file


def main() -> None:
    """Run the command line; an internal error gives a traceback and exit code 70."""
    _open_standard_streams()
    _interrupt_on_request()
    with _tolerant_output():
        try:
            app(windows_expand_args=False)
        except KeyboardInterrupt:
            # Before a command handles it, or another one after it did.
            print("opcert: interrupted", file=sys.stderr)
            sys.exit(ExitCode.INTERRUPTED)
        except Exception:
            print_exc()
            sys.exit(ExitCode.INTERNAL_ERROR)
