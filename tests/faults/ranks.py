"""Kernels of a fixed rank or size, and calls that a backend declines without having declared it."""

from collections.abc import Callable

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import (
    BROADCAST,
    DML,
    GATHER,
    OPERATORS,
    SLICE,
    SPLIT,
    Call,
    Change,
    Fault,
    Outputs,
    Row,
    Writer,
    of_each,
)


def _innermost(rank: int) -> Change:
    """Compute the last `rank` dimensions right, for the first of the outer ones only."""

    def change(_: Call, outputs: Outputs) -> Outputs:
        for each in outputs:
            if each.ndim > rank and each.size:
                blocks = each.reshape(-1, *each.shape[each.ndim - rank :])
                blocks[1:] = blocks[0]
        return outputs

    return change


def _squeezed(_: Call, outputs: Outputs) -> Outputs:
    return [each.reshape([n for n in each.shape if n != 1]) for each in outputs]


def _last_two_exchanged(output: Array) -> Array:
    if output.ndim < 5 or output.shape[-2] != output.shape[-1]:
        return output
    return output.swapaxes(-1, -2).copy()


_OF_RANKS: tuple[Row, ...] = (
    (Writer.returns, "outer-not-advanced", _innermost(4)),
    (Writer.returns, "outer-not-advanced-7", _innermost(7)),
    (Writer.returns, "squeezed", _squeezed),
    (Writer.returns, "inner-transposed", lambda _, out: [*map(_last_two_exchanged, out)]),
    (Writer.rejects, "rank-7-rejected", lambda call, _: call.data.ndim > 6),
)


def _widened(_: Call, outputs: Outputs) -> Outputs:
    return [each.reshape(each.shape or (1,)) for each in outputs]


_broadcast = Writer(BROADCAST, "rank")
_SCALARS = [
    Writer(GATHER, "rank").returns("scalar-widened", _widened),
    _broadcast.returns("scalar-widened", _widened),
    _broadcast.rejects("scalar-data-rejected", lambda call, _: not call.data.ndim),
    _broadcast.spoils("scalar-to-rank-5", lambda c, out: c.data.ndim == 0 and out[0].ndim >= 5),
]


def _moved_on(outputs: Outputs) -> Outputs:
    """Move each element a place on, which shows only where data differs."""
    return [np.roll(each.reshape(-1), 1).reshape(each.shape) for each in outputs]


def _displaced(operator: str, name: str, *ranks: int) -> Fault:
    """Write down a backend that is wrong for some rank, of data and of what else there is."""

    def change(call: Call, out: Outputs) -> Outputs:
        other = {BROADCAST: out[0], GATHER: call.get("indices")}.get(operator) if out else None
        found = (call.data.ndim,) if other is None else (call.data.ndim, other.ndim)
        return _moved_on(out) if found == ranks else out

    return Writer(operator, "rank").returns(f"displaced-{name}", change)


_STRETCHED = ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4), (3, 3), (3, 4), (4, 4), (4, 5))
_GATHERED = ((1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2), (4, 1), (4, 2))
_DISPLACED = [
    *(_displaced(BROADCAST, f"from-{rank}-to-{to}", rank, to) for rank, to in _STRETCHED),
    *(_displaced(GATHER, f"of-{rank}-by-{other}", rank, other) for rank, other in _GATHERED),
    *(
        _displaced(operator, f"at-rank-{rank}", rank)
        for operator in (SPLIT, DML, SLICE)
        for rank in range(1, 6)
    ),
]


def _without_tail(lanes: int, width: int | None = None) -> Change:
    """Leave what is past the last full vector of each row at zero."""

    def change(_: Call, outputs: Outputs) -> Outputs:
        for each in outputs:
            inner = each.shape[-1] if each.ndim else 0
            if inner > lanes and width in (None, each.itemsize):
                each[..., inner // lanes * lanes :] = 0
        return outputs

    return change


def _any(test: Callable[[Array], bool]) -> Change:
    return lambda _, outputs: any(each.size > 0 and test(each) for each in outputs)


_SIZES = {
    "inner-256": _any(lambda a: a.ndim > 0 and a.shape[-1] > 255),
    "middle-64": _any(lambda a: a.ndim > 2 and max(a.shape[1:-1]) > 64),
    "elements-1024": _any(lambda a: a.size > 1023),
    "elements-65536": _any(lambda a: a.size > 65535),
}


_TAILS: tuple[Row, ...] = (
    (Writer.returns, "tail-16", _without_tail(16)),
    (Writer.returns, "tail-64", _without_tail(64)),
    (Writer.returns, "tail-16-of-1-bytes", _without_tail(16, 1)),
)
_DECLINED: dict[str, tuple[str, Change]] = {
    SPLIT: ("rest-declined", lambda call, _: -1 in call.ints("split_lengths")),
    DML: ("nine-parts-declined", lambda _, outputs: len(outputs) > 8),
    SLICE: ("negative-step-declined", lambda c, _: min(c.ints("step"), default=1) < 0),
    BROADCAST: ("explicit-declined", lambda call, _: "axes_mapping" in call),
    GATHER: ("batches-declined", lambda call, _: call.get("batch_dims", 0) != 0),
}

FAULTS = [
    *of_each(OPERATORS, "rank", *_OF_RANKS),
    *of_each(OPERATORS, "loop tail", *_TAILS),
    *of_each(OPERATORS, "size threshold", *((Writer.spoils, *row) for row in _SIZES.items())),
    *_SCALARS,
    *_DISPLACED,
    *of_each(OPERATORS, "undeclared",
        (Writer.declines, "rank-7-declined", lambda call, _: call.data.ndim > 6)),
    *(Writer(operator, "undeclared").declines(*row) for operator, row in _DECLINED.items()),
]  # fmt: skip
