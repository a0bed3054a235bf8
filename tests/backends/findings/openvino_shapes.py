"""Deviations of OpenVINO's operators that change shapes: Reshape, Tile, Concat, Pad, Split."""

from typing import Any

from tests.backends.findings.finding import REJECTED, finding, openvino_calls


@finding(
    "openvino Reshape-1 same-volume",
    call="shape a parameter, data f32[3, 4]: shape [6, 2], then [7, 7] twice",
    expected="6 rows, rejected twice",
    got="6 rows, rejected, 6 rows: the first result",
    right=[[6, 2], REJECTED, REJECTED],
    wrong=[[6, 2], REJECTED, [6, 2]],
)
def openvino_shape_rejected_once() -> Any:
    import numpy as np
    from openvino import opset1

    def make(data: Any, shape: Any) -> Any:
        return opset1.reshape(data, shape, special_zero=False)

    data = np.zeros((3, 4), np.float32)
    calls = [(data, np.array(shape)) for shape in ([6, 2], [7, 7], [7, 7])]
    results = openvino_calls(make, *calls, known=[1])
    return [result if result == REJECTED else list(result[0].shape) for result in results]


@finding(
    "openvino Reshape-1 sizes-not-below-minus-one",
    call="data f32[12], shape [-2]",
    expected="rejected",
    got="shape (12,)",
    right=REJECTED,
    wrong=[12],
)
def openvino_size_minus_two() -> Any:
    import numpy as np
    from openvino import opset1

    def make(data: Any, shape: Any) -> Any:
        return opset1.reshape(data, shape, special_zero=False)

    (result,) = openvino_calls(make, (np.zeros(12, np.float32), np.array([-2])), known=[1])
    return result if result == REJECTED else list(result[0].shape)


@finding(
    "openvino Reshape-1 same-volume",
    call="data f32[3, 4], shape u32 [3, 2^32 - 1]",
    expected="rejected",
    got="shape (3, 4): read as -1",
    right=REJECTED,
    wrong=[3, 4],
)
def openvino_unsigned_size() -> Any:
    import numpy as np
    from openvino import opset1

    def make(data: Any, shape: Any) -> Any:
        return opset1.reshape(data, shape, special_zero=False)

    call = np.zeros((3, 4), np.float32), np.array([3, 2**32 - 1], np.uint32)
    (result,) = openvino_calls(make, call, known=[1])
    return result if result == REJECTED else list(result[0].shape)


@finding(
    "openvino Tile-1 one-copy",
    call="data i32[] = 7, repeats i64[0]",
    expected="7",
    got="SIGSEGV; of data f32[2] memory that nothing has written, or rejected",
    right=7,
    wrong="SIGSEGV",
)
def openvino_no_repeats() -> Any:
    import numpy as np
    from openvino import opset1

    call = np.array(7, np.int32), np.zeros(0, np.int64)
    (result,) = openvino_calls(opset1.tile, call, known=[1])
    return result if result == REJECTED else result[0].tolist()


@finding(
    "openvino Pad-1 begin-not-negative",
    call="data i32[3] = 1..3, pads_begin [-1], pads_end [0], as for pads_end",
    expected="rejected",
    got="[2, 3]",
    right=REJECTED,
    wrong=[2, 3],
)
def openvino_negative_pad() -> Any:
    import numpy as np
    from openvino import opset1

    def make(data: Any, begin: Any, end: Any) -> Any:
        return opset1.pad(data, begin, end, "constant")

    call = np.arange(1, 4, dtype=np.int32), np.array([-1]), np.array([0])
    (result,) = openvino_calls(make, call)
    return result if result == REJECTED else result[0].tolist()


@finding(
    "openvino Pad-1 nothing-added",
    call="data i32[] = 7, pads_begin and pads_end i64[0], mode constant",
    expected="7",
    got="rejected; some calls end in a SIGSEGV",
    right=7,
    wrong=REJECTED,
)
def openvino_padded_scalar() -> Any:
    import numpy as np
    from openvino import opset1

    def make(data: Any, begin: Any, end: Any) -> Any:
        return opset1.pad(data, begin, end, "constant")

    empty = np.zeros(0, np.int64)
    (result,) = openvino_calls(make, (np.array(7, np.int32), empty, empty))
    return result if result == REJECTED else result[0].tolist()


@finding(
    "openvino Split-1 axis-range",
    call="data i32[4], axis -2^32 - 1, 2 parts",
    expected="rejected",
    got="parts of 2: cut to 32 bits",
    right=REJECTED,
    wrong=[2, 2],
)
def openvino_wide_split_axis() -> Any:
    import numpy as np
    from openvino import opset1

    call = np.zeros(4, np.int32), np.array(-(2**32) - 1)
    (result,) = openvino_calls(lambda data, axis: opset1.split(data, axis, 2), call)
    return result if result == REJECTED else [len(part) for part in result]
