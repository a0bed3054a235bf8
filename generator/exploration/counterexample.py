"""A counterexample as text: a line, a program that fails likewise, an example for the spec."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from opcert.arrays.calls import group_variadic
from opcert.arrays.element_types import Array, type_name
from opcert.arrays.expressions import is_exact_as_text
from opcert.cases.case import short_digest
from opcert.errors import printable_line
from opcert.exploration.calls import call_line
from opcert.programs.program import step_text, write_program
from opcert.run.session import FaultKind, SessionFault, Step

# An example lists the values of tensors of so many elements; a pattern fills larger ones.
_MAX_LISTED = 64


@dataclass(frozen=True)
class Counterexample:
    """Steps of which the last one fails, its fault, and the valid call from which they follow.

    One that is not `repeatable` failed once, and not again on a fresh backend.
    """

    operator: str
    fault: SessionFault
    valid: Step
    steps: Sequence[Step]
    repeatable: bool = True

    @property
    def failure(self) -> tuple[FaultKind, str | None]:
        """The kind of its fault, and the rule that its last call violates."""
        return self.fault.kind, self.steps[-1].rule


@dataclass(frozen=True)
class ExplorationResult:
    """The result for one operator so far: how many calls were tried, and a counterexample if found.

    `declined` counts the tried calls that the backend does not support, `known` those that fail in
    a known way.
    """

    operator: str
    tried: int
    declined: int
    counterexample: Counterexample | None
    known: int = 0


def result_text(result: ExplorationResult, setup: Callable[[], str]) -> str:
    """Return the result for an operator as text, with program and example of a counterexample.

    `setup` returns the lines of Python that define `backend`.
    """
    counts = {"not supported": result.declined, "with known failures": result.known}
    parts = [f", {count} of them {what}" for what, count in counts.items() if count]
    line = f"{result.operator}: {result.tried} calls tried{''.join(parts)}"
    counterexample = result.counterexample
    if counterexample is None:
        return f"{line}, nothing {'else ' if result.known else ''}found"
    once = "" if counterexample.repeatable else "; seen once, and not again on a fresh backend"
    fault = counterexample.fault
    head = f"{line}, found ({fault.kind}): {printable_line(fault.text)}{once}"
    call = call_line(counterexample.steps[-1])
    python, yaml = program_text(counterexample, setup()), example_text(counterexample)
    return f"{head}\n    {call}\n\n```python\n{python}```\n\n```yaml\n{yaml}```\n"


def program_text(counterexample: Counterexample, setup: str) -> str:
    """Return a program that fails as the counterexample does.

    `setup` are the lines that define `backend`. The program needs NumPy, the imports of these
    lines, and ml_dtypes where NumPy lacks a type.
    """
    fault = counterexample.fault
    fatal_kind = fault.kind if fault.kind in ("crash", "hang", "protocol") else None
    calls = [step_text(step, _remark(step)) for step in counterexample.steps]
    calls[-1] = replace(calls[-1], ending=fatal_kind)
    title = f"{counterexample.operator}, {fault.kind}: {printable_line(fault.text)}"
    return write_program(calls, setup, [title])


def _remark(step: Step) -> str:
    if step.golden is None:
        return f"one change to a valid call ({step.relation}) violates {step.rule}"
    return step.relation or "a valid call"


def example_text(counterexample: Counterexample) -> str:
    """Return the call as an entry of `examples` in its operator's spec.

    If the last call must be rejected, the entry is the valid call that it changes.
    """
    last, fault = counterexample.steps[-1], counterexample.fault
    step, changed = last, ""
    if last.golden is None:
        step = counterexample.valid
        changed = f": the valid call that {last.relation} ({last.rule}) changes"
    name = f"found-{fault.kind}-{short_digest(call_line(counterexample.valid))}"
    text = f"Found by exploring: {printable_line(fault.text)}"
    golden = step.golden or []
    data = [array for key, array in step.inputs.items() if key in step.data_inputs]
    is_listed = all(
        array.size <= _MAX_LISTED and is_exact_as_text(array) for array in (*data, *golden)
    )
    tensors = {
        key: _tensor(array, is_listed or key not in step.data_inputs)
        for key, array in step.inputs.items()
    }
    inputs = [
        f"    {name}: {text}\n"
        if isinstance(text, str)
        else "".join([f"    {name}:\n", *(f"      - {part}\n" for part in text)])
        for name, text in group_variadic(tensors).items()
    ]
    attributes = [f"    {key}: {json.dumps(value)}\n" for key, value in step.attributes.items()]
    return "".join(
        [
            f"# For {step.operator}{changed}.\n",
            f"- id: {name}\n  clause: Found by exploring\n  text: {json.dumps(text[:200])}\n",
            "  inputs:\n",
            *inputs,
            *(["  attributes:\n", *attributes] if attributes else []),
            "  outputs:\n" if golden else "  outputs: []\n",
            *(f"    - {_tensor(array, is_listed)}\n" for array in golden),
        ]
    )


def _tensor(array: Array, is_listed: bool) -> str:
    values = f", values: {json.dumps(array.reshape(-1).tolist())}" if is_listed else ""
    return f"{{type: {type_name(array.dtype)}, shape: {list(array.shape)}{values}}}"
