"""What a certificate says of its run x the suite and the verdicts -> what of it cannot be."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from types import SimpleNamespace

from pydantic import JsonValue

from opcert.generator.certificate.certificate import Certificate, Run
from opcert.generator.errors import BackendError
from opcert.generator.run.claims import claim_mistakes
from opcert.generator.run.outcome import ENDINGS
from opcert.generator.run.support import Support, support_of
from opcert.generator.suite.suite import Suite
from opcert.generator.verdicts.anonymous import names_a_folder
from opcert.generator.verdicts.certification import may_be_repeated
from opcert.generator.verification.flaws import Flaw
from opcert.generator.verification.verdict_checks import Judged

# Before this year there was no opcert.
_BEGAN = "2026-01-01T00:00:00+00:00"
# How far the clock of another machine may be ahead.
_AHEAD = timedelta(days=1)
# Kinds of failures that can show once a case has been right three times.
_LATER = ("unstable", "aliased-output", "mutated-input", "state")


def date_flaws(certificate: Certificate, now: datetime) -> Iterator[Flaw]:
    """Yield which moments there are not, lie ahead, or come before the one that they follow."""
    former = _BEGAN
    moments = {
        "platform.date": certificate.platform.date,
        **{f"run.resumed.{i}": each for i, each in enumerate(certificate.run.resumed)},
    }
    for place, moment in moments.items():
        try:
            ahead = datetime.fromisoformat(moment) - now > _AHEAD
        except ValueError:
            yield Flaw(place, f"found {moment}; expected a moment that there is")
            continue
        if ahead:
            yield Flaw(place, f"found {moment}, which is in the future")
        if moment < former:
            yield Flaw(place, f"found {moment}; expected {former} or later")
        former = moment


def backend_flaws(certificate: Certificate) -> Iterator[Flaw]:
    """Yield what is said of a backend that opcert would not have written."""
    backend = certificate.backend
    if backend.delivery == "packed" and not certificate.run.isolated:
        text = "found packed, of a run in opcert's process; expected as drawn"
        yield Flaw("backend.delivery", text)
    said = {f"options.{key}": value for key, value in backend.options.items()}
    for place, value in {**said, "reuse": backend.reuse}.items():
        if any(map(names_a_folder, _texts(value))):
            yield Flaw(f"backend.{place}", "names a folder of a machine; expected a mark for it")


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def declaration_flaws(certificate: Certificate, suite: Suite) -> Iterator[Flaw]:
    """Yield what declaration and claim name that there is not, so that a run would not begin."""
    declared = Support(certificate.backend.support).described()
    try:
        support_of(SimpleNamespace(support=declared), suite)
    except BackendError as error:
        yield Flaw("backend.support", str(error).removeprefix("support: "))
    if certificate.claim is not None:
        content, chosen = certificate.claim.content, certificate.selection.operator
        for place, text in claim_mistakes(content, suite, chosen):
            yield Flaw(".".join(("claim.content", *map(str, place))), text)


def repeated_flaws(run: Run, suite: Suite, judged: Sequence[Judged]) -> Iterator[Flaw]:
    """Yield which cases cannot have been called very often, and which has to have been.

    It is the first of an operator that is right and moves a few elements; `judged` are the verdicts
    in the suite's order.
    """
    cases = suite.cases
    named = [each for each in run.repeated if each in cases and may_be_repeated(cases[each][1])]
    for case in run.repeated:
        if case not in named:
            text = f"found {case}; expected valid calls of the suite that move a few elements"
            yield Flaw("run.repeated", text)
    operators = [cases[case][0].index.operator for case in named]
    for operator, count in Counter(operators).items():
        if count > 1:
            yield Flaw("run.repeated", f"found {count} cases of {operator}; expected one")
    wanted = sorted(operators, key=list(suite.operators).index)
    if operators != wanted:
        text = f"found cases of {', '.join(operators)}; expected them in the order of the suite"
        yield Flaw("run.repeated", text)
    of = dict(zip(operators, named, strict=True))
    for name in suite.operators:
        ours = [each for each in judged if each.operator.index.operator == name]
        if text := _not_the_first(run, ours, of.get(name)):
            yield Flaw("run.repeated", text)


def _not_the_first(run: Run, judged: Sequence[Judged], named: str | None) -> str:
    """Say why the case of an operator that is `named` cannot be the one that was repeated."""
    right = next((each for each in judged if _passed(each)), None)
    if right is None:
        first, before = "none, or a case that was run", judged
    else:
        first, before = f"{right.case.id}, the first that passed", judged[: judged.index(right) + 1]
    if named is None:
        found = f"none of {right.verdict.operator}" if right else ""
    elif all(named not in _called(each) for each in before):
        found = named
    else:
        own = next((each for each in before if each.case.id == named), None)
        found = "" if own is None or run.resumed or _right_at_first(own) else named
    return f"found {found}; expected {first}" if found else ""


def _called(judged: Judged) -> tuple[str | None, ...]:
    """Return the valid calls that a case makes; one beside it need not be among those chosen."""
    return judged.case.id, judged.case.twin if judged.ran else None


def _passed(judged: Judged) -> bool:
    return judged.said == ("pass", None) and may_be_repeated(judged.case)


def _right_at_first(judged: Judged) -> bool:
    """Whether a verdict may be one of a case that was right before it was called very often."""
    # An interrupt may come behind the calls, and before the verdict.
    return judged.said[0] in ("pass", "not-run", *ENDINGS) or (
        judged.said[0] == "fail" and judged.said[1] in _LATER
    )
