"""Spec -> trials: a valid call that is drawn afresh, and the calls that belong beside it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from opcert.arrays import Array, Call, invert_bits, materialize, materialize_numbered, type_name
from opcert.cases import (
    Change,
    Conditions,
    InputSpace,
    Laws,
    Mutation,
    MutationContext,
    References,
    after,
    bounds_in,
    mutations_of,
    specials_added,
)
from opcert.combinatorics import RandBelow, RowSampler
from opcert.errors import ExpressionError, Inapplicable, OpcertError, SpecError
from opcert.roles import RandomSource
from opcert.run import SessionStep
from opcert.scope import Support
from opcert.specification import SpecFile, golden_outputs
from opcert.verdicts import Candidate

# How many patterns data is drawn from, beside the elements numbered from 1.
_PATTERNS = 1 << 16
# How many mutations and violations, one behind the other, are tried on a call, and how many calls
# that break a rule follow a valid one at most.
_TRIES = 64
_REJECTIONS = 8


@dataclass(frozen=True)
class Trial:
    """A valid call, and the steps that try it; `wrong` and `law` number what they add."""

    call: Call
    steps: Sequence[SessionStep]
    levels: Mapping[str, str]
    wrong: int
    law: int

    def __repr__(self) -> str:
        return str(self.call)


@dataclass(frozen=True)
class _About:
    """What a declaration can speak of in the call of a step."""

    step: SessionStep
    rules: tuple[str, ...] = ()
    levels: Mapping[str, str] = field(default_factory=dict)

    @property
    def _types(self) -> list[str]:
        return [type_name(array.dtype) for array in self.step.inputs.values()]

    @property
    def type(self) -> str:
        return self._types[0]

    @property
    def rank(self) -> int:
        return next(iter(self.step.inputs.values())).ndim

    @property
    def index_types(self) -> frozenset[str]:
        return frozenset(self._types[1:])

    @property
    def input_types(self) -> Mapping[str, str]:
        return dict(zip(self.step.inputs, self._types, strict=True))


class Trials:
    """Draws trials of one operator.

    Raises:
        SpecError: no choice of levels is possible.
    """

    def __init__(self, spec_file: SpecFile, references: References) -> None:
        self.file = spec_file
        self.spec = spec_file.spec
        self.conditions = Conditions(spec_file.spec)
        self.laws = Laws(spec_file, references)
        self._mutations = mutations_of(self.spec)
        self._violations = [
            (f"{rule.id}.{name}", change)
            for rule in self.spec.rules
            for name, change in rule.violations.items()
        ]
        try:
            self._space = InputSpace(self.spec)
            self._rows = RowSampler(self._space.choices()[0])
        except ExpressionError as error:
            raise self._mistake(error, "") from None

    def drawn(self, below: RandBelow, random_source: RandomSource) -> Trial | None:
        """Draw a trial, or None where the draws come to nothing that decides anything.

        Raises:
            SpecError: the spec contradicts itself or its reference on what is drawn.
        """
        row, pattern = self._rows.sample(below), below(_PATTERNS)
        wrong = below(len(self._mutations) + len(self._violations) + 1)
        law = below(len(self.spec.laws) + 1)
        try:
            call = self._space.call(row, "", random_source)
        except Inapplicable:
            return None
        except ExpressionError as error:
            raise self._mistake(error, "") from None
        try:
            if self.conditions.ambiguity(call) or self.conditions.check(call).violated:
                return None
            steps = self._steps(call, self._inputs(call, pattern), wrong, law)
            return Trial(call, steps, self._space.level_names(row), wrong, law)
        except ExpressionError as error:
            raise self._mistake(error, f", for {call}") from None

    def beside(self, trial: Trial, valid: SessionStep) -> Trial:
        """Return the trial of another valid call, with what `trial` has beside its own.

        Raises:
            ExpressionError: the spec contradicts itself or its reference on it.
        """
        call = Candidate.from_step(valid).call
        steps = self._steps(call, valid.inputs, trial.wrong, trial.law)
        return replace(trial, call=call, steps=steps)

    def _mistake(self, error: ExpressionError, context: str) -> SpecError:
        return SpecError([self.file.mistake(error.place, f"{error}{context}")])

    def supported(self, trial: Trial, support: Support) -> Sequence[SessionStep]:
        """Return the steps of `trial` that a backend does not declare to leave out."""
        kept = self.conditions.check(trial.call).satisfied
        rules = self.spec.full_ids(*kept, *self.conditions.behaviours(trial.call))
        about = _About(trial.steps[0], rules, trial.levels)
        if support.exclusion_reason(self.spec.operator, about) is not None:
            return ()
        return [
            step
            for step in trial.steps
            if not step.by_law or support.exclusion_reason(step.operator, _About(step)) is None
        ]

    def _steps(
        self, call: Call, inputs: Mapping[str, Array], wrong: int, law: int
    ) -> Sequence[SessionStep]:
        outputs = self._golden(call, inputs)
        valid = self._step(call, inputs, outputs)
        steps = [valid]
        free = [name for name, tensor in call.inputs.items() if tensor.values is None]
        if free:
            other = {**inputs, **{name: invert_bits(inputs[name]) for name in free}}
            beside = "with every bit of the data inverted"
            steps.append(self._step(call, other, self._golden(call, other), beside=beside))
        steps.append(self._step(call, inputs, outputs, beside="repeated"))
        steps += self._rejections(call, inputs, valid, wrong)
        return [*steps, *self._law(law, call, inputs, outputs)]

    def _inputs(self, call: Call, pattern: int) -> dict[str, Array]:
        if not pattern:
            return {name: materialize_numbered(tensor) for name, tensor in call.inputs.items()}
        patterned = call.patterned(str(pattern))
        inputs = {name: materialize(tensor) for name, tensor in patterned.inputs.items()}
        return specials_added(patterned, inputs, self._golden(call, inputs))

    def _golden(self, call: Call, inputs: Mapping[str, Array]) -> list[Array]:
        try:
            return golden_outputs(self.file.reference, inputs, call.attributes)
        except OpcertError as error:
            raise ExpressionError(str(error), ("reference",)) from None

    def _step(
        self,
        call: Call,
        inputs: Mapping[str, Array],
        golden_outputs: Sequence[Array] | None,
        beside: str = "",
        rule: str | None = None,
    ) -> SessionStep:
        layouts = {name: tensor.requested_layout for name, tensor in call.inputs.items()}
        free = tuple(name for name, tensor in call.inputs.items() if tensor.values is None)
        return SessionStep(
            self.spec.operator,
            inputs,
            call.attributes,
            golden_outputs,
            layouts,
            free,
            beside,
            rule,
        )

    def _rejections(
        self, call: Call, inputs: Mapping[str, Array], valid: SessionStep, first: int
    ) -> list[SessionStep]:
        """Return calls that break one rule alone, and the valid one behind them."""
        rejected: list[SessionStep] = []
        for name, changed in self._changed(call, first):
            if len(rejected) == _REJECTIONS:
                break
            broken: tuple[str, ...] = ()
            # A changed call on which a condition has no answer shows nothing.
            with suppress(ExpressionError):
                if self.conditions.ambiguity(changed) is None:
                    broken = self.conditions.check(changed).violated
            if len(broken) == 1:
                given = {
                    argument: inputs[argument]
                    if call.inputs.get(argument) is tensor
                    else materialize_numbered(tensor)
                    for argument, tensor in changed.inputs.items()
                }
                rule = self.spec.full_id(broken[0])
                rejected.append(self._step(changed, given, None, beside=name, rule=rule))
        again = self._step(call, inputs, valid.golden, beside="behind the rejection")
        return [*rejected, again] if rejected else []

    def _changed(self, call: Call, first: int) -> Iterator[tuple[str, Call]]:
        """Yield some of what mutations and violations make of a call, from the `first` on."""
        changes: list[Mutation | tuple[str, Change]] = [*self._mutations, *self._violations]
        for change in (changes[first - 1 :] + changes[: first - 1])[: _TRIES if first else 0]:
            if isinstance(change, Mutation):
                aim = MutationContext(*bounds_in(self.conditions, call, change.argument), first)
                name, changed = change.name, change.applied(self.spec, call, aim)
            else:
                name, changed = change[0], after(self.conditions, call, change[1])
            if changed is not None:
                yield name, changed

    def _law(
        self, number: int, call: Call, inputs: Mapping[str, Array], outputs: Sequence[Array]
    ) -> list[SessionStep]:
        """Return the further calls of a law: with those right, it holds as for the reference."""
        if not number or not self.laws.speaks(number - 1, call):
            return []
        beside = f"by the law {self.spec.full_id(self.spec.laws[number - 1].id)}"
        return [
            SessionStep(
                made.operator,
                made.inputs,
                made.attributes,
                made.outputs,
                dict.fromkeys(made.inputs, "c"),
                made.free,
                beside=beside,
                by_law=True,
            )
            for made in self.laws.further(number - 1, call, inputs, outputs)
        ]
