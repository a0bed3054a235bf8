"""ReverseSequence: the beginnings of sequences, each of its own length, in reverse order."""

import numpy as np

from opcert.reference.rules import Array, require, requires_arguments


@requires_arguments("reverse-sequence-1/required-inputs")
def reverse_sequence_1(
    data: Array, seq_lengths: Array, batch_axis: int = 0, seq_axis: int = 1
) -> list[Array]:
    """Reverse the first seq_lengths[i] elements along `seq_axis` in slice i along `batch_axis`.

    Shapes: data (rank 2 or more), seq_lengths (extent of batch_axis,); output: that of data.

    Source: OpenVINO ReverseSequence-1, "Detailed description", "Attributes" and "Inputs".

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    rank, slug = data.ndim, "reverse-sequence-1"
    require(rank >= 2, f"{slug}/data-rank", f"data of rank {rank}")
    for name, axis in {"batch-axis": batch_axis, "seq-axis": seq_axis}.items():
        require(-rank <= axis < rank, f"{slug}/{name}-range", f"axis {axis}, rank {rank}")
    require(seq_lengths.ndim == 1, f"{slug}/lengths-rank", f"lengths of rank {seq_lengths.ndim}")
    batch, n = data.shape[batch_axis], data.shape[seq_axis]
    require(seq_lengths.size == batch, f"{slug}/lengths-count", f"{seq_lengths.size} for {batch}")
    lengths = seq_lengths.tolist()
    require(all(k % 1 == 0 for k in lengths), f"{slug}/lengths-whole", f"lengths {lengths}")
    require(all(1 <= k <= n for k in lengths), f"{slug}/lengths-range", f"{lengths} of {n}")
    output = data.copy()
    # Along one axis, a slice has a single element, which keeps its place.
    if batch_axis % rank != seq_axis % rank:
        axes = (batch_axis, seq_axis), (0, 1)
        rows, reversed_rows = np.moveaxis(data, *axes), np.moveaxis(output, *axes)
        for length in {*lengths}:
            equal = np.flatnonzero(seq_lengths[:batch] == length)
            reversed_rows[equal, : int(length)] = rows[equal, int(length) - 1 :: -1]
    return [output]
