"""A cause in words: its sentence, the case to read first; and causes -> bugs.

What one mistake does to several operators is a bug, one row of a report.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import ClassVar

import numpy as np
from pydantic import ConfigDict

from opcert.arrays.element_types import bits_of
from opcert.diagnosis.table import Point, unmatched_terms
from opcert.errors import listed
from opcert.run.wrong_elements import ONLY
from opcert.suite.format import IndexedCase, StoredArray
from opcert.suite.operator_suite import OperatorSuite
from opcert.verdicts.call_levels import NARROWED, VIOLATED_RULE, width_of
from opcert.verdicts.condition_text import Term, condition_of

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


# What a rule that is not checked does to calls.
_UNCHECKED = {"accepted", "crash", "hang"}
# What an operator does that fails in each way.
EFFECTS = {
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


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Failures of an operator that a combination of levels explains.

    Attributes:
        kinds: The kinds of failure, or "crash" or "hang"; the most frequent one first.
        condition: A conjunction of up to four terms; empty if no levels explain the failures.
        cases: The failing cases, in the order of the suite. Each failure has one cause.
        unmatched: Those of them that do not match the condition. No condition explains these, and
            they may have another cause.
        attributed: The rejections that are not credited because their baselines are among these.
        failing: How many of the cases match the condition; if it is empty, how many cases of the
            operator fail in these ways.
        passing: How many cases match the condition and pass, although the failure would show.
        others_passing: How many cases pass that do not match it.
        representative: The failing case that is the easiest to read.
        alternatives: Conditions that match the same cases.
        statement: The cause in words.
        figures: The numbers above in words; empty if no levels explain the failures.
        elements: What wrong elements of outputs have in common, in words, if they have something.
        contrast: A call that passes, and how it differs from one that fails, in words, if a fresh
            call shows it.
    """

    # Read by pydantic when it parses a certificate.
    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)

    operator: str
    kinds: tuple[str, ...]
    condition: tuple[Term, ...] = ()
    cases: tuple[str, ...]
    unmatched: tuple[str, ...] = ()
    attributed: tuple[str, ...] = ()
    failing: int
    passing: int = 0
    others_passing: int = 0
    representative: str
    alternatives: tuple[tuple[Term, ...], ...] = ()
    statement: str = ""
    figures: str = ""
    elements: str = ""
    contrast: str = ""

    @property
    def matched(self) -> Sequence[str]:
        """The failing cases that match the condition."""
        unmatched = {*self.unmatched}
        return [case for case in self.cases if case not in unmatched]

    @property
    def is_of_most(self) -> bool:
        """Whether most cases fail, where there is no condition."""
        return len(self.cases) == self.failing > self.passing

    def explains(self, failure: str, points: Sequence[Point]) -> bool:
        """Whether a call with levels at these points fails as the cause says.

        An empty condition explains the failure of any call if most cases fail, and else of none.
        """
        if failure not in self.kinds or not (self.condition or self.is_of_most):
            return False
        conditions = [condition_of(terms) for terms in (self.condition, *self.alternatives)]
        return any(unmatched_terms(points, condition) == 0 for condition in conditions)

    @property
    def where(self) -> str:
        """Which elements alone are wrong, if this is known."""
        return self.elements.partition(f"{ONLY} ")[2]

    @property
    def sentence(self) -> str:
        """The cause in words, with the figures, and what is wrong in outputs."""
        figures = f" ({self.figures})" if self.figures else ""
        return f"{self.statement}{figures}{'; ' if self.elements else ''}{self.elements}"


def cause_text(
    cause: Cause, fresh: Sequence[int], common: Sequence[Term], having_it: tuple[int, int]
) -> tuple[str, str]:
    """Return the statement of a cause, and the figures that are its evidence, if it has some.

    `fresh` are the numbers of fresh calls that match the condition and fail, that match and pass,
    and of others that fail and pass. `common` is what the failures without a condition have, and
    `having_it` how many of them, and of passing cases.
    """
    name = cause.operator.partition("/")[2]
    subject = f"{name} {listed([EFFECTS[kind] for kind in cause.kinds], 'or')}"
    if not cause.condition:
        if cause.is_of_most:
            share = "most cases" if cause.passing or fresh[1] else "every case"
            total = cause.failing + cause.passing
            figures = f"{cause.failing:,} of {total:,} fail"
            return f"{subject} in {share} that would show it", figures
        count = len(cause.cases)
        calls = f"{count:,} case{'s' * (count > 1)}"
        if common:
            words = " and ".join(term.text for term in common)
            failing, passing = having_it
            share = "all" if failing == count else f"{failing:,}"
            which = f"{share} of which have" if count > 1 else "which has"
            figures = f"so have {passing:,} of {cause.passing:,} calls that pass"
            return f"{subject} in {calls}, {which} {words}", figures
        return f"{subject} in {calls}{'' if cause.where else ' that no condition explains'}", ""
    others = [term for term in cause.condition if term.factor != VIOLATED_RULE]
    when = "mostly when" if cause.passing or fresh[1] else "whenever"
    if cause.kinds == ("accepted",) and len(others) < len(cause.condition):
        (levels,) = (term.levels for term in cause.condition if term not in others)
        rules = " or ".join(level.rpartition("/")[2] for level in levels)
        subject = f"{name} accepts calls that violate {rules}"
        words = " and ".join(term.text for term in others)
        words = f" {when} they have {words}" if words else ""
    else:
        words = f" {when} a call has {' and '.join(term.text for term in cause.condition)}"
    if cause.alternatives:
        other = cause.alternatives[0]
        new, old = (
            " and ".join(term.text for term in one if term not in two)
            for one, two in ((other, cause.condition), (cause.condition, other))
        )
        words += f" (in the same cases, {new} instead of {old})"
    cases = cause.failing, cause.passing, len(cause.unmatched), cause.others_passing
    figures = _figures("cases", *cases)
    if any(fresh):
        figures += f"; {_figures('fresh calls', *fresh)}"
    return f"{subject}{words}", figures


def _figures(
    what: str, failing: int, passing: int, others_failing: int, others_passing: int
) -> str:
    such, others = failing + passing, others_failing + others_passing
    text = f"{failing:,} of {such:,} such {what} fail" if such else f"no such {what}"
    return f"{text}, {others_failing:,} of {others:,} others" if others else text


# The most words of a title.
_MAX_WORDS = 12


@dataclass(frozen=True)
class Bug:
    """Causes with the same condition, of one operator or of several; the worst one comes first.

    The operators of a runtime share code, such as the conversion of an element type. What cuts
    integers to one width is one bug, too.
    """

    causes: tuple[Cause, ...]

    @property
    def statement(self) -> str:
        """The statement of the first cause."""
        return self.causes[0].statement

    @property
    def title(self) -> str:
        """What the operator does and what its calls have, or the statement, at its beginning."""
        first = self.causes[0]
        condition = " and ".join(term.text for term in first.condition) or first.where
        does = f"{first.operator.partition('/')[2]} {EFFECTS[first.kinds[0]]}"
        text = f"{does}: {condition}" if condition else self.statement
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
        more = f"; the same holds for {listed(others)}" if others else ""
        return f"{self.causes[0].sentence}{more}"


def bugs_of(causes: Sequence[Cause]) -> list[Bug]:
    """Return the bugs that causes are part of, in the order of their first causes."""
    bugs: list[tuple[Cause, ...]] = []
    for cause in causes:
        # One cause may show that two bugs so far are one.
        same = [bug for bug in bugs if any(_are_one(member, cause) for member in bug)]
        bugs = [bug for bug in bugs if bug not in same]
        bugs.append((*chain.from_iterable(same), cause))
    return [Bug(bug) for bug in sorted(bugs, key=lambda bug: causes.index(bug[0]))]


def _are_one(first: Cause, other: Cause) -> bool:
    """Whether two causes have the same condition.

    What two operators do alike may show in some more levels of one of them. Integers that are cut
    to one width are one bug, whichever arguments show it; and a rule that is not checked is one,
    in whichever calls.
    """
    own, theirs = ({t.factor: {*t.levels} for t in c.condition} for c in (first, other))
    is_unchecked = VIOLATED_RULE in own and {*first.kinds, *other.kinds} <= _UNCHECKED
    if is_unchecked and own[VIOLATED_RULE] == theirs.get(VIOLATED_RULE):
        return True
    if own.keys() == theirs.keys() == {NARROWED}:
        return {*map(width_of, own[NARROWED])} == {*map(width_of, theirs[NARROWED])}
    if not own and not theirs:
        # Failures that no condition explains have at most their wrong elements in common.
        return first.where != "" and first.where == other.where
    if own.keys() != theirs.keys():
        return False
    if own == theirs:
        return True
    is_nested = all(own[name] <= theirs[name] or own[name] >= theirs[name] for name in own)
    # One operator may fail in another way, too; what fails in one way was searched as a whole.
    is_same_way = not {*first.kinds}.isdisjoint(other.kinds)
    return is_nested and is_same_way != (first.operator == other.operator)
