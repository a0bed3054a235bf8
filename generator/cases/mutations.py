"""The mutations of a spec: every small change of one argument that its signature gives.

They know nothing of the rules: what a changed call breaks is for the spec's conditions to say.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, cycle, islice
from math import prod
from typing import Any

from opcert.arrays import (
    ELEMENT_TYPES,
    FOUR_BIT_TYPES,
    INTEGERS,
    SIGNED_INTEGERS,
    UNSIGNED_INTEGERS,
    Call,
    Tensor,
    highest,
    lowest,
    with_type,
)
from opcert.cases.list_mutations import (
    ELEMENTS,
    LENGTHS,
    POSITIONS,
    WRAPS,
    ListChange,
    MutationContext,
    at_position,
    elements,
    orders,
    pairs,
)
from opcert.cases.record_mutations import record_changes
from opcert.errors import Inapplicable
from opcert.roles import Attribute, Input, Role
from opcert.specification import Spec

# What a changed argument is, given what it is in a call; None where it is none that could be.
Change = Callable[[Any, MutationContext], Any]

# What a changed input may have at most: elements of data, and values that are listed.
_MOST_ELEMENTS = 1 << 17
_MOST_VALUES = 1 << 10
# Which changes of an integer make sense for an extent.
_EXTENTS = (
    "plus-one",
    "minus-one",
    "set-to-zero",
    "set-to-one",
    "doubled",
    *(f"plus-{each}" for each in WRAPS),
)
_RANKS = {
    "without-first": "without-first-dimension",
    "without-last": "without-last-dimension",
    "without-last-two": "without-last-two-dimensions",
    "without-all": "without-dimensions",
    "first-alone": "first-dimension-alone",
    "with-one": "with-dimension",
    "with-one-before": "with-dimension-before",
    "with-two-ones-before": "with-two-dimensions-before",
}
# Other shapes for the same values: of `n` elements.
_FORMS: dict[str, Callable[[int], tuple[int, ...]]] = {
    "scalar": lambda _: (),
    "one-dimension": lambda n: (n,),
    "row": lambda n: (1, n),
    "column": lambda n: (n, 1),
    "cube": lambda n: (1, n, 1),
    "four-dimensions": lambda n: (1, 1, 1, n),
    "square": lambda n: (2, n // 2),
}
# Shapes for one value that is repeated.
_REPEATED: dict[str, tuple[int, ...]] = {
    "none": (0,),
    "two": (2,),
    "three": (3,),
    "row-of-two": (1, 2),
    "column-of-two": (2, 1),
}
# Where an integer of so many bits ends.
_LIMITS = {
    "greatest-of-i32": (1 << 31) - 1,
    "past-i32": 1 << 31,
    "least-of-i32": -(1 << 31),
    "greatest-of-u32": (1 << 32) - 1,
    "past-u32": 1 << 32,
}
# Words that mean something in other operators, or in none.
_WORDS = ("none", "unknown", "bidirectional", "pdpd")
_SPELLINGS: dict[str, Callable[[str], str]] = {
    "empty": lambda _: "",
    "suffixed": lambda word: f"{word}_v2",
    "as-adverb": lambda word: f"{word}ly",
    "upper-case": str.upper,
    "capitalised": str.capitalize,
    "cut": lambda word: word[:-1],
}


Parts = tuple[str, str, Change]

# The kind of a mutation that leaves an argument out.
OMITTED = "omitted"
_OMITTED_PARTS: Parts = ("", OMITTED, lambda _, __: None)


@dataclass(frozen=True)
class Mutation:
    """A small change of one argument: what is changed, where in it, and how.

    `position` says which of several elements, records or dimensions change; "" where there is but
    one. `adds` is a mutation of calls that leave the argument out.
    """

    argument: str
    position: str
    kind: str
    change: Change
    adds: bool = False

    @property
    def name(self) -> str:
        """The words by which ids name it."""
        return "-".join(part for part in (self.argument, self.position, self.kind) if part)

    def applied(self, spec: Spec, call: Call, aim: MutationContext) -> Call | None:
        """Return a call with this change; None where it admits none, or comes to the same."""
        order = tuple(spec.defaults)
        given = {**call.inputs, **call.attributes}
        if self.kind == OMITTED:
            return call.changed(self.argument, None, order) if self.argument in given else None
        if self.adds:
            value = call.inputs[spec.leading.name]
        else:
            value = given.get(self.argument, spec.defaults[self.argument])
        if value is None or (self.adds and self.argument in given):
            return None
        changed = self.change(value, aim)
        return None if changed in (None, value) else call.changed(self.argument, changed, order)


def mutations_of(spec: Spec) -> list[Mutation]:
    """Return every mutation of the calls of a spec, in the order of its arguments."""
    made: list[Mutation] = []
    for argument in spec.inputs:
        name = argument.name
        parts = [_OMITTED_PARTS, *_of_tensors()]
        if set(spec.type_sets[argument.type]) <= set(INTEGERS):
            parts += _of_values()
        made += [Mutation(name, *part) for part in parts]
        if not argument.required:
            made += [Mutation(name, *part, adds=True) for part in _added(spec, argument)]
    for attribute in spec.attributes:
        parts = [_OMITTED_PARTS, *_of_attribute(spec, attribute)]
        made += [Mutation(attribute.name, *part) for part in parts]
    return made


def _of_attribute(spec: Spec, attribute: Attribute | Role) -> Iterator[Parts]:
    if attribute.type == "int":
        for name, change in ELEMENTS.items():
            yield "", name, change
        for name, number in _LIMITS.items():
            yield "", name, partial(_constant, number)
    elif attribute.type == "string":
        for word in dict.fromkeys((*(attribute.one_of or ()), *_WORDS)):
            yield "", f"set-to-{word}", partial(_constant, word)
        for name, spell in _SPELLINGS.items():
            yield "", name, partial(_spelt, spell)
    else:
        tables = spec.constants.values()
        yield from _of_lists()
        yield from record_changes(sorted({*chain(*(each.values() for each in tables))}))


def _constant(value: Any, _: Any, __: MutationContext) -> Any:
    return value


def _spelt(spell: Callable[[str], str], value: str, _: MutationContext) -> str:
    return spell(value)


def _of_lists() -> Iterator[Parts]:
    """Yield the changes of an attribute that is a list of integers."""
    for name, change in LENGTHS.items():
        yield "", name, partial(_integers, change)
    for position, name, change in (*elements(), *orders(), *pairs()):
        yield position, name, partial(_integers, change)


def _integers(change: ListChange, value: Any, aim: MutationContext) -> list[int] | None:
    if not all(isinstance(each, int) for each in value):
        return None
    changed = change(value, aim)
    return None if changed is None else list(changed)


def _of_tensors() -> Iterator[Parts]:
    # Whether 4 bits are an integer type is for a document to say that has them; see `TYPE_SETS`.
    for name in ELEMENT_TYPES:
        if name not in FOUR_BIT_TYPES:
            yield "", f"as-{name}", partial(_typed, name)
    for name, kind in _RANKS.items():
        yield "", kind, partial(_shaped, LENGTHS[name])
    for position in POSITIONS:
        for name in _EXTENTS:
            change = at_position(position, ELEMENTS[name])
            yield position, f"extent-{name}", partial(_shaped, change)
    for position, name, change in orders():
        yield position, f"extents-{name}", partial(_shaped, change)


def _of_values() -> Iterator[Parts]:
    """Yield the changes of integers that say where, or how many."""
    for name, form in _FORMS.items():
        yield "", name, partial(_formed, form)
    for name, shape in _REPEATED.items():
        yield "", name, partial(_repeated, shape)
    for name, change in LENGTHS.items():
        yield "", name, partial(_valued, change)
    for position, name, change in (*elements(), *orders(), *pairs()):
        yield position, name, partial(_valued, change)
    for position in POSITIONS:
        yield position, "least", partial(_limited, position, SIGNED_INTEGERS, lowest)
        yield position, "greatest", partial(_limited, position, SIGNED_INTEGERS, highest)
    # What a signed type of the same width takes for -1, and for the same counted from the end.
    for name in UNSIGNED_INTEGERS:
        for position in ("", "first", "middle", "last"):
            yield position, f"greatest-of-{name}", partial(_limited, position, (name,), highest)
            yield position, f"from-the-end-as-{name}", partial(_from_the_end, position, name)


def _typed(element_type: str, value: Tensor, _: MutationContext) -> Tensor | None:
    if value.type == element_type:
        return None
    try:
        return with_type(value, element_type)
    except Inapplicable:
        return None


def _formed(
    form: Callable[[int], tuple[int, ...]], value: Tensor, _: MutationContext
) -> Tensor | None:
    """Give a tensor of values another shape for the same ones."""
    if value.values is None:
        return None
    shape = form(value.size)
    return replace(value, shape=shape) if prod(shape) == value.size else None


def _repeated(shape: tuple[int, ...], value: Tensor, _: MutationContext) -> Tensor | None:
    """Repeat the one value of a tensor."""
    if value.values is None or value.size != 1:
        return None
    return replace(value, shape=shape, values=value.values * prod(shape))


def _shaped(change: ListChange, value: Tensor, aim: MutationContext) -> Tensor | None:
    """Change the extents of data, or of values that are no list, cut or begun again."""
    if value.values is not None and (value.rank < 2 or value.size > _MOST_VALUES):
        return None
    extents = change(value.shape, aim)
    if extents is None or any(extent < 0 for extent in extents):
        return None
    shape = tuple(extents)
    # A tensor without elements is not to be a billion empty rows either.
    if prod(max(extent, 1) for extent in shape) > max(_MOST_ELEMENTS, value.size):
        return None
    size = prod(shape)
    if value.values is None:
        return replace(value, shape=shape)
    if size > _MOST_VALUES or not value.values:
        return None
    return replace(value, shape=shape, values=tuple(islice(cycle(value.values), size)))


def _valued(change: ListChange, value: Tensor, aim: MutationContext) -> Tensor | None:
    """Change the values of a tensor that has some."""
    if value.values is None or value.size > _MOST_VALUES:
        return None
    values = change(value.values, aim)  # type: ignore[arg-type]
    if values is None:
        return None
    if values and not lowest(value.type) <= min(values) <= max(values) <= highest(value.type):
        return None
    shape = value.shape if len(values) == value.size else (len(values),)
    return replace(value, shape=shape, values=tuple(values))


def _limited(
    position: str,
    types: Sequence[str],
    limit: Callable[[str], int],
    value: Tensor,
    aim: MutationContext,
) -> Tensor | None:
    """Set values to a limit of their type, where it is one of `types`."""
    if value.type not in types:
        return None
    number = limit(value.type)
    return _valued(at_position(position, lambda _, __: number), value, aim)


def _from_the_end(
    position: str, element_type: str, value: Tensor, aim: MutationContext
) -> Tensor | None:
    """Set values of an unsigned type to what, taken for negative ones, comes to the same."""
    if value.type != element_type or aim.round is None:
        return None
    past = highest(element_type) + 1 - aim.round
    return _valued(at_position(position, lambda number, _: number + past), value, aim)


def _added(spec: Spec, argument: Input | Role) -> Iterator[Parts]:
    """Yield lists in the place of an optional input that a call leaves out.

    They are made of the first input: as many numbers as it has dimensions, or none.
    """
    for name in ("i64", "i32"):
        if name in spec.type_sets[argument.type]:
            yield "", f"added-empty-{name}", partial(_constant, Tensor(name, (0,), ()))
            yield "", f"added-{name}", partial(_counted, name)


def _counted(element_type: str, first: Tensor, _: MutationContext) -> Tensor:
    return Tensor(element_type, (first.rank,), tuple(range(first.rank)))
