"""What a role contributes: factors, constraints, observed levels, requirements, ambiguities."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from opcert.roles.samplers import RandomSource, Sampler

Drawn = TypeVar("Drawn")
# A place in a call where levels are observed, by name: an axis of data, an element of a list.
ObservationPoint = Mapping[str, int]


@dataclass(frozen=True)
class Factor:
    """A dimension of the input space and its levels, the plainest first.

    A level has a value: a constant, or a function of the values of the factors in `depends_on`.
    `words` describe each level in a sentence; in a single text, {} means the level.
    """

    name: str
    levels: Mapping[str, Any]
    depends_on: tuple[str, ...] = ()
    words: str | Mapping[str, str] = ""

    @classmethod
    def of_names(
        cls, name: str, levels: Iterable[str], words: str | Mapping[str, str] | None = None
    ) -> "Factor":
        """Return a factor whose levels have their names as values.

        A mapping as `levels` gives the words of each level as well.
        """
        if words is None:
            words = levels if isinstance(levels, Mapping) else ""
        return cls(name, {level: level for level in levels}, words=words)


@dataclass(frozen=True)
class LevelName:
    """A factor whose level a condition takes by its name instead of its value."""

    factor: str


@dataclass(frozen=True)
class Constraint:
    """Combinations of levels that cannot occur: those for which `when` is true.

    The arguments of `when` are the values of `factors`, or the names of their levels.
    """

    when: Callable[..., bool]
    factors: tuple[str | LevelName, ...]


def forbid(when: Callable[..., bool], *factors: str | LevelName) -> Constraint:
    """Return the constraint that forbids the combinations for which `when` is true."""
    return Constraint(when, factors)


@dataclass(frozen=True)
class DerivedFactor:
    """A factor that others determine: `level` returns the name of its level.

    A `vectorised` function is called once, with an array for each factor, and returns an array of
    names. Its integers are int64, clipped to between -2^62 and 2^62.
    """

    factor: str
    level: Callable[..., Any]
    factors: tuple[str | LevelName, ...]
    vectorised: bool = False


class Choice(Protocol):
    """A level of each factor."""

    def __getitem__(self, factor: str) -> Any:
        """Return the value of the factor's level."""

    def level(self, factor: str) -> str:
        """Return the name of the factor's level, or an empty text if there is no such factor."""


@dataclass
class BuildContext:
    """The choice that a call is built for, and the values drawn for the call.

    Values that several arguments share, such as the extents of data, are drawn once, under a name.
    Each name has its own seed, so that an additional draw changes no other. `evaluate` returns the
    value of an expression over the arguments that roles build.
    """

    choice: Choice
    seed: str
    evaluate: Callable[[str], Any]
    random_source: RandomSource | None = None
    _drawn: dict[str, Any] = field(default_factory=dict)

    def draw(self, name: str, function: Callable[[Sampler], Drawn]) -> Drawn:
        """Return what `function` draws, the same for every call with this name."""
        if name not in self._drawn:
            sampler = Sampler(self.random_source)
            sampler.reseed(f"{self.seed}|{name}")
            self._drawn[name] = function(sampler)
        drawn: Drawn = self._drawn[name]
        return drawn


@dataclass(frozen=True)
class ObservedLevels:
    """The values of factors, or the names of their levels, that a call exhibits.

    A tuple as a value lists several values, each of which the call exhibits. A factor that is in
    neither mapping has no level.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    levels: Mapping[str, frozenset[str]] = field(default_factory=dict)


def levels_where(conditions: Mapping[str, bool]) -> frozenset[str]:
    """Return the names of the levels whose condition is true."""
    return frozenset(level for level, is_true in conditions.items() if is_true)


@dataclass(frozen=True)
class Requirement:
    """A requirement that follows from a role; the spec adds the clause.

    A spec refers to it by `key`. `prerequisites` are keys of other requirements.
    """

    key: str
    text: str
    holds: str
    when: str = "True"
    prerequisites: Sequence[str] = ()


@dataclass(frozen=True)
class DerivedAmbiguity:
    """An ambiguity that follows from a role; the spec adds the readings.

    A spec refers to it by `key`; `touches` is the condition on the calls that depend on it.
    """

    key: str
    text: str
    touches: str
