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
    """Copy elements of the window of `InputTensor`, as many as `OutputTensor` has.

    Source: DirectML DML_SLICE1_OPERATOR_DESC, the pseudocode and "Struct fields".

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    shape, sizes = InputTensor.shape, OutputTensor["Sizes"]
    n, data_type = DimensionCount, DATA_TYPES[InputTensor.dtype.name]
    arrays = {"offsets": InputWindowOffsets, "sizes": InputWindowSizes}
    arrays["strides"] = InputWindowStrides
    # In C, the arrays have DimensionCount elements.
    fields = (n, *InputWindowOffsets[:n], *InputWindowSizes[:n])
    is_uint = all(0 <= field <= MAX_UINT for field in fields)
    require(is_uint, "dml-slice1/uint-range", f"DimensionCount, offsets and sizes {fields}")
    require(1 <= n <= 8, "dml-slice1/dimension-count-range", f"DimensionCount {n}")
    require(n == len(shape), "dml-slice1/dimension-count-matches", f"{n} for rank {len(shape)}")
    require(len(sizes) == len(shape), "dml-slice1/output-rank", f"Sizes {sizes} for {shape}")
    require(OutputTensor["DataType"] == data_type, "dml-slice1/output-type", f"not {data_type}")
    for name, array in arrays.items():
        require(
            len(array) >= len(shape), f"dml-slice1/{name}-length", f"{name} {array} for {shape}"
        )
    windows = [*zip(InputWindowOffsets, InputWindowSizes, InputWindowStrides, strict=False)]
    windows = windows[: len(shape)]
    nonempty = all(size > 0 for _, size, _ in windows)
    require(nonempty, "dml-slice1/window-nonempty", f"sizes {InputWindowSizes}")
    within = all(at + size <= m for (at, size, _), m in zip(windows, shape, strict=False))
    require(within, "dml-slice1/window-within", f"windows {windows} of {shape}")
    fits = all(-(1 << 31) <= stride <= MAX_UINT for _, _, stride in windows)
    require(fits, "dml-slice1/stride-width", f"strides {InputWindowStrides}")
    nonzero = all(stride for _, _, stride in windows)
    require(nonzero, "dml-slice1/stride-nonzero", f"strides {InputWindowStrides}")
    most = [1 + (size - 1) // abs(stride or 1) for _, size, stride in windows]
    few = all(1 <= k <= reached for k, reached in zip(sizes, most, strict=False))
    require(few, "dml-slice1/output-sizes", f"Sizes {sizes}, of {most} in the window")
    region = []
    for k, (at, size, stride) in zip(sizes, windows, strict=False):
        first = at if stride > 0 else at + size - 1
        stop = first + k * stride
        region.append(slice(first, stop if stop >= 0 else None, stride))
    return [InputTensor[tuple(region)].copy()]
