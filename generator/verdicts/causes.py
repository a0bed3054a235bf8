"""Failures -> causes: the combinations of levels that explain them, and a case that shows each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, product
from operator import itemgetter

from opcert.diagnosis.explanations import (
    Explanation,
    explain_failures,
    necessary_condition,
    separate_causes,
)
from opcert.diagnosis.table import BoolArray, Condition, LevelTable
from opcert.specification.files import SpecFile
from opcert.suite.operator_suite import ReadOnUse
from opcert.suite.suite import Suite
from opcert.verdicts.case_levels import CaseLevels, case_levels
from opcert.verdicts.cause_text import (
    EFFECTS,
    Cause,
    cause_text,
    easiest_to_read,
    unexplained,
)
from opcert.verdicts.condition_text import terms_of
from opcert.verdicts.dependence import Known, explained_by, known_case, known_in_run
from opcert.verdicts.reproduction import FreshCall, Reproduction
from opcert.verdicts.verdict import FAILURE_STATUSES, Verdict

# What one bug does to different calls. Other kinds are causes of their own, unless their conditions
# share terms.
_OF_ONE_BUG = {
    "count",
    "dtype",
    "shape",
    "value",
    "bits",
    "accuracy",
    "rejected",
    "unstable",
    "aliased-output",
}
# What a backend keeps shows where earlier calls differ from a case. The levels of the case alone
# cannot separate two causes of this.
_STATE = "state"
# Failures that no levels explain are listed with the cause of the most failures of their kind, if
# they are no more than this share of them: most often, its condition does not say exactly where it
# applies.
_MAX_UNEXPLAINED = 0.25
# The share of the failures of two kinds that a condition must match to be the cause of both, and
# the failures that it may explain less well than two conditions do: so many, or of the terms that
# both have a share of them, since the other terms may say no more than where the bug shows.
_SHARED, _TOLERANCE, _LOSS_OF_SHARED = 0.75, 3.0, 0.6
_SEVERE = ("crash", "hang")


class Diagnosis:
    """Finds the causes of the failures of a suite's cases."""

    def __init__(self, suite: Suite, specs: Mapping[str, SpecFile] | None = None) -> None:
        """Prepare for cases of `suite`; `specs` are by default those that it was generated from."""
        self.suite = suite
        self._given = specs
        self.known = ReadOnUse(suite.cases, partial(known_case, suite))
        # The levels of the cases of each operator.
        self.levels = ReadOnUse(suite.operators, self._levels)
        # What was searched last for an operator, and the result.
        self._last: dict[str, tuple[object, tuple[CaseLevels, list[_Draft]]]] = {}

    def causes(
        self,
        verdicts: Iterable[Verdict],
        reproductions: Mapping[str, Reproduction] | None = None,
        fresh: Mapping[str, Sequence[FreshCall]] | None = None,
    ) -> tuple[Cause, ...]:
        """Return the causes of all failures, the worst cause first.

        Crashes and hangs come first, failures of kind `bits` last; in between, causes with more
        failures come before causes with fewer, and failures that nothing explains after all. If one
        of the `reproductions` shows that a case fails alone, such a case represents its cause. The
        `fresh` calls of an operator, each with how it failed, count as further cases when
        conditions are compared.
        """
        by_operator: dict[str, list[Verdict]] = {}
        for verdict in verdicts:
            by_operator.setdefault(verdict.operator, []).append(verdict)
        causes = [
            cause
            for name, own in by_operator.items()
            for cause in self._operator_causes(
                name, own, reproductions or {}, (fresh or {}).get(name, ())
            )
        ]

        def order(cause: Cause) -> tuple[bool, bool, bool, int]:
            is_severe = any(kind in _SEVERE for kind in cause.kinds)
            return not is_severe, cause.kinds == ("bits",), not cause.figures, -len(cause.cases)

        return tuple(sorted(causes, key=order))

    def _operator_causes(
        self,
        name: str,
        verdicts: Sequence[Verdict],
        reproductions: Mapping[str, Reproduction],
        fresh: Sequence[FreshCall],
    ) -> list[Cause]:
        failures = [verdict for verdict in verdicts if verdict.status in FAILURE_STATUSES]
        failed = {verdict.case for verdict in failures}
        # An uncredited rejection follows from its baseline's failure.
        attributed = [verdict for verdict in failures if verdict.attributed_to in failed]
        followed = {verdict.case for verdict in attributed}
        by_kind: dict[str, list[str]] = {}
        for verdict in failures:
            if verdict.case not in followed:
                by_kind.setdefault(str(verdict.failure), []).append(verdict.case)
        causes: list[Cause] = []
        if _STATE in by_kind and any(r.relation for r in reproductions.values()):
            known = known_in_run(self.known, name, verdicts)
            causes, left = _related(name, known, by_kind.pop(_STATE), reproductions, attributed)
            by_kind |= {_STATE: left} if left else {}
        if not by_kind:
            return causes
        passed = [verdict.case for verdict in verdicts if verdict.status == "pass"]
        levels, drafts = self._searched(name, by_kind, passed, fresh)
        for draft in drafts:
            # What only fresh calls show is no failure of the run.
            if cases := levels.names(draft.explained):
                causes.append(_cause(levels, draft, cases, attributed, reproductions))
        return causes

    def _searched(
        self,
        name: str,
        by_kind: Mapping[str, Sequence[str]],
        passed: Sequence[str],
        fresh: Sequence[FreshCall],
    ) -> tuple[CaseLevels, list["_Draft"]]:
        """Return the causes of failures as masks, with the levels of their cases.

        The search takes seconds for thousands of cases, so the last one of each operator is kept.
        """
        searched = {kind: (*cases,) for kind, cases in by_kind.items()}, (*passed,), (*fresh,)
        if name in self._last and self._last[name][0] == searched:
            return self._last[name][1]
        levels = self.levels[name].with_fresh(fresh)
        of_suite = levels.operator.cases
        fresh = [call for call in fresh if call.name in levels.numbers]
        counted = {}
        for kind, cases in by_kind.items():
            fail = [*cases, *(call.name for call in fresh if call.failure == kind)]
            # A kind of failure that only valid calls have says nothing about invalid ones, and vice
            # versa.
            expectations = {of_suite[case].expects for case in cases}
            passing = [case for case in passed if of_suite[case].expects in expectations]
            visible = [c for c in (*cases, *passing) if levels.can_show(kind, of_suite[c])]
            visible += [call.name for call in fresh if call.can_show(kind)]
            # Fresh calls are valid.
            if "outputs" in expectations:
                passing += [call.name for call in fresh if call.failure is None]
            counted[kind] = levels.mask(fail), levels.mask(passing), levels.mask(visible)
        # What makes every call fail in one way explains failures of another kind, too.
        known = [
            condition
            for failing, passing, visible in counted.values()
            for condition in separate_causes(levels.table, failing, passing & visible)
        ]
        drafts: list[_Draft] = []
        for kind, masks in counted.items():
            drafts += _drafts(levels, kind, *masks, known)
        self._last[name] = searched, (levels, _merged(drafts, levels))
        return self._last[name][1]

    def _levels(self, name: str) -> CaseLevels:
        return case_levels(self.suite.operators[name], self.specs.get(name))

    @cached_property
    def specs(self) -> Mapping[str, SpecFile]:
        """The specs of the suite by operator."""
        return self.suite.spec_files if self._given is None else self._given


def _related(
    operator: str,
    known: Mapping[str, Known],
    dependent: Sequence[str],
    reproductions: Mapping[str, Reproduction],
    attributed: Sequence[Verdict],
) -> tuple[list[Cause], list[str]]:
    """Return the causes of failures after related calls, and the failures that have none."""
    causes, left = [], list(dependent)
    for case, reproduction in reproductions.items():
        relation = reproduction.relation
        if case not in left or relation is None:
            continue
        explained = {case, *explained_by(relation, left, known)}
        cases = tuple(other for other in left if other in explained)
        left = [other for other in left if other not in explained]
        effect = "fails" if reproduction.kind in (None, _STATE) else EFFECTS[reproduction.kind]
        causes.append(
            Cause(
                operator=operator,
                kinds=(_STATE,),
                cases=cases,
                attributed=tuple(v.case for v in attributed if v.attributed_to in explained),
                failing=len(cases),
                representative=case,
                statement=f"{operator.partition('/')[2]} {effect} after {relation.text}",
                figures=relation.figures,
            )
        )
    most = max(causes, key=lambda cause: len(cause.cases), default=None)
    if most is not None and left and len(left) <= _MAX_UNEXPLAINED * len(most.cases):
        figures = f"{most.figures}, {unexplained(len(left))}"
        whole = replace(most, cases=(*most.cases, *left), unmatched=(*left,), figures=figures)
        return [whole if cause is most else cause for cause in causes], []
    return causes, left


@dataclass(frozen=True)
class _Draft:
    """A cause as masks of cases: those it explains, and all that fail or pass for its kinds."""

    kinds: tuple[str, ...]
    condition: Condition
    explained: BoolArray
    failing: BoolArray
    passing: BoolArray
    alternatives: tuple[Condition, ...]

    @classmethod
    def of(cls, kind: str, found: Explanation, failing: BoolArray, passing: BoolArray) -> "_Draft":
        """Return what explains failures of one kind."""
        return cls((kind,), found.condition, found.explained, failing, passing, found.alternatives)


def _drafts(
    levels: CaseLevels,
    kind: str,
    failing: BoolArray,
    passing: BoolArray,
    visible: BoolArray,
    known: Sequence[Condition],
) -> list[_Draft]:
    """Return the causes of the failures of one kind.

    A pass says nothing where the failure need not be `visible`. A condition that rests on failures
    in such cases is compared with all passes.
    """
    table, counted, left = levels.table, passing & visible, failing.copy()
    drafts = []
    for found in explain_failures(table, failing, counted, known):
        is_visible = 2 * (found.explained & visible).sum() >= found.explained.sum()
        passes = (table.matching(found.condition) & passing).sum()
        if found.condition and (is_visible or 2 * passes <= found.explained.sum()):
            drafts.append(_Draft.of(kind, found, failing & visible, counted))
            left &= ~found.explained
    if (hidden := left & ~visible).any():
        for found in explain_failures(table, hidden, passing, known):
            if found.condition:
                drafts.append(_Draft.of(kind, found, hidden, passing))
                left &= ~found.explained
    rest = _Draft((kind,), (), left, failing, counted, ())
    most = max([*drafts, rest], key=lambda draft: (bool(draft.condition), draft.explained.sum()))
    if kind == _STATE:
        return [replace(most, explained=failing)]
    if most is not rest and left.sum() <= _MAX_UNEXPLAINED * most.explained.sum():
        whole = replace(most, explained=most.explained | left)
        return [whole if draft is most else draft for draft in drafts]
    return [*drafts, rest] if left.any() else drafts


def _merged(drafts: Sequence[_Draft], levels: CaseLevels) -> list[_Draft]:
    """Merge two causes as long as one condition explains the failures of both."""
    drafts = list(drafts)
    while True:
        candidates = (
            (first, second, merged)
            for first, second in combinations(drafts, 2)
            if (merged := _merge(first, second, levels.table)) is not None
        )
        if (best := next(candidates, None)) is None:
            return drafts
        first, second, merged = best
        drafts = [merged if d is first else d for d in drafts if d is not second]


def _merge(first: _Draft, second: _Draft, table: LevelTable) -> _Draft | None:
    """Return the cause of the failures of both, if one condition explains them as well.

    What two conditions share makes one cause even of kinds that one bug seldom has: a rule that is
    not checked makes some calls return outputs, and others crash; and integers that a backend
    narrows make valid calls fail, and invalid calls pass.
    """
    kinds = {*first.kinds, *second.kinds}
    own = [draft.condition for draft in (first, second) if draft.condition]
    explained = first.explained | second.explained
    # The conditions to try, and whether they have a term that both have.
    tried: dict[Condition, bool] = {}
    shared: Condition = ()
    if len(own) == 2 and (_STATE not in kinds or own[0] == own[1]):
        shared = _shared_terms(first.condition, second.condition, table)
        if not kinds <= _OF_ONE_BUG:
            shared = tuple(term for term in shared if term in own[0] and term in own[1])
        tried |= dict.fromkeys((shared, *_parts(shared)), True)
    if kinds <= _OF_ONE_BUG:
        for condition in (*own, *(part for whole in own for part in _parts(whole))):
            tried.setdefault(condition, not {*condition}.isdisjoint(shared))
    tried.pop((), None)
    # One of them may count valid calls, and the other one invalid calls.
    passing = (
        first.passing & second.passing if kinds <= _OF_ONE_BUG else first.passing | second.passing
    )
    separately = sum(
        _loss(table.matching(draft.condition), draft.explained, draft.passing)
        for draft in (first, second)
        if draft.condition
    )
    candidates = []
    for condition, is_shared in tried.items():
        tolerance = max(_TOLERANCE, _LOSS_OF_SHARED * explained.sum() * is_shared)
        matched = table.matching(condition)
        shares = [(matched & d.explained).sum() / d.explained.sum() for d in (first, second)]
        loss = _loss(matched, explained, passing)
        if min(shares) >= _SHARED and loss <= separately + tolerance:
            candidates.append((loss, condition))
    if not candidates:
        return None
    condition = min(candidates, key=itemgetter(0))[1]
    # The kind of most failures comes first.
    ordered = sorted((first, second), key=lambda d: -int(d.explained.sum()))
    names = tuple(dict.fromkeys(kind for draft in ordered for kind in draft.kinds))
    return _Draft(names, condition, explained, first.failing | second.failing, passing, ())


def _parts(condition: Condition) -> list[Condition]:
    """Return what is left of a condition without some of its terms, the longest first."""
    counts = range(len(condition) - 1, 0, -1)
    return [part for count in counts for part in combinations(condition, count)]


def _shared_terms(first: Condition, second: Condition, table: LevelTable) -> Condition:
    """Return the terms with the factors that two conditions have, and the levels of both.

    Levels of which none is common to both are more likely to be two causes.
    """
    shared = []
    for (name, one), (other_name, other) in product(first, second):
        if name == other_name and ({*one} <= {*other} or {*other} <= {*one}):
            shared.append((name, tuple(x for x in table.factors[name] if x in (*one, *other))))
    return tuple(shared)


def _loss(matched: BoolArray, explained: BoolArray, passing: BoolArray) -> float:
    return float((explained & ~matched).sum() + 2 * (matched & passing).sum())


def _cause(
    levels: CaseLevels,
    draft: _Draft,
    cases: Sequence[str],
    attributed: Sequence[Verdict],
    reproductions: Mapping[str, Reproduction],
) -> Cause:
    operator, matched = levels.operator, levels.table.matching(draft.condition)
    own, failed = levels.mask(operator.cases), {*cases}
    (failing, passing, others_failing, others_passing), fresh = (
        [
            int((mask & end & part).sum())
            for mask in (matched, ~matched)
            for end in (draft.failing, draft.passing)
        ]
        for part in (own, ~own)
    )
    typical = levels.names(draft.explained & matched) or cases
    tried = [case for case in cases if case in reproductions]
    alone = [case for case in tried if reproductions[case].reproduced == "alone"]
    cause = Cause(
        operator=operator.index.operator,
        kinds=draft.kinds,
        cases=tuple(cases),
        failing=failing,
        representative=easiest_to_read(operator, alone or tried or typical)[0],
        condition=terms_of(draft.condition, levels.table),
        unmatched=tuple(levels.names(draft.explained & ~matched)),
        attributed=tuple(v.case for v in attributed if v.attributed_to in failed),
        passing=passing,
        others_failing=others_failing,
        others_passing=others_passing,
        alternatives=tuple(terms_of(other, levels.table) for other in draft.alternatives),
    )
    common: Condition = ()
    if not draft.condition:
        common = necessary_condition(levels.table, draft.explained, draft.passing)
    having_it = int((levels.table.matching(common) & draft.passing & own).sum())
    statement, figures = cause_text(cause, fresh, terms_of(common, levels.table), having_it)
    return replace(cause, statement=statement, figures=figures)
