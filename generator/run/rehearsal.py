"""Vector x backend -> outcome: called, repeated, and watched for what values hide."""

from collections.abc import Sequence
from dataclasses import replace

from opcert.generator.arrays.element_types import Array, Inputs
from opcert.generator.arrays.layouts import laid_out
from opcert.generator.backends import Backend
from opcert.generator.run.buffers import mutated, refilled
from opcert.generator.run.comparison import Difference, compare, share_a_zero
from opcert.generator.run.outcome import ENDINGS, Outcome, run_once
from opcert.generator.run.returned import Returned
from opcert.generator.suite.format import IndexedCase
from opcert.generator.suite.operator_suite import OperatorSuite

# How a failure begins that shows with other data than that of the case.
INVERTED = "with every bit of the data inverted"
# How often one call of each operator is made.
REPEATS = 300


def run_vector(backend: Backend, operator: OperatorSuite, case: IndexedCase) -> Outcome:
    """Run a case as a careful caller would: a must-reject call twice, a valid one three times.

    A call that is rejected has to be so again. The second of three has other data, in the same
    buffers; the third repeats the first, in dirtied memory where outputs have to be zero. Each has
    to give its golden outputs, leave the inputs as they are, and not touch what an earlier one
    returned.
    """
    if case.expects == "outputs":
        return _Rehearsal(backend, operator, case).outcome()
    first = _rejected(backend, operator, case)
    if first.observed != "rejected" or first.fault is not None:
        return first
    again = _rejected(backend, operator, case)
    return first if again.observed == "rejected" and again.fault is None else again


def _rejected(backend: Backend, operator: OperatorSuite, case: IndexedCase) -> Outcome:
    given, inputs = operator.inputs(case), operator.inputs(case)
    outcome = run_once(backend, operator.index.operator, inputs, case.attributes)
    held = [Returned(inputs=inputs, given=given)]
    return replace(outcome, fault=outcome.fault or mutated(inputs, given), returned=held)


def still_right(backend: Backend, operator: OperatorSuite, case: IndexedCase) -> Outcome:
    """Call a valid case that has passed once more; the fault is what went wrong since."""
    given, inputs = operator.inputs(case), operator.inputs(case)
    outcome = run_once(backend, operator.index.operator, inputs, case.attributes)
    golden = operator.outputs(case)
    where = f"behind the rejection, the valid {case.id}"
    if outcome.observed in ENDINGS:
        return replace(outcome, reason=f"{where}: {outcome.reason}")
    if outcome.observed != "outputs":
        text = f"{where} went wrong: {outcome.reason or outcome.observed}"
        return replace(outcome, fault=Difference("state", text))
    wrong = compare(golden, outcome.outputs) or outcome.fault or mutated(inputs, given)
    if wrong is None:
        returned = Returned(outcome.outputs, golden, inputs, given, outcome.kept)
        return replace(outcome, returned=[returned])
    kind = wrong.kind if wrong.kind in ("bits", "mutated-input") else "state"
    return replace(
        outcome, fault=Difference(kind, f"{where} went wrong: {wrong.text}", wrong.excerpt)
    )


def repeated_calls(backend: Backend, operator: OperatorSuite, case: IndexedCase) -> Outcome:
    """Make a valid call that has passed very often, and say what goes wrong at last.

    The data changes from call to call, then stays for long, so that outputs that are handed out
    in turns show.
    """
    kinds = [
        (operator.inputs(case), operator.outputs(case)),
        (operator.other_inputs(case), operator.other_outputs(case)),
    ]
    third = REPEATS // 3
    order = [*([0, 1] * third)[:third], *[0] * third, *[1] * (REPEATS - 2 * third)]
    held: list[Returned] = []
    for number, which_data in enumerate(order):
        inputs, golden = kinds[which_data]
        buffers = {n: laid_out(each, case.inputs[n].layout) for n, each in inputs.items()}
        outcome = run_once(backend, operator.index.operator, buffers, case.attributes)
        which = f"call {number} of {case.id}"
        if outcome.observed in ENDINGS:
            return replace(outcome, reason=f"{which}: {outcome.reason}")
        if outcome.observed != "outputs":
            text = f"{which} gave: {outcome.reason or outcome.observed}"
            return replace(outcome, fault=Difference("unstable", text))
        wrong = compare(golden, outcome.outputs)
        if wrong is not None:
            text = f"{which} went wrong: {wrong.text}"
            fault = Difference("unstable", text, wrong.excerpt)
            return Outcome("outputs", fault=fault, log=outcome.log)
        held.append(Returned(outcome.outputs, golden, kept=outcome.kept))
    aliased = any(each.changed for each in held)
    return Outcome("outputs", fault=ALIASED if aliased else None)


class _Rehearsal:
    """The three calls of a valid case."""

    def __init__(self, backend: Backend, operator: OperatorSuite, case: IndexedCase) -> None:
        self.backend = backend
        self.operator = operator
        self.case = case
        self.buffers: dict[str, Array] = {}
        self.returned: list[Returned] = []
        self.faults: list[Difference] = []
        self.log = ""

    def outcome(self) -> Outcome:
        data, golden = self.operator.inputs(self.case), self.operator.outputs(self.case)
        first, wrong = self.call(data, golden)
        if first.observed != "outputs":
            return first
        other = self.operator.other_inputs(self.case), self.operator.other_outputs(self.case)
        second, wrong_second = self.call(*other)
        if second.observed in ENDINGS:
            return replace(second, reason=f"the same call with other data: {second.reason}")
        # New memory, to which nothing was ever written, is zero too.
        zeros = share_a_zero(golden, other[1])
        sizes = [each.nbytes for each in golden] if zeros else []
        third, wrong_third = self.call(data, golden, sizes)
        if third.observed in ENDINGS:
            return replace(third, reason=f"the same call, repeated: {third.reason}")
        self.faults += _first_and_third(wrong, third, wrong_third)
        self.faults += _second(second, wrong_second, golden)
        # Only bits that differ are the mildest fault of all.
        self.faults.sort(key=lambda fault: fault.kind == "bits")
        fault = self.faults[0] if self.faults else None
        if self.returned:
            last = replace(self.returned[-1], inputs=self.buffers, given=data)
            self.returned[-1] = last
        return replace(first, fault=fault, returned=self.returned, log=self.log)

    def call(
        self, inputs: Inputs, golden: Sequence[Array], dirtied: Sequence[int] = ()
    ) -> tuple[Outcome, Difference | None]:
        """Make one call, in memory of which blocks are `dirtied`; say how its outputs differ."""
        self.buffers = {
            name: refilled(self.buffers.get(name), array, self.case.inputs[name].layout)
            for name, array in inputs.items()
        }
        name = self.operator.index.operator
        outcome = run_once(self.backend, name, self.buffers, self.case.attributes, dirtied)
        written = outcome.fault or mutated(self.buffers, inputs)
        self.faults += [written] if written else []
        self.log += outcome.log
        if any(earlier.changed for earlier in self.returned):
            self.faults.append(ALIASED)
            self.returned = []
        if outcome.observed != "outputs":
            return outcome, None
        difference = compare(golden, outcome.outputs)
        if difference is None:
            self.returned.append(Returned(outcome.outputs, golden, kept=outcome.kept))
        return outcome, difference


ALIASED = Difference(
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
    if wrong.kind == "value" and compare(former, second.outputs) is None:
        return [Difference("state", "returned what the call before, with other data, gave")]
    text = f"{INVERTED}: {wrong.text}"
    return [Difference(wrong.kind, text, wrong.excerpt)]
