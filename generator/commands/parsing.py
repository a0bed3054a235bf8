"""How opcert parses a command line, and prints although a pipe is closed or a disk is full."""

import io
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TextIO, cast

import typer
from typer.core import TyperCommand, TyperOption

from opcert.commands.options import ExitCode, echo_line, print_error
from opcert.errors import OpcertError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from opcert.certificate.certify_suite import OnVerdict
    from opcert.verdicts.verdict import Verdict


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


@contextmanager
def tolerant_output() -> Iterator[None]:
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
    return io.TextIOWrapper(writer, encoding, "backslashreplace", line_buffering=True), file


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
CLICK_EXCEPTION = cast(
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
        except CLICK_EXCEPTION as error:
            raise OpcertError(option_mistake(self, ctx, error, args)) from None
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


def print_click_error(error: Any) -> int:
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


def option_mistake(command: Any, ctx: typer.Context, error: Any, args: Sequence[str]) -> str:
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
