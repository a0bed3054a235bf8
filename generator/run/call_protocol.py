"""Vector x backend -> outcome: called, repeated, and watched for what values hide."""

from collections.abc import Sequence
from dataclasses import replace

from opcert.arrays import Array, InputArrays, copy_in_layout
from opcert.backends import Backend
from opcert.run.buffers import mutated, refilled
from opcert.run.comparison import Difference, compare_outputs, share_a_zero
from opcert.run.outcome import FATAL_OUTCOMES, Outcome, call_backend
from opcert.run.records import CallRecord
from opcert.suite import IndexedCase, OperatorSuite

# How a failure begins that shows with other data than that of the case.
INVERTED_PREFIX = "with every bit of the data inverted"
# How a failure begins that gives the result of the call before once more.
ECHO_PREFIX = "returned what the call before, with other data, gave"
# How often one call of each operator is made.
REPEATS = 300


def run_vector(
    backend: Backend,
    operator: OperatorSuite,
    case: IndexedCase,
    baseline: IndexedCase | None = None,
) -> Outcome:
    """Run a case as a careful caller would: a valid call three times, an invalid one likewise.

    The second of three valid calls has other data, in the same buffers; the third repeats the
    first, in dirtied memory where outputs have to be zero. Each has to give its golden outputs,
    leave the inputs as they are, and not touch what an earlier one returned.

    An invalid call has to be rejected, and again when it is repeated. The `baseline`, a valid call
    that has passed, then has to pass once more, and the invalid call to be rejected behind it:
    what a backend keeps of a valid call must not make an invalid one acceptable.
    """
    if case.expects == "outputs":
        return _ValidCalls(backend, operator, case).outcome()
    first = _invalid_call(backend, operator, case)
    if first.observed != "rejected" or first.fault is not None:
        return first
    records, log = [*first.records], first.log
    plan: list[tuple[str, IndexedCase]] = [("rejected at first; the same call, repeated,", case)]
    if baseline is not None:
        plan += [
            (f"after the rejection, the valid {baseline.id}", baseline),
            (f"rejected at first; after the valid {baseline.id} the same call", case),
        ]
    for where, called in plan:
        again = _invalid_call if called is case else _valid_call
        later = again(backend, operator, called)
        log += later.log
        if later.observed in FATAL_OUTCOMES:
            return replace(later, reason=f"{where}: {later.reason}", log=log)
        fault = _changed_its_mind(where, later) if called is case else later.fault
        if fault is not None:
            if called is not case:
                kind = fault.kind if fault.kind in ("bits", "mutated-input") else "state"
                fault = Difference(kind, f"{where} went wrong: {fault.text}", fault.excerpt)
            return replace(first, fault=fault, records=records, log=log)
        records += later.records
    return replace(first, records=records, log=log)


def _changed_its_mind(where: str, later: Outcome) -> Difference | None:
    """Say how a call that was rejected comes to something else later."""
    if later.observed == "rejected":
        return later.fault
    became = "was accepted" if later.observed == "outputs" else f"gave: {later.reason}"
    return Difference("state", f"{where} {became}")


def _invalid_call(backend: Backend, operator: OperatorSuite, case: IndexedCase) -> Outcome:
    given, inputs = operator.inputs(case), operator.inputs(case)
    outcome = call_backend(backend, operator.index.operator, inputs, case.attributes)
    held = [CallRecord(inputs=inputs, given=given)]
    return replace(outcome, fault=outcome.fault or mutated(inputs, given), records=held)


def _valid_call(backend: Backend, operator: OperatorSuite, case: IndexedCase) -> Outcome:
    """Make a valid call once; the fault is how it goes wrong."""
    given, inputs = operator.inputs(case), operator.inputs(case)
    golden = operator.outputs(case)
    outcome = call_backend(backend, operator.index.operator, inputs, case.attributes)
    if outcome.observed in FATAL_OUTCOMES:
        return outcome
    if outcome.observed != "outputs":
        return replace(outcome, fault=Difference("rejected", outcome.reason or outcome.observed))
    wrong = compare_outputs(golden, outcome.outputs) or outcome.fault or mutated(inputs, given)
    if wrong is not None:
        return replace(outcome, fault=wrong)
    records = CallRecord(outcome.outputs, golden, inputs, given, outcome.kept)
    return replace(outcome, records=[records])


def repetition_plan() -> list[bool]:
    """Return which of the many calls of one case have its other data.

    The data changes from call to call, then stays for long, so that outputs that are handed out
    in turns show.
    """
    third = REPEATS // 3
    changing = [False, True] * third
    return [*changing[:third], *[False] * third, *[True] * (REPEATS - 2 * third)]


def run_repeatedly(backend: Backend, operator: OperatorSuite, case: IndexedCase) -> Outcome:
    """Make a valid call that has passed very often, and say what goes wrong at last."""
    kinds = [
        (operator.inputs(case), operator.outputs(case)),
        (operator.inverted_data_inputs(case), operator.inverted_data_outputs(case)),
    ]
    held: list[CallRecord] = []
    for number, which_data in enumerate(repetition_plan()):
        inputs, golden = kinds[which_data]
        buffers = {n: copy_in_layout(each, case.inputs[n].layout) for n, each in inputs.items()}
        outcome = call_backend(backend, operator.index.operator, buffers, case.attributes)
        which = f"call {number} of {case.id}"
        if outcome.observed in FATAL_OUTCOMES:
            return replace(outcome, reason=f"{which}: {outcome.reason}")
        if outcome.observed != "outputs":
            text = f"{which} gave: {outcome.reason or outcome.observed}"
            return replace(outcome, fault=Difference("unstable", text))
        wrong = compare_outputs(golden, outcome.outputs)
        if wrong is not None:
            text = f"{which} went wrong: {wrong.text}"
            fault = Difference("unstable", text, wrong.excerpt)
            return Outcome("outputs", fault=fault, log=outcome.log)
        held.append(CallRecord(outcome.outputs, golden, kept=outcome.kept))
    aliased = any(each.changed for each in held)
    return Outcome("outputs", fault=ALIASED_OUTPUT if aliased else None)


class _ValidCalls:
    """The three calls of a valid case."""

    def __init__(self, backend: Backend, operator: OperatorSuite, case: IndexedCase) -> None:
        self.backend = backend
        self.operator = operator
        self.case = case
        self.buffers: dict[str, Array] = {}
        self.records: list[CallRecord] = []
        self.faults: list[Difference] = []
        self.log = ""

    def outcome(self) -> Outcome:
        data, golden = self.operator.inputs(self.case), self.operator.outputs(self.case)
        first, wrong = self.call(data, golden)
        if first.observed != "outputs":
            return first
        other = (
            self.operator.inverted_data_inputs(self.case),
            self.operator.inverted_data_outputs(self.case),
        )
        second, wrong_second = self.call(*other)
        if second.observed in FATAL_OUTCOMES:
            return replace(second, reason=f"the same call with other data: {second.reason}")
        # New memory, to which nothing was ever written, is zero too.
        zeros = share_a_zero(golden, other[1])
        sizes = [each.nbytes for each in golden] if zeros else []
        third, wrong_third = self.call(data, golden, sizes)
        if third.observed in FATAL_OUTCOMES:
            return replace(third, reason=f"the same call, repeated: {third.reason}")
        self.faults += _first_and_third(wrong, third, wrong_third)
        self.faults += _second(second, wrong_second, golden)
        # Only bits that differ are the mildest fault of all.
        self.faults.sort(key=lambda fault: fault.kind == "bits")
        fault = self.faults[0] if self.faults else None
        if self.records:
            last = replace(self.records[-1], inputs=self.buffers, given=data)
            self.records[-1] = last
        return replace(first, fault=fault, records=self.records, log=self.log)

    def call(
        self, inputs: InputArrays, golden: Sequence[Array], dirtied: Sequence[int] = ()
    ) -> tuple[Outcome, Difference | None]:
        """Make one call, in memory of which blocks are `dirtied`; say how its outputs differ."""
        self.buffers = {
            name: refilled(self.buffers.get(name), array, self.case.inputs[name].layout)
            for name, array in inputs.items()
        }
        name = self.operator.index.operator
        outcome = call_backend(self.backend, name, self.buffers, self.case.attributes, dirtied)
        written = outcome.fault or mutated(self.buffers, inputs)
        self.faults += [written] if written else []
        self.log += outcome.log
        if any(earlier.changed for earlier in self.records):
            self.faults.append(ALIASED_OUTPUT)
            self.records = []
        if outcome.observed != "outputs":
            return outcome, None
        difference = compare_outputs(golden, outcome.outputs)
        if difference is None:
            self.records.append(CallRecord(outcome.outputs, golden, kept=outcome.kept))
        return outcome, difference


ALIASED_OUTPUT = Difference(
    "aliased-output",
    "an output changed after it was returned, when the caller used its input buffers again or "
    "made the next call; return arrays that nothing else writes to",
)


def _first_and_third(
    wrong: Difference | None, third: Outcome, wrong_third: Difference | None
) -> list[Difference]:
    if third.observed != "outputs":
        text = f"the same call, repeated, gave: {third.reason or third.observed}"
        return [Difference("unstable", text)]
    if wrong is None and wrong_third is not None:
        text = f"the same call, repeated, gave something else: {wrong_third.text}"
        return [Difference("unstable", text, wrong_third.excerpt)]
    if wrong is not None and wrong_third is None:
        text = f"right only when it was repeated; at first: {wrong.text}"
        return [Difference("unstable", text, wrong.excerpt)]
    return [wrong] if wrong else []


def _second(second: Outcome, wrong: Difference | None, former: Sequence[Array]) -> list[Difference]:
    if second.observed != "outputs":
        text = f"the same call with other data gave: {second.reason or second.observed}"
        return [Difference("unstable", text)]
    if wrong is None:
        return []
    if wrong.kind == "value" and compare_outputs(former, second.outputs) is None:
        # Data that is lost, by saturation for example, gives the same twice as well, so that it
        # takes a fresh process to tell whether the call before has to do with it.
        return [Difference("value", f"{ECHO_PREFIX}: {wrong.text}", wrong.excerpt)]
    text = f"{INVERTED_PREFIX}: {wrong.text}"
    return [Difference(wrong.kind, text, wrong.excerpt)]
