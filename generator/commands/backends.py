"""The commands about backends: `backends`, `claim` and `driver-check`."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any

import typer
import yaml
from rich import box
from rich.table import Table

from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.backends.lookup import (
    BUILT_IN_BACKENDS,
    DRIVER_PREFIX,
    parse_backend_options,
    registered_backends,
)
from opcert.backends.probing import DECLARED_SUPPORT
from opcert.certificate.certificate import Certificate
from opcert.certificate.file import certificate_file, read_certificate
from opcert.commands import options
from opcert.commands.certificates import suite_of
from opcert.commands.options import ExitCode, echo_line, echo_lines, takes_settings
from opcert.isolation.supervised import check_driver
from opcert.report.files import console, print_line, refuse_other_suite, table_cell
from opcert.settings import RunSettings
from opcert.specification.files import shipped_operators
from opcert.suite.format import IndexedCase
from opcert.suite.suite import Suite
from opcert.suite.support import declared_support
from opcert.suite.writing import path_of_new_file
from opcert.system import write_files
from opcert.verdicts.verdict import FAILURE_STATUSES


@dataclass(frozen=True)
class AvailableBackend:
    """A backend with the versions of its packages, or the command that installs them.

    `how` is native, composed or unsupported, by operator. It is empty if the backend declares no
    support, so that every operator counts as supported.
    """

    name: str
    packages: str
    how: Mapping[str, str]


def available_backends() -> Iterator[AvailableBackend]:
    """Yield every backend that `load` knows by name."""
    for name in BUILT_IN_BACKENDS:
        versions = {p: _version_of(p) for p in packages_of_extra(name) or ["opcert"]}
        text = ", ".join(f"{package} {number}" for package, number in versions.items())
        if None in versions.values():
            text = f"not installed: pip install 'opcert[{name}]'"
        yield AvailableBackend(name, text, _how(name))
    for point in registered_backends().values():
        package = point.dist
        text = f"{package.name} {package.version}" if package else point.value
        yield AvailableBackend(point.name, text, {})


def _how(name: str) -> dict[str, str]:
    """Return the first word of the declared `how` of each operator."""
    declared = DECLARED_SUPPORT.get(name)
    if declared is None:
        support = declared_support(resolve_name(BUILT_IN_BACKENDS[name])).declared
        if support is None:
            return {}
        declared = {operator: entry.how for operator, entry in support.items()}
    return {
        operator: declared.get(operator, "unsupported").partition(":")[0]
        for operator in shipped_operators()
    }


def packages_of_extra(name: str) -> list[str]:
    """Return the packages in opcert's extra `name`."""
    pattern = re.compile(rf"""([\w.-]+).*;.*extra\s*==\s*["']{re.escape(name)}["']""")
    matches = (pattern.match(requirement) for requirement in requires("opcert") or [])
    return [match[1] for match in matches if match]


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        # A build for another device has another name and the same module.
        builds = packages_distributions().get(package.replace("-", "_"), [])
        return f"{version(builds[0])} ({builds[0]})" if builds else None


@dataclass(frozen=True)
class TriedCall:
    """A valid call that "passed", "failed", or "was declined", since the backend lacks it."""

    case: IndexedCase
    result: str

    @property
    def properties(self) -> Iterator[tuple[str, str | int]]:
        """What of the call a claim can exclude: a key of the claim's scope and a value of it."""
        yield "types", self.case.type
        yield from (("index_types", name) for name in sorted(self.case.index_types))
        yield "ranks", self.case.rank
        yield from (("excluded", name) for name in sorted(self.case.rules))


@dataclass(frozen=True)
class ClaimDraft:
    """A draft: its text, the scope of each operator, and why a backend may not conform to it."""

    text: str
    operators: Mapping[str, Mapping[str, Any]]
    remarks: Sequence[str]


def draft_claim(certificate: Certificate, suite: Suite) -> ClaimDraft:
    """Draft a claim from the verdicts of a certificate of a suite."""
    tried: dict[str, list[TriedCall]] = {}
    for verdict in certificate.verdicts:
        _, case = suite.cases[verdict.case]
        # A case that the declared support excludes did not run, but counts as declined.
        declined = "unsupported" in (verdict.observed, verdict.status)
        ran = declined or verdict.observed != "not-run"
        if ran and case.expects == "outputs" and case.ambiguity is None:
            failed = verdict.status in FAILURE_STATUSES
            result = "was declined" if declined else "failed" if failed else "passed"
            tried.setdefault(verdict.operator, []).append(TriedCall(case, result))
    scopes = {name: _largest_scope(calls) for name, calls in tried.items()}
    operators = {name: scope for name, (scope, calls) in scopes.items() if calls}
    results = {call.case.id: call.result for _, calls in scopes.values() for call in calls}
    remarks = []
    for result, words in (("failed", "failed"), ("was declined", "were declined")):
        if cases := [case for case, reached in results.items() if reached == result]:
            remarks.append(f"{len(cases)} of the claimed calls {words}, such as {cases[0]}")
    chosen, suite_entry = certificate.backend, certificate.suite
    arguments = "".join(f", {key}={value!r}" for key, value in chosen.options.items())
    of_suite = f"{suite_entry.profile} suite {suite_entry.digest[:12]}"
    run = f"{chosen.name} {chosen.version}{arguments} on {of_suite}"
    comments = [f"Draft of a claim: {run}; keep what you want to claim", *remarks]
    # A line break in an option would otherwise end the comment.
    lines = ["# " + "".join(filter(str.isprintable, comment)) for comment in comments]
    feature_level = certificate.selection.feature_level
    level = {} if feature_level is None else {"feature_level": feature_level}
    # Mappings get a line for each entry, lists a single line.
    text = yaml.safe_dump(
        {**level, "operators": operators}, sort_keys=False, default_flow_style=None, width=100
    )
    return ClaimDraft("\n".join([*lines, text]), operators, remarks)


def _largest_scope(calls: Sequence[TriedCall]) -> tuple[dict[str, Any], Sequence[TriedCall]]:
    """Return the scope without the properties whose every call was declined, and its calls.

    Properties are excluded one at a time, since one may explain the declined calls of others: types
    and ranks before rules and levels, and those with the most declined calls first.
    """
    excluded = []
    while True:
        supported, declined = set[tuple[str, str | int]](), Counter[tuple[str, str | int]]()
        for call in calls:
            (declined if call.result == "was declined" else supported).update(call.properties)
        always_declined = [p for p in declined if p not in supported]
        if not always_declined:
            break
        worst = max(always_declined, key=lambda p: (p[0] != "excluded", declined[p]))
        calls = [call for call in calls if worst not in call.properties]
        if worst[0] == "excluded":
            excluded.append(worst[1])
    left = {key_and_value for call in calls for key_and_value in call.properties}
    scope = {
        "types": [name for name in ELEMENT_TYPES if ("types", name) in left],
        "index_types": [name for name in ELEMENT_TYPES if ("index_types", name) in left],
        "ranks": sorted({call.case.rank for call in calls}),
        "excluded": excluded,
    }
    return {key: values for key, values in scope.items() if values}, calls


def backends() -> None:
    """List the available backends, and what they support.

    Examples:
        opcert backends
    """
    listed, own_console = list(available_backends()), console()
    table = Table("backend", "packages", box=box.SIMPLE_HEAD)
    for backend in listed:
        table.add_row(table_cell(backend.name), table_cell(backend.packages))
    own_console.print(table)
    # Lines between the columns would take up space for names.
    support = Table("operator", *(table_cell(b.name) for b in listed), box=box.SIMPLE_HEAD)
    for operator in shipped_operators():
        how = (backend.how.get(operator, "undeclared") for backend in listed)
        support.add_row(table_cell(operator), *map(table_cell, how))
    own_console.print(support)
    text = "undeclared: the backend declares no support, so every call counts as supported"
    print_line(own_console, text)


@takes_settings("specs")
def claim(
    *,
    certificate: options.CertificateOption,
    out: Annotated[Path, options.out("FILE", "File to write the claim to; it must not exist.")],
    suite: options.SuiteOption = None,
    settings: RunSettings,
) -> None:
    """Draft a claim from a certificate: what the backend supported in its run.

    Exit codes: 0 written; 1 nothing to claim; 2 invalid input.

    Examples:
        opcert claim --from results -o claim.yaml
    """
    read = read_certificate(certificate_file(certificate))
    target = path_of_new_file(out, suite)
    opened = suite_of(read, suite, settings.specs)
    refuse_other_suite(read, opened)
    draft = draft_claim(read, opened)
    if not draft.operators:
        echo_line("nothing was written: the backend declined every valid call, or none was run")
        raise typer.Exit(ExitCode.FAILURE)
    write_files(target.parent, [(target.name, draft.text.encode())])
    echo_line(f"wrote {target}")
    for remark in draft.remarks:
        echo_line(remark)


@takes_settings("timeout", "memory")
def driver_check(
    *,
    command: Annotated[
        str, typer.Argument(metavar="COMMAND", help="Command that starts the driver.")
    ],
    backend_option: options.BackendOptions = None,
    settings: RunSettings,
) -> None:
    """Check that a driver follows the protocol.

    The results of its calls are not checked. Unlike in `certify`, the driver has to start within
    --timeout, too.

    Exit codes: 0 all steps passed; 1 a step failed; 2 invalid input.

    Examples:
        opcert driver-check ./my_driver
        opcert driver-check 'node my_driver.mjs' --timeout 5
    """
    arguments = parse_backend_options(backend_option)
    steps = []
    driver = command.removeprefix(DRIVER_PREFIX)
    for step in check_driver(driver, arguments, settings, Suite()):
        echo_lines(str(step))
        steps.append(step)
    wrong = sum(not step.passed for step in steps)
    if wrong:
        echo_line(f"{wrong} of {len(steps)} steps are wrong")
        raise typer.Exit(ExitCode.FAILURE)
    echo_line(f"all {len(steps)} steps are right")
