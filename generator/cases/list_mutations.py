"""Changes of lists: of integers, and of the tensors of a variadic input.

Each targets a missing or wrong check: of the bounds, of the first element only, of the sum instead
of the elements, or of a number after its truncation to fewer bits.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from opcert.arrays.element_types import FLOATS, SIGNED_INTEGERS, UNSIGNED_INTEGERS, highest, lowest
from opcert.errors import Inapplicable

# Offsets that integers of 8, 16 and 32 bits lose.
WRAPS = {"2-8": 1 << 8, "2-16": 1 << 16, "2-32": 1 << 32}


class MutationContext(NamedTuple):
    """The declared bounds of an argument in a call, a random number, and the element type.

    The bounds apply to each element. The random number `draw` selects, for instance, the inner
    element that a mutation changes. What needs bounds is `Inapplicable` where the spec declares
    none.
    """

    bounds: tuple[int, int] | None = None
    draw: int = 0
    type: str = "i64"

    @property
    def least(self) -> int:
        """The least declared value."""
        return self._declared()[0]

    @property
    def greatest(self) -> int:
        """The greatest declared value."""
        return self._declared()[1]

    @property
    def period(self) -> int:
        """The number n of values, where the range is [0, n - 1] or [-n, n - 1].

        A backend that reduces an index modulo n instead of checking it accepts an index plus n.
        """
        least, greatest = self._declared()
        require(least in (0, -greatest - 1))
        return greatest + 1

    def _declared(self) -> tuple[int, int]:
        if self.bounds is None:
            raise Inapplicable("no bounds are declared")
        return self.bounds


# Each returns the replacement of the original, or raises Inapplicable.
ElementMutation = Callable[[Any, MutationContext], Any]
ElementMutations = Mapping[str, ElementMutation]
ListMutation = Callable[[Sequence[Any], MutationContext], Sequence[Any]]
# The position and the name of each mutation, and the mutation.
NamedMutations = Iterator[tuple[str, str, ListMutation]]
PairMutation = Callable[[int, int], tuple[int, int]]


def require(applies: object) -> None:
    """Raise Inapplicable unless a mutation applies."""
    if not applies:
        raise Inapplicable("the mutation does not apply")


def _rounds(count: int) -> ElementMutation:
    """Return the mutation that adds `count` periods: out of range, but equal modulo the period."""
    # A negative value plus one period is still in range.
    return lambda value, context: value + context.period * (count + (value < 0 < count))


def _plus(distance: int) -> ElementMutation:
    return lambda value, _: value + distance


def constant(value: object) -> ElementMutation:
    """Return the mutation to one value."""
    return lambda _, __: value


def _of_types(types: Sequence[str], mutations: ElementMutations) -> ElementMutations:
    """Return the mutations where the type of the element is one of `types`."""

    def mutated(mutation: ElementMutation, value: Any, context: MutationContext) -> Any:
        require(context.type in types)
        return mutation(value, context)

    return {name: partial(mutated, mutation) for name, mutation in mutations.items()}


_NUMBERS = {"zero": 0, "minus-one": -1, "minus-two": -2, "minus-three": -3}
# The nearest values out of range. A check of the first element only, or of the last, accepts them
# at every other position, so that each position is a stratum of its own.
AT_A_BOUND = ("above", "below")
ELEMENTS: ElementMutations = {
    "plus-one": _plus(1),
    "minus-one": _plus(-1),
    "above": lambda _, context: context.greatest + 1,
    "below": lambda _, context: context.least - 1,
    "plus-two": _plus(2),
    "minus-two": _plus(-2),
    "above-by-two": lambda _, context: context.greatest + 2,
    "below-by-two": lambda _, context: context.least - 2,
    "far-above": lambda _, context: 2 * context.greatest + 5,
    "far-below": lambda _, context: 2 * min(context.least, -1),
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
_BITS: ElementMutations = {
    "flipped": lambda value, _: 1 - value,
    "set-to-two": constant(2),
    "set-to-minus-one": constant(-1),
    "plus-2-8": _plus(WRAPS["2-8"]),
    "plus-2-32": _plus(WRAPS["2-32"]),
}
_LENGTHS_OF_BITS = ("without-first", "without-last", "without-all", "with-one", "with-one-before")
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

    def mutated(values: Sequence[Any], context: MutationContext) -> Sequence[Any]:
        indices = indices_at(position, len(values), context.draw)
        require(indices)
        result = list(values)
        for i in indices:
            result[i] = mutation(result[i], context)
        return result

    return mutated


def whole(mutations: Mapping[str, ListMutation]) -> NamedMutations:
    """Yield mutations of a whole list."""
    return (("", name, mutation) for name, mutation in mutations.items())


def mutations_at(positions: Sequence[str], elements: ElementMutations) -> NamedMutations:
    """Yield mutations of single elements at each position."""
    for position in positions:
        for name, mutation in elements.items():
            yield position, name, at_position(position, mutation)


def element_mutations(elements: ElementMutations) -> NamedMutations:
    """Yield each mutation of single elements at all positions."""
    for name, mutation in elements.items():
        yield from mutations_at(POSITIONS, {name: mutation})


def _unused(values: Sequence[int], count: int) -> list[int]:
    """Return the least `count` natural numbers that are not among `values`."""
    return [k for k in range(len(values) + count) if k not in set(values)][:count]


def several(least: int, values: Sequence[Any]) -> Sequence[Any]:
    """Return values, of which there are to be at least so many."""
    require(len(values) >= least)
    return values


def _less_than_most(_: Sequence[int], context: MutationContext) -> Sequence[int]:
    require(context.greatest)
    return [context.greatest - 1]


# Mutations that drop, keep or add elements.
LENGTHS: dict[str, ListMutation] = {
    "without-first": lambda values, _: several(2, values)[1:],
    "without-last": lambda values, _: several(2, values)[:-1],
    "without-last-two": lambda values, _: several(3, values)[:-2],
    "without-all": lambda values, _: several(1, values)[:0],
    "first-alone": lambda values, _: several(3, values)[:1],
    "with-zero": lambda values, _: [*values, 0],
    "with-one": lambda values, _: [*values, 1],
    "with-minus-one": lambda values, _: [*values, -1],
    "with-two-zeros": lambda values, _: [*values, 0, 0],
    "with-two-ones": lambda values, _: [*values, 1, 1],
    "with-one-before": lambda values, _: [1, *values],
    "with-two-ones-before": lambda values, _: [1, 1, *values],
    "with-another": lambda values, _: [*values, *_unused(values, 1)],
    "with-two-others": lambda values, _: [*values, *_unused(values, 2)],
    "with-first-again": lambda values, _: [*values, several(1, values)[0]],
    "with-above": lambda values, context: [*values, context.greatest + 1],
    "above-alone": lambda _, context: [context.greatest + 1],
    "less-than-most-alone": _less_than_most,
}
_ORDERS: dict[str, ListMutation] = {
    "reversed": lambda values, _: several(3, values)[::-1],
    "rotated": lambda values, _: [*several(3, values)[1:], values[0]],
    "all-alike": lambda values, _: [several(3, values)[0]] * len(values),
    "three-alike": lambda values, _: [*[several(4, values)[0]] * 3, *values[3:]],
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

    def mutated(values: Sequence[Any], _: MutationContext) -> Sequence[Any]:
        result = list(several(least_length, values))
        result[i], result[j] = mutation(result[i], result[j])
        return result

    return mutated


def order_mutations() -> NamedMutations:
    """Yield mutations of the order."""
    yield from whole(_ORDERS)
    for pair in _PAIRS:
        yield pair, "exchanged", _at_pair(pair, lambda a, b: (b, a))


def pair_mutations() -> NamedMutations:
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


def integer_list_mutations() -> NamedMutations:
    """Yield mutations of a list of integers."""
    parts = whole(LENGTHS), element_mutations(ELEMENTS), order_mutations(), pair_mutations()
    return chain(*parts)


def _from_the_end(value: int, context: MutationContext) -> int:
    """Return the same index from the end, if the type is read as signed."""
    return value + highest(context.type) + 1 - context.period


def number_list_mutations(types: Sequence[str]) -> NamedMutations:
    """Yield mutations of numbers of some types: those of integers, and those of a type."""
    yield from integer_list_mutations()
    limits: ElementMutations = {
        "least": lambda _, context: lowest(context.type),
        "greatest": lambda _, context: highest(context.type),
    }
    yield from mutations_at(POSITIONS, _of_types(SIGNED_INTEGERS, limits))
    for name in (name for name in UNSIGNED_INTEGERS if name in types):
        # An implementation that reads an unsigned type as signed takes the greatest one for -1.
        elements = {f"greatest-of-{name}": limits["greatest"]}
        elements[f"from-the-end-as-{name}"] = _from_the_end
        yield from mutations_at(POSITIONS[:-1], _of_types((name,), elements))
    if not set(FLOATS).isdisjoint(types):
        half: ElementMutations = {"plus-half": lambda value, _: value + 0.5}
        yield from mutations_at(POSITIONS, _of_types(FLOATS, half))


def bit_list_mutations() -> NamedMutations:
    """Yield mutations of a list of 0 and 1."""
    yield from whole({name: LENGTHS[name] for name in _LENGTHS_OF_BITS})
    yield from mutations_at(POSITIONS, _BITS)
    for pair in _PAIRS:
        yield pair, "exchanged", _at_pair(pair, lambda a, b: (b, a))
        yield pair, "set-to-one", _at_pair(pair, lambda _, __: (1, 1))
