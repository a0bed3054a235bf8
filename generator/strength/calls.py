"""The calls that show faults: those of a suite as a certification makes them, and fresh ones."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice

from opcert.arrays.calls import Call, argument_of
from opcert.arrays.layouts import copy_in_layout
from opcert.arrays.patterns import materialize
from opcert.cases.candidates import apply_violation, violating_alone
from opcert.cases.conditions import Conditions
from opcert.cases.drawn import MAX_OUTPUT_ELEMENTS, GoldenCalls, draw_call, drawn_calls
from opcert.cases.mutations import Mutation, mutations_of
from opcert.choices import Choices, Replay, call_seed
from opcert.errors import ExpressionError, Inapplicable
from opcert.specification.files import Reference, SpecFile, golden_outputs
from opcert.strength.facts import FinishedCall
from opcert.suite.operator_suite import OperatorSuite

# Fresh calls have another seed than those of any suite is likely to have.
SEED = 0x57E4617
# How many valid calls are drawn; each is preceded by one that differs in one choice, and followed
# by one that violates a requirement, as far as there are such.
DRAWS = 600
# How many changes of a call are tried until one violates exactly one requirement.
_TRIED = 16


def suite_calls(operator: OperatorSuite, reference: Reference) -> Iterator[FinishedCall]:
    """Yield the decisive calls of a suite in the order in which a certification makes them."""
    calls: dict[str, FinishedCall] = {}
    for case in operator.cases.values():
        if case.ambiguity is not None:
            continue
        inputs, attributes = operator.inputs(case), case.attributes
        if case.expects == "rejection":
            call = FinishedCall(inputs, attributes, None, case.violated_rule)
            # A baseline is decisive, too.
            yield from (call, call, calls[case.baseline or ""], call)
            continue
        inverted = operator.inputs(case, inverted_data=True)
        # Only the suite knows what elements may be that are open, or computed.
        if case.open_elements or any(getattr(r, "allowance", None) for r in case.outputs):
            outputs = operator.outputs(case), operator.inverted_data_outputs(case)
        else:
            outputs = (
                golden_outputs(reference, inputs, attributes),
                golden_outputs(reference, inverted, attributes),
            )
        calls[case.id] = call = FinishedCall(inputs, attributes, outputs[0])
        yield from (call, FinishedCall(inverted, attributes, outputs[1]), call)


class FreshCalls:
    """Calls that the document decides, drawn apart from those of any suite.

    `data` are the inputs whose elements the operator only moves.
    """

    def __init__(self, file: SpecFile) -> None:
        self._spec = file.spec
        self._conditions = Conditions(file.spec)
        self._golden = GoldenCalls(file)
        self._changes: list[Mutation | Mapping[str, str]] = [*mutations_of(file.spec)]
        for rule in file.spec.rules:
            self._changes += rule.violations.values()
        calls = [*self._calls()]
        self.data = frozenset(
            argument_of(key)
            for call, rule in calls
            for key, tensor in call.inputs.items()
            if tensor.values is None and rule is None
        )
        self.calls = (self._finished(call, rule) for call, rule in calls)

    def _calls(self) -> Iterator[tuple[Call, str | None]]:
        """Yield calls in the order in which they are made, each with the rule that it violates."""
        for number, drawn, choices in islice(drawn_calls(self._spec, SEED), DRAWS):
            own, seed = Choices(call_seed("strength", number)), f"strength|{number}"
            if self._conditions.open_elements(drawn) or self._conditions.ambiguity(drawn):
                continue
            # The same data before and after, so that the calls differ in one respect alone.
            if (neighbour := self._neighbour(choices, own)) is not None:
                yield neighbour.patterned(seed), None
            call = drawn.patterned(seed)
            yield call, None
            for k in range(_TRIED):
                change = self._changes[own.integer(f"change {k}", 0, len(self._changes) - 1)]
                violation = self._violation(call, change, own.integer("element", 0, 99))
                if violation is not None:
                    yield violation[0].patterned(seed, only_new=True), violation[1]
                    break

    def _neighbour(self, choices: Choices, own: Choices) -> Call | None:
        """Return a valid call that differs from another in one choice."""
        conditions = self._conditions
        with suppress(ExpressionError, Inapplicable):
            replay = Replay(choices, own.one("anew", choices.levels), own.integer("seed", 0, 99))
            call = draw_call(self._spec, replay)
            is_decided = conditions.is_decided(call, MAX_OUTPUT_ELEMENTS)
            if is_decided and not conditions.open_elements(call):
                return call
        return None

    def _violation(
        self, call: Call, change: Mutation | Mapping[str, str], element: int
    ) -> tuple[Call, str] | None:
        """Return a call, changed so that it violates one requirement, and the id of that one."""
        conditions = self._conditions
        if isinstance(change, Mutation):
            return violating_alone(conditions, change, call, element)
        # A condition may have no value on a changed call, which then shows nothing.
        with suppress(ExpressionError, Inapplicable):
            changed = apply_violation(conditions, call, change)
            violated = () if changed is None else conditions.check(changed).violated
            if changed is None or len(violated) != 1 or conditions.ambiguity(changed):
                return None
            return changed, self._spec.full_id(violated[0])
        return None

    def _finished(self, call: Call, rule: str | None) -> FinishedCall:
        """Return a call with its arrays and golden outputs.

        Raises:
            SpecError: the reference contradicts the spec.
        """
        if rule is None:
            arrays = self._golden.arrays(call)
            outputs = self._golden.outputs(call, arrays)
        else:
            arrays = {key: materialize(tensor) for key, tensor in call.inputs.items()}
            outputs = None
        inputs = {
            key: copy_in_layout(array, call.inputs[key].layout) for key, array in arrays.items()
        }
        return FinishedCall(inputs, call.attributes, outputs, rule, str(call))
