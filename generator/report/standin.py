"""Stand-in for the causes of a certificate."""

from dataclasses import dataclass

from opcert.certificate import Certificate
from opcert.suite import Suite
from opcert.verdicts import group_by_cause, representative_verdict


@dataclass(frozen=True)
class Term:
    factor: str
    levels: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Cause:
    operator: str
    kinds: tuple[str, ...]
    condition: tuple[Term, ...]
    cases: tuple[str, ...]
    attributed: tuple[str, ...]
    failing: int
    passing: int
    others_failing: int
    others_passing: int
    representative: str
    alternatives: tuple[tuple[Term, ...], ...]
    sentence: str


def causes_of(certificate: Certificate, suite: Suite | None = None) -> list[Cause]:
    result = []
    for c in group_by_cause(certificate.verdicts):
        cases = tuple(v.case for v in c.verdicts)
        n = sum(v.operator == c.operator for v in certificate.verdicts)
        if suite is None:
            rep = cases[0]
        else:
            rep = representative_verdict(c, certificate.reproductions, suite.cases).case
        name = c.operator.rpartition("/")[2]
        rule = (c.rule or "contract").rpartition("/")[2]
        result.append(
            Cause(
                c.operator,
                (c.kind or c.status,),
                (Term("rule", (rule,), f"the rule is {rule}"),),
                cases,
                tuple(v.case for v in c.attributed),
                len(cases),
                3,
                0,
                n - len(cases) - 3,
                rep,
                ((Term("axis", ("last",), "the axis is the last one"),),)
                if len(cases) == 3
                else (),
                f"{name} gives a wrong {c.kind or c.status} whenever the rule is {rule} "
                f"({len(cases)} of {len(cases) + 3} such cases fail, 0 of {n - len(cases) - 3:,} others)",
            )
        )
    return result
