"""The settings of a run, each declared once, and how large the suite of a profile is.

The options of the command line, the keywords of `certify`, the options of a suite's pytest files
and the command that makes a run again are made from the fields of `RunSettings`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from opcert.errors import OpcertError

if TYPE_CHECKING:
    from opcert.yaml_files import YamlSource


@dataclass(frozen=True)
class Profile:
    """How many cases of an operator a suite has, and how long changes are sought.

    Attributes:
        calls: The number of drawn calls; of an operator that computes, a tenth, and at least 100.
        stored: The pack has the arrays of so many cases, the first ones, by default of all. Of
            the others, the index has recipes and digests.
        large: Whether these are large; so few of them need not reach every rule.
        neighbours: The most neighbours in a respect.
        per_stratum: The most cases of a stratum: the calls that violate a requirement by one kind
            of mutation of one argument.
        per_requirement: Once a requirement has so many cases, no stratum gets a second one.
        per_ambiguity: The most cases of an ambiguity; they are never decisive.
        applications: To how many baselines a mutation is applied.
        candidates: A mutation that has yielded so many candidates is not applied any more.
    """

    calls: int
    stored: int | None = None
    large: bool = False
    neighbours: int = 1
    per_stratum: int = 4
    per_requirement: int = 36
    per_ambiguity: int = 6
    applications: int = 16
    candidates: int = 6


_CORE = Profile(
    calls=5_000,
    stored=400,
    neighbours=3,
    per_stratum=12,
    per_requirement=108,
    applications=48,
    candidates=18,
)
# The calls of `smoke` are the first of `core`, and those the first of `full`.
PROFILES = {
    "smoke": Profile(calls=500),
    "core": _CORE,
    "full": replace(
        _CORE,
        calls=20_000,
        neighbours=4,
        per_stratum=24,
        per_requirement=256,
        per_ambiguity=32,
        applications=96,
        candidates=36,
    ),
    "stress": Profile(
        calls=60,
        large=True,
        per_stratum=2,
        per_requirement=16,
        per_ambiguity=4,
        applications=12,
        candidates=4,
    ),
}
File: TypeAlias = "str | Path | YamlSource | None"


# Beyond any sensible value of an option.
MAX_NUMBER = 1 << 62


@dataclass(frozen=True)
class Option:
    """The option of a command line that gives a setting, by default with the name of the field.

    A number, which `expected` describes, is from `minimum` to `maximum`. A flag gives the setting
    `value`.
    """

    help: str
    metavar: str | None = None
    names: tuple[str, ...] = ()
    expected: str = ""
    minimum: float = 0
    maximum: float = MAX_NUMBER
    value: bool | None = None

    @property
    def is_flag(self) -> bool:
        """Whether the option has no argument."""
        return self.value is not None


def no_such_number(
    name: str, found: object, expected: str, minimum: float, maximum: float
) -> OpcertError:
    """Return the error of a setting that has another value than a number in its range."""
    return OpcertError(f"{name}: found '{found}'; expected {expected} from {minimum} to {maximum}")


@dataclass(frozen=True)
class RunSettings:
    """What a run does, besides its backend and its suite.

    Attributes:
        operator: Globs, which commas separate; by default all operators of the suite. The suite of
            shipped operators that match and that the core suite lacks is generated.
        case: A glob.
        specs: A folder of specs, which the reference backend follows as well.
        profile: The size of a suite that is generated.
        feature_level: The level to certify, for operators that have feature levels.
        claim: The file that states what the backend is claimed to support.
        waivers: The file of known failures.
        isolated: Whether the backend runs in a process of its own, in which a crash or a hang only
            fails the current case. By default, a named backend does, unless it is the reference.
        timeout: Seconds for one call of an isolated backend.
        memory: MiB for the process of an isolated backend; 0 is no limit.
        max_crashes: After so many crashes and hangs, the rest of an operator is not run.
        jobs: How many processes run cases at once, each with a backend of its own.
        stop_at_failure: Whether the run stops at the first failure that is not waived.

    Raises:
        OpcertError: a number is out of its range, or a backend in this process has limits.
    """

    operator: Annotated[
        str | None,
        Option(
            "Only operators whose ids match one of these, separated by commas. The cases of those "
            "that the core suite lacks are generated.",
            "GLOBS",
        ),
    ] = None
    case: Annotated[str, Option("Only cases whose ids match.", "GLOB")] = "*"
    specs: Annotated[Path | None, Option("Use other specs than opcert's own.", "FOLDER")] = None
    profile: Annotated[
        str, Option("Size of a generated suite: smoke, core, full or stress.", "PROFILE")
    ] = "core"
    feature_level: Annotated[
        str | None, Option("Feature level to certify, for operators with feature levels.", "LEVEL")
    ] = None
    claim: Annotated[File, Option("A claim. Only the claimed calls count.", "FILE")] = None
    waivers: Annotated[
        File, Option("Waivers: known failures, which do not block conformance.", "FILE")
    ] = None
    isolated: Annotated[
        bool | None,
        Option(
            "Run the backend in this process. A crash then ends the whole run.",
            names=("--in-process",),
            value=False,
        ),
    ] = None
    timeout: Annotated[
        float,
        Option(
            "Time limit for a call. The start may take 300 seconds, or this limit if longer.",
            "SECONDS",
            expected="a number of seconds",
            minimum=0.001,
        ),
    ] = 60.0
    memory: Annotated[
        int,
        Option(
            "Memory limit for the backend's process; 0 is no limit.",
            "MIB",
            expected="a whole number of MiB",
        ),
    ] = 0
    max_crashes: Annotated[
        int,
        Option(
            "After so many crashes and hangs, the rest of an operator is not run.",
            "NUMBER",
            expected="a whole number",
            minimum=1,
        ),
    ] = 50
    jobs: Annotated[
        int,
        Option(
            "Number of worker processes.",
            "NUMBER",
            expected="a number of worker processes",
            minimum=1,
            maximum=512,
        ),
    ] = 1
    stop_at_failure: Annotated[
        bool,
        Option(
            "Stop at the first failure without a waiver.",
            names=("--stop-at-failure", "-x"),
            value=True,
        ),
    ] = False

    def __post_init__(self) -> None:
        for name, option in OPTIONS.items():
            value, least, most = getattr(self, name), option.minimum, option.maximum
            types = (int,) if type(getattr(RunSettings, name)) is int else (int, float)
            if option.expected and not (type(value) in types and least <= value <= most):
                raise no_such_number(name, value, option.expected, least, most)
        limits = [n for n in ("timeout", "memory") if getattr(self, n) != getattr(RunSettings, n)]
        if self.isolated is False and limits:
            raise OpcertError(
                f"a backend in this process has no limit of {' and '.join(limits)}; omit this "
                "setting, or '--in-process' (isolated=False)"
            )

    @property
    def memory_bytes(self) -> int:
        """The memory limit in bytes."""
        return self.memory << 20

    def changes(self) -> dict[str, Any]:
        """Return the settings that are not the default, by name."""
        return {name: value for name, value in vars(self).items() if value != DEFAULTS[name]}


# The option and the default of each setting.
OPTIONS: Mapping[str, Option] = {
    setting.name: replace(option, names=option.names or (f"--{setting.name.replace('_', '-')}",))
    for setting in fields(RunSettings)
    for option in setting.type.__metadata__  # type: ignore[union-attr]
}
DEFAULTS: Mapping[str, Any] = vars(RunSettings())
