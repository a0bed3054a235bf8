"""Waivers: known failures of a backend, which do not block conformance."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from opcert.errors import Mistake, SpecError, did_you_mean
from opcert.suite.suite import Suite
from opcert.verdicts.verdict import WAIVABLE_KINDS, Verdict
from opcert.yaml_files import YamlSource, read_source, validated_content


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

    def waives(self, verdict: Verdict) -> bool:
        """Whether the verdict is a failure to which the waiver applies."""
        return (
            verdict.failure is not None
            # One that depends on earlier calls is of kind `state`, and a crash nevertheless.
            and self.kind in (None, verdict.failure, verdict.status)
            and self.matches(verdict.case, verdict.rules)
        )

    def unused_message(self, verdicts: Iterable[Verdict]) -> str | None:
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

    def apply(self, verdict: Verdict) -> Verdict:
        """Return `verdict` with the first matching waiver applied, if any."""
        return waived(verdict, (waiver for _, waiver in self._applicable))

    def unused(self, verdicts: Sequence[Verdict]) -> list[Mistake]:
        """Return a mistake for each waiver that applies to none of its matching verdicts.

        `verdicts` are the verdicts of a whole run, before waivers.
        """
        return [
            self.source.mistake((number,), f"{message}; remove it")
            for number, waiver in self._applicable
            if (message := waiver.unused_message(verdicts)) is not None
        ]


def waived(verdict: Verdict, waivers: Iterable[Waiver]) -> Verdict:
    """Return `verdict` with the first matching waiver applied, if any."""
    for waiver in waivers:
        if waiver.waives(verdict):
            return verdict.with_waiver(waiver.explanation)
    return verdict


def read_waivers(path: str | Path | YamlSource, suite: Suite, device: object = None) -> Waivers:
    """Return the waivers in a file, for a run of cases of `suite` on `device`.

    Raises:
        SpecError: the file is malformed, or a waiver has expired or matches no case of the suite.
    """
    source = read_source(path)
    content = validated_content(source, TypeAdapter(tuple[Waiver, ...]), Waiver)
    today = datetime.now(UTC).date().isoformat()
    mistakes = [
        source.mistake((number, key), text)
        for number, waiver in enumerate(content)
        for key, text in waiver_mistakes(waiver, suite, today)
    ]
    if mistakes:
        raise SpecError(mistakes)
    return Waivers(content, source, device)


def waiver_mistakes(waiver: Waiver, suite: Suite, today: str) -> Iterator[tuple[str, str]]:
    """Yield the mistakes in a waiver of a run that starts `today`, each with its key."""
    if waiver.kind not in (None, *WAIVABLE_KINDS):
        near = did_you_mean(str(waiver.kind), [*WAIVABLE_KINDS])
        yield "kind", f"unknown kind '{waiver.kind}'{near}"
    if waiver.expires < today:
        contact = f"{waiver.owner}, {waiver.link}"
        text = f"expired on {waiver.expires} ({contact}); fix the failure or renew the waiver"
        yield "expires", text
    lacking = sorted({*waiver.cases}.difference(case.id for _, case in suite))
    for id_ in lacking:
        yield "cases", f"unused waiver: the suite has no case '{id_}'; remove it"
    if not lacking and not any(waiver.matches(case.id, case.rules) for _, case in suite):
        if waiver.case is not None or waiver.cases:
            key = "cases" if waiver.cases else "case"
            glob, known = waiver.case or waiver.cases[0], [case.id for _, case in suite]
        else:
            known = sorted({rule for _, case in suite for rule in case.rules})
            key, glob = "rule", waiver.rule or ""
        # Only a near match is listed, not thousands of ids.
        near = did_you_mean(glob, get_close_matches(glob, known, n=1))
        yield key, f"unused waiver: no case of the suite matches{near or '; remove it'}"
