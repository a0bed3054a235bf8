"""Known failures that a vendor owns up to: each has a reason, an owner and a day it ends on."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from opcert.errors import Mistake, SpecError, did_you_mean
from opcert.run import FATAL_OUTCOMES
from opcert.suite import Suite
from opcert.verdicts.verdict import FAILURE_KINDS, FAILURE_STATUSES, Verdict
from opcert.yaml_files import YamlSource, validated_content


def _iso(text: str) -> str:
    # `fromisoformat` alone reads weeks too, and days without dashes.
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
            date.fromisoformat(text)
            return text
    except ValueError:
        pass
    raise ValueError("a day that there is, as year-month-day like 2030-12-31")


Text = Annotated[str, Field(min_length=1)]


class Waiver(BaseModel):
    """One sort of known failures: `case` and `rule` are globs, `expires` the last day of it.

    `device` is the backend option of that name; without it, any.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    case: Text | None = None
    rule: Text | None = None
    kind: str | None = None
    reason: Text
    owner: Text
    link: Text
    expires: Annotated[str, AfterValidator(_iso)]
    device: str | None = None

    @model_validator(mode="after")
    def _names_cases(self) -> Self:
        if self.case is None and self.rule is None:
            raise ValueError("'case', 'rule' or both")
        return self

    def matches(self, case: str, rules: Iterable[str]) -> bool:
        """Whether it speaks of a case, which exercises `rules`."""
        return fnmatchcase(case, self.case or "*") and (
            self.rule is None or any(fnmatchcase(rule, self.rule) for rule in rules)
        )

    def waives(self, verdict: Verdict) -> bool:
        """Whether it speaks of a verdict that is a failure."""
        return (
            verdict.status in FAILURE_STATUSES
            and self.kind in (None, verdict.kind or verdict.status)
            and self.matches(verdict.case, verdict.rules)
        )


@dataclass(frozen=True)
class Waivers:
    """The waivers of one file, for a run on `device`."""

    content: tuple[Waiver, ...]
    source: YamlSource
    device: object = None

    @cached_property
    def _here(self) -> list[tuple[int, Waiver]]:
        """Those that hold on the device of this run, with their numbers."""
        numbered = enumerate(self.content)
        return [(i, each) for i, each in numbered if each.device in (None, self.device)]

    def applied(self, verdict: Verdict) -> Verdict:
        """Return `verdict`, as waived where a waiver speaks of the failure that it is."""
        waiver = next((each for _, each in self._here if each.waives(verdict)), None)
        if waiver is None:
            return verdict
        return replace(verdict, status="waived", detail=f"{waiver_text(waiver)}{verdict.detail}")

    def lifted(self, verdict: Verdict) -> Verdict:
        """Return the verdict that `applied` has turned into `verdict`."""
        for _, waiver in self._here:
            status = verdict.observed if verdict.observed in FATAL_OUTCOMES else "fail"
            detail = verdict.detail.removeprefix(waiver_text(waiver))
            former = replace(verdict, status=status, detail=detail)
            if self.applied(former) == verdict:
                return former
        return verdict

    def settled(self, verdicts: Sequence[Verdict]) -> list[Verdict]:
        """Return the `verdicts` of a run with its failures waived.

        Raises:
            SpecError: a waiver speaks of cases of the run, and of no failure among them.
        """
        if mistakes := self.idle(verdicts):
            raise SpecError(mistakes)
        return [self.applied(verdict) for verdict in verdicts]

    def idle(self, verdicts: Sequence[Verdict]) -> list[Mistake]:
        """Say which of them speak of cases of a run, and of no failure among its `verdicts`."""
        mistakes = []
        for number, waiver in self._here:
            about = [each for each in verdicts if waiver.matches(each.case, each.rules)]
            # A run that was stopped says nothing of the rest.
            if about and not any(each.status == "not-run" or waiver.waives(each) for each in about):
                text = f"waives nothing: of {len(about)} cases none fails{_kind(waiver)}; remove it"
                mistakes.append(self.source.mistake((number,), text))
        return mistakes


def waiver_text(waiver: Waiver) -> str:
    """Return what the detail of a verdict that it waives begins with."""
    return f"{waiver.reason} (waived until {waiver.expires}; {waiver.owner}, {waiver.link}): "


def _kind(waiver: Waiver) -> str:
    return f" with the kind '{waiver.kind}'" if waiver.kind else ""


def read_waivers(path: Path | YamlSource, suite: Suite, device: object = None) -> Waivers:
    """Return the waivers in a file, for a run of cases of `suite` on `device`.

    Raises:
        SpecError: they are of another form, have expired, or speak of no case of the suite.
    """
    source = path if isinstance(path, YamlSource) else YamlSource(path)
    content = validated_content(source, TypeAdapter(tuple[Waiver, ...]), Waiver)
    today = datetime.now(UTC).date().isoformat()
    mistakes = [
        source.mistake((number, key), text)
        for number, waiver in enumerate(content)
        for key, text in _mistakes(waiver, suite, today)
    ]
    if mistakes:
        raise SpecError(mistakes)
    return Waivers(content, source, device)


def _mistakes(waiver: Waiver, suite: Suite, today: str) -> Iterable[tuple[str, str]]:
    """Say what is wrong with a waiver, and under which key."""
    # What has no kind of its own is named by its status.
    kinds = [*FAILURE_KINDS, *FAILURE_STATUSES[1:]]
    if waiver.kind is not None and waiver.kind not in kinds:
        yield "kind", f"unknown kind '{waiver.kind}'{did_you_mean(waiver.kind, kinds)}"
    if waiver.expires < today:
        owner = f"{waiver.owner}, {waiver.link}"
        yield "expires", f"expired on {waiver.expires} ({owner}); mend the failure, or renew it"
    if not any(waiver.matches(case.id, case.rules) for _, case in suite):
        key = "case" if waiver.case is not None else "rule"
        yield key, f"waives nothing: the suite has no such case{_meant(waiver, suite)}"


def _meant(waiver: Waiver, suite: Suite) -> str:
    """Return the case or the rule that a waiver may mean, where one is near."""
    if waiver.case is not None:
        known = [case.id for _, case in suite]
        return did_you_mean(waiver.case, get_close_matches(waiver.case, known, n=1))
    rules = sorted({rule for _, case in suite for rule in case.rules})
    return did_you_mean(waiver.rule or "", get_close_matches(waiver.rule or "", rules, n=1))
