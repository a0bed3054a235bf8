"""What the commands of opcert share: exit codes, options, and how errors are told."""

from collections import Counter
from collections.abc import Callable
from enum import StrEnum
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

CONFORMANT, NOT_CONFORMANT, AT_FAULT = 0, 1, 2
NOTHING_FOUND, FOUND = 0, 1
# What goes wrong in opcert itself is no answer.
OWN_FAULT = 70
INTERRUPTED = 130

Parameters = ParamSpec("Parameters")


def finite(seconds: float) -> float:
    """Return `seconds`, which are to end.

    Raises:
        BadParameter: they do not.
    """
    if not isfinite(seconds):
        raise typer.BadParameter(f"found {seconds}; expected a number of seconds")
    return seconds


class Profile(StrEnum):
    """How many cases a suite has."""

    CORE = "core"
    FULL = "full"
    STRESS = "stress"


SpecsOption = Annotated[
    Path | None, typer.Option(help="Folder of specs, instead of those that come with opcert.")
]
BackendOption = Annotated[
    str,
    typer.Option(
        help="A built-in name, an entry point, module:attribute, file.py:attribute or "
        "driver:COMMAND."
    ),
]
BackendOptions = Annotated[
    list[str] | None, typer.Option(metavar="KEY=VALUE", help="For the backend's constructor.")
]
InProcessOption = Annotated[
    bool,
    typer.Option(
        "--in-process",
        help="Run in this process, instead of one of its own; a crash then ends the run.",
    ),
]
TimeoutOption = Annotated[
    float,
    typer.Option(
        min=0.001,
        metavar="SECONDS",
        callback=finite,
        help="For one call; a start has 300 or more.",
    ),
]
SuiteOption = Annotated[
    Path | None, typer.Option(help="Folder of a suite, instead of opcert's core suite.")
]
FeatureLevelOption = Annotated[
    str | None, typer.Option(help="Where operators have feature levels: the one to certify.")
]
OperatorOption = Annotated[str, typer.Option(metavar="GLOB", help="Only these operators.")]


class OnceCommand(TyperCommand):
    """A command that takes an option once: of two, the first would be left out unseen."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the command line; a list of values has an option each."""
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for option, count in Counter(order).items():
            once = isinstance(option, TyperOption) and not (option.multiple or option.is_flag)
            if once and count > 1:
                name = option.opts[-1]
                raise typer.BadParameter(f"found {count} times; expected once", param_hint=name)
        return super().parse_args(ctx, args)


def say(text: str, err: bool = False) -> None:
    """Print one line, of which a terminal obeys nothing, whoever wrote what it says."""
    typer.echo(printable_line(text), err=err)


def say_lines(text: str) -> None:
    """Print lines, of which a terminal obeys nothing."""
    typer.echo("\n".join(map(printable_line, text.split("\n"))))


def warn_of_unknown_operators(certificate: "Certificate", suite: "Suite") -> None:
    """Name on stderr the operators that a backend declares and no suite at hand has."""
    from opcert.scope import unknown_operators

    if names := unknown_operators(certificate.backend.support or {}, suite):
        text = f"the backend declares what neither this suite nor opcert's has: {', '.join(names)}"
        say(f"opcert: {text}", err=True)


def print_error(error: OpcertError | OSError) -> None:
    """Print what the user can mend: one line, or one for each mistake."""
    if isinstance(error, SpecError):
        # A mistake in a spec begins with its place, as editors read it.
        for mistake in error.mistakes:
            say(str(mistake), err=True)
    elif isinstance(error, OSError):
        say(f"opcert: {error.filename or 'a file'}: {error.strerror or error}", err=True)
    else:
        say(f"opcert: {error}", err=True)


def reports_errors(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Turn an error that the user can mend into its message and exit code 2."""

    @wraps(command)
    def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (OpcertError, OSError) as error:
            print_error(error)
            raise typer.Exit(AT_FAULT) from None
        except KeyboardInterrupt:
            say("opcert: interrupted; nothing was written", err=True)
            raise typer.Exit(INTERRUPTED) from None

    return checked
