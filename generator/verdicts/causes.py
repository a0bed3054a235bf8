"""Failures -> causes: the combinations of levels that explain them, and a case that shows each."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from traceback import extract_tb

import numpy as np

from opcert.cases.drawn import drawn_number
from opcert.diagnosis.explanations import separate_causes
from opcert.errors import OpcertError, describe_error, listed
from opcert.run.wrong_elements import ONLY, WrongElements, words_of_elements
from opcert.specification.files import SpecFile
from opcert.suite.operator_suite import ReadOnUse
from opcert.suite.suite import Suite
from opcert.verdicts.case_levels import CaseLevels, case_levels
from opcert.verdicts.cause_text import EFFECTS, Cause, cause_text, easiest_to_read
from opcert.verdicts.condition_text import terms_of
from opcert.verdicts.dependence import Known, explained_by, known_case, known_in_run
from opcert.verdicts.drafts import MAX_UNEXPLAINED, STATE, Draft, drafts_of, merged, one_cause
from opcert.verdicts.reproduction import FreshCall, Reproduction
from opcert.verdicts.verdict import FAILURE_STATUSES, Verdict

_SEVERE = ("crash", "hang")
# The error of one mistake is small in some calls, and large in others.
_OF_SIZE = ("value", "accuracy")
# A relation to earlier calls explains a kind of failures if it holds for at least this share of
# them, and for less than this share of the passing cases.
_RELATED, _PASSING_RELATED = 0.9, 0.5
# People read a change of no more characters.
_MOST_READ = 300


class Diagnosis:
    """Finds the causes of the failures of a suite's cases."""

    def __init__(self, suite: Suite, specs: Mapping[str, SpecFile] | None = None) -> None:
        """Prepare for cases of `suite`; `specs` are by default those that it was generated from."""
        self.suite = suite
        self._given = specs
        self.known = ReadOnUse(suite.cases, self._known)
        # The levels of the cases of each operator.
        self.levels = ReadOnUse(suite.operators, self._levels)
        # What was searched last for an operator, and the result.
        self._last: dict[str, tuple[object, tuple[CaseLevels, list[Draft]]]] = {}

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
        causes: list[Cause] = []
        for name, own in by_operator.items():
            calls = (fresh or {}).get(name, ())
            try:
                causes += self._operator_causes(name, own, reproductions or {}, calls)
            except OpcertError:
                raise
            except Exception as error:  # the verdicts of a long run outlive a mistake here
                causes += _unsearched(name, own, error)

        def order(cause: Cause) -> tuple[bool, bool, bool, int]:
            is_severe = any(kind in _SEVERE for kind in cause.kinds)
            return (
                not is_severe,
                cause.kinds == ("bits",),
                not (cause.figures or cause.where),
                -len(cause.cases),
            )

        return tuple(sorted(causes, key=order))

    def _operator_causes(
        self,
        name: str,
        verdicts: Sequence[Verdict],
        reproductions: Mapping[str, Reproduction],
        fresh: Sequence[FreshCall],
    ) -> list[Cause]:
        failures, attributed = _failures(verdicts)
        by_kind: dict[str, list[str]] = {}
        for verdict in failures:
            by_kind.setdefault(str(verdict.failure), []).append(verdict.case)
        causes: list[Cause] = []
        passed = [verdict.case for verdict in verdicts if verdict.status == "pass"]
        if STATE in by_kind and any(r.relation for r in reproductions.values()):
            known = known_in_run(self.known, name, verdicts)
            causes = [
                self._narrowed(cause, reproductions[cause.representative], passed, known)
                for cause in _related(name, known, by_kind, passed, reproductions, attributed)
            ]
            explained = {case for cause in causes for case in cause.cases}
            left = {kind: [c for c in own if c not in explained] for kind, own in by_kind.items()}
            by_kind = {kind: own for kind, own in left.items() if own}
        if not by_kind:
            return causes
        elements = {v.case: v.evidence.elements for v in failures if v.evidence is not None}
        kind_of = {v.case: str(v.failure) for v in failures}
        levels, drafts = self._searched(name, by_kind, passed, fresh)
        for draft in _spoiling_alike(levels, drafts, elements):
            # What only fresh calls show is no failure of the run.
            if cases := levels.names(draft.explained):
                words = words_of_elements(elements.get(case) for case in cases)
                kinds = Counter(kind_of[case] for case in cases).most_common()
                own = replace(draft, kinds=tuple(kind for kind, _ in kinds))
                cause = _cause(levels, own, cases, attributed, reproductions, words)
                contrast = _contrast(levels, own, cases, reproductions, fresh)
                causes.append(replace(cause, contrast=contrast))
        return causes

    def _searched(
        self,
        name: str,
        by_kind: Mapping[str, Sequence[str]],
        passed: Sequence[str],
        fresh: Sequence[FreshCall],
    ) -> tuple[CaseLevels, list["Draft"]]:
        """Return the causes of failures as masks, with the levels of their cases.

        The search takes seconds for thousands of cases, so the last one of each operator is kept.
        """
        searched = {kind: (*cases,) for kind, cases in by_kind.items()}, (*passed,), (*fresh,)
        if name in self._last and self._last[name][0] == searched:
            return self._last[name][1]
        levels = self.levels[name].with_fresh(fresh)
        of_suite = levels.operator.cases
        fresh = [call for call in fresh if call.name in levels.numbers]
        failing_by_kind = {
            kind: levels.mask([*cases, *(call.name for call in fresh if call.failure == kind)])
            for kind, cases in by_kind.items()
        }
        groups = dict.fromkeys(_OF_SIZE if kind in _OF_SIZE else (kind,) for kind in by_kind)
        counted = {}
        for kinds in groups:
            cases = [case for kind in kinds for case in by_kind.get(kind, ())]
            # A kind of failure that only valid calls have says nothing about invalid ones, and vice
            # versa.
            expectations = {of_suite[case].expects for case in cases}
            passing = [case for case in passed if of_suite[case].expects in expectations]
            visible = [c for c in (*cases, *passing) if levels.can_show(kinds[0], of_suite[c])]
            visible += [call.name for call in fresh if call.can_show(kinds[0])]
            # Fresh calls are valid.
            if "outputs" in expectations:
                passing += [call.name for call in fresh if call.failure is None]
            failing = np.any([failing_by_kind[k] for k in kinds if k in by_kind], axis=0)
            counted[kinds] = failing, levels.mask(passing), levels.mask(visible)
        # What makes every call fail in one way explains failures of another kind, too.
        known = [
            condition
            for failing, passing, visible in counted.values()
            for condition in separate_causes(levels.table, failing, passing & visible)
        ]
        drafts: list[Draft] = []
        for kinds, masks in counted.items():
            for draft in drafts_of(levels.table, kinds, *masks, known):
                own = {k: int((draft.explained & f).sum()) for k, f in failing_by_kind.items()}
                of_draft = tuple(kind for kind, count in Counter(own).most_common() if count)
                drafts.append(replace(draft, kinds=of_draft))
        self._last[name] = searched, (levels, merged(drafts, levels.table))
        return self._last[name][1]

    def _narrowed(
        self,
        cause: Cause,
        made: Reproduction,
        passed: Sequence[str],
        known: Mapping[str, Known],
    ) -> Cause:
        """Return a cause that also says which calls fail after such earlier ones, if few pass."""
        if made.relation is None:
            return cause
        levels, passing = self.levels[cause.operator], explained_by(made.relation, passed, known)
        kind = made.kind or STATE
        condition, count, total = levels.separating(kind, cause.matched, passing)
        if not condition:
            return cause
        words = " and ".join(term.text for term in terms_of(condition, levels.table))
        return replace(
            cause,
            statement=f"{cause.statement}, in calls with {words}",
            figures=f"{cause.figures}; so have {count:,} of {total:,} that pass after such calls",
        )

    def _levels(self, name: str) -> CaseLevels:
        operator, spec_file = self.suite.operators[name], self.specs.get(name)
        return case_levels(operator, spec_file, self.suite.manifest)

    def _known(self, case: str) -> Known:
        return known_case(self.suite, self.specs, case)

    @cached_property
    def specs(self) -> Mapping[str, SpecFile]:
        """The specs of the suite by operator."""
        return self.suite.spec_files if self._given is None else self._given


def _failures(verdicts: Sequence[Verdict]) -> tuple[list[Verdict], list[Verdict]]:
    """Return the failures, and apart from them the rejections not credited because of one."""
    failures = [verdict for verdict in verdicts if verdict.status in FAILURE_STATUSES]
    failed = {verdict.case for verdict in failures}
    attributed = [verdict for verdict in failures if verdict.attributed_to in failed]
    return [verdict for verdict in failures if verdict.attributed_to not in failed], attributed


def _unsearched(operator: str, verdicts: Sequence[Verdict], error: Exception) -> Iterator[Cause]:
    """Yield one cause of all failures of an operator, the search for whose causes failed."""
    failures, attributed = _failures(verdicts)
    if not failures:
        return
    place = extract_tb(error.__traceback__)[-1]
    text = f"the search for causes ended in line {place.lineno} of {Path(place.filename).name}"
    yield Cause(
        operator=operator,
        kinds=tuple(kind for kind, _ in Counter(str(v.failure) for v in failures).most_common()),
        cases=tuple(verdict.case for verdict in failures),
        attributed=tuple(verdict.case for verdict in attributed),
        failing=len(failures),
        representative=failures[0].case,
        statement=f"{operator.partition('/')[2]} fails; {text} with {describe_error(error)}, "
        "a mistake of opcert",
    )


def _related(
    operator: str,
    known: Mapping[str, Known],
    by_kind: Mapping[str, Sequence[str]],
    passed: Sequence[str],
    reproductions: Mapping[str, Reproduction],
    attributed: Sequence[Verdict],
) -> list[Cause]:
    """Return the causes of failures that need a related earlier call.

    Failures of other kinds are among them if nearly all of a kind have such a call before them, and
    most passing cases have none, unless one of these failures occurs alone.
    """
    causes: list[Cause] = []
    alone = {case for case, found in reproductions.items() if found.reproduced == "alone"}
    left = by_kind
    related = [
        (case, found, found.relation)
        for case, found in reproductions.items()
        if found.relation is not None
    ]
    # Few trials have much in common by chance: their relation explains what others leave.
    for case, reproduction, relation in sorted(related, key=lambda one: -one[2].counts[0]):
        if case not in left[STATE]:
            continue
        is_rare = len(explained_by(relation, passed, known)) < _PASSING_RELATED * len(passed)
        cases = {case: STATE}
        for kind, own in left.items():
            explained = explained_by(relation, own, known)
            is_whole = is_rare and len(explained) >= _RELATED * len(own)
            if kind == STATE or (is_whole and alone.isdisjoint(explained)):
                cases |= dict.fromkeys(explained, kind)
        left = {kind: [c for c in own if c not in cases] for kind, own in left.items()}
        effect = "fails" if reproduction.kind in (None, STATE) else EFFECTS[reproduction.kind]
        causes.append(
            Cause(
                operator=operator,
                kinds=tuple(kind for kind, _ in Counter(cases.values()).most_common()),
                cases=(*cases,),
                attributed=tuple(v.case for v in attributed if v.attributed_to in cases),
                failing=len(cases),
                representative=case,
                statement=f"{operator.partition('/')[2]} {effect} after {relation.text}",
                figures=relation.figures,
            )
        )
    most = max(causes, key=lambda cause: len(cause.cases), default=None)
    rest = (*left[STATE],)
    if most is None or not rest or len(rest) > MAX_UNEXPLAINED * len(most.cases):
        return causes
    figures = f"{most.figures}, {len(rest):,} of them listed here without an explanation"
    whole = replace(most, cases=(*most.cases, *rest), unmatched=rest, figures=figures)
    return [whole if cause is most else cause for cause in causes]


def _spoiling_alike(
    levels: CaseLevels,
    drafts: Sequence[Draft],
    elements: Mapping[str, WrongElements | None],
) -> Iterator[Draft]:
    """Yield causes; those are one that spoil the same elements, unless each always does so.

    Conditions with exceptions state in which calls one bug shows, by chance.
    """
    alike: dict[str, list[Draft]] = {}
    for number, draft in enumerate(drafts):
        words = words_of_elements(elements.get(c) for c in levels.names(draft.explained))
        alike.setdefault(words if ONLY in words else str(number), []).append(draft)
    for group in alike.values():
        matched = (levels.table.matching(draft.condition) & draft.passing for draft in group)
        if len(group) > 1 and any(passing.any() for passing in matched):
            yield one_cause(group, levels.table)
        else:
            yield from group


def _cause(
    levels: CaseLevels,
    draft: Draft,
    cases: Sequence[str],
    attributed: Sequence[Verdict],
    reproductions: Mapping[str, Reproduction],
    elements: str,
) -> Cause:
    operator, matched = levels.operator, levels.table.matching(draft.condition)
    own, failed = levels.mask(operator.cases), {*cases}
    # Failures that another cause lists say nothing about a condition.
    fails = draft.explained if draft.condition else draft.failing
    (failing, passing, _, others_passing), fresh = (
        [
            int((mask & end & part).sum())
            for mask in (matched, ~matched)
            for end in (fails, draft.compared)
        ]
        for part in (own, ~own)
    )
    typical = levels.names(draft.explained & matched) or cases
    tried = [case for case in typical if case in reproductions]
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
        others_passing=others_passing,
        alternatives=tuple(terms_of(other, levels.table) for other in draft.alternatives),
        elements=elements,
    )
    having_it = levels.table.matching(draft.common) & own
    with_it = int((having_it & draft.explained).sum()), int((having_it & draft.compared).sum())
    common = terms_of(draft.common, levels.table)
    statement, figures = cause_text(cause, fresh, common, with_it)
    return replace(cause, statement=statement, figures=figures)


def _contrast(
    levels: CaseLevels,
    draft: Draft,
    cases: Sequence[str],
    reproductions: Mapping[str, Reproduction],
    fresh: Sequence[FreshCall],
) -> str:
    """Return the smallest change with which a replay of a failing call passes, in words, if any.

    The call that passes must lack the condition: it is evidence that anyone can check.
    """
    if (drawn := levels.drawn) is None:
        return ""
    ends = {case: one.reproduced for case, one in reproductions.items() if case in levels.numbers}
    if "after-other-calls" in ends.values():
        # Others may fail only after other calls. If a replay fails, too, its case most likely needs
        # none.
        failing = {call.number for call in fresh if call.anew and call.failure is not None}
        cases = [c for c in cases if ends.get(c) == "alone" or drawn_number(c) in failing]
    numbers = {drawn_number(case): case for case in cases}
    matched = levels.table.matching(draft.condition) if draft.condition else levels.mask(())
    found: list[tuple[int, int, str]] = []
    for call in fresh:
        is_replay = call.anew != "" and call.number in numbers and call.name in levels.numbers
        if not is_replay or call.failure is not None or not call.can_show(draft.kinds[0]):
            continue
        changes = drawn.changes(call)
        text = listed(changes)
        if not matched[levels.numbers[call.name]] and len(text) <= _MOST_READ:
            found.append((len(changes), len(text), f"{numbers[call.number]} passes with {text}"))
    return min(found, default=(0, 0, ""))[2]
