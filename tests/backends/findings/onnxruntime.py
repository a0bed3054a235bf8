"""Deviations of ONNX Runtime."""

from typing import Any

from tests.backends.findings.finding import finding, onnx_outputs


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
