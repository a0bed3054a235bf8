"""Broadcast: requirements that go unchecked, in part too, and valid calls that are rejected."""

from itertools import pairwise
from math import prod

import numpy as np

from tests.faults.calls import broadcast_call, data, ints
from tests.faults.fault import BROADCAST, Call, Fault, Where, Writer
from tests.faults.unchecked import Unchecked, accepted, left_out, of_floats

_lax = Writer(BROADCAST, "missing validation")
_strict = Writer(BROADCAST, "over-strict")

_NUMPY = broadcast_call(data(3, 2), [4, 3, 2])
_EXPLICIT = broadcast_call(data(3, 2), [3, 4, 2], [0, 2])
_TRAILING = broadcast_call(data(3, 2), [4, 3, 2], [1, 2])
_THREE = broadcast_call(data(3, 4, 2), [3, 4, 2, 5], [0, 1, 2])


def _target(call: Call) -> list[int]:
    return call.ints("target_shape")


def _mapping(call: Call) -> list[int]:
    return call.ints("axes_mapping")


def _explicit(call: Call) -> bool:
    return call.attributes.get("mode") == "explicit"


def _mismatches(call: Call) -> list[tuple[int, int, int]]:
    """Return each axis of data that does not fit: its number, its size and that of the target."""
    target = _target(call)
    last = range(len(target) - call.data.ndim, len(target))
    pairs = enumerate(
        zip(call.data.shape, _mapping(call) if _explicit(call) else last, strict=True)
    )
    found = [(i, n, target[axis]) for i, (n, axis) in pairs]
    return [(i, n, wanted) for i, n, wanted in found if n not in (1, wanted)]


def _descents(call: Call) -> list[int]:
    mapping = _mapping(call)
    return [i for i, (a, b) in enumerate(pairwise(mapping)) if a > b]


def _aligns(call: Call) -> bool:
    target = _target(call)[len(_target(call)) - call.data.ndim :]
    return all(n in (1, wanted) for n, wanted in zip(call.data.shape, target, strict=True))


def _with(call: Call, **lists: list[int]) -> Call:
    return call.given(**{name: ints(values) for name, values in lists.items()})


# What of a mismatch goes unnoticed, with sizes of data and a target that show it.
_FITS: tuple[tuple[str, str, Where, tuple[int, ...], list[int]], ...] = (
    ("target-one", "where the target is 1", lambda c: all(t == 1 for *_, t in _mismatches(c)),
     (3, 2), [1, 2]),
    ("target-zero", "where the target is 0", lambda c: all(t == 0 for *_, t in _mismatches(c)),
     (3, 2), [0, 2]),
    ("data-zero", "where data has 0", lambda c: all(n == 0 for _, n, _t in _mismatches(c)),
     (0, 2), [3, 2]),
    ("first", "on the first axis",
     lambda c: all(i == 0 < c.data.ndim - 1 for i, *_ in _mismatches(c)), (3, 2), [4, 2]),
    ("last", "on the last axis",
     lambda c: all(i == c.data.ndim - 1 > 0 for i, *_ in _mismatches(c)), (3, 2), [3, 4]),
    ("between", "on axes between",
     lambda c: all(0 < i < c.data.ndim - 1 for i, *_ in _mismatches(c)), (3, 2, 2), [3, 4, 2]),
    ("multiple", "where the target is a multiple",
     lambda c: all(n and t and t % n == 0 for _, n, t in _mismatches(c)), (3, 2), [6, 2]),
    ("same-count", "where the number of elements is that of the target",
     lambda c: c.data.size == prod(_target(c)), (3, 2), [2, 3]),
    ("vector", "where data is of rank 1", lambda c: c.data.ndim == 1, (3,), [4]),
)  # fmt: skip


def _compatible(mode: str) -> list[Fault]:
    mapped = mode == "explicit"
    return [
        _lax.accepts(
            f"{mode}-compatible",
            name,
            f"accepts sizes that do not fit {text}, in mode {mode}",
            where,
            broadcast_call(data(*shape), target, list(range(len(shape))) if mapped else None),
        )
        for name, text, where, shape, target in (_FITS[3:7] if mapped else _FITS)
    ]


_UNCHECKED: tuple[Unchecked, ...] = (
    *left_out(_NUMPY, "data", "target_shape"),
    ("mode-known", "any", "any mode", lambda _: True, _NUMPY.with_attributes(mode="pdpd")),
    ("mode-known", "empty", "an empty mode", lambda c: c.attributes["mode"] == "",
     _NUMPY.with_attributes(mode="")),
    *of_floats(_EXPLICIT, target_shape="target-type", axes_mapping="axes-mapping-type"),
    ("target-rank", "scalar", "a scalar as target_shape",
     lambda c: c["target_shape"].ndim == 0,
     _NUMPY.given(data=data(), target_shape=ints(3))),
    ("target-rank", "matrix", "a matrix as target_shape",
     lambda c: c["target_shape"].ndim == 2, _NUMPY.given(target_shape=ints([[4, 3, 2]]))),
    ("target-not-negative", "minus-one", "-1 in target_shape", lambda c: min(_target(c)) == -1,
     _with(_NUMPY, target_shape=[-1, 3, 2])),
    ("target-not-negative", "first", "a negative first size",
     lambda c: len(_target(c)) > 1 and _target(c)[0] < 0, _with(_NUMPY, target_shape=[-1, 3, 2])),
    ("target-not-negative", "last", "a negative last size",
     lambda c: len(_target(c)) > 1 and _target(c)[-1] < 0, _with(_NUMPY, target_shape=[4, 3, -1])),
    ("target-not-negative", "explicit", "negative sizes in mode explicit", _explicit,
     _with(_EXPLICIT, target_shape=[3, -1, 2])),
    ("target-not-negative", "with-zero", "negative sizes with a 0",
     lambda c: 0 in _target(c), broadcast_call(data(1), [0, -1])),
    ("numpy-rank", "any", "data of more dimensions than the target", lambda _: True,
     broadcast_call(data(3, 2), [2])),
    ("numpy-rank", "leading-ones", "data of more dimensions where those are 1",
     lambda c: set(c.data.shape[: c.data.ndim - len(_target(c))]) == {1},
     broadcast_call(data(1, 2), [2])),
    ("numpy-rank", "empty-target", "data of any rank for an empty target",
     lambda c: not _target(c), broadcast_call(data(2), [])),
    ("explicit-with-axes-mapping", "any", "mode explicit without axes_mapping", lambda _: True,
     _EXPLICIT.without("axes_mapping")),
    ("explicit-with-axes-mapping", "aligned",
     "mode explicit without axes_mapping where data aligns as in mode numpy", _aligns,
     _TRAILING.without("axes_mapping")),
    ("axes-mapping-rank", "scalar", "a scalar as axes_mapping",
     lambda c: c["axes_mapping"].ndim == 0, broadcast_call(data(3), [3, 2], 0)),
    ("axes-mapping-rank", "matrix", "a matrix as axes_mapping",
     lambda c: c["axes_mapping"].ndim == 2, _EXPLICIT.given(axes_mapping=ints([[0, 2]]))),
    ("axes-mapping-size", "longer", "more axes mapped than data has",
     lambda c: len(_mapping(c)) > c.data.ndim, _with(_EXPLICIT, axes_mapping=[0, 1, 2])),
    ("axes-mapping-size", "shorter", "fewer axes mapped than data has",
     lambda c: len(_mapping(c)) < c.data.ndim, _with(_EXPLICIT, axes_mapping=[0])),
    ("axes-mapping-size", "scalar-data", "axes mapped for a scalar", lambda c: not c.data.ndim,
     broadcast_call(data(), [2], [0])),
    ("axes-mapping-size", "empty", "an empty axes_mapping for any data",
     lambda c: not _mapping(c), _with(_EXPLICIT, axes_mapping=[])),
    ("axes-mapping-range", "of-rank", "an axis of the output's rank",
     lambda c: max(_mapping(c)) == len(_target(c)), _with(_EXPLICIT, axes_mapping=[0, 3])),
    ("axes-mapping-range", "below-minus-rank", "an axis below the negated rank of the output",
     lambda c: min(_mapping(c)) < -len(_target(c)), _with(_EXPLICIT, axes_mapping=[-4, 2])),
    ("axes-mapping-sorted", "first-pair", "a first pair that descends",
     lambda c: _descents(c) == [0], _with(_THREE, axes_mapping=[1, 0, 2])),
    ("axes-mapping-sorted", "last-pair", "a last pair that descends",
     lambda c: _descents(c) == [len(_mapping(c)) - 2], _with(_THREE, axes_mapping=[0, 2, 1])),
    ("axes-mapping-sorted", "reversed", "axes in descending order",
     lambda c: len(_descents(c)) == len(_mapping(c)) - 1, _with(_THREE, axes_mapping=[2, 1, 0])),
    ("axes-mapping-sorted", "ends-ascend", "unsorted axes whose first is less than the last",
     lambda c: _mapping(c)[0] < _mapping(c)[-1], _with(_THREE, axes_mapping=[1, 0, 2])),
)  # fmt: skip

_STRICT = [
    _strict.rejects("same-shape-rejected", "rejects a target that data has already",
                    lambda c, out: c.data.shape == out[0].shape, broadcast_call(data(3), [3])),
    _strict.rejects("empty-target-rejected", "rejects an empty target",
                    lambda _, out: not out[0].ndim, broadcast_call(data(), [])),
    _strict.rejects("gaps-rejected", "rejects an axes_mapping with gaps",
                    lambda c, _: _explicit(c)
                    and any(b - a > 1 for a, b in pairwise(_mapping(c))),
                    _EXPLICIT),
    _strict.rejects("explicit-ones-rejected", "rejects sizes of 1 in mode explicit",
                    lambda c, _: _explicit(c) and 1 in c.data.shape,
                    broadcast_call(data(1), [1, 2], [0])),
    _strict.rejects("trailing-mapping-only", "rejects an axes_mapping that is not the last axes",
                    lambda c, out: _explicit(c) and c.data.ndim
                    and _mapping(c)[0] != out[0].ndim - c.data.ndim,
                    broadcast_call(data(2), [2, 3], [0])),
    _strict.rejects("unsigned-target-rejected", "rejects a target_shape of u64",
                    lambda c, _: c["target_shape"].dtype == np.uint64,
                    broadcast_call(data(3), [3], of="u64")),
    _strict.rejects("narrow-target-rejected", "rejects a target_shape of 8 bits",
                    lambda c, _: c["target_shape"].itemsize == 1,
                    broadcast_call(data(3), [3], of="i8")),
]  # fmt: skip

FAULTS = [
    *accepted(_lax, _UNCHECKED),
    *_compatible("numpy"),
    *_compatible("explicit"),
    *_STRICT,
]
