"""DirectML's split: requirements that go unchecked, in part too, and valid calls rejected."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.faults.axis import given_axis
from tests.faults.calls import data, dml_call
from tests.faults.fault import DML, Call, Fault, Where, Writer
from tests.faults.unchecked import Unchecked, accepted

_lax = Writer(DML, "missing validation")
_strict = Writer(DML, "over-strict")
_narrow = Writer(DML, "narrow index type")

# Whether one of OutputTensors keeps a rule.
Test = Callable[[Call, Mapping[str, Any]], Any]

_THREE = dml_call(data(6, 2, 2), 0, [3, 2, 1])
_EVEN = dml_call(data(6, 2, 2), 0, [2, 2, 2])


def _three(**attributes: Any) -> Call:
    """Return the call of three parts with other attributes."""
    return _THREE.with_attributes(**attributes)


def _described(call: Call) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call.attributes["OutputTensors"]
    return found


def _changed(position: int, call: Call = _THREE, **changes: Any) -> Call:
    """Return the call with another description of one output."""
    tensors = [dict(each) for each in _described(call)]
    tensors[position] |= changes
    return call.with_attributes(OutputTensors=tensors)


def _sum(call: Call) -> int:
    return sum(each["Sizes"][given_axis(call)] for each in _described(call))


def _over(call: Call) -> int:
    over: int = _sum(call) - call.data.shape[given_axis(call)]
    return over


def _off_axis(call: Call, sizes: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return each dimension off the axis that differs: its number, its size, that of the input."""
    triples = zip(range(len(sizes)), sizes, call.data.shape, strict=True)
    return [(d, found, n) for d, found, n in triples if d != given_axis(call) and found != n]


def _placed(rule: str, what: str, broken: Test, changes: Mapping[str, Any]) -> list[Fault]:
    """Write down backends that check a rule for some of the outputs only."""
    places: tuple[tuple[str, str, Where, int], ...] = (
        ("any", "of any output", lambda c: any(broken(c, each) for each in _described(c)), 0),
        ("last", "of a last output",
         lambda c: len(_described(c)) > 1 and broken(c, _described(c)[-1]), -1),
        ("between", "of outputs between others",
         lambda c: any(broken(c, each) for each in _described(c)[1:-1]), 1),
    )  # fmt: skip
    return [
        _lax.accepts(
            rule, name, f"accepts {what} {text}", where, _changed(position, _EVEN, **changes)
        )
        for name, text, where, position in places
    ]


def _type_of(call: Call) -> str:
    return call.data.dtype.name.upper()


def _width(name: str) -> str:
    return "".join(filter(str.isdigit, name))


_UNCHECKED: tuple[Unchecked, ...] = (
    ("axis-range", "scalar", "a scalar", lambda c: c.data.ndim == 0,
     _changed(0, dml_call(data(1), 0, [1]), Sizes=[]).given(InputTensor=data())),
    ("output-count-positive", "zero", "an OutputCount of 0",
     lambda c: c.attributes["OutputCount"] == 0, _three(OutputCount=0)),
    ("output-count-positive", "no-tensors", "an OutputCount of 0 where there are no outputs",
     lambda c: c.attributes["OutputCount"] == 0 and not _described(c),
     _three(OutputCount=0, OutputTensors=[])),
    ("uint-range", "count-negative", "a negative OutputCount",
     lambda c: c.attributes["OutputCount"] < 0, _three(OutputCount=-1)),
    ("uint-range", "count-in-32-bits", "an OutputCount past 32 bits",
     lambda c: c.attributes["OutputCount"] >= 1 << 32, _three(OutputCount=3 + (1 << 32))),
    ("output-count-matches", "above", "more outputs counted than described",
     lambda c: c.attributes["OutputCount"] > len(_described(c)), _three(OutputCount=4)),
    ("output-sizes-sum", "count-below", "fewer outputs counted than described",
     lambda c: c.attributes["OutputCount"] < len(_described(c)), _three(OutputCount=2)),
    ("axis-range", "of-rank", "an Axis of rank", lambda c: given_axis(c) == c.data.ndim,
     _three(Axis=3)),
    ("uint-range", "axis-minus-one", "an Axis of -1", lambda c: given_axis(c) == -1,
     _three(Axis=-1)),
    ("uint-range", "axis-below-minus-rank", "an Axis below -rank",
     lambda c: given_axis(c) < -c.data.ndim, _three(Axis=-4)),
    ("uint-range", "axis-in-32-bits", "an Axis past 32 bits",
     lambda c: given_axis(c) >= 1 << 32, _three(Axis=1 << 32)),
    ("output-rank", "more", "outputs of more dimensions",
     lambda c: any(len(each["Sizes"]) > c.data.ndim for each in _described(c)),
     _changed(0, Sizes=[1, 3, 2, 2])),
    ("output-rank", "fewer", "outputs of fewer dimensions",
     lambda c: any(len(each["Sizes"]) < c.data.ndim for each in _described(c)),
     _changed(0, Sizes=[3, 2])),
    ("output-type", "same-width", "outputs of another type as wide",
     lambda c: all(_width(each["DataType"]) == _width(_type_of(c)) for each in _described(c)),
     _changed(0, DataType="INT32")),
    ("output-type", "sign", "outputs of the other signedness",
     lambda c: all(each["DataType"].lstrip("U") == _type_of(c).lstrip("U")
      for each in _described(c)),
     _changed(0, dml_call(data(4, of="i32"), 0, [4]), DataType="UINT32")),
    ("output-type", "unknown", "outputs of type UNKNOWN",
     lambda c: any(each["DataType"] == "UNKNOWN" for each in _described(c)),
     _changed(0, DataType="UNKNOWN")),
    ("uint-range", "sum-right", "negative sizes where the sum is right",
     lambda c: _over(c) == 0, _changed(0, dml_call(data(2), 0, [-1, 3]))),
    ("output-sizes-off-axis", "before", "other sizes before the axis",
     lambda c: all(d < given_axis(c)
      for each in _described(c) for d, *_ in _off_axis(c, each["Sizes"])),
     _changed(0, dml_call(data(2, 4), 1, [1, 3]), Sizes=[3, 1])),
    ("output-sizes-off-axis", "after", "other sizes after the axis",
     lambda c: all(d > given_axis(c)
      for each in _described(c) for d, *_ in _off_axis(c, each["Sizes"])),
     _changed(0, Sizes=[3, 2, 3])),
    ("output-sizes-off-axis", "smaller", "smaller sizes off the axis",
     lambda c: all(x < n for each in _described(c) for _, x, n in _off_axis(c, each["Sizes"])),
     _changed(0, Sizes=[3, 2, 1])),
    ("output-sizes-sum", "below", "sizes that sum to less", lambda c: _over(c) < 0,
     dml_call(data(6), 0, [3, 2])),
    ("output-sizes-sum", "above", "sizes that sum to more", lambda c: _over(c) > 0,
     dml_call(data(6), 0, [3, 4])),
    ("output-sizes-sum", "alone", "a single output of another size",
     lambda c: len(_described(c)) == 1,
     dml_call(data(6), 0, [5])),
)  # fmt: skip

_LAX = [
    *accepted(_lax, _UNCHECKED),
    *_placed("output-rank", "another rank", lambda c, each: len(each["Sizes"]) != c.data.ndim,
             {"Sizes": [2, 2]}),
    *_placed("output-type", "another type", lambda c, each: each["DataType"] != _type_of(c),
             {"DataType": "FLOAT16"}),
    *_placed("uint-range", "a negative size",
             lambda _, each: min(each["Sizes"]) < 0, {"Sizes": [-1, 2, 2]}),
    *_placed("output-sizes-off-axis", "other sizes off the axis",
             lambda c, each: _off_axis(c, each["Sizes"]), {"Sizes": [2, 2, 9]}),
    *(
        _narrow.accepts("output-sizes-sum", f"in-{bits}-bits", f"sums sizes in {bits} bits",
                        lambda c, bits=bits: _over(c) % (1 << bits) == 0,  # type: ignore[misc]
                        dml_call(data(6), 0, [3, 3 + (1 << bits)]))
        for bits in (8, 16)
    ),
    _narrow.accepts("output-sizes-sum", "in-32-bits", "sums sizes in 32 bits",
                    lambda c: _over(c) % (1 << 32) == 0,
                    dml_call(data(6), 0, [3, 3, (1 << 32) - 1, 1])),
    _narrow.accepts("uint-range", "size-in-32-bits", "takes sizes in 32 bits",
                    lambda c: max(max(each["Sizes"]) for each in _described(c)) >= 1 << 32,
                    dml_call(data(6), 0, [3, 3 + (1 << 32)])),
    _narrow.accepts("axis-range", "in-8-bits", "takes Axis in 8 bits",
                    lambda c: 0 <= given_axis(c) % 256 < c.data.ndim, _three(Axis=256)),
]  # fmt: skip

_STRICT = [
    _strict.rejects("single-output-rejected", "rejects a single output",
                    lambda _, out: len(out) == 1, dml_call(data(3), 0, [3])),
    _strict.rejects("unequal-parts-rejected", "rejects parts of unequal sizes",
                    lambda _, out: len({each.shape for each in out}) > 1, _THREE),
    _strict.rejects("vectors-rejected", "rejects inputs of rank 1",
                    lambda c, _: c.data.ndim == 1, dml_call(data(3), 0, [3])),
    _strict.rejects("rank-past-5-rejected", "rejects ranks past 5, as old feature levels do",
                    lambda c, _: c.data.ndim > 5, dml_call(data(*[1] * 6), 0, [1])),
    _strict.rejects("f64-rejected", "rejects f64, as old feature levels do",
                    lambda c, _: c.data.dtype == np.float64, dml_call(data(3, of="f64"), 0, [3])),
    _strict.rejects("parts-of-1-rejected", "rejects parts of size 1",
                    lambda c, out: 1 in [each.shape[given_axis(c)] for each in out],
                    dml_call(data(3), 0, [1, 2])),
]  # fmt: skip

FAULTS: list[Fault] = [*_LAX, *_STRICT]
