"""The scope of a run as a report states it: selected, claimed, declared out, excluded, waived."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from opcert.certificate.certificate import Certificate
from opcert.verdicts.verdict import Status

# A filter by text has this many characters of a reason; the list has no more of some.
_FILTER_LENGTH = 150


@dataclass(frozen=True)
class ScopeReason:
    """A reason why cases do not count, the number of these cases, and the filter that lists them.

    `count` is 0 where the reason is not bound to cases.
    """

    text: str
    count: int = 0
    filter: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ScopePart:
    """One part of the scope: its name, a sentence, and the reasons with their cases."""

    name: str
    text: str
    reasons: Sequence[ScopeReason] = ()


def scope_parts(certificate: Certificate) -> Iterator[ScopePart]:
    """Yield what was selected, claimed, declared out of scope, declined and excluded."""
    selection, suite = certificate.selection, certificate.suite
    chosen = [
        f"{name.replace('_', ' ')} {value}" for name, value in selection if value not in ("*", None)
    ]
    of_suite = f"{len(certificate.verdicts):,} of the {suite.cases:,} cases of the suite"
    what = ", ".join(chosen) or "everything"
    yield ScopePart("Selected", f"{what[0].upper()}{what[1:]}: {of_suite}.")

    claim = certificate.claim
    if claim is None:
        yield ScopePart("Claimed", "There is no claim. The scope is what the backend declares.")
    else:
        names = ", ".join(claim.content.operators)
        text = f"{names}. The claim has the digest {claim.sha256[:12]}."
        yield ScopePart("Claimed", text, _reasons(certificate, "out-of-claim", ran=False))

    declared = certificate.backend.support
    if declared is None:
        text = "The backend declares nothing, so every operator and every call is in scope."
    else:
        text = f"The backend declares support of {_count(len(declared), 'operator')}."
    declared_out = _reasons(certificate, "unsupported", ran=False)
    if declared is not None and not declared_out:
        text += " No selected case is outside of it."
    yield ScopePart("Declared out", text, declared_out)

    declined = _reasons(certificate, "unsupported", ran=True)
    if declined:
        text = "The backend declined these calls when they were made; they are whole types."
        yield ScopePart("Declined", text, declined)

    excluded = [
        ScopeReason(f"{operator}: {', '.join(names)}")
        for operator, names in certificate.excluded.items()
    ]
    if excluded:
        text = "The claim or the declaration excludes these rules and levels."
        yield ScopePart("Excluded", text, excluded)
    else:
        yield ScopePart("Excluded", "No rule and no level is excluded.")


def _reasons(certificate: Certificate, status: Status, *, ran: bool) -> list[ScopeReason]:
    """Return the reasons of the verdicts with a status, the most frequent first."""
    counts = Counter(
        verdict.detail.partition("\n")[0]
        for verdict in certificate.verdicts
        if verdict.status == status and (verdict.observed != "not-run") is ran
    )
    return [
        ScopeReason(
            _shortened(text),
            count,
            {"status": status, "text": text[:_FILTER_LENGTH]},
        )
        for text, count in counts.most_common()
    ]


def _shortened(text: str) -> str:
    """Return a reason without the words that the name of the part says already."""
    for start in ("the declared support excludes ", "the claim excludes "):
        if text.startswith(start):
            return text.removeprefix(start)
    return text


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
