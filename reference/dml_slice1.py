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
    slug, rank, n, sizes = "dml-slice1", InputTensor.ndim, DimensionCount, OutputTensor["Sizes"]
    lists = [InputWindowOffsets, InputWindowSizes, InputWindowStrides]
    # In C, the arrays have DimensionCount elements.
    fields = [n, *InputWindowOffsets[:n], *InputWindowSizes[:n]]
    require(min(fields) >= 0 and max(fields) <= MAX_UINT, f"{slug}/uint-range", f"{fields}")
    require(1 <= n <= 8, f"{slug}/dimension-count-range", f"{n}")
    require(n == rank, f"{slug}/dimension-count-matches", f"{n}")
    require(len(sizes) == rank, f"{slug}/output-rank", f"{sizes}")
    data_type = DATA_TYPES[InputTensor.dtype.name]
    require(OutputTensor["DataType"] == data_type, f"{slug}/output-type", f"{OutputTensor}")
    for name, numbers in zip(("offsets", "sizes", "strides"), lists, strict=True):
        require(len(numbers) >= rank, f"{slug}/{name}-length", f"{numbers}")
    windows = [*zip(*lists, InputTensor.shape, sizes, strict=False)]
    found = f"windows {windows}"
    require(all(size > 0 for _, size, *_ in windows), f"{slug}/window-nonempty", found)
    require(all(at + size <= m for at, size, _, m, _ in windows), f"{slug}/window-within", found)
    strides = InputWindowStrides[:rank]
    has_32_bits = all(-(1 << 31) <= stride <= MAX_UINT for stride in strides)
    require(has_32_bits, f"{slug}/stride-width", f"strides {strides}")
    require(all(strides), f"{slug}/stride-nonzero", f"strides {strides}")
    most = [1 + (size - 1) // abs(stride or 1) for _, size, stride, *_ in windows]
    is_reached = all(1 <= k <= m for k, m in zip(sizes, most, strict=False))
    require(is_reached, f"{slug}/output-sizes", found)
    region = []
    for at, size, stride, _, k in windows:
        first = at if stride > 0 else at + size - 1
        stop = first + k * stride
        region.append(slice(first, None if stop < 0 else stop, stride or None))
    return [InputTensor[tuple(region)].copy()]
