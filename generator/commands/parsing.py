"""How opcert parses a command line, and prints although a pipe is closed or a disk is full."""

import io
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

import typer
from typer.core import TyperCommand, TyperOption

from opcert.commands.options import ExitCode, print_error
from opcert.errors import OpcertError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


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


# Recent versions of typer contain Click, and older ones import it: the class has no fixed place.
CLICK_EXCEPTION = cast(
    "type[Exception]",
    next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"),
)


class Command(TyperCommand):
    """A command that refuses repeated options, and whose help has lines for people."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the command line.

        Raises:
            OpcertError: an option is repeated, of which Click would use only the last value.
        """
        _, _, parameters = self.make_parser(ctx).parse_args(args=list(args))
        for option, count in Counter(parameters).items():
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


def print_click_error(error: Any, args: Sequence[str]) -> None:
    """Print a mistake that Click found in a command line, in the form of opcert's own."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return
    text = error.format_message().rstrip(".")
    place = error.ctx.command_path if error.ctx else "opcert"
    hint = f"; see `{place} --help`"
    if any("driver" in word for word in args):
        # A part of the driver's command may have been taken for an argument of opcert.
        hint += "; quote the command of a driver: './my_driver --fast'"
    print_error(OpcertError(f"{text[:1].lower()}{text[1:]}{hint}"))
