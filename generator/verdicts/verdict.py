"""Vector + outcome -> verdict, without names and folders of the machine."""

import getpass
import re
import site
import socket
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import ConfigDict, Field

from opcert.accuracy.bounds import Accuracy
from opcert.run.comparison import Difference, FailureKind
from opcert.run.outcome import FATAL_OUTCOMES, Observed, Outcome, Rejecter
from opcert.run.wrong_elements import WrongElements
from opcert.suite.format import IndexedCase

# An absolute path and its last part: of POSIX, of a file URL, of Windows. A path below /dev is a
# device, which has the same name on any machine.
_PATH = re.compile(
    r"(?:(?<=file://)|(?<![\w./\\<>~-]))(?!/dev/)/(?:[\w.@+,=~-]+/)+([\w.@+,=~-]*)"
    r"|(?<!\w)[A-Za-z]:\\(?:[^\\/:*?\"<>|\s]+\\)*([^\\/:*?\"<>|\s]*)"
)
# Names that identify nobody, and the minimum length: shorter names match ordinary words.
_GENERIC_NAMES = ("localhost", "root", "user")
_SHORTEST_NAME = 3

Replacement = str | Callable[[re.Match[str]], str]


def redact_text(text: str) -> str:
    """Return `text` with placeholders for known folders, other absolute paths, host and user."""
    if text:
        for pattern, replacement in _replacements():
            text = re.sub(pattern, replacement, text)
    # A backend may raise text with surrogates, which no file can hold.
    return text.encode(errors="replace").decode()


def redact_outcome(outcome: Outcome) -> Outcome:
    """Return an outcome with redacted texts, fit for a certificate."""
    fault = outcome.fault
    return replace(
        outcome,
        reason=redact_text(outcome.reason),
        log=redact_text(outcome.log),
        lines=[*map(redact_text, outcome.lines)],
        fault=None if fault is None else replace(fault, text=redact_text(fault.text)),
    )


@cache
def _replacements() -> Sequence[tuple[str | re.Pattern[str], Replacement]]:
    """Return the patterns to replace, in order: known folders, other paths, host and user."""
    packages = [*site.getsitepackages(), site.getusersitepackages()]
    known = {
        tempfile.gettempdir(): "<temp>",
        **dict.fromkeys((sys.prefix, sys.base_prefix), "<python>"),
        **dict.fromkeys(packages, "<packages>"),
    }
    # A process may have no home, and its current folder may have been removed.
    with suppress(OSError, RuntimeError):
        known[str(Path.home())] = "<home>"
    with suppress(OSError):
        known[str(Path.cwd())] = "<here>"
    folders = {
        form: placeholder
        for path, placeholder in known.items()
        for form in (path, str(Path(path).resolve()))
        # These contain the paths of every system, and identify nothing.
        if form not in (Path(form).anchor, "/usr")
    }
    host = socket.gethostname()
    names = {host: "<host>", host.partition(".")[0]: "<host>"}
    # A process may run under a user without a name, as in a container.
    with suppress(OSError, KeyError, ImportError):
        names.setdefault(getpass.getuser(), "<user>")
    return [
        # Inner folders first, so that the longest known prefix is replaced.
        *(
            (rf"{re.escape(f)}(?![\w-])", folders[f])
            for f in sorted(folders, key=len, reverse=True)
        ),
        (_PATH, lambda match: f"<path>/{match[1] or match[2] or ''}"),
        *(
            (rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", placeholder)
            for name, placeholder in names.items()
            if name not in _GENERIC_NAMES and len(name) >= _SHORTEST_NAME
        ),
    ]


Status = Literal[
    "pass",
    "fail",
    "unsupported",
    "crash",
    "hang",
    "not-run",
    "waived",
    "out-of-claim",
    "implementation-defined",
]
STATUSES: tuple[Status, ...] = get_args(Status)
FAILURE_STATUSES = ("fail", "crash", "hang")
FAILURE_KINDS: tuple[FailureKind, ...] = get_args(FailureKind)
# What a waiver can name; crashes and hangs have no kind, so their statuses are added.
WAIVABLE_KINDS = (*FAILURE_KINDS, "crash", "hang")

# What opcert requires of a backend beyond the operator's document, by kind of failure. Such a
# failure violates opcert's contract, not a rule of the document.
BACKEND_CONTRACT: Mapping[FailureKind, str] = {
    "type": "A backend returns a list or tuple of NumPy arrays.",
    "mutated-input": "A backend leaves its inputs, and the memory between their elements, as they "
    "are.",
    "aliased-output": "An output shares no memory with an input, and keeps its "
    "value after it is returned.",
    "unstable": "The same call gives the same result each time.",
    "state": "The result of a call does not depend on earlier calls.",
    "undeclared": "A backend declares beforehand what it does not support, unless that is a whole "
    "data type of an operator.",
    "protocol": "A worker or driver answers each call as the protocol says.",
}
# A century: any sum of such times has a finite number of seconds.
_MAX_SECONDS = 3.2e9
# These breaches fail an ambiguous case and a declined one too: no document requires them. The
# values of an ambiguous call's outputs are not judged, nor whether they are stable.
DECISIVE_BREACHES: frozenset[FailureKind] = frozenset(
    {"type", "mutated-input", "aliased-output", "protocol"}
)


@dataclass(frozen=True)
class BeforeWaiver:
    """The status, kind and detail of a failure before it was waived."""

    status: Status
    kind: FailureKind | None
    detail: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a verdict follows from, besides what was observed and who rejected the call.

    `reason` is the text of an exception, of the end of the process, or why the case was not run.
    `kind` and `text` are those of the worst fault, `lines` are what the backend printed, and more
    for who reads. `confirmation` states what calls in fresh processes showed, and `is_state`
    whether they showed that the failure depends on earlier calls. `accuracy` is that of computed
    outputs, and `elements` what the wrong ones have in common.
    """

    # Read by pydantic when it parses a certificate.
    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)

    reason: str = ""
    kind: FailureKind | None = None
    text: str = ""
    lines: tuple[str, ...] = ()
    confirmation: str = ""
    is_state: bool = False
    accuracy: Accuracy | None = None
    elements: WrongElements | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one case.

    `observed` is what the backend did. `rejected_by` is who rejected the call, if it was rejected.
    `attributed_to` is the baseline whose failure keeps a rejection from being credited.
    `before_waiver` is the failure that was waived. `evidence` is the rest of what the verdict
    follows from, if there is any. `seconds` is the time of the case's calls with their checks; it
    is 0 for a case that was not run, and equal verdicts may differ in it.
    """

    # Read by pydantic when it parses a certificate.
    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)

    case: str
    operator: str
    status: Status
    kind: FailureKind | None
    observed: Observed
    rules: tuple[str, ...]
    detail: str
    rejected_by: Rejecter | None = None
    attributed_to: str | None = None
    before_waiver: BeforeWaiver | None = None
    evidence: Evidence | None = None
    seconds: Annotated[float, Field(ge=0, le=_MAX_SECONDS)] = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        """Check that a failure was waived, and nothing else.

        Raises:
            ValueError: it was not.
        """
        before = self.before_waiver
        if (self.status == "waived") != (before is not None and before.status in FAILURE_STATUSES):
            raise ValueError("a failure as 'before_waiver' of a waived verdict, and of no other")

    @property
    def summary(self) -> str:
        """The first line of the detail, and of a message of several lines the last one as well.

        A runtime often says last what it found, after the places in its own code.
        """
        lines = takewhile(lambda line: not line.startswith("    "), self.detail.splitlines())
        first, *others = [*filter(str.strip, lines)] or [""]
        return f"{first} ... {others[-1]}" if others else first

    @property
    def outcome(self) -> Outcome:
        """The outcome that was judged, without its outputs."""
        given = self.evidence or Evidence()
        fault = (
            None
            if given.kind is None
            else Difference(given.kind, given.text, elements=given.elements)
        )
        return Outcome(
            self.observed,
            reason=given.reason,
            fault=fault,
            rejected_by=self.rejected_by if self.observed == "rejected" else None,
            lines=given.lines,
            accuracy=given.accuracy,
        )

    def confirmed(self, confirmation: str, *, is_state: bool) -> Self:
        """Return the verdict of a failure after calls in fresh processes, the first time."""
        given = self.evidence or Evidence()
        if given.confirmation:
            return self
        evidence = replace(given, confirmation=confirmation, is_state=is_state)
        kind, detail = self.kind, f"{self.detail}\n    {confirmation}"
        if is_state:
            # The contract of its former kind is not what it breaks.
            lines = [line for line in detail.splitlines() if not line.startswith(CONTRACT_LINE)]
            kind, detail = "state", cite_contract("state", "\n".join(lines))
        return replace(self, kind=kind, detail=detail, evidence=evidence)

    @property
    def failure(self) -> str | None:
        """The kind of a failure, its status if it has no kind, None for any other verdict."""
        return self.kind or self.status if self.status in FAILURE_STATUSES else None

    @property
    def counts_for_rules(self) -> bool:
        """Whether the verdict is evidence about the rules that its case exercises."""
        failed = self.status in FAILURE_STATUSES or self.status == "waived"
        return not failed or (self.kind not in BACKEND_CONTRACT and self.kind != "uncredited")

    @property
    def is_declined(self) -> bool:
        """Whether the backend declined the call, or the baseline of a rejected call."""
        outcomes = (("unsupported", None), ("fail", "undeclared"))
        return self.observed != "not-run" and (self.status, self.kind) in outcomes

    @property
    def is_left_to_run(self) -> bool:
        """Whether the run ended before the case; one that was given up has the reason as detail."""
        return self.status == "not-run" and not self.detail

    def with_waiver(self, explanation: str) -> Self:
        """Return the verdict after a waiver was applied to it."""
        return replace(
            self,
            status="waived",
            detail=f"{explanation}: {self.detail}",
            before_waiver=BeforeWaiver(self.status, self.kind, self.detail),
        )

    def without_waiver(self) -> Self:
        """Return the verdict before a waiver was applied to it."""
        if (before := self.before_waiver) is None:
            return self
        return replace(
            self, status=before.status, kind=before.kind, detail=before.detail, before_waiver=None
        )


def judge(operator: str, case: IndexedCase, outcome: Outcome, baseline: Verdict | None) -> Verdict:
    """Judge the outcome of a case.

    `baseline` is the verdict of a negative case's baseline. Without it, every rejection is
    credited.
    """
    status: Status
    kind: FailureKind | None
    attributed_to, fault = None, outcome.fault
    # Neither an open result nor a call that is declined excuses a breach.
    is_excused = case.ambiguity is not None or outcome.observed == "unsupported"
    if outcome.observed in FATAL_OUTCOMES:
        # No reading of a document requires a crash, so an ambiguity does not excuse one.
        status, kind, detail = outcome.observed, None, outcome.reason
    elif outcome.observed == "not-run":
        status, kind, detail = "not-run", None, outcome.reason
    elif fault is not None and fault.kind in DECISIVE_BREACHES and is_excused:
        status, kind, detail = "fail", fault.kind, fault.text
    elif case.expects == "rejection":
        status, kind, detail = _judge_rejection(case, outcome, baseline)
        if kind == "uncredited" and baseline is not None:
            attributed_to = baseline.case
    else:
        status, kind, detail = _judge_outputs(outcome)
    decided = outcome.observed in (*FATAL_OUTCOMES, "not-run") or kind in DECISIVE_BREACHES
    if case.ambiguity is not None and not decided:
        expected = "a rejection" if case.expects == "rejection" else "outputs"
        detail = f"ambiguous: {case.ambiguity}; the reference gives {expected}; {status}: {detail}"
        status, kind, attributed_to = "implementation-defined", None, None
    evidence = Evidence(outcome.reason, lines=tuple(outcome.lines), accuracy=outcome.accuracy)
    if fault is not None:
        evidence = replace(evidence, kind=fault.kind, text=fault.text, elements=fault.elements)
    return Verdict(
        case=case.id,
        operator=operator,
        status=status,
        kind=kind,
        observed=outcome.observed,
        rules=case.rules,
        detail=cite_contract(kind, detail),
        rejected_by=outcome.rejected_by,
        attributed_to=attributed_to,
        evidence=None if evidence == Evidence() else evidence,
    )


def _judge_outputs(outcome: Outcome) -> tuple[Status, FailureKind | None, str]:
    """Judge a valid call."""
    if outcome.fault is not None and outcome.fault.kind == "protocol":
        return "fail", "protocol", outcome.fault.text
    if outcome.observed == "unsupported":
        return "unsupported", None, outcome.reason
    if outcome.observed == "rejected":
        return "fail", "rejected", f"rejected a valid call: {outcome.reason}"
    if outcome.fault is not None:
        return "fail", outcome.fault.kind, outcome.fault.text
    return "pass", None, ""


def _judge_rejection(
    case: IndexedCase, outcome: Outcome, baseline: Verdict | None
) -> tuple[Status, FailureKind | None, str]:
    """Judge a call that violates a rule."""
    if outcome.observed == "unsupported":
        return "unsupported", None, outcome.reason
    if outcome.observed == "outputs":
        return "fail", "accepted", f"accepted a call that violates {case.violated_rule}"
    if outcome.fault is not None:
        return "fail", outcome.fault.kind, outcome.fault.text
    # A backend that also rejects the valid baseline may not check the rule at all.
    if baseline is None or baseline.status == "pass" or baseline.kind == "bits":
        return "pass", None, f"rejected: {outcome.reason}"
    if baseline.status == "unsupported" or baseline.kind == "undeclared":
        text = f"rejected, but the backend does not support the baseline {baseline.case} either"
        return "unsupported", None, text
    first_line, _, _ = baseline.detail.partition("\n")
    text = f"rejected, but the baseline {baseline.case} did not pass: {first_line}"
    return "fail", "uncredited", text


# How the line of a detail that cites the contract of a backend begins.
CONTRACT_LINE = "    contract: "


def cite_contract(kind: FailureKind | None, detail: str) -> str:
    """Return the detail of a failure, with the sentence of the contract that it violates."""
    if kind is None or kind not in BACKEND_CONTRACT:
        return detail
    first_line, newline, rest = detail.partition("\n")
    return f"{first_line}\n{CONTRACT_LINE}{BACKEND_CONTRACT[kind]}{newline}{rest}"


def unverified_reasons(verdicts: Collection[Verdict], claimed: Collection[str] = ()) -> list[str]:
    """Return a message for each operator that ran or is `claimed`, but has no pass."""
    verified = {
        verdict.operator
        for verdict in verdicts
        if verdict.status == "pass" or (verdict.status == "fail" and verdict.kind == "bits")
    }
    if not verified:
        if {verdict.status for verdict in verdicts} == {"out-of-claim"}:
            return ["nothing was verified: the claim has none of the calls"]
        return ["nothing was verified"]
    in_scope = {
        verdict.operator
        for verdict in verdicts
        if verdict.observed != "not-run" or verdict.operator in claimed
    }
    return [f"nothing of {name} was verified" for name in sorted(in_scope - verified)]
