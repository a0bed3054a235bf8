"""The laws of a spec: outputs held against inputs, and against the outputs of further calls."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from opcert.arrays import (
    LAW_FUNCTIONS,
    TENSOR_BUILDERS,
    Array,
    Call,
    Tensor,
    elements_of,
    tensor_of_array,
)
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
from opcert.specification import (
    EXPRESSION_FUNCTIONS,
    LawCall,
    Reference,
    SpecFile,
    abbreviate,
    evaluate,
    evaluate_condition,
    golden_outputs,
    parse_expression,
)
from opcert.yaml_files import YamlPath

References: TypeAlias = Mapping[str, Reference]


@dataclass(frozen=True)
class Made:
    """A further call that a law made, with the outputs of the reference."""

    operator: str
    inputs: Mapping[str, Array]
    free: tuple[str, ...]
    attributes: Mapping[str, Any]
    outputs: Sequence[Array]


class Laws:
    """The laws of one spec, asked of valid calls with the outputs that the reference gives."""

    def __init__(self, spec_file: SpecFile, references: References) -> None:
        self.file = spec_file
        self.spec = spec_file.spec
        self.conditions = Conditions(spec_file.spec)
        self._references = {**references, spec_file.spec.operator: spec_file.reference}

    def speaks(self, i: int, call: Call) -> bool:
        """Return whether law `i` speaks of `call`.

        Raises:
            SpecError: whether it does cannot be told.
        """
        with self._telling(call), _at(("laws", i, "when")):
            return evaluate_condition(
                parse_expression(self.spec.laws[i].when), self.conditions.names(call)
            )

    def further(
        self, i: int, call: Call, inputs: Mapping[str, Array], outputs: Sequence[Array]
    ) -> list[Made]:
        """Return the further calls of law `i`, which has to hold for the reference.

        Raises:
            SpecError: it does not, or its expressions or further calls fail.
        """
        law = self.spec.laws[i]
        names = {**self.conditions.names(call), "outputs": tuple(map(tensor_of_array, outputs))}
        for name, array in inputs.items():
            names[name] = tensor_of_array(array, call.inputs[name].values)
        made: list[Made] = []
        for name, each in law.calls.items():
            place = ("laws", i, "calls", name)
            with self._telling(call), _at(place):
                made.append(self._made(each, names, place))
            names[name] = tuple(map(tensor_of_array, made[-1].outputs))
        with self._telling(call), _at(("laws", i, "holds")):
            if not evaluate_condition(
                parse_expression(law.holds), names, {**EXPRESSION_FUNCTIONS, **LAW_FUNCTIONS}
            ):
                raise ExpressionError(f"the law '{law.id}' does not hold for the reference")
        return made

    def _made(self, call: LawCall, names: Mapping[str, Any], place: YamlPath) -> Made:
        tensors = dict(_values(call.inputs, names, (*place, "inputs")))
        inputs = {name: elements_of(each) for name, each in tensors.items()}
        free = tuple(name for name, each in tensors.items() if each.values is None)
        attributes = Call({}, dict(_values(call.attributes, names, (*place, "attributes"))))
        operator = call.operator or self.spec.operator
        if operator not in self._references:
            near = did_you_mean(operator, sorted(self._references))
            text = f"there is no spec of '{operator}'{near}"
            raise ExpressionError(text, (*place, "operator"))
        try:
            outputs = golden_outputs(self._references[operator], inputs, attributes.attributes)
        except OpcertError as error:
            raise ExpressionError(str(error)) from None
        return Made(operator, inputs, free, attributes.attributes, outputs)

    @contextmanager
    def _telling(self, call: Call) -> Iterator[None]:
        """Turn the error of an expression into a mistake of the spec."""
        try:
            yield
        except ExpressionError as error:
            mistake = self.file.mistake(error.place, f"{error}, for {call}")
            raise SpecError([mistake]) from None


def _values(
    expressions: Mapping[str, str], names: Mapping[str, Any], place: YamlPath
) -> Iterator[tuple[str, Any]]:
    """Yield the value of each argument that is not left out."""
    for name, text in expressions.items():
        with _at((*place, name)):
            value = evaluate(
                parse_expression(text),
                names,
                {**EXPRESSION_FUNCTIONS, **TENSOR_BUILDERS, **LAW_FUNCTIONS},
            )
            if place[-1] == "inputs" and not isinstance(value, Tensor | None):
                raise ExpressionError(
                    f"{abbreviate(text)} is {abbreviate(value)}; expected a tensor"
                )
        if value is not None:
            yield name, value


@contextmanager
def _at(place: YamlPath) -> Iterator[None]:
    """Tell an expression's error with its place, the innermost one."""
    try:
        yield
    except (ExpressionError, Inapplicable) as error:
        raise ExpressionError(str(error), getattr(error, "place", ()) or place) from None


def check_laws(spec_file: SpecFile, vectors: Iterable[Vector], references: References) -> None:
    """Hold the goldens of a spec against its laws.

    Raises:
        SpecError: a law fails on them, or speaks of none of the cases.
    """
    laws = Laws(spec_file, references)
    silent = dict(enumerate(spec_file.spec.laws))
    mistakes: dict[int, Mistake] = {}
    for vector in vectors:
        if vector.case.violated_rule is None and vector.case.ambiguity is None:
            for i in range(len(spec_file.spec.laws)):
                if not laws.speaks(i, vector.case.call):
                    continue
                silent.pop(i, None)
                try:
                    laws.further(i, vector.case.call, vector.inputs, vector.outputs)
                except SpecError as error:
                    mistakes.setdefault(i, error.mistakes[0])
    found = [
        spec_file.mistake(("laws", i, "id"), f"the law '{law.id}' speaks of no case")
        for i, law in silent.items()
    ]
    if mistakes or found:
        raise SpecError([*mistakes.values(), *found])
