"""The conditions of a spec on a call: rules satisfied and violated, ambiguities, outputs."""

import ast
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Any

from opcert.arrays.calls import Call, Tensor, tensors_in
from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.errors import ExpressionError, Inapplicable, abbreviate
from opcert.specification.expressions import (
    EvaluationScope,
    add_values,
    evaluate_in,
    evaluation_scope,
    names_in,
    needed_values,
    parse_expression,
)
from opcert.specification.model import Spec

_MAX_OUTPUTS = 1000


@dataclass(frozen=True)
class RuleCheck:
    """The requirements that a call satisfies, and those that it violates, by id.

    A requirement is in neither if it does not apply to the call, if the call lacks a required
    argument that it names, or if one of its prerequisites is violated.
    """

    satisfied: tuple[str, ...]
    violated: tuple[str, ...]


class SpecExpression:
    """A condition of a spec, or another expression, with its place and the names in it."""

    def __init__(self, spec: Spec, text: str, *place: Hashable) -> None:
        # Most rules apply always, and need no evaluation.
        self.is_always_true = text == "True"
        self._expression = parse_expression(text)
        self.text, self.place = text, place
        self._named = needed_values(text, spec.names)
        self.names = names_in(text, spec.names).difference(self._named)
        self.required = self.names & {arg.name for arg in spec.arguments if arg.required}

    def holds(self, scope: EvaluationScope) -> bool:
        """Return whether the condition is true.

        Raises:
            ExpressionError: it cannot be evaluated, or is neither true nor false.
        """
        if self.is_always_true:
            return True
        value = self.value(scope)
        if value is True or value is False:
            return value
        problem = f"{abbreviate(self.text)} is {abbreviate(value)}; expected true or false"
        raise ExpressionError(problem, self.place)

    def value(self, scope: EvaluationScope) -> Any:
        """Return the value of the expression.

        Raises:
            ExpressionError: it has none.
        """
        try:
            add_values(scope, self._named)
            return evaluate_in(scope, self._expression)
        except (ExpressionError, Inapplicable) as error:
            raise ExpressionError(str(error), self.place) from None

    def comparison(self, scope: EvaluationScope) -> str | None:
        """Return how the sides relate, if the condition compares two numbers."""
        tree = self._expression.tree
        if not isinstance(tree, ast.Compare) or len(tree.ops) != 1:
            return None
        sides = [ast.unparse(side) for side in (tree.left, *tree.comparators)]
        with suppress(ExpressionError, Inapplicable):
            add_values(scope, self._named)
            left, right = (evaluate_in(scope, parse_expression(side)) for side in sides)
            if isinstance(left, int) and isinstance(right, int):
                relation = "<" if left < right else ">" if left > right else "="
                return f"{sides[0]} {relation} {sides[1]}"
        return None


class Conditions:
    """The conditions of one spec, compiled once and evaluated on calls."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._arguments = [*spec.defaults]
        self._fixed = evaluation_scope({**spec.fixed_names, **spec.defaults})
        self._outputs = [
            {key: SpecExpression(spec, getattr(part, key), "outputs", k, key) for key in _EXPECTED}
            for k, part in enumerate(spec.outputs)
        ]
        # The arguments that no valid call omits.
        self.required = {argument.name for argument in spec.arguments if argument.required}
        self.ranges = {item.name: item.range for item in spec.arguments if item.range is not None}
        # By id, the condition under which a rule applies, and the condition that it then demands.
        self._rules = {
            rule.id: (
                SpecExpression(spec, rule.when, "rules", i, "when"),
                SpecExpression(spec, rule.holds or "True", "rules", i, "holds"),
            )
            for i, rule in enumerate(spec.rules)
        }
        self._ambiguities = {
            ambiguity.id: SpecExpression(spec, ambiguity.touches, "ambiguities", i, "touches")
            for i, ambiguity in enumerate(spec.ambiguities)
        }
        self._latest: tuple[Call | None, EvaluationScope] = None, {}

    def names(self, call: Call) -> EvaluationScope:
        """Return the names that conditions use on `call`, and the functions that they call.

        An omitted argument has its default, or is None; `omitted` lists them.
        """
        arguments = call.arguments
        omitted = tuple([name for name in self._arguments if name not in arguments])
        return {**self._fixed, **arguments, "omitted": omitted}

    def values(self, call: Call) -> dict[str, Any]:
        """Return the values of a valid call that the spec names.

        Raises:
            ExpressionError, Inapplicable: one cannot be evaluated.
        """
        scope = self._scope(call)
        add_values(scope, self.spec.names)
        return {name: scope[name] for name in self.spec.names}

    def _scope(self, call: Call) -> EvaluationScope:
        """Return `names`, which are kept: all conditions on a call share the values of the spec."""
        if call is not self._latest[0]:
            self._latest = call, self.names(call)
        return self._latest[1]

    def check(self, call: Call, presumed: Collection[str] = ()) -> RuleCheck:
        """Check every requirement on `call`.

        The requirements in `presumed` count as satisfied prerequisites even if they are violated; a
        condition that cannot be evaluated for that reason is skipped.

        Raises:
            ExpressionError: a condition cannot be evaluated on the call.
        """
        scope = self._scope(call)
        absent = {name for name in self.required if scope[name] is None}
        satisfied: list[str] = []
        violated: list[str] = []
        # Violated requirements, and those that depend on one. A condition may rely on its
        # prerequisites, such as the length of a list that it indexes, and is not evaluated if one
        # of them is unmet.
        unmet: set[str] = set()
        for rule in self.spec.requirements.values():
            when, holds = self._rules[rule.id]
            if unmet and not unmet.isdisjoint(rule.prerequisites):
                unmet.add(rule.id)
            elif not absent or absent.isdisjoint(when.required | holds.required):
                try:
                    if not (when.is_always_true or when.holds(scope)):
                        continue
                    is_satisfied = holds.holds(scope)
                except ExpressionError:
                    if presumed:
                        continue
                    raise
                (satisfied if is_satisfied else violated).append(rule.id)
                if not is_satisfied and rule.id not in presumed:
                    unmet.add(rule.id)
        return RuleCheck(tuple(satisfied), tuple(violated))

    def comparison(self, rule: str, call: Call) -> str | None:
        """Return how two numbers compare in a call that violates a rule about them."""
        return self._rules[rule][1].comparison(self._scope(call))

    def named_arguments(self, owner: str) -> frozenset[str]:
        """Return the names in the conditions of a requirement or an ambiguity."""
        if owner in self._ambiguities:
            return self._ambiguities[owner].names
        when, holds = self._rules[owner]
        return when.names | holds.names

    def behaviours(self, call: Call, *, ignore_errors: bool = False) -> tuple[str, ...]:
        """Return the behaviours that a valid `call` exhibits.

        On an invalid call some conditions cannot be evaluated; `ignore_errors` skips them.

        Raises:
            ExpressionError: a condition cannot be evaluated on the call.
        """
        scope = self._scope(call)
        exhibited = []
        for name in self.spec.behaviours:
            try:
                if self._rules[name][0].holds(scope):
                    exhibited.append(name)
            except ExpressionError:
                if not ignore_errors:
                    raise
        return tuple(exhibited)

    def ambiguity(self, call: Call, violated: Sequence[str] | None = None) -> str | None:
        """Return the ambiguity that decides the expected outcome of `call`, if there is one.

        Under `breaks`, an ambiguity lists the requirements that the calls it touches violate in
        one of its readings. A call that violates any other requirement is invalid in both
        readings: no ambiguity decides it. For this check, the requirements in `breaks` are
        presumed to hold, since others may depend on them. Of several ambiguities, the first that
        explains all violations is returned, or else the first of all. `violated` are the violated
        requirements, where they are known.
        """
        ambiguities = self.spec.call_ambiguities
        # Most invalid calls are invalid in every reading, whichever ambiguities they touch.
        if not {rule for item in ambiguities for rule in item.breaks}.issuperset(violated or ()):
            return None
        scope = self._scope(call)
        absent = {name for name in self.required if scope[name] is None}
        touched = []
        for ambiguity in ambiguities:
            touches = self._ambiguities[ambiguity.id]
            if absent.isdisjoint(touches.required) and touches.holds(scope):
                touched.append(ambiguity)
        if not touched:
            return None
        breaks = {rule for ambiguity in touched for rule in ambiguity.breaks}
        if violated is None:
            violated = self.check(call).violated
        # A violated requirement that is presumed to hold may conceal others.
        if violated and not breaks.issuperset(self.check(call, breaks).violated):
            return None
        return next((a.id for a in touched if {*violated} <= {*a.breaks}), touched[0].id)

    def open_elements(self, call: Call) -> str | None:
        """Return the ambiguity that leaves elements of the outputs of a valid call open, if any.

        Raises:
            ExpressionError: a condition cannot be evaluated on the call.
        """
        scope = self._scope(call)
        for ambiguity in self.spec.ambiguities:
            if ambiguity.elements and self._ambiguities[ambiguity.id].holds(scope):
                return ambiguity.id
        return None

    def output_counts(self, call: Call) -> list[int]:
        """Return the number of outputs of a valid `call` for each output of the spec.

        Raises:
            ExpressionError: a count cannot be evaluated, or is no number of outputs.
        """
        scope = self._scope(call)
        return [_value(output, "count", scope) for output in self._outputs]

    def outputs(self, call: Call) -> list[Tensor]:
        """Return the type and shape of each output of a valid `call`, as the spec declares them.

        Raises:
            ExpressionError: a count, a type or a shape cannot be evaluated, or has the wrong type;
                or the call omits a required input.
        """
        # An expression of an output may name its number.
        scope = {**self._scope(call)}
        inputs = [declared.name for declared in self.spec.inputs if declared.required]
        if absent := [name for name in inputs if scope[name] is None]:
            raise ExpressionError(f"the call omits {', '.join(absent)}")
        # The first input of each type symbol gives its type.
        types = {
            declared.type: tensors_in(scope[declared.name])[0].type
            for declared in reversed(self.spec.inputs)
            if declared.required
        }
        outputs: list[Tensor] = []
        for declared, output in zip(self.spec.outputs, self._outputs, strict=True):
            for i in range(_value(output, "count", scope)):
                scope["i"] = i
                element_type = types.get(declared.type, declared.type)
                if element_type not in ELEMENT_TYPES:
                    element_type = _value(output, "type", scope)
                outputs.append(Tensor(element_type, _value(output, "shape", scope)))
        return outputs

    def has_small_outputs(self, call: Call, most: int) -> bool:
        """Whether the declared outputs of `call` have at most `most` elements.

        Raises:
            ExpressionError: the spec does not determine the outputs of the call.
        """
        return are_small(self.outputs(call), most)

    def is_decided(self, call: Call, most: int) -> bool:
        """Whether a call is valid, touches no ambiguity, and has at most `most` output elements.

        Raises:
            ExpressionError: a condition cannot be evaluated.
            Inapplicable: it has no value on the call.
        """
        is_valid = not self.ambiguity(call) and not self.check(call).violated
        return is_valid and self.has_small_outputs(call, most)

    def contradicted(
        self, call: Call, rules: Collection[str], outputs: Sequence[Tensor]
    ) -> list[str]:
        """Return the behaviours among `rules`, by full id, that `outputs` contradict."""
        scope = {**self._scope(call), "outputs": tuple(outputs)}
        return [
            name
            for name in self.spec.behaviours
            if self.spec.full_id(name) in rules and not self._rules[name][1].holds(scope)
        ]


def are_small(outputs: Iterable[Tensor], most: int) -> bool:
    """Whether outputs have at most `most` elements.

    An empty output must not have a billion rows either: an extent of 0 counts as 1.
    """
    return sum(prod([max(extent, 1) for extent in output.shape]) for output in outputs) <= most


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(extent, int) for extent in value)


# By the key of an output, what the value of its expression is to be.
_EXPECTED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "type": (lambda value: value in [*ELEMENT_TYPES], "an element type"),
    "shape": (_is_shape, "a shape"),
    "count": (
        lambda value: isinstance(value, int) and 0 <= value <= _MAX_OUTPUTS,
        f"a number of outputs, {_MAX_OUTPUTS} at most",
    ),
}


def _value(output: Mapping[str, SpecExpression], key: str, scope: EvaluationScope) -> Any:
    """Return the value of the expression that an output has under a key."""
    expression, (is_expected, expected) = output[key], _EXPECTED[key]
    value = expression.value(scope)
    if not is_expected(value):
        problem = f"{abbreviate(expression.text)} is {abbreviate(value)}; expected {expected}"
        raise ExpressionError(problem, expression.place)
    return value
