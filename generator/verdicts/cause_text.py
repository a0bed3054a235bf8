"""A cause in words: the phrases of its levels, and one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from opcert.combinatorics.diagnosis import Condition, LevelTable
from opcert.suite.operator_suite import OperatorSuite
from opcert.verdicts.case_levels import (
    BEHAVIOUR,
    CHANGE,
    MUTATED,
    MUTATION,
    NARROWED,
    NEIGHBOUR,
    OUTPUT_RANK,
    OUTPUT_SIZE,
    POSITION,
    VIOLATED_RULE,
)

# What an operator does that fails in each way.
_EFFECTS = {
    "count": "gives a wrong number of outputs",
    "type": "returns something other than arrays",
    "dtype": "gives a wrong element type",
    "shape": "gives a wrong shape",
    "value": "gives wrong values",
    "bits": "gives equal values with other bits",
    "accepted": "accepts invalid calls",
    "rejected": "rejects valid calls",
    "uncredited": "rejects calls whose valid baseline does not pass either",
    "undeclared": "declines calls that nobody declared as unsupported",
    "mutated-input": "writes to its inputs",
    "aliased-output": "returns memory that others share",
    "unstable": "gives different results for the same call",
    "state": "gives results that depend on earlier calls",
    "protocol": "breaks the protocol",
    "crash": "crashes",
    "hang": "hangs",
}
# Phrases of factors that no spec declares.
_PHRASES = {
    VIOLATED_RULE: "a violation of {}",
    MUTATED: "a change of {}",
    CHANGE: "{}",
    MUTATION: "the mutation {}",
    POSITION: "a change at the position {}",
    NARROWED: "integers that {} cannot hold without changing the result",
    NEIGHBOUR: "the difference '{}' from the previous call",
    OUTPUT_RANK: "an output of rank {}",
    OUTPUT_SIZE: "outputs of {} elements",
}
# The first words of phrases that are no nouns.
_ADVERBS = (
    "forwards",
    "backwards",
    "counted",
    "given",
    "selects",
    "kept",
    "stretched",
    "mapped",
    "at",
)
# How many alternatives a phrase lists.
_LISTED = 6


@dataclass(frozen=True)
class Term:
    """A factor with the levels of it that matter, in the order of the factor, and in words."""

    # Read by pydantic when it parses a certificate.
    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)

    factor: str
    levels: tuple[str, ...]
    text: str


def terms_of(condition: Condition, operator: OperatorSuite, table: LevelTable) -> tuple[Term, ...]:
    """Return a condition with its words."""
    return tuple(
        Term(factor, levels, _text(factor, levels, operator, table)) for factor, levels in condition
    )


def _text(factor: str, levels: Sequence[str], operator: OperatorSuite, table: LevelTable) -> str:
    if factor.startswith(BEHAVIOUR):
        return f"the behaviour {factor.removeprefix(BEHAVIOUR).partition('/')[2]}"
    every = table.factors[factor]
    omitted = [level for level in every if level not in levels]
    if not omitted:
        # Some points lack the factor, so that all of its levels are a condition too.
        return f"any {factor.replace('_', ' ')}"
    if len(omitted) < len(levels) and len(levels) > 2 and not _is_range(levels, every):
        return f"anything but {_alternatives(factor, omitted, every, operator)}"
    return _alternatives(factor, levels, every, operator)


def _alternatives(
    factor: str, levels: Sequence[str], every: Sequence[str], operator: OperatorSuite
) -> str:
    """Return phrases as alternatives; words with which all of them begin or end occur once."""
    phrases = [_phrase(factor, level, operator).split() for level in levels]
    shortest = min(map(len, phrases)) - 1
    before = _shared_words(phrases, shortest)
    after = _shared_words([phrase[::-1] for phrase in phrases], shortest - before)
    tails = [" ".join(phrase[before : len(phrase) - after]) for phrase in phrases]
    if _is_range(levels, every) and len(levels) > 2:
        is_last = levels[-1] == every[-1]
        tails = [f"{tails[0]} or more" if is_last else f"{tails[0]} to {tails[-1]}"]
    elif len(tails) > _LISTED:
        tails = [*tails[: _LISTED - 1], f"{len(tails) - _LISTED + 1} others"]
    words = " or ".join([", ".join(tails[:-1]), tails[-1]]) if len(tails) > 1 else tails[0]
    first = phrases[0]
    return " ".join([*first[:before], words, *first[len(first) - after :]])


def _shared_words(phrases: Sequence[Sequence[str]], most: int) -> int:
    """Return with how many of the same words phrases begin, `most` at the most."""
    count = 0
    while count < most and len({phrase[count] for phrase in phrases}) == 1:
        count += 1
    return count


def _is_range(levels: Sequence[str], every: Sequence[str]) -> bool:
    """Whether levels are numbers that follow each other."""
    start = every.index(levels[0])
    return levels[0].isdigit() and tuple(every[start : start + len(levels)]) == tuple(levels)


def _phrase(factor: str, level: str, operator: OperatorSuite) -> str:
    if factor in _PHRASES:
        return _PHRASES[factor].replace("{}", level.rpartition("/")[2])
    phrase = operator.index.factors.get(factor, {}).get(level, "")
    if not phrase:
        return f"{factor.replace('_', ' ')} {level.replace('_', ' ')}"
    # A phrase that is no noun says of which argument it is.
    if phrase.split()[0] not in _ADVERBS:
        return phrase
    return f"{factor.rpartition('_')[0]} {phrase}"


def cause_statement(
    operator: str,
    kinds: Sequence[str],
    condition: Sequence[Term],
    alternatives: Sequence[Sequence[Term]],
    explained: int,
    unmatched: int,
    counts: Sequence[int],
) -> tuple[str, str]:
    """Return a cause as a statement, and the figures that are its evidence, if it has some.

    `explained` failures have the cause, of which `unmatched` do not match its condition. `counts`
    are the cases that match and fail, match and pass, do not match and fail, and do not match and
    pass.
    """
    failing, passing, others_failing, others_passing = counts
    effects = [_EFFECTS.get(kind, "fails") for kind in kinds]
    effect = " or ".join(filter(None, [", ".join(effects[:-1]), effects[-1]]))
    subject = f"{operator.partition('/')[2]} {effect}"
    if not condition:
        if explained == failing and failing > passing:
            share = "most calls" if passing else "every call"
            return f"{subject} in {share}", f"{failing:,} of {failing + passing:,} cases fail"
        calls = f"{explained:,} case{'s' * (explained > 1)}"
        return f"{subject} in {calls} that no combination of levels explains", ""
    rules = [term for term in condition if term.factor == VIOLATED_RULE]
    rule = rules[0] if rules and tuple(kinds) == ("accepted",) else None
    if rule is not None:
        subject = f"{operator.partition('/')[2]} accepts calls that violate "
        subject += " or ".join(level.rpartition("/")[2] for level in rule.levels)
    words = " and ".join(term.text for term in condition if term is not rule)
    when = "mostly when" if passing else "whenever"
    if rule is None:
        words = f" {when} a call has {words}"
    elif words:
        words = f" {when} they have {words}"
    if alternatives:
        differing = " and ".join(term.text for term in alternatives[0] if term not in condition)
        words += f" or, in the same cases, {'' if words else 'have '}{differing}"
    total, others = failing + passing, others_failing + others_passing
    figures = f"{failing:,} of {total:,} such cases fail, {others_failing:,} of {others:,} others"
    if unmatched:
        figures += f", {unmatched:,} of them listed here without an explanation"
    return f"{subject}{words}", figures
