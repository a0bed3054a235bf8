"""The laws of a spec: relations between outputs, inputs, and the outputs of further calls.

They are metamorphic relations (Chen, Cheung and Yiu, 1998): the parts of a split, for instance,
concatenate to its input. They can reveal a wrong reference although the right outputs are unknown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.element_types import Array
from opcert.arrays.tensor_functions import (
    LAW_FUNCTIONS,
    TENSOR_BUILDERS,
    elements_of,
    tensor_of_array,
)
from opcert.arrays.variadic import flatten_variadic, group_variadic
from opcert.cases.conditions import Conditions
from opcert.cases.vectors import Vector
from opcert.errors import (
    ExpressionError,
    Inapplicable,
    Mistake,
    OpcertError,
    SpecError,
    did_you_mean,
)
from opcert.specification.expression_functions import EXPRESSION_FUNCTIONS
from opcert.specification.expressions import (
    abbreviate,
    evaluate,
    evaluate_condition,
    parse_expression,
)
from opcert.specification.files import SpecFile
from opcert.specification.model import LawCall
from opcert.specification.named_values import with_named_values
from opcert.specification.references import Reference, golden_outputs
from opcert.yaml_files.source import YamlPath

References: TypeAlias = Mapping[str, Reference]


@dataclass(frozen=True)
class FurtherCall:
    """A further call that a law makes, with the outputs of the reference."""

    operator: str
    inputs: Mapping[str, Array]
    data_inputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    outputs: Sequence[Array]


class Laws:
    """The laws of one spec, checked on valid calls with the outputs of the reference."""

    def __init__(self, spec_file: SpecFile, references: References) -> None:
        self._file = spec_file
        self._spec = with_named_values(spec_file.spec)
        self._conditions = Conditions(spec_file.spec)
        self._references = {**references, spec_file.spec.operator: spec_file.reference}

    def applies(self, i: int, call: Call) -> bool:
        """Return whether law `i` applies to `call`.

        Raises:
            SpecError: its condition cannot be evaluated.
        """
        with self._mistakes_of(call), _located(("laws", i, "when")):
            when = parse_expression(self._spec.laws[i].when)
            return evaluate_condition(when, self._conditions.names(call))

    def check(
        self, i: int, call: Call, inputs: Mapping[str, Array], outputs: Sequence[Array]
    ) -> list[FurtherCall]:
        """Check law `i` on the reference, and return the further calls that it makes.

        Raises:
            SpecError: the law does not hold, or its expressions or further calls fail.
        """
        law = self._spec.laws[i]
        names = {**self._conditions.names(call), "outputs": tuple(map(tensor_of_array, outputs))}
        tensors = {
            key: tensor_of_array(array, call.inputs[key].values) for key, array in inputs.items()
        }
        for name, value in group_variadic(tensors).items():
            names[name] = tuple(value) if isinstance(value, list) else value
        further_calls: list[FurtherCall] = []
        for name, law_call in law.calls.items():
            place = ("laws", i, "calls", name)
            with self._mistakes_of(call), _located(place):
                further_calls.append(self._further_call(law_call, names, place))
            names[name] = tuple(map(tensor_of_array, further_calls[-1].outputs))
        with self._mistakes_of(call), _located(("laws", i, "holds")):
            functions = {**EXPRESSION_FUNCTIONS, **LAW_FUNCTIONS}
            if not evaluate_condition(parse_expression(law.holds), names, functions):
                raise ExpressionError(f"the law '{law.id}' does not hold for the reference")
        return further_calls

    def _further_call(
        self, law_call: LawCall, names: Mapping[str, Any], place: YamlPath
    ) -> FurtherCall:
        tensors = flatten_variadic(dict(_arguments(law_call.inputs, names, (*place, "inputs"))))
        attributes = dict(_arguments(law_call.attributes, names, (*place, "attributes")))
        operator = law_call.operator or self._spec.operator
        if operator not in self._references:
            hint = did_you_mean(operator, sorted(self._references))
            raise ExpressionError(f"unknown operator '{operator}'{hint}", (*place, "operator"))
        inputs = {name: elements_of(tensor) for name, tensor in tensors.items()}
        data_inputs = tuple(name for name, tensor in tensors.items() if tensor.values is None)
        # A Call turns the tuples of expressions into plain lists.
        call = Call({}, attributes)
        try:
            outputs = golden_outputs(self._references[operator], inputs, call.attributes)
        except OpcertError as error:
            raise ExpressionError(str(error)) from None
        return FurtherCall(operator, inputs, data_inputs, call.attributes, outputs)

    @contextmanager
    def _mistakes_of(self, call: Call) -> Iterator[None]:
        """Report the error of an expression as a mistake of the spec."""
        try:
            yield
        except ExpressionError as error:
            mistake = self._file.mistake(error.place, f"{error}, for {call}")
            raise SpecError([mistake]) from None


def _arguments(
    expressions: Mapping[str, str], names: Mapping[str, Any], place: YamlPath
) -> Iterator[tuple[str, Any]]:
    """Yield the value of each argument that is not omitted."""
    functions = {**EXPRESSION_FUNCTIONS, **TENSOR_BUILDERS, **LAW_FUNCTIONS}
    for name, text in expressions.items():
        with _located((*place, name)):
            value = evaluate(parse_expression(text), names, functions)
            parts = value if isinstance(value, tuple) else (value,)
            if place[-1] == "inputs" and not all(isinstance(part, Tensor | None) for part in parts):
                problem = f"{abbreviate(text)} is {abbreviate(value)}; expected a tensor"
                raise ExpressionError(problem)
        if value is not None:
            yield name, value


@contextmanager
def _located(place: YamlPath) -> Iterator[None]:
    """Give an expression's error a place, unless it has a more precise one."""
    try:
        yield
    except (ExpressionError, Inapplicable) as error:
        raise ExpressionError(str(error), getattr(error, "place", ()) or place) from None


def check_laws(spec_file: SpecFile, vectors: Iterable[Vector], references: References) -> None:
    """Check the golden outputs of a spec against its laws.

    Raises:
        SpecError: a law does not hold, or applies to none of the cases.
    """
    laws, law_texts = Laws(spec_file, references), spec_file.spec.laws
    unused = dict(enumerate(law_texts))
    mistakes: dict[int, Mistake] = {}
    for vector in vectors:
        case = vector.case
        if case.violated_rule is None and case.ambiguity is None:
            for i in range(len(law_texts)):
                if laws.applies(i, case.call):
                    unused.pop(i, None)
                    try:
                        laws.check(i, case.call, vector.inputs, vector.outputs)
                    except SpecError as error:
                        mistakes.setdefault(i, error.mistakes[0])
    inapplicable = [
        spec_file.mistake(("laws", i, "id"), f"the law '{law.id}' applies to no case")
        for i, law in unused.items()
    ]
    if mistakes or inapplicable:
        raise SpecError([*mistakes.values(), *inapplicable])
