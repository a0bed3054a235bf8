"""Causes -> bugs: what one mistake does to several operators is one row of a report."""

from collections.abc import Sequence
from dataclasses import dataclass

from opcert.verdicts.cause_text import Cause

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
