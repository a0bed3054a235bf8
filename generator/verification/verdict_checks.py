"""Checks whether the verdicts of a certificate are possible for the cases of its suite."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from opcert.arrays.element_types import FLOATS
from opcert.certificate.certificate import Certificate
from opcert.errors import printable_line
from opcert.run.outcome import FATAL_OUTCOMES, Observed
from opcert.scope.scope import Scope, unsupported_types
from opcert.scope.support import Support
from opcert.scope.waivers import Waiver, waivers_on
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite
from opcert.verdicts.verdict import DECISIVE_BREACHES, WAIVABLE_KINDS, Verdict

# A status and a kind.
Judgement = tuple[str, str | None]

_PASS: Judgement = ("pass", None)
_DECLINED: tuple[Judgement, ...] = (("unsupported", None), ("fail", "undeclared"))
# Failures found when inputs and outputs are checked again after later cases.
_FOUND_LATER: tuple[Judgement, ...] = (("fail", "aliased-output"), ("fail", "mutated-input"))
# The judgement that confirmation gives a failure that needs an earlier call.
_STATE: Judgement = ("fail", "state")


def _failures(*kinds: str) -> tuple[Judgement, ...]:
    return tuple(("fail", kind) for kind in kinds)


# The possible judgements of a case in scope, by expectation and observed outcome. They are not
# derived from `judge`, since they check it.
_POSSIBLE: Mapping[tuple[str, Observed], tuple[Judgement, ...]] = {
    ("outputs", "outputs"): (
        _PASS,
        *_failures("count", "type", "dtype", "shape", "value", "bits", "unstable", "protocol"),
        *_FOUND_LATER,
        _STATE,
    ),
    ("outputs", "rejected"): (*_failures("rejected", "protocol"), _STATE),
    ("outputs", "unsupported"): _DECLINED,
    ("rejection", "outputs"): (*_failures("accepted"), _STATE),
    ("rejection", "rejected"): (
        _PASS,
        *_DECLINED,
        *_failures("uncredited", "bits", "protocol"),
        *_FOUND_LATER,
        _STATE,
    ),
    ("rejection", "unsupported"): (*_DECLINED, *_FOUND_LATER),
}
# Kinds of a failed baseline that do not exclude crediting a rejection: they are found after the
# rejection was judged, or are never an obstacle.
_CREDITING_KINDS = ("bits", "aliased-output", "mutated-input", "state")


@dataclass(frozen=True)
class Finding:
    """A mistake in a certificate or its folder, and its place."""

    place: str
    text: str

    def __str__(self) -> str:
        return printable_line(f"{self.place}: {self.text}")


@dataclass(frozen=True)
class CaseVerdict:
    """A verdict of the certificate and its case in the suite."""

    operator: OperatorSuite
    case: IndexedCase
    verdict: Verdict

    @cached_property
    def original(self) -> Verdict:
        """The verdict before a waiver."""
        return self.verdict.without_waiver()

    @property
    def judgement(self) -> Judgement:
        """The status and kind before a waiver."""
        return self.original.status, self.original.kind

    @property
    def ran(self) -> bool:
        """Whether the backend was called."""
        return self.verdict.observed != "not-run"

    @property
    def declined(self) -> bool:
        """Whether the backend declined the call, or the baseline of a rejected call."""
        return self.ran and self.judgement in _DECLINED


def judgement_text(judgement: Judgement) -> str:
    """Return a judgement as text, such as "fail (value)"."""
    status, kind = judgement
    return status if kind is None else f"{status} ({kind})"


class VerdictChecks:
    """Checks the verdicts of a certificate against their cases and against each other."""

    def __init__(self, certificate: Certificate, verdicts: Sequence[CaseVerdict]) -> None:
        """Prepare to check `verdicts`, the verdicts of the cases that the suite has."""
        self._verdicts = {entry.case.id: entry for entry in verdicts}
        claim, selection = certificate.claim, certificate.selection
        self._scope = Scope(
            selection.feature_level,
            None if claim is None else claim.content,
            Support(certificate.backend.support),
        )
        self._isolated = certificate.run.isolated
        # Whether a whole data type was declined also depends on baselines that were not selected
        # and on calls before an interruption, which the certificate may lack.
        self._shows_all_calls = selection.case == "*" and not certificate.run.resumed
        calls = [
            (entry.verdict.operator, entry.case.type, entry.declined)
            for entry in verdicts
            if entry.ran and entry.original.status != "implementation-defined"
        ]
        self._unsupported = unsupported_types(calls)
        self._called = {(operator, element_type) for operator, element_type, _ in calls}

    def findings(self) -> Iterator[Finding]:
        """Yield the contradictions in each verdict."""
        for case, entry in self._verdicts.items():
            for text in self._contradictions(entry):
                yield Finding(f"verdicts, {case}", text)

    def _contradictions(self, entry: CaseVerdict) -> Iterator[str]:
        verdict, case = entry.verdict, entry.case
        operator = entry.operator.index.operator
        if verdict.operator != operator:
            yield f"operator: found {verdict.operator}; expected {operator}"
        if verdict.rules != case.rules:
            rules, expected_rules = (", ".join(r) or "none" for r in (verdict.rules, case.rules))
            yield f"rules: found {rules}; expected {expected_rules}"
        if verdict.status == "not-run":
            if entry.ran:
                yield f"found not-run, but '{verdict.observed}' was observed; expected 'not-run'"
            if verdict.kind is not None:
                yield f"found not-run of kind '{verdict.kind}'; expected no kind"
            return
        judgement = judgement_text(entry.judgement)
        scope_contradiction = self._scope_contradiction(entry)
        expected = self._possible_judgements(entry) if scope_contradiction is None else ()
        if scope_contradiction is not None:
            yield f"found {judgement}, but {scope_contradiction}"
        elif entry.judgement not in expected:
            expects = "is ambiguous" if case.ambiguity else f"expects {case.expects}"
            names = ", ".join(dict.fromkeys(map(judgement_text, expected)))
            yield (
                f"found {judgement}, but '{verdict.observed}' was observed for a case that "
                f"{expects}; expected {names}"
            )
        else:
            yield from self._baseline_contradictions(entry)
            yield from self._declining_contradictions(entry)
        yield from _field_contradictions(entry)

    def _scope_contradiction(self, entry: CaseVerdict) -> str | None:
        """Return the reason why the observed outcome is impossible, or None if it is possible."""
        observed = entry.verdict.observed
        exclusion = self._scope.exclusion(entry.operator, entry.case)
        if exclusion is not None and entry.ran:
            status, reason = exclusion
            return f"'{observed}' was observed for a case that is {status}: {reason}"
        if exclusion is None and not entry.ran:
            return "the case is in scope and was not run; expected not-run or an outcome"
        if observed in FATAL_OUTCOMES and not self._isolated:
            return f"'{observed}' would have ended a run that was not isolated"
        return None

    def _possible_judgements(self, entry: CaseVerdict) -> tuple[Judgement, ...]:
        """Return the judgements of a case that are possible for its observed outcome."""
        case, verdict = entry.case, entry.verdict
        exclusion = self._scope.exclusion(entry.operator, case)
        if exclusion is not None:
            status, _ = exclusion
            # Declaring less than is claimed is a failure.
            claimed = status == "unsupported" and self._scope.is_claimed(verdict.operator, case)
            return (("fail", "undeclared") if claimed else (status, None),)
        if verdict.observed in FATAL_OUTCOMES:
            return ((verdict.observed, None), (verdict.observed, "state"))
        if case.ambiguity is not None:
            return (("implementation-defined", None), *_failures(*sorted(DECISIVE_BREACHES)))
        return _POSSIBLE[case.expects, verdict.observed]

    def _baseline_contradictions(self, entry: CaseVerdict) -> Iterator[str]:
        """Yield contradictions between a rejection and the verdict of its baseline."""
        baseline = None if entry.case.baseline is None else self._verdicts.get(entry.case.baseline)
        if baseline is None or entry.verdict.observed != "rejected":
            return
        status, kind = baseline.judgement
        consistent = {
            _PASS: status == "pass" or kind in _CREDITING_KINDS,
            ("fail", "uncredited"): status != "pass" and kind != "bits" and not baseline.declined,
            **dict.fromkeys(_DECLINED, baseline.declined),
        }
        if not consistent.get(entry.judgement, True):
            of_baseline = judgement_text(baseline.judgement)
            yield (
                f"found {judgement_text(entry.judgement)}, but the baseline {baseline.case.id} "
                f"has {of_baseline}; expected a consistent judgement"
            )

    def _declining_contradictions(self, entry: CaseVerdict) -> Iterator[str]:
        """Yield a declined call that should be a failure and is not, or the reverse."""
        if not entry.declined:
            return
        verdict, case = entry.verdict, entry.case
        fails = entry.judgement[0] == "fail"
        judgement = judgement_text(entry.judgement)
        if self._scope.claim is not None:
            if fails != self._scope.is_claimed(verdict.operator, case):
                yield f"found {judgement}, but the claim {'excludes' if fails else 'includes'} it"
            return
        types = {(verdict.operator, name) for name in (case.type, *case.index_types)}
        uncalled = set() if self._shows_all_calls else types - self._called
        whole_type = bool(types & (self._unsupported | uncalled))
        if whole_type == fails and (self._shows_all_calls or not fails):
            calls = "every call" if whole_type else "not every call"
            of_type = f"{verdict.operator} with {case.type}"
            yield f"found {judgement}, but {calls} of {of_type} was declined"


def _field_contradictions(entry: CaseVerdict) -> Iterator[str]:
    """Yield contradictions between status and kind and the other fields of a verdict."""
    verdict, case = entry.verdict, entry.case
    judgement = judgement_text(entry.judgement)
    # Nobody rejects a call by violating the protocol, whose kind is `state` if it passes alone.
    kind = entry.original.kind
    rejected = verdict.observed == "rejected" and kind != "protocol"
    if rejected != (verdict.rejected_by is not None) and not (rejected and kind == "state"):
        who = verdict.rejected_by or "none"
        yield f"rejected_by: found {who}, but '{verdict.observed}' was observed"
    baseline = case.baseline if entry.original.kind == "uncredited" else None
    if verdict.attributed_to != baseline:
        yield f"attributed_to: found {verdict.attributed_to}; expected {baseline}"
    # Only the presence of a detail is checked, not its text.
    if entry.judgement[0] == "fail" and not verdict.detail:
        yield f"found {judgement} without a detail; expected the reason"
    if entry.judgement == _PASS and verdict.observed == "outputs" and verdict.detail:
        yield f"found pass with the detail '{verdict.detail[:60]}'; expected none"
    # Failures of kind `bits` do not block conformance, so others could be disguised as them.
    called = entry.operator.cases[case.baseline] if not case.outputs and case.baseline else case
    floats = any(output.type in FLOATS for output in called.outputs)
    if entry.judgement == ("fail", "bits") and not floats:
        yield "found fail (bits), but equal values of these output types have equal bits"


def waiver_findings(
    certificate: Certificate, suite: Suite, verdicts: Sequence[CaseVerdict], today: date
) -> Iterator[Finding]:
    """Yield mistakes in the waivers, and in the verdicts to which they apply or do not apply."""
    waivers = () if certificate.waivers is None else certificate.waivers.content
    applicable = dict(waivers_on(waivers, certificate.backend.options.get("device")))
    originals = [entry.original for entry in verdicts]
    for number, waiver in enumerate(waivers):
        place = f"waivers.content.{number}"
        for text in _waiver_contradictions(certificate, suite, waiver, today):
            yield Finding(place, text)
        unused = waiver.unused_message(originals) if number in applicable else None
        if unused is not None:
            yield Finding(place, unused)
    for entry in verdicts:
        waived_by = next((i for i, w in applicable.items() if w.waives(entry.original)), None)
        misapplied = _misapplied_waiver(entry.verdict, waived_by)
        if misapplied is not None:
            yield Finding(f"verdicts, {entry.case.id}", misapplied)


def _waiver_contradictions(
    certificate: Certificate, suite: Suite, waiver: Waiver, today: date
) -> Iterator[str]:
    last_run = max((certificate.platform.date, *certificate.run.resumed))[:10]
    if waiver.expires < last_run:
        yield f"expires: found {waiver.expires}; expected the day of the run, {last_run}, or later"
    elif waiver.expires < today.isoformat():
        yield f"expires: expired on {waiver.expires}, after the run; its failures count again"
    if waiver.kind is not None and waiver.kind not in WAIVABLE_KINDS:
        yield f"kind: unknown kind '{waiver.kind}'"
    if not any(waiver.matches(case.id, case.rules) for _, case in suite):
        yield "unused waiver: no case of the suite matches"


def _misapplied_waiver(verdict: Verdict, waived_by: int | None) -> str | None:
    """Return the contradiction between a verdict and the waiver that applies to it, if any."""
    before = verdict.before_waiver
    if verdict.status != "waived":
        if waived_by is not None:
            return f"found {verdict.status}; expected waived, by waivers.content.{waived_by}"
        return None if before is None else f"before_waiver: found one for status {verdict.status}"
    if before is None:
        return "before_waiver: found none for a waived failure"
    if waived_by is None:
        return "found waived, but no waiver of the certificate applies to it"
    if verdict.kind != before.kind or not verdict.detail.endswith(before.detail):
        return "found another kind or detail than before the waiver"
    return None
