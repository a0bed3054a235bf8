"""Deviations of runtimes from the documents, kept in findings.yaml: a program for each.

`python -m tests.backends.findings` lists them. With a name it prints that program, with
`--markdown` the guide's table. `test_findings.py` runs those of the runtimes that are installed.
"""

import argparse
import inspect
import json
import runpy
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

REJECTED, ACCEPTED, ANYTHING_ELSE = "rejected", "accepted", "anything else"


class Finding(BaseModel, extra="forbid", frozen=True):
    """A call for which a runtime deviates from the operator's document.

    `of` is its package, operator and rule, `where` the configuration of the backend that it needs,
    and `documented` says whether the runtime's own documentation has it.
    """

    of: str
    where: str = ""
    call: str
    expected: str = ""
    got: str = ""
    right: Any
    wrong: Any
    documented: str = "no"
    program: str

    @property
    def package(self) -> str:
        """The runtime."""
        return self.of.split()[0]

    @property
    def text(self) -> str:
        """The program as a file of its own."""
        imports, helpers = HEADS[self.package]
        return "\n".join(
            [
                "import json\nfrom collections.abc import Callable, Sequence",
                "from functools import partial\nfrom typing import Any\n",
                imports,
                *(f"\n\n{inspect.getsource(helper).rstrip()}" for helper in helpers),
                f"\n\ntry:\n{textwrap.indent(self.program, '    ').rstrip()}",
                f'except Exception:\n    result = "{REJECTED}"',
                f"print(json.dumps(plain(result)))  # right: {self.right}; found: {self.wrong}\n",
            ]
        )

    @property
    def row(self) -> str:
        """The finding as a row of the guide's table."""
        package, operator, rule = self.of.split()
        runtime = f"{package}, {self.where}" if self.where else package
        expected, got = self.expected or self.right, self.got or self.wrong
        cells = (runtime, f"{operator}, {rule}", self.call, expected, got, self.documented)
        return f"| {' | '.join(map(str, cells))} |"

    def result(self, folder: Path) -> Any:
        """Return the result of the program, in a process of its own if it can break it."""
        file = folder / "program.py"
        file.write_text(self.text)
        is_alone = self.wrong == ANYTHING_ELSE or str(self.wrong).startswith("SIG")
        if not is_alone and self.where != "cuda":
            namespace = runpy.run_path(str(file))
            return json.loads(json.dumps(namespace["plain"](namespace["result"])))
        done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
        if done.returncode < 0:
            return signal.Signals(-done.returncode).name
        return json.loads(done.stdout)


def table() -> list[str]:
    """Return the lines of the guide's table."""
    head = ["runtime", "operator, rule", "call", "expected", "got", "doc"]
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    return [*lines, *(finding.row for finding in FINDINGS.values())]


# -- what programs call; it is printed with them, and they import what it needs


def array(*values: Any, of: str = "i8") -> Any:
    """Return a list of values as an array of a NumPy type."""
    import numpy as np

    return np.array(values, of)


def plain(result: Any) -> Any:
    """Return a result as lists and numbers."""
    if isinstance(result, (list, tuple)):
        return [plain(each) for each in result]
    return result.tolist() if hasattr(result, "tolist") else result


def results(
    make: Callable[..., Any],
    *calls: Sequence[Any],
    static: bool = False,
    known: Sequence[int] = (),
    constants: Sequence[int] = (),
) -> Any:
    """Return what calls of one node give, compiled for OpenVINO's CPU: its output or outputs.

    `make` creates the node of its inputs. Those at the positions in `constants` are constants, the
    others parameters: of known shape if `static` or in `known`, else of any shape. The result of
    one call is not in a list.
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
    model = ov.Model(make(*inputs).outputs(), [inputs[position] for position in parameters])
    request = ov.Core().compile_model(model, "CPU").create_infer_request()
    found: list[Any] = []
    for arrays in calls:
        for port, position in enumerate(parameters):
            request.set_input_tensor(port, ov.Tensor(arrays[position]))
        try:
            request.start_async()
            request.wait()
        except RuntimeError:
            found.append("rejected")
        else:
            outputs = [each.data.copy() for each in request.output_tensors]
            found.append(outputs[0] if len(outputs) == 1 else outputs)
    return found[0] if len(calls) == 1 else found


def output(node_type: str, *arrays: Any, **attributes: Any) -> Any:
    """Return the output of a model of one node on ONNX Runtime's CPU provider."""
    import onnxruntime
    from onnx import helper

    names = [f"i{position}" for position in range(len(arrays))]
    inputs = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), [None] * array.ndim
        )
        for name, array in zip(names, arrays, strict=True)
    ]
    node = helper.make_node(node_type, names, ["o"], **attributes)
    # The runtime infers the type of the output.
    graph = helper.make_graph([node], "one", inputs, [helper.make_empty_tensor_value_info("o")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, dict(zip(names, arrays, strict=True)))[0]


# What the program of a package begins with.
HEADS: dict[str, tuple[str, tuple[Callable[..., Any], ...]]] = {
    "openvino": (
        "import numpy as np\nfrom openvino import opset1, opset3, opset6, opset8",
        (plain, array, results),
    ),
    "onnxruntime": ("import numpy as np\nimport onnxruntime", (plain, array, output)),
    "torch": ("import torch", (plain,)),
    "jax": ("import jax\nimport numpy as np\nfrom jax import numpy as jnp", (plain,)),
    "cupy": ("import cupy\nimport numpy as np", (plain,)),
    "numpy": ("import numpy as np", (plain,)),
}
_FILE = Path(__file__).with_suffix(".yaml")
FINDINGS = {
    name: Finding(**entry) for name, entry in yaml.safe_load(_FILE.read_text("utf-8")).items()
}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.backends.findings", description=__doc__)
    parser.add_argument("name", nargs="?", choices=FINDINGS, metavar="NAME")
    parser.add_argument("--markdown", action="store_true", help="print the guide's table")
    options = parser.parse_args()
    lines = [f"{name}: {finding.of}" for name, finding in FINDINGS.items()]
    if options.name:
        lines = [FINDINGS[options.name].text.rstrip()]
    print("\n".join(table() if options.markdown else lines))


if __name__ == "__main__":
    main()
