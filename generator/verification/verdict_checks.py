"""A verdict of a certificate x its case -> what of it cannot be, by all that judging can give."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from opcert.arrays import FLOATS
from opcert.certificate import Certificate
from opcert.run import FATAL_OUTCOMES, Observed
from opcert.scope import Scope, Support, unsupported_types
from opcert.suite import IndexedCase, OperatorSuite
from opcert.verdicts import DECISIVE_BREACHES, Verdict
from opcert.verification.findings import Finding

# What a verdict says: its status and its kind.
Said = tuple[str, str | None]

_DECLINED: tuple[Said, ...] = (("unsupported", None), ("fail", "undeclared"))
# What an output or an input that is looked at again later turns a verdict into.
_LATER: tuple[Said, ...] = (("fail", "aliased-output"), ("fail", "mutated-input"))
# What confirmation turns a failure into.
_STATE: Said = ("fail", "state")


def _failing(*kinds: str) -> tuple[Said, ...]:
    return tuple(("fail", kind) for kind in kinds)


# Written out and not derived from `judge`, which is what this is held against.
_TABLE: Mapping[tuple[str, Observed], tuple[Said, ...]] = {
    ("outputs", "outputs"): (
        ("pass", None),
        *_failing("count", "type", "dtype", "shape", "value", "bits", "unstable", "protocol"),
        *_LATER,
        _STATE,
    ),
    ("outputs", "rejected"): (*_failing("rejected", "protocol"), _STATE),
    ("outputs", "unsupported"): _DECLINED,
    ("rejection", "outputs"): (*_failing("accepted"), _STATE),
    ("rejection", "rejected"): (
        ("pass", None),
        *_DECLINED,
        *_failing("uncredited", "bits", "protocol"),
        *_LATER,
        _STATE,
    ),
    ("rejection", "unsupported"): (*_DECLINED, *_LATER),
}
# The kinds that a valid call may have in the end beside a rejection that was credited to it: those
# that are found later, and what never keeps it from being credited.
_CREDITING = ("bits", "aliased-output", "mutated-input", "state")


@dataclass(frozen=True)
class Judged:
    """A verdict with the case that it is of."""

    operator: OperatorSuite
    case: IndexedCase
    verdict: Verdict

    @cached_property
    def raw(self) -> Verdict:
        """The verdict before a waiver."""
        if self.verdict.status != "waived":
            return self.verdict
        observed = self.verdict.observed
        return replace(self.verdict, status=observed if observed in FATAL_OUTCOMES else "fail")

    @property
    def said(self) -> Said:
        """Status and kind before a waiver."""
        return self.raw.status, self.raw.kind

    @property
    def ran(self) -> bool:
        """Whether the backend was called."""
        return self.verdict.observed != "not-run"

    @property
    def declined(self) -> bool:
        """Whether the backend declined the call, or one that it is credited by."""
        return self.ran and self.said in _DECLINED


class VerdictChecks:
    """What the verdicts of a certificate say of each other, and of the cases that they are of."""

    def __init__(self, certificate: Certificate, judged: Sequence[Judged]) -> None:
        self._judged = {each.case.id: each for each in judged}
        claim, chosen = certificate.claim, certificate.selection
        self._scope = Scope(
            chosen.feature_level,
            None if claim is None else claim.content,
            Support(certificate.backend.support),
        )
        self._isolated = certificate.run.isolated
        # Calls beside those that were chosen, or of a former run, decide too and are not seen here.
        self._sees_all = chosen.case == "*" and not certificate.run.resumed
        calls = [
            (each.verdict.operator, each.case.type, each.declined)
            for each in judged
            if each.ran and each.raw.status != "implementation-defined"
        ]
        self._declined = unsupported_types(calls)
        self._called = {(operator, element_type) for operator, element_type, _ in calls}

    def flaws(self) -> Iterator[Finding]:
        """Yield what of each verdict cannot be."""
        for case, judged in self._judged.items():
            yield from (Finding(f"verdicts, {case}", text) for text in self._wrong(judged))

    def _wrong(self, judged: Judged) -> Iterator[str]:
        verdict, case = judged.verdict, judged.case
        if verdict.operator != judged.operator.index.operator:
            yield f"operator: found {verdict.operator}; expected {judged.operator.index.operator}"
        if verdict.rules != case.rules:
            found, wanted = (", ".join(each) or "none" for each in (verdict.rules, case.rules))
            yield f"rules: found {found}; expected {wanted}"
        if verdict.status == "not-run":
            yield from _not_run(verdict)
            return
        impossible = self._impossible(judged)
        if impossible is None and judged.said not in (expected := self._expected(judged)):
            wanted = ", ".join(dict.fromkeys(map(_told, expected)))
            about = "that is left open" if case.ambiguity else f"that expects {case.expects}"
            impossible = f"of a case {about} '{verdict.observed}' was observed; expected {wanted}"
        if impossible is not None:
            yield f"found {_told(judged.said)}, while {impossible}"
        else:
            yield from self._beside(judged)
            yield from self._declining(judged)
        yield from _rejection(judged)
        yield from _detail(judged)
        yield from _hidden_bits(judged)

    def _impossible(self, judged: Judged) -> str | None:
        """Say why what was observed cannot have been, if it cannot."""
        observed = judged.verdict.observed
        left_out = self._scope.left_out(judged.operator, judged.case)
        if left_out is not None and judged.ran:
            return f"'{observed}' was observed of a case that is {': '.join(left_out)}"
        if left_out is None and not judged.ran:
            return "it is in scope and was not run; expected not-run, or what was observed"
        if observed in FATAL_OUTCOMES and not self._isolated:
            return f"'{observed}' was observed in a run that it would have ended"
        return None

    def _expected(self, judged: Judged) -> tuple[Said, ...]:
        """Return what a verdict may say by what was observed, of a case as this one."""
        case, verdict = judged.case, judged.verdict
        left_out = self._scope.left_out(judged.operator, case)
        if left_out is not None:
            promised = left_out[0] == "unsupported" and self._scope.promises(verdict.operator, case)
            return (("fail", "undeclared") if promised else (left_out[0], None),)
        if verdict.observed in FATAL_OUTCOMES:
            return ((verdict.observed, None), (verdict.observed, "state"))
        if case.ambiguity is not None:
            return (("implementation-defined", None), *_failing(*sorted(DECISIVE_BREACHES)))
        return _TABLE[case.expects, verdict.observed]

    def _beside(self, judged: Judged) -> Iterator[str]:
        """Say how a rejection contradicts the verdict of the valid call beside it."""
        baseline = None if judged.case.baseline is None else self._judged.get(judged.case.baseline)
        if baseline is None or judged.verdict.observed != "rejected":
            return
        status, kind = baseline.said
        follows = {
            ("pass", None): status == "pass" or kind in _CREDITING,
            ("fail", "uncredited"): status != "pass" and kind != "bits" and not baseline.declined,
            **dict.fromkeys(_DECLINED, baseline.declined),
        }
        if not follows.get(judged.said, True):
            beside = f"the valid call {baseline.case.id} beside it has {_told(baseline.said)}"
            yield f"found {_told(judged.said)}, while {beside}; expected what follows from that"

    def _declining(self, judged: Judged) -> Iterator[str]:
        """Say where a declined call should count as a failure, or should not."""
        if not judged.declined:
            return
        verdict, case = judged.verdict, judged.case
        fails = judged.said[0] == "fail"
        if self._scope.claim is not None:
            if fails != self._scope.promises(verdict.operator, case):
                what = "leaves it out" if fails else "has it"
                yield f"found {_told(judged.said)}, while the claim {what}"
            return
        types = {(verdict.operator, each) for each in (case.type, *case.index_types)}
        unseen = set() if self._sees_all else types - self._called
        whole = bool(types & (self._declined | unseen))
        if whole == fails and (self._sees_all or not fails):
            found = f"found {_told(judged.said)}, while "
            other = "every call" if whole else "not every call"
            yield f"{found}{other} of {verdict.operator} with {case.type} was declined"


def _not_run(verdict: Verdict) -> Iterator[str]:
    if verdict.observed != "not-run":
        yield f"found not-run where '{verdict.observed}' was observed; expected 'not-run'"
    if verdict.kind is not None:
        yield f"found not-run of kind '{verdict.kind}'; expected none"


def _rejection(judged: Judged) -> Iterator[str]:
    """Say where a verdict names no one who rejected, or another baseline than that of its case."""
    verdict = judged.verdict
    rejected = verdict.observed == "rejected" and judged.said[1] != "protocol"
    if rejected != (verdict.rejected_by is not None):
        found = verdict.rejected_by or "nobody"
        yield f"rejected_by: found {found} where '{verdict.observed}' was observed"
    expected = judged.case.baseline if judged.said[1] == "uncredited" else None
    if verdict.attributed_to != expected:
        yield f"attributed_to: found {verdict.attributed_to}; expected {expected}"


def _detail(judged: Judged) -> Iterator[str]:
    """Say where a verdict lacks a detail, or has one that it should not; what it says is not read.

    A failure says why, and where a valid call passes there is nothing to say.
    """
    verdict = judged.verdict
    if judged.said[0] == "fail" and not verdict.detail:
        yield f"found no detail of {_told(judged.said)}; expected why"
    if judged.said == ("pass", None) and verdict.observed == "outputs" and verdict.detail:
        yield f"found pass, with the detail '{verdict.detail[:60]}'; expected none"


def _hidden_bits(judged: Judged) -> Iterator[str]:
    """Say where bits alone are said to differ in outputs of which values hide none.

    A failure of bits does not block, so that any other would be one in a tampered certificate.
    """
    case = judged.case
    called = case if case.baseline is None or case.outputs else judged.operator.cases[case.baseline]
    if judged.said == ("fail", "bits") and not any(each.type in FLOATS for each in called.outputs):
        yield "found fail (bits), while of outputs of these types equal values have equal bits"


def _told(said: Said) -> str:
    status, kind = said
    return status if kind is None else f"{status} ({kind})"
