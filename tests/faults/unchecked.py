"""Requirements that go unchecked, as rows of a table, and those that several operators have."""

from collections.abc import Iterable
from typing import TypeAlias

from tests.faults.fault import Fault, Where, Writer, given_axis

# The rule, a name and what of a call that breaks it goes unnoticed.
Unchecked: TypeAlias = tuple[str, str, Where]


def accepted(write: Writer, rows: Iterable[Unchecked]) -> list[Fault]:
    """Write down a backend for each row."""
    return [write.accepts(*row) for row in rows]


def left_out(*names: str) -> list[Unchecked]:
    """Return rows for what is required and left out of a call."""

    def row(name: str) -> Unchecked:
        return "required-inputs", name, lambda c: name not in {**c.inputs, **c.attributes}

    return [row(name) for name in names]


def of_floats(**rules: str) -> list[Unchecked]:
    """Return rows for integer inputs of another type, by the rule that each breaks then."""

    def row(name: str, of: str) -> Unchecked:
        return rules[name], of, lambda c: c[name].dtype == of

    return [row(name, of) for name in rules for of in ("float32", "float16")]


def of_ranks(**rules: str) -> list[Unchecked]:
    """Return rows for lists that are a scalar or a matrix, by the rule that each breaks then."""

    def row(name: str, of: str, rank: int) -> Unchecked:
        return rules[name], of, lambda c: c[name].ndim == rank

    return [row(name, *of) for name in rules for of in (("scalar", 0), ("matrix", 2))]


# An axis, an input, that is not one of data's.
AXIS_OUTSIDE: tuple[Unchecked, ...] = (
    ("axis-range", "of-rank", lambda c: given_axis(c) == c.data.ndim),
    ("axis-range", "of-minus-rank-minus-1", lambda c: given_axis(c) == -c.data.ndim - 1),
    ("axis-range", "one-element", lambda c: c["axis"].ndim == 1),
)
