"""How opcert parses a command line, and prints although a pipe is closed or a disk is full."""

import io
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, cast

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from opcert.commands.options import ExitCode, echo_line, interruption_text, print_error
from opcert.errors import OpcertError, did_you_mean

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from opcert.certificate.certify_suite import OnVerdict
    from opcert.verdicts.verdict import Verdict


class _TolerantWriter(io.RawIOBase):
    """Writes to another file; after the first error, keeps it and discards further output."""

    def __init__(self, file: io.RawIOBase | BinaryIO) -> None:
        self._file = file
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._file.isatty()

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, data: "ReadableBuffer", /) -> int | None:
        if self.error is None:
            try:
                return self._file.write(data)
            except OSError as error:
                self.error = error
        return memoryview(data).nbytes


@contextmanager
def tolerant_output() -> Iterator[None]:
    """Let a command finish although it cannot print; then exit with `OUTPUT_LOST`."""
    (sys.stdout, out), (sys.stderr, _) = _tolerant(sys.stdout), _tolerant(sys.stderr)
    try:
        yield
    finally:
        sys.stdout.flush()
        if out.error is not None:
            text = f"opcert: error: output could not be printed: {out.error.strerror}"
            print(text, file=sys.stderr)
            sys.exit(ExitCode.OUTPUT_LOST)


def _tolerant(stream: TextIO | None) -> tuple[TextIO, _TolerantWriter]:
    if stream is None:
        # Python has no stream if the shell has closed it.
        raw = _TolerantWriter(io.FileIO(os.devnull, "w"))
        raw.error = OSError(0, "it is closed")
        return io.TextIOWrapper(io.BufferedWriter(raw)), raw
    stream.flush()
    buffer = stream.buffer
    raw = _TolerantWriter(getattr(buffer, "raw", buffer))
    text = io.TextIOWrapper(
        io.BufferedWriter(raw), stream.encoding, "backslashreplace", line_buffering=True
    )
    return text, raw


@contextmanager
def case_progress(quiet: bool, verbose: bool) -> Iterator["OnVerdict"]:
    """Print the progress of a run to stderr: nothing, a line for each case, or as usual."""
    from opcert.report.files import console, progress

    def print_verdict(verdict: "Verdict", number: int, total: int) -> None:
        kind = f" ({verdict.kind})" if verdict.kind else ""
        echo_line(f"{number}/{total} {verdict.case}: {verdict.status}{kind}", err=True)

    if verbose:
        yield print_verdict
    elif quiet:
        yield lambda *_: None
    else:
        with progress(console(stderr=True)) as on_verdict:
            yield on_verdict


# Recent versions of typer contain Click, and older ones import it: the class has no fixed place.
_CLICK_EXCEPTION = cast(
    "type[Exception]",
    next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"),
)
_DRIVER_COMMAND = "driver-check"


class Command(TyperCommand):
    """A command that explains what to change in a wrong call, and refuses repeated options."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the command line.

        Raises:
            OpcertError: it has an unknown, repeated or surplus part.
        """
        try:
            _, surplus, parameters = self.make_parser(ctx).parse_args(args=list(args))
        except _CLICK_EXCEPTION as error:
            raise OpcertError(_option_mistake(self, ctx, error, args)) from None
        if surplus and not ctx.resilient_parsing:
            hint = _quoting_hint(self.name, args, surplus[0]) or _see_help(ctx)
            raise OpcertError(f"unexpected argument '{surplus[0]}'{hint}")
        for option, count in Counter(parameters).items():
            # Click would use only the last value.
            repeatable = not isinstance(option, TyperOption) or option.multiple or option.is_flag
            if count > 1 and not repeatable:
                raise OpcertError(f"{option.opts[0]}: found {count} times; expected once")
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


class CommandGroup(TyperGroup):
    """All commands; every mistake of a user ends in a message and an exit code."""

    # The names of the commands by the heading of their group.
    groups: Mapping[str, Sequence[str]] = {}

    def summary(self, name: str) -> str:
        """Return what the help of the group says of a command."""
        raise NotImplementedError

    def load(self, name: str) -> TyperCommand:
        """Return the command of this name."""
        raise NotImplementedError

    def list_commands(self, _: typer.Context) -> list[str]:  # type: ignore[override]
        """Return the names of all commands."""
        return [name for names in self.groups.values() for name in names]

    def get_command(self, ctx: typer.Context, name: str) -> TyperCommand | None:  # type: ignore[override]
        """Return the command of this name, if there is one."""
        return self.load(name) if name in self.list_commands(ctx) else None

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the command line up to the command.

        Raises:
            OpcertError: it has an unknown option.
        """
        try:
            self.make_parser(ctx).parse_args(args=list(args))
        except _CLICK_EXCEPTION as error:
            raise OpcertError(_option_mistake(self, ctx, error, args)) from None
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
        except _CLICK_EXCEPTION as error:
            code = _print_click_error(error)
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
        known = self.list_commands(ctx)
        if args[0] not in known and not ctx.resilient_parsing:
            raise OpcertError(f"unknown command '{args[0]}'{did_you_mean(args[0], known)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, _: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write each group of commands with its heading."""
        longest = max(len(name) for names in self.groups.values() for name in names)
        for heading, names in self.groups.items():
            with formatter.section(heading):
                formatter.write_dl((f"{name:<{longest}}", self.summary(name)) for name in names)


def _print_click_error(error: Any) -> int:
    """Print a mistake that Click found, in the form of opcert's own; return the exit code."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return ExitCode.INVALID_INPUT
    parameter = getattr(error, "param", None)
    if type(error).__name__ == "MissingParameter" and parameter is not None:
        if isinstance(parameter, TyperOption):
            text = f"missing option '{parameter.opts[0]} {parameter.metavar}'"
        else:
            text = f"missing argument {parameter.metavar}"
    else:
        text = _own_form(error)
    print_error(OpcertError(f"{text}{_see_help(error.ctx)}"))
    return ExitCode.INVALID_INPUT


def _option_mistake(command: Any, ctx: typer.Context, error: Any, args: Sequence[str]) -> str:
    """Return a message about an unknown option, or one whose value is missing or surplus."""
    options = [name for parameter in command.get_params(ctx) for name in parameter.opts]
    name = getattr(error, "option_name", None)
    if name is None or name in options:
        return f"{_own_form(error)}{_see_help(ctx)}"
    # The dashes would make any two options similar.
    words = {option.lstrip("-"): option for option in options}
    near = [words[word] for word in get_close_matches(name.lstrip("-"), words, n=1)]
    hint = f"; did you mean '{near[0]}'?" if near else _see_help(ctx)
    return f"unknown option '{name}'{_quoting_hint(command.name, args, name) or hint}"


def _own_form(error: Any) -> str:
    text: str = error.format_message().rstrip(".")
    return text[:1].lower() + text[1:]


def _see_help(ctx: typer.Context | None) -> str:
    return "" if ctx is None else f"; see `{ctx.command_path} --help`"


def _quoting_hint(command: str | None, args: Sequence[str], surplus: str) -> str:
    """Return how to quote the command of a driver, if `surplus` seems to be a part of it."""
    from opcert.backends.lookup import DRIVER_PREFIX

    if command == _DRIVER_COMMAND:
        words, place = list(args), f"opcert {_DRIVER_COMMAND} "
    else:
        values = [value.removeprefix("--backend=").removeprefix("-b") for value in args]
        start = next((i for i, v in enumerate(values) if v.startswith(DRIVER_PREFIX)), None)
        if start is None:
            return ""
        words, place = values[start:], "--backend "
    end = next((i for i, word in enumerate(words) if word == surplus), None)
    if not end:
        return ""
    return f"; quote the command of the driver: {place}'{' '.join(words[: end + 1])} ...'"
