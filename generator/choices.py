"""Choices: named decisions while a call is drawn, and the guides that answer them.

A draw asks for each decision by a name, and a guide answers. So one function that draws serves
random generation and the replay of a call with one decision changed. Choices know no spec and no
array.

Goldstein, Hughes, Lampropoulos and Pierce, "Do Judge a Test by its Cover" (2021); MacIver and
Donaldson, "Test-Case Reduction via Test-Case Generation" (2020).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from typing import TypeAlias, TypeVar

from opcert.errors import Inapplicable

Option = TypeVar("Option")
# The options of a choice by level, or those whose texts are the levels.
Options: TypeAlias = Mapping[str, Option] | Sequence[Option]
# A rare option is taken in one of so many draws. Most of them leave little to see in the outputs,
# such as an axis of no elements.
RARELY = 8
_BITS = 64
_MASK = (1 << _BITS) - 1
# Multiples of these fractions of 2^64 are spread evenly over a square: 1/p and 1/p^2, where
# p^3 = p + 1 (Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018).
_STEPS = (0xC13FA9A902A6328F, 0x91E10DA5C79E7B1C)


class Choices:
    """Answers the choices of one draw at random; each answer depends on the seed and its name.

    So a choice that is added, or answered otherwise, leaves all others as they are. `levels` are
    the options taken so far, by the names of their choices. The calls of a suite have consecutive
    numbers, over which some choices are spread.
    """

    def __init__(self, seed: int, number: int | None = None) -> None:
        self.seed = seed
        self.number = seed if number is None else number
        self.levels: dict[str, str] = {}
        self._spread: dict[str, int] = {}

    def spread(self, *names: str) -> None:
        """Let two choices meet in all combinations, each about as often as another."""
        steps = zip(names, _STEPS, strict=True)
        self._spread |= {name: step * self.number & _MASK for name, step in steps}

    def one(self, name: str, options: Options[Option], rare: Options[Option] = ()) -> Option:
        """Return one of the options, the simplest of which is the first; record its level.

        A level is the text of an option, or its key in a mapping. Those in `rare` are taken rarely.

        Raises:
            Inapplicable: there is no option.
        """
        common, seldom = _by_level(options), _by_level(rare) if rare else {}
        level = self._level(name, common, seldom)
        self.levels[name] = level
        return common[level] if level in common else seldom[level]

    def _level(self, name: str, common: Collection[str], rare: Collection[str]) -> str:
        is_rare = rare and (not common or self.rarely(f"{name} rarely", RARELY))
        levels = rare if is_rare else common
        if not levels:
            raise Inapplicable(f"no option for {name}")
        return [*levels][self.integer(name, 0, len(levels) - 1)]

    def rarely(self, name: str, one_in: int) -> bool:
        """Return whether to do what is done in one of `one_in` draws; not to is the simpler."""
        return not self.integer(name, 0, one_in - 1)

    def integer(self, name: str, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, both included; it is no level."""
        # Of many choices, only one answer is possible.
        return low if low == high else low + (self._bits(name) * (high - low + 1) >> _BITS)

    def pick(self, name: str, items: Sequence[Option]) -> Option:
        """Return one of the items, of which there are some; it is no level."""
        return items[self.integer(name, 0, len(items) - 1)]

    def integers(self, name: str, low: int, high: int, count: int) -> list[int]:
        """Return `count` integers from `low` to `high`, both included."""
        start, size = self._bits(name), high - low + 1
        return [low + (_mixed(start + number) * size >> _BITS) for number in range(count)]

    def _bits(self, name: str) -> int:
        """Return 64 bits that depend on the seed and a name alone."""
        answer = self._spread.get(name)
        return _mixed(self.seed ^ _hash(name)) if answer is None else answer

    def sample(self, name: str, items: Iterable[Option], count: int) -> list[Option]:
        """Return `count` of the items, in the order in which they are drawn."""
        remaining = [*items]
        places = [self.integer(f"{name} {k}", 0, len(remaining) - 1 - k) for k in range(count)]
        return [remaining.pop(place) for place in places]


class Replay(Choices):
    """Draws again what `former` drew, but for one choice, which `seed` answers anew.

    Of the choices that belong to it, or to the argument that `anew` names, half are answered anew.
    All others keep their options where these are still possible.
    """

    def __init__(self, former: Choices, anew: str, seed: int) -> None:
        super().__init__(former.seed, former.number)
        self._former = former.levels
        self._anew = anew
        self._other = Choices(seed)

    def _is_anew(self, name: str) -> bool:
        is_own = name == self._anew
        return is_own or (belongs(name, self._anew) and self._other.rarely(f"{name} anew", 2))

    def _bits(self, name: str) -> int:
        return self._other._bits(name) if self._is_anew(name) else super()._bits(name)

    def _level(self, name: str, common: Collection[str], rare: Collection[str]) -> str:
        former = self._former.get(name)
        if former is not None and (former in common or former in rare) and not self._is_anew(name):
            return former
        return super()._level(name, common, rare)


def belongs(name: str, owner: str) -> bool:
    """Whether a choice belongs to an argument or to another choice, whose name begins its own."""
    return f"{name} ".startswith(f"{owner} ")


def _by_level(options: Options[Option]) -> Mapping[str, Option]:
    # To ask for the class first is faster, and most are dictionaries.
    if type(options) is dict or isinstance(options, Mapping):
        return options
    return {str(option): option for option in options}


def call_seed(*parts: object) -> int:
    """Return the seed of one draw, which depends on the texts of `parts` alone."""
    return _digest(repr(parts))


def _digest(text: str) -> int:
    """Return 64 bits that depend on a text alone, the same on every machine."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


# The digest of the name of a choice, of which there are few.
_hash = cache(_digest)


def _mixed(number: int) -> int:
    """Return the output of SplitMix64 (Steele, Lea and Flood, 2014) for a state.

    Python may change the algorithms of `random`; this one stays.
    """
    number = (number + 0x9E3779B97F4A7C15) & _MASK
    number = ((number ^ number >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ number >> 27) * 0x94D049BB133111EB) & _MASK
    return number ^ number >> 31
