"""Finding -> text that stands alone: Python that shows it, YAML for the examples of a spec."""

import json
from collections.abc import Callable, Sequence

from opcert.arrays import Array, type_name
from opcert.cases import short_digest
from opcert.errors import printable_line
from opcert.exploration.search import Counterexample, ExplorationResult
from opcert.programs import (
    CallText,
    InputText,
    array_expression,
    is_exact_as_text,
    layout_expression,
    write_program,
)
from opcert.run import SessionStep

# Of up to how many elements a documented tensor lists its values; beyond, a pattern fills it.
_LISTED = 64
# How many values of an input a line shows.
_BRIEF = 16


def result_text(explored: ExplorationResult, backend: Callable[[], str]) -> str:
    """Return what became of an operator, with what shows a counterexample.

    `backend` gives the lines that make `backend`, where a program needs them.
    """
    declined = f", {explored.declined} of them not supported" if explored.declined else ""
    line = f"{explored.operator}: {explored.tried} calls tried{declined}"
    counterexample = explored.counterexample
    if counterexample is None:
        return f"{line}, nothing found"
    once = (
        "" if counterexample.repeatable else "; seen once, and not again on a backend made afresh"
    )
    head = f"{line}, found ({counterexample.difference.kind}): {printable_line(counterexample.difference.text)}{once}"
    python, yaml = program_text(counterexample, backend()), example_text(counterexample)
    call = _call_in_a_line(counterexample.steps[-1])
    return f"{head}\n    {call}\n\n```python\n{python}```\n\n```yaml\n{yaml}```\n"


def _call_in_a_line(step: SessionStep) -> str:
    """Return the call that goes wrong: types, shapes and short values of inputs, attributes."""
    parts = []
    for name, array in step.inputs.items():
        layout = f" {step.layouts[name]}" if step.layouts[name] != "c" else ""
        values = f" {array.tolist()}" if array.size <= _BRIEF and name not in step.free else ""
        parts.append(f"{name}={type_name(array.dtype)}{list(array.shape)}{layout}{values}")
    return ", ".join([*parts, *(f"{name}={value}" for name, value in step.attributes.items())])


def program_text(counterexample: Counterexample, backend: str) -> str:
    """Return a program that fails as found; `backend` are the lines that make `backend`.

    It needs NumPy, what those lines import, and ml_dtypes where NumPy lacks a type.
    """
    ends = counterexample.difference.kind in ("crash", "hang", "protocol")
    last = len(counterexample.steps) - 1
    calls = [
        written(step, counterexample.difference.kind if ends and number == last else None)
        for number, step in enumerate(counterexample.steps)
    ]
    head = f"{counterexample.operator}, {counterexample.difference.kind}: {printable_line(counterexample.difference.text)}"
    return write_program(calls, backend, [head])


def written(step: SessionStep, ending: str | None = None) -> CallText:
    """Return a step as text; `ending` says that its call does not come back."""
    inputs = {
        name: InputText(
            layout_expression(array_expression(array), array.shape, step.layouts[name]),
            (array.dtype, array.shape, step.layouts[name]),
        )
        for name, array in step.inputs.items()
    }
    remark = step.beside or "a valid call"
    if step.golden is None:
        remark = f"one change to a valid call ({step.beside}) breaks {step.rule}"
    expected = None if step.golden is None else [array_expression(each) for each in step.golden]
    return CallText(remark, step.operator, inputs, step.attributes, expected, ending)


def example_text(counterexample: Counterexample) -> str:
    """Return the call as an entry of `examples` in its operator's spec.

    For a call that has to be rejected it is the valid one beside it, from which a way of breaking
    the rule makes the other.
    """
    wrong = counterexample.steps[-1]
    step = counterexample.valid if wrong.golden is None else wrong
    result_text = f"Found by exploring: {printable_line(counterexample.difference.text)}"
    name = f"found-{counterexample.difference.kind}-{short_digest(str(counterexample.call))}"
    beside = f"# For {step.operator}" + (
        f": the valid call that {wrong.beside} ({wrong.rule}) changes.\n"
        if wrong.golden is None
        else ".\n"
    )
    head = f"- id: {name}\n  clause: Found by exploring\n  text: {json.dumps(result_text[:200])}\n"
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
    return array.size <= _LISTED and is_exact_as_text(array)


def _tensor(array: Array, listed: bool) -> str:
    values = f", values: {json.dumps(array.reshape(-1).tolist())}" if listed else ""
    return f"{{type: {type_name(array.dtype)}, shape: {list(array.shape)}{values}}}"
