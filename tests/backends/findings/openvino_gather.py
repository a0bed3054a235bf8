"""Deviations of OpenVINO's Gather-8."""

from typing import Any

from tests.backends.findings.finding import ANYTHING_ELSE, REJECTED, finding, openvino_calls


@finding(
    "openvino Gather-8 index-above",
    call="data i32[5] = 1..5, indices [3, 10, -20], axis 0",
    expected="[4, 0, 0]",
    got="[4, 0, 22088]: memory outside data; with indices of 2^31-1 a SIGSEGV",
    right=[4, 0, 0],
    wrong=ANYTHING_ELSE,
)
def openvino_index_above() -> Any:
    import numpy as np
    from openvino import opset8

    data, axis = np.arange(1, 6, dtype=np.int32), np.array(0)
    # Some of the memory outside is 0 by chance.
    calls = [(data, np.array([3, 10 + k, -20 - k]), axis) for k in range(500)]
    outputs = [output.tolist() for (output,) in openvino_calls(opset8.gather, *calls)]
    return next((output for output in outputs if output != [4, 0, 0]), [4, 0, 0])


@finding(
    "openvino Gather-8 axis-empty",
    call="data f32[0], indices [0]",
    expected="[0]",
    got="memory outside data",
    right=[0.0],
    wrong=ANYTHING_ELSE,
)
def openvino_axis_empty() -> Any:
    import numpy as np
    from openvino import opset8

    axis = np.array(0)
    # Some of the memory outside is 0 by chance.
    calls = [(np.zeros(0, np.float32), np.array([k]), axis) for k in range(500)]
    outputs = [output.tolist() for (output,) in openvino_calls(opset8.gather, *calls)]
    return next((output for output in outputs if output != [0.0]), [0.0])


@finding(
    "openvino Gather-8 indices-empty",
    where="static",
    call="data i8[4], indices i64[0]",
    expected="empty",
    got="SIGFPE",
    right=[],
    wrong="SIGFPE",
)
def openvino_indices_empty() -> Any:
    import numpy as np
    from openvino import opset8

    call = np.zeros(4, np.int8), np.zeros(0, np.int64), np.array(0)
    ((output,),) = openvino_calls(opset8.gather, call, static=True, constants=[2])
    return output.tolist()


@finding(
    "openvino Gather-8 pick",
    where="static",
    call="data i32[1, 0], indices [0], axis 0",
    expected="shape (1, 0)",
    got="SIGFPE",
    right=[1, 0],
    wrong="SIGFPE",
)
def openvino_empty_slices() -> Any:
    import numpy as np
    from openvino import opset8

    call = np.zeros((1, 0), np.int32), np.array([0]), np.array(0)
    ((output,),) = openvino_calls(opset8.gather, call, static=True, constants=[2])
    return list(output.shape)


@finding(
    "openvino Gather-8 batches",
    where="static",
    call="data f32[1, 19], indices [[18]], axis 1, batch_dims 1",
    expected="[[data[0, 18]]]",
    got="memory outside data, or SIGSEGV",
    right=[[18.0]],
    wrong=ANYTHING_ELSE,
)
def openvino_batches() -> Any:
    import numpy as np
    from openvino import opset8

    def make(*inputs: Any) -> Any:
        return opset8.gather(*inputs, batch_dims=1)

    call = np.arange(19, dtype=np.float32).reshape(1, 19), np.array([[18]]), np.array(1)
    ((output,),) = openvino_calls(make, call, static=True, constants=[2])
    return output.tolist()


@finding(
    "openvino Gather-8 batch-dims-range",
    where="static",
    call="data f32[2, 3], indices [[0], [1]], axis 1, batch_dims -3",
    expected="rejected",
    got="accepted",
    right=REJECTED,
    wrong="accepted",
)
def openvino_batch_dims_range() -> Any:
    import numpy as np
    from openvino import opset8

    def make(*inputs: Any) -> Any:
        return opset8.gather(*inputs, batch_dims=-3)

    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    call = data, np.array([[0], [1]]), np.array(1)
    (result,) = openvino_calls(make, call, static=True, constants=[2])
    return result if result == REJECTED else "accepted"


@finding(
    "openvino Gather-8 pick",
    call="axis a parameter, data [[0, 1, 2], [3, 4, 5]], indices [1]: axis 0, then axis 1",
    expected="[[1], [4]]",
    got="[[1, 4, 5]]: the shape is kept from the first call",
    right=[[1], [4]],
    wrong=[[1, 4, 5]],
)
def openvino_axis_changes() -> Any:
    import numpy as np
    from openvino import opset8

    data, indices = np.arange(6, dtype=np.int32).reshape(2, 3), np.array([1])
    calls = [(data, indices, np.array(axis)) for axis in (0, 1)]
    _, (output,) = openvino_calls(opset8.gather, *calls)
    return output.tolist()


@finding(
    "openvino Gather-8 axis-range",
    call="axis a parameter, data of rank 2: axis 1, then 2, then 2",
    expected="rejected twice",
    got="rejected, then accepted",
    right=[REJECTED, REJECTED],
    wrong=[REJECTED, "accepted"],
)
def openvino_axis_range() -> Any:
    import numpy as np
    from openvino import opset8

    data, indices = np.arange(6, dtype=np.int32).reshape(2, 3), np.array([1])
    calls = [(data, indices, np.array(axis)) for axis in (1, 2, 2)]
    _, *results = openvino_calls(opset8.gather, *calls)
    return [each if each == REJECTED else "accepted" for each in results]


@finding(
    "openvino Gather-8 batch-shapes-equal",
    call="data f32[2, 3], indices [[0], [1], [2]], axis 1, batch_dims 1",
    expected="rejected",
    got="accepted",
    right=REJECTED,
    wrong="accepted",
)
def openvino_batch_shapes_equal() -> Any:
    import numpy as np
    from openvino import opset8

    def make(*inputs: Any) -> Any:
        return opset8.gather(*inputs, batch_dims=1)

    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    (result,) = openvino_calls(make, (data, np.array([[0], [1], [2]]), np.array(1)))
    return result if result == REJECTED else "accepted"


@finding(
    "openvino Gather-8 axis-shape",
    call="axis [[1]]",
    expected="rejected",
    got="accepted",
    right=REJECTED,
    wrong=[[1], [4]],
)
def openvino_axis_shape() -> Any:
    import numpy as np
    from openvino import opset8

    data = np.arange(6, dtype=np.int32).reshape(2, 3)
    (result,) = openvino_calls(opset8.gather, (data, np.array([1]), np.array([[1]])))
    return result if result == REJECTED else result[0].tolist()
