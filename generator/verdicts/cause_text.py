"""A cause in words: its sentence, the case to read first; and causes -> bugs.

What one mistake does to several operators is a bug, one row of a report.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np
from pydantic import ConfigDict

from opcert.arrays.element_types import bits_of
from opcert.cases.properties import level_text
from opcert.diagnosis import Condition, Point
from opcert.run.comparison import FailureKind
from opcert.suite.format import IndexedCase, StoredArray
from opcert.suite.operator_suite import OperatorSuite
from opcert.verdicts.case_levels import BEHAVIOUR, PHRASES, VIOLATED_RULE, CaseLevels
from opcert.verdicts.dependence import Relation
from opcert.verdicts.fresh import unmatched_terms

# The most elements of an array that people read.
_READABLE = 64


def easiest_to_read(operator: OperatorSuite, cases: Iterable[str]) -> list[str]:
    """Return cases in the order in which they are easy to read, the easiest first."""
    return sorted(cases, key=lambda case: _effort(operator, operator.cases[case]))


def _effort(operator: OperatorSuite, case: IndexedCase) -> tuple[int, ...]:
    """Return a key that sorts cases, the one that is the easiest to read first.

    Documented examples are first. Then come calls with elements, with few of them, with distinct
    data, in plain layouts, and with short values.
    """
    arrays = [*case.inputs.values(), *case.outputs]
    sizes = [prod(array.shape) for array in arrays]
    text, repeated = 0, 0
    for name, array in case.inputs.items():
        size = prod(array.shape)
        if size <= _READABLE and isinstance(array, StoredArray):
            elements = operator.read_array(array)
            text += len(str(elements.tolist()))
            if name in case.data_inputs:
                repeated += size - len(np.unique(bits_of(elements)))
        else:
            text += 8 * size
    is_large = max(sizes, default=0) > _READABLE
    return (
        not case.example or is_large,
        0 in sizes,
        is_large,
        repeated > 0,
        sum(len(array.layout.parts) for array in case.inputs.values()),
        text,
    )


# What an operator does that fails in each way.
_EFFECTS = {
    "count": "gives a wrong number of outputs",
    "type": "returns something other than arrays",
    "dtype": "gives a wrong element type",
    "shape": "gives a wrong shape",
    "value": "gives wrong values",
    "bits": "gives equal values with other bits",
    "accuracy": "is less accurate than the claimed arithmetic",
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


def condition_of(terms: Iterable[Term]) -> Condition:
    """Return a condition without its words."""
    return tuple((term.factor, term.levels) for term in terms)


def terms_of(condition: Condition, known: CaseLevels) -> tuple[Term, ...]:
    """Return a condition with its words."""
    factors = known.table.factors
    return tuple(
        Term(factor, levels, _text(factor, levels, factors[factor])) for factor, levels in condition
    )


def _text(factor: str, levels: Sequence[str], every: Sequence[str]) -> str:
    if factor.startswith(BEHAVIOUR):
        return f"the behaviour {factor.removeprefix(BEHAVIOUR).partition('/')[2]}"
    omitted = [level for level in every if level not in levels]
    if not omitted:
        # Some points lack the factor, so that all of its levels are a condition too.
        return f"any {factor}"
    if len(omitted) < len(levels) and len(levels) > 2 and not _is_range(levels, every):
        return f"anything but {_alternatives(factor, omitted, every)}"
    return _alternatives(factor, levels, every)


def _alternatives(factor: str, levels: Sequence[str], every: Sequence[str]) -> str:
    """Return phrases as alternatives; words with which all of them begin or end occur once."""
    phrases = [_phrase(factor, level).split() for level in levels]
    shortest = min(map(len, phrases)) - 1
    before = _shared_words(phrases, shortest)
    after = _shared_words([phrase[::-1] for phrase in phrases], shortest - before)
    tails = [" ".join(phrase[before : len(phrase) - after]) for phrase in phrases]
    if _is_range(levels, every) and len(levels) > 2:
        least, most = tails[0].partition(" to ")[0], tails[-1].rpartition(" to ")[2]
        tails = [f"{least} or more" if levels[-1] == every[-1] else f"{least} to {most}"]
    elif len(tails) > _LISTED:
        others = "other" if after else "others"
        tails = [*tails[: _LISTED - 1], f"{len(tails) - _LISTED + 1} {others}"]
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
    return levels[0][0].isdigit() and tuple(every[start : start + len(levels)]) == tuple(levels)


def _phrase(factor: str, level: str) -> str:
    if factor in PHRASES:
        return PHRASES[factor].replace("{}", level.rpartition("/")[2])
    return level_text(factor, level)


def cause_statement(
    operator: str,
    kinds: Sequence[str],
    condition: Sequence[Term],
    alternatives: Sequence[Sequence[Term]],
    numbers: tuple[int, int],
    counts: Sequence[Sequence[int]],
    common: tuple[Sequence[Term], int],
) -> tuple[str, str]:
    """Return a cause as a statement, and the figures that are its evidence, if it has some.

    The first of `numbers` is that of the failures that have the cause, the second that of those
    which do not match its condition. `counts` are the cases that match and fail, match and pass, do
    not match and fail, and do not match and pass, first of the suite, then of fresh calls. `common`
    is what all failures without a condition have, and how many passing cases have it.
    """
    explained, unmatched = numbers
    (failing, passing, others_failing, others_passing), fresh = counts
    effects = [_EFFECTS.get(kind, "fails") for kind in kinds]
    effect = " or ".join(filter(None, [", ".join(effects[:-1]), effects[-1]]))
    subject = f"{operator.partition('/')[2]} {effect}"
    if not condition:
        if explained == failing and failing > passing:
            share = "most calls" if passing else "every call"
            return f"{subject} in {share}", f"{failing:,} of {failing + passing:,} cases fail"
        calls = f"{explained:,} case{'s' * (explained > 1)}"
        terms, others = common
        if terms and explained > 1:
            words = " and ".join(term.text for term in terms)
            figures = f"so have {others:,} of {passing:,} calls that pass"
            return f"{subject} in {calls}, all of which have {words}", figures
        return f"{subject} in {calls} that no condition explains", ""
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
    if any(fresh):
        failing, passing, others_failing, others_passing = fresh
        figures += f"; {failing:,} of {failing + passing:,} such fresh calls fail, "
        figures += f"{others_failing:,} of {others_failing + others_passing:,} others"
    return f"{subject}{words}", figures


@dataclass(frozen=True)
class Cause:
    """Failures of an operator that a combination of levels explains.

    Attributes:
        kinds: The kinds of failure, or "crash" or "hang"; the most frequent one first.
        condition: A conjunction of up to three terms; empty if no levels explain the failures.
        cases: The failing cases, in the order of the suite. Each failure has one cause.
        unmatched: Those of them that do not match the condition. No condition explains these, and
            they may have another cause.
        attributed: The rejections that are not credited because their baselines are among these.
        failing: How many of the cases that match the condition fail in these ways.
        passing: How many of the cases that match the condition pass.
        others_failing: How many of the cases that do not match it fail in these ways.
        others_passing: How many of the cases that do not match it pass.
        representative: The failing case that is the easiest to read.
        alternatives: Conditions that match the same cases.
        statement: The cause in words.
        figures: The numbers above in words; empty if no levels explain the failures.
    """

    # Read by pydantic when it parses a certificate.
    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)

    operator: str
    kinds: tuple[str, ...]
    condition: tuple[Term, ...]
    cases: tuple[str, ...]
    unmatched: tuple[str, ...]
    attributed: tuple[str, ...]
    failing: int
    passing: int
    others_failing: int
    others_passing: int
    representative: str
    alternatives: tuple[tuple[Term, ...], ...]
    statement: str
    figures: str

    def explains(self, failure: str, points: Sequence[Point]) -> bool:
        """Whether a call with levels at these points fails as the cause says.

        An empty condition explains the failure of any call if most cases fail, and else of none.
        """
        of_most = len(self.cases) == self.failing > self.passing
        if failure not in self.kinds or not (self.condition or of_most):
            return False
        conditions = [condition_of(terms) for terms in (self.condition, *self.alternatives)]
        return any(unmatched_terms(points, condition) == 0 for condition in conditions)

    @property
    def sentence(self) -> str:
        """The cause in words, with the figures."""
        return f"{self.statement} ({self.figures})" if self.figures else self.statement


def relation_statement(operator: str, kind: FailureKind | None, relation: Relation) -> str:
    """Return, as a statement, how calls fail after which others."""
    effect = "fails" if kind in (None, "state") else _EFFECTS[kind]
    return f"{operator.partition('/')[2]} {effect} after {relation.text}"


# The most words of a title.
_MAX_WORDS = 12


@dataclass(frozen=True)
class Bug:
    """Causes with the same condition, of one operator or of several; the worst one comes first.

    The operators of a runtime share code, such as the conversion of an element type.
    """

    causes: tuple[Cause, ...]

    @property
    def statement(self) -> str:
        """The statement of the first cause."""
        return self.causes[0].statement

    @property
    def title(self) -> str:
        """What the calls have, or else the statement, at its beginning."""
        condition = " and ".join(term.text for term in self.causes[0].condition)
        text = f"Calls with {condition}" if condition else self.statement
        words = text.split()
        return text if len(words) <= _MAX_WORDS else f"{' '.join(words[:_MAX_WORDS])} …"

    @property
    def operators(self) -> list[str]:
        """The operators that have it."""
        return [*dict.fromkeys(cause.operator for cause in self.causes)]

    @property
    def kinds(self) -> list[str]:
        """The kinds of its failures."""
        return [*dict.fromkeys(kind for cause in self.causes for kind in cause.kinds)]

    @property
    def cases(self) -> list[str]:
        """The cases that fail for it."""
        return [case for cause in self.causes for case in cause.cases]

    @property
    def attributed(self) -> list[str]:
        """The rejections that are not credited because their baselines are among the cases."""
        return [case for cause in self.causes for case in cause.attributed]

    @property
    def sentence(self) -> str:
        """The bug in words, with the figures of its first cause."""
        others = [name.partition("/")[2] for name in self.operators[1:]]
        if not others:
            return self.causes[0].sentence
        listed = " and ".join(filter(None, [", ".join(others[:-1]), others[-1]]))
        return f"{self.causes[0].sentence}; the same holds for {listed}"


def bugs_of(causes: Sequence[Cause]) -> list[Bug]:
    """Return the bugs that causes are part of, in the order of their first causes."""
    groups: list[list[Cause]] = []
    for cause in causes:
        group = next((group for group in groups if _are_one(group[0], cause)), None)
        if group is None:
            groups.append([cause])
        else:
            group.append(cause)
    return [Bug(tuple(group)) for group in groups]


def _are_one(first: Cause, other: Cause) -> bool:
    """Whether two causes have the same condition.

    What two operators do alike may show in some more levels of one of them.
    """
    own, theirs = ({t.factor: {*t.levels} for t in c.condition} for c in (first, other))
    # Failures that no condition explains have nothing in common.
    if not own or own.keys() != theirs.keys():
        return False
    if own == theirs:
        return True
    is_nested = all(own[name] <= theirs[name] or own[name] >= theirs[name] for name in own)
    return is_nested and first.operator != other.operator and bool({*first.kinds} & {*other.kinds})
