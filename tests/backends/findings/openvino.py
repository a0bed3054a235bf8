"""Deviations of OpenVINO's Broadcast-1, Slice-8 and VariadicSplit-1."""

from typing import Any

from tests.backends.findings.finding import ANYTHING_ELSE, REJECTED, finding, openvino_calls


@finding(
    "openvino Broadcast-1 empty-data",
    call="data i32[0], target [0, 2], axes_mapping [0]",
    expected="empty",
    got="SIGFPE",
    right=[0, 2],
    wrong="SIGFPE",
)
def openvino_empty_data() -> Any:
    import numpy as np
    from openvino import opset1

    def make(data: Any, target: Any, axes: Any) -> Any:
        return opset1.broadcast(data, target, axes, mode="explicit")

    call = np.zeros(0, np.int32), np.array([0, 2]), np.array([0])
    ((output,),) = openvino_calls(make, call, known=[1])
    return list(output.shape)


@finding(
    "openvino Broadcast-1 explicit-mode",
    where="dynamic",
    call="data i32[], target [2, 3], axes_mapping []",
    expected="two rows of three",
    got="rejected",
    right=[[7, 7, 7], [7, 7, 7]],
    wrong=REJECTED,
)
def openvino_explicit_scalar() -> Any:
    import numpy as np
    from openvino import opset1

    def make(data: Any, target: Any, axes: Any) -> Any:
        return opset1.broadcast(data, target, axes, mode="explicit")

    call = np.array(7, np.int32), np.array([2, 3]), np.zeros(0, np.int64)
    ((output,),) = openvino_calls(make, call, known=[1])
    return output.tolist()


@finding(
    "openvino Broadcast-1 mode-known",
    call="mode `none`",
    expected="rejected",
    got="accepted",
    right=REJECTED,
    wrong="accepted",
)
def openvino_mode_known() -> Any:
    import numpy as np
    from openvino import opset1

    def make(data: Any, target: Any) -> Any:
        return opset1.broadcast(data, target, mode="none")

    (result,) = openvino_calls(make, (np.arange(3), np.array([2, 3])), known=[1])
    return result if result == REJECTED else "accepted"


@finding(
    "openvino Broadcast-1 explicit-with-axes-mapping",
    call="mode explicit, data i64[3], target [2, 3], no axes_mapping",
    expected="rejected",
    got="accepted",
    right=REJECTED,
    wrong="accepted",
)
def openvino_explicit_without_axes() -> Any:
    import numpy as np
    from openvino.utils.node_factory import NodeFactory

    def make(*inputs: Any) -> Any:
        return NodeFactory("opset1").create("Broadcast", list(inputs), {"mode": "explicit"})

    (result,) = openvino_calls(make, (np.arange(3), np.array([2, 3])), known=[1])
    return result if result == REJECTED else "accepted"


@finding(
    "openvino Broadcast-1 axes-mapping-size",
    where="static",
    call="mode explicit, data i32[] = 7, target [1, 1], axes_mapping [0]",
    expected="rejected",
    got="[[7]]",
    right=REJECTED,
    wrong=[[7]],
)
def openvino_axes_mapping_size() -> Any:
    import numpy as np
    from openvino import opset1

    def make(data: Any, target: Any, axes: Any) -> Any:
        return opset1.broadcast(data, target, axes, mode="explicit")

    call = np.array(7, np.int32), np.array([1, 1]), np.array([0])
    (result,) = openvino_calls(make, call, static=True)
    return result if result == REJECTED else result[0].tolist()


@finding(
    "openvino Broadcast-1 target-not-negative",
    call="data i64[3], target [-2^63, 3]",
    expected="rejected",
    got="accepted",
    right=REJECTED,
    wrong="accepted",
)
def openvino_target_not_negative() -> Any:
    import numpy as np
    from openvino import opset1

    (result,) = openvino_calls(opset1.broadcast, (np.arange(3), np.array([-(2**63), 3])), known=[1])
    return result if result == REJECTED else "accepted"


@finding(
    "openvino Slice-8 to-the-end",
    call="data i32[2], start 1, stop and step -2^31",
    expected="[data[1]]",
    got="SIGFPE",
    right=[1],
    wrong="SIGFPE",
)
def openvino_least_step() -> Any:
    import numpy as np
    from openvino import opset8

    ends = [np.array([value], np.int32) for value in (1, -(2**31), -(2**31))]
    ((output,),) = openvino_calls(opset8.slice, (np.arange(2, dtype=np.int32), *ends))
    return output.tolist()


@finding(
    "openvino Slice-8 to-the-end",
    call="data [0, 1, 2], start 0, stop 2^63-1",
    expected="[0, 1, 2]",
    got="[0, 1]: the stop is cut to 32 bits",
    right=[0, 1, 2],
    wrong=[0, 1],
)
def openvino_greatest_stop() -> Any:
    import numpy as np
    from openvino import opset8

    ends = [np.array([value]) for value in (0, 2**63 - 1, 1)]
    ((output,),) = openvino_calls(opset8.slice, (np.arange(3, dtype=np.int32), *ends))
    return output.tolist()


@finding(
    "openvino Slice-8 subsample",
    call="data [0, 1, 2], start 0, stop 3, step 2^32",
    expected="[0]",
    got="rejected: the step is cut to 32 bits, 0",
    right=[0],
    wrong=REJECTED,
)
def openvino_wide_step() -> Any:
    import numpy as np
    from openvino import opset8

    ends = [np.array([value]) for value in (0, 3, 2**32)]
    ((output,),) = openvino_calls(opset8.slice, (np.arange(3, dtype=np.int32), *ends))
    return output.tolist()


@finding(
    "openvino Slice-8 clamp-below",
    call="data [0, 1, 2], start -4, stop -5, step -1",
    expected="empty",
    got="[0]",
    right=[],
    wrong=[0],
)
def openvino_clamp_below() -> Any:
    import numpy as np
    from openvino import opset8

    ends = [np.array([value]) for value in (-4, -5, -1)]
    ((output,),) = openvino_calls(opset8.slice, (np.arange(3, dtype=np.int32), *ends))
    return output.tolist()


@finding(
    "openvino Slice-8 axes-range",
    call="data of rank 2, axes u64 [2^64-1]",
    expected="rejected",
    got="axis 1, as for an axis of VariadicSplit",
    right=REJECTED,
    wrong=[[0], [3]],
)
def openvino_axes_range() -> Any:
    import numpy as np
    from openvino import opset8

    ends = [np.array([value]) for value in (0, 1, 1)]
    axes = np.array([2**64 - 1], np.uint64)
    data = np.arange(6, dtype=np.int32).reshape(2, 3)
    (result,) = openvino_calls(opset8.slice, (data, *ends, axes))
    return result if result == REJECTED else result[0].tolist()


@finding(
    "openvino VariadicSplit-1 lengths-sum",
    call="data i32[5], lengths [2, 2^32 + 3]",
    expected="rejected",
    got="[2, 3]: cut to 32 bits, as are a target and axes of Broadcast",
    right=REJECTED,
    wrong=[2, 3],
)
def openvino_wide_lengths() -> Any:
    import numpy as np
    from openvino import opset8

    call = np.arange(5, dtype=np.int32), np.array(0), np.array([2, 2**32 + 3])
    (result,) = openvino_calls(opset8.variadic_split, call, known=[2])
    return result if result == REJECTED else [part.size for part in result]


@finding(
    "openvino VariadicSplit-1 lengths-sum",
    call="data i32[5], lengths i64[0]",
    expected="rejected",
    got="no output",
    right=REJECTED,
    wrong=[],
)
def openvino_no_lengths() -> Any:
    import numpy as np
    from openvino import opset8

    call = np.arange(5, dtype=np.int32), np.array(0), np.zeros(0, np.int64)
    (result,) = openvino_calls(opset8.variadic_split, call, known=[2])
    return result


@finding(
    "openvino all any-type",
    call="f64 1e300; i64 2^40 + 5; f16 0x7c01, a NaN",
    expected="the same",
    got="3.4e38; 5; 0x7e01: through f32 and i32",
    right=[1e300, 2**40 + 5, 0x7C01],
    wrong=[3.4028234663852886e38, 5, 0x7E01],
    documented="partly",
)
def openvino_narrowed() -> Any:
    import numpy as np
    from openvino import opset8

    ends = [np.array([value]) for value in (0, 1, 1)]
    nan = np.array([0x7C01], np.uint16).view(np.float16)
    results = [
        openvino_calls(opset8.slice, (data, *ends))[0][0]
        for data in (np.array([1e300]), np.array([2**40 + 5]), nan)
    ]
    return [results[0].item(), results[1].item(), results[2].view(np.uint16).item()]


@finding(
    "openvino all any-type",
    where="constant",
    call="data a constant: f32 2^-149; u32 2^31 + 1",
    expected="the same",
    got="0; 2^31 - 1",
    right=[2.0**-149, 2**31 + 1],
    wrong=[0.0, 2**31 - 1],
)
def openvino_constants() -> Any:
    import numpy as np
    from openvino import opset8

    ends = [np.array([value]) for value in (0, 1, 1)]
    return [
        openvino_calls(opset8.slice, (data, *ends), constants=[0])[0][0].item()
        for data in (np.array([2.0**-149], np.float32), np.array([2**31 + 1], np.uint32))
    ]


@finding(
    "openvino Broadcast-1 replicate",
    where="indices=constant",
    call="data i16[], target i64[0]",
    expected="data",
    got="SIGSEGV",
    right=7,
    wrong="SIGSEGV",
)
def openvino_constant_empty_target() -> Any:
    import numpy as np
    from openvino import opset1

    call = np.array(7, np.int16), np.zeros(0, np.int64)
    ((output,),) = openvino_calls(opset1.broadcast, call, constants=[1])
    return output.tolist()


@finding(
    "openvino Broadcast-1 numpy-compatible",
    where="indices=constant",
    call="target [2, 3], data i64[3], then i64[4], then i64[3]",
    expected="two rows of three, rejected, two rows of three",
    got="two rows of three, rejected twice",
    right=["outputs", REJECTED, "outputs"],
    wrong=["outputs", REJECTED, REJECTED],
)
def openvino_rejected_after_a_rejection() -> Any:
    import numpy as np
    from openvino import opset1

    calls = [(np.arange(n), np.array([2, 3])) for n in (3, 4, 3)]
    results = openvino_calls(opset1.broadcast, *calls, constants=[1])
    return [each if each == REJECTED else "outputs" for each in results]


@finding(
    "openvino VariadicSplit-1 lengths-type",
    where="indices=constant",
    call="data i32[5], lengths f32 [2, 3], as for an axis f64 0",
    expected="rejected",
    got="[2, 3]",
    right=REJECTED,
    wrong=[2, 3],
)
def openvino_constant_lengths_type() -> Any:
    import numpy as np
    from openvino import opset8

    call = np.arange(5, dtype=np.int32), np.array(0), np.array([2.0, 3.0], np.float32)
    (result,) = openvino_calls(opset8.variadic_split, call, constants=[1, 2])
    return result if result == REJECTED else [part.size for part in result]


@finding(
    "openvino VariadicSplit-1 lengths-leave-rest",
    where="indices=constant",
    call="data i32[5], lengths [6, -1]",
    expected="rejected",
    got="[6, 0]: memory outside data",
    right=REJECTED,
    wrong=ANYTHING_ELSE,
)
def openvino_constant_lengths_beyond() -> Any:
    import numpy as np
    from openvino import opset8

    call = np.arange(5, dtype=np.int32), np.array(0), np.array([6, -1])
    (result,) = openvino_calls(opset8.variadic_split, call, constants=[1, 2])
    return result if result == REJECTED else [part.size for part in result]


@finding(
    "openvino Broadcast-1 target-not-negative",
    where="static, indices=constant",
    call="data i64[3, 1], target [3, -2]",
    expected="rejected",
    got="SIGSEGV or SIGABRT",
    right=REJECTED,
    wrong=ANYTHING_ELSE,
)
def openvino_constant_negative_target() -> Any:
    import numpy as np
    from openvino import opset1

    call = np.arange(3).reshape(3, 1), np.array([3, -2])
    (result,) = openvino_calls(opset1.broadcast, call, static=True, constants=[1])
    return result if result == REJECTED else "accepted"


@finding(
    "openvino Slice-8 backwards",
    where="indices=constant",
    call="data u16[256], start 0, stop -2^40, step -2^32 - 1",
    expected="[data[0]]",
    got="SIGFPE",
    right=[0],
    wrong="SIGFPE",
)
def openvino_constant_wide_step() -> Any:
    import numpy as np
    from openvino import opset8

    ends = [np.array([value]) for value in (0, -(2**40), -(2**32) - 1)]
    call = np.arange(256, dtype=np.uint16), *ends
    ((output,),) = openvino_calls(opset8.slice, call, constants=[1, 2, 3])
    return output.tolist()
