"""What runtimes were found to do: a program for each, by the runtime's own API alone.

`python -m tests.backends.findings` lists them, with one's name behind it prints its program, with
`--markdown` the guide's table. What a program gives is compared with what is claimed of it by
`test_findings.py`, for the runtimes that are installed.
"""

import argparse
import inspect
import json
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

REJECTED = "rejected"
# Where memory outside the data is read, what comes is not always the same.
ANYTHING_ELSE = "anything else"
Program: TypeAlias = Callable[[], Any]
# What programs need that they do not import themselves.
_HEAD = f"""from collections.abc import Callable, Sequence
from typing import Any

REJECTED = "{REJECTED}"
"""


@dataclass(frozen=True)
class Finding:
    """A call that a runtime does not answer as the document has it.

    `where` is the configuration of the backend that it needs. `call`, `expected` and `got` are the
    guide's words; `right` is what the program should give, `wrong` what it gives: lists, REJECTED,
    ANYTHING_ELSE, or the signal that ends its process. `documented` is whether the runtime's own
    documentation says so. `helpers` are the functions that the program calls.
    """

    name: str
    package: str
    where: str
    operator: str
    rule: str
    call: str
    expected: str
    got: str
    right: Any
    wrong: Any
    documented: str
    helpers: tuple[Callable[..., Any], ...]
    program: Program

    @property
    def ends_its_process(self) -> bool:
        """Whether the program may end the process that it runs in."""
        return self.wrong == ANYTHING_ELSE or str(self.wrong).startswith("SIG")

    @property
    def text(self) -> str:
        """The program as a file of its own."""
        functions = [*self.helpers, self.program]
        sources = [textwrap.dedent(inspect.getsource(each)) for each in functions]
        # What stands in front of `def` is of this module.
        plain = [source[source.index("def ") :] for source in sources]
        call = f"print({self.program.__name__}())  # expected: {self.right}; found: {self.wrong}"
        return "\n\n".join([_HEAD, *plain, call]) + "\n"

    @property
    def row(self) -> str:
        """The finding as a row of the guide's table."""
        runtime = f"{self.package}, {self.where}" if self.where else self.package
        cells = (runtime, f"{self.operator}, {self.rule}", self.call, self.expected, self.got)
        return f"| {' | '.join(cells)} | {self.documented} |"

    def result(self) -> Any:
        """Return what the program gives, in a process of its own where it may end it."""
        if not self.ends_its_process:
            return given(self.program)
        done = subprocess.run(
            [sys.executable, "-m", "tests.backends.findings", "--run", self.name],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode < 0:
            return signal.Signals(-done.returncode).name
        return json.loads(done.stdout)


FINDINGS: dict[str, Finding] = {}


def finding(place: str, **parts: Any) -> Callable[[Program], Program]:
    """Add a program to the findings; `place` is its package, operator and rule."""
    package, operator, rule = place.split(" ", 2)
    parts = {"where": "", "documented": "no", "helpers": HELPERS[package], **parts}

    def added(program: Program) -> Program:
        name = program.__name__
        FINDINGS[name] = Finding(
            name, package, program=program, operator=operator, rule=rule, **parts
        )
        return program

    return added


def given(program: Program) -> Any:
    """Return what a program returns, or that it was rejected."""
    try:
        return program()
    except Exception:
        return REJECTED


def openvino_calls(
    make: Callable[..., Any],
    *calls: Sequence[Any],
    static: bool = False,
    known: Sequence[int] = (),
    constants: Sequence[int] = (),
) -> list[Any]:
    """Return what each call gives of one model that is compiled for OpenVINO's CPU.

    `make` makes its node of inputs, each a parameter of any size, but for those in `known` or
    where `static`, and for the `constants`.
    """
    import openvino as ov
    from openvino import opset8

    inputs, parameters = [], []
    for position, array in enumerate(calls[0]):
        if position in constants:
            inputs.append(ov.op.Constant(ov.Tensor(array), shared_memory=False))
            continue
        any_size = not static and position not in known
        shape = ov.PartialShape([-1] * array.ndim if any_size else list(array.shape))
        inputs.append(opset8.parameter(shape, ov.Type(array.dtype)))
        parameters.append(position)
    nodes = [inputs[position] for position in parameters]
    model = ov.Model(make(*inputs).outputs(), nodes)
    request = ov.Core().compile_model(model, "CPU").create_infer_request()
    results: list[Any] = []
    for arrays in calls:
        for port, position in enumerate(parameters):
            request.set_input_tensor(port, ov.Tensor(arrays[position]))
        try:
            request.start_async()
            request.wait()
        except RuntimeError:
            results.append(REJECTED)
        else:
            results.append([each.data.copy() for each in request.output_tensors])
    return results


def onnx_outputs(node_type: str, *arrays: Any, **attributes: Any) -> list[Any]:
    """Return what ONNX Runtime's CPU provider gives for a model of one node."""
    import onnxruntime
    from onnx import helper

    names = [f"i{position}" for position in range(len(arrays))]
    inputs = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), [None] * array.ndim
        )
        for name, array in zip(names, arrays, strict=True)
    ]
    output = helper.make_tensor_value_info("o", inputs[0].type.tensor_type.elem_type, None)
    node = helper.make_node(node_type, names, ["o"], **attributes)
    graph = helper.make_graph([node], "one", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    outputs: list[Any] = session.run(None, dict(zip(names, arrays, strict=True)))
    return outputs


HELPERS: dict[str, tuple[Callable[..., Any], ...]] = {
    "openvino": (openvino_calls,),
    "onnxruntime": (onnx_outputs,),
    "torch": (),
    "jax": (),
}


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
    # Some of what lies outside is 0 by itself.
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
    # Some of what lies outside is 0 by itself.
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
def openvino_rejected_behind_a_rejection() -> Any:
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
    got="SIGSEGV",
    right=REJECTED,
    wrong="SIGSEGV",
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
    "torch VariadicSplit-1 lengths-sum",
    call="`split(arange(10), [10, 2**63-1, 2**63-1, 2])`",
    expected="rejected",
    got="accepted: the sum wraps",
    right=REJECTED,
    wrong="accepted",
)
def torch_wrapping_sum() -> Any:
    import torch

    torch.split(torch.arange(10), [10, 2**63 - 1, 2**63 - 1, 2])
    return "accepted"


@finding(
    "torch Slice-8 subsample",
    call="`arange(256)[::2**63-1]`",
    expected="[0]",
    got="empty",
    right=[0],
    wrong=[],
)
def torch_greatest_step() -> Any:
    import torch

    return torch.arange(256)[:: 2**63 - 1].tolist()


@finding(
    "torch Slice-8 subsample",
    call="`arange(10).reshape(5, 2)[::2**63-1]`",
    expected="[[0, 1]]",
    got="rejected: the stride overflows",
    right=[[0, 1]],
    wrong=REJECTED,
)
def torch_greatest_step_of_rows() -> Any:
    import torch

    return torch.arange(10).reshape(5, 2)[:: 2**63 - 1].tolist()


@finding(
    "jax Gather-8 index-above",
    call='`take(arange(10, 20), [2**40], mode="fill", fill_value=0)`',
    expected="[0]",
    got="[10]: cut to 32 bits",
    right=[0],
    wrong=[10],
)
def jax_wide_index() -> Any:
    import jax

    with jax.enable_x64(True):
        indices = jax.numpy.array([2**40])
        data = jax.numpy.arange(10, 20)
        return jax.numpy.take(data, indices, mode="fill", fill_value=0).tolist()


@finding(
    "jax Gather-8 index-negative",
    call="indices i8 [-1] of 300",
    expected="the last",
    got="element 43: added in 8 bits",
    right=[299],
    wrong=[43],
)
def jax_narrow_index() -> Any:
    import jax

    indices = jax.numpy.array([-1], jax.numpy.int8)
    return jax.numpy.take(jax.numpy.arange(300), indices, mode="fill", fill_value=0).tolist()


@finding(
    "jax Gather-8 axis-empty",
    call='`take(arange(0), [0], mode="fill", fill_value=0)`',
    expected="[0]",
    got="rejected",
    right=[0],
    wrong=REJECTED,
)
def jax_axis_empty() -> Any:
    import jax

    indices = jax.numpy.array([0])
    return jax.numpy.take(jax.numpy.arange(0), indices, mode="fill", fill_value=0).tolist()


@finding(
    "jax Gather-8 indices-empty",
    call='`take(zeros((0, 5)), zeros((3, 0), int), axis=0, mode="fill")`',
    expected="shape (3, 0, 5)",
    got="shape (0, 5)",
    right=[3, 0, 5],
    wrong=[0, 5],
)
def jax_indices_empty() -> Any:
    import jax

    data, indices = jax.numpy.zeros((0, 5)), jax.numpy.zeros((3, 0), int)
    return list(jax.numpy.take(data, indices, axis=0, mode="fill").shape)


@finding(
    "jax Gather-8 indices-type",
    call='`take(arange(3), zeros(0, float8_e4m3fn), mode="fill")`',
    expected="rejected",
    got="accepted; not where there are indices",
    right=REJECTED,
    wrong=[],
)
def jax_indices_type() -> Any:
    import jax

    indices = jax.numpy.zeros(0, jax.numpy.float8_e4m3fn)
    return jax.numpy.take(jax.numpy.arange(3), indices, mode="fill", fill_value=0).tolist()


@finding(
    "jax Gather-8 any-type",
    call='`take(x, [0], mode="fill")`, x bf16 0x7f81, a NaN',
    expected="the same bits",
    got="0x7fc0",
    right=[0x7F81],
    wrong=[0x7FC0],
)
def jax_taken_nan() -> Any:
    import jax
    import numpy as np

    data = jax.numpy.array(np.array([0x7F81], np.uint16).view(jax.numpy.bfloat16))
    taken = jax.numpy.take(data, jax.numpy.array([0]), mode="fill", fill_value=0)
    return np.array(taken).view(np.uint16).tolist()


@finding(
    "jax Broadcast-1 any-type",
    call="bf16 subnormals to (2, 6)",
    expected="the same bits",
    got="zeros; not for (2, 4)",
    right=[1, 2, 3, 4, 5, 6] * 2,
    wrong=[0] * 12,
)
def jax_subnormals() -> Any:
    import jax
    import numpy as np

    data = jax.numpy.array(np.arange(1, 7, dtype=np.uint16).view(jax.numpy.bfloat16))
    return np.array(jax.numpy.broadcast_to(data, (2, 6))).view(np.uint16).ravel().tolist()


@finding(
    "jax VariadicSplit-1 lengths-type",
    call="`split(x, [2, 3])`, then `[2., 3.]`",
    expected="rejected",
    got="accepted, from a cache",
    right=REJECTED,
    wrong="accepted",
)
def jax_cached_lengths() -> Any:
    import jax

    x = jax.numpy.arange(5)
    jax.lax.split(x, [2, 3])
    jax.lax.split(x, [2.0, 3.0])
    return "accepted"


@finding(
    "jax Broadcast-1 axes-mapping-type",
    call="`broadcast_in_dim(arange(3), (2, 3), (1.,))`, then `(1,)`",
    expected="rejected, then two rows",
    got="rejected twice, from a cache",
    right=[REJECTED, [[0, 1, 2], [0, 1, 2]]],
    wrong=[REJECTED, REJECTED],
)
def jax_cached_rejection() -> Any:
    import jax

    results: list[Any] = []
    for axes in ((1.0,), (1,)):
        try:
            results.append(jax.lax.broadcast_in_dim(jax.numpy.arange(3), (2, 3), axes).tolist())
        except TypeError:
            results.append(REJECTED)
    return results


@finding(
    "jax Slice-8 backwards",
    call="`arange(10)[::-2**63]`",
    expected="[9]",
    got="TypeError",
    right=[9],
    wrong=REJECTED,
)
def jax_least_step() -> Any:
    import jax

    with jax.enable_x64(True):
        return jax.numpy.arange(10)[:: -(2**63)].tolist()


@finding(
    "jax Slice-8 subsample",
    call="`arange(256)[::2**63-1]`",
    expected="[0]",
    got="shape (1,), and no element",
    right=[[1], 1],
    wrong=[[1], 0],
)
def jax_greatest_step() -> Any:
    import jax
    import numpy as np

    with jax.enable_x64(True):
        found = jax.numpy.arange(256)[:: 2**63 - 1]
        return [list(found.shape), np.array(found).size]


@finding(
    "jax Slice-8 subsample",
    call="`arange(2).reshape(1, 2)[::-1, ::2**63-1]`",
    expected="[[0]]",
    got="SIGABRT",
    right=[[0]],
    wrong="SIGABRT",
)
def jax_greatest_step_backwards() -> Any:
    import jax

    with jax.enable_x64(True):
        return jax.numpy.arange(2).reshape(1, 2)[::-1, :: 2**63 - 1].tolist()


def main() -> int:
    """List the findings, or print a program, or the guide's table."""
    parser = argparse.ArgumentParser(prog="python -m tests.backends.findings", description=__doc__)
    parser.add_argument("name", nargs="?", choices=FINDINGS, metavar="NAME")
    parser.add_argument("--markdown", action="store_true", help="print the guide's table")
    parser.add_argument("--run", choices=FINDINGS, metavar="NAME", help="print what one gives")
    options = parser.parse_args()
    if options.run:
        print(json.dumps(given(FINDINGS[options.run].program)))
    elif options.markdown:
        print("\n".join(table()))
    elif options.name:
        print(FINDINGS[options.name].text, end="")
    else:
        print("\n".join(f"{each.name}: {each.operator}, {each.rule}" for each in FINDINGS.values()))
    return 0


def table() -> list[str]:
    """Return the lines of the guide's table."""
    head = ["runtime", "operator, rule", "call", "expected", "got", "doc"]
    return [
        f"| {' | '.join(head)} |",
        "| --- " * len(head) + "|",
        *(each.row for each in FINDINGS.values()),
    ]


if __name__ == "__main__":
    sys.exit(main())
