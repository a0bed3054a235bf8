"""What explains the failures of each kind, and which of it is one cause."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from opcert.diagnosis.explanations import explain_failures, necessary_condition
from opcert.diagnosis.search import Search
from opcert.diagnosis.table import BoolArray, Condition, LevelTable
from opcert.verdicts.call_levels import VIOLATED_RULE

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
# What reads or writes outside its memory does one or the other, whatever a call has.
_OF_MEMORY = {"crash", "unstable"}
# What a backend keeps shows where earlier calls differ from a case. The levels of the case alone
# cannot separate two causes of this.
STATE = "state"
# Failures that no levels explain are listed with the cause of the most failures of their kind, if
# they are one, or no more than this share of them: most often, its condition does not say exactly
# where it applies.
MAX_UNEXPLAINED = 0.25
# Where few faults would be visible, a cause explains at least so many failures, or this share of
# its kind: fewer have a condition by chance.
_MIN_HIDDEN, _MIN_HIDDEN_SHARE = 30, 0.05
# Where several conditions explain a kind, but not exactly, or many failures are left, what all
# failures have is the cause if this states in fewer bits which cases fail, and if no more than this
# many times as many passing cases have it.
_PASSING_OF_COMMON = 2
# A cause of less than this share of the failures of its kind that no condition explains has its
# condition by chance. Of these failures, so many may lack what the others have in common.
_MIN_SHARE, _MAX_LACKING = 0.1, 0.05
# So many causes or more of a kind are one if a term of the largest holds for all of their failures,
# and for less than this share of passing cases.
_MIN_ALIKE, _MAX_ALIKE = 3, 0.65
# The share of the failures of two kinds that a condition must match to be the cause of both, and
# the failures that it may explain less well than two conditions do: so many, or of the terms that
# both have a share of them, since the other terms may say no more than where the bug shows.
_SHARED, _TOLERANCE, _LOSS_OF_SHARED = 0.75, 3.0, 0.6


@dataclass(frozen=True)
class Draft:
    """A cause as masks of cases: those it explains, and all that fail or pass for its kinds.

    Of the passing cases, those count against a condition that are `compared`: a failure would show
    in them. `common` is what nearly all failures have that no condition explains.
    """

    kinds: tuple[str, ...]
    condition: Condition
    explained: BoolArray
    failing: BoolArray
    passing: BoolArray
    compared: BoolArray
    alternatives: tuple[Condition, ...] = ()
    common: Condition = ()


def drafts_of(
    table: LevelTable,
    kinds: tuple[str, ...],
    failing: BoolArray,
    passing: BoolArray,
    visible: BoolArray,
    known: Sequence[Condition],
) -> list[Draft]:
    """Return the causes of the failures of one kind, or of kinds that are searched as one.

    Cases in which a failure of this kind would be `visible` are searched first: other passes say
    nothing. What is left of the other failures is compared with all passes.
    """
    drafts: list[Draft] = []
    left = failing.copy()
    least_hidden = min(_MIN_HIDDEN, _MIN_HIDDEN_SHARE * failing.sum())
    passes = passing & visible
    for within, compared, least in ((visible, passes, 0), (~visible, passing, least_hidden)):
        searched = left & within
        for found in explain_failures(table, searched, compared, known):
            matched = table.matching(found.condition)
            explained = matched & left
            if found.condition and explained.sum() >= least:
                # Where the other cases contradict nothing, they are further evidence.
                agrees = not (matched & passing & ~compared).any()
                masks = (failing, passing) if agrees else (searched, compared)
                draft = Draft(kinds, found.condition, explained, *masks, compared)
                drafts.append(replace(draft, alternatives=found.alternatives))
                left &= ~explained
    return _settled(drafts, Draft(kinds, (), left, failing, passes, passes), table)


def _settled(drafts: Sequence[Draft], rest: Draft, table: LevelTable) -> list[Draft]:
    """Return the causes of one kind, of which conditions explain some, but not the `rest`."""
    left, failing = rest.explained, rest.failing
    most = max(drafts, key=lambda draft: draft.explained.sum(), default=rest)
    if STATE in rest.kinds:
        return [replace(most, explained=failing)]
    # What breaks another rule is another bug.
    rules = {_rule(draft.condition) for draft in drafts} - {()}
    has_others = (left & ~table.matching(_rule(most.condition))).any()
    most_left = max(1, MAX_UNEXPLAINED * most.explained.sum())
    is_open = not drafts or has_others or left.sum() > most_left
    matched = [(table.matching(draft.condition) & rest.passing).any() for draft in drafts]
    is_exact = not left.any() and not any(matched)
    if (is_open or (len(drafts) > 1 and not is_exact)) and len(rules) < 2:
        # Where a bug does not always show, conditions say in which calls it does, by chance.
        common = necessary_condition(table, failing, rest.passing)
        share = (table.matching(common) & rest.passing).sum() / failing.sum()
        if common and share <= _PASSING_OF_COMMON:
            length = Search(table, failing, rest.passing).description_length
            if length([common]) < length([draft.condition for draft in drafts]):
                whole = replace(rest, explained=failing, common=common)
                return [replace(whole, condition=common, common=()) if share <= 1 else whole]
    if not is_open:
        whole = replace(most, explained=most.explained | left)
        return _gathered([whole if draft is most else draft for draft in drafts], table)
    # Of many failures without a condition, few have one by chance.
    least = _MIN_SHARE * left.sum()
    few = [draft.explained for draft in drafts if draft.explained.sum() < least]
    rest = replace(rest, explained=np.any([left, *few], axis=0))
    drafts = [draft for draft in drafts if draft.explained.sum() >= least]
    common = necessary_condition(table, rest.explained, rest.passing, _MAX_LACKING)
    return _gathered([*drafts, replace(rest, common=common)], table)


def _gathered(drafts: Sequence[Draft], table: LevelTable) -> list[Draft]:
    """Return the causes of one kind; those are one for which a term of the largest of them holds.

    The other terms of so many say in which calls the same bug shows.
    """
    ordered = _by_size(drafts)
    for number, first in enumerate(ordered[: -_MIN_ALIKE + 1]):
        every: BoolArray = np.any([draft.explained for draft in ordered[number:]], axis=0)
        for term in first.condition:
            matched = table.matching((term, *_rule(first.condition)))
            is_rare = (matched & first.passing).sum() < _MAX_ALIKE * first.passing.sum()
            if is_rare and not (every & ~matched).any():
                return [*ordered[:number], replace(first, explained=every)]
    return ordered


def _rule(condition: Condition) -> Condition:
    """Return the part of a condition that names a violated rule."""
    return tuple(term for term in condition if term[0] == VIOLATED_RULE)


def merged(drafts: Sequence[Draft], table: LevelTable) -> list[Draft]:
    """Merge two causes as long as one condition explains the failures of both."""
    drafts = list(drafts)
    while True:
        pairs = (
            (first, second, both)
            for first, second in combinations(drafts, 2)
            if (both := _merge(first, second, table)) is not None
        )
        if (pair := next(pairs, None)) is None:
            return drafts
        first, second, both = pair
        drafts = [both if d is first else d for d in drafts if d is not second]


def one_cause(drafts: Sequence[Draft], table: LevelTable) -> Draft:
    """Return the cause of failures that are alike in more than levels state.

    Its condition is what they have in common, if as few passing cases have it.
    """
    whole, first = _united(drafts), drafts[0].condition
    common = necessary_condition(table, whole.explained, whole.passing, _MAX_LACKING)
    # The other terms state in which calls it shows.
    common = common or tuple(t for t in first if all(t in draft.condition for draft in drafts))
    passing = int((table.matching(common) & whole.passing).sum())
    is_sharp = common != () and passing <= whole.explained.sum()
    return replace(whole, condition=common) if is_sharp else replace(whole, common=common)


def _united(drafts: Sequence[Draft]) -> Draft:
    """Return a cause of the failures of all, without a condition; the kind of most comes first."""
    ordered = _by_size(drafts)
    return Draft(
        tuple(dict.fromkeys(kind for draft in ordered for kind in draft.kinds)),
        (),
        np.any([draft.explained for draft in drafts], axis=0),
        np.any([draft.failing for draft in drafts], axis=0),
        np.all([draft.passing for draft in drafts], axis=0),
        np.all([draft.compared for draft in drafts], axis=0),
    )


def _by_size(drafts: Sequence[Draft]) -> list[Draft]:
    return sorted(drafts, key=lambda draft: -int(draft.explained.sum()))


def _merge(first: Draft, second: Draft, table: LevelTable) -> Draft | None:
    """Return the cause of the failures of both, if one condition explains them as well.

    What two conditions share makes one cause even of kinds that one bug seldom has: a rule that is
    not checked makes some calls return outputs, and others crash; and integers that a backend
    narrows make valid calls fail, and invalid calls pass.
    """
    both = _united((first, second))
    if not first.condition and not second.condition:
        of_both = (
            draft.common
            for draft in _by_size((first, second))
            if not (both.explained & ~table.matching(draft.common)).any()
        )
        common = next(filter(None, of_both), ())
        is_one = bool(common) and _are_of_one_bug(first, second)
        return replace(both, common=common) if is_one or {*both.kinds} <= _OF_MEMORY else None
    if not _are_of_one_bug(first, second):
        # One of them may count valid calls, and the other one invalid calls.
        passing, compared = first.passing | second.passing, first.compared | second.compared
        both = replace(both, passing=passing, compared=compared)
    separately = sum(
        _loss(table.matching(draft.condition), draft.explained, draft.compared)
        for draft in (first, second)
        if draft.condition
    )
    best, least = None, math.inf
    for condition, is_shared in _tried(first, second, table).items():
        matched = table.matching(condition)
        shares = [(matched & d.explained).sum() / d.explained.sum() for d in (first, second)]
        loss = _loss(matched, both.explained, both.compared)
        tolerance = max(_TOLERANCE, _LOSS_OF_SHARED * both.explained.sum() * is_shared)
        if min(shares) >= _SHARED and loss <= separately + tolerance and loss < least:
            best, least = condition, loss
    if best is None:
        return None
    return replace(both, condition=table.without_spare_levels(best))


def _are_of_one_bug(first: Draft, second: Draft) -> bool:
    return {*first.kinds, *second.kinds} <= _OF_ONE_BUG


def _tried(first: Draft, second: Draft, table: LevelTable) -> dict[Condition, bool]:
    """Return conditions that may explain the failures of both, and whether both share a term.

    A term that one of them lacks may say no more than in which calls the bug shows in this way.
    """
    own = _most_alike(first, second)
    tried: dict[Condition, bool] = {}
    shared: Condition = ()
    if len(own) == 2 and (own[0] == own[1] or STATE not in (*first.kinds, *second.kinds)):
        shared = tuple(term for term in own[0] if term in own[1])
        if _are_of_one_bug(first, second):
            shared = _shared_terms(own[0], own[1], table)
        tried |= dict.fromkeys((shared, *_parts(shared)), True)
    if _are_of_one_bug(first, second):
        for condition in (*own, *(part for whole in own for part in _parts(whole))):
            tried.setdefault(condition, not {*condition}.isdisjoint(shared))
        # One search has split what differs in the levels of a factor.
        if len(own) == 2 and not {*first.kinds}.isdisjoint(second.kinds):
            tried.setdefault(_joined(own[0], own[1], table), False)
    elif shared:
        # The other terms of one condition may hold for the failures of the other cause, too.
        tried |= dict.fromkeys(own, True)
    tried.pop((), None)
    return tried


def _most_alike(first: Draft, second: Draft) -> Sequence[Condition]:
    """Return a condition of each draft that has one; of two drafts, those that share most terms."""
    if not first.condition or not second.condition:
        return [draft.condition for draft in (first, second) if draft.condition]
    pairs = product(*((draft.condition, *draft.alternatives) for draft in (first, second)))
    return max(pairs, key=lambda pair: len({*pair[0]} & {*pair[1]}))


def _joined(one: Condition, other: Condition, table: LevelTable) -> Condition:
    """Return the condition with the factors of two, and the levels of both."""
    pairs = {(name, level) for name, levels in (*one, *other) for level in levels}
    return tuple(
        (name, tuple(level for level in table.factors[name] if (name, level) in pairs))
        for name in {**dict(one), **dict(other)}
    )


def _shared_terms(one: Condition, other: Condition, table: LevelTable) -> Condition:
    """Return the terms of two conditions that have a factor in common, with the levels of both.

    Levels of which none is common to both are more likely to be two causes.
    """
    shared: Condition = ()
    for first, second in product(one, other):
        (name, levels), (other_name, others) = first, second
        if name == other_name and ({*levels} <= {*others} or {*others} <= {*levels}):
            shared += _joined((first,), (second,), table)
    return shared


def _parts(condition: Condition) -> list[Condition]:
    """Return what is left of a condition without some of its terms, the longest first."""
    counts = range(len(condition) - 1, 0, -1)
    return [part for count in counts for part in combinations(condition, count)]


def _loss(matched: BoolArray, explained: BoolArray, compared: BoolArray) -> float:
    return float((explained & ~matched).sum() + 2 * (matched & compared).sum())
