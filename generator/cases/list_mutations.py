"""Changes of lists: of integers, and of the tensors of a variadic input.

Each targets a missing or wrong check: of the bounds, of the first element only, of the sum instead
of the elements, or of a number after its truncation to fewer bits.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from opcert.arrays.element_types import FLOATS, SIGNED_INTEGERS, UNSIGNED_INTEGERS, highest, lowest

# Offsets that integers of 8, 16 and 32 bits lose.
WRAPS = {"2-8": 1 << 8, "2-16": 1 << 16, "2-32": 1 << 32}


class MutationContext(NamedTuple):
    """The declared bounds of an argument in a call, a random number, and the element type.

    The bounds apply to each element, and are None where the spec declares none. The random number
    `draw` selects, for instance, the inner element that a mutation changes.
    """

    least: int | None = None
    greatest: int | None = None
    draw: int = 0
    type: str = "i64"

    @property
    def period(self) -> int | None:
        """The number n of values, where the range is [0, n - 1] or [-n, n - 1].

        A backend that reduces an index modulo n instead of checking it accepts an index plus n.
        """
        if self.least is None or self.greatest is None:
            return None
        return self.greatest + 1 if self.least in (0, -self.greatest - 1) else None


# Each returns the replacement of the original, or None where it does not apply.
ElementMutation = Callable[[Any, MutationContext], Any]
ListMutation = Callable[[Sequence[Any], MutationContext], Sequence[Any] | None]
PairMutation = Callable[[int, int], tuple[int, int]]


def _above(distance: int) -> ElementMutation:
    return lambda _, context: None if context.greatest is None else context.greatest + distance


def _below(distance: int) -> ElementMutation:
    return lambda _, context: None if context.least is None else context.least - distance


def _rounds(count: int) -> ElementMutation:
    """Return the mutation that adds `count` periods: out of range, but equal modulo the period."""

    def mutated(value: int, context: MutationContext) -> int | None:
        period = context.period
        if period is None:
            return None
        # A negative value plus one period is still in range.
        return value + count * period + (period if value < 0 < count else 0)

    return mutated


def _plus(distance: int) -> ElementMutation:
    return lambda value, _: value + distance


def constant(value: object) -> ElementMutation:
    """Return the mutation to one value."""
    return lambda _, __: value


def _limit(limit: Callable[[str], int], types: Sequence[str]) -> ElementMutation:
    """Return the mutation to a limit of the type, where that is one of `types`."""
    return lambda _, context: limit(context.type) if context.type in types else None


def _from_the_end(element_type: str) -> ElementMutation:
    """Return the mutation to the same index from the end, if the type is read as signed."""

    def mutated(value: int, context: MutationContext) -> int | None:
        if context.type != element_type or context.period is None:
            return None
        return value + highest(element_type) + 1 - context.period

    return mutated


_NUMBERS = {"zero": 0, "minus-one": -1, "minus-two": -2, "minus-three": -3}
# The nearest values out of range. A check of the first element only, or of the last, accepts them
# at every other position, so that each position is a stratum of its own.
AT_A_BOUND = ("above", "below")
ELEMENTS: dict[str, ElementMutation] = {
    "plus-one": _plus(1),
    "minus-one": _plus(-1),
    "above": _above(1),
    "below": _below(1),
    "plus-two": _plus(2),
    "minus-two": _plus(-2),
    "above-by-two": _above(2),
    "below-by-two": _below(2),
    "far-above": lambda _, context: None if context.greatest is None else 2 * context.greatest + 5,
    "far-below": lambda _, context: None if context.least is None else 2 * min(context.least, -1),
    "round-above": _rounds(1),
    "round-below": _rounds(-1),
    "two-rounds-above": _rounds(2),
    "two-rounds-below": _rounds(-2),
    "set-to-one": constant(1),
    **{f"set-to-{name}": constant(number) for name, number in _NUMBERS.items()},
    "negated": lambda value, _: -value,
    "inverted": lambda value, _: -value - 1,
    "doubled": lambda value, _: 2 * value,
    **{f"plus-{name}": _plus(wrap) for name, wrap in WRAPS.items()},
    **{f"minus-{name}": _plus(-wrap) for name, wrap in WRAPS.items()},
}
# Of a bit: a backend may take any number but 0 for 1, or the last bit or byte of it.
_BITS: dict[str, ElementMutation] = {
    "flipped": lambda value, _: 1 - value,
    "set-to-two": constant(2),
    "set-to-minus-one": constant(-1),
    "plus-2-8": _plus(WRAPS["2-8"]),
    "plus-2-32": _plus(WRAPS["2-32"]),
}
POSITIONS: Sequence[str] = ("", "first", "middle", "last", "all")


def indices_at(position: str, count: int, draw: int) -> Sequence[int]:
    """Return the indices that a position names in a list of `count` elements.

    "" names the element of a list of one. A position that coincides with another names no element,
    so that no two mutations are the same.
    """
    if count == 0 or (position == "") != (count == 1):
        return ()
    if position == "middle":
        return (1 + draw % (count - 2),) if count > 2 else ()
    if position == "all":
        return range(count)
    return (count - 1,) if position == "last" else (0,)


def at_position(position: str, mutation: ElementMutation) -> ListMutation:
    """Return the mutation of a list that mutates the elements at a position."""

    def mutated(values: Sequence[Any], context: MutationContext) -> Sequence[Any] | None:
        indices = indices_at(position, len(values), context.draw)
        if not indices:
            return None
        result = list(values)
        for i in indices:
            value = mutation(result[i], context)
            if value is None:
                return None
            result[i] = value
        return result

    return mutated


def element_mutations() -> Iterator[tuple[str, str, ListMutation]]:
    """Yield the position and the name of each mutation of single elements, and the mutation."""
    for name, mutation in ELEMENTS.items():
        for position in POSITIONS:
            yield position, name, at_position(position, mutation)


def _unused(values: Sequence[int], count: int) -> list[int]:
    """Return the least `count` natural numbers that are not among `values`."""
    return [k for k in range(len(values) + count) if k not in set(values)][:count]


# Mutations that drop, keep or add elements.
LENGTHS: dict[str, ListMutation] = {
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
    "with-another": lambda values, _: [*values, *_unused(values, 1)],
    "with-two-others": lambda values, _: [*values, *_unused(values, 2)],
    "with-first-again": lambda values, _: [*values, values[0]] if values else None,
    "with-above": lambda values, context: (
        None if context.greatest is None else [*values, context.greatest + 1]
    ),
    "above-alone": lambda _, context: None if context.greatest is None else [context.greatest + 1],
    "less-than-most-alone": lambda _, context: [context.greatest - 1] if context.greatest else None,
}
_ORDERS: dict[str, ListMutation] = {
    "reversed": lambda values, _: values[::-1] if len(values) > 2 else None,
    "rotated": lambda values, _: [*values[1:], values[0]] if len(values) > 2 else None,
    "all-alike": lambda values, _: [values[0]] * len(values) if len(values) > 2 else None,
    "three-alike": lambda values, _: [*[values[0]] * 3, *values[3:]] if len(values) > 3 else None,
}
# Pairs of elements: the least length at which a pair differs from the others, and its indices.
_PAIRS = {
    "first-two": (2, (0, 1)),
    "last-two": (3, (-2, -1)),
    "inner-two": (4, (1, 2)),
    "ends": (3, (0, -1)),
}


def _at_pair(pair: str, mutation: PairMutation) -> ListMutation:
    least_length, (i, j) = _PAIRS[pair]

    def mutated(values: Sequence[Any], _: MutationContext) -> Sequence[Any] | None:
        if len(values) < least_length:
            return None
        result = list(values)
        result[i], result[j] = mutation(result[i], result[j])
        return result

    return mutated


def order_mutations() -> Iterator[tuple[str, str, ListMutation]]:
    """Yield the position and the name of each mutation of the order, and the mutation."""
    for name, mutation in _ORDERS.items():
        yield "", name, mutation
    for pair in _PAIRS:
        yield pair, "exchanged", _at_pair(pair, lambda a, b: (b, a))


def pair_mutations() -> Iterator[tuple[str, str, ListMutation]]:
    """Yield each mutation of two elements together: made equal, both wrong, or with the same sum.

    A check of the sum alone accepts those with the same sum.
    """
    for pair in _PAIRS:
        yield pair, "as-the-first-of-them", _at_pair(pair, lambda a, _: (a, a))
        yield pair, "as-the-last-of-them", _at_pair(pair, lambda _, b: (b, b))
        if pair == "inner-two":
            continue
        yield pair, "negated", _at_pair(pair, lambda a, b: (-a, -b))
        yield pair, "plus-one", _at_pair(pair, lambda a, b: (a + 1, b + 1))
        for name, number in _NUMBERS.items():
            for kind, mutation in _replacing_both(name, number).items():
                yield pair, kind, _at_pair(pair, mutation)
        for name, distance in {"one": 1, **WRAPS}.items():
            yield pair, f"balanced-by-{name}", _at_pair(pair, _shifted(distance))


def _replacing_both(name: str, number: int) -> dict[str, PairMutation]:
    return {
        f"set-to-{name}": lambda _, __: (number, number),
        f"balanced-to-{name}": lambda a, b: (a + b - number, number),
        f"balanced-to-{name}-first": lambda a, b: (number, a + b - number),
    }


def _shifted(distance: int) -> PairMutation:
    return lambda a, b: (a + distance, b - distance)


def integer_list_mutations() -> Iterator[tuple[str, str, ListMutation]]:
    """Yield the position and the name of each mutation of a list of integers, and the mutation."""
    for name, mutation in LENGTHS.items():
        yield "", name, mutation
    yield from element_mutations()
    yield from order_mutations()
    yield from pair_mutations()


def number_list_mutations(types: Sequence[str]) -> Iterator[tuple[str, str, ListMutation]]:
    """Yield the position and the name of each mutation of numbers of some types, and the mutation.

    They are those of a list of integers, and those that depend on the type.
    """
    yield from integer_list_mutations()
    least, greatest = _limit(lowest, SIGNED_INTEGERS), _limit(highest, SIGNED_INTEGERS)
    groups = [(POSITIONS, {"least": least, "greatest": greatest})]
    for name in (name for name in UNSIGNED_INTEGERS if name in types):
        # An implementation that reads an unsigned type as signed takes the greatest one for -1.
        elements = {f"greatest-of-{name}": _limit(highest, (name,))}
        elements[f"from-the-end-as-{name}"] = _from_the_end(name)
        groups.append((POSITIONS[:-1], elements))
    if not set(FLOATS).isdisjoint(types):
        half = {"plus-half": lambda value, context: value + 0.5 if context.type in FLOATS else None}
        groups.append((POSITIONS, half))
    for positions, elements in groups:
        for position in positions:
            for name, element in elements.items():
                yield position, name, at_position(position, element)


def bit_list_mutations() -> Iterator[tuple[str, str, ListMutation]]:
    """Yield the position and the name of each mutation of a list of 0 and 1, and the mutation."""
    for name in ("without-first", "without-last", "without-all", "with-one", "with-one-before"):
        yield "", name, LENGTHS[name]
    for position in POSITIONS:
        for name, mutation in _BITS.items():
            yield position, name, at_position(position, mutation)
    for pair in _PAIRS:
        yield pair, "exchanged", _at_pair(pair, lambda a, b: (b, a))
        yield pair, "set-to-one", _at_pair(pair, lambda _, __: (1, 1))
