"""The declaration of an argument, what roles draw for levels, and the levels that they observe."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, prod
from random import Random
from typing import Annotated, Any, Literal, Protocol, TypeAlias, TypeVar, get_args

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from opcert.arrays.calls import HUGE_EXTENT, LONG_EXTENT, WIDE_EXTENT, python_slice
from opcert.arrays.element_types import fits, highest, lowest
from opcert.arrays.tensor_functions import MAX_DIMENSIONS
from opcert.errors import Inapplicable, did_you_mean

# Returns random numbers from 0 to below 1.
RandomSource: TypeAlias = Callable[[], float]
# Extents multiply to at most so many elements, except for kinds that are larger by definition.
MAX_DRAWN_ELEMENTS = 256
_KINDS = ["varied", "ones", "equal", "same", "long", "wide", "tall", "huge", "zero"]
_LONG_EXTENTS = (67, 35, 19, LONG_EXTENT)
_LARGE_EXTENTS = {"wide": WIDE_EXTENT, "tall": WIDE_EXTENT, "huge": HUGE_EXTENT}
_VARIED_EXTENTS = (2, 3, 5, 7, 4)
# So many integers are drawn at once.
_MANY = 1 << 12


class Sampler:
    """Draws values for one case; the same seed gives the same draws on any machine.

    It uses `Random.random` only: Python may change the algorithms of the other methods.
    """

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._source: RandomSource | None = None

    def randbelow(self, n: int) -> int:
        """Draw an integer from 0 to below `n`."""
        return int(self._seeded_source()() * n)

    def _seeded_source(self) -> RandomSource:
        if self._source is None:
            # Seeding is slow, and many seeds are never drawn from.
            self._source = Random(self._seed).random  # noqa: S311 -- no cryptography
        return self._source

    def between(self, low: int, high: int) -> int:
        """Draw an integer from `low` to `high`, both included."""
        return low + self.randbelow(high - low + 1)

    def several(self, low: int, high: int, count: int) -> list[int]:
        """Draw what `count` calls of `between` draw."""
        source, size = self._seeded_source(), high - low + 1
        generator = getattr(source, "__self__", None)
        if count < _MANY or not isinstance(generator, Random):
            return [low + int(source() * size) for _ in range(count)]
        # NumPy's oldest generator, which never changes, is that of Python, and far faster.
        version, (*key, position), gauss = generator.getstate()
        same = np.random.RandomState()
        same.set_state(("MT19937", np.array(key, np.uint32), int(position), 0, 0.0))
        drawn = (same.random_sample(count) * size).astype(np.int64) + low
        _, key, position, *_ = same.get_state(legacy=True)
        generator.setstate((version, (*map(int, key), int(position)), gauss))
        return [*drawn.tolist()]

    def pick(self, items: Sequence[Any]) -> Any:
        """Draw one of `items`."""
        return items[self.randbelow(len(items))]

    def sample(self, items: Sequence[Any], count: int) -> tuple[Any, ...]:
        """Draw `count` of `items`, in their order."""
        return tuple(items[i] for i in sorted(self._without_replacement(range(len(items)), count)))

    def disordered(self, items: Sequence[Any]) -> tuple[Any, ...]:
        """Draw an order of `items` other than their own, if there is one."""
        order = self._without_replacement(items, len(items))
        return order if order != tuple(items) else order[1:] + order[:1]

    def _without_replacement(self, items: Sequence[Any], count: int) -> tuple[Any, ...]:
        """Draw `count` of `items`, in the order in which they are drawn."""
        remaining = list(items)
        return tuple(remaining.pop(self.randbelow(len(remaining))) for _ in range(count))

    def subset_with(self, items: Sequence[Any], item: Any, least: int = 1) -> tuple[Any, ...]:
        """Draw at least `least` of `items`, `item` among them, in their order; not all of them."""
        others = [other for other in items if other != item]
        chosen = self.sample(others, self.between(least - 1, max(least, len(others)) - 1))
        return tuple(member for member in items if member == item or member in chosen)

    def dims(self, count: int, kind: str = "varied", taken: int = 1) -> tuple[int, ...]:
        """Draw `count` extents of a tensor; its other extents multiply to `taken`.

        They are varied, ones, equal, the same as `taken`, zero (one of them), long (the last one),
        wide or tall (the last or the first is past a tile), or huge (the last, past 16 bits).

        Raises:
            ValueError: there is no such kind.
        """
        if kind not in _KINDS:
            raise ValueError(f"unknown kind of extents '{kind}'{did_you_mean(kind, _KINDS)}")
        budget = MAX_DRAWN_ELEMENTS // max(1, taken)
        ones = (1,) * count
        if kind == "ones" or not count:
            return ones
        if kind == "same":
            return (taken,) * count
        if kind == "long":
            longest = next((extent for extent in _LONG_EXTENTS if extent <= budget), LONG_EXTENT)
            return (*ones[1:], longest)
        if kind in _LARGE_EXTENTS:
            large = _LARGE_EXTENTS[kind]
            return (large, *ones[1:]) if kind == "tall" else (*ones[1:], large)
        if kind == "equal":
            return self._equal(count, budget)
        extents = self._varied(count, budget)
        if kind == "zero":
            extents[self.randbelow(count)] = 0
        return tuple(extents)

    def _varied(self, count: int, budget: int) -> list[int]:
        """Draw extents, at least one of them more than 1."""
        extents = [1] * count
        candidates = _VARIED_EXTENTS if count < 4 else _VARIED_EXTENTS[:2]
        for number, position in enumerate(self._without_replacement(range(count), count)):
            affordable = [extent for extent in candidates if prod(extents) * extent <= budget]
            if affordable:
                extents[position] = self.pick(affordable)
            elif number == 0:
                extents[position] = 2
        return extents

    def _equal(self, count: int, budget: int) -> tuple[int, ...]:
        """Draw equal extents of more than 1; if the budget is too small, two of them among ones."""
        for extent in (4, 3, 2):
            if extent**count <= budget:
                return (extent,) * count
        pair = self.sample(range(count), min(2, count))
        return tuple(2 if position in pair else 1 for position in range(count))

    def parts(self, total: int, count: int, most: int) -> tuple[int, ...]:
        """Draw `count` lengths up to `most` that sum to `total`, none 0 if possible.

        Raises:
            Inapplicable: there are no such lengths.
        """
        least = 1 if count <= total else 0
        if not count and total:
            raise Inapplicable(f"an empty list of lengths does not sum to {total}")
        lengths: list[int] = []
        for following in reversed(range(count)):
            remaining = total - sum(lengths)
            low = max(least, remaining - most * following)
            high = min(most, remaining - least * following)
            if low > high:
                raise Inapplicable(f"{count} lengths up to {most} cannot sum to {total}")
            # Up to twice the mean, so that the first lengths do not use up the total.
            lengths.append(self.between(low, min(high, max(low, 2 * remaining // (following + 1)))))
        return tuple(lengths)

    def position_in(self, n: int, index_type: str) -> int:
        """Draw an index into a dimension of `n`, of either sign if its type has both.

        If `n` is 0, the index is -1 or 0.
        """
        least = max(-max(n, 1), lowest(index_type))
        return self.between(least, min(max(n, 1) - 1, highest(index_type)))

    def span(self, n: int, index_type: str) -> tuple[int, int, int]:
        """Draw start, stop and step of a Python slice that selects something, if `n` is not 0."""
        while n:
            start, stop = self.position_in(n, index_type), self.between(-n - 1, n)
            step = self.pick((1, 1, 2, 3, -1, -2))
            fit = fits(index_type, stop) and fits(index_type, step)
            if fit and python_slice(n, start, stop, step):
                return start, stop, step
        return 0, 0, 1


Drawn = TypeVar("Drawn")
# A place in a call where levels are observed, by name: an axis of data, an element of a list.
ObservationPoint = Mapping[str, int]


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
    _drawn: dict[str, Any] = field(default_factory=dict)

    def draw(self, name: str, function: Callable[[Sampler], Drawn]) -> Drawn:
        """Return what `function` draws, the same for every call with this name."""
        if name not in self._drawn:
            self._drawn[name] = function(Sampler(f"{self.seed}|{name}"))
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


def _integer_as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) else value


ExpressionText = Annotated[
    str,
    BeforeValidator(_integer_as_text, json_schema_input_type=str | int | bool),
    Field(description="An expression in Python's syntax."),
]
# Expressions of a least and a greatest value.
BoundExpressions = tuple[ExpressionText, ExpressionText]


def _check_rank(text: str) -> str:
    if text not in map(str, range(MAX_DIMENSIONS + 1)):
        raise ValueError(f"an integer from 0 to {MAX_DIMENSIONS}")
    return text


# The least and the greatest rank of an argument with a role, which has calls of each.
_Rank = Annotated[ExpressionText, AfterValidator(_check_rank)]
RankBounds = tuple[_Rank, _Rank]
# The types of plain values; the first four are also those of the elements of a list.
ElementKind = Literal["int", "float", "boolean", "string"]
AttributeType = Literal["int", "float", "boolean", "string", "list", "record"]
ATTRIBUTE_TYPES: tuple[str, ...] = get_args(AttributeType)
KebabCaseId = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]


class SpecModel(BaseModel):
    """A part of a spec: immutable, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Argument(SpecModel):
    """An input or an attribute. `range` is [least, greatest]; cases use both ends."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
    type: str
    required: bool
    text: str
    range: BoundExpressions | None = None
    variadic: tuple[int, int] | None = Field(
        default=None,
        description="Of an input that is a list of tensors: the least and the greatest number of "
        "them. Cases use both ends.",
    )


_PLAIN_TYPES: dict[str, type] = {
    **{"int": int, "float": float, "boolean": bool, "string": str, "list": list, "record": dict}
}


def is_plain_value(value: Any, kind: str) -> bool:
    """Whether a value has the type `kind` of attributes; JSON has no infinity and no NaN."""
    plain = list(value) if isinstance(value, tuple) else value
    return type(plain) is _PLAIN_TYPES[kind] and (kind != "float" or isfinite(value))


class Input(Argument):
    """A tensor, whose type is a symbol among `types`; `rank` is [least, greatest]."""

    rank: BoundExpressions


class Attribute(Argument):
    """A plain value that is no tensor."""

    type: AttributeType
    elements: ElementKind | None = Field(
        None, description="Of a list: what its elements are; by default records, or integers."
    )
    default: JsonValue = None
    one_of: tuple[str, ...] | None = None


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
