"""Verdicts -> certificate: what was certified, on what, with what result."""

import json
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, computed_field, model_validator

from opcert.errors import did_you_mean
from opcert.run import Excerpt, Rejecter
from opcert.scope import ClaimContent, OperatorSupport, Scope, Support
from opcert.suite import Digest, Extent, StrictModel
from opcert.verdicts import (
    FAILURE_STATUSES,
    STATUSES,
    Reproduction,
    Status,
    Verdict,
    Waiver,
    unverified_reasons,
)

SCHEMA = 3

# Within the folder of the certificate: no way out of it, and nothing hidden.
_PART = "[A-Za-z0-9_][A-Za-z0-9_.,=+-]*"
FILE_NAME = f"^{_PART}(/{_PART})*$"
FileName = Annotated[str, Field(pattern=FILE_NAME)]
Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$")]


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("printable text")
    return text


Name = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_printable)]
# What has no room for a folder, a sentence or two names.
Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+!-]{1,100}$")]


class SuiteEntry(StrictModel):
    """The suite: its format, what it was made of and with, its size, its manifest's digest."""

    version: int
    profile: str
    seed: int
    digest: Digest
    cases: Extent
    specs: Mapping[str, Digest]


class Selection(StrictModel):
    """Which cases of the suite were chosen: globs, and a feature level."""

    operator: str
    case: str
    feature_level: str | None


class BackendEntry(StrictModel):
    """The backend, the options that it was made with, and what it declares.

    `source` is what it was looked up by, None where it was given as an object. `reuse` is what it
    says that it keeps from call to call. Its inputs are delivered `as drawn`, in the layouts of the
    cases, or `packed` in C order.
    """

    name: Name
    version: Name
    source: str | None
    options: Mapping[str, JsonValue]
    support: Mapping[str, OperatorSupport] | None
    reuse: str | None
    delivery: Literal["as drawn", "packed"]


class Run(StrictModel):
    """How the calls were made.

    `isolated` is in a process of its own, where a call had `timeout` seconds and the process
    `memory` bytes, null for any. The cases of `repeated` were called very often. The run was
    `resumed` at these moments; outputs were not watched from before one to behind it.
    """

    isolated: bool
    timeout: Annotated[float, Field(gt=0)] | None
    memory: Annotated[int, Field(gt=0)] | None
    repeated: tuple[str, ...]
    resumed: tuple[Moment, ...]

    @model_validator(mode="after")
    def _has_limits_only_where_it_is_isolated(self) -> Self:
        if not self.isolated and (self.timeout, self.memory) != (None, None):
            raise ValueError("no limits, since calls were not isolated")
        return self


class ClaimEntry(StrictModel):
    """The claim, and the digest of its file."""

    sha256: Digest
    content: ClaimContent


class WaiversEntry(StrictModel):
    """The waivers, and the digest of their file."""

    sha256: Digest
    content: tuple[Waiver, ...]


class Platform(StrictModel):
    """Where the run took place, and when it began."""

    date: Moment
    opcert: Word
    system: Word
    machine: Word
    python: Word
    numpy: Word


class Certificate(StrictModel):
    """The verdicts of one run of a backend on a suite, and what follows from them."""

    suite: SuiteEntry
    selection: Selection
    backend: BackendEntry
    run: Run
    claim: ClaimEntry | None
    waivers: WaiversEntry | None
    platform: Platform
    files: Mapping[FileName, Digest]
    # Of the smallest case of each cause: what around its first wrong element was expected, and got.
    excerpts: Mapping[str, Excerpt]
    # How the failures show that were made again in fresh processes.
    reproductions: Mapping[str, Reproduction]
    verdicts: tuple[Verdict, ...]

    @model_validator(mode="after")
    def _has_one_verdict_of_each_case(self) -> Self:
        for case, count in Counter(verdict.case for verdict in self.verdicts).items():
            if count > 1:
                raise ValueError(f"{count} verdicts of {case}; expected one")
        return self

    @computed_field  # type: ignore[prop-decorator]
    @cached_property
    def conformant(self) -> bool:
        """Whether every case in scope has a verdict and none of them blocks."""
        return not self.reasons

    @computed_field  # type: ignore[prop-decorator]
    @cached_property
    def grade(self) -> Literal["bit-exact", "value-exact"] | None:
        """bit-exact, value-exact where only bits differ, or None where not conformant."""
        if not self.conformant:
            return None
        return (
            "value-exact"
            if any(v.status == "fail" for v in self.verdicts if v.kind == "bits")
            else "bit-exact"
        )

    @computed_field  # type: ignore[prop-decorator]
    @cached_property
    def conclusion(self) -> str:
        """The answer in a few words; one for a part of the suite says for which."""
        waived = self.counts["waived"]
        known = f", {waived} failure{'s' * (waived > 1)} waived" if waived else ""
        if not self.conformant:
            return f"Not conformant{known}"
        passed = sum(counts["pass"] > 0 for counts in self.operators.values())
        text = "Conformant"
        if passed < len(self.suite.specs):
            text += f" for {passed} of {len(self.suite.specs)} operators"
        if len(self.verdicts) < self.suite.cases:
            text += f", {len(self.verdicts):,} of {self.suite.cases:,} cases selected"
        return f"{text}, {self.grade}{known}"

    @computed_field  # type: ignore[prop-decorator]
    @cached_property
    def excluded(self) -> dict[str, list[str]]:
        """The rules and levels that claim and declaration leave out of the operators that ran."""
        claim = None if self.claim is None else self.claim.content
        found = Scope(None, claim, Support(self.backend.support)).exclusions
        return {name: found[name] for name in self.operators if name in found}

    @computed_field  # type: ignore[prop-decorator]
    @cached_property
    def rejections(self) -> dict[Rejecter, int]:
        """How many invalid calls were rejected as they should be, by who rejected them."""
        credited = [
            v.rejected_by
            for v in self.verdicts
            if v.status == "pass" and v.observed == "rejected" and v.rejected_by is not None
        ]
        return {who: credited.count(who) for who in ("runtime", "adapter")}

    @computed_field  # type: ignore[prop-decorator]
    @cached_property
    def reasons(self) -> list[str]:
        """Why the backend is not conformant; nothing where it is."""
        failing = {v.case for v in self.verdicts if v.status in (*FAILURE_STATUSES, "waived")}
        # An uncredited rejection is a consequence of its baseline's failure.
        failed = Counter(
            v.kind
            for v in self.verdicts
            if v.status == "fail" and v.kind != "bits" and v.attributed_to not in failing
        )
        blocking = [f"{count} x {kind}" for kind, count in failed.most_common()]
        for status in ("crash", "hang", "not-run"):
            if self.counts[status]:
                blocking.append(f"{self.counts[status]} x {status}")
        return [*blocking, *self._unverified()]

    @computed_field  # type: ignore[prop-decorator]
    @cached_property
    def summary(self) -> dict[Literal["cases"] | Status, int]:
        """How many cases there are, and how many have each status."""
        names: tuple[Literal["cases"] | Status, ...] = ("cases", *STATUSES)
        cases = len(self.verdicts)
        return {name: cases if name == "cases" else self.counts[name] for name in names}

    @computed_field  # type: ignore[prop-decorator]
    @cached_property
    def operators(self) -> dict[str, dict[Status, int]]:
        """For each operator, how many of its verdicts have each status."""
        found: dict[str, Counter[Status]] = {}
        for verdict in self.verdicts:
            found.setdefault(verdict.operator, Counter())[verdict.status] += 1
        return {
            name: {status: counts[status] for status in STATUSES} for name, counts in found.items()
        }

    @cached_property
    def counts(self) -> dict[Status, int]:
        """How many verdicts have each status."""
        found = Counter(verdict.status for verdict in self.verdicts)
        return {status: found[status] for status in STATUSES}

    def _unverified(self) -> list[str]:
        if not self.verdicts:
            return [f"nothing was verified: no case matches {self._sought()}"]
        claimed = () if self.claim is None else self.claim.content.operators
        return unverified_reasons(self.verdicts, claimed)

    def _sought(self) -> str:
        """Say what was asked for, and the operator that may have been meant."""
        operator, case = self.selection.operator, self.selection.case
        near = did_you_mean(operator, list(self.suite.specs)) if operator != "*" else ""
        return f"operator '{operator}', case '{case}'{near}"

    def replaced(self, **parts: object) -> Self:
        """Return a certificate with other `parts`."""
        mine = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self).model_validate({**mine, **parts})

    def content(self) -> dict[str, Any]:
        """Return what certificate.json holds, as plain data; the verdicts come last."""
        # What is left out of a claim or a declaration stays out of it.
        found = self.model_dump(mode="json", exclude_unset=True)
        verdicts = found.pop("verdicts")
        return {"schema": SCHEMA, **found, "verdicts": verdicts}

    def to_json(self) -> str:
        """Return the text of certificate.json."""
        return json.dumps(self.content(), indent=1) + "\n"
