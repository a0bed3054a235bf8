"""Deviations of ONNX Runtime."""

from typing import Any

from tests.backends.findings.finding import REJECTED, finding, onnx_outputs


@finding(
    "onnxruntime Slice-8 clamp-below",
    call="data f32[3], start -4, stop -5, step -1",
    expected="empty",
    got="[data[0]]",
    right=[],
    wrong=[0.0],
    documented="yes",
)
def onnxruntime_clamp_below() -> Any:
    import numpy as np

    start, stop, step = (np.array([value]) for value in (-4, -5, -1))
    data, axes = np.arange(3, dtype=np.float32), np.array([0])
    (output,) = onnx_outputs("Slice", data, start, stop, axes, step)
    return output.tolist()


@finding(
    "onnxruntime Slice-8 empty-result",
    call="data f32[3], start 1, stop 2^63-1, step -1",
    expected="empty",
    got="[1, 0]",
    right=[],
    wrong=[1.0, 0.0],
)
def onnxruntime_empty_result() -> Any:
    import numpy as np

    start, stop, step = (np.array([value]) for value in (1, 2**63 - 1, -1))
    data, axes = np.arange(3, dtype=np.float32), np.array([0])
    (output,) = onnx_outputs("Slice", data, start, stop, axes, step)
    return output.tolist()


@finding(
    "onnxruntime Concat-1 off-axis",
    call="f32[0, 3] and f32[2, 4], axis 0",
    expected="rejected",
    got="shape (2, 4): empty tensors are skipped",
    right=REJECTED,
    wrong=[2, 4],
)
def onnxruntime_skipped_tensor() -> Any:
    import numpy as np

    tensors = np.zeros((0, 3), np.float32), np.zeros((2, 4), np.float32)
    (output,) = onnx_outputs("Concat", *tensors, axis=0)
    return list(output.shape)


@finding(
    "onnxruntime Pad-1 nothing-added",
    call="data f32[] = 7, pads i64[0], mode edge, as for the others",
    expected="7",
    got="rejected",
    right=7.0,
    wrong=REJECTED,
)
def onnxruntime_padded_scalar() -> Any:
    import numpy as np

    data, pads = np.array(7, np.float32), np.zeros(0, np.int64)
    (output,) = onnx_outputs("Pad", data, pads, mode="edge")
    return output.tolist()


@finding(
    "onnxruntime Pad-1 value-shape",
    call="data f32[1] = 1, pads [0, 1], value f32[1] = 7",
    expected="rejected",
    got="[1, 7]",
    right=REJECTED,
    wrong=[1.0, 7.0],
)
def onnxruntime_value_of_rank_one() -> Any:
    import numpy as np

    data, value = np.array([1], np.float32), np.array([7], np.float32)
    (output,) = onnx_outputs("Pad", data, np.array([0, 1]), value)
    return output.tolist()


@finding(
    "onnxruntime Tile-1 any-type",
    call="data f16[1] = 0x7c01, a NaN, repeats [2], as for Pad",
    expected="the same bits",
    got="0x7e00",
    right=[0x7C01, 0x7C01],
    wrong=[0x7E00, 0x7E00],
)
def onnxruntime_quiet_nan() -> Any:
    import numpy as np

    data = np.array([0x7C01], np.uint16).view(np.float16)
    (output,) = onnx_outputs("Tile", data, np.array([2]))
    return output.view(np.uint16).tolist()
