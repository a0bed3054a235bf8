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
    Writer,
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


def _of_ranks(operator: str) -> list[Fault]:
    write = Writer(operator, "rank")
    return [
        write.returns("outer-not-advanced", _innermost(4)),
        write.returns("outer-not-advanced-7", _innermost(7)),
        write.returns("squeezed", _squeezed),
        write.returns("inner-transposed", lambda _, outputs: [*map(_last_two_exchanged, outputs)]),
        write.rejects("rank-7-rejected", lambda call, _: call.data.ndim > 6),
    ]


def _widened(_: Call, outputs: Outputs) -> Outputs:
    return [each.reshape(each.shape or (1,)) for each in outputs]


_SCALARS = [
    Writer(GATHER, "rank").returns("scalar-widened", _widened),
    Writer(BROADCAST, "rank").returns("scalar-widened", _widened),
    Writer(BROADCAST, "rank").rejects("scalar-data-rejected", lambda call, _: not call.data.ndim),
    Writer(BROADCAST, "rank").spoils(
        "scalar-to-rank-5", lambda call, outputs: call.data.ndim == 0 and outputs[0].ndim >= 5
    ),
]


def _moved_on(outputs: Outputs) -> Outputs:
    """Move each element a place on, which shows only where data differs."""
    return [np.roll(each.reshape(-1), 1).reshape(each.shape) for each in outputs]


def _displaced(operator: str, name: str, where: Change) -> Fault:
    return Writer(operator, "rank").returns(
        f"displaced-{name}", lambda call, out: _moved_on(out) if where(call, out) else out
    )


def _of_two_ranks(rank: int, other: int) -> list[Fault]:
    return [
        _displaced(
            BROADCAST,
            f"from-{rank}-to-{other}",
            lambda call, out: (call.data.ndim, out[0].ndim) == (rank, other),
        ),
        _displaced(
            GATHER,
            f"of-{rank}-by-{other}",
            lambda call, _: (call.data.ndim, call["indices"].ndim) == (rank, other),
        ),
    ]


_STRETCHED = ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4), (3, 3), (3, 4), (4, 4), (4, 5))
_GATHERED = ((1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2), (4, 1), (4, 2))
_DISPLACED = [
    *(_of_two_ranks(*ranks)[0] for ranks in _STRETCHED),
    *(_of_two_ranks(*ranks)[1] for ranks in _GATHERED),
    *(
        _displaced(operator, f"at-rank-{rank}", lambda call, _, rank=rank: call.data.ndim == rank)  # type: ignore[misc]
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


_SIZES: dict[str, Callable[[Array], bool]] = {
    "inner-256": lambda a: a.ndim > 0 and a.shape[-1] > 255,
    "middle-64": lambda a: a.ndim > 2 and max(a.shape[1:-1]) > 64,
    "elements-1024": lambda a: a.size > 1023,
    "elements-65536": lambda a: a.size > 65535,
}


def _any(test: Callable[[Array], bool]) -> Change:
    return lambda _, outputs: any(each.size > 0 and test(each) for each in outputs)


def _of_sizes(operator: str) -> list[Fault]:
    tail, size = Writer(operator, "loop tail"), Writer(operator, "size threshold")
    return [
        tail.returns("tail-16", _without_tail(16)),
        tail.returns("tail-64", _without_tail(64)),
        tail.returns("tail-16-of-1-bytes", _without_tail(16, 1)),
        *(size.spoils(name, _any(test)) for name, test in _SIZES.items()),
    ]


_split, _dml, _slice, _broadcast, _gather = (
    Writer(each, "undeclared") for each in (SPLIT, DML, SLICE, BROADCAST, GATHER)
)
_DECLINED = [
    *(
        Writer(operator, "undeclared").declines("rank-7-declined", lambda c, _: c.data.ndim > 6)
        for operator in OPERATORS
    ),
    _split.declines("rest-declined", lambda call, _: -1 in call.ints("split_lengths")),
    _dml.declines("nine-parts-declined", lambda _, outputs: len(outputs) > 8),
    _slice.declines("negative-step-declined", lambda c, _: min(c.ints("step"), default=1) < 0),
    _broadcast.declines("explicit-declined", lambda call, _: "axes_mapping" in call.inputs),
    _gather.declines("batches-declined", lambda c, _: c.attributes.get("batch_dims", 0) != 0),
]

FAULTS = [
    *(fault for operator in OPERATORS for fault in _of_ranks(operator)),
    *(fault for operator in OPERATORS for fault in _of_sizes(operator)),
    *_SCALARS,
    *_DISPLACED,
    *_DECLINED,
]
