"""Factors, and what cannot be or cannot be seen: what a role adds to the input space."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from opcert.roles.samplers import RandomSource, Sampler

Drawn = TypeVar("Drawn")
# Where in a call its factors show: an axis of its data, an element of a list, by name.
ObservationPoint = Mapping[str, int]


@dataclass(frozen=True)
class Factor:
    """A dimension of the input space and its levels, the plainest first.

    A level has a value: a constant, or a function of the values of the factors in `of`. `words`
    describe a level in a sentence; in a single text, {} is the level.
    """

    name: str
    levels: Mapping[str, Any]
    of: tuple[str, ...] = ()
    words: str | Mapping[str, str] = ""


@dataclass(frozen=True)
class LevelName:
    """The name of a factor's level, for a condition that asks for it and not for the value."""

    factor: str


@dataclass(frozen=True)
class Constraint:
    """A combination that cannot occur: where `when` is true of the factors that it is asked of.

    Each argument of `when` is the value of a factor, or the name of its level.
    """

    when: Callable[..., bool]
    factors: tuple[str | LevelName, ...]


@dataclass(frozen=True)
class DerivedFactor:
    """A factor whose level, by name, others determine.

    Where `vectorised`, `level` is asked once, of an array for each factor, and returns an array of
    names. Integers come as int64, and count as -2^62 or 2^62 where they are further from 0.
    """

    factor: str
    level: Callable[..., Any]
    factors: tuple[str | LevelName, ...]
    vectorised: bool = False


def forbid(when: Callable[..., bool], *factors: str | LevelName) -> Constraint:
    """Return what forbids the combinations of `factors` of which `when` is true."""
    return Constraint(when, factors)


class Choice(Protocol):
    """A level of each factor."""

    def __getitem__(self, factor: str) -> Any:
        """Return the value of the factor's level."""

    def level(self, factor: str) -> str:
        """Return the name of the factor's level, or an empty text where there is no such factor."""


@dataclass
class BuildContext:
    """The call that is being built: the choice it is built for, and what has been drawn for it.

    What several arguments share, such as the extents of data, is drawn once, under a name. Each
    name has a seed of its own, so that one more draw changes no other.
    """

    choice: Choice
    seed: str
    random_source: RandomSource | None = None
    _drawn: dict[str, Any] = field(default_factory=dict)

    def draw(self, name: str, make: Callable[[Sampler], Drawn]) -> Drawn:
        """Return what is drawn under `name`, drawing it the first time."""
        if name not in self._drawn:
            sampler = Sampler(self.random_source)
            sampler.reseed(f"{self.seed}|{name}")
            self._drawn[name] = make(sampler)
        drawn: Drawn = self._drawn[name]
        return drawn


@dataclass(frozen=True)
class ObservedLevels:
    """What a call exhibits of factors: values, or the names of levels.

    A factor has one value, or several of which each is right.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    levels: Mapping[str, frozenset[str]] = field(default_factory=dict)


def levels_where(conditions: Mapping[str, bool]) -> frozenset[str]:
    """Return the names of the levels whose condition is true."""
    return frozenset(level for level, is_so in conditions.items() if is_so)


@dataclass(frozen=True)
class Requirement:
    """What a role requires of a call; the spec adds the clause.

    `key` names it in the spec; `given` are the keys of its prerequisites, where the spec has them.
    """

    key: str
    text: str
    holds: str
    when: str = "True"
    given: Sequence[str] = ()


@dataclass(frozen=True)
class DerivedAmbiguity:
    """What the document does not decide, by its author's word: the spec states an ambiguity.

    `key` names it in the spec; `touches` is the condition on the calls that depend on it.
    """

    key: str
    text: str
    touches: str
