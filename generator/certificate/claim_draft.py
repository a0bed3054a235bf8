"""Run -> draft of a claim: everything that a backend did not decline, even if it failed."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.backends.contract import Backend
from opcert.certificate.certificate import Certificate
from opcert.certificate.certify_suite import OnVerdict, certify
from opcert.certificate.file import refuse_path_in_suite
from opcert.errors import OpcertError
from opcert.output_files import check_output_folder, write_files
from opcert.run.settings import RunSettings
from opcert.scope.support import rules_and_levels
from opcert.suite.format import IndexedCase
from opcert.suite.opening import open_suite
from opcert.suite.suite import Suite
from opcert.verdicts.verdict import FAILURE_STATUSES

# A key of a claim's scope and one of its values, such as ("ranks", 7).
Property = tuple[str, str | int]


@dataclass(frozen=True)
class TriedCall:
    """A valid call that ran, or that the backend declares not to support."""

    case: IndexedCase
    declined: bool
    failed: bool

    @property
    def properties(self) -> Iterator[Property]:
        """The properties of the call that a claim can exclude, the simplest first."""
        yield "types", self.case.type
        yield from (("index_types", name) for name in sorted(self.case.index_types))
        yield "ranks", self.case.rank
        yield from (("excluded", name) for name in sorted(rules_and_levels(self.case)))


@dataclass(frozen=True)
class ClaimDraft:
    """A draft: a description of its run, the scope of each operator, and the claimed calls."""

    run: str
    feature_level: str | None
    operators: Mapping[str, Mapping[str, Any]]
    claimed: Sequence[TriedCall]

    @property
    def declined(self) -> list[str]:
        """The claimed cases that were declined; similar cases were not."""
        return [call.case.id for call in self.claimed if call.declined]

    @property
    def failed(self) -> list[str]:
        """The claimed cases that failed."""
        return [call.case.id for call in self.claimed if call.failed]

    @property
    def remarks(self) -> list[str]:
        """Why the backend would not be conformant with this claim."""
        groups = (("failed", self.failed), ("were declined", self.declined))
        return [
            f"{len(cases)} of the claimed calls {result}, such as {cases[0]}"
            for result, cases in groups
            if cases
        ]

    @property
    def text(self) -> str:
        """The text of the claim's file."""
        comments = [f"Draft of a claim: {self.run}; keep what you want to claim", *self.remarks]
        # A line break in an option would otherwise end the comment.
        lines = ["# " + "".join(filter(str.isprintable, comment)) for comment in comments]
        level = {"feature_level": self.feature_level} if self.feature_level is not None else {}
        content = {**level, "operators": self.operators}
        # Mappings get a line for each entry, lists a single line.
        text = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=100)
        return "\n".join([*lines, text])


def draft_claim(
    backend: str | Backend,
    suite: str | Path | Suite | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    progress: OnVerdict = lambda *_: None,
    **settings: Any,
) -> ClaimDraft:
    """Run the cases of a suite on a backend, and draft a claim from the verdicts.

    `settings` are those of `RunSettings`.

    Raises:
        OpcertError: as `certify` does.
    """
    given = RunSettings(**settings)
    opened = open_suite(suite, given.specs, given.operator)
    certificate = certify(backend, opened, options=options, progress=progress, **settings)
    operators: dict[str, dict[str, Any]] = {}
    claimed: list[TriedCall] = []
    for name, calls in _tried_calls(certificate, opened).items():
        scope, in_scope = _largest_scope(calls)
        if scope:
            operators[name] = scope
            claimed += in_scope
    chosen, suite_entry = certificate.backend, certificate.suite
    arguments = "".join(f", {key}={value!r}" for key, value in chosen.options.items())
    of_suite = f"{suite_entry.profile} suite {suite_entry.digest[:12]}"
    run = f"{chosen.name} {chosen.version}{arguments} on {of_suite}"
    return ClaimDraft(run, given.feature_level, operators, claimed)


def _tried_calls(certificate: Certificate, suite: Suite) -> dict[str, list[TriedCall]]:
    """Return the valid, unambiguous calls that were made or declined, by operator."""
    tried: dict[str, list[TriedCall]] = {}
    for verdict in certificate.verdicts:
        _, case = suite.cases[verdict.case]
        # A case that the declared support excludes did not run, but counts as declined.
        declined = verdict.observed == "unsupported" or verdict.status == "unsupported"
        ran = declined or verdict.observed != "not-run"
        if ran and case.expects == "outputs" and case.ambiguity is None:
            failed = verdict.status in FAILURE_STATUSES and not declined
            tried.setdefault(verdict.operator, []).append(TriedCall(case, declined, failed))
    return tried


def _largest_scope(calls: Sequence[TriedCall]) -> tuple[dict[str, Any], Sequence[TriedCall]]:
    """Return the scope without the properties whose every call was declined, and its calls.

    Properties are excluded one at a time, since one may explain the declined calls of others: types
    and ranks before rules and levels, and those with the most declined calls first.
    """
    excluded = []
    while True:
        supported = {p for call in calls if not call.declined for p in call.properties}
        declined = Counter(p for call in calls if call.declined for p in call.properties)
        always_declined = {p: count for p, count in declined.items() if p not in supported}
        if not always_declined:
            break
        worst = max(always_declined, key=lambda p: (p[0] != "excluded", always_declined[p]))
        calls = [call for call in calls if worst not in call.properties]
        if worst[0] == "excluded":
            excluded.append(worst[1])
    types = {call.case.type for call in calls}
    index_types = {name for call in calls for name in call.case.index_types}
    scope: dict[str, Any] = {
        "types": [name for name in ELEMENT_TYPES if name in types],
        "index_types": [name for name in ELEMENT_TYPES if name in index_types],
        "ranks": sorted({call.case.rank for call in calls}),
        "excluded": excluded,
    }
    return ({key: values for key, values in scope.items() if values} if calls else {}), calls


def claim_path(out: Path, suite: Path | None) -> Path:
    """Return the resolved path of the file `out`; its folder need not exist.

    Raises:
        OpcertError: the file exists, is in a suite's folder, or its folder cannot be made.
    """
    try:
        target = out.resolve()
        refuse_path_in_suite(target, suite)
        if os.path.lexists(out):
            raise OpcertError(f"{out}: exists; remove it or name another file with --out")
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OpcertError(f"{out}: cannot be made: {reason}") from None
    check_output_folder(target.parent)
    return target


def write_claim(draft: ClaimDraft, target: Path) -> None:
    """Write a draft to the new file `target`.

    Raises:
        OpcertError: the file exists by now, or cannot be written.
    """
    if os.path.lexists(target):
        raise OpcertError(f"{target}: exists by now; remove it or name another file with --out")
    write_files(target.parent, [(target.name, draft.text.encode())])
