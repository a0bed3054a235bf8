"""What a call keeps, breaks and touches, by the conditions of its spec."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from opcert.arrays import Call, Tensor
from opcert.errors import ExpressionError, Inapplicable
from opcert.specification import (
    Ambiguity,
    EvaluationScope,
    Rule,
    Spec,
    abbreviate,
    evaluate_condition_in,
    evaluate_in,
    evaluation_scope,
    parse_expression,
)
from opcert.yaml_files import YamlPath

_MOST_OUTPUTS = 1000


@dataclass(frozen=True)
class RuleCheck:
    """How a call stands to the requirements: those it keeps and those it breaks, by id.

    A requirement is in neither where it does not speak of the call, where a required argument
    that it names is absent, or where a requirement that it is given is violated.
    """

    satisfied: tuple[str, ...]
    violated: tuple[str, ...]


class _Condition:
    """A condition of a spec: where it stands, and which required arguments it is about."""

    def __init__(self, spec: Spec, text: str, *place: str | int) -> None:
        # Most conditions of rules have nothing to ask.
        self._expression = None if text == "True" else parse_expression(text)
        self._place: YamlPath = place
        required = {each.name for each in spec.arguments if each.required}
        self.names = parse_expression(text).names
        self.about = required & self.names

    def holds(self, scope: EvaluationScope) -> bool:
        """Return whether it holds.

        Raises:
            ExpressionError: it cannot be evaluated, or is neither true nor false.
        """
        if self._expression is None:
            return True
        try:
            return evaluate_condition_in(scope, self._expression)
        except ExpressionError as error:
            raise ExpressionError(str(error), self._place) from None


@dataclass(frozen=True)
class Conditions:
    """The conditions of one spec, asked of calls."""

    spec: Spec

    @cached_property
    def _fixed(self) -> dict[str, Any]:
        return {**self.spec.fixed_names, **self.spec.defaults}

    @cached_property
    def _rules(self) -> dict[str, tuple[_Condition, _Condition]]:
        """By id, when a rule speaks of a call, and what holds then."""
        return {
            rule.id: (
                _Condition(self.spec, rule.when, "rules", i, "when"),
                _Condition(self.spec, rule.holds or "True", "rules", i, "holds"),
            )
            for i, rule in enumerate(self.spec.rules)
        }

    @cached_property
    def _ambiguities(self) -> dict[str, _Condition]:
        return {
            each.id: _Condition(self.spec, each.touches, "ambiguities", i, "touches")
            for i, each in enumerate(self.spec.ambiguities)
        }

    @cached_property
    def _named(self) -> dict[str, tuple[Sequence[Rule], Sequence[Ambiguity]]]:
        return {}

    @cached_property
    def _required(self) -> frozenset[str]:
        return frozenset(each.name for each in self.spec.arguments if each.required)

    def names(self, call: Call) -> dict[str, Any]:
        """Return what conditions see of `call`: None for what is omitted, or its default."""
        given = {**call.inputs, **call.attributes}
        omitted = tuple(name for name in self.spec.defaults if name not in given)
        return {**self._fixed, **given, "omitted": omitted}

    def check(self, call: Call, presumed: Collection[str] = ()) -> RuleCheck:
        """Ask every requirement of `call`.

        A requirement is asked whose prerequisites hold. Those of `presumed` count as holding even
        where they are violated; what then cannot be evaluated has no answer.

        Raises:
            ExpressionError: a condition cannot be evaluated on the call.
        """
        scope = evaluation_scope(self.names(call))
        return self._standing(scope, self.spec.requirements.values(), presumed)

    def _standing(
        self, scope: EvaluationScope, asked: Iterable[Rule], presumed: Collection[str] = ()
    ) -> RuleCheck:
        absent = {name for name in self._required if scope[name] is None}
        satisfied: list[str] = []
        violated: list[str] = []
        moot: set[str] = set()
        for rule in asked:
            when, holds = self._rules[rule.id]
            if not moot.isdisjoint(rule.prerequisites):
                moot.add(rule.id)
            elif absent.isdisjoint(when.about | holds.about):
                try:
                    if not when.holds(scope):
                        continue
                    is_kept = holds.holds(scope)
                except ExpressionError:
                    if presumed:
                        continue
                    raise
                (satisfied if is_kept else violated).append(rule.id)
                if not is_kept and rule.id not in presumed:
                    moot.add(rule.id)
        return RuleCheck(tuple(satisfied), tuple(violated))

    def after_change(self, call: Call, argument: str) -> tuple[tuple[str, ...], str | None]:
        """Return what `check` and `ambiguity` say of a valid call of which an argument changed.

        That is the requirements that it breaks, and the ambiguity that decides it. Only what names
        the argument is asked: the rest is as it was before, satisfied and not touched.

        Raises:
            ExpressionError: a condition cannot be evaluated on the call.
        """
        scope = evaluation_scope(self.names(call))
        rules, ambiguities = self._naming(argument)
        violated = self._standing(scope, rules).violated
        return violated, self._ambiguity(scope, ambiguities, rules)

    def _naming(self, argument: str) -> tuple[Sequence[Rule], Sequence[Ambiguity]]:
        """Return the requirements and the ambiguities that name an argument, or what is omitted."""
        if argument not in self._named:
            names = {argument, "omitted"}
            rules: dict[str, Rule] = {}
            for rule in self.spec.requirements.values():
                is_named = any(not names.isdisjoint(each.names) for each in self._rules[rule.id])
                # It may also become moot by one of them.
                if is_named or not rules.keys().isdisjoint(rule.prerequisites):
                    rules[rule.id] = rule
            ambiguities = [
                each
                for each in self.spec.ambiguities
                if not names.isdisjoint(self._ambiguities[each.id].names)
            ]
            self._named[argument] = [*rules.values()], ambiguities
        return self._named[argument]

    def named_by(self, owner: str) -> frozenset[str]:
        """Return the arguments that a requirement or an ambiguity names."""
        if owner in self._ambiguities:
            return self._ambiguities[owner].names
        when, holds = self._rules[owner]
        return when.names | holds.names

    def behaviours(self, call: Call, *, where_answered: bool = False) -> tuple[str, ...]:
        """Return the behaviours that a valid `call` shows.

        Of a call that breaks a requirement, some conditions have no answer: `where_answered` leaves
        them out.

        Raises:
            ExpressionError: a condition cannot be evaluated on the call.
        """
        scope = evaluation_scope(self.names(call))
        abbreviate = []
        for name in self.spec.behaviours:
            try:
                if self._rules[name][0].holds(scope):
                    abbreviate.append(name)
            except ExpressionError:
                if not where_answered:
                    raise
        return tuple(abbreviate)

    def ambiguity(self, call: Call) -> str | None:
        """Return the ambiguity that decides what `call` has to give.

        That is the first that the call touches, of those by which it breaks what it breaks. They
        decide nothing where it is invalid however they are read: where it breaks a requirement that
        rests on none of them, also once theirs are presumed to hold.
        """
        scope = evaluation_scope(self.names(call))
        return self._ambiguity(scope, self.spec.ambiguities, self.spec.requirements.values())

    def _ambiguity(
        self, scope: EvaluationScope, asked: Iterable[Ambiguity], rules: Iterable[Rule]
    ) -> str | None:
        absent = {name for name in self._required if scope[name] is None}
        touched = [
            ambiguity
            for ambiguity in asked
            if absent.isdisjoint((touches := self._ambiguities[ambiguity.id]).about)
            and touches.holds(scope)
        ]
        if not touched:
            return None
        breaks = {rule for ambiguity in touched for rule in ambiguity.breaks}
        if not breaks.issuperset(self._standing(scope, rules, breaks).violated):
            return None
        violated = self._standing(scope, rules).violated
        return next((each.id for each in touched if {*violated} <= {*each.breaks}), touched[0].id)

    def output_counts(self, call: Call) -> list[int]:
        """Return how many outputs of a valid `call` each description in the spec stands for.

        Raises:
            ExpressionError: a count is no number, or cannot be evaluated.
        """
        scope = evaluation_scope(self.names(call))
        return [_count(output.count, scope, k) for k, output in enumerate(self.spec.outputs)]

    def outputs(self, call: Call) -> list[Tensor]:
        """Return the type and shape of each output of a valid `call`, as the spec declares them.

        Raises:
            ExpressionError: a count is no number, a shape no shape, or neither can be evaluated.
        """
        scope = evaluation_scope(self.names(call))
        types = {
            each.type: scope[each.name].type for each in reversed(self.spec.inputs) if each.required
        }
        declared: list[Tensor] = []
        for k, output in enumerate(self.spec.outputs):
            for i in range(_count(output.count, scope, k)):
                scope["i"] = i
                declared.append(Tensor(types[output.type], _shape(output.shape, scope, k)))
            scope.pop("i", None)
        return declared

    def contradicted(
        self, call: Call, rules: Collection[str], outputs: Sequence[Tensor]
    ) -> list[str]:
        """Return the behaviours among `rules`, by full id, that `outputs` contradict."""
        scope = evaluation_scope({**self.names(call), "outputs": tuple(outputs)})
        return [
            name
            for name, rule in self.spec.behaviours.items()
            if rule.holds is not None
            and self.spec.full_id(name) in rules
            and not self._rules[name][1].holds(scope)
        ]


def _shape(text: str, scope: EvaluationScope, output: int) -> tuple[int, ...]:
    place = ("outputs", output, "shape")
    shape = _value(text, scope, place)
    if not isinstance(shape, tuple) or not all(isinstance(each, int) for each in shape):
        raise ExpressionError(f"{abbreviate(text)} is {abbreviate(shape)}; expected a shape", place)
    return shape


def _count(text: str, scope: EvaluationScope, output: int) -> int:
    place = ("outputs", output, "count")
    count = _value(text, scope, place)
    if not isinstance(count, int) or not 0 <= count <= _MOST_OUTPUTS:
        expected = f"a number of outputs, {_MOST_OUTPUTS} at most"
        raise ExpressionError(
            f"{abbreviate(text)} is {abbreviate(count)}; expected {expected}", place
        )
    return count


def _value(text: str, scope: EvaluationScope, place: YamlPath) -> Any:
    try:
        return evaluate_in(scope, parse_expression(text))
    except (ExpressionError, Inapplicable) as error:
        raise ExpressionError(str(error), place) from None
