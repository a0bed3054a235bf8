"""Mutations of one record, and of a list: of their number, of fields of some, or across them.

A record has fields that are lists of integers or words, as a described tensor has.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from opcert.cases.list_mutations import (
    LENGTHS,
    POSITIONS,
    ListMutation,
    MutationContext,
    element_mutations,
    indices_at,
    integer_list_mutations,
    order_mutations,
    pair_mutations,
)

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
            yield position, f"field-{name}", partial(_of_lists, position, mutation)
        for pair, name, mutation in order_mutations():
            kind = f"field-{pair}-{name}" if pair else f"field-{name}"
            yield position, kind, partial(_of_lists, position, mutation)
        for name, spelling in spellings.items():
            yield position, f"field-{name}", partial(_of_words, position, spelling)


def field_mutations(words: Sequence[str]) -> Iterator[tuple[str, str, RecordMutation]]:
    """Yield the position and the name of each mutation of the fields of one record."""
    for position, name, mutation in integer_list_mutations():
        yield position, f"field-{name}", partial(_of_record, partial(_of_lists, "", mutation))
    for name, spelling in _spellings(words).items():
        yield "", f"field-{name}", partial(_of_record, partial(_of_words, "", spelling))


def _spellings(words: Sequence[str]) -> dict[str, Callable[[str], str]]:
    return {
        "empty": lambda _: "",
        "cut": lambda word: word[:-1],
        **{f"set-to-{word}": partial(_word, word) for word in (*words, "UNKNOWN")},
    }


def _of_record(mutation: RecordMutation, value: Any, context: MutationContext) -> Any:
    """Mutate one record as a list of one record."""
    mutated = mutation([value], context)
    return None if mutated is None else mutated[0]


def _word(word: str, _: str) -> str:
    return word


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


def _of_lists(position: str, mutation: ListMutation, value: Any, context: MutationContext) -> Any:
    """Mutate the list in the records at a position."""
    field = _first_field(value, list)
    if field is None:
        return None
    records = list(value)
    for i in indices_at(position, len(records), context.draw):
        mutated = mutation(records[i][field], context)
        if mutated is None:
            return None
        records[i] = {**records[i], field: list(mutated)}
    return records


def _of_words(
    position: str, spelling: Callable[[str], str], value: Any, context: MutationContext
) -> Any:
    """Mutate the word in the records at a position."""
    field = _first_field(value, str)
    if field is None:
        return None
    records = list(value)
    for i in indices_at(position, len(records), context.draw):
        records[i] = {**records[i], field: spelling(records[i][field])}
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
