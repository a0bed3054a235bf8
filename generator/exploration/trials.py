"""Spec -> trials: a random valid call, with further calls that test a backend around it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from opcert.arrays.calls import Call, argument_of
from opcert.arrays.element_types import Array, invert_bits, type_name
from opcert.arrays.patterns import materialize, materialize_numbered, with_special_values
from opcert.cases.candidates import Violation, apply_violation, declared_bounds
from opcert.cases.conditions import Conditions
from opcert.cases.drawn import MAX_OUTPUT_ELEMENTS, draw_call
from opcert.cases.formulas import ElementFormulas
from opcert.cases.list_mutations import MutationContext
from opcert.cases.mutations import Mutation, mutations_of
from opcert.cases.vectors import Laws, References
from opcert.choices.choices import Choices
from opcert.errors import ExpressionError, Inapplicable, OpcertError, SpecError
from opcert.run.call_protocol import SessionStep
from opcert.specification.files import SpecFile, golden_outputs
from opcert.suite.support import Support
from opcert.verdicts.reduction import Candidate

# How many data patterns there are; the first means elements numbered from 1.
_PATTERNS = 1 << 16
# How many mutations and violations are tried on a call.
_MAX_MUTATIONS = 64
# The most invalid calls of a trial.
_MAX_REJECTIONS = 8


@dataclass(frozen=True)
class Trial:
    """A valid call, and the steps that try it.

    `mutation` numbers the first mutation or violation that is applied, and `law` the law that
    makes further calls; 0 means none.
    """

    call: Call
    steps: Sequence[SessionStep]
    mutation: int
    law: int

    def __repr__(self) -> str:
        return str(self.call)


@dataclass(frozen=True)
class _StepProperties:
    """The properties of a step's call that a declaration of support can exclude."""

    step: SessionStep
    rules: tuple[str, ...] = ()

    @property
    def input_types(self) -> Mapping[str, str]:
        types: dict[str, str] = {}
        for key, array in self.step.inputs.items():
            types.setdefault(argument_of(key), type_name(array.dtype))
        return types

    @property
    def type(self) -> str:
        return next(iter(self.input_types.values()))

    @property
    def index_types(self) -> frozenset[str]:
        return frozenset([*self.input_types.values()][1:])

    @property
    def rank(self) -> int:
        return next(iter(self.step.inputs.values())).ndim


class Trials:
    """Draws trials of one operator."""

    def __init__(self, spec_file: SpecFile, references: References) -> None:
        self.file = spec_file
        self.spec = spec_file.spec
        self._conditions = Conditions(spec_file.spec)
        self._formulas = ElementFormulas(spec_file)
        self._laws = Laws(spec_file, references)
        self._mutations: list[Mutation | tuple[str, Violation]] = [*mutations_of(self.spec)]
        for rule in self.spec.rules:
            self._mutations += [(f"{rule.id}.{name}", v) for name, v in rule.violations.items()]

    def draw(self, choices: Choices) -> Trial | None:
        """Draw a trial; None if no call can be built, or if the call is ambiguous or invalid.

        Raises:
            SpecError: the spec contradicts itself or its reference on the drawn call.
        """
        pattern = choices.integer("pattern", 0, _PATTERNS - 1)
        mutation = choices.integer("mutation", 0, len(self._mutations))
        law = choices.integer("law", 0, len(self.spec.laws))
        try:
            call = draw_call(self.spec, choices)
            if self._conditions.ambiguity(call) or self._conditions.check(call).violated:
                return None
            if not self._conditions.has_small_outputs(call, MAX_OUTPUT_ELEMENTS):
                return None
        except Inapplicable:
            return None
        except ExpressionError as error:
            raise self._mistake(error, "") from None
        try:
            steps = self._steps(call, self._inputs(call, pattern), mutation, law)
            return Trial(call, steps, mutation, law)
        except ExpressionError as error:
            raise self._mistake(error, f", for {call}") from None

    def of_step(self, trial: Trial, valid: SessionStep) -> Trial:
        """Return a trial of the valid call of a step, with the mutations and the law of `trial`.

        Raises:
            ExpressionError: the spec contradicts itself or its reference on the call.
        """
        call = Candidate.from_step(valid).call
        steps = self._steps(call, valid.inputs, trial.mutation, trial.law)
        return replace(trial, call=call, steps=steps)

    def _mistake(self, error: ExpressionError, context: str) -> SpecError:
        return SpecError([self.file.mistake(error.place, f"{error}{context}")])

    def supported_steps(self, trial: Trial, support: Support) -> Sequence[SessionStep]:
        """Return the steps of `trial` that the declared support of a backend does not exclude."""
        satisfied = self._conditions.check(trial.call).satisfied
        rules = self.spec.full_ids(*satisfied, *self._conditions.behaviours(trial.call))
        properties = _StepProperties(trial.steps[0], rules)
        if support.exclusion_reason(self.spec.operator, properties) is not None:
            return ()
        return [
            step
            for step in trial.steps
            if not step.from_law
            or support.exclusion_reason(step.operator, _StepProperties(step)) is None
        ]

    def _inputs(self, call: Call, pattern: int) -> dict[str, Array]:
        if not pattern:
            return {name: materialize_numbered(tensor) for name, tensor in call.inputs.items()}
        patterned = call.patterned(str(pattern))
        inputs = {name: materialize(tensor) for name, tensor in patterned.inputs.items()}
        return with_special_values(inputs, patterned.inputs, self._golden_outputs(call, inputs))

    def _golden_outputs(self, call: Call, inputs: Mapping[str, Array]) -> list[Array]:
        try:
            outputs = golden_outputs(self.file.reference, inputs, call.attributes)
        except OpcertError as error:
            raise ExpressionError(str(error), ("reference",)) from None
        return self._formulas.with_open_elements(call, inputs, outputs)

    def _steps(
        self, call: Call, inputs: Mapping[str, Array], mutation: int, law: int
    ) -> Sequence[SessionStep]:
        """Return the valid call, with inverted data, repeated, then invalid and a law's calls."""
        outputs = self._golden_outputs(call, inputs)
        steps = [self._step(call, inputs, outputs)]
        data = [name for name, tensor in call.inputs.items() if tensor.values is None]
        if data:
            inverted = {**inputs, **{name: invert_bits(inputs[name]) for name in data}}
            golden = self._golden_outputs(call, inverted)
            steps.append(self._step(call, inverted, golden, "with every bit of the data inverted"))
        steps.append(self._step(call, inputs, outputs, "repeated"))
        if rejections := self._rejections(call, inputs, mutation):
            steps += [*rejections, self._step(call, inputs, outputs, "after the rejection")]
        return [*steps, *self._steps_of_law(law, call, inputs, outputs)]

    def _step(
        self,
        call: Call,
        inputs: Mapping[str, Array],
        golden: Sequence[Array] | None,
        relation: str = "",
        rule: str | None = None,
    ) -> SessionStep:
        return SessionStep(
            self.spec.operator,
            inputs,
            call.attributes,
            golden,
            layouts={name: tensor.requested_layout for name, tensor in call.inputs.items()},
            data_inputs=tuple(n for n, tensor in call.inputs.items() if tensor.values is None),
            relation=relation,
            rule=rule,
        )

    def _rejections(
        self, call: Call, inputs: Mapping[str, Array], first_mutation: int
    ) -> list[SessionStep]:
        """Return mutations of a call that violate exactly one rule."""
        rejections: list[SessionStep] = []
        for name, mutated in self._mutated_calls(call, first_mutation):
            if len(rejections) == _MAX_REJECTIONS:
                break
            violated: tuple[str, ...] = ()
            # A mutated call on which a condition cannot be evaluated tests nothing.
            with suppress(ExpressionError):
                if self._conditions.ambiguity(mutated) is None:
                    violated = self._conditions.check(mutated).violated
            if len(violated) == 1:
                arrays = {
                    argument: inputs[argument]
                    if call.inputs.get(argument) is tensor
                    else materialize_numbered(tensor)
                    for argument, tensor in mutated.inputs.items()
                }
                rule = self.spec.full_id(violated[0])
                rejections.append(self._step(mutated, arrays, None, name, rule))
        return rejections

    def _mutated_calls(self, call: Call, first: int) -> Iterator[tuple[str, Call]]:
        """Yield the results of some mutations and violations, from number `first` on."""
        if not first:
            return
        in_turn = self._mutations[first - 1 :] + self._mutations[: first - 1]
        for mutation in in_turn[:_MAX_MUTATIONS]:
            if isinstance(mutation, Mutation):
                least, greatest = declared_bounds(self._conditions, call, mutation.argument)
                context = MutationContext(least, greatest, first)
                name, mutated = mutation.name, mutation.apply(self.spec, call, context)
            else:
                name, violation = mutation
                mutated = apply_violation(self._conditions, call, violation)
            if mutated is not None:
                yield name, mutated

    def _steps_of_law(
        self, number: int, call: Call, inputs: Mapping[str, Array], outputs: Sequence[Array]
    ) -> list[SessionStep]:
        """Return the further calls of a law; if their outputs are right, the law holds."""
        if not number or not self._laws.applies(number - 1, call):
            return []
        relation = f"by the law {self.spec.full_id(self.spec.laws[number - 1].id)}"
        return [
            SessionStep(
                further.operator,
                further.inputs,
                further.attributes,
                further.outputs,
                layouts=dict.fromkeys(further.inputs, "c"),
                data_inputs=further.data_inputs,
                relation=relation,
                from_law=True,
            )
            for further in self._laws.check(number - 1, call, inputs, outputs)
        ]
