"""Broadcast: shapes and axes that are matched in another way, and wrong checks."""

import re
from collections.abc import Callable
from itertools import pairwise
from math import prod

import numpy as np

from opcert.reference import RuleBroken
from tests.faults.fault import BROADCAST, Call, Fault, Outputs, Where, Writer, right
from tests.faults.unchecked import Unchecked, accepted, left_out, of_floats, of_ranks

_arithmetic = Writer(BROADCAST, "index arithmetic")
_axes = Writer(BROADCAST, "axis order")
_default = Writer(BROADCAST, "default")
_rank = Writer(BROADCAST, "rank")
_size = Writer(BROADCAST, "size threshold")


def _explicit(call: Call) -> bool:
    return bool(call.get("mode") == "explicit")


def mapped(call: Call, outputs: Outputs) -> list[int]:
    """Return the output axis of each axis of data."""
    if _explicit(call):
        return call.ints("axes_mapping")
    return list(range(outputs[0].ndim - call.data.ndim, outputs[0].ndim))


def _pattern(call: Call, outputs: Outputs) -> str:
    """Say of each output axis whether it is kept, stretched from 1, or new; 1s aside."""
    letters = ["n"] * outputs[0].ndim
    for extent, axis in zip(call.data.shape, mapped(call, outputs), strict=True):
        grown = extent == 1 != outputs[0].shape[axis]
        letters[axis] = "s" if grown else "k"
    pairs = zip(letters, outputs[0].shape, strict=True)
    return "".join(letter for letter, extent in pairs if extent != 1)


def _stretching(name: str, pattern: str) -> Fault:
    """Write down a backend that is wrong where kept and stretched axes alternate in some way."""
    return _arithmetic.spoils(
        f"stretch-{name}", lambda call, out: re.search(pattern, _pattern(call, out))
    )


def _or_right(change: Callable[[Call], Call]) -> Callable[[Call, Outputs], Outputs]:
    """Compute another call where there is one."""

    def compute(call: Call, outputs: Outputs) -> Outputs:
        try:
            return right(BROADCAST, change(call))
        except RuleBroken:
            return outputs

    return compute


def _of_explicit(change: Callable[[Call], Call]) -> Callable[[Call, Outputs], Outputs]:
    return _or_right(lambda call: change(call) if _explicit(call) else call)


def _left_aligned(call: Call) -> Call:
    if _explicit(call):
        return call
    return call.given(axes_mapping=np.arange(call.data.ndim), mode="explicit")


def _repeated(call: Call, outputs: Outputs) -> Outputs:
    """Repeat each element in turn, where the whole is to be repeated."""
    if outputs[0].ndim == call.data.ndim or not call.data.size:
        return outputs
    return [np.repeat(call.data, outputs[0].size // call.data.size).reshape(outputs[0].shape)]


def _tiled(call: Call, outputs: Outputs) -> Outputs:
    """Fill the output with data, element after element, again and again."""
    return [np.resize(call.data, outputs[0].shape)] if call.data.size else outputs


def _gaps(call: Call) -> list[int]:
    if not _explicit(call):
        return []
    mapping = call.ints("axes_mapping")
    return [b - a for a, b in pairwise(mapping) if b - a > 1]


def _mapped_from_the_end(call: Call) -> Call:
    axes = call["target_shape"].size - 1 - call["axes_mapping"].astype(np.int64)
    return call.given(axes_mapping=np.sort(axes))


def _mapped_in_a_row(call: Call) -> Call:
    if not call.data.ndim:
        return call
    return call.given(axes_mapping=call["axes_mapping"][:1] + np.arange(call.data.ndim))


_OWN = [
    _arithmetic.returns("tiled", _tiled),
    _arithmetic.returns("repeated", _repeated),
    _axes.returns("left-aligned", _or_right(_left_aligned)),
    _axes.returns("explicit-as-numpy",
        _of_explicit(lambda call: call.without("axes_mapping", "mode"))),
    _axes.returns("explicit-as-leading",
        _of_explicit(lambda call: call.given(axes_mapping=np.arange(call.data.ndim)))),
    _axes.returns("mapping-from-the-end", _of_explicit(_mapped_from_the_end)),
    _axes.returns("mapping-first-only", _of_explicit(_mapped_in_a_row)),
    _axes.spoils("gap-of-two", lambda call, _: max(_gaps(call), default=0) > 2),
    _axes.spoils("two-gaps", lambda call, _: len(_gaps(call)) > 1),
    _axes.spoils("gap-after-the-first-axis",
        lambda call, _: _gaps(call) and call.ints("axes_mapping")[0] > 0),
    _default.rejects("mode-required", lambda call, _: "mode" not in call),
    _default.spoils("mode-passed", lambda call, _: call.get("mode") == "numpy"),
    _default.returns("mode-explicit-by-default",
        _or_right(lambda call: call if "mode" in call else _left_aligned(call))),
    _rank.spoils("three-new-axes", lambda call, out: out[0].ndim - call.data.ndim == 3),
    _rank.spoils("five-new-axes", lambda call, out: out[0].ndim - call.data.ndim >= 5),
    _rank.spoils("output-rank-8", lambda _, out: out[0].ndim == 8),
    _rank.spoils("explicit-output-rank-8", lambda call, out: out[0].ndim == 8 and _explicit(call)),
    _rank.spoils("explicit-scalar", lambda call, _: _explicit(call) and not call.data.ndim),
    _rank.spoils("explicit-equal-ranks",
        lambda call, out: _explicit(call) and call.data.ndim == out[0].ndim),
    _size.spoils("repeated-256-times",
        lambda call, out: call.data.size and out[0].size // call.data.size > 255),
]  # fmt: skip

_STRETCHES = [
    _stretching("first", "^s"),
    _stretching("last", "s$"),
    _stretching("middle", "^k+s+k+$"),
    _stretching("both-ends", "s+k+s+"),
    _stretching("all", "^s+$"),
    _stretching("twice", "k+s+k+s+k+"),
    _stretching("four-times", "(s+k+){4}|(k+s+){4}"),
    _arithmetic.spoils("stretched-and-new",
        lambda call, out: {"s", "n"} <= set(_pattern(call, out))),
]  # fmt: skip


_lax = Writer(BROADCAST, "missing validation")
_strict = Writer(BROADCAST, "over-strict")


def _target(call: Call) -> list[int]:
    return call.ints("target_shape")


def _mapping(call: Call) -> list[int]:
    return call.ints("axes_mapping")


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


# What of a mismatch goes unnoticed.
_FITS: tuple[tuple[str, Where], ...] = (
    ("target-one", lambda c: all(t == 1 for *_, t in _mismatches(c))),
    ("target-zero", lambda c: all(t == 0 for *_, t in _mismatches(c))),
    ("data-zero", lambda c: all(n == 0 for _, n, _t in _mismatches(c))),
    ("first", lambda c: all(i == 0 < c.data.ndim - 1 for i, *_ in _mismatches(c))),
    ("last", lambda c: all(i == c.data.ndim - 1 > 0 for i, *_ in _mismatches(c))),
    ("between", lambda c: all(0 < i < c.data.ndim - 1 for i, *_ in _mismatches(c))),
    ("multiple", lambda c: all(n and t and t % n == 0 for _, n, t in _mismatches(c))),
    ("same-count", lambda c: c.data.size == prod(_target(c))),
    ("vector", lambda c: c.data.ndim == 1),
)  # fmt: skip


def _compatible(mode: str) -> list[Fault]:
    rows = _FITS[3:7] if mode == "explicit" else _FITS
    return [_lax.accepts(f"{mode}-compatible", *row) for row in rows]


_UNCHECKED: tuple[Unchecked, ...] = (
    *left_out("data", "target_shape"),
    ("mode-known", "any", lambda _: True),
    ("mode-known", "empty", lambda c: c["mode"] == ""),
    *of_floats(target_shape="target-type", axes_mapping="axes-mapping-type"),
    *of_ranks(target_shape="target-rank", axes_mapping="axes-mapping-rank"),
    ("target-not-negative", "minus-one", lambda c: min(_target(c)) == -1),
    ("target-not-negative", "first", lambda c: len(_target(c)) > 1 and _target(c)[0] < 0),
    ("target-not-negative", "last", lambda c: len(_target(c)) > 1 and _target(c)[-1] < 0),
    ("target-not-negative", "explicit", _explicit),
    ("target-not-negative", "with-zero", lambda c: 0 in _target(c)),
    ("numpy-rank", "any", lambda _: True),
    ("numpy-rank", "leading-ones",
        lambda c: set(c.data.shape[: c.data.ndim - len(_target(c))]) == {1}),
    ("numpy-rank", "empty-target", lambda c: not _target(c)),
    ("explicit-with-axes-mapping", "any", lambda _: True),
    ("explicit-with-axes-mapping", "aligned", _aligns),
    ("axes-mapping-size", "longer", lambda c: len(_mapping(c)) > c.data.ndim),
    ("axes-mapping-size", "shorter", lambda c: len(_mapping(c)) < c.data.ndim),
    ("axes-mapping-size", "scalar-data", lambda c: not c.data.ndim),
    ("axes-mapping-size", "empty", lambda c: not _mapping(c)),
    ("axes-mapping-range", "of-rank", lambda c: max(_mapping(c)) == len(_target(c))),
    ("axes-mapping-range", "below-minus-rank", lambda c: min(_mapping(c)) < -len(_target(c))),
    ("axes-mapping-sorted", "first-pair", lambda c: _descents(c) == [0]),
    ("axes-mapping-sorted", "last-pair", lambda c: _descents(c) == [len(_mapping(c)) - 2]),
    ("axes-mapping-sorted", "reversed", lambda c: len(_descents(c)) == len(_mapping(c)) - 1),
    ("axes-mapping-sorted", "ends-ascend", lambda c: _mapping(c)[0] < _mapping(c)[-1]),
)  # fmt: skip

_STRICT = [
    _strict.rejects("same-shape-rejected", lambda c, out: c.data.shape == out[0].shape),
    _strict.rejects("empty-target-rejected", lambda _, out: not out[0].ndim),
    _strict.rejects("gaps-rejected",
        lambda c, _: _explicit(c) and any(b - a > 1 for a, b in pairwise(_mapping(c)))),
    _strict.rejects("explicit-ones-rejected", lambda c, _: _explicit(c) and 1 in c.data.shape),
    _strict.rejects("trailing-mapping-only", lambda c, out: _explicit(c) and c.data.ndim
        and _mapping(c)[0] != out[0].ndim - c.data.ndim),
    _strict.rejects("unsigned-target-rejected", lambda c, _: c["target_shape"].dtype == np.uint64),
    _strict.rejects("narrow-target-rejected", lambda c, _: c["target_shape"].itemsize == 1),
]  # fmt: skip

FAULTS = [
    *_OWN,
    *_STRETCHES,
    *accepted(_lax, _UNCHECKED),
    *_compatible("numpy"),
    *_compatible("explicit"),
    *_STRICT,
]
