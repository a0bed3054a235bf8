"""Changes of attributes: of numbers, truth values, words, lists and records.

No mutation gives a value of another type, such as 1 for true: whether a binding accepts it is no
matter of the document.

A record has fields that are lists of integers or words, as a described tensor has.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
    element_mutations,
    indices_at,
    integer_list_mutations,
    order_mutations,
    pair_mutations,
)
from opcert.roles.argument import Attribute
from opcert.roles.role import Role
from opcert.roles.scalar_values import MaskRole
from opcert.specification.model import Spec

# Returns the replacement of a list; None for other lists than of records, or where it does not
# apply.
RecordMutation = Callable[[Any, MutationContext], Any]

_COUNTS: dict[str, Callable[[Sequence[Any]], Sequence[Any] | None]] = {
    "without-first-record": lambda records: records[1:],
    "without-last-record": lambda records: records[:-1] if len(records) > 1 else None,
    "without-last-two-records": lambda records: records[:-2] if len(records) > 2 else None,
    "without-records": lambda _: [],
    "with-first-record-again": lambda records: [*records, records[0]],
    "with-last-two-records-again": lambda records: [*records, *records[-2:]],
}


def record_mutations(words: Sequence[str]) -> Iterator[tuple[str, str, RecordMutation]]:
    """Yield the position and the name of each mutation of records, and the mutation.

    `words` are the values of text fields. The elements that the lists of all records have at the
    same index are also mutated as one list: extents that add up are such a list.
    """
    for name, count_mutation in _COUNTS.items():
        yield "", name, partial(_of_count, count_mutation)
    yield "", "merged", _merged
    for position, name, mutation in (*element_mutations(), *order_mutations(), *pair_mutations()):
        yield position, f"fields-{name}", partial(_across_records, mutation)
    spellings = _spellings(words)
    for position in POSITIONS:
        for name, mutation in LENGTHS.items():
            yield position, f"field-{name}", partial(_of_fields, list, position, mutation)
        for pair, name, mutation in order_mutations():
            kind = f"field-{pair}-{name}" if pair else f"field-{name}"
            yield position, kind, partial(_of_fields, list, position, mutation)
        for name, spelling in spellings.items():
            yield position, f"field-{name}", partial(_of_fields, str, position, spelling)


def field_mutations(words: Sequence[str]) -> Iterator[tuple[str, str, RecordMutation]]:
    """Yield the position and the name of each mutation of the fields of one record."""
    for position, name, mutation in integer_list_mutations():
        of_lists = partial(_of_fields, list, "", mutation)
        yield position, f"field-{name}", partial(_of_record, of_lists)
    for name, spelling in _spellings(words).items():
        yield "", f"field-{name}", partial(_of_record, partial(_of_fields, str, "", spelling))


def _spellings(words: Sequence[str]) -> dict[str, Callable[[str, MutationContext], str]]:
    return {
        **{name: _SPELLINGS[name] for name in ("empty", "cut")},
        **{f"set-to-{word}": partial(_constant, word) for word in (*words, "UNKNOWN")},
    }


def _of_record(mutation: RecordMutation, value: Any, context: MutationContext) -> Any:
    """Mutate one record as a list of one record."""
    mutated = mutation([value], context)
    return None if mutated is None else mutated[0]


def _first_field(value: Any, kind: type) -> str | None:
    """Return the first field of records whose value is of a kind, if there is one."""
    if not value or not isinstance(value[0], dict):
        return None
    return next((key for key, field in value[0].items() if isinstance(field, kind)), None)


def _of_count(mutation: Callable[[Sequence[Any]], Any], value: Any, _: MutationContext) -> Any:
    return mutation(value) if value and isinstance(value[0], dict) else None


def _across_records(mutation: ListMutation, value: Any, context: MutationContext) -> Any:
    """Mutate, as one list, the elements that the lists of all records have at the same index."""
    field = _first_field(value, list)
    count = min(len(record[field]) for record in value) if field is not None else 0
    if field is None or not count:
        return None
    index = context.draw % count
    column = mutation([record[field][index] for record in value], context)
    if column is None:
        return None
    return [
        {**record, field: [*record[field][:index], number, *record[field][index + 1 :]]}
        for record, number in zip(value, column, strict=True)
    ]


def _of_fields(
    kind: type[list[int]] | type[str],
    position: str,
    mutation: Callable[[Any, MutationContext], Any],
    value: Any,
    context: MutationContext,
) -> Any:
    """Mutate the first field of a kind in the records at a position."""
    field = _first_field(value, kind)
    if field is None:
        return None
    records = list(value)
    for i in indices_at(position, len(records), context.draw):
        mutated = mutation(records[i][field], context)
        if mutated is None:
            return None
        records[i] = {**records[i], field: kind(mutated)}
    return records


def _merged(value: Any, context: MutationContext) -> Any:
    """Merge the first two records into one, with the sum of an element of both lists."""
    field = _first_field(value, list)
    if field is None or len(value) < 2 or not value[0][field]:
        return None
    first, second = value[0][field], value[1][field]
    index = context.draw % len(first)
    if index >= len(second):
        return None
    merged = [*first[:index], first[index] + second[index], *first[index + 1 :]]
    return [{**value[0], field: merged}, *value[2:]]


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
_SPELLINGS: dict[str, ValueMutation] = {
    "empty": lambda _, __: "",
    "suffixed": lambda word, _: f"{word}_v2",
    "as-adverb": lambda word, _: f"{word}ly",
    "upper-case": lambda word, _: word.upper(),
    "capitalised": lambda word, _: word.capitalize(),
    "cut": lambda word, _: word[:-1],
}
_FRACTIONS: dict[str, ValueMutation] = {
    "negated": lambda value, _: -value,
    "plus-one": lambda value, _: value + 1.0,
    "minus-one": lambda value, _: value - 1.0,
    "doubled": lambda value, _: 2.0 * value,
    "halved": lambda value, _: value / 2.0,
    "set-to-zero": lambda *_: 0.0,
    "set-to-one": lambda *_: 1.0,
    "set-to-minus-one": lambda *_: -1.0,
    "past-f32": lambda *_: 1e39,
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
        return _FRACTIONS
    if kind == "string":
        names = dict.fromkeys((*(words or ()), *_WORDS))
        return {**{f"set-to-{word}": partial(_constant, word) for word in names}, **_SPELLINGS}
    limits = {name: partial(_constant, number) for name, number in _INTEGER_LIMITS.items()}
    return {**ELEMENTS, **limits}


def _constant(value: Any, _: Any, __: MutationContext) -> Any:
    return value


def _of_integers(mutation: ListMutation, value: Any, context: MutationContext) -> list[int] | None:
    """Mutate a list of integers; lists of records have mutations of their own."""
    if not all(isinstance(element, int) for element in value):
        return None
    mutated = mutation(value, context)
    return None if mutated is None else list(mutated)
