"""Shared by all commands: exit codes, options, printed lines and error messages."""

import os
from collections import Counter
from collections.abc import Callable
from enum import IntEnum, StrEnum
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec

import typer
from typer.core import TyperCommand, TyperOption

from opcert.errors import OpcertError, SpecError, printable_line

if TYPE_CHECKING:
    from opcert.certificate import Certificate
    from opcert.suite import Suite


Parameters = ParamSpec("Parameters")


class ExitCode(IntEnum):
    """The exit codes of every command. They are a public contract."""

    # Conformant, sound, nothing found.
    SUCCESS = 0
    # Not conformant or nothing verified, findings, something missing.
    FAILURE = 1
    # The call, a spec, a suite, a claim or waivers are at fault.
    INVALID_INPUT = 2
    # The result could not be printed.
    OUTPUT_LOST = 3
    # A fault of opcert itself says nothing about a backend.
    INTERNAL_ERROR = 70
    INTERRUPTED = 130


class Profile(StrEnum):
    """The size of a suite."""

    CORE = "core"
    FULL = "full"
    STRESS = "stress"


def finite(seconds: float) -> float:
    """Return `seconds` if the number is finite.

    Raises:
        BadParameter: it is not.
    """
    if not isfinite(seconds):
        raise typer.BadParameter(f"found {seconds}; expected a number of seconds")
    return seconds


SpecsOption = Annotated[
    Path | None,
    typer.Option(help="Folder of specs, instead of opcert's own."),
]
BackendOption = Annotated[
    str,
    typer.Option(
        help="Backend: a built-in name, an entry point, module:attribute, file.py:attribute or "
        "driver:COMMAND."
    ),
]
BackendOptions = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="Argument for the backend's constructor; repeatable."),
]
InProcessOption = Annotated[
    bool,
    typer.Option(
        "--in-process", help="Run the backend in this process. A crash then ends the whole run."
    ),
]
TimeoutOption = Annotated[
    float,
    typer.Option(
        min=0.001,
        metavar="SECONDS",
        callback=finite,
        help="Time limit for a call. The start may take 300 seconds, or this limit if longer.",
    ),
]
SuiteOption = Annotated[
    Path | None, typer.Option(help="Folder of a suite, instead of the core suite.")
]
FeatureLevelOption = Annotated[
    str | None, typer.Option(help="Feature level to certify, for operators with feature levels.")
]
OperatorOption = Annotated[
    str | None,
    typer.Option(
        metavar="GLOB",
        help="Only operators whose ids match. Those that the core suite lacks are included, and "
        "their suite is generated.",
    ),
]
SeedOption = Annotated[int, typer.Option(help="Seed of random choices.")]


class OnceCommand(TyperCommand):
    """A command that refuses repeated options; Click would use only the last value."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the command line."""
        _, _, parameters = self.make_parser(ctx).parse_args(args=list(args))
        for option, count in Counter(parameters).items():
            repeatable = not isinstance(option, TyperOption) or option.multiple or option.is_flag
            if count > 1 and not repeatable:
                name = option.opts[-1]
                raise typer.BadParameter(f"found {count} times; expected once", param_hint=name)
        return super().parse_args(ctx, args)


def echo_line(text: str, err: bool = False) -> None:
    """Print one line, with control characters escaped."""
    typer.echo(printable_line(text), err=err)


def echo_lines(text: str) -> None:
    """Print lines, with control characters escaped."""
    typer.echo("\n".join(map(printable_line, text.split("\n"))))


def announce(text: str) -> None:
    """Print a sentence about what the command did on the way to its result."""
    echo_line(text, err=True)


def worker_count() -> int:
    """Return the number of processes that generate a suite."""
    return os.cpu_count() or 1


def warn_of_unknown_operators(certificate: "Certificate", suite: "Suite") -> None:
    """Warn of declared operators that neither `suite` nor the shipped specs have."""
    from opcert.scope import unknown_operators

    names = unknown_operators(certificate.backend.support or {}, suite)
    if names:
        text = "the backend declares operators that neither this suite nor the shipped specs have"
        echo_line(f"opcert: {text}: {', '.join(names)}", err=True)


def print_error(error: OpcertError | OSError) -> None:
    """Print a user's error to stderr: one line, or one line per mistake."""
    if isinstance(error, SpecError):
        # A mistake begins with its place, as editors expect it.
        for mistake in error.mistakes:
            echo_line(str(mistake), err=True)
    elif isinstance(error, OSError):
        echo_line(f"opcert: {error.filename or 'a file'}: {error.strerror or error}", err=True)
    else:
        echo_line(f"opcert: {error}", err=True)


def reports_errors(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Turn users' errors and interrupts into messages and exit codes."""

    @wraps(command)
    def reporting(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (OpcertError, OSError) as error:
            print_error(error)
            raise typer.Exit(ExitCode.INVALID_INPUT) from None
        except KeyboardInterrupt:
            echo_line("opcert: interrupted; nothing was written", err=True)
            raise typer.Exit(ExitCode.INTERRUPTED) from None

    return reporting
