"""The certificate: the subject, the conditions and the result of a run."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cached_property, partial
from itertools import zip_longest
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, JsonValue, TypeAdapter, computed_field, model_validator

from opcert.accuracy.bounds import Accuracy, arithmetics_of
from opcert.errors import did_you_mean
from opcert.run.comparison import Excerpt
from opcert.run.outcome import Rejecter
from opcert.suite.claims import ClaimContent, Scope
from opcert.suite.format import Digest, StrictModel, SuiteEntry
from opcert.suite.support import OperatorSupport, Support
from opcert.verdicts.cause_text import Cause
from opcert.verdicts.reproduction import MAX_CALLS, FreshCall, Reproduction
from opcert.verdicts.verdict import FAILURE_STATUSES, STATUSES, Status, Verdict, unverified_reasons
from opcert.verdicts.waivers import Waiver

SCHEMA = 19
Part = TypeVar("Part")
_verdict_data = partial(TypeAdapter(Verdict).dump_python, mode="json")
# The text of a certificate before its verdicts, the last and largest part.
VERDICTS = ',\n "verdicts"'

# Relative to the folder of the certificate, without `..` and without hidden files.
_PART = "[A-Za-z0-9_][A-Za-z0-9_.,=+-]*"
FILE_NAME = f"^{_PART}(/{_PART})*$"
FileName = Annotated[str, Field(pattern=FILE_NAME)]
Timestamp = Annotated[
    str,
    Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$"),
    AfterValidator(lambda text: datetime.fromisoformat(text).isoformat()),
]


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("printable text")
    return text


Name = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_printable)]
# A single word has no room for a path, a sentence or two names.
Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+!-]{1,100}$")]


class Selection(StrictModel):
    """The cases of the suite that were selected: globs, and a feature level."""

    operator: str
    case: str
    feature_level: str | None


class BackendEntry(StrictModel):
    """The backend, its constructor's options, and its declarations.

    `source` is the name that it was looked up by, or None for an object. `files` are the digests of
    the files of its own code when the run began, by name. `reuse` declares what it keeps between
    calls. `delivery` is `strided` if it receives inputs in the layouts of the cases, `packed` if in
    C order.
    """

    name: Name
    version: Name
    source: str | None
    files: Mapping[Name, Digest]
    options: Mapping[str, JsonValue]
    support: Mapping[str, OperatorSupport] | None
    reuse: str | None
    delivery: Literal["strided", "packed"]


class WorkerPlatform(StrictModel):
    """The platform and the device of workers of a cluster, and how many cases they ran."""

    system: Word
    machine: Word
    python: Word
    numpy: Word
    device: Name | None
    cases: Annotated[int, Field(ge=0)]


class ClusterEntry(StrictModel):
    """The workers of a cluster that took part in a run, by platform and device.

    `lost` is the number of workers that were lost during the run; what ran on them was run again.
    """

    platforms: tuple[WorkerPlatform, ...]
    lost: Annotated[int, Field(ge=0)]


class Run(StrictModel):
    """How the calls were made.

    An `isolated` backend ran in a process of its own, limited to `timeout` seconds for a call and
    `memory` bytes for the process; None is no limit. `jobs` is the greatest number of processes
    that ran cases at once, and `cluster` describes them if they are on other machines. `repeated`
    are the cases whose calls were repeated, `resumed` the times at which the run was resumed. A
    resumed run does not recheck outputs of earlier cases. `changed` are the files of the backend
    that changed during the run, so that its verdicts may be of different versions.
    """

    isolated: bool
    timeout: Annotated[float, Field(gt=0)] | None
    memory: Annotated[int, Field(gt=0)] | None
    jobs: Annotated[int, Field(gt=0)]
    cluster: ClusterEntry | None
    repeated: tuple[str, ...]
    resumed: tuple[Timestamp, ...]
    changed: tuple[Name, ...]

    @model_validator(mode="after")
    def _has_limits_only_if_isolated(self) -> Self:
        if not self.isolated and (self.timeout, self.memory) != (None, None):
            raise ValueError("no limits for a run that was not isolated")
        return self


class ClaimEntry(StrictModel):
    """The claim and the digest of its file."""

    sha256: Digest
    content: ClaimContent


class WaiversEntry(StrictModel):
    """The waivers and the digest of their file."""

    sha256: Digest
    content: tuple[Waiver, ...]


class Platform(StrictModel):
    """Where and when the run started."""

    date: Timestamp
    opcert: Word
    system: Word
    machine: Word
    python: Word
    numpy: Word


class OperatorAccuracy(StrictModel):
    """How accurate an operator is for one element type, over all its calls.

    `within` are the tightest arithmetics that allow every decided element. They say what kernels
    keep to, not how they compute. `worst` is that of `case`; `counts` and `open` are as those of a
    call (see `Accuracy`). `bias` is the sum of all errors in standard deviations of independent
    ones: a kernel that truncates its sums stays within wide bounds, but its errors are far from 0.
    """

    within: tuple[str, ...]
    worst: float
    case: str
    counts: tuple[int, ...]
    open: int
    bias: float

    @property
    def summary(self) -> str:
        """The arithmetics and the greatest error, in words."""
        within = " and ".join(self.within) or "no arithmetic"
        if not self.worst:
            return within
        return f"{within}, up to {self.worst:.3g} unit{'s' * (self.worst > 1)} off"

    @property
    def decided(self) -> float:
        """The share of elements that the document and the arithmetic decide."""
        count = sum(self.counts)
        return count / (count + self.open)


def _computed(function: Callable[[Any], Part]) -> cached_property[Part]:
    """Make a property of a part that the file states, and that follows from the others."""
    return computed_field(cached_property(function))


class Certificate(StrictModel):
    """The verdicts of one run of a backend on a suite, and the conclusions from them.

    `files` are the digests of the files next to the certificate. `causes` explain the failures that
    are not waived, the worst cause first. `excerpts` have, for the representative of each cause,
    the elements around the first difference. `reproductions` state how confirmation reproduced
    failures. Both are keyed by case. `fresh` are calls apart from the suite, by operator, on which
    confirmation tried the conditions of causes.
    """

    suite: SuiteEntry
    selection: Selection
    backend: BackendEntry
    run: Run
    claim: ClaimEntry | None
    waivers: WaiversEntry | None
    platform: Platform
    files: Mapping[FileName, Digest]
    excerpts: Mapping[str, Excerpt]
    reproductions: Mapping[str, Reproduction]
    fresh: Mapping[str, Annotated[tuple[FreshCall, ...], Field(max_length=MAX_CALLS)]]
    causes: tuple[Cause, ...]
    verdicts: tuple[Verdict, ...]

    @model_validator(mode="after")
    def _has_one_verdict_per_case(self) -> Self:
        for case, count in Counter(verdict.case for verdict in self.verdicts).items():
            if count > 1:
                raise ValueError(f"{count} verdicts of {case}; expected one")
        return self

    @_computed
    def conformant(self) -> bool:
        """Whether every case in scope has a verdict and none of them blocks conformance."""
        return not self.reasons

    @_computed
    def grade(self) -> Literal["bit-exact", "value-exact", "within arithmetic"] | None:
        """bit-exact; value-exact if values are equal and bits differ; None if not conformant.

        Computed results may be within an arithmetic, and not correctly rounded.
        """
        if not self.conformant:
            return None
        if any(one.worst for by_type in self.accuracy.values() for one in by_type.values()):
            return "within arithmetic"
        # A waiver changes no bits.
        differs = any(verdict.kind == "bits" for verdict in self.verdicts)
        return "value-exact" if differs else "bit-exact"

    @_computed
    def conclusion(self) -> str:
        """The result in a few words, and the part of the suite that it covers."""
        count = self.counts["waived"]
        waived = f", {count} failure{'s' * (count > 1)} waived" if count else ""
        if not self.conformant:
            return f"Not conformant{waived}"
        passed = sum(counts["pass"] > 0 for counts in self.operators.values())
        text = "Conformant"
        if passed < len(self.suite.specs):
            text += f" for {passed} of {len(self.suite.specs)} operators"
        if len(self.verdicts) < self.suite.cases:
            text += f", {len(self.verdicts):,} of {self.suite.cases:,} cases selected"
        # A narrow declaration leaves few cases, and a reader has to see it.
        if unsupported := self.counts["unsupported"]:
            text += f", {unsupported:,} case{'s' * (unsupported > 1)} unsupported"
        if out_of_claim := self.counts["out-of-claim"]:
            text += f", {out_of_claim:,} case{'s' * (out_of_claim > 1)} outside the claim"
        return f"{text}, {self.grade}{waived}"

    @_computed
    def accuracy(self) -> dict[str, dict[str, OperatorAccuracy]]:
        """How accurate computed results are, by operator and element type."""
        cases: dict[tuple[str, str], dict[str, Accuracy]] = {}
        for verdict in self.verdicts:
            accuracy = None if verdict.evidence is None else verdict.evidence.accuracy
            if accuracy is not None and verdict.status != "implementation-defined":
                cases.setdefault((verdict.operator, accuracy.type), {})[verdict.case] = accuracy
        accuracies: dict[str, dict[str, OperatorAccuracy]] = {}
        for (operator, element_type), by_case in cases.items():
            each = by_case.values()
            worst = max(by_case, key=lambda case: by_case[case].worst)
            accuracies.setdefault(operator, {})[element_type] = OperatorAccuracy(
                within=tuple(arithmetics_of(each, element_type)),
                worst=by_case[worst].worst,
                case=worst,
                counts=tuple(map(sum, zip_longest(*(a.counts for a in each), fillvalue=0))),
                open=sum(a.open for a in each),
                bias=sum(a.drift for a in each) / (sum(a.spread for a in each) ** 0.5 or 1.0),
            )
        return accuracies

    @_computed
    def excluded(self) -> dict[str, list[str]]:
        """The rules and levels that claim and declared support exclude, by operator."""
        excluded = self.scope.exclusions
        return {name: excluded[name] for name in self.operators if name in excluded}

    @property
    def claimed(self) -> Mapping[str, Mapping[str, str]]:
        """The claimed arithmetics, by operator and type."""
        return {} if self.claim is None else self.claim.content.arithmetic

    @property
    def scope(self) -> Scope:
        """Which cases of the suite count."""
        claim = None if self.claim is None else self.claim.content
        return Scope(self.selection.feature_level, claim, Support(self.backend.support))

    @_computed
    def rejections(self) -> dict[Rejecter, int]:
        """The number of passing rejections by runtime and by adapter."""
        passing = (v for v in self.verdicts if v.status == "pass" and v.observed == "rejected")
        credited = Counter(verdict.rejected_by for verdict in passing)
        return {"runtime": credited["runtime"], "adapter": credited["adapter"]}

    @property
    def is_finished(self) -> bool:
        """Whether no case is left to run, but for those given up after too many crashes."""
        return not any(verdict.is_left_to_run for verdict in self.verdicts)

    @_computed
    def reasons(self) -> list[str]:
        """Why the backend is not conformant; empty if it is."""
        failed_cases = {v.case for v in self.verdicts if v.status in (*FAILURE_STATUSES, "waived")}
        # An uncredited rejection follows from its baseline's failure, which is counted already.
        kinds = Counter(
            v.kind
            for v in self.verdicts
            if v.status == "fail" and v.kind != "bits" and v.attributed_to not in failed_cases
        )
        ended = {status: self.counts[status] for status in ("crash", "hang", "not-run")}
        counted = [*kinds.most_common(), *ended.items()]
        reasons = [f"{count} x {name}" for name, count in counted if count]
        if not self.verdicts:
            operator, case = self.selection.operator, self.selection.case
            near = did_you_mean(operator, list(self.suite.specs)) if operator != "*" else ""
            selection = f"operator '{operator}', case '{case}'{near}"
            return [*reasons, f"nothing was verified: no case matches {selection}"]
        claimed = () if self.claim is None else self.claim.content.operators
        return [*reasons, *unverified_reasons(self.verdicts, claimed)]

    @_computed
    def summary(self) -> dict[Literal["cases"] | Status, int]:
        """The number of cases, and the number with each status."""
        return {"cases": len(self.verdicts), **dict(self.counts.items())}

    @_computed
    def operators(self) -> dict[str, dict[Status, int]]:
        """The number of cases with each status, by operator."""
        counts: dict[str, dict[Status, int]] = {}
        for verdict in self.verdicts:
            counts.setdefault(verdict.operator, dict.fromkeys(STATUSES, 0))[verdict.status] += 1
        return counts

    @property
    def seconds(self) -> float:
        """The time of all calls with their checks, without start and confirmation."""
        return sum(verdict.seconds for verdict in self.verdicts)

    @cached_property
    def counts(self) -> dict[Status, int]:
        """The number of cases with each status."""
        counts = Counter(verdict.status for verdict in self.verdicts)
        return {status: counts[status] for status in STATUSES}

    @cached_property
    def by_case(self) -> dict[str, Verdict]:
        """The verdicts by case."""
        return {verdict.case: verdict for verdict in self.verdicts}

    def replace(self, **fields: object) -> Self:
        """Return a validated copy of the certificate with some fields replaced."""
        current = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self).model_validate({**current, **fields})

    def to_dict(self) -> dict[str, Any]:
        """Return the content of certificate.json as plain data, the verdicts last."""
        return {**self._head(), "verdicts": [*map(_verdict_data, self.verdicts)]}

    def _head(self) -> dict[str, Any]:
        """Return the content without the verdicts."""
        # Parts that a claim or a declaration omits are not stored.
        data = self.model_dump(mode="json", exclude_unset=True, exclude={"verdicts"})
        return {"schema": SCHEMA, **data}

    def to_json(self) -> str:
        """Return the text of certificate.json."""
        return "".join(self.json_parts())

    def json_parts(self) -> Iterator[str]:
        """Yield the text of certificate.json in parts: the verdicts, each on a line, come last."""
        yield json.dumps(self._head(), indent=1).removesuffix("\n}")
        yield f"{VERDICTS}: ["
        beginning = "\n  "
        for verdict in self.verdicts:
            yield beginning + json.dumps(_verdict_data(verdict))
            beginning = ",\n  "
        yield "\n ]\n}\n"
