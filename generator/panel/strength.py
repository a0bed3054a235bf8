"""Spec x suite -> strength: which generic faults the cases of an operator detect.

This is a mutation score, with faults at the interface in place of mutants of the code. A fault
that makes no difference (an equivalent mutant) does not count.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from opcert.arrays.calls import flatten_variadic, tensor_key
from opcert.arrays.element_types import Array
from opcert.cases.candidates import declared_bounds
from opcert.cases.conditions import Conditions
from opcert.errors import describe_error
from opcert.panel.argument_faults import (
    argument_faults,
    integer_faults,
    range_end_faults,
    requirement_faults,
)
from opcert.panel.data_faults import data_faults
from opcert.panel.fault import (
    ArrayCall,
    Fault,
    OperatorSignature,
    Outputs,
    Run,
    RunReference,
    variadic_faults,
)
from opcert.panel.fresh_calls import BoundedReference, FreshCall, fresh_calls
from opcert.panel.output_faults import output_faults
from opcert.run.call_protocol import run_repeatedly, run_vector
from opcert.run.comparison import CallRecord, compare_outputs
from opcert.run.outcome import Outcome
from opcert.specification.files import SpecFile
from opcert.suite.format import DigestedArray, IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.spec_check import valid_calls
from opcert.verdicts.certification import is_repeatable
from opcert.verdicts.verdict import FAILURE_STATUSES, judge

# How many tensors of a variadic input have faults of their own.
_REPRESENTATIVES = 2
# How many calls' outputs are kept, to be compared again after later cases.
_MAX_KEPT = 32


@dataclass(frozen=True)
class MissedFault:
    """A generic fault that no case detects, and a call on which it makes a difference."""

    name: str
    text: str
    witness: str


@dataclass(frozen=True)
class Strength:
    """How many generic faults the cases of an operator detect, and those that they miss."""

    operator: str
    detected: int
    missed: tuple[MissedFault, ...]

    @property
    def applicable(self) -> int:
        """How many generic faults make a difference on some call."""
        return self.detected + len(self.missed)


def measure_strength(spec_file: SpecFile, operator: OperatorSuite) -> Strength:
    """Return which generic faults the cases of an operator detect.

    A fault that makes a difference neither on a case nor on a fresh call does not count.
    """
    panel = Panel(spec_file, operator)
    detected = 0
    missed: list[MissedFault] = []
    with np.errstate(all="ignore"):
        for fault in panel.faults():
            if panel.detects(fault):
                detected += 1
            elif (witness := panel.witness(fault)) is not None:
                missed.append(MissedFault(fault.name, fault.text, witness))
    return Strength(spec_file.spec.operator, detected, tuple(missed))


@dataclass(frozen=True)
class _KnownCall:
    """A call with the result of the reference: golden outputs, or the error that it raises.

    `golden` are the golden outputs of the suite, if some of their elements are open.
    """

    call: ArrayCall
    result: Outputs | Exception
    golden: Outputs = ()


class Panel:
    """The generic faults of one operator, and the calls of its suite with their results."""

    def __init__(self, spec_file: SpecFile, operator: OperatorSuite) -> None:
        self._operator = operator
        self._reference = spec_file.reference
        self._conditions = Conditions(spec_file.spec)
        self._decisive = [case for case in operator.index.cases if case.ambiguity is None]
        self._known: dict[str, tuple[_KnownCall, ...]] = {}
        self._valid = [*valid_calls(operator).values()]
        keys: list[str] = []
        for argument in spec_file.spec.inputs:
            tensor_keys = [tensor_key(argument.name, k) for k in range(_REPRESENTATIVES)]
            keys += [argument.name] if argument.variadic is None else tensor_keys
        tensors = {
            key: [call.inputs[key] for call in self._valid if key in call.inputs] for key in keys
        }
        self._signature = OperatorSignature(
            spec_file.spec,
            tuple(name for name in tensors if any(t.values is None for t in tensors[name])),
            {name: tuple(sorted({t.rank for t in tensors[name]})) for name in tensors},
            {name: tuple(sorted({t.type for t in tensors[name]})) for name in tensors},
        )
        self._run_reference = BoundedReference(self._reference, self._conditions, self._signature)

    def faults(self) -> Iterator[Fault]:
        """Yield every fault that the signature of the operator suggests."""
        signature = self._signature
        yield from requirement_faults(signature)
        yield from argument_faults(signature)
        yield from integer_faults(signature)
        for argument in signature.spec.arguments:
            if argument.range is not None and argument.name in signature.integers:
                yield from range_end_faults(argument.name, partial(self._bounds, argument.name))
        yield from data_faults(signature)
        yield from variadic_faults(signature)
        yield from output_faults(signature)

    def _bounds(self, name: str, call: ArrayCall) -> tuple[int | None, int | None]:
        """Return the declared range of an argument in a call; (None, None) if it is omitted."""
        if call.argument(name) is None:
            return None, None
        return declared_bounds(self._conditions, self._run_reference.declared(call), name)

    # Detection by the suite

    def detects(self, fault: Fault) -> bool:
        """Whether a case of the suite fails because of the fault."""
        if fault.mode == "memory":
            return self._detects_in_memory(fault)
        if fault.mode == "history":
            return self._detects_in_history(fault)
        cases = self._decisive
        if fault.rule is not None:
            cases = [case for case in cases if case.violated_rule == fault.rule]
        run = fault.start()
        return any(self._fails(case, run, known) for case in cases for known in self._calls(case))

    def _calls(self, case: IndexedCase) -> tuple[_KnownCall, ...]:
        """Return the calls of a case: with its data and, if it is valid, with inverted data."""
        if case.id not in self._known:
            inputs = [self._operator.inputs(case)]
            if case.expects == "outputs":
                inputs.append(self._operator.inverted_data_inputs(case))
            calls = [ArrayCall(arrays, case.attributes) for arrays in inputs]
            golden: list[Outputs] = [(), ()]
            if case.open_elements is not None:
                operator = self._operator
                golden = [operator.outputs(case), operator.inverted_data_outputs(case)]
            self._known[case.id] = tuple(
                _KnownCall(call, self._result(call), outputs)
                for call, outputs in zip(calls, golden, strict=False)
            )
        return self._known[case.id]

    def _result(self, call: ArrayCall) -> Outputs | Exception:
        try:
            return self._run_reference(call)
        except Exception as error:
            return error

    def _run_known(self, known: _KnownCall) -> RunReference:
        """Return a function that runs the reference, and reuses its result for a known call."""

        def run(call: ArrayCall) -> Outputs:
            if call is not known.call:
                return self._run_reference(call)
            if isinstance(known.result, Exception):
                raise known.result
            return known.result

        return run

    def _outcome(self, run: Run, known: _KnownCall) -> Outcome | None:
        """Return the outcome of a call with a fault; None if it is that of the reference."""
        try:
            outputs = run(known.call, self._run_known(known))
        except Exception as error:
            if error is known.result:
                return None
            return Outcome("rejected", reason=describe_error(error))
        if outputs is None:
            return None
        golden = () if isinstance(known.result, Exception) else known.golden or known.result
        difference = compare_outputs(golden, outputs) if isinstance(known.result, list) else None
        return Outcome("outputs", outputs, fault=difference)

    def _fails(self, case: IndexedCase, run: Run, known: _KnownCall) -> bool:
        outcome = self._outcome(run, known)
        if outcome is None or case.ambiguity is not None:
            return False
        verdict = judge(self._operator.index.operator, case, outcome, None)
        return verdict.status in FAILURE_STATUSES

    def _detects_in_history(self, fault: Fault) -> bool:
        """Make the calls of all cases in a row, as a certification does."""
        run = fault.start()
        for case in self._operator.index.cases:
            calls = self._calls(case)
            failed = [self._fails(case, run, known) for known in (*calls, calls[0])]
            if case.baseline is not None and case.expects == "rejection":
                baseline = self._operator.cases[case.baseline]
                failed.append(self._fails(baseline, run, self._calls(baseline)[0]))
                failed.append(self._fails(case, run, calls[0]))
            if any(failed):
                return True
        return False

    def _detects_in_memory(self, fault: Fault) -> bool:
        """Run the cases on which the fault makes a difference, as a certification does."""
        backend = _FaultyBackend(fault, self._run_reference)
        operator, name = self._operator, self._operator.index.operator
        is_repeated = False
        records: list[CallRecord] = []
        for case in self._decisive:
            arrays = (*case.outputs, *case.inverted_data_outputs)
            is_stored = not any(isinstance(array, DigestedArray) for array in arrays)
            if not is_stored or case.expects == "rejection":
                continue
            call = ArrayCall(operator.inputs(case), case.attributes)
            if not _is_affected(fault, self._run_reference, call):
                continue
            outcomes = [run_vector(backend, operator, case)]
            if not is_repeated and is_repeatable(case):
                outcomes.append(run_repeatedly(backend, operator, case))
                is_repeated = True
            verdicts = [judge(name, case, outcome, None) for outcome in outcomes]
            if any(verdict.status in FAILURE_STATUSES for verdict in verdicts):
                return True
            records += [record for outcome in outcomes for record in outcome.records]
            if len(records) > _MAX_KEPT:
                if any(record.outputs_changed for record in records):
                    return True
                records.clear()
        return any(record.outputs_changed for record in records)

    # Differences on fresh calls

    @cached_property
    def _fresh_calls(self) -> Sequence[FreshCall]:
        return [*fresh_calls(self._conditions, self._reference, self._valid)]

    def witness(self, fault: Fault) -> str | None:
        """Return a fresh call on which the fault makes a difference, as text."""
        for fresh in self._fresh_calls:
            is_invalid = isinstance(fresh.result, Exception)
            if fault.rule is not None and getattr(fresh.result, "rule", None) != fault.rule:
                continue
            if fault.mode == "memory":
                if not is_invalid:
                    copies = {name: array.copy() for name, array in fresh.call.inputs.items()}
                    call = ArrayCall(copies, fresh.call.attributes)
                    if _is_affected(fault, self._run_reference, call):
                        return fresh.text
                continue
            run = fault.start()
            if fault.mode == "history":
                self._outcome(run, _KnownCall(*fresh.base))
            outcome = self._outcome(run, _KnownCall(fresh.call, fresh.result))
            if outcome is None:
                continue
            is_accepted = outcome.observed == "outputs"
            if is_accepted if is_invalid else not is_accepted or outcome.fault is not None:
                return fresh.text
        return None


class _FaultyBackend:
    """A fault as a backend of one operator."""

    name = "panel"
    version = "1"

    def __init__(self, fault: Fault, reference: RunReference) -> None:
        self._run = fault.start()
        self._run_reference = reference

    def run(
        self, _: str, inputs: Mapping[str, Any], attributes: Mapping[str, Any]
    ) -> Sequence[Array]:
        """Return the result of the fault, or the outputs of the reference if it has none."""
        call = ArrayCall(flatten_variadic(inputs), attributes)
        outputs: Sequence[Array] | None = self._run(call, self._run_reference)
        return self._run_reference(call) if outputs is None else outputs


def _is_affected(fault: Fault, reference: RunReference, call: ArrayCall) -> bool:
    """Whether a fault makes a difference on a single valid call."""
    try:
        return fault.start()(call, reference) is not None
    except Exception:
        return True
