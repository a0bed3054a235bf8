"""Changes of attributes: of numbers, truth values, words, lists and records.

No mutation gives a value of another type, such as 1 for true: whether a binding accepts it is no
matter of the document.

A record has fields that are lists of integers or words, as a described tensor has.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from opcert.arrays.calls import replace
from opcert.cases.list_mutations import (
    ELEMENTS,
    LENGTHS,
    POSITIONS,
    ElementMutation,
    ListMutation,
    MutationContext,
    NamedMutations,
    bit_list_mutations,
    constant,
    element_mutations,
    integer_list_mutations,
    mutations_at,
    order_mutations,
    pair_mutations,
    require,
    several,
    whole,
)
from opcert.errors import Inapplicable
from opcert.roles.argument import Attribute
from opcert.roles.role import Role
from opcert.roles.slicing_steps import MaskRole
from opcert.specification.model import Spec

# Mutations of the number of records.
_COUNTS: dict[str, ListMutation] = {
    "without-first-record": lambda records, _: records[1:],
    "without-last-record": lambda records, _: several(2, records)[:-1],
    "without-last-two-records": lambda records, _: several(3, records)[:-2],
    "without-records": lambda *_: [],
    "with-first-record-again": lambda records, _: [*records, *records[:1]],
    "with-last-two-records-again": lambda records, _: [*records, *records[-2:]],
}


def _record_list_mutations(words: Sequence[str]) -> NamedMutations:
    """Yield mutations of a list of records.

    `words` are the values of text fields. The elements that the lists of all records have at the
    same index are also mutated as one list: extents that add up are such a list.
    """
    yield from whole(_COUNTS)
    yield "", "merged", _merged
    across = element_mutations(ELEMENTS), order_mutations(), pair_mutations()
    for position, name, mutation in chain(*across):
        yield position, f"fields-{name}", partial(_across_records, mutation)
    orders = {"-".join(filter(None, names)): mutation for *names, mutation in order_mutations()}
    lists = {f"field-{name}": _in_field(list, to) for name, to in {**LENGTHS, **orders}.items()}
    yield from mutations_at(POSITIONS, {**lists, **_spelt_fields(words)})


def _spelt_fields(words: Sequence[str]) -> dict[str, ElementMutation]:
    """Return the mutations of the first text field of a record, by name."""
    spellings = {name: _SPELLINGS[name] for name in ("empty", "cut")}
    spellings |= {f"set-to-{word}": constant(word) for word in (*words, "UNKNOWN")}
    return {f"field-{name}": _in_field(str, to) for name, to in spellings.items()}


def _field(record: Mapping[str, Any], kind: type) -> str:
    """Return the first field of a record whose value is of a kind.

    Raises:
        Inapplicable: the record has no such field.
    """
    for key, value in record.items():
        if isinstance(value, kind):
            return key
    raise Inapplicable("no such field")


def _in_field(kind: type[list[int]] | type[str], mutation: ElementMutation) -> ElementMutation:
    """Return the mutation of a record that mutates its first field of a kind."""

    def mutated(record: Mapping[str, Any], context: MutationContext) -> Mapping[str, Any]:
        field = _field(record, kind)
        return {**record, field: kind(mutation(record[field], context))}

    return mutated


def _across_records(
    mutation: ListMutation, records: Sequence[Any], context: MutationContext
) -> Sequence[Any]:
    """Mutate, as one list, the elements that the lists of all records have at the same index."""
    field = _field(several(1, records)[0], list)
    count = min(len(record[field]) for record in records)
    require(count)
    index = context.draw % count
    column = mutation([record[field][index] for record in records], context)
    return [
        {**record, field: [*replace(record[field], index, number)]}
        for record, number in zip(records, column, strict=True)
    ]


def _merged(records: Sequence[Any], context: MutationContext) -> Sequence[Any]:
    """Merge the first two records into one, with the sum of an element of both lists."""
    field = _field(several(2, records)[0], list)
    first, second = records[0][field], records[1][field]
    index = context.draw % len(several(1, first))
    require(index < len(second))
    merged = [*replace(first, index, first[index] + second[index])]
    return [{**records[0], field: merged}, *records[2:]]


_INTEGER_LIMITS = {
    "greatest-of-i32": (1 << 31) - 1,
    "past-i32": 1 << 31,
    "least-of-i32": -(1 << 31),
    "greatest-of-u32": (1 << 32) - 1,
    "past-u32": 1 << 32,
}
# Words that mean something in other operators, or nowhere.
_WORDS = ("none", "unknown", "bidirectional", "pdpd")
_SPELLINGS: dict[str, ElementMutation] = {
    "empty": constant(""),
    "suffixed": lambda word, _: f"{word}_v2",
    "as-adverb": lambda word, _: f"{word}ly",
    "upper-case": lambda word, _: word.upper(),
    "capitalised": lambda word, _: word.capitalize(),
    "cut": lambda word, _: word[:-1],
}
_FRACTIONS: dict[str, ElementMutation] = {
    **{name: ELEMENTS[name] for name in ("negated", "plus-one", "minus-one", "doubled")},
    "halved": lambda value, _: value / 2.0,
    "set-to-zero": constant(0.0),
    "set-to-one": constant(1.0),
    "set-to-minus-one": constant(-1.0),
    "past-f32": constant(1e39),
}
# Mutations of the length of a list that need no new elements.
_LENGTHS_OF_ANY = (
    *("without-first", "without-last", "without-last-two", "without-all"),
    *("first-alone", "with-first-again"),
)


def attribute_mutations(spec: Spec, attribute: Attribute | Role) -> NamedMutations:
    """Yield mutations of an attribute."""
    # The words of all tables of constants.
    words = sorted({*chain(*(table.values() for table in spec.constants.values()))})
    if attribute.type == "list":
        yield from _list_mutations(attribute, words)
    elif attribute.type == "record":
        for position, name, mutation in integer_list_mutations():
            yield position, f"field-{name}", _in_field(list, mutation)
        yield from whole(_spelt_fields(words))
    else:
        yield from whole(_single_mutations(attribute.type, attribute.one_of))


def _list_mutations(attribute: Attribute | Role, words: Sequence[str]) -> NamedMutations:
    if attribute.elements in (None, "int"):
        is_mask = isinstance(attribute, MaskRole)
        integers = bit_list_mutations() if is_mask else integer_list_mutations()
        records = _record_list_mutations(words) if attribute.elements is None else ()
        for kind, mutations in ((int, integers), (dict, records)):
            for position, name, mutation in mutations:
                yield position, name, partial(_where_all_are, kind, mutation)
        return
    yield from whole({name: LENGTHS[name] for name in _LENGTHS_OF_ANY})
    yield from order_mutations()
    yield from element_mutations(_single_mutations(attribute.elements, attribute.one_of))


def _single_mutations(kind: str, words: tuple[str, ...] | None) -> Mapping[str, ElementMutation]:
    """Return the mutations of a single value by name."""
    if kind == "boolean":
        return {"inverted": lambda value, _: not value}
    if kind == "float":
        return _FRACTIONS
    if kind == "string":
        names = dict.fromkeys((*(words or ()), *_WORDS))
        return {**{f"set-to-{word}": constant(word) for word in names}, **_SPELLINGS}
    return {**ELEMENTS, **{name: constant(number) for name, number in _INTEGER_LIMITS.items()}}


def _where_all_are(
    kind: type, mutation: ListMutation, value: Sequence[Any], context: MutationContext
) -> list[Any]:
    """Mutate a list of elements of a kind; lists of integers and of records share a type."""
    require(all(isinstance(element, kind) for element in value))
    return [*mutation(value, context)]
