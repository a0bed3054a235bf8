"""Shared by all commands: exit codes, options, printed lines and error messages."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from enum import IntEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from opcert import system
from opcert.errors import OpcertError, SpecError, listed, printable_line
from opcert.settings import DEFAULTS, MAX_NUMBER, OPTIONS, PROFILES, RunSettings, no_such_number

if TYPE_CHECKING:
    from opcert.suite.suite import Suite
    from opcert.workers import Cluster


# How many characters of a message, and how many mistakes of a file, are printed.
_MAX_MESSAGE, _MAX_MISTAKES = 1200, 200


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


def number(
    option: str,
    expected: str,
    minimum: float = -MAX_NUMBER,
    kind: type[float] = float,
    maximum: float = MAX_NUMBER,
) -> Callable[[str], float]:
    """Return a function that reads the value of an option, a number from `minimum` to `maximum`."""

    def read(text: str) -> float:
        with suppress(ValueError):
            if minimum <= (value := kind(text)) <= maximum:
                return value
        raise no_such_number(option, text, expected, minimum, maximum)

    return read


# -- options that several commands have

_BACKEND = typer.Option(
    "--backend",
    "-b",
    metavar="BACKEND",
    help="The backend: a built-in name, an entry point, file.py:attribute, module:attribute or "
    "driver:COMMAND.",
)
BackendOption = Annotated[str, _BACKEND]
OptionalBackendOption = Annotated[str | None, _BACKEND]
BackendOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--backend-option",
        metavar="KEY=VALUE",
        help="An argument for the backend's constructor; repeatable.",
    ),
]


def out(metavar: str, text: str) -> Any:
    """Return the declaration of where a command writes."""
    return typer.Option("--out", "-o", metavar=metavar, help=text)


def whole_number(
    name: str, text: str, expected: str = "a whole number", minimum: int = -MAX_NUMBER
) -> Any:
    """Return the declaration of an option that takes a whole number from `minimum` on."""
    parser = number(name, expected, minimum, int)
    return typer.Option(name, metavar="NUMBER", parser=parser, help=text)


SuiteOption = Annotated[
    Path | None,
    typer.Option("--suite", metavar="FOLDER", help="Use another suite than the core suite."),
]
CertificateOption = Annotated[
    Path, typer.Option("--from", metavar="PATH", help="A certificate.json, or its folder.")
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Run on a cluster of dask: the address of its scheduler, or its scheduler file.",
    ),
]
ClusterResourcesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster-resources",
        metavar="NAME=AMOUNT",
        help="Only workers that offer this resource, such as GPU=1; repeatable.",
    ),
]
SeedOption = Annotated[int, whole_number("--seed", "Seed of random choices.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print conclusions, warnings and errors only.")
]


def _read_profile(text: str) -> str:
    if text not in PROFILES:
        expected = listed([*PROFILES], "or")
        raise OpcertError(f"--profile: unknown profile '{text}'; expected {expected}")
    return text


def takes_settings(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that turns the parameter `settings` of a command into these options."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**arguments: Any) -> None:
            values = {name: arguments.pop(name) for name in names}
            for name, value in values.items():
                if OPTIONS[name].is_flag:
                    values[name] = OPTIONS[name].value if value else DEFAULTS[name]
            if values.get("specs") is not None:
                # Checked for all commands, not all of which read them.
                from opcert.specification.files import find_spec_files

                find_spec_files(values["specs"])
            command(settings=RunSettings(**values), **arguments)

        parameters: list[Parameter] = []
        for parameter in signature(command).parameters.values():
            parameters += map(_parameter, names) if parameter.name == "settings" else [parameter]
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return run

    return decorate


def _parameter(name: str) -> Parameter:
    """Return the parameter of a command from which typer makes the option of a setting."""
    option, default = OPTIONS[name], DEFAULTS[name]
    kind: Any = type(default)
    if option.is_flag:
        kind, default = bool, False
    elif default is None:
        kind = (Path if option.metavar in ("FILE", "FOLDER") else str) | None
    parser: Callable[[str], Any] | None = None
    if option.expected:
        parser = number(option.names[0], option.expected, option.minimum, kind, option.maximum)
    elif name == "profile":
        parser = _read_profile
    declaration = typer.Option(
        *option.names, metavar=option.metavar, help=option.help, parser=parser
    )
    annotation = Annotated[kind, declaration]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def open_cluster(
    address: str | None, resources: list[str] | None
) -> "AbstractContextManager[Cluster | None]":
    """Connect to a cluster, if there is an address.

    Raises:
        OpcertError: an option is malformed or needs another one, or no cluster answers.
    """
    if address is None:
        if resources:
            raise OpcertError("--cluster-resources needs --cluster, the address of a cluster")
        return nullcontext()
    amounts: dict[str, float] = {}
    for text in resources or []:
        name, _, amount = text.partition("=")
        if not name or name in amounts:
            expected = "NAME=AMOUNT, such as GPU=1, each name once"
            raise OpcertError(f"--cluster-resources: found '{text}'; expected {expected}")
        expected = f"an amount of {name}, as in {name}=1,"
        amounts[name] = number("--cluster-resources", expected, 1e-9)(amount)
    from opcert.workers import Cluster

    return Cluster(address, amounts)


# -- lines that commands print


def echo_line(text: str, err: bool = False) -> None:
    """Print one line, with control characters escaped."""
    typer.echo(printable_line(text), err=err)


def echo_lines(text: str) -> None:
    """Print lines, with control characters escaped."""
    typer.echo("\n".join(map(printable_line, text.split("\n"))))


def announce(text: str) -> None:
    """Print what a command did on the way to its result."""
    echo_line(text, err=True)


# How many processes generate a suite that a command needs.
JOBS = os.cpu_count() or 1


def open_selected(
    suite: str | Path | None, settings: RunSettings, announce: Callable[[str], None] = announce
) -> "Suite":
    """Return the suite that the settings select; see `open_suite`.

    Raises:
        OpcertError: the suite or a spec is at fault, or no operator matches.
    """
    from opcert.specification.files import select_operators, shipped_operators
    from opcert.suite.generation import open_suite
    from opcert.suite.suite import core_suite_folder

    how = settings.specs, settings.operator, settings.profile
    opened = open_suite(suite, *how, jobs=JOBS, announce=announce)
    known = shipped_operators() if opened.folder == core_suite_folder() else None
    select_operators(opened.manifest.operators, settings.operator, known)
    return opened


def interruption_text() -> str:
    """Return what to print after an interrupt: the folders that were written until then, if any."""
    places = ", ".join(dict.fromkeys(map(str, system.written)))
    return f"opcert: interrupted; {f'wrote to {places}' if places else 'nothing was written'}"


def warn(text: str) -> None:
    """Print a warning."""
    _print_marked("warning", "yellow", text)


def _print_marked(word: str, colour: str, text: str) -> None:
    # Loaded for a message only. Rich knows whether a terminal takes colours, and NO_COLOR.
    from rich.console import Console
    from rich.text import Text

    text = printable_line(text)
    if len(text) > _MAX_MESSAGE:
        text = f"{text[:_MAX_MESSAGE]}..."
    line = Text.assemble("opcert: ", (f"{word}:", f"bold {colour}"), f" {text}")
    console = Console(stderr=True)
    # In a file, a message stays one line.
    console.print(line, soft_wrap=not console.is_terminal)


def print_error(error: OpcertError | OSError | MemoryError) -> None:
    """Print a user's mistake: one line, or one line for each mistake in a file."""
    if isinstance(error, SpecError):
        # Editors expect the place first.
        for mistake in error.mistakes[:_MAX_MISTAKES]:
            echo_line(str(mistake), err=True)
        if more := len(error.mistakes[_MAX_MISTAKES:]):
            echo_line(f"... and {more} more mistakes", err=True)
        return
    text = str(error)
    if isinstance(error, MemoryError):
        text = "there is not enough memory"
    elif isinstance(error, OSError):
        text = f"{error.filename or 'a file'}: {error.strerror or error}"
    _print_marked("error", "red", text)
