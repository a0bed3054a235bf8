"""DirectML's split: sizes, offsets and axes that are taken for others, and wrong checks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.faults import splitting
from tests.faults.fault import DML, Call, Fault, Outputs, Where, Writer, axis_of, given_axis
from tests.faults.unchecked import Unchecked, accepted

_arithmetic = Writer(DML, "index arithmetic")
_axis = Writer(DML, "axis order")
_size = Writer(DML, "size threshold")


def _as_the_first(call: Call, outputs: Outputs) -> Outputs:
    """Take the first part's size for the distance from part to part."""
    axis, step = axis_of(call), outputs[0].shape[axis_of(call)]
    found = []
    for i, each in enumerate(outputs):
        size = each.shape[axis]
        start = min(i * step, call.data.shape[axis] - size)
        found.append(call.data.take(np.arange(start, start + size), axis))
    return found


def _on_axis(name: str, axis: int, rank: int) -> Fault:
    return _axis.spoils(name, lambda call, _: call.data.ndim == rank and axis_of(call) == axis)


def _other_axis(call: Call, other: int) -> Call:
    """Split another axis of the same size, into parts of the same sizes."""
    shape, axis = call.data.shape, axis_of(call)
    if shape[other] != shape[axis]:
        return call
    outputs = call["OutputTensors"]
    axis, sizes = other % len(shape), [each["Sizes"][axis] for each in outputs]
    tensors = [
        {**each, "Sizes": [*shape[:axis], size, *shape[axis + 1 :]]}
        for each, size in zip(outputs, sizes, strict=True)
    ]
    return call.given(Axis=axis, OutputTensors=tensors)


_OWN = [
    _arithmetic.returns("offset-not-advanced", splitting.from_the_first),
    _arithmetic.returns("distance-of-the-first", _as_the_first),
    _arithmetic.returns("equal-parts", splitting.equal_parts),
    _arithmetic.returns("in-memory-order", splitting.in_memory_order),
    _arithmetic.returns("order-reversed", lambda _, out: out[::-1]),
    _arithmetic.spoils("single-output", lambda _, out: len(out) == 1),
    _arithmetic.spoils("all-ones",
        lambda c, out: len(out) > 1 and {each.shape[axis_of(c)] for each in out} == {1}),
    _axis.changes("first-axis", lambda c: _other_axis(c, 0)),
    _axis.changes("last-axis", lambda c: _other_axis(c, -1)),
    _axis.spoils("middle-axis", lambda c, _: 0 < axis_of(c) < c.data.ndim - 1),
    _axis.spoils("axis-5", lambda c, _: axis_of(c) >= 5),
    _on_axis("axis-1-of-8", 1, 8),
    _on_axis("axis-3-of-5", 3, 5),
    _on_axis("channel-axis-of-4", 1, 4),
    *splitting.wrong_by_number(_size),
    _size.spoils("part-128", lambda c, out: max(each.shape[axis_of(c)] for each in out) > 127),
]  # fmt: skip


_lax = Writer(DML, "missing validation")
_strict = Writer(DML, "over-strict")
_narrow = Writer(DML, "narrow index type")

# Whether one of OutputTensors keeps a rule.
Test = Callable[[Call, Mapping[str, Any]], Any]


def _described(call: Call) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call["OutputTensors"]
    return found


def _sum(call: Call) -> int:
    return sum(each["Sizes"][given_axis(call)] for each in _described(call))


def _over(call: Call) -> int:
    over: int = _sum(call) - call.data.shape[given_axis(call)]
    return over


def _off_axis(call: Call, sizes: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return each dimension off the axis that differs: its number, its size, that of the input."""
    triples = zip(range(len(sizes)), sizes, call.data.shape, strict=True)
    return [(d, found, n) for d, found, n in triples if d != given_axis(call) and found != n]


def _placed(rule: str, broken: Test) -> list[Fault]:
    """Write down backends that check a rule for some of the outputs only."""
    places: dict[str, Where] = {
        "any": lambda c: any(broken(c, each) for each in _described(c)),
        "last": lambda c: len(_described(c)) > 1 and broken(c, _described(c)[-1]),
        "between": lambda c: any(broken(c, each) for each in _described(c)[1:-1]),
    }
    return [_lax.accepts(rule, name, where) for name, where in places.items()]


def _type_of(call: Call) -> str:
    return call.data.dtype.name.upper()


def _width(name: str) -> str:
    return "".join(filter(str.isdigit, name))


_UNCHECKED: tuple[Unchecked, ...] = (
    ("axis-range", "scalar", lambda c: c.data.ndim == 0),
    ("output-count-positive", "zero", lambda c: c["OutputCount"] == 0),
    ("output-count-positive", "no-tensors", lambda c: c["OutputCount"] == 0 and not _described(c)),
    ("uint-range", "count-negative", lambda c: c["OutputCount"] < 0),
    ("uint-range", "count-in-32-bits", lambda c: c["OutputCount"] >= 1 << 32),
    ("output-count-matches", "above", lambda c: c["OutputCount"] > len(_described(c))),
    ("output-sizes-sum", "count-below", lambda c: c["OutputCount"] < len(_described(c))),
    ("axis-range", "of-rank", lambda c: given_axis(c) == c.data.ndim),
    ("uint-range", "axis-minus-one", lambda c: given_axis(c) == -1),
    ("uint-range", "axis-below-minus-rank", lambda c: given_axis(c) < -c.data.ndim),
    ("uint-range", "axis-in-32-bits", lambda c: given_axis(c) >= 1 << 32),
    ("output-rank", "more",
        lambda c: any(len(each["Sizes"]) > c.data.ndim for each in _described(c))),
    ("output-rank", "fewer",
        lambda c: any(len(each["Sizes"]) < c.data.ndim for each in _described(c))),
    ("output-type", "same-width",
        lambda c: all(_width(each["DataType"]) == _width(_type_of(c)) for each in _described(c))),
    ("output-type", "sign", lambda c: all(each["DataType"].lstrip("U") == _type_of(c).lstrip("U")
        for each in _described(c))),
    ("output-type", "unknown",
        lambda c: any(each["DataType"] == "UNKNOWN" for each in _described(c))),
    ("uint-range", "sum-right", lambda c: _over(c) == 0),
    ("output-sizes-off-axis", "before", lambda c: all(d < given_axis(c) for each in _described(c)
        for d, *_ in _off_axis(c, each["Sizes"]))),
    ("output-sizes-off-axis", "after", lambda c: all(d > given_axis(c) for each in _described(c)
        for d, *_ in _off_axis(c, each["Sizes"]))),
    ("output-sizes-off-axis", "smaller",
        lambda c: all(x < n for each in _described(c) for _, x, n in _off_axis(c, each["Sizes"]))),
    ("output-sizes-sum", "below", lambda c: _over(c) < 0),
    ("output-sizes-sum", "above", lambda c: _over(c) > 0),
    ("output-sizes-sum", "alone", lambda c: len(_described(c)) == 1),
)  # fmt: skip

_LAX = [
    *accepted(_lax, _UNCHECKED),
    *_placed("output-rank", lambda c, each: len(each["Sizes"]) != c.data.ndim),
    *_placed("output-type", lambda c, each: each["DataType"] != _type_of(c)),
    *_placed("uint-range", lambda _, each: min(each["Sizes"]) < 0),
    *_placed("output-sizes-off-axis", lambda c, each: _off_axis(c, each["Sizes"])),
    _narrow.accepts("output-sizes-sum", "in-8-bits", lambda c: _over(c) % (1 << 8) == 0),
    _narrow.accepts("output-sizes-sum", "in-16-bits", lambda c: _over(c) % (1 << 16) == 0),
    _narrow.accepts("output-sizes-sum", "in-32-bits", lambda c: _over(c) % (1 << 32) == 0),
    _narrow.accepts("uint-range", "size-in-32-bits",
        lambda c: max(max(each["Sizes"]) for each in _described(c)) >= 1 << 32),
    _narrow.accepts("axis-range", "in-8-bits", lambda c: 0 <= given_axis(c) % 256 < c.data.ndim),
]  # fmt: skip

_STRICT = [
    _strict.rejects("single-output-rejected", lambda _, out: len(out) == 1),
    _strict.rejects("unequal-parts-rejected", lambda _, out: len({each.shape for each in out}) > 1),
    _strict.rejects("vectors-rejected", lambda c, _: c.data.ndim == 1),
    _strict.rejects("rank-past-5-rejected", lambda c, _: c.data.ndim > 5),
    _strict.rejects("f64-rejected", lambda c, _: c.data.dtype == np.float64),
    _strict.rejects("parts-of-1-rejected",
        lambda c, out: 1 in [each.shape[given_axis(c)] for each in out]),
]  # fmt: skip

FAULTS: list[Fault] = [*_OWN, *_LAX, *_STRICT]
