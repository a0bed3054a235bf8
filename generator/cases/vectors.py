"""Case -> vector: a case with arrays and golden outputs, checked against the spec and its laws.

Laws are metamorphic relations (Chen, Cheung and Yiu, 1998): the parts of a split, for instance,
concatenate to its input. They can reveal a wrong reference although the right outputs are unknown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from opcert.arrays.calls import Call, Tensor, flatten_variadic, tuples_of_variadic
from opcert.arrays.element_types import (
    Array,
    invert_bits,
    invert_second_half,
    same_bytes,
    type_name,
)
from opcert.arrays.golden import alternatives_of
from opcert.arrays.patterns import materialize, with_special_values
from opcert.arrays.tensor_functions import (
    LAW_FUNCTIONS,
    TENSOR_BUILDERS,
    elements_of,
    tensor_of_array,
)
from opcert.cases.case import Case, MistakeLog
from opcert.cases.conditions import Conditions, SpecExpression
from opcert.cases.formulas import ElementFormulas
from opcert.errors import ExpressionError, OpcertError, abbreviate, did_you_mean
from opcert.specification.expressions import EvaluationScope, evaluation_scope
from opcert.specification.files import Reference, RejectedError, SpecFile, golden_outputs
from opcert.specification.model import LawCall
from opcert.yaml_files import YamlPath


@dataclass(frozen=True)
class Vector:
    """A case with its arrays: inputs by name, and golden outputs unless it must be rejected.

    `inverted_data_outputs` are the outputs for data with every bit inverted, and empty if these are
    just the inverted outputs. A case that changes a baseline shares the unchanged arrays.
    `open_elements` is the ambiguity that leaves elements of the outputs open, if any.
    """

    case: Case
    inputs: Mapping[str, Array]
    outputs: Sequence[Array]
    inverted_data_outputs: Sequence[Array] = ()
    open_elements: str | None = None


def make_vectors(spec_file: SpecFile, cases: Sequence[Case]) -> list[Vector]:
    """Make the vector of each case; baselines come before the cases that change them.

    Raises:
        SpecError: the reference contradicts the spec, with a case for each place in the spec.
    """
    return list(iterate_vectors(spec_file, cases))


def iterate_vectors(spec_file: SpecFile, cases: Sequence[Case]) -> Iterator[Vector]:
    """Yield the vectors that `make_vectors` returns; only baselines in use are kept in memory.

    Raises:
        SpecError: after the last vector, as `make_vectors` does.
    """
    maker, mistakes = _VectorMaker(spec_file), MistakeLog(spec_file)
    last_use = {case.baseline: i for i, case in enumerate(cases)}
    baselines: dict[str, Vector] = {}
    for i, case in enumerate(cases):
        try:
            vector = maker.vector(case, baselines.get(case.baseline or ""))
        except ExpressionError as error:
            mistakes.add(error.place or case.place, f"{case.id}: {error}")
        else:
            if last_use.get(case.id, 0) > i:
                baselines[case.id] = vector
            yield vector
            # Its arrays may be large.
            del vector
        if case.baseline is not None and last_use[case.baseline] == i:
            baselines.pop(case.baseline, None)
    for place, text in maker.unnamed_rejections():
        mistakes.add(place, text)
    mistakes.raise_if_any()


class _VectorMaker:
    """Makes the arrays of cases, and checks the reference against all that the spec states.

    It raises ExpressionError where they disagree.
    """

    def __init__(self, spec_file: SpecFile) -> None:
        self._file = spec_file
        self._formulas = ElementFormulas(spec_file)
        # They keep the values that the spec names of the call at hand.
        self._conditions = self._formulas.conditions
        # The requirements that the reference names, and what it did with a call that breaks one.
        self._named: set[str] = set()
        self._unnamed: dict[str, tuple[YamlPath, str]] = {}

    def vector(self, case: Case, baseline: Vector | None) -> Vector:
        tensors = case.call.inputs
        inputs = {name: _input_array(name, tensors[name], baseline) for name in tensors}
        if case.violated_rule is not None:
            self._check_rejection(case, inputs)
            return Vector(case, inputs, [])
        outputs = self._outputs(case, inputs)
        if baseline is None:
            # Only the outputs reveal which elements reach them. A neighbour has the special values
            # of its baseline.
            plain, inputs = inputs, with_special_values(inputs, tensors, outputs)
            if any(inputs[name] is not plain[name] for name in inputs):
                outputs = self._outputs(case, inputs)
        self._check_outputs(case, outputs)
        data = [name for name, tensor in tensors.items() if tensor.values is None]
        inverted = {name: invert_bits(inputs[name]) for name in data}
        alternate_inputs = {**inputs, **inverted}
        alternate: Sequence[Array] = ()
        if inverted:
            alternate = self._outputs(case, alternate_inputs)
            pairs = zip(alternate, outputs, strict=True)
            if all(same_bytes(a, invert_bits(b)) for a, b in pairs):
                alternate = ()
        # The document's formula need not cover what the document leaves open.
        if case.ambiguity is None:
            more = [(alternate_inputs, alternate)] if alternate else []
            self._formulas.check(case, (inputs, outputs), *more)
            opened = self._formulas.with_open_elements
            outputs = opened(case.call, inputs, outputs)
            alternate = alternate and opened(case.call, alternate_inputs, alternate)
        is_open = any(map(alternatives_of, outputs))
        ambiguity = self._conditions.open_elements(case.call) if is_open else None
        return Vector(case, inputs, outputs, alternate, ambiguity)

    def _outputs(self, case: Case, inputs: Mapping[str, Array]) -> list[Array]:
        try:
            return golden_outputs(self._file.reference, inputs, case.call.attributes)
        except OpcertError as error:
            if isinstance(error, RejectedError) and error.rule:
                self._named.add(error.rule)
            raise ExpressionError(str(error)) from None

    def _check_rejection(self, case: Case, inputs: Mapping[str, Array]) -> None:
        expected = f"expected RuleBroken('{case.violated_rule}', …)"
        try:
            golden_outputs(self._file.reference, inputs, case.call.attributes)
        except RejectedError as error:
            if error.rule == case.violated_rule:
                self._named.add(str(error.rule))
                return
            if error.rule:
                raise ExpressionError(f"the reference names {error.rule}; {expected}") from None
            text = f"the reference raises {error.raised}"
        except OpcertError as error:
            raise ExpressionError(str(error)) from None
        else:
            text = "the reference accepts this call"
        mistake = case.place, f"{case.id}: {text}; {expected}"
        self._unnamed.setdefault(str(case.violated_rule), mistake)

    def unnamed_rejections(self) -> list[tuple[YamlPath, str]]:
        """Return a mistake for each requirement that the reference names for some calls only.

        A requirement that it never names is stated once, by the spec.
        """
        return [mistake for rule, mistake in self._unnamed.items() if rule in self._named]

    def _check_outputs(self, case: Case, outputs: Sequence[Array]) -> None:
        """Check golden outputs against declared shapes, behaviours, and the example, if any."""
        actual = [Tensor(type_name(output.dtype), output.shape) for output in outputs]
        declared = self._conditions.outputs(case.call)
        contradicted = self._conditions.contradicted(case.call, case.rules, actual)
        if actual != declared:
            text = f"the reference returns {_shapes(actual)}; the spec declares {_shapes(declared)}"
            raise ExpressionError(text)
        if contradicted:
            text = f"the outputs of the reference contradict {', '.join(contradicted)}"
            raise ExpressionError(text)
        documented = [] if case.example is None else case.example.outputs
        expected = [Tensor(tensor.type, tensor.shape) for tensor in documented]
        if case.example is not None and expected != actual:
            text = f"the example gives {_shapes(expected)}, the reference {_shapes(actual)}"
            raise ExpressionError(text)
        for i, (tensor, output) in enumerate(zip(documented, outputs, strict=False)):
            if tensor.values is None:
                continue
            array = materialize(tensor)
            if array.tobytes() != output.tobytes():
                text = f"output {i} of the example is {array.tolist()}, of the reference"
                raise ExpressionError(f"{text} {output.tolist()}")


def _input_array(name: str, tensor: Tensor, baseline: Vector | None) -> Array:
    """Return the elements of an input, which may be the baseline's or depend on them."""
    if baseline is not None and tensor.second_half_inverted:
        return invert_second_half(baseline.inputs[name])
    if baseline is not None and baseline.case.call.inputs.get(name) == tensor:
        return baseline.inputs[name]
    return materialize(tensor)


def _shapes(tensors: Sequence[Tensor]) -> str:
    return ", ".join(f"{tensor.type}{list(tensor.shape)}" for tensor in tensors) or "no outputs"


References: TypeAlias = Mapping[str, Reference]
_LAW_FUNCTIONS = {**TENSOR_BUILDERS, **LAW_FUNCTIONS}


class Laws:
    """The laws of one spec, checked on valid calls with the outputs of the reference."""

    def __init__(self, spec_file: SpecFile, references: References) -> None:
        self._spec = spec_file.spec
        self._conditions = Conditions(spec_file.spec)
        self._references = {**references, spec_file.spec.operator: spec_file.reference}

    def check(
        self, i: int, call: Call, inputs: Mapping[str, Array], outputs: Sequence[Array]
    ) -> bool:
        """Check law `i` on the reference, and return whether it applies to `call`.

        Raises:
            ExpressionError: the law does not hold, or its expressions or further calls fail.
        """
        law, place = self._spec.laws[i], ("laws", i)
        applies = SpecExpression(self._spec, law.when, *place, "when")
        if not applies.holds(self._conditions.names(call)):
            return False
        tensors = {k: tensor_of_array(a, call.inputs[k].values) for k, a in inputs.items()}
        names = {**self._conditions.names(call), **tuples_of_variadic(tensors)}
        scope = evaluation_scope(names, _LAW_FUNCTIONS)
        scope["outputs"] = tuple(map(tensor_of_array, outputs))
        for name, law_call in law.calls.items():
            called = self._called(law_call, scope, (*place, "calls", name))
            scope[name] = tuple(map(tensor_of_array, called))
        condition = SpecExpression(self._spec, law.holds, *place, "holds")
        if not condition.holds(scope):
            text = f"the law '{law.id}' does not hold for the reference"
            raise ExpressionError(text, condition.place)
        return True

    def _called(
        self, law_call: LawCall, scope: EvaluationScope, place: YamlPath
    ) -> Sequence[Array]:
        """Return the outputs of the reference for a further call of a law."""
        tensors = self._arguments(law_call.inputs, scope, (*place, "inputs"))
        attributes = self._arguments(law_call.attributes, scope, (*place, "attributes"))
        operator = law_call.operator or self._spec.operator
        if operator not in self._references:
            hint = did_you_mean(operator, sorted(self._references))
            raise ExpressionError(f"unknown operator '{operator}'{hint}", (*place, "operator"))
        inputs = {name: elements_of(item) for name, item in flatten_variadic(tensors).items()}
        # A Call turns the tuples of expressions into plain lists.
        call = Call({}, attributes)
        try:
            return golden_outputs(self._references[operator], inputs, call.attributes)
        except OpcertError as error:
            raise ExpressionError(str(error), place) from None

    def _arguments(
        self, expressions: Mapping[str, str], scope: EvaluationScope, place: YamlPath
    ) -> dict[str, Any]:
        """Return the values of the arguments that are not omitted."""
        values: dict[str, Any] = {}
        for name, text in expressions.items():
            expression = SpecExpression(self._spec, text, *place, name)
            value = expression.value(scope)
            parts = value if isinstance(value, tuple) else (value,)
            is_input = place[-1] == "inputs"
            if is_input and not all(isinstance(part, Tensor | None) for part in parts):
                problem = f"{abbreviate(text)} is {abbreviate(value)}; expected a tensor"
                raise ExpressionError(problem, expression.place)
            if value is not None:
                values[name] = value
        return values


# On how many calls a law is checked.
_MAX_CHECKED = 1000


def check_laws(spec_file: SpecFile, vectors: Iterable[Vector], references: References) -> None:
    """Check the golden outputs of a spec against its laws.

    Raises:
        SpecError: a law does not hold, or applies to none of the cases.
    """
    laws, mistakes = Laws(spec_file, references), MistakeLog(spec_file)
    checked = [0] * len(spec_file.spec.laws)
    for vector in vectors:
        case = vector.case
        if case.violated_rule is None and case.ambiguity is None:
            for i, count in enumerate(checked):
                if count < _MAX_CHECKED:
                    # One mistake of a law is enough.
                    checked[i] = _MAX_CHECKED
                    with mistakes.collect(("laws", i), f", for {case.call}"):
                        applies = laws.check(i, case.call, vector.inputs, vector.outputs)
                        checked[i] = count + applies
    for i, law in enumerate(spec_file.spec.laws):
        if not checked[i]:
            mistakes.add(("laws", i, "id"), f"the law '{law.id}' applies to no case")
    mistakes.raise_if_any()
