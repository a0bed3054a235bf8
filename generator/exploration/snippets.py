"""Finding -> text that stands alone: Python that shows it, YAML for the examples of a spec."""

import json
from collections.abc import Callable, Sequence

from opcert.generator.arrays.element_types import Array, name_of
from opcert.generator.cases.case import digest
from opcert.generator.errors import one_line
from opcert.generator.exploration.search import Explored, Finding
from opcert.generator.pages.python_text import (
    CALL,
    CHECK,
    REJECT,
    array_text,
    is_exact,
    laid_out_text,
)
from opcert.generator.run.stage import Step

# What is said of a last call that does not come back to the program.
_ENDS = {
    "crash": "the process that runs the backend ends in this call",
    "hang": "this call does not return in time",
    "protocol": "what answers this call cannot be understood",
}
# Of up to how many elements a documented tensor lists its values; beyond, a pattern fills it.
_LISTED = 64


def told(explored: Explored, backend: Callable[[], str]) -> str:
    """Return what became of an operator, with what shows a finding.

    `backend` gives the lines that make `backend`, where a program needs them.
    """
    declined = f", {explored.declined} of them not supported" if explored.declined else ""
    line = f"{explored.operator}: {explored.tried} calls tried{declined}"
    finding = explored.finding
    if finding is None:
        return f"{line}, nothing found"
    once = "" if finding.repeatable else "; seen once, and not again on a backend made afresh"
    head = f"{line}, found ({finding.difference.kind}): {one_line(finding.difference.text)}{once}"
    python, yaml = python_of(finding, backend()), example_of(finding)
    return f"{head}\n    {finding.call}\n\n```python\n{python}```\n\n```yaml\n{yaml}```\n"


def python_of(finding: Finding, backend: str) -> str:
    """Return a program that fails as found; `backend` are the lines that make `backend`.

    It needs NumPy, what those lines import, and ml_dtypes where NumPy lacks a type.
    """
    lines = [line for number in range(len(finding.steps)) for line in _step(finding, number)]
    text = "\n".join(lines)
    checks = [CHECK, CALL] if "\ncall(" in text else []
    checks += [REJECT] if "\nreject(" in text else []
    ml_dtypes = "import ml_dtypes\n" if "ml_dtypes." in text else ""
    head = f"# {finding.operator}, {finding.difference.kind}: {one_line(finding.difference.text)}"
    body = "".join(f"\n\n{each}" for each in checks)
    return f"{head}\n{ml_dtypes}import numpy as np\n\n{backend}\n{body}\n{text}\n"


def _step(finding: Finding, number: int) -> list[str]:
    step = finding.steps[number]
    before = finding.steps[number - 1] if number else None
    lines = [f"# {_role(step)}"]
    if step.reuses and before is not None and _same_form(step, before):
        lines += [f'inputs["{k}"][...] = {array_text(each)}' for k, each in step.inputs.items()]
    else:
        parts = [
            f'    "{name}": {laid_out_text(array_text(each), each.shape, step.layouts[name])},'
            for name, each in step.inputs.items()
        ]
        lines += ["inputs = {", *parts, "}"]
    arguments = f'"{step.operator}", inputs, {dict(step.attributes)!r}'
    if number == len(finding.steps) - 1 and finding.difference.kind in _ENDS:
        right = "; an exception of the backend's own would be right" if step.golden is None else ""
        told = f"# {_ENDS[finding.difference.kind]}{right}"
        return [*lines, told, f"backend.run({arguments})", 'print("the last call has returned")']
    if step.golden is None:
        return [*lines, f"reject({arguments})"]
    expected = [f"    {array_text(each)}," for each in step.golden]
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


def example_of(finding: Finding) -> str:
    """Return the call as an entry of `examples` in its operator's spec.

    For a call that has to be rejected it is the valid one beside it, from which a way of breaking
    the rule makes the other.
    """
    wrong = finding.steps[-1]
    step = finding.valid if wrong.golden is None else wrong
    told = f"Found by exploring: {one_line(finding.difference.text)}"
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
    return array.size <= _LISTED and is_exact(array)


def _tensor(array: Array, listed: bool) -> str:
    values = f", values: {json.dumps(array.reshape(-1).tolist())}" if listed else ""
    return f"{{type: {name_of(array.dtype)}, shape: {list(array.shape)}{values}}}"
