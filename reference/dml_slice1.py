"""DirectML's DML_SLICE1_OPERATOR_DESC: a window of a tensor, read forwards or backwards."""

import numpy as np

from opcert.reference.directml import MAX_UINT, Description, are_uints, has_type_of
from opcert.reference.rules import Array, require


def dml_slice1(
    InputTensor: Array,
    OutputTensor: Description,
    DimensionCount: int,
    InputWindowOffsets: list[int],
    InputWindowSizes: list[int],
    InputWindowStrides: list[int],
) -> list[Array]:
    """Copy elements of a window (the pseudocode). In C, its arrays have DimensionCount elements.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    slug, n, sizes = "dml-slice1", DimensionCount, OutputTensor["Sizes"]
    lists = [InputWindowOffsets[:n], InputWindowSizes[:n], InputWindowStrides[:n]]
    require(are_uints(n, *lists[0], *lists[1]), f"{slug}/uint-range", f"{n}, {lists}")
    require(1 <= n <= 8, f"{slug}/dimension-count-range", f"{n}")
    require(n == InputTensor.ndim, f"{slug}/dimension-count-matches", f"{n}")
    require(len(sizes) == n, f"{slug}/output-rank", f"{sizes}")
    require(has_type_of(InputTensor, OutputTensor), f"{slug}/output-type", f"{OutputTensor}")
    for name, numbers in zip(("offsets", "sizes", "strides"), lists, strict=True):
        require(len(numbers) == n, f"{slug}/{name}-length", f"{numbers}")
    picked: list[range] = []
    for at, size, stride, extent, k in zip(*lists, InputTensor.shape, sizes, strict=False):
        require(size > 0, f"{slug}/window-nonempty", f"size {size}")
        require(at + size <= extent, f"{slug}/window-within", f"{size} at {at} of {extent}")
        require(-(1 << 31) <= stride <= MAX_UINT, f"{slug}/stride-width", f"stride {stride}")
        require(stride != 0, f"{slug}/stride-nonzero", "stride 0")
        picked.append(range(at, at + size)[:: stride or 1][:k])
    for k, indices in zip(sizes, picked, strict=False):
        require(1 <= k == len(indices), f"{slug}/output-sizes", f"{k} of {len(indices)} elements")
    return [InputTensor[np.ix_(*picked)]]
