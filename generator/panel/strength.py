"""The panel x the cases of an operator -> which members are detected, and which are not."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from opcert.arrays import Array, Call, Tensor, type_name
from opcert.cases import Conditions
from opcert.errors import ExpressionError, Inapplicable, describe_error
from opcert.panel.argument_members import argument_members, requirement_members
from opcert.panel.data_members import data_members
from opcert.panel.fresh_calls import FreshCall, fresh_calls
from opcert.panel.integer_members import integer_members, wrong_at_ends
from opcert.panel.member import (
    Answer,
    ArrayCall,
    Member,
    Outputs,
    Right,
    Signature,
)
from opcert.panel.output_members import output_members
from opcert.run import CallRecord, Outcome, compare_outputs, run_repeatedly, run_vector
from opcert.specification import Reference, SpecFile, evaluate_integer, parse_expression
from opcert.suite import DigestedArray, IndexedCase, OperatorSuite, valid_calls
from opcert.verdicts import FAILURE_STATUSES, is_repeatable, judge

# How many outputs are kept, to be looked at again after later cases.
_HELD = 32


@dataclass(frozen=True)
class MissedFault:
    """A member of the panel that no case finds, and a call on which it differs."""

    name: str
    text: str
    witness: str


@dataclass(frozen=True)
class Strength:
    """How many generic faults the cases of an operator find, of those that make a difference."""

    operator: str
    detected: int
    missed: tuple[MissedFault, ...]

    @property
    def applicable(self) -> int:
        """How many members of the panel differ from the reference on some call."""
        return self.detected + len(self.missed)


def measure_strength(spec_file: SpecFile, operator: OperatorSuite) -> Strength:
    """Return which members of the panel the cases of an operator find.

    A member that differs from the reference neither on a case nor on a fresh call beside the cases
    does not apply, and counts for nothing.
    """
    panel = Panel(spec_file, operator)
    detected = 0
    missed: list[MissedFault] = []
    with np.errstate(all="ignore"):
        for member in panel.members():
            if panel.finds(member):
                detected += 1
            elif (witness := panel.witness(member)) is not None:
                missed.append(MissedFault(member.name, member.text, witness))
    return Strength(spec_file.spec.operator, detected, tuple(missed))


@dataclass(frozen=True)
class _Known:
    """A call with what the reference makes of it: golden outputs, or what it raises."""

    call: ArrayCall
    result: Outputs | Exception


class Panel:
    """The members for one operator, and the calls of its suite with their golden results."""

    def __init__(self, spec_file: SpecFile, operator: OperatorSuite) -> None:
        self._operator = operator
        self._reference = spec_file.reference
        self._conditions = Conditions(spec_file.spec)
        self._deciding = [case for case in operator.index.cases if case.ambiguity is None]
        self._known: dict[str, tuple[_Known, ...]] = {}
        self._valid = valid_calls(operator)
        self.signature = self._signature()

    def _signature(self) -> Signature:
        spec, calls = self._conditions.spec, [*self._valid.values()]
        given = {
            each.name: [call.inputs[each.name] for call in calls if each.name in call.inputs]
            for each in spec.inputs
        }
        return Signature(
            spec,
            tuple(n for n, some in given.items() if any(each.values is None for each in some)),
            {name: tuple(sorted({each.rank for each in some})) for name, some in given.items()},
            {name: tuple(sorted({each.type for each in some})) for name, some in given.items()},
        )

    def members(self) -> Iterator[Member]:
        """Yield every member that the signature gives."""
        yield from requirement_members(self.signature)
        yield from argument_members(self.signature)
        yield from integer_members(self.signature)
        for each in self.signature.spec.arguments:
            if each.range is not None and each.name in self.signature.integers:
                yield from wrong_at_ends(each.name, self._ends_of(each.name, each.range))
        yield from data_members(self.signature)
        yield from output_members(self.signature)

    def _ends_of(
        self, name: str, ends: tuple[str, str]
    ) -> Callable[[ArrayCall], tuple[int, int] | None]:
        least, most = map(parse_expression, ends)

        def ends_of(call: ArrayCall) -> tuple[int, int] | None:
            if call.argument(name) is None:
                return None
            tensors = {
                key: Tensor(
                    type_name(array.dtype),
                    array.shape,
                    None if key in self.signature.data else tuple(array.ravel().tolist()),
                )
                for key, array in call.inputs.items()
            }
            names = self._conditions.names(Call(tensors, call.attributes))
            try:
                return evaluate_integer(least, names), evaluate_integer(most, names)
            except (ExpressionError, Inapplicable, TypeError):
                return None

        return ends_of

    # -- the suite

    def finds(self, member: Member) -> bool:
        """Whether a case of the suite fails for the member."""
        if member.mode == "memory":
            return self._finds_in_memory(member)
        if member.mode == "history":
            return self._finds_in_history(member)
        cases = self._deciding
        if member.rule is not None:
            cases = [case for case in cases if case.violated_rule == member.rule]
        answer = member.begin()
        return any(
            self._fails(case, answer, known) for case in cases for known in self._calls(case)
        )

    def _calls(self, case: IndexedCase) -> tuple[_Known, ...]:
        """Return the calls of a case: with its data, and where it is valid with other data."""
        if case.id not in self._known:
            inputs = [self._operator.inputs(case)]
            if case.expects == "outputs":
                inputs.append(self._operator.inverted_data_inputs(case))
            calls = [ArrayCall(each, case.attributes) for each in inputs]
            self._known[case.id] = tuple(_Known(call, self._result(call)) for call in calls)
        return self._known[case.id]

    def _result(self, call: ArrayCall) -> Outputs | Exception:
        try:
            return called(self._reference, call)
        except Exception as error:
            return error

    def _right(self, known: _Known) -> Right:
        """Return the reference, which knows its answer to one call."""

        def right(call: ArrayCall) -> Outputs:
            if call is not known.call:
                return called(self._reference, call)
            if isinstance(known.result, Exception):
                raise known.result
            return known.result

        return right

    def _outcome(self, answer: Answer, known: _Known) -> Outcome | None:
        """Return what a member does with a call; None where that is what the reference does."""
        try:
            outputs = answer(known.call, self._right(known))
        except Exception as error:
            return (
                None if error is known.result else Outcome("rejected", reason=describe_error(error))
            )
        if outputs is None:
            return None
        golden = () if isinstance(known.result, Exception) else known.result
        fault = compare_outputs(golden, outputs) if isinstance(known.result, list) else None
        return Outcome("outputs", outputs, fault=fault)

    def _fails(self, case: IndexedCase, answer: Answer, known: _Known) -> bool:
        outcome = self._outcome(answer, known)
        if outcome is None or case.ambiguity is not None:
            return False
        return judge(self._operator.index.operator, case, outcome, None).status in FAILURE_STATUSES

    def _finds_in_history(self, member: Member) -> bool:
        """Make the calls of all cases in a row, as a certification does."""
        answer = member.begin()
        for case in self._operator.index.cases:
            calls = self._calls(case)
            failed = [self._fails(case, answer, known) for known in (*calls, calls[0])]
            if case.baseline is not None and case.expects == "rejection":
                baseline = self._operator.cases[case.baseline]
                failed.append(self._fails(baseline, answer, self._calls(baseline)[0]))
                failed.append(self._fails(case, answer, calls[0]))
            if any(failed):
                return True
        return False

    def _finds_in_memory(self, member: Member) -> bool:
        """Rehearse the cases on which the member differs, as a certification does."""
        backend = _Wrong(member, self._reference)
        operator = self._operator
        often = True
        held: list[CallRecord] = []
        for case in self._deciding:
            stored = not any(
                isinstance(each, DigestedArray)
                for each in (*case.outputs, *case.inverted_data_outputs)
            )
            if not stored or case.expects == "rejection" or not self._touches(member, case):
                continue
            outcomes = [run_vector(backend, operator, case)]
            if often and is_repeatable(case):
                outcomes.append(run_repeatedly(backend, operator, case))
                often = False
            name = operator.index.operator
            if any(
                judge(name, case, outcome, None).status in FAILURE_STATUSES for outcome in outcomes
            ):
                return True
            held += [each for outcome in outcomes for each in outcome.records]
            if len(held) > _HELD:
                if any(each.changed for each in held):
                    return True
                held.clear()
        return any(each.changed for each in held)

    def _touches(self, member: Member, case: IndexedCase) -> bool:
        call = ArrayCall(self._operator.inputs(case), case.attributes)
        return _answered(member, self._reference, call) is not None

    # -- fresh calls

    @cached_property
    def fresh(self) -> Sequence[FreshCall]:
        """The fresh calls beside the cases, each valid or breaking one requirement alone."""
        return [*fresh_calls(self._conditions, self._reference, [*self._valid.values()])]

    def witness(self, member: Member) -> str | None:
        """Return a fresh call on which the member differs from the reference, in words."""
        for fresh in self.fresh:
            if isinstance(fresh.result, Exception) and member.mode == "memory":
                continue
            if member.rule is not None and getattr(fresh.result, "rule", None) != member.rule:
                continue
            if member.mode == "memory":
                copies = {name: array.copy() for name, array in fresh.call.inputs.items()}
                call = ArrayCall(copies, fresh.call.attributes)
                if _answered(member, self._reference, call) is not None:
                    return fresh.text
                continue
            known = _Known(fresh.call, fresh.result)
            answer = member.begin()
            if member.mode == "history":
                self._outcome(answer, _Known(*fresh.base))
            if self._differs(answer, known):
                return fresh.text
        return None

    def _differs(self, answer: Answer, known: _Known) -> bool:
        outcome = self._outcome(answer, known)
        if outcome is None:
            return False
        if isinstance(known.result, Exception):
            return outcome.observed == "outputs"
        return outcome.observed != "outputs" or outcome.fault is not None


class _Wrong:
    """A member as a backend of one operator."""

    name = "panel"
    version = "1"

    def __init__(self, member: Member, reference: Reference) -> None:
        self._answer = member.begin()
        self._reference = reference

    def run(
        self, _: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> Sequence[Array]:
        """Answer as the member does, or as the reference."""
        call = ArrayCall(inputs, attributes)
        outputs: Sequence[Array] | None = self._answer(call, self._right)
        return self._right(call) if outputs is None else outputs

    def _right(self, call: ArrayCall) -> Outputs:
        return called(self._reference, call)


def called(reference: Reference, call: ArrayCall) -> Outputs:
    """Return what the reference gives; it gets attributes of its own."""
    return reference(**call.inputs, **deepcopy(dict(call.attributes)))


def _answered(member: Member, reference: Reference, call: ArrayCall) -> Any:
    """Return what a fresh member makes of a valid call by itself."""
    try:
        return member.begin()(call, lambda other: called(reference, other))
    except Exception as error:
        return error
