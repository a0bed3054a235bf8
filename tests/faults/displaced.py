"""Elements that are each a place off, in calls of some ranks alone: to show, data has to differ."""

import numpy as np

from tests.faults.calls import broadcast_call, data, gather_call, whole
from tests.faults.fault import BROADCAST, DML, GATHER, SLICE, SPLIT, Call, Fault, Outputs, Writer

# Of data and target, and of data and indices.
_BROADCAST = ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4), (3, 3), (3, 4), (4, 4), (4, 5))
_GATHERED = ((1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2), (4, 1), (4, 2))


def _moved_on(outputs: Outputs) -> Outputs:
    return [np.roll(each.reshape(-1), 1).reshape(each.shape) for each in outputs]


def _broadcast(rank: int, wanted: int) -> Fault:
    def compute(call: Call, outputs: Outputs) -> Outputs:
        ranks = call.data.ndim, outputs[0].ndim
        return _moved_on(outputs) if ranks == (rank, wanted) else outputs

    return Writer(BROADCAST, "rank").returns(
        f"displaced-from-{rank}-to-{wanted}",
        f"is a place off from rank {rank} to rank {wanted}",
        compute,
        broadcast_call(data(*[2] * rank), [2] * wanted),
    )


def _gather(rank: int, indices: int) -> Fault:
    def compute(call: Call, outputs: Outputs) -> Outputs:
        ranks = call.data.ndim, call["indices"].ndim
        return _moved_on(outputs) if ranks == (rank, indices) else outputs

    places = np.arange(2**indices).reshape([2] * indices) % 3
    return Writer(GATHER, "rank").returns(
        f"displaced-of-{rank}-by-{indices}",
        f"is a place off with data of rank {rank} and indices of rank {indices}",
        compute,
        gather_call(data(*[3] * rank), places.tolist()),
    )


def _of_rank(operator: str, rank: int) -> Fault:
    return Writer(operator, "rank").returns(
        f"displaced-at-rank-{rank}",
        f"is a place off with data of rank {rank}",
        lambda call, outputs: _moved_on(outputs) if call.data.ndim == rank else outputs,
        whole(operator, data(*[3] * rank)),
    )


FAULTS = [
    *(_broadcast(*ranks) for ranks in _BROADCAST),
    *(_gather(*ranks) for ranks in _GATHERED),
    *(_of_rank(operator, rank) for operator in (SPLIT, DML, SLICE) for rank in range(1, 6)),
]
