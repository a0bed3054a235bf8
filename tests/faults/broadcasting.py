"""Broadcast: shapes and axes that are matched in another way."""

import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from opcert.reference import RuleBroken
from tests.faults.calls import broadcast_call, data
from tests.faults.fault import BROADCAST, Call, Fault, Outputs, Writer, right

_arithmetic = Writer(BROADCAST, "index arithmetic")
_axes = Writer(BROADCAST, "axis order")
_default = Writer(BROADCAST, "default")
_rank = Writer(BROADCAST, "rank")
_size = Writer(BROADCAST, "size threshold")


def _explicit(call: Call) -> bool:
    return call.attributes.get("mode") == "explicit"


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


def _stretching(name: str, text: str, pattern: str, shape: tuple[int, ...]) -> Fault:
    """Write down a backend that is wrong where kept and stretched axes alternate in some way."""
    target = [2 if extent == 1 else extent for extent in shape]
    return _arithmetic.spoils(
        f"stretch-{name}",
        f"is wrong where {text}",
        lambda call, out: re.search(pattern, _pattern(call, out)),
        broadcast_call(data(*shape), target),
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
    return call.given(axes_mapping=np.arange(call.data.ndim)).with_attributes(mode="explicit")


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


_OWN = [
    _arithmetic.returns("tiled", "fills the output with data in a row", _tiled,
                        broadcast_call(data(2, 1), [2, 3])),
    _arithmetic.returns("repeated", "repeats each element where the whole is to be repeated",
                        _repeated, broadcast_call(data(3), [2, 3])),
    _axes.returns("left-aligned", "aligns axes at the front in mode numpy",
                  _or_right(_left_aligned), broadcast_call(data(3), [3, 3])),
    _axes.returns("explicit-as-numpy", "ignores axes_mapping where mode numpy would do",
                  _of_explicit(lambda call: call.without("axes_mapping", "mode")),
                  broadcast_call(data(3), [3, 3], [0])),
    _axes.returns("explicit-as-leading", "maps to the leading axes in mode explicit",
                  _of_explicit(lambda call: call.given(axes_mapping=np.arange(call.data.ndim))),
                  broadcast_call(data(3), [3, 3], [1])),
    _axes.returns("mapping-from-the-end", "counts axes_mapping from the last axis on",
                  _of_explicit(lambda call: call.given(axes_mapping=np.sort(
                      call["target_shape"].size - 1 - call["axes_mapping"].astype(np.int64)))),
                  broadcast_call(data(3), [3, 3], [0])),
    _axes.returns("mapping-first-only", "maps to the first mapped axis and its neighbours",
                  _of_explicit(lambda call: call.given(
                      axes_mapping=call["axes_mapping"][:1] + np.arange(call.data.ndim))
                      if call.data.ndim else call),
                  broadcast_call(data(2, 2), [2, 2, 2], [0, 2])),
    _axes.spoils("gap-of-two", "is wrong where two output axes are between mapped ones",
                 lambda call, _: max(_gaps(call), default=0) > 2,
                 broadcast_call(data(2, 2), [2, 1, 1, 2], [0, 3])),
    _axes.spoils("two-gaps", "is wrong where mapped axes have gaps twice",
                 lambda call, _: len(_gaps(call)) > 1,
                 broadcast_call(data(2, 2, 2), [2, 1, 2, 1, 2], [0, 2, 4])),
    _axes.spoils("gap-after-the-first-axis", "is wrong with a gap where axis 0 is not mapped",
                 lambda call, _: _gaps(call) and call.ints("axes_mapping")[0] > 0,
                 broadcast_call(data(2, 2), [1, 2, 1, 2], [1, 3])),
    _default.rejects("mode-required", "rejects calls without a mode",
                     lambda call, _: "mode" not in call.attributes,
                     broadcast_call(data(3), [2, 3])),
    _default.spoils("mode-passed", "is wrong where mode numpy is passed, not omitted",
                    lambda call, _: call.attributes.get("mode") == "numpy",
                    broadcast_call(data(3), [2, 3], mode="numpy")),
    _default.returns("mode-explicit-by-default", "aligns at the front where no mode is passed",
                     _or_right(lambda call: call if "mode" in call.attributes
                               else _left_aligned(call)),
                     broadcast_call(data(3), [3, 3])),
    _rank.spoils("three-new-axes", "is wrong with exactly three new axes",
                 lambda call, out: out[0].ndim - call.data.ndim == 3,
                 broadcast_call(data(2), [1, 1, 1, 2])),
    _rank.spoils("five-new-axes", "is wrong with five new axes and more",
                 lambda call, out: out[0].ndim - call.data.ndim >= 5,
                 broadcast_call(data(2), [1, 1, 1, 1, 1, 2])),
    _rank.spoils("output-rank-8", "is wrong with outputs of rank 8",
                 lambda _, out: out[0].ndim == 8, broadcast_call(data(2), [1] * 7 + [2])),
    _rank.spoils("explicit-output-rank-8", "is wrong with outputs of rank 8 in mode explicit",
                 lambda call, out: out[0].ndim == 8 and _explicit(call),
                 broadcast_call(data(2), [1] * 7 + [2], [7])),
    _rank.spoils("explicit-scalar", "is wrong with a scalar in mode explicit",
                 lambda call, _: _explicit(call) and not call.data.ndim,
                 broadcast_call(data(), [2], [])),
    _rank.spoils("explicit-equal-ranks", "is wrong in mode explicit where the ranks are equal",
                 lambda call, out: _explicit(call) and call.data.ndim == out[0].ndim,
                 broadcast_call(data(2), [2], [0])),
    _size.spoils("repeated-256-times", "is wrong where data is repeated more than 255 times",
                 lambda call, out: call.data.size and out[0].size // call.data.size > 255,
                 broadcast_call(data(1), [256])),
]  # fmt: skip

_STRETCHES = [
    _stretching("first", "the first axis is stretched", "^s", (1, 3)),
    _stretching("last", "the last axis is stretched", "s$", (3, 1)),
    _stretching("middle", "a middle axis alone is stretched", "^k+s+k+$", (2, 1, 3)),
    _stretching("both-ends", "both ends are stretched", "s+k+s+", (1, 3, 1)),
    _stretching("all", "all axes are stretched", "^s+$", (1, 1)),
    _stretching("twice", "axes are stretched twice between kept ones",
                "k+s+k+s+k+", (2, 1, 2, 1, 2)),
    _stretching("four-times", "axes are stretched and kept four times", "(s+k+){4}|(k+s+){4}",
                (2, 1, 2, 1, 2, 1, 2, 1)),
    _arithmetic.spoils("stretched-and-new", "is wrong where there are stretched and new axes",
                       lambda call, out: {"s", "n"} <= set(_pattern(call, out)),
                       broadcast_call(data(1, 2), [2, 2, 2])),
]  # fmt: skip

FAULTS = [*_OWN, *_STRETCHES]
