"""The scope of a run: claims of a vendor, waivers of known failures, excluded cases."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Protocol, Self, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from opcert.accuracy.arithmetics import PRECISION, arithmetics
from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.errors import Mistake, SpecError, did_you_mean
from opcert.specification.files import shipped_operators
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite
from opcert.suite.support import (
    CaseProperties,
    OperatorScope,
    Support,
    misspelt_operators,
    unknown_operators,
)
from opcert.yaml_files import YamlPath, YamlSource, read_source, validated_content

# To look for misspelt names takes time for each of them.
_MAX_OPERATORS = 1000


class ClaimContent(BaseModel):
    """The content of a claim's file. An absent operator is not claimed.

    `arithmetic` names, by operator and element type, the arithmetic that computed results are
    claimed to be within; by default it is the standard one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    feature_level: str | None = None
    arithmetic: Mapping[str, Mapping[str, str]] = {}
    operators: Annotated[Mapping[str, OperatorScope], Field(max_length=_MAX_OPERATORS)]

    def exclusion_reason(self, operator: str, case: CaseProperties) -> str | None:
        """Return why the claim excludes `case`, or None if it claims it."""
        scope = self.operators.get(operator)
        reason = operator if scope is None else scope.exclusion_reason(case)
        return None if reason is None else f"the claim excludes {reason}"


@dataclass(frozen=True)
class Claim:
    """A claim with the file that it was read from."""

    content: ClaimContent
    source: YamlSource

    def feature_level(self, requested: str | None) -> str | None:
        """Return the feature level to certify: the claimed level or else the `requested` one.

        Raises:
            SpecError: the two levels differ.
        """
        claimed = self.content.feature_level
        if claimed is None:
            return requested
        if requested not in (None, claimed):
            text = f"found '{claimed}', but feature level '{requested}' was requested"
            mistake = self.source.mistake(("feature_level",), f"{text}; expected the same level")
            raise SpecError([mistake])
        return claimed


def read_claim(path: str | Path | YamlSource, suite: Suite, operator: str = "*") -> Claim:
    """Return the claim in a file, for the operators of `suite` that match the glob `operator`.

    Raises:
        SpecError: the file is malformed, or has an unknown name.
    """
    source = read_source(path)
    content = validated_content(source, TypeAdapter(ClaimContent), ClaimContent)
    mistakes = [
        source.mistake(place, text) for place, text in _claim_mistakes(content, suite, operator)
    ]
    if mistakes:
        raise SpecError(mistakes)
    if content.arithmetic:
        suite.claim(content.arithmetic)
    return Claim(content, source)


def _claim_mistakes(
    claim: ClaimContent, suite: Suite, operator: str = "*"
) -> Iterator[tuple[YamlPath, str]]:
    """Yield each unknown name in a claim, with its place.

    An operator that the suite lacks is a mistake only if it matches the glob `operator`, or is
    misspelt: a claim may cover more than one suite.
    """
    level, levels = claim.feature_level, suite.feature_levels
    if level is not None and level not in levels:
        text = f"no operator has feature level '{level}'{did_you_mean(level, levels)}"
        yield ("feature_level",), text
    for name, types in claim.arithmetic.items():
        if name not in claim.operators:
            near = did_you_mean(name, [*claim.operators])
            yield ("arithmetic", name), f"operator '{name}' is not claimed{near}"
        for element_type, arithmetic in types.items():
            here: YamlPath = ("arithmetic", name, element_type)
            if element_type not in PRECISION:
                yield (
                    here,
                    f"no arithmetic of type '{element_type}'; expected {', '.join(PRECISION)}",
                )
            elif arithmetic not in (names := list(arithmetics(element_type).names)):
                yield here, f"unknown arithmetic '{arithmetic}'{did_you_mean(arithmetic, names)}"
    unknown = unknown_operators(claim.operators, suite)
    misspelt = misspelt_operators(claim.operators, suite)
    known = sorted({*suite.operators, *shipped_operators()})
    for name, scope in claim.operators.items():
        place: YamlPath = ("operators", name)
        if name in misspelt or (name in unknown and fnmatchcase(name, operator)):
            yield place, f"unknown operator '{name}'{did_you_mean(name, known)}"
        for part, text in _scope_mistakes(name, scope, suite):
            yield (*place, *part), text


def _scope_mistakes(
    name: str, scope: OperatorScope, suite: Suite
) -> Iterator[tuple[YamlPath, str]]:
    """Yield each unknown name in the scope of one operator, with its place."""
    types = list(ELEMENT_TYPES)
    # The place of a list in the scope, the noun for its items, the items, the known items.
    lists: list[tuple[YamlPath, str, list[str], list[str]]] = [
        (("types",), "type", scope.types or [], types),
        (("index_types",), "type", scope.index_types or [], types),
        *((("input_types", key), "type", names, types) for key, names in scope.input_types.items()),
    ]
    if name in suite.operators:
        operator = suite.operators[name]
        lists.append((("excluded",), f"rule of {name}", scope.excluded, [*operator.index.rules]))
        lists += [
            (("same_types", i), f"input of {name}", group, operator.input_names)
            for i, group in enumerate(scope.same_types)
        ]
        for key in scope.input_types:
            if key not in operator.input_names:
                near = did_you_mean(key, operator.input_names)
                yield ("input_types", key), f"unknown input of {name} '{key}'{near}"
    for place, noun, items, known in lists:
        for i, item in enumerate(items):
            if item not in known:
                yield (*place, i), f"unknown {noun} '{item}'{did_you_mean(item, known)}"


# The status of a case that is not run.
ExclusionStatus: TypeAlias = Literal["out-of-claim", "unsupported"]


@dataclass(frozen=True)
class Scope:
    """The feature level, the claim and the declared support of a run."""

    feature_level: str | None
    claim: ClaimContent | None
    support: Support

    def exclusion(
        self, operator: OperatorSuite, case: IndexedCase
    ) -> tuple[ExclusionStatus, str] | None:
        """Return the status and the reason of an excluded case, or None if it is in scope."""
        name = operator.index.operator
        claimed = None if self.claim is None else self.claim.operators.get(name)
        declared = (self.support.declared or {}).get(name)
        # An excluded requirement excludes the calls that violate it. An excluded behaviour excludes
        # the negative cases that exhibit it, since a backend may decline them for that alone.
        for rule in (case.violated_rule, *case.extra_behaviours):
            if claimed is not None and rule in claimed.excluded:
                return "out-of-claim", f"the claim excludes {rule}"
            if declared is not None and rule in declared.excluded:
                return "unsupported", f"the declared support excludes {rule}"
        # Otherwise a negative case is in scope if its baseline is, since its own type or rank may
        # break the rule. The scope of a neighbour, a valid call, does not depend on its baseline.
        if case.expects == "rejection" and case.baseline is not None:
            case = operator.cases[case.baseline]
        level = self.feature_level
        if level and operator.index.feature_levels and level not in case.feature_levels:
            return "out-of-claim", f"not in feature level {level}"
        if self.claim is not None:
            reason = self.claim.exclusion_reason(name, case)
            if reason is not None:
                return "out-of-claim", reason
        reason = self.support.exclusion_reason(name, case)
        return None if reason is None else ("unsupported", reason)

    @property
    def exclusions(self) -> dict[str, list[str]]:
        """The rules and levels that claim and declared support exclude, by operator."""
        claimed = {} if self.claim is None else self.claim.operators
        excluded: dict[str, list[str]] = {}
        for name, scope in [*claimed.items(), *(self.support.declared or {}).items()]:
            if scope.excluded:
                excluded[name] = sorted({*excluded.get(name, ()), *scope.excluded})
        return excluded

    def is_claimed(self, operator: str, case: IndexedCase) -> bool:
        """Whether a claim covers `case` itself, so that declining it is a failure.

        A negative case can be outside the claim although its baseline is in scope.
        """
        if self.claim is None or case.ambiguity is not None:
            return False
        return self.claim.exclusion_reason(operator, case) is None


def unsupported_types(calls: Iterable[tuple[str, str, bool]]) -> set[tuple[str, str]]:
    """Return the pairs of operator and data type for which a backend declined every call.

    `calls` are the operator and the data type of each call that ran, and whether it was declined.
    """
    declined: defaultdict[tuple[str, str], set[bool]] = defaultdict(set)
    for operator, element_type, is_declined in calls:
        declined[operator, element_type].add(is_declined)
    return {key for key, answers in declined.items() if answers == {True}}


class Waivable(Protocol):
    """The parts of a verdict that waivers depend on; the package `verdicts` depends on this one."""

    @property
    def case(self) -> str:
        """The id of the case."""

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that the case exercises."""

    @property
    def status(self) -> str:
        """The status of the verdict."""

    @property
    def failure(self) -> str | None:
        """The kind of a failure, its status if it has no kind, None for any other verdict."""

    def with_waiver(self, explanation: str) -> Self:
        """Return the verdict with a waiver applied."""


AnyVerdict = TypeVar("AnyVerdict", bound=Waivable)


def _iso_date(text: str) -> str:
    # `date.fromisoformat` alone also reads week dates, and dates without dashes.
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
        with suppress(ValueError):
            return date.fromisoformat(text).isoformat()
    raise ValueError("a date as YYYY-MM-DD, such as 2030-12-31")


Text = Annotated[str, Field(min_length=1)]


class Waiver(BaseModel):
    """One known failure, or a group of them.

    `case` and `rule` are globs, `cases` are ids; at least one of them is required. `kind` is the
    kind of the failure, or `crash` or `hang`. `expires` is the last day on which the waiver
    applies. `device` restricts the waiver to runs with this value of the backend option `device`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    case: Text | None = None
    cases: tuple[Text, ...] = ()
    rule: Text | None = None
    kind: str | None = None
    reason: Text
    owner: Text
    link: Text
    expires: Annotated[str, AfterValidator(_iso_date)]
    device: str | None = None

    @model_validator(mode="after")
    def _selects_cases(self) -> Self:
        if self.case is None and self.rule is None and not self.cases:
            raise ValueError("'case', 'cases' or 'rule'")
        return self

    @cached_property
    def _ids(self) -> frozenset[str]:
        return frozenset(self.cases)

    @property
    def explanation(self) -> str:
        """The text that precedes the detail of a waived verdict."""
        return f"{self.reason} (waived until {self.expires}; {self.owner}, {self.link})"

    def matches(self, case: str, rules: Iterable[str] | None) -> bool:
        """Whether the waiver selects a case with `rules`, which are None if they are not known."""
        if (self._ids and case not in self._ids) or not fnmatchcase(case, self.case or "*"):
            return False
        if self.rule is None or rules is None:
            return True
        return any(fnmatchcase(rule, self.rule) for rule in rules)

    def waives(self, verdict: Waivable) -> bool:
        """Whether the verdict is a failure to which the waiver applies."""
        return (
            verdict.failure is not None
            and self.kind in (None, verdict.failure)
            and self.matches(verdict.case, verdict.rules)
        )

    def unused_message(self, verdicts: Iterable[Waivable]) -> str | None:
        """Return why the waiver is unused in a run, or None if it is used or undecided.

        It is undecided if the run has no matching case, or if a matching case has not run.
        """
        # A case that has not been read has no rules yet.
        known = ((v, None if v.status == "not-run" else v.rules) for v in verdicts)
        matching = [verdict for verdict, rules in known if self.matches(verdict.case, rules)]
        if not matching or any(
            verdict.status == "not-run" or self.waives(verdict) for verdict in matching
        ):
            return None
        if len(matching) == 1:
            return "unused waiver: the one matching case does not fail this way"
        return f"unused waiver: none of the {len(matching)} matching cases fails this way"


@dataclass(frozen=True)
class Waivers:
    """The waivers of one file, in a run on `device`."""

    content: tuple[Waiver, ...]
    source: YamlSource
    device: object = None

    @property
    def _applicable(self) -> list[tuple[int, Waiver]]:
        """The waivers that apply on the device, each with its number in the file."""
        return [(n, w) for n, w in enumerate(self.content) if w.device in (None, self.device)]

    def apply(self, verdict: AnyVerdict) -> AnyVerdict:
        """Return `verdict` with the first matching waiver applied, if any."""
        return waived(verdict, (waiver for _, waiver in self._applicable))

    def unused(self, verdicts: Sequence[Waivable]) -> list[Mistake]:
        """Return a mistake for each waiver that applies to none of its matching verdicts.

        `verdicts` are the verdicts of a whole run, before waivers.
        """
        return [
            self.source.mistake((number,), f"{message}; remove it")
            for number, waiver in self._applicable
            if (message := waiver.unused_message(verdicts)) is not None
        ]


def waived(verdict: AnyVerdict, waivers: Iterable[Waiver]) -> AnyVerdict:
    """Return `verdict` with the first matching waiver applied, if any."""
    for waiver in waivers:
        if waiver.waives(verdict):
            return verdict.with_waiver(waiver.explanation)
    return verdict


def read_waivers(
    path: str | Path | YamlSource, suite: Suite, device: object = None, *, kinds: Collection[str]
) -> Waivers:
    """Return the waivers in a file, for a run of cases of `suite` on `device`.

    `kinds` are the kinds of failure that a waiver can name.

    Raises:
        SpecError: the file is malformed, or a waiver has expired or matches no case of the suite.
    """
    source = read_source(path)
    content = validated_content(source, TypeAdapter(tuple[Waiver, ...]), Waiver)
    today = datetime.now(UTC).date().isoformat()
    mistakes = [
        source.mistake((number, key), text)
        for number, waiver in enumerate(content)
        for key, text in _waiver_mistakes(waiver, suite, kinds, today)
    ]
    if mistakes:
        raise SpecError(mistakes)
    return Waivers(content, source, device)


def _waiver_mistakes(
    waiver: Waiver, suite: Suite, kinds: Collection[str], today: str
) -> Iterator[tuple[str, str]]:
    """Yield the mistakes in a waiver, each with its key."""
    if waiver.kind is not None and waiver.kind not in kinds:
        yield "kind", f"unknown kind '{waiver.kind}'{did_you_mean(waiver.kind, list(kinds))}"
    if waiver.expires < today:
        contact = f"{waiver.owner}, {waiver.link}"
        text = f"expired on {waiver.expires} ({contact}); fix the failure or renew the waiver"
        yield "expires", text
    if not any(waiver.matches(case.id, case.rules) for _, case in suite):
        if waiver.case is not None or waiver.cases:
            key = "cases" if waiver.cases else "case"
            glob, known = waiver.case or waiver.cases[0], [case.id for _, case in suite]
        else:
            known = sorted({rule for _, case in suite for rule in case.rules})
            key, glob = "rule", waiver.rule or ""
        # Only a near match is listed, not thousands of ids.
        near = did_you_mean(glob, get_close_matches(glob, known, n=1))
        yield key, f"unused waiver: no case of the suite matches{near or '; remove it'}"
