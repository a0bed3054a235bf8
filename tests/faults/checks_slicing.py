"""Slice: requirements that go unchecked, whole or in part, and valid calls that are rejected."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from tests.faults.calls import data, ints, slice_call
from tests.faults.fault import SLICE, Call, Fault, Where, Writer
from tests.faults.unchecked import accepted, left_out

_lax = Writer(SLICE, "missing validation")
_strict = Writer(SLICE, "over-strict")

_ONE = slice_call(data(4, 4), [0], [2], [1], [0])
_TWO = slice_call(data(4, 4, 4), [0, 0], [2, 2], [1, 1], [0, 1])
_THREE = slice_call(data(4, 4, 4), [0] * 3, [2] * 3, [1] * 3, [0, 1, 2])
_LISTS = ("start", "stop", "step")


def _always(_: Call) -> bool:
    return True


def _floats(name: str) -> list[Fault]:
    rule = "axes-type" if name == "axes" else "index-type"
    return [
        _lax.accepts(
            rule,
            f"{name}-{of}",
            f"accepts {name} of {of}",
            lambda call, name=name, of=of: call[name].dtype == of,  # type: ignore[misc]
            _ONE.given(**{name: _ONE[name].astype(of)}),
        )
        for of in ("float32", "float16")
    ]


def _ranks(name: str) -> list[Fault]:
    rule, values = f"{name}-rank", _ONE[name]
    return [
        _lax.accepts(
            rule,
            "scalar",
            f"accepts a scalar {name}",
            lambda call: call[name].ndim == 0,
            _ONE.given(**{name: values.reshape(())}),
        ),
        _lax.accepts(
            rule,
            "matrix",
            f"accepts a matrix as {name}",
            lambda call: call[name].ndim == 2,
            _ONE.given(**{name: values.reshape(1, 1)}),
        ),
    ]


def _others(call: Call, name: str) -> list[int]:
    return [each.size for key, each in call.inputs.items() if key not in ("data", name)]


def _lengths(name: str) -> list[Fault]:
    longer = np.append(_TWO[name], _TWO[name][-1] + (name == "axes"))
    tests: tuple[tuple[str, Where, Call], ...] = (
        (
            "longer",
            lambda call: call[name].size > max(_others(call, name)),
            _TWO.given(**{name: longer}),
        ),
        (
            "single",
            lambda call: call[name].size == 1 < min(_others(call, name)),
            _TWO.given(**{name: _TWO[name][:1]}),
        ),
    )
    return [
        _lax.accepts("equal-lengths", f"{name}-{kind}", f"accepts {name} {kind}", where, call)
        for kind, where, call in tests
    ]


_PLACES = {
    "anywhere": slice(None),
    "first": slice(1),
    "last": slice(-1, None),
    "between": slice(1, -1),
}


def _bound(kind: str, beyond: Callable[[int, int], bool], value: int, *places: str) -> list[Fault]:
    """Write down a bound of axes that goes unchecked in some places."""
    found = []
    for place in places:
        part = _PLACES[place]
        axes = _THREE["axes"].copy()
        axes[part][:1] = value

        def where(call: Call, part: slice = part, whole: bool = place == "anywhere") -> bool:
            listed = call.ints("axes")
            several = whole or len(listed) > 1
            return several and any(beyond(axis, call.data.ndim) for axis in listed[part])

        text = f"accepts an axis {kind.replace('-', ' ')}, {place}"
        call = _THREE.given(axes=axes)
        found.append(_lax.accepts("axes-range", f"{kind}-{place}", text, where, call))
    return found


def _twice(call: Call, apart: bool) -> bool:
    axes = [axis % call.data.ndim for axis in call.ints("axes")]
    neighbours = any(a == b for a, b in pairwise(axes))
    return neighbours != apart


_STEPS: tuple[tuple[str, str, Where, Call], ...] = (
    ("alone", "a step of 0 alone", lambda c: c["step"].size == 1, _ONE.given(step=ints([0]))),
    ("first", "a first step of 0", lambda c: c["step"].size > 1 and c["step"][0] == 0,
     _TWO.given(step=ints([0, 1]))),
    ("last", "a last step of 0", lambda c: c["step"].size > 1 and c["step"][-1] == 0,
     _TWO.given(step=ints([1, 0]))),
    ("between", "a step of 0 between others", lambda c: 0 in c["step"][1:-1],
     _THREE.given(step=ints([1, 0, 1]))),
    ("empty-slice", "a step of 0 where start is stop",
     lambda c: any(z == 0 and x == y for x, y, z in zip(*map(c.ints, _LISTS), strict=True)),
     _ONE.given(step=ints([0]), stop=ints([0]))),
)  # fmt: skip
_REPEATED: tuple[tuple[str, str, Where, Call], ...] = (
    ("neighbours", "an axis listed twice in a row", lambda c: _twice(c, False),
     _TWO.given(axes=ints([1, 1]))),
    ("apart", "an axis listed twice with others between", lambda c: _twice(c, True),
     _THREE.given(axes=ints([1, 0, 1]))),
    ("negative", "an axis listed twice from the end",
     lambda c: max(c.ints("axes")) < 0, _TWO.given(axes=ints([-1, -1]))),
)  # fmt: skip

_LAX = [
    *accepted(_lax, left_out(_ONE, "data", *_LISTS)),
    _lax.accepts("data-rank", "scalar", "accepts a scalar as data", _always,
                 slice_call(data(), [0], [1], [1])),
    *(fault for name in (*_LISTS, "axes") for fault in _floats(name)),
    *(fault for name in (*_LISTS, "axes") for fault in _ranks(name)),
    *(fault for name in (*_LISTS, "axes") for fault in _lengths(name)),
    _lax.accepts("equal-lengths", "without-axes", "checks lengths only where axes are given",
                 lambda call: "axes" not in call.inputs,
                 _TWO.without("axes").given(stop=ints([2]))),
    *(_lax.accepts("step-nonzero", name, f"accepts {text}", where, call)
      for name, text, where, call in _STEPS),
    _lax.accepts("equal-lengths", "no-slices", "accepts no slices where there are axes",
                 lambda call: not any(call[name].size for name in _LISTS),
                 _ONE.given(**{name: ints([]) for name in _LISTS})),
    _lax.accepts("step-nonzero", "without-axes", "checks steps only where axes are given",
                 lambda call: "axes" not in call.inputs,
                 _ONE.without("axes").given(step=ints([0]))),
    _lax.accepts("default-axes-fit", "any", "accepts more slices than axes", _always,
                 slice_call(data(4), [0, 0], [2, 2], [1, 1])),
    *_bound("of-rank", lambda axis, rank: axis == rank, 3, *_PLACES),
    *_bound("past-rank", lambda axis, rank: axis > rank, 5, "anywhere"),
    *_bound("of-minus-rank-minus-1", lambda axis, rank: axis == -rank - 1, -4,
            "anywhere", "between"),
    *_bound("below-minus-rank-minus-1", lambda axis, rank: axis < -rank - 1, -6, "between"),
    *(_lax.accepts("axes-unique", name, f"accepts {text}", where, call)
      for name, text, where, call in _REPEATED),
]  # fmt: skip

_STRICT = [
    _strict.rejects("end-past-n-rejected", "rejects a stop past the axis",
                    lambda call, _: any(stop > max(call.data.shape) for stop in call.ints("stop")),
                    slice_call(data(4), [0], [9], [1])),
    _strict.rejects("negative-step-rejected", "rejects negative steps",
                    lambda call, _: min(call.ints("step"), default=1) < 0,
                    slice_call(data(4), [3], [0], [-1])),
    _strict.rejects("negative-axes-rejected", "rejects negative axes",
                    lambda call, _: "axes" in call.inputs and min(call.ints("axes"), default=0) < 0,
                    slice_call(data(4), [0], [2], [1], [-1])),
    _strict.rejects("unordered-axes-rejected", "rejects axes that do not ascend",
                    lambda call, _: "axes" in call.inputs
                    and call.ints("axes") != sorted(call.ints("axes")),
                    slice_call(data(4, 4), [0, 0], [2, 2], [1, 1], [1, 0])),
    _strict.rejects("axes-required", "rejects calls without axes",
                    lambda call, _: "axes" not in call.inputs, slice_call(data(4), [0], [2], [1])),
    _strict.rejects("unsigned-indices-rejected", "rejects indices of u64",
                    lambda call, _: call["start"].dtype == np.uint64,
                    slice_call(data(4), [0], [2], [1], of="u64")),
    _strict.rejects("narrow-indices-rejected", "rejects indices of 8 bits",
                    lambda call, _: call["start"].itemsize == 1,
                    slice_call(data(4), [0], [2], [1], of="i8")),
    _strict.rejects("step-past-n-rejected", "rejects steps past the axis",
                    lambda call, _: max(call.ints("step"), default=0) > max(call.data.shape),
                    slice_call(data(4), [0], [4], [5])),
]  # fmt: skip

FAULTS = [*_LAX, *_STRICT]
