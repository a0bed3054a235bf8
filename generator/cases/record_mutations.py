"""Changes of a list of records: of their number, of the fields of one or of all, across them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from opcert.cases.list_mutations import (
    LENGTHS,
    POSITIONS,
    ListChange,
    MutationContext,
    elements,
    orders,
    pairs,
    positions_in,
)

# What a list is, given what it is in a call; None where it is not of records, or cannot be so.
RecordChange = Callable[[Any, MutationContext], Any]

_NUMBERS_OF: dict[str, Callable[[Sequence[Any]], Sequence[Any] | None]] = {
    "without-first-record": lambda records: records[1:],
    "without-last-record": lambda records: records[:-1] if len(records) > 1 else None,
    "without-last-two-records": lambda records: records[:-2] if len(records) > 2 else None,
    "without-records": lambda _: [],
    "with-first-record-again": lambda records: [*records, records[0]],
    "with-last-two-records-again": lambda records: [*records, *records[-2:]],
}


def record_changes(words: Sequence[str]) -> Iterator[tuple[str, str, RecordChange]]:
    """Yield the position and the name of each change of records, and the change.

    Fields are lists of integers, or words, of which `words` are known. A list of one element of
    each record is changed as a list is elsewhere: lengths that add up are such a one.
    """
    for name, other_number in _NUMBERS_OF.items():
        yield "", name, partial(_numbered, other_number)
    yield "", "merged", _merged
    for position, name, change in (*elements(), *orders(), *pairs()):
        yield position, f"fields-{name}", partial(_across, change)
    spellings: dict[str, Callable[[str], str]] = {
        "empty": lambda _: "",
        "cut": lambda word: word[:-1],
        **{f"set-to-{word}": partial(_said, word) for word in (*words, "UNKNOWN")},
    }
    for position in POSITIONS:
        for name, change in LENGTHS.items():
            yield position, f"field-{name}", partial(_within, position, change)
        for pair, name, change in orders():
            kind = f"field-{pair}-{name}" if pair else f"field-{name}"
            yield position, kind, partial(_within, position, change)
        for name, spell in spellings.items():
            yield position, f"field-{name}", partial(_worded, position, spell)


def _numbered(change: Callable[[Sequence[Any]], Any], value: Any, _: MutationContext) -> Any:
    return change(value) if value and isinstance(value[0], dict) else None


def _said(word: str, _: str) -> str:
    return word


def _fields(value: Any, kind: type) -> list[str]:
    """Return the fields of records that have a value of a kind."""
    if not value or not isinstance(value[0], dict):
        return []
    return [key for key, each in value[0].items() if isinstance(each, kind)]


def _across(change: ListChange, value: Any, aim: MutationContext) -> Any:
    """Change a list of one element of each record's list, at a place that is drawn."""
    for field in _fields(value, list):
        count = min(len(record[field]) for record in value)
        if count == 0:
            continue
        place = aim.draw % count
        column = change([record[field][place] for record in value], aim)
        if column is None:
            return None
        return [
            {**record, field: [*record[field][:place], number, *record[field][place + 1 :]]}
            for record, number in zip(value, column, strict=True)
        ]
    return None


def _within(position: str, change: ListChange, value: Any, aim: MutationContext) -> Any:
    """Change the list of the records at a position."""
    for field in _fields(value, list):
        records = list(value)
        for i in positions_in(position, len(records), aim.draw):
            changed = change(records[i][field], aim)
            if changed is None:
                return None
            records[i] = {**records[i], field: list(changed)}
        return records
    return None


def _worded(position: str, change: Callable[[str], str], value: Any, aim: MutationContext) -> Any:
    """Change the word of the records at a position."""
    for field in _fields(value, str):
        records = list(value)
        for i in positions_in(position, len(records), aim.draw):
            records[i] = {**records[i], field: change(records[i][field])}
        return records
    return None


def _merged(value: Any, aim: MutationContext) -> Any:
    """Make one record of the first two, with the sum of an element of theirs that is drawn."""
    for field in _fields(value, list):
        if len(value) < 2 or not value[0][field]:
            return None
        one, other = value[0][field], value[1][field]
        place = aim.draw % len(one)
        if place >= len(other):
            return None
        sizes = [*one[:place], one[place] + other[place], *one[place + 1 :]]
        return [{**value[0], field: sizes}, *value[2:]]
    return None
