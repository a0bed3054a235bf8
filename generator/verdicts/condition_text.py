"""Conditions in words: what a call with some levels has."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from opcert.cases.comparisons import (
    EQUAL_OUTPUTS,
    EQUAL_SHAPES,
    EQUAL_SIZES,
    FEWER,
    MARKS,
    RANKS,
    STRETCHED,
    WIDTHS,
)
from opcert.cases.integer_levels import NOT, number_of
from opcert.cases.properties import OUTPUT_EXTENTS, OUTPUT_LENGTH
from opcert.diagnosis.table import Condition, LevelTable
from opcert.errors import listed
from opcert.verdicts.call_levels import (
    BEHAVIOUR,
    CHANGE,
    COMPARISON,
    MUTATED,
    NARROWED,
    NEIGHBOUR,
    OUTPUT_MULTIPLE,
    OUTPUT_RANK,
    OUTPUT_SIZE,
    POSITION,
    RANK,
    TYPE,
    VIOLATED_RULE,
)

# What a call with a level of a factor has, or of an aspect of an argument: {0} is the argument, {1}
# the level.
_PHRASES = {
    VIOLATED_RULE: "a violation of {1}",
    COMPARISON: "{1}",
    MUTATED: "a change of {1}",
    CHANGE: "{1}",
    POSITION: "a change at the position {1}",
    NARROWED: "{1}",
    NEIGHBOUR: "the difference '{1}' from the previous call",
    **dict.fromkeys((EQUAL_SHAPES, EQUAL_OUTPUTS), "the same shape of {1}"),
    EQUAL_SIZES: "the same number of elements in {1}",
    RANKS: "a rank that is {1}",
    WIDTHS: "elements that are {1}",
    FEWER: "fewer elements of {1}",
    MARKS: "a 1 of {1}",
    STRETCHED: "a stretching of {1}",
    OUTPUT_EXTENTS: "outputs with {1}",
    OUTPUT_LENGTH: "outputs with {1}",
    OUTPUT_MULTIPLE: "outputs whose number of elements is {1}",
    OUTPUT_RANK: "an output of rank {1}",
    OUTPUT_SIZE: "outputs of size {1}",
    RANK: "a first input of rank {1}",
    TYPE: "a first input of {1}",
    "rank": "{0} of rank {1}",
    "extents": "{0} with an extent of {1}",
    "leading": "{0} with a first extent of {1}",
    "trailing": "{0} with a last extent of {1}",
    "tail": "{0} whose last extent is {1}",
    "matrices": "{0} of {1} matrices",
    "listed": "{0} for {1}",
    "empty": "an empty {1} tensor of {0}",
    "special": "{1} in {0}",
    "count": "{1} elements of {0} than the data has dimensions",
    "amount": "{1} elements of {0} than the axis of data has",
    "positive": "{1} positive elements of {0}",
    "negative": "{1} negative elements of {0}",
    "greatest": "a greatest element of {1} in {0}",
    "backwards": "the {1} axis of {0} backwards in memory",
    "repeated": "a stride of 0 on the {1} axis of {0}",
    "divisor": "{0} that {1}",
    "between": "{0} with {1} between",
    "moved": "{0} that moves {1}",
    "within": "an element of {0} of {1}",
    "elements": "{1} elements of {0}",
    "number": "{1} of {0}",
    "others": "other elements of {0} {1}",
    "before": "{1} before the element of {0}",
    "after": "{1} after the element of {0}",
    "place": "the {1} element of {0}",
    "sum": "a sum of {0} {1}",
    "axis": "the {1} axis of {0}",
    "slice": "a slice {1} of the axis",
    "along": "{0} {1} along the axis",
    "length": "an axis of {1}",
    "multiple": "an axis whose extent is {1}",
    **dict.fromkeys(("evenness", "power"), "{0} that is {1}"),
    "neighbours": "{1} extents next to it",
    "outer": "{1} places of {0} before the axis",
    "inner": "{1} elements of {0} after the axis",
    "bytes": "a number of bytes of {0} after the axis that is {1}",
    **dict.fromkeys(("content", "family", "range", "sign", "type", "width"), "{0} of {1}"),
    **dict.fromkeys(("list", "value"), "{0} = {1}"),
    **dict.fromkeys(("ends", "equality", "given", "layout", "order", "parity"), "{0} {1}"),
    **dict.fromkeys(("past", "region", "rounds", "signs"), "{0} {1}"),
}
# What a call with one level of an aspect has.
_OF_LEVELS = {
    ("elements", "1"): "1 element of {0}",
    ("inner", "1"): "1 element of {0} after the axis",
    ("outer", "1"): "1 place of {0} before the axis",
    ("extents", "0"): "{0} without elements",
    ("count", "as many"): "as many elements of {0} as the data has dimensions",
    ("amount", "as many"): "as many elements of {0} as the axis of data has",
    **{("value", end): f"{{0}} = the {end} of its type" for end in ("least", "greatest")},
}
_SINGLE = (["1", "element"], ["1", "place"])
# How many alternatives a phrase lists.
_MOST_LISTED = 6


def level_text(factor: str, level: str) -> str:
    """Return what a call with a level of a factor has, in words."""
    argument, _, aspect = factor.rpartition(" ")
    if factor in _PHRASES:
        # A rule is named without the slug of its operator.
        name = level.rpartition("/")[2] if factor == VIOLATED_RULE else level
        return _PHRASES[factor].format("", name)
    end = level.removeprefix(NOT)
    if aspect == "shorter":
        axis = f"the {level} axis" if end == level else f"an axis other than the {end}"
        return f"{argument} shorter than the data on {axis}"
    if end != level:
        what = "an axis" if aspect == "axis" else "an element"
        return f"{what} of {argument} other than the {end}"
    if (aspect, level) in _OF_LEVELS:
        return _OF_LEVELS[aspect, level].format(argument)
    return _PHRASES[aspect].format(argument, level) if aspect in _PHRASES else f"{factor} {level}"


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


def terms_of(condition: Condition, table: LevelTable) -> tuple[Term, ...]:
    """Return a condition with its words."""
    return tuple(Term(factor, levels, _text(factor, levels, table)) for factor, levels in condition)


def _text(factor: str, levels: Sequence[str], table: LevelTable) -> str:
    if factor.startswith(BEHAVIOUR):
        return f"the behaviour {factor.removeprefix(BEHAVIOUR).partition('/')[2]}"
    every = table.factors[factor]
    omitted = [level for level in every if level not in levels]
    if not omitted and len(levels) > 1:
        # Some points lack the factor, so that all of its levels are a condition too.
        return f"any {factor}"
    is_short = len(omitted) < len(levels) and len(levels) > 2 and not _is_range(levels, every)
    # A point with several levels may have one that is left out and one that is not.
    if is_short and table.is_exclusive(factor):
        return f"anything but {_alternatives(factor, omitted, every)}"
    return _alternatives(factor, levels, every)


def _words(factor: str, level: str, *, alone: bool) -> list[str]:
    """Return the phrase of a level; with others, a single element is in the plural."""
    words = level_text(factor, level).split()
    return words if alone or words[:2] not in _SINGLE else ["1", f"{words[1]}s", *words[2:]]


def _alternatives(factor: str, levels: Sequence[str], every: Sequence[str]) -> str:
    """Return phrases as alternatives; words with which all of them begin or end occur once."""
    phrases = [_words(factor, level, alone=len(levels) == 1) for level in levels]
    shortest = min(map(len, phrases)) - 1
    before = _shared_words(phrases, shortest)
    after = _shared_words([phrase[::-1] for phrase in phrases], shortest - before)
    tails = [" ".join(phrase[before : len(phrase) - after]) for phrase in phrases]
    tails = _as_range(tails, levels, every) or tails
    if len(tails) > _MOST_LISTED:
        others = "other" if after else "others"
        tails = [*tails[: _MOST_LISTED - 1], f"{len(tails) - _MOST_LISTED + 1} {others}"]
    first = phrases[0]
    return " ".join([*first[:before], listed(tails, "or"), *first[len(first) - after :]])


def _shared_words(phrases: Sequence[Sequence[str]], most: int) -> int:
    """Return with how many of the same words phrases begin, `most` at the most.

    Numbers belong to a level: "2^16 + 1 or 2^31 - 1" shares no words.
    """
    words = enumerate(zip(*phrases, strict=False))
    return min(most, next((k for k, at in words if len({*at}) > 1 or at[0].isdigit()), most))


def _is_range(levels: Sequence[str], every: Sequence[str]) -> bool:
    """Whether levels are numbers that follow each other."""
    start = every.index(levels[0])
    are_numbers = all(number_of(level) is not None for level in levels)
    return are_numbers and tuple(every[start : start + len(levels)]) == tuple(levels)


def _as_range(tails: list[str], levels: Sequence[str], every: Sequence[str]) -> list[str]:
    """Return levels as one range, from "3" and "5 to 8" to "3 to 8"; [] if they are none."""
    first, last = tails[0].endswith(" less"), levels[-1] == every[-1]
    # Two plain numbers are as short without.
    are_plain = not any(" " in level for level in levels)
    if not _is_range(levels, every) or len(levels) < 2 + are_plain:
        return []
    least, most = tails[0].partition(" to ")[0], tails[-1].rpartition(" to ")[2]
    return [f"{most} or less" if first else f"{least} or more" if last else f"{least} to {most}"]
