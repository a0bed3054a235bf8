"""Vector x backend -> outcome: called in process, repeated, and watched for what values hide."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from opcert.generator.backends import Backend
from opcert.generator.element_types import Array, bits_dtype
from opcert.generator.suite import OperatorSuite
from opcert.generator.suite_format import IndexedCase

Observed = Literal["outputs", "rejected", "unsupported", "not-run"]


@dataclass(frozen=True)
class Outcome:
    """What a backend did with a vector.

    `outputs` is what it returned, of whatever type; `reason` what it raised. `fault` is the kind
    and the text of what was wrong beside the values. `stale` says that it returned once more what
    it had for other data.
    """

    observed: Observed
    outputs: Any = None
    reason: str = ""
    fault: tuple[str, str] | None = None
    stale: bool = False


Fault = tuple[str, str] | None
Snapshot = list[bytes] | None


def run_once(
    backend: Backend, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
) -> Outcome:
    """Call the backend; whatever it raises but an interrupt is an outcome."""
    try:
        outputs = backend.run(operator, dict(inputs), deepcopy(dict(attributes)))
    except NotImplementedError as error:
        return Outcome("unsupported", reason=_text(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Outcome("rejected", reason=_text(error))
    return Outcome("outputs", outputs)


def run_vector(backend: Backend, operator: OperatorSuite, case: IndexedCase) -> Outcome:
    """Run a case as a careful caller would: a must-reject call once, a valid one three times.

    The first call of the three has other data in the same buffers, so that the second, which is
    judged, shows what is kept between calls; the third repeats it. Inputs must stay as they are,
    and what a call returned must not change during the next ones.
    """
    name, wanted = operator.index.operator, operator.inputs(case)
    if case.expects == "rejection":
        inputs = operator.inputs(case)
        outcome = run_once(backend, name, inputs, case.attributes)
        return replace(outcome, fault=_mutated(inputs, wanted))
    other = {each: _other(array) if each in case.free else array for each, array in wanted.items()}
    inputs = {each: array.copy() for each, array in other.items()}
    first = run_once(backend, name, inputs, case.attributes)
    if first.observed == "unsupported":
        return first
    faults, kept_first = [_mutated(inputs, other)], _snapshot(first.outputs)
    inputs = {each: _refilled(inputs[each], array) for each, array in wanted.items()}
    outcome = run_once(backend, name, inputs, case.attributes)
    faults += [_mutated(inputs, wanted), _changed(first.outputs, kept_first)]
    if outcome.observed == "outputs":
        kept = _snapshot(outcome.outputs)
        inputs = {each: _refilled(inputs[each], array) for each, array in wanted.items()}
        again = run_once(backend, name, inputs, case.attributes)
        faults += [_mutated(inputs, wanted), _changed(outcome.outputs, kept)]
        faults += [_unstable(first, outcome, again, kept)]
        stale = kept == kept_first and any(kept or ()) and bool(case.free)
        outcome = replace(outcome, stale=stale)
    return replace(outcome, fault=next(filter(None, faults), None))


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:500]


def _other(array: Array) -> Array:
    """Return other data of the same type and shape: every bit inverted."""
    if array.dtype == np.bool_:
        return ~array
    return (~array.view(bits_dtype(array.dtype))).view(array.dtype)


def _refilled(buffer: Array, array: Array) -> Array:
    """Return `buffer` with the elements of `array`, or a new one where the backend spoiled it."""
    if buffer.shape != array.shape or buffer.dtype != array.dtype or not buffer.flags.writeable:
        return array.copy()
    buffer[...] = array
    return buffer


def _mutated(inputs: Mapping[str, Array], before: Mapping[str, Array]) -> Fault:
    for name, array in before.items():
        found = inputs[name]
        if found.shape != array.shape or found.tobytes() != array.tobytes():
            return "mutated-input", f"the call wrote to its input '{name}'"
    return None


def _snapshot(outputs: Any) -> Snapshot:
    if not isinstance(outputs, list | tuple):
        return None
    return [each.tobytes() for each in outputs if isinstance(each, np.ndarray)]


def _changed(outputs: Any, kept: Snapshot) -> Fault:
    now = _snapshot(outputs)
    if now == kept:
        return None
    i = next(i for i, (a, b) in enumerate(zip(now or [], kept or [], strict=False)) if a != b)
    return (
        "aliased-output",
        f"output {i} changed after it was returned, when the caller used its input buffers again "
        "or made the next call; return arrays that nothing else writes to",
    )


def _unstable(first: Outcome, outcome: Outcome, again: Outcome, kept: Snapshot) -> Fault:
    if first.observed != outcome.observed:
        reason = first.reason or first.observed
        return "unstable", f"the same call with other data gave: {reason}"
    if again.observed != outcome.observed:
        return "unstable", f"the same call, repeated, gave: {again.reason or again.observed}"
    if _snapshot(again.outputs) != kept:
        return "unstable", "the same call, repeated, gave other bytes"
    return None
