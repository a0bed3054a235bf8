"""Ways of putting a mistake into opcert itself, as patches of what certifies a backend."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partialmethod
from typing import Any, TypeAlias

import numpy as np
from pytest import MonkeyPatch  # noqa: PT013 -- a type

from opcert.arrays.element_types import Array, bits_of, invert_bits
from opcert.run import comparison, session
from opcert.run.comparison import Difference, compare_outputs
from opcert.run.outcome import Outcome
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite
from opcert.verdicts import certification, verdict
from opcert.verdicts import judging as verdict_judging
from tests.faults import finding
from tests.faults.fault import Call, right

Patch: TypeAlias = Callable[[MonkeyPatch], None]
Golden: TypeAlias = Sequence[Array]
Arrays: TypeAlias = dict[str, Array]


def comparing(change: Callable[[Golden, Any], Any]) -> Patch:
    """Compare what `change` makes of the outputs, given the golden ones."""
    wrong = lambda golden, outputs: compare_outputs(golden, change(golden, outputs))  # noqa: E731
    return calling("compare_outputs", wrong)


def each(change: Callable[[Array, Array], Array]) -> Callable[[Golden, Any], Any]:
    """Change each output by its golden one, where there are as many."""

    def changed(golden: Golden, outputs: Any) -> Any:
        if not isinstance(outputs, list | tuple) or len(golden) != len(outputs):
            return outputs
        return [change(g, o) for g, o in zip(golden, outputs, strict=True)]

    return changed


def cast(golden: Array, output: Array) -> Array:
    with np.errstate(all="ignore"):
        return output.astype(golden.dtype)


def in_shape(golden: Array, output: Array) -> Array:
    return output.reshape(golden.shape) if golden.size == output.size else output


def _alike(golden: Array, output: Array) -> bool:
    return (golden.dtype, golden.shape) == (output.dtype, output.shape)


def in_any_order(golden: Array, output: Array) -> Array:
    """Return the golden output where the other one has the same elements."""
    ours, theirs = (np.sort(bits_of(each), axis=None) for each in (golden, output))
    return golden if _alike(golden, output) and np.array_equal(ours, theirs) else output


def nearly(golden: Array, output: Array) -> Array:
    if not _alike(golden, output) or golden.dtype.isbuiltin != 1 or golden.dtype == np.bool_:
        return output
    with np.errstate(all="ignore"):
        return golden if np.allclose(golden, output, equal_nan=True) else output


def head(golden: Array, output: Array) -> Array:
    """Return an output whose elements after the first 64 are the golden ones."""
    if not _alike(golden, output):
        return output
    head = golden.copy().reshape(-1)
    head[:64] = output.reshape(-1)[:64]
    return head.reshape(golden.shape)


def as_many(golden: Golden, outputs: Any) -> Any:
    """Look at no more outputs than both have."""
    if not isinstance(outputs, list | tuple):
        return outputs
    return [*outputs[: len(golden)], *golden[len(outputs) :]]


def first_only(golden: Golden, outputs: Any) -> Any:
    if not isinstance(outputs, list | tuple) or len(golden) != len(outputs):
        return outputs
    return [*outputs[:1], *golden[1:]]


def values_only(patch: MonkeyPatch) -> None:
    def wrong(golden: Golden, outputs: Any) -> Difference | None:
        found = compare_outputs(golden, outputs)
        return None if found is None or found.kind == "bits" else found

    calling("compare_outputs", wrong)(patch)


def setting(owner: object, name: str, value: object) -> Patch:
    """Replace a part of opcert."""
    return lambda patch: patch.setattr(owner, name, value)


def calling(name: str, value: object) -> Patch:
    """Replace a part wherever calls are made and compared."""

    def patched(patch: MonkeyPatch) -> None:
        for module in (comparison, session):
            patch.setattr(module, name, value)

    return patched


def running(*, rejections: bool) -> Patch:
    """Make no valid call after one that is to be rejected, and perhaps not even that one."""

    def wrong(backend: Any, operator: OperatorSuite, case: IndexedCase, _: Any = None) -> Outcome:
        if case.expects == "rejection" and not rejections:
            return Outcome("rejected")
        return session.run_case(backend, operator, case)

    return setting(certification, "run_case", wrong)


def same_data(patch: MonkeyPatch) -> None:
    patch.setattr(
        OperatorSuite, "elements", lambda self, case, _inverted=False: _ELEMENTS(self, case)
    )
    patch.setattr(OperatorSuite, "inverted_data_outputs", OperatorSuite.outputs)


def both(first: Patch, second: Patch) -> Patch:
    """Make two mistakes, where what one leaves in place finds the same faults."""

    def patched(patch: MonkeyPatch) -> None:
        first(patch)
        second(patch)

    return patched


def judging(change: Callable[[Any], Any]) -> Patch:
    """Change each verdict."""
    return setting(verdict_judging, "judge", lambda *known: change(verdict.judge(*known)))


def passing(*states: str) -> Callable[[Any], Any]:
    """Let verdicts of some status or kind pass."""

    def change(found: Any) -> Any:
        wrong = found.status in states or found.kind in states
        return replace(found, status="pass", kind=None) if wrong else found

    return change


def only(keep: Callable[[IndexedCase], Any]) -> Patch:
    """Generate only cases that `keep` names, and no must-reject ones without their baselines."""

    def suites() -> tuple[Suite, ...]:
        cut = copy(finding.core_suite())
        operators = {}
        for name, operator in cut.operators.items():
            kept = {case.id: case for case in operator.cases.values() if keep(case)}
            lines = {
                id_: operator.lines[id_]
                for id_, case in kept.items()
                if case.baseline is None or case.baseline in kept
            }
            operators[name] = replace(operator, lines=lines)
        vars(cut)["operators"] = operators
        return (cut,)

    return lambda patch: patch.setattr(finding, "suites", suites)


_ELEMENTS = OperatorSuite.elements


def without_showing(behaviour: str) -> Patch:
    """Generate no case that shows a behaviour."""
    return only(lambda case: behaviour not in case.rules)


def with_data(change: Callable[[Array], Array]) -> Patch:
    """Generate other data, and the golden outputs to it."""

    def elements(self: OperatorSuite, case: IndexedCase, inverted_data: bool = False) -> Arrays:
        found = _ELEMENTS(self, case)
        name = next(iter(found), None)
        turn = invert_bits if inverted_data and case.data_inputs else np.array
        return {n: turn(change(array)) if n == name else array for n, array in found.items()}

    def outputs(self: OperatorSuite, case: IndexedCase, inverted_data: bool = False) -> list[Array]:
        call = Call(self.inputs(case, inverted_data), case.attributes)
        return right(self.index.operator, call)

    def patched(patch: MonkeyPatch) -> None:
        patch.setattr(OperatorSuite, "elements", elements)
        patch.setattr(OperatorSuite, "outputs", outputs)
        patch.setattr(
            OperatorSuite, "inverted_data_outputs", partialmethod(outputs, inverted_data=True)
        )

    return patched


def plain(array: Array) -> Array:
    """Return ordinary numbers that differ from their neighbours, none of which is lost."""
    count: Array = np.arange(array.size).reshape(array.shape)
    if array.dtype == np.bool_:
        thirds: Array = count % 3 == 0
        return thirds
    if array.dtype.itemsize == 1:
        return (count % 100 + 1).astype(np.uint8).view(array.dtype)
    return (count % 200 + 1).astype(array.dtype)
