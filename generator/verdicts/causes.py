"""Failures -> causes: the combinations of levels that explain them, and a case that shows each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations

import numpy as np

from opcert.diagnosis import (
    BoolArray,
    Condition,
    explain_failures,
    necessary_condition,
    separate_causes,
)
from opcert.specification.files import SpecFile
from opcert.suite.operator_suite import ReadOnUse
from opcert.suite.suite import Suite
from opcert.verdicts.case_levels import CaseLevels, case_levels
from opcert.verdicts.cause_text import EFFECTS, Cause, cause_text, easiest_to_read, terms_of
from opcert.verdicts.dependence import Known, explained_by, known_case, known_in_run
from opcert.verdicts.reproduction import FreshCall, Reproduction
from opcert.verdicts.verdict import FAILURE_STATUSES, Verdict

# What one bug does to different calls. Other kinds are causes of their own.
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
# the failures that it may explain less well than two conditions do.
_SHARED, _TOLERANCE = 0.75, 3.0
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
            could = [of_suite[case] for case in passed if of_suite[case].expects in expectations]
            show = [of_suite[case] for case in cases]
            visible = {case.id for case in (*could, *show) if levels.can_show(kind, case)}
            visible |= {call.name for call in fresh if call.failure == kind and call.shows}
            passing = [case.id for case in could]
            # Fresh calls are valid.
            if "outputs" in expectations:
                visible |= {call.name for call in fresh if call.could_fail(kind)}
                passing += [call.name for call in fresh if call.failure is None]
            counted[kind] = _counted(*map(levels.mask, (fail, passing, visible)))
        # What makes every call fail in one way explains failures of another kind, too.
        known = [
            condition
            for parts in counted.values()
            for failing, passing in parts
            for condition in separate_causes(levels.table, failing, passing)
        ]
        drafts: list[_Draft] = []
        for kind, parts in counted.items():
            drafts += _drafts(levels, kind, parts, known)
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


def _counted(
    failing: BoolArray, passing: BoolArray, visible: BoolArray
) -> list[tuple[BoolArray, BoolArray]]:
    """Return the cases in which a failure must show, and those that fail although it need not.

    A pass says nothing where no failure would show. What fails even there is compared with all.
    """
    return [(failing & visible, passing & visible), (failing & ~visible, passing)]


def _drafts(
    levels: CaseLevels,
    kind: str,
    parts: Sequence[tuple[BoolArray, BoolArray]],
    known: Sequence[Condition],
) -> list[_Draft]:
    """Return the causes of the failures of one kind, part by part."""
    explained: list[_Draft] = []
    rest: list[_Draft] = []
    for failing, passing in parts:
        left = failing.copy()
        for i, draft in enumerate(explained):
            matched = left & _nearly_matching(levels, draft.condition, left)
            explained[i] = replace(draft, explained=draft.explained | matched)
            left &= ~matched
        if not left.any():
            continue
        for found in explain_failures(levels.table, left, passing, known):
            which = explained if found.condition else rest
            alternatives = found.alternatives
            which.append(
                _Draft((kind,), found.condition, found.explained, left, passing, alternatives)
            )
    if kind == _STATE:
        most = max(explained + rest, key=lambda d: (bool(d.condition), d.explained.sum()))
        return [replace(most, explained=np.any([d.explained for d in explained + rest], axis=0))]
    if len(rest) > 1:
        whole = np.any([draft.explained for draft in rest], axis=0)
        passing = np.any([draft.passing for draft in rest], axis=0)
        rest = [replace(rest[0], explained=whole, failing=whole, passing=passing)]
    if explained and rest:
        most = max(explained, key=lambda draft: draft.explained.sum())
        if rest[0].explained.sum() <= _MAX_UNEXPLAINED * most.explained.sum():
            whole = most.explained | rest[0].explained
            return [replace(d, explained=whole) if d is most else d for d in explained]
    return explained + rest


def _nearly_matching(levels: CaseLevels, condition: Condition, failing: BoolArray) -> BoolArray:
    """Return which cases match a condition, or without a term if most of the failing ones do."""
    matched = levels.table.matching(condition)
    for term in condition if len(condition) > 1 else ():
        without = levels.table.matching(tuple(other for other in condition if other != term))
        if (without & failing).sum() >= _SHARED * failing.sum():
            matched = matched | without
    return matched


def _merged(drafts: Sequence[_Draft], levels: CaseLevels) -> list[_Draft]:
    """Merge causes of different kinds as long as one condition explains the failures of both."""
    drafts = list(drafts)
    while True:
        candidates = (
            (first, second, merged)
            for first, second in combinations(drafts, 2)
            if (merged := _merge(first, second, levels)) is not None
        )
        if (best := next(candidates, None)) is None:
            return drafts
        first, second, merged = best
        drafts = [merged if d is first else d for d in drafts if d is not second]


def _merge(first: _Draft, second: _Draft, levels: CaseLevels) -> _Draft | None:
    """Return the cause of the failures of both, if one condition explains them as well.

    One condition makes one cause even of kinds that one bug seldom has: a rule that is not checked
    makes some calls return outputs, and others crash; and integers that a backend narrows make
    valid calls fail, and invalid calls pass.
    """
    are_of_one_bug = {*first.kinds, *second.kinds} <= _OF_ONE_BUG
    are_same = bool(first.condition) and first.condition == second.condition
    if not {*first.kinds}.isdisjoint(second.kinds) or not (are_of_one_bug or are_same):
        return None
    explained = first.explained | second.explained
    passing = first.passing & second.passing
    if not are_of_one_bug:
        # One of them counts valid calls, and the other one invalid calls.
        passing = first.passing | second.passing
    conditions = [draft.condition for draft in (first, second) if draft.condition]
    if len(conditions) == 2 and [n for n, _ in conditions[0]] == [n for n, _ in conditions[1]]:
        both = zip(*conditions, strict=True)
        pairs = [(name, {*own}, {*other}) for (name, own), (_, other) in both]
        # Levels of which none is common to both kinds are more likely to be two causes.
        if all(own <= other or other <= own for _, own, other in pairs):
            factors = levels.table.factors
            either = [(n, tuple(x for x in factors[n] if x in a | b)) for n, a, b in pairs]
            conditions.append(tuple(either))
    separately = sum(
        _loss(levels.table.matching(draft.condition), draft.explained, draft.passing)
        for draft in (first, second)
        if draft.condition
    )
    for condition in conditions:
        matched = levels.table.matching(condition)
        shares = [(matched & d.explained).sum() / d.explained.sum() for d in (first, second)]
        loss = _loss(matched, explained, passing)
        if min(shares) >= _SHARED and loss <= separately + _TOLERANCE:
            # The kind of most failures comes first.
            ordered = sorted((first, second), key=lambda d: -int(d.explained.sum()))
            kinds = tuple(kind for draft in ordered for kind in draft.kinds)
            failing = first.failing | second.failing
            return _Draft(kinds, condition, explained, failing, passing, ())
    return None


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
        condition=terms_of(draft.condition, levels),
        unmatched=tuple(levels.names(draft.explained & ~matched)),
        attributed=tuple(v.case for v in attributed if v.attributed_to in failed),
        passing=passing,
        others_failing=others_failing,
        others_passing=others_passing,
        alternatives=tuple(terms_of(other, levels) for other in draft.alternatives),
    )
    common: Condition = ()
    if not draft.condition:
        common = necessary_condition(levels.table, draft.explained, draft.passing)
    having_it = int((levels.table.matching(common) & draft.passing & own).sum())
    statement, figures = cause_text(cause, fresh, terms_of(common, levels), having_it)
    return replace(cause, statement=statement, figures=figures)
