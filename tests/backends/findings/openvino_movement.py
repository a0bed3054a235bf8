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


@finding(
    "openvino GatherElements-6 take",
    call="data i32[2, 3], axis 1: indices [[0], [1]], then i64[3, 1], then [[0], [1]]",
    expected="a column, rejected, a column",
    got="a column, rejected twice: the shape is kept",
    right=[[2, 1], REJECTED, [2, 1]],
    wrong=[[2, 1], REJECTED, REJECTED],
)
def openvino_indices_after_a_rejection() -> Any:
    import numpy as np
    from openvino import opset6

    data, valid = np.zeros((2, 3), np.int32), np.array([[0], [1]])
    calls = [(data, indices) for indices in (valid, np.zeros((3, 1), np.int64), valid)]
    results = openvino_calls(lambda data, i: opset6.gather_elements(data, i, 1), *calls)
    return [result if result == REJECTED else list(result[0].shape) for result in results]


@finding(
    "openvino ScatterElementsUpdate-3 indices-range",
    call="data i32[3] = 1..3, indices [-1], updates [9], axis 0",
    expected="rejected",
    got="[1, 2, 9]",
    right=REJECTED,
    wrong=[1, 2, 9],
)
def openvino_negative_update() -> Any:
    import numpy as np
    from openvino import opset3

    call = np.arange(1, 4, dtype=np.int32), np.array([-1]), np.array([9], np.int32), np.array(0)
    (result,) = openvino_calls(opset3.scatter_elements_update, call)
    return result if result == REJECTED else result[0].tolist()


@finding(
    "openvino ScatterElementsUpdate-3 indices-extents",
    call="data i32[2, 2] = 0, indices [[0, 0, 0]], updates [[9, 9, 9]], axis 0",
    expected="rejected",
    got="[[9, 9], [9, 0]]; of more updates a SIGSEGV",
    right=REJECTED,
    wrong=[[9, 9], [9, 0]],
)
def openvino_updates_beyond_data() -> Any:
    import numpy as np
    from openvino import opset3

    data, updates = np.zeros((2, 2), np.int32), np.full((1, 3), 9, np.int32)
    call = data, np.zeros((1, 3), np.int64), updates, np.array(0)
    (result,) = openvino_calls(opset3.scatter_elements_update, call)
    return result if result == REJECTED else result[0].tolist()


@finding(
    "openvino StridedSlice-1 short-mask",
    call="data i32[2, 3], begin [0, 0], end [1, 2], begin_mask [0, 0], end_mask [0]",
    expected="[[0, 1]]",
    got="rejected, as are all masks of different lengths",
    right=[[0, 1]],
    wrong=REJECTED,
)
def openvino_masks_of_two_lengths() -> Any:
    import numpy as np
    from openvino import opset1

    def make(data: Any, begin: Any, end: Any) -> Any:
        return opset1.strided_slice(
            data, begin, end, np.array([1, 1]), begin_mask=[0, 0], end_mask=[0]
        )

    call = np.arange(6, dtype=np.int32).reshape(2, 3), np.array([0, 0]), np.array([1, 2])
    (result,) = openvino_calls(make, call, known=[1, 2])
    return result if result == REJECTED else result[0].tolist()
