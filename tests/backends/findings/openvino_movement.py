"""Deviations of OpenVINO's other operators that move data."""

from typing import Any

from tests.backends.findings.finding import REJECTED, finding, openvino_calls


@finding(
    "openvino Transpose-1 empty-order",
    call="arg i32[2, 3], input_order i64[0], a parameter",
    expected="shape (3, 2)",
    got="rejected",
    right=[3, 2],
    wrong=REJECTED,
)
def openvino_empty_order() -> Any:
    import numpy as np
    from openvino import opset1

    call = np.zeros((2, 3), np.int32), np.zeros(0, np.int64)
    (result,) = openvino_calls(opset1.transpose, call)
    return result if result == REJECTED else list(result[0].shape)


@finding(
    "openvino Transpose-1 order-range",
    call="arg i32[2, 3], input_order [2^32 + 1, 0]",
    expected="rejected",
    got="shape (3, 2): cut to 32 bits",
    right=REJECTED,
    wrong=[3, 2],
)
def openvino_wide_order() -> Any:
    import numpy as np
    from openvino import opset1

    call = np.zeros((2, 3), np.int32), np.array([2**32 + 1, 0])
    (result,) = openvino_calls(opset1.transpose, call)
    return result if result == REJECTED else list(result[0].shape)


@finding(
    "openvino ReverseSequence-1 reverse",
    call="data i32 [[2^24 + 1, 0]], seq_lengths [2]",
    expected="[[0, 2^24 + 1]]",
    got="[[0, 2^24]]: through f32",
    right=[[0, 2**24 + 1]],
    wrong=[[0, 2**24]],
)
def openvino_reversed_integers() -> Any:
    import numpy as np
    from openvino import opset1

    def make(data: Any, lengths: Any) -> Any:
        return opset1.reverse_sequence(data, lengths, batch_axis=0, seq_axis=1)

    call = np.array([[2**24 + 1, 0]], np.int32), np.array([2], np.int32)
    ((output,),) = openvino_calls(make, call)
    return output.tolist()


@finding(
    "openvino ReverseSequence-1 lengths-range",
    call="data i32 [[1, 2]], seq_lengths [0]",
    expected="rejected",
    got="[[1, 2]]",
    right=REJECTED,
    wrong=[[1, 2]],
)
def openvino_length_zero() -> Any:
    import numpy as np
    from openvino import opset1

    def make(data: Any, lengths: Any) -> Any:
        return opset1.reverse_sequence(data, lengths, batch_axis=0, seq_axis=1)

    call = np.array([[1, 2]], np.int32), np.array([0], np.int32)
    (result,) = openvino_calls(make, call)
    return result if result == REJECTED else result[0].tolist()
