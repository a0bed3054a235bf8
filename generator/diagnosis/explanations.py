"""Failing cases -> the smallest conjunctions of levels that explain them.

A conjunction that makes every case with it fail is a failure-causing schema (Nie and Leung, "The
minimal failure-causing schema of combinatorial testing", 2011). Yilmaz, Cohen and Porter ("Covering
arrays for efficient fault characterization in complex configuration spaces", 2006) learn such
conjunctions by classification trees, which split all failures by one factor, although they may have
several causes. Here one conjunction is found after the other, each the best for the failures left
to explain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from opcert.diagnosis.search import Search
from opcert.diagnosis.table import BoolArray, Condition, LevelTable, whole_range

MAX_ALTERNATIVES = 3
# Of the failures that a condition matches, so many must have no earlier explanation.
_OWN_SHARE = 0.25
# How many failures with a known condition outweigh a passing case; fewer than so many with a
# separate level may have another cause.
_KNOWN, _MIN_SEPARATE = 3, 3
# What so many failures have in common is stated if no more passing cases have it, or a small share.
# Each factor leaves no more than a share of these, since few failures have something in common by
# chance, and many do not.
MIN_FAILING, _MAX_COMMON, _COMMON_LEVELS, _COMMON_FACTORS = 6, 0.25, 4, 3
_MANY_FAILING, _LEFT_OF_MANY, _LEFT_OF_FEW = 40, 0.75, 0.5


@dataclass(frozen=True, eq=False)
class Explanation:
    """A condition, the failures that it explains, and the cases that it matches.

    `explained` flags the failing cases that no earlier explanation explains. The condition is empty
    if most cases fail, whatever their levels, or if no combination of levels explains the rest. The
    `alternatives` match exactly the same of the cases that fail or pass.
    """

    condition: Condition
    explained: BoolArray
    alternatives: tuple[Condition, ...] = ()


def separate_causes(table: LevelTable, failing: BoolArray, passing: BoolArray) -> list[Condition]:
    """Return the separate levels with which every case fails; to find them needs no search."""
    remaining = failing.copy()
    conditions: list[Condition] = []
    levels = [(name, (x,)) for name in table.separate for x in table.factors.get(name, ())]
    candidates = [((term,), table.matching((term,))) for term in levels]
    # The most general one first.
    for condition, matched in sorted(candidates, key=lambda pair: -int((pair[1] & failing).sum())):
        if (matched & remaining).sum() >= _MIN_SEPARATE and not (matched & passing).any():
            conditions.append(condition)
            remaining &= ~matched
    return conditions


def explain_failures(
    table: LevelTable, failing: BoolArray, passing: BoolArray, known: Sequence[Condition] = ()
) -> list[Explanation]:
    """Return the fewest and simplest conditions that explain failing cases.

    They are conjunctions of a few factors. Cases that neither fail nor pass do not count.
    Conditions that are `known` to cause failures come first where most cases with them fail.
    """
    first = _separate_first(table, failing, passing, known) if passing.any() else []
    conditions, start = _one_by_one(table, failing, passing, first, is_lenient=True)
    if start is not None:
        # One condition with exceptions may state what are several causes without.
        strict, _ = _one_by_one(table, failing, passing, start, is_lenient=False)
        length = Search(table, failing, passing).description_length
        conditions = min(conditions, strict, key=length)
    # Later conditions together may explain all that an earlier one does.
    for condition in conditions[:-1]:
        others = [table.matching(other) for other in conditions if other != condition]
        if not (table.matching(condition) & failing & ~np.any(others, axis=0)).any():
            conditions.remove(condition)
    explanations = []
    remaining = failing.copy()
    for condition in conditions:
        matched = table.matching(condition)
        # What others explain but for a few failures is no cause of its own.
        if (matched & remaining).sum() < _OWN_SHARE * (matched & failing).sum():
            continue
        alternatives = tuple(_alternatives(table, condition, failing | passing))
        explanations.append(Explanation(condition, matched & remaining, alternatives))
        remaining &= ~matched
    if remaining.any():
        explanations.append(Explanation((), remaining))
    return explanations


def _one_by_one(
    table: LevelTable,
    failing: BoolArray,
    passing: BoolArray,
    first: Sequence[Condition],
    *,
    is_lenient: bool,
) -> tuple[list[Condition], list[Condition] | None]:
    """Return conditions, each the best for the failures that are left by the former ones.

    A lenient search takes the shortest ones instead. Also return the conditions up to the first
    best one that it did not take, with which a strict search starts; None if it took all of them.
    """
    conditions, start = [*first], None
    remaining = failing.copy()
    for condition in first:
        remaining &= ~table.matching(condition)
    while remaining.any() and passing.any():
        search = Search(table, remaining, passing)
        best = search.best()
        taken = search.shortest() if is_lenient else best
        if taken != best and start is None:
            last = [] if best is None else [_completed(table, best, failing, passing)]
            start = [*conditions, *last]
        if taken is None:
            break
        conditions.append(_completed(table, taken, failing, passing))
        remaining &= ~table.matching(conditions[-1])
    return conditions, start


def necessary_condition(
    table: LevelTable, failing: BoolArray, passing: BoolArray, share: float = 0
) -> Condition:
    """Return what failing cases have in common, and few passing ones; () if there is nothing.

    A `share` of the failing cases may lack it, since they may have another cause. Few failing cases
    have no more in common than a level of a separate factor, which is a cause of its own.
    """
    is_few = failing.sum() < MIN_FAILING
    condition: Condition = ()
    count, lacking = int(passing.sum()), int(share * failing.sum())
    most_left = _LEFT_OF_MANY if failing.sum() >= _MANY_FAILING else _LEFT_OF_FEW
    while count and len(condition) < _COMMON_FACTORS:
        cases = table.cases(table.matrix & table.matched_lines(condition)[:, None])
        fails, passes = cases[failing], cases[passing]
        weights = 1 + passes.sum(axis=0)
        longer: list[tuple[int, Condition]] = []
        for name, columns in table.columns.items():
            chosen = _cover(fails[:, columns], weights[columns], lacking)
            is_one = name in table.separate and chosen.sum() == 1
            if is_one or (chosen.any() and not is_few):
                chosen = whole_range(chosen) if table.has_only_ranges(name) else chosen
                levels = tuple(np.array(table.factors[name])[chosen].tolist())
                matched = passes[:, columns][:, chosen].any(axis=1)
                longer.append((int(matched.sum()), (*condition, (name, levels))))
        fewer, best = min(longer, default=(count, condition), key=itemgetter(0))
        if fewer > most_left * count:
            break
        count, condition = fewer, best
    return condition if count <= max(failing.sum(), _MAX_COMMON * passing.sum()) else ()


def _cover(cases: BoolArray, weights: npt.NDArray[np.int64], lacking: int) -> BoolArray:
    """Flag columns of which cases have one each, those of low weight first; none if it takes many.

    So many cases may be `lacking` all of them.
    """
    chosen: BoolArray = np.zeros(len(weights), bool)
    if (~cases.any(axis=1)).sum() > lacking:
        return chosen
    while len(cases) > lacking and chosen.sum() < _COMMON_LEVELS:
        best = int((cases.sum(axis=0) / weights).argmax())
        chosen[best] = True
        cases = cases[~cases[:, best]]
    return chosen & (len(cases) <= lacking)


def _completed(
    table: LevelTable, condition: Condition, failing: BoolArray, passing: BoolArray
) -> Condition:
    """Take in levels of ordered factors between and next to the chosen ones, if no case passes.

    A mistake applies up to a bound, where cases begin to pass. That few cases or none have a level
    is no bound.
    """
    terms = dict(condition)
    for name in (factor for factor, _ in condition if factor in table.ordered):
        others = tuple((factor, levels) for factor, levels in terms.items() if factor != name)
        columns = table.matrix[:, table.columns[name]]
        cases = table.cases(columns & table.matched_lines(others)[:, None])
        fails, passes = (np.any(cases[mask], axis=0) for mask in (failing, passing))
        is_present = np.any(columns[(failing | passing)[table.owners]], axis=0)
        last = int(np.flatnonzero(is_present)[-1])
        chosen = np.isin(table.factors[name], terms[name])
        taken = chosen.copy()
        # Of each run of levels with which no case passes, take those from failure to failure.
        ends = np.flatnonzero(np.diff(chosen | ~passes, prepend=False, append=False)).tolist()
        for start, end in zip(ends[::2], ends[1::2], strict=True):
            if chosen[start:end].any():
                failed = start + np.flatnonzero((chosen | fails)[start:end])
                # Where several fail and none passes up to the last one, there is no bound.
                is_open = end > last and len(failed) > 1
                taken[failed[0] : 1 + (last if is_open else failed[-1])] = True
        if (is_present & ~taken).any():
            terms[name] = tuple(np.array(table.factors[name])[taken].tolist())
    return tuple(terms.items())


def _separate_first(
    table: LevelTable, failing: BoolArray, passing: BoolArray, known: Sequence[Condition]
) -> list[Condition]:
    """Return the separate levels that explain failures, here or among other failures."""
    own = dict.fromkeys((*separate_causes(table, failing, passing), *known))
    order = [*table.separate]
    remaining = failing.copy()
    conditions: list[Condition] = []
    for condition in sorted(own, key=lambda terms: order.index(terms[0][0])):
        matched = table.matching(condition)
        if (matched & remaining).sum() > _KNOWN * (matched & passing).sum():
            conditions.append(condition)
            remaining &= ~matched
    return conditions


def _alternatives(table: LevelTable, condition: Condition, counted: BoolArray) -> list[Condition]:
    """Return conditions that have another factor and match the same of the `counted` cases."""
    matched = table.matching(condition) & counted
    alternatives: list[Condition] = []
    for i, (former, former_levels) in enumerate(condition):
        replaced = table.matched_lines(((former, former_levels),))
        has_former = table.matrix[:, table.columns[former]].any(axis=1)
        others = (*condition[:i], *condition[i + 1 :])
        taken = {former, *(name for name, _ in others)}
        cases = table.cases(table.matrix & table.matched_lines(others)[:, None])
        # A level takes part if it matches none of the other cases.
        is_part: BoolArray = np.any(cases & matched[:, None], axis=0)
        is_part &= ~np.any(cases & (counted & ~matched)[:, None], axis=0)
        for name, columns in table.columns.items():
            flags = is_part[columns]
            if name in taken or (cases[:, columns][:, flags].any(axis=1) < matched).any():
                continue
            term = name, tuple(np.array(table.factors[name])[flags].tolist())
            has_both = has_former & table.matrix[:, columns].any(axis=1)
            if (table.matched_lines((term,)) != replaced)[has_both].any():
                alternatives.append((*others, term))
    # A longer list of levels is no alternative: it fits by chance.
    lengths = [sum(len(levels) for _, levels in terms) for terms in (condition, *alternatives)]
    simple = [terms for terms, n in zip(alternatives, lengths[1:], strict=True) if n <= lengths[0]]
    return simple[:MAX_ALTERNATIVES]
