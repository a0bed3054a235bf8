"""Specs x backend -> results: a search for each operator, and its counterexample as a program."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeAlias

from opcert.arrays.calls import group_variadic
from opcert.arrays.element_types import Array, type_name
from opcert.backends.contract import Backend, close_backend
from opcert.backends.lookup import in_process_backend, load, with_reference_specs
from opcert.cases.case import short_digest
from opcert.errors import printable_line
from opcert.exploration.search import Counterexample, ExplorationResult, Open, Search
from opcert.exploration.trials import Trials
from opcert.isolation.supervised import CALL_TIMEOUT, SupervisedBackend, start_backend
from opcert.programs.program import (
    CallText,
    InputText,
    array_expression,
    is_exact_as_text,
    layout_expression,
    output_expression,
    write_program,
)
from opcert.run.call_protocol import SessionStep
from opcert.specification.files import load_references, read_specs_in

# An example lists the values of tensors of so many elements; a pattern fills larger ones.
_MAX_LISTED = 64
# How many values of an input a line lists.
_MAX_LISTED_IN_LINE = 16


def result_text(result: ExplorationResult, setup: Callable[[], str]) -> str:
    """Return the result for an operator as text, with program and example of a counterexample.

    `setup` returns the lines of Python that define `backend`.
    """
    declined = f", {result.declined} of them not supported" if result.declined else ""
    line = f"{result.operator}: {result.tried} calls tried{declined}"
    counterexample = result.counterexample
    if counterexample is None:
        return f"{line}, nothing found"
    once = "" if counterexample.repeatable else "; seen once, and not again on a fresh backend"
    fault = counterexample.fault
    head = f"{line}, found ({fault.kind}): {printable_line(fault.text)}{once}"
    call = _call_line(counterexample.steps[-1])
    python, yaml = program_text(counterexample, setup()), example_text(counterexample)
    return f"{head}\n    {call}\n\n```python\n{python}```\n\n```yaml\n{yaml}```\n"


def _call_line(step: SessionStep) -> str:
    """Return a call in a line: types, shapes and short values of inputs, and attributes."""
    parts = []
    for name, array in step.inputs.items():
        layout = f" {step.layouts[name]}" if step.layouts[name] != "c" else ""
        is_listed = 0 < array.size <= _MAX_LISTED_IN_LINE and name not in step.data_inputs
        values = f" {array.tolist()}" if is_listed else ""
        parts.append(f"{name}={type_name(array.dtype)}{list(array.shape)}{layout}{values}")
    return ", ".join([*parts, *(f"{name}={value}" for name, value in step.attributes.items())])


def program_text(counterexample: Counterexample, setup: str) -> str:
    """Return a program that fails as the counterexample does.

    `setup` are the lines that define `backend`. The program needs NumPy, the imports of these
    lines, and ml_dtypes where NumPy lacks a type.
    """
    fault = counterexample.fault
    *before, last = counterexample.steps
    fatal_kind = fault.kind if fault.kind in ("crash", "hang", "protocol") else None
    calls = [*map(_call_text, before), _call_text(last, fatal_kind)]
    title = f"{counterexample.operator}, {fault.kind}: {printable_line(fault.text)}"
    return write_program(calls, setup, [title])


def _call_text(step: SessionStep, fatal_kind: str | None = None) -> CallText:
    """Return the call of a step as text; one of a fatal kind does not return."""
    inputs = {
        name: InputText(
            layout_expression(array_expression(array), array.shape, step.layouts[name]),
            (array.dtype, array.shape, step.layouts[name]),
        )
        for name, array in step.inputs.items()
    }
    remark = step.relation or "a valid call"
    if step.golden is None:
        remark = f"one change to a valid call ({step.relation}) violates {step.rule}"
    expected = None if step.golden is None else [*map(output_expression, step.golden)]
    return CallText(remark, step.operator, inputs, step.attributes, expected, fatal_kind)


def example_text(counterexample: Counterexample) -> str:
    """Return the call as an entry of `examples` in its operator's spec.

    If the last call must be rejected, the entry is the valid call that it changes.
    """
    last, fault = counterexample.steps[-1], counterexample.fault
    step, changed = last, ""
    if last.golden is None:
        step = counterexample.valid
        changed = f": the valid call that {last.relation} ({last.rule}) changes"
    name = f"found-{fault.kind}-{short_digest(str(counterexample.call))}"
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


MakeBackend: TypeAlias = Callable[[], Backend]


def explore(
    backend: str | Backend | MakeBackend,
    *,
    options: Mapping[str, Any] | None = None,
    specs: str | Path | None = None,
    operator: str = "*",
    minutes: float = 1,
    seed: int = 0,
    isolated: bool | None = None,
    timeout: float = CALL_TIMEOUT,
    memory: int = 0,
) -> Iterator[ExplorationResult]:
    """Try random calls of each operator in turn, and yield the results.

    `backend` is an object, which is left open, a function that creates one, or a name for `load`.
    A backend that is loaded by name runs in a process of its own unless it is the reference;
    `isolated` overrides this. A call is a counterexample if it ends this process, takes longer than
    `timeout` seconds, or takes more than `memory` bytes (0 is no limit). The operators share the
    time equally; their preparation is not counted. If the search is interrupted, its result so far
    is yielded first.

    Raises:
        OpcertError: backend, specs or selection are at fault.
    """
    folder = Path(specs) if specs is not None else None
    open_backend = _opener(backend, dict(options or {}), specs, isolated, timeout, memory)
    spec_files = read_specs_in(folder, operator)
    references = {**load_references(None), **load_references(folder)}
    seconds = 60 * minutes
    share = seconds / len(spec_files)
    for remaining, spec_file in zip(range(len(spec_files), 0, -1), spec_files, strict=True):
        trials = Trials(spec_file, references)
        # Time that one operator does not use goes to the others; a hang takes none from them.
        search = Search(open_backend, trials, max(seconds / remaining, share))
        begin = time.monotonic()
        try:
            search.run(seed)
        finally:
            yield search.result()
        seconds -= time.monotonic() - begin


def _opener(
    backend: str | Backend | MakeBackend,
    options: dict[str, Any],
    specs: str | Path | None,
    isolated: bool | None,
    timeout: float,
    memory: int,
) -> Open:
    """Return a function that opens the backend; it is opened once to check that it can be."""
    if isinstance(backend, str):
        options = with_reference_specs(backend, options, specs)
        first = start_backend(backend, options, isolated, timeout=timeout, memory=memory)
        close_backend(first)
        if not isinstance(first, SupervisedBackend):
            return lambda: _made(lambda: load(backend, **options))

        def restarted() -> Backend:
            first.restart()
            return first

        return lambda: _made(restarted)
    if isinstance(backend, type) or (callable(backend) and not hasattr(backend, "run")):
        with _made(backend) as made:
            in_process_backend(made, isolated)
        return lambda: _made(backend)
    instance = in_process_backend(backend, isolated)
    return lambda: nullcontext(instance)


@contextmanager
def _made(make: MakeBackend) -> Iterator[Backend]:
    backend = make()
    try:
        yield backend
    finally:
        close_backend(backend)
