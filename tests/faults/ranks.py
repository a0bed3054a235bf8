"""Kernels of a fixed rank: what they do with tensors of more or fewer dimensions."""

from collections.abc import Callable

from opcert.arrays.element_types import Array
from tests.faults.calls import broadcast_call, data, gather_call, whole
from tests.faults.fault import BROADCAST, GATHER, OPERATORS, Call, Fault, Outputs, Writer


def _innermost(rank: int) -> Callable[[Call, Outputs], Outputs]:
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


def _faults(operator: str) -> list[Fault]:
    write = Writer(operator, "rank")
    five, six = data(2, 1, 2, 1, 3), data(2, 1, 2, 1, 1, 3)
    eight = data(2, 1, 1, 2, 1, 1, 1, 3)
    return [
        write.returns(
            "outer-not-advanced",
            "knows four dimensions: repeats the first block for those beyond",
            _innermost(4),
            whole(operator, five),
        ),
        write.returns(
            "outer-not-advanced-7",
            "knows seven dimensions: repeats the first block for those beyond",
            _innermost(7),
            whole(operator, eight),
        ),
        write.returns("squeezed", "squeezes sizes of 1", _squeezed, whole(operator, six)),
        write.returns(
            "inner-transposed",
            "exchanges the last two dimensions at rank 5 and more, where they are equal",
            lambda _, outputs: [_last_two_exchanged(each) for each in outputs],
            whole(operator, data(2, 1, 1, 3, 3)),
        ),
        write.rejects(
            "rank-7-rejected",
            "rejects data of rank 7 and more",
            lambda call, _: call.data.ndim > 6,
            whole(operator, eight),
        ),
    ]


def _widened(_: Call, outputs: Outputs) -> Outputs:
    return [each.reshape(each.shape or (1,)) for each in outputs]


_SCALARS = [
    Writer(GATHER, "rank").returns(
        "scalar-widened", "gives rank 1 for rank 0", _widened, gather_call(data(4), 2)
    ),
    Writer(BROADCAST, "rank").returns(
        "scalar-widened", "gives rank 1 for rank 0", _widened, broadcast_call(data(), [])
    ),
    Writer(BROADCAST, "rank").rejects(
        "scalar-data-rejected",
        "rejects data of rank 0",
        lambda call, _: call.data.ndim == 0,
        broadcast_call(data(), [3]),
    ),
    Writer(BROADCAST, "rank").spoils(
        "scalar-to-rank-5",
        "is wrong where a scalar fills five dimensions or more",
        lambda call, outputs: call.data.ndim == 0 and outputs[0].ndim >= 5,
        broadcast_call(data(), [2, 1, 2, 1, 2]),
    ),
]

FAULTS = [*(fault for operator in OPERATORS for fault in _faults(operator)), *_SCALARS]
