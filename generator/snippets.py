"""Finding -> text that stands alone: Python that shows it, YAML for the examples of a spec."""

import json
from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from opcert.generator.case import digest
from opcert.generator.element_types import Array, bits_dtype, name_of
from opcert.generator.layouts import NEEDED, Layout
from opcert.generator.search import Explored, Finding
from opcert.generator.stage import Step

# Of up to how many elements a documented tensor lists its values; beyond, a pattern fills it.
_LISTED = 64
_SAME = """\
def check(outputs, expected):
    assert isinstance(outputs, (list, tuple)), type(outputs)
    assert len(outputs) == len(expected), f"{len(outputs)} outputs; expected {len(expected)}"
    for output, wanted in zip(outputs, expected):
        assert isinstance(output, np.ndarray), type(output)
        assert output.dtype == wanted.dtype, f"{output.dtype}; expected {wanted.dtype}"
        assert output.shape == wanted.shape, f"{output.shape}; expected {wanted.shape}"
        assert output.tobytes() == wanted.tobytes(), f"{output}\\nexpected\\n{wanted}"
"""
_CALL = """\
returned = []


def call(operator, inputs, attributes, expected):
    before = {name: array.copy() for name, array in inputs.items()}
    outputs = backend.run(operator, inputs, attributes)
    for name, array in before.items():
        assert inputs[name].tobytes() == array.tobytes(), f"wrote to its input {name}"
    for earlier in returned:
        check(*earlier)  # what was returned stays as it was
    check(outputs, expected)
    returned.append((outputs, expected))
"""
_REJECT = """\
def reject(operator, inputs, attributes):
    before = {name: array.copy() for name, array in inputs.items()}
    try:
        backend.run(operator, inputs, attributes)
    except Exception:
        for name, array in before.items():
            assert inputs[name].tobytes() == array.tobytes(), f"wrote to its input {name}"
    else:
        raise AssertionError("a call that breaks a rule was accepted")
"""


def told(explored: Explored, backend: str) -> str:
    """Return what became of an operator, with what shows a finding."""
    declined = f", {explored.declined} of them not supported" if explored.declined else ""
    line = f"{explored.operator}: {explored.tried} calls tried{declined}"
    finding = explored.finding
    if finding is None:
        return f"{line}, nothing found"
    once = "" if finding.repeatable else "; seen once, and not again on a backend made afresh"
    head = f"{line}, found ({finding.difference.kind}): {finding.difference.text}{once}"
    python, yaml = python_of(finding, backend), example_of(finding)
    return f"{head}\n    {finding.call}\n\n```python\n{python}```\n\n```yaml\n{yaml}```\n"


def python_of(finding: Finding, backend: str) -> str:
    """Return a program that fails as found; `backend` are the lines that make `backend`.

    It needs NumPy, what those lines import, and ml_dtypes where NumPy lacks a type.
    """
    lines = [line for number in range(len(finding.steps)) for line in _step(finding, number)]
    text = "\n".join(lines)
    checks = [_SAME, _CALL] if any(each.golden is not None for each in finding.steps) else []
    checks += [_REJECT] if any(each.golden is None for each in finding.steps) else []
    ml_dtypes = "import ml_dtypes\n" if "ml_dtypes." in text else ""
    head = f"# {finding.operator}, {finding.difference.kind}: {_one_line(finding.difference.text)}"
    body = "\n\n".join(checks)
    return f"{head}\n{ml_dtypes}import numpy as np\n\n{backend}\n\n\n{body}\n\n{text}\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _step(finding: Finding, number: int) -> list[str]:
    step = finding.steps[number]
    before = finding.steps[number - 1] if number else None
    lines = [f"# {_role(step)}"]
    if step.reuses and before is not None and _same_form(step, before):
        lines += [f'inputs["{k}"][...] = {_array(each)}' for k, each in step.inputs.items()]
    else:
        parts = [f'    "{k}": {_laid(v, step.layouts[k])},' for k, v in step.inputs.items()]
        lines += ["inputs = {", *parts, "}"]
    arguments = f'"{step.operator}", inputs, {dict(step.attributes)!r}'
    if step.golden is None:
        return [*lines, f"reject({arguments})"]
    expected = [f"    {_array(each)}," for each in step.golden]
    return [*lines, "expected = [", *expected, "]", f"call({arguments}, expected)"]


def _role(step: Step) -> str:
    """Say what a step is to the call that was tried."""
    if step.golden is None:
        return f"one change to a valid call ({step.beside}) breaks {step.rule}"
    return step.beside or "a valid call"


def _same_form(step: Step, before: Step) -> bool:
    return step.layouts == before.layouts and all(
        name in before.inputs
        and (each.dtype, each.shape) == (before.inputs[name].dtype, before.inputs[name].shape)
        for name, each in step.inputs.items()
    )


def _laid(array: Array, layout: Layout) -> str:
    """Return an expression for `array` that lies in memory as `layout` says."""
    text = _array(array)
    long_axes = [axis for axis, extent in enumerate(array.shape) if extent > 1]
    if layout == "fortran":
        return f'{text}.copy(order="F")'
    if len(long_axes) < NEEDED[layout] or layout == "c" or not array.size:
        return text
    turned = {"first_reversed": long_axes[:1], "last_reversed": long_axes[-1:]}
    if layout.endswith("reversed"):
        axes = turned.get(layout, range(array.ndim))
        back = f"[{', '.join('::-1' if axis in axes else ':' for axis in range(array.ndim))}]"
        return f"{text}{back}.copy(){back}"
    if layout == "permuted":
        swapped = f".swapaxes({long_axes[-2]}, {long_axes[-1]})"
        return f"{text}{swapped}.copy(){swapped}"
    before = "".join(":, " for _ in range(long_axes[-1]))
    if layout == "pitched":
        last, extent = long_axes[-1], array.shape[long_axes[-1]]
        return f"{text}.take(range({extent + 1}), {last}, mode='wrap')[{before}:{extent}]"
    return f"np.repeat({text}, 2, axis={long_axes[-1]})[{before}1::2]"


def _array(array: Array) -> str:
    """Return an expression for `array`: by its values where they give every bit, else by bits."""
    dtype = _dtype(array.dtype)
    flat = array.reshape(-1)
    shape = "" if array.ndim == 1 else f".reshape({', '.join(map(str, array.shape)) or '()'})"
    if array.size and _counts(array):
        return f"np.arange(1, {array.size + 1}).astype({dtype}){shape}"
    if not array.size:
        return f"np.zeros({array.shape}, {dtype})"
    if not array.ndim and _exact(array):
        return f"np.array({array.item()!r}, {dtype})"
    if _exact(array):
        return f"np.array({flat.tolist()}, {dtype}){shape}"
    bits = flat.view(bits_dtype(array.dtype))
    listed = ", ".join(f"0x{each:0{2 * array.itemsize}x}" for each in bits.tolist())
    return f"np.array([{listed}], np.uint{8 * array.itemsize}).view({dtype}){shape}"


def _counts(array: Array) -> bool:
    """Whether many elements are numbered from 1."""
    if array.size <= 16:
        return False
    numbers = np.arange(1, array.size + 1).astype(array.dtype)
    return numbers.tobytes() == array.tobytes()


def _dtype(dtype: np.dtype[Any]) -> str:
    if dtype == np.bool_:
        return "np.bool_"
    return f"np.{dtype.name}" if dtype.isbuiltin == 1 else f"ml_dtypes.{dtype.name}"


def example_of(finding: Finding) -> str:
    """Return the call as an entry of `examples` in its operator's spec.

    For a call that has to be rejected it is the valid one beside it, from which a way of breaking
    the rule makes the other.
    """
    wrong = finding.steps[-1]
    step = finding.valid if wrong.golden is None else wrong
    told = f"Found by exploring: {_one_line(finding.difference.text)}"
    name = f"found-{finding.difference.kind}-{digest(str(finding.call))}"
    beside = f"# For {step.operator}" + (
        f": the valid call that {wrong.beside} ({wrong.rule}) changes.\n"
        if wrong.golden is None
        else ".\n"
    )
    head = f"- id: {name}\n  clause: Found by exploring\n  text: {json.dumps(told[:200])}\n"
    shown = [each for name, each in step.inputs.items() if name in step.free]
    listed = all(map(_can_be_listed, [*shown, *(step.golden or [])]))
    inputs = [
        f"    {name}: {_tensor(array, listed or name not in step.free)}\n"
        for name, array in step.inputs.items()
    ]
    given = [f"    {name}: {json.dumps(value)}\n" for name, value in step.attributes.items()]
    outputs = [f"    - {_tensor(array, listed)}\n" for array in step.golden or []]
    attributes = ["  attributes:\n", *given] if given else []
    return "".join(
        [beside, head, "  inputs:\n", *inputs, *attributes, _outputs_key(outputs), *outputs]
    )


def _outputs_key(outputs: Sequence[str]) -> str:
    return "  outputs:\n" if outputs else "  outputs: []\n"


def _can_be_listed(array: Array) -> bool:
    return array.size <= _LISTED and _exact(array)


def _exact(array: Array) -> bool:
    """Whether the values of `array`, written out, give every bit."""
    values = array.reshape(-1).tolist()
    if any(isinstance(each, float) and not isfinite(each) for each in values):
        return False
    return np.array(values, array.dtype).tobytes() == array.tobytes()


def _tensor(array: Array, listed: bool) -> str:
    values = f", values: {json.dumps(array.reshape(-1).tolist())}" if listed else ""
    return f"{{type: {name_of(array.dtype)}, shape: {list(array.shape)}{values}}}"
