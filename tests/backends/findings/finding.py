"""A finding: a program in a runtime's own API, with the right result and the actual one."""

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
# A program that reads memory outside the data does not always give the same result.
ANYTHING_ELSE = "anything else"
Program: TypeAlias = Callable[[], Any]
# What programs use without importing it themselves.
_HEAD = f"""from collections.abc import Callable, Sequence
from typing import Any

REJECTED = "{REJECTED}"
"""


@dataclass(frozen=True)
class Finding:
    """A call for which a runtime deviates from the operator's document.

    `where` is the configuration of the backend that it needs. `call`, `expected` and `got` are
    texts of the guide. `right` is the result that the program should give, `wrong` the actual one:
    a value, REJECTED, ANYTHING_ELSE, or the signal that ends its process. `documented` says whether
    the runtime's own documentation has it. `helpers` are the functions that the program calls.
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
        """Whether the program can end its process."""
        return self.wrong == ANYTHING_ELSE or str(self.wrong).startswith("SIG")

    @property
    def text(self) -> str:
        """The program as a file of its own."""
        functions = [*self.helpers, self.program]
        sources = [textwrap.dedent(inspect.getsource(function)) for function in functions]
        # The decorators belong to these modules.
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
        """Return the result of the program, in a process of its own if it can end it."""
        if not self.ends_its_process:
            return run_program(self.program)
        process = subprocess.run(
            [sys.executable, "-m", "tests.backends.findings", "--run", self.name],
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode < 0:
            return signal.Signals(-process.returncode).name
        return json.loads(process.stdout)


FINDINGS: dict[str, Finding] = {}


def finding(place: str, **parts: Any) -> Callable[[Program], Program]:
    """Register a program as a finding; `place` is its package, operator and rule."""
    package, operator, rule = place.split(" ", 2)
    parts = {"where": "", "documented": "no", "helpers": HELPERS[package], **parts}

    def register(program: Program) -> Program:
        name = program.__name__
        FINDINGS[name] = Finding(
            name, package, program=program, operator=operator, rule=rule, **parts
        )
        return program

    return register


def run_program(program: Program) -> Any:
    """Return the result of a program, REJECTED if it raises."""
    try:
        return program()
    except Exception:
        return REJECTED


def table() -> list[str]:
    """Return the lines of the guide's table."""
    head = ["runtime", "operator, rule", "call", "expected", "got", "doc"]
    return [
        f"| {' | '.join(head)} |",
        "| --- " * len(head) + "|",
        *(finding.row for finding in FINDINGS.values()),
    ]


# -- functions that several programs call; they are printed with a program


def openvino_calls(
    make: Callable[..., Any],
    *calls: Sequence[Any],
    static: bool = False,
    known: Sequence[int] = (),
    constants: Sequence[int] = (),
) -> list[Any]:
    """Return the results of calls of one model of a node, compiled for OpenVINO's CPU.

    `make` creates the node of its inputs. Those at the positions in `constants` are constants, the
    others parameters: of known shape if `static` or in `known`, else of any shape.
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
    """Return the outputs of a model of one node on ONNX Runtime's CPU provider."""
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
    "numpy": (),
}
