"""Requirements that go unchecked, as rows of a table, and those that several operators have."""

from collections.abc import Iterable
from typing import TypeAlias

from tests.faults.axis import given_axis
from tests.faults.calls import ints
from tests.faults.fault import Call, Fault, Where, Writer

# The rule, a name and what is accepted, where, and a call that shows it.
Unchecked: TypeAlias = tuple[str, str, str, Where, Call]


def accepted(write: Writer, rows: Iterable[Unchecked]) -> list[Fault]:
    """Write down a backend for each row."""
    return [
        write.accepts(rule, name, f"accepts {text}", where, call)
        for rule, name, text, where, call in rows
    ]


def left_out(call: Call, *names: str) -> list[Unchecked]:
    """Return rows for what is required and left out of a call."""

    def row(name: str) -> Unchecked:
        where = lambda c: name not in {**c.inputs, **c.attributes}  # noqa: E731
        return "required-inputs", name, f"calls without {name}", where, call.without(name)

    return [row(name) for name in names]


def of_floats(call: Call, **rules: str) -> list[Unchecked]:
    """Return rows for integer inputs of another type, by the rule that each breaks then."""

    def row(name: str, of: str) -> Unchecked:
        changed = call.given(**{name: call[name].astype(of)})
        return rules[name], of, f"{name} of {of}", lambda c: c[name].dtype == of, changed

    return [row(name, of) for name in rules for of in ("float32", "float16")]


def axis_outside(call: Call) -> list[Unchecked]:
    """Return rows for an axis, an input, that is not one of data's."""
    rank, rule = call.data.ndim, "axis-range"
    return [
        (rule, "of-rank", "an axis of rank", lambda c: given_axis(c) == c.data.ndim,
         call.given(axis=ints(rank))),
        (rule, "of-minus-rank-minus-1", "an axis of -rank - 1",
         lambda c: given_axis(c) == -c.data.ndim - 1, call.given(axis=ints(-rank - 1))),
        (rule, "one-element", "any axis of shape [1]", lambda c: c["axis"].ndim == 1,
         call.given(axis=ints([5]))),
    ]  # fmt: skip
