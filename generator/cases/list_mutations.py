"""Changes of a list of integers: of its length, its order, one element, two, or all of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Numbers = Sequence[int]

# What an integer of 8, 16 or 32 bits loses.
WRAPS = {"2-8": 1 << 8, "2-16": 1 << 16, "2-32": 1 << 32}


@dataclass(frozen=True)
class MutationContext:
    """What changes of one argument of a call aim at: the least and the most of it, and a draw.

    The bounds are those that are declared, of each element; None where none are. The draw decides
    what a change leaves open: which inner element, or which other value.
    """

    least: int | None = None
    most: int | None = None
    draw: int = 0

    @property
    def round(self) -> int | None:
        """How many values there are, where negative ones count from the end or there are none."""
        if self.least is None or self.most is None or self.least not in (0, -self.most - 1):
            return None
        return self.most + 1


ElementChange = Callable[[int, MutationContext], int | None]
PairChange = Callable[[int, int], tuple[int, int]]
ListChange = Callable[[Numbers, MutationContext], Numbers | None]


def _past(end: str, distance: int) -> ElementChange:
    """Return the change to a value that is `distance` past an end of the range."""

    def change(_: int, aim: MutationContext) -> int | None:
        bound = aim.most if end == "most" else aim.least
        return None if bound is None else bound + distance

    return change


def _rounds(count: int) -> ElementChange:
    """Return the change to what comes to the same value after `count` rounds more."""

    def change(value: int, aim: MutationContext) -> int | None:
        if aim.round is None:
            return None
        # A round more than a negative value has gone already.
        return value + count * aim.round + (aim.round if value < 0 < count else 0)

    return change


def _far(end: str) -> ElementChange:
    def change(_: int, aim: MutationContext) -> int | None:
        if end == "most":
            return None if aim.most is None else 2 * aim.most + 5
        return None if aim.least is None else 2 * min(aim.least, -1)

    return change


def _by(distance: int) -> ElementChange:
    return lambda value, _: value + distance


def _to(number: int) -> ElementChange:
    return lambda _, __: number


_NUMBERS = {"zero": 0, "minus-one": -1, "minus-two": -2, "minus-three": -3}
# Every wrong value of one integer, whatever it is for.
# A check of the first element only, or of the last, lets the nearest wrong value pass elsewhere: so
# these are tried at each position.
AT_A_BOUND = ("above", "below")
ELEMENTS: dict[str, ElementChange] = {
    "plus-one": _by(1),
    "minus-one": _by(-1),
    "above": _past("most", 1),
    "below": _past("least", -1),
    "plus-two": _by(2),
    "minus-two": _by(-2),
    "above-by-two": _past("most", 2),
    "below-by-two": _past("least", -2),
    "far-above": _far("most"),
    "far-below": _far("least"),
    "round-above": _rounds(1),
    "round-below": _rounds(-1),
    "two-rounds-above": _rounds(2),
    "two-rounds-below": _rounds(-2),
    "set-to-one": _to(1),
    **{f"set-to-{name}": _to(number) for name, number in _NUMBERS.items()},
    "negated": lambda value, _: -value,
    "inverted": lambda value, _: -value - 1,
    "doubled": lambda value, _: 2 * value,
    **{f"plus-{name}": _by(wrap) for name, wrap in WRAPS.items()},
    **{f"minus-{name}": _by(-wrap) for name, wrap in WRAPS.items()},
}
POSITIONS = ("", "first", "middle", "last", "all")
PAIRS = ("first-two", "last-two", "inner-two", "ends")


def positions_in(position: str, count: int, draw: int) -> Sequence[int]:
    """Return which of `count` elements a position names; "" is the only one there is.

    A position of fewer elements than tell it from another names none.
    """
    if count == 0 or (position == "") != (count == 1):
        return ()
    return {
        "": (0,),
        "first": (0,),
        "middle": (1 + draw % (count - 2),) if count > 2 else (),
        "last": (count - 1,),
        "all": range(count),
    }[position]


def _pair_in(pair: str, count: int) -> tuple[int, int] | None:
    least, ends = {
        "first-two": (2, (0, 1)),
        "last-two": (3, (-2, -1)),
        "inner-two": (4, (1, 2)),
        "ends": (3, (0, -1)),
    }[pair]
    return (ends[0] % count, ends[1] % count) if count >= least else None


def at_position(position: str, change: ElementChange) -> ListChange:
    """Return the change of a list by that of the elements at a position."""

    def changed(values: Numbers, aim: MutationContext) -> Numbers | None:
        where = positions_in(position, len(values), aim.draw)
        if not where:
            return None
        result = list(values)
        for i in where:
            value = change(result[i], aim)
            if value is None:
                return None
            result[i] = value
        return result

    return changed


def _at_pair(pair: str, change: PairChange) -> ListChange:
    def changed(values: Numbers, _: MutationContext) -> Numbers | None:
        where = _pair_in(pair, len(values))
        if where is None:
            return None
        result = list(values)
        one, other = where
        result[one], result[other] = change(result[one], result[other])
        return result

    return changed


def _fresh(values: Numbers, count: int) -> list[int]:
    """Return the least `count` numbers that are not among `values`."""
    present = set(values)
    return [k for k in range(len(values) + count) if k not in present][:count]


# Which elements there are, and how many.
LENGTHS: dict[str, ListChange] = {
    "without-first": lambda values, _: values[1:] if len(values) > 1 else None,
    "without-last": lambda values, _: values[:-1] if len(values) > 1 else None,
    "without-last-two": lambda values, _: values[:-2] if len(values) > 2 else None,
    "without-all": lambda values, _: [] if values else None,
    "first-alone": lambda values, _: values[:1] if len(values) > 2 else None,
    "with-zero": lambda values, _: [*values, 0],
    "with-one": lambda values, _: [*values, 1],
    "with-minus-one": lambda values, _: [*values, -1],
    "with-two-zeros": lambda values, _: [*values, 0, 0],
    "with-two-ones": lambda values, _: [*values, 1, 1],
    "with-one-before": lambda values, _: [1, *values],
    "with-two-ones-before": lambda values, _: [1, 1, *values],
    "with-another": lambda values, _: [*values, *_fresh(values, 1)],
    "with-two-others": lambda values, _: [*values, *_fresh(values, 2)],
    "with-first-again": lambda values, _: [*values, values[0]] if values else None,
    "with-above": lambda values, aim: None if aim.most is None else [*values, aim.most + 1],
    "above-alone": lambda _, aim: None if aim.most is None else [aim.most + 1],
    "less-than-most-alone": lambda _, aim: None if not aim.most else [aim.most - 1],
}
# In which order they are, and which there are twice.
_ORDERS: dict[str, ListChange] = {
    "reversed": lambda values, _: values[::-1] if len(values) > 2 else None,
    "rotated": lambda values, _: [*values[1:], values[0]] if len(values) > 2 else None,
    "all-alike": lambda values, _: [values[0]] * len(values) if len(values) > 2 else None,
    "three-alike": lambda values, _: [*[values[0]] * 3, *values[3:]] if len(values) > 3 else None,
}


def orders() -> Iterator[tuple[str, str, ListChange]]:
    """Yield the position and the name of each change of order, and the change."""
    for name, change in _ORDERS.items():
        yield "", name, change
    for pair in PAIRS:
        yield pair, "exchanged", _at_pair(pair, lambda a, b: (b, a))


def pairs() -> Iterator[tuple[str, str, ListChange]]:
    """Yield each change of two elements together: alike, both wrong, or of the same sum."""
    for pair in PAIRS:
        yield pair, "as-the-first-of-them", _at_pair(pair, lambda a, _: (a, a))
        yield pair, "as-the-last-of-them", _at_pair(pair, lambda _, b: (b, b))
        if pair == "inner-two":
            continue
        yield pair, "negated", _at_pair(pair, lambda a, b: (-a, -b))
        yield pair, "plus-one", _at_pair(pair, lambda a, b: (a + 1, b + 1))
        for name, number in _NUMBERS.items():
            yield pair, f"set-to-{name}", _at_pair(pair, _both(number))
            yield pair, f"balanced-to-{name}", _at_pair(pair, _balanced(number))
            yield pair, f"balanced-to-{name}-first", _at_pair(pair, _balanced(number, first=True))
        for name, distance in {"one": 1, **WRAPS}.items():
            yield pair, f"balanced-by-{name}", _at_pair(pair, _moved(distance))


def _both(number: int) -> PairChange:
    return lambda _, __: (number, number)


def _moved(distance: int) -> PairChange:
    return lambda a, b: (a + distance, b - distance)


def _balanced(number: int, *, first: bool = False) -> PairChange:
    """Return the change of one of two elements to `number`, and the other to make up for it."""
    if first:
        return lambda a, b: (number, a + b - number)
    return lambda a, b: (a + b - number, number)


def elements() -> Iterator[tuple[str, str, ListChange]]:
    """Yield the position and the name of each change of elements, and the change."""
    for name, change in ELEMENTS.items():
        for position in POSITIONS:
            yield position, name, at_position(position, change)
