"""DirectML's slice: a window of a tensor, read forwards or backwards."""

from collections.abc import Mapping, Sequence
from typing import Any

from opcert.reference.dml_split import DATA_TYPES, MAX_UINT
from opcert.reference.rules import Array, require


def dml_slice1(
    InputTensor: Array,
    OutputTensor: Mapping[str, Any],
    DimensionCount: int,
    InputWindowOffsets: Sequence[int],
    InputWindowSizes: Sequence[int],
    InputWindowStrides: Sequence[int],
) -> list[Array]:
    """Copy elements of the window of `InputTensor` (DML_SLICE1_OPERATOR_DESC, the pseudocode).

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    rank, n, sizes = InputTensor.ndim, DimensionCount, OutputTensor["Sizes"]
    lists = [InputWindowOffsets, InputWindowSizes, InputWindowStrides]
    # In C, the arrays have DimensionCount elements.
    fields = [n, *InputWindowOffsets[:n], *InputWindowSizes[:n]]
    check(min(fields) >= 0 and max(fields) <= MAX_UINT, "uint-range", fields)
    check(1 <= n <= 8, "dimension-count-range", n)
    check(n == rank, "dimension-count-matches", n)
    check(len(sizes) == rank, "output-rank", sizes)
    data_type = DATA_TYPES[InputTensor.dtype.name]
    check(OutputTensor["DataType"] == data_type, "output-type", OutputTensor)
    for name, numbers in zip(("offsets", "sizes", "strides"), lists, strict=True):
        check(len(numbers) >= rank, f"{name}-length", numbers)
    windows = [*zip(*lists, InputTensor.shape, sizes, strict=False)]
    check(all(size > 0 for _, size, *_ in windows), "window-nonempty", windows)
    check(all(at + size <= m for at, size, _, m, _ in windows), "window-within", windows)
    strides = InputWindowStrides[:rank]
    check(all(-(1 << 31) <= t <= MAX_UINT for t in strides), "stride-width", strides)
    check(all(strides), "stride-nonzero", strides)
    most = [1 + (size - 1) // abs(stride or 1) for _, size, stride, *_ in windows]
    check(all(1 <= k <= m for k, m in zip(sizes, most, strict=False)), "output-sizes", windows)
    region = []
    for at, size, stride, _, k in windows:
        first = at if stride > 0 else at + size - 1
        stop = first + k * stride
        region.append(slice(first, None if stop < 0 else stop, stride or None))
    return [InputTensor[tuple(region)].copy()]


def check(holds: bool, rule: str, found: object) -> None:
    """Check that a rule holds."""
    require(holds, f"dml-slice1/{rule}", str(found))
