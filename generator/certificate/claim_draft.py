"""A run -> the draft of a claim: all that a backend did not decline, also where it was wrong."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from opcert.arrays import ELEMENT_TYPES
from opcert.backends import Backend
from opcert.certificate.certificate import Certificate
from opcert.certificate.certify_suite import OnVerdict, certify, open_suite
from opcert.certificate.file import refuse_path_in_suite
from opcert.errors import OpcertError
from opcert.scope import rules_and_levels
from opcert.suite import IndexedCase, Suite
from opcert.untrusted_files import make_folder
from opcert.verdicts import FAILURE_STATUSES

# A part of a scope, and what of it a call has.
Feature = tuple[str, str | int]


@dataclass(frozen=True)
class Tried:
    """A valid call that a backend was given or declares not to support."""

    case: IndexedCase
    declined: bool
    failed: bool

    @property
    def features(self) -> Iterator[Feature]:
        """What of it a claim can leave out, from the plainest on."""
        yield "types", self.case.type
        yield from (("index_types", each) for each in sorted(self.case.index_types))
        yield "ranks", self.case.rank
        yield from (("excluded", each) for each in sorted(rules_and_levels(self.case)))


@dataclass(frozen=True)
class ClaimDraft:
    """The operators that a draft claims, what was tried of them, and of which run it is."""

    about: str
    feature_level: str | None
    operators: Mapping[str, Mapping[str, Any]]
    tried: Sequence[Tried]

    @property
    def declined(self) -> list[str]:
        """The calls that it claims though they were declined, for others like them were not."""
        return [each.case.id for each in self.tried if each.declined]

    @property
    def failed(self) -> list[str]:
        """The calls that it claims though they failed."""
        return [each.case.id for each in self.tried if each.failed]

    @property
    def remarks(self) -> list[str]:
        """What keeps the backend from being certified with it."""
        sorts = (("failed", self.failed), ("were declined", self.declined))
        return [
            f"of the valid calls that it claims, {len(cases)} {what}, such as {cases[0]}"
            for what, cases in sorts
            if cases
        ]

    @property
    def text(self) -> str:
        """The file that it becomes."""
        told = [f"Draft of a claim: {self.about}; keep what you stand by", *self.remarks]
        # What options hold would else end the comment.
        lines = ["# " + "".join(filter(str.isprintable, each)) for each in told]
        level = {"feature_level": self.feature_level} if self.feature_level is not None else {}
        content = {**level, "operators": self.operators}
        return "\n".join([*lines, _yaml(content)])


def draft_claim(
    backend: str | Backend,
    suite: str | Path | Suite | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    specs: str | Path | None = None,
    operator: str = "*",
    feature_level: str | None = None,
    progress: OnVerdict = lambda *_: None,
) -> ClaimDraft:
    """Run the cases of a suite on a backend, and draft the claim that it may make.

    Raises:
        OpcertError: as `certify` does.
    """
    opened = open_suite(suite, specs, operator)
    certificate = certify(
        backend,
        opened,
        options=options,
        specs=specs,
        operator=operator,
        feature_level=feature_level,
        progress=progress,
    )
    operators: dict[str, dict[str, Any]] = {}
    claimed: list[Tried] = []
    for name, tried in _tried(certificate, opened).items():
        scope, left = _scope(tried)
        if scope:
            operators[name] = scope
            claimed += left
    return ClaimDraft(_about(certificate), feature_level, operators, claimed)


def _tried(certificate: Certificate, suite: Suite) -> dict[str, list[Tried]]:
    """Return by operator the valid calls that decide something."""
    found: dict[str, list[Tried]] = {}
    for verdict in certificate.verdicts:
        _, case = suite.cases[verdict.case]
        # What the backend declares is declined before it is run.
        declined = verdict.observed == "unsupported" or verdict.status == "unsupported"
        decides = case.expects == "outputs" and case.ambiguity is None
        if decides and (declined or verdict.observed != "not-run"):
            failed = verdict.status in FAILURE_STATUSES and not declined
            found.setdefault(verdict.operator, []).append(Tried(case, declined, failed))
    return found


def _scope(tried: Sequence[Tried]) -> tuple[dict[str, Any], Sequence[Tried]]:
    """Return the largest scope without what was declined wherever it was tried; and what it has."""
    excluded = []
    while (whole := _wholly_declined(tried)) is not None:
        tried = [each for each in tried if whole not in each.features]
        excluded += [whole[1]] if whole[0] == "excluded" else []
    if not tried:
        return {}, ()
    index_types = {name for each in tried for name in each.case.index_types}
    types = {each.case.type for each in tried}
    scope: dict[str, Any] = {
        "types": [name for name in ELEMENT_TYPES if name in types],
        "index_types": [name for name in ELEMENT_TYPES if name in index_types],
        "ranks": sorted({each.case.rank for each in tried}),
        "excluded": excluded,
    }
    return {key: found for key, found in scope.items() if found}, tried


def _wholly_declined(tried: Sequence[Tried]) -> Feature | None:
    """Return what most of the declined calls have, and no other: a type or a rank if one is so."""
    kept = {feature for each in tried if not each.declined for feature in each.features}
    declined = Counter(feature for each in tried if each.declined for feature in each.features)
    whole = {feature: count for feature, count in declined.items() if feature not in kept}
    return max(whole, key=lambda each: (each[0] != "excluded", whole[each]), default=None)


def _yaml(content: Mapping[str, Any]) -> str:
    """Write mappings in lines of their own, lists in one."""
    text: str = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=100)
    return text


def _about(certificate: Certificate) -> str:
    backend, suite = certificate.backend, certificate.suite
    options = "".join(f", {key}={value!r}" for key, value in backend.options.items())
    on = f"{suite.profile} suite {suite.digest[:12]}"
    return f"{backend.name} {backend.version}{options} on {on}"


def claim_path(out: Path, suite: Path | None) -> Path:
    """Return the resolved path of the file `out`; its folder is made.

    Raises:
        OpcertError: it is there already, is in a suite's folder, or cannot be made.
    """
    try:
        target = out.resolve()
        refuse_path_in_suite(target, suite)
        if target.exists():
            raise OpcertError(f"{out}: exists; remove it, or name another file by --out")
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OpcertError(f"{out}: cannot be made: {reason}") from None
    make_folder(target.parent)
    return target


def write_claim(draft: ClaimDraft, target: Path) -> None:
    """Write a draft to the file `target`, unless it is there by now.

    Raises:
        OpcertError: it is there, or cannot be written.
    """
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(draft.text)
    except OSError as error:
        raise OpcertError(f"{target}: cannot be written: {error.strerror or error}") from None
