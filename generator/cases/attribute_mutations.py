"""Mutations of an attribute: of a number, a truth value, a word, or a list of them.

No mutation gives a value of another type, such as 1 for true: whether a binding accepts it is no
matter of the document.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any

from opcert.cases.list_mutations import (
    ELEMENTS,
    LENGTHS,
    POSITIONS,
    ListMutation,
    MutationContext,
    at_position,
    bit_list_mutations,
    integer_list_mutations,
    order_mutations,
)
from opcert.cases.record_mutations import field_mutations, record_mutations
from opcert.roles.argument import Attribute
from opcert.roles.mask import MaskRole
from opcert.roles.role import Role
from opcert.specification.model import Spec

# Returns the replacement of an attribute; None where the mutation does not apply.
ValueMutation = Callable[[Any, MutationContext], Any]

_INTEGER_LIMITS = {
    "greatest-of-i32": (1 << 31) - 1,
    "past-i32": 1 << 31,
    "least-of-i32": -(1 << 31),
    "greatest-of-u32": (1 << 32) - 1,
    "past-u32": 1 << 32,
}
# Words that mean something in other operators, or nowhere.
_WORDS = ("none", "unknown", "bidirectional", "pdpd")
_SPELLINGS: dict[str, Callable[[str], str]] = {
    "empty": lambda _: "",
    "suffixed": lambda word: f"{word}_v2",
    "as-adverb": lambda word: f"{word}ly",
    "upper-case": str.upper,
    "capitalised": str.capitalize,
    "cut": lambda word: word[:-1],
}
_FRACTIONS: dict[str, Callable[[float], float]] = {
    "negated": lambda value: -value,
    "plus-one": lambda value: value + 1.0,
    "minus-one": lambda value: value - 1.0,
    "doubled": lambda value: 2.0 * value,
    "halved": lambda value: value / 2.0,
    "set-to-zero": lambda _: 0.0,
    "set-to-one": lambda _: 1.0,
    "set-to-minus-one": lambda _: -1.0,
    "past-f32": lambda _: 1e39,
}
# Mutations of the length of a list that need no new elements.
_LENGTHS_OF_ANY = (
    *("without-first", "without-last", "without-last-two", "without-all"),
    *("first-alone", "with-first-again"),
)


def attribute_mutations(
    spec: Spec, attribute: Attribute | Role
) -> Iterator[tuple[str, str, ValueMutation]]:
    """Yield the position and the name of each mutation of an attribute, and the mutation."""
    if attribute.type == "record":
        yield from field_mutations(_table_words(spec))
    elif attribute.type != "list":
        for name, mutation in _single_mutations(attribute.type, attribute.one_of).items():
            yield "", name, mutation
    elif attribute.elements in (None, "int"):
        is_mask = isinstance(attribute, MaskRole)
        mutations = bit_list_mutations() if is_mask else integer_list_mutations()
        for position, name, list_mutation in mutations:
            yield position, name, partial(_of_integers, list_mutation)
        if attribute.elements is None:
            yield from record_mutations(_table_words(spec))
    else:
        for name in _LENGTHS_OF_ANY:
            yield "", name, LENGTHS[name]
        yield from order_mutations()
        for name, mutation in _single_mutations(attribute.elements, attribute.one_of).items():
            for position in POSITIONS:
                yield position, name, at_position(position, mutation)


def _table_words(spec: Spec) -> list[str]:
    """Return the words of all tables of constants."""
    return sorted({*chain(*(table.values() for table in spec.constants.values()))})


def _single_mutations(kind: str, words: tuple[str, ...] | None) -> Mapping[str, ValueMutation]:
    """Return the mutations of a single value by name."""
    if kind == "boolean":
        return {"inverted": lambda value, _: not value}
    if kind == "float":
        return {name: partial(_changed, change) for name, change in _FRACTIONS.items()}
    if kind == "string":
        names = dict.fromkeys((*(words or ()), *_WORDS))
        return {
            **{f"set-to-{word}": partial(_constant, word) for word in names},
            **{name: partial(_changed, spelling) for name, spelling in _SPELLINGS.items()},
        }
    limits = {name: partial(_constant, number) for name, number in _INTEGER_LIMITS.items()}
    return {**ELEMENTS, **limits}


def _constant(value: Any, _: Any, __: MutationContext) -> Any:
    return value


def _changed(change: Callable[[Any], Any], value: Any, _: MutationContext) -> Any:
    return change(value)


def _of_integers(mutation: ListMutation, value: Any, context: MutationContext) -> list[int] | None:
    """Mutate a list of integers; lists of records have mutations of their own."""
    if not all(isinstance(element, int) for element in value):
        return None
    mutated = mutation(value, context)
    return None if mutated is None else list(mutated)
