"""The element formulas of a spec: a second oracle for golden outputs.

A formula gives each element of an output: an element of an input, or a number. It is evaluated
element by element, by code that shares nothing with the reference: a mistake would have to be made
twice. Where a formula computes with numbers, it gives the results that arithmetics allow.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from math import copysign, inf, prod
from typing import Any

import numpy as np

from opcert.accuracy.arithmetics import PRECISION, STANDARD, arithmetics
from opcert.arrays.calls import Call, tuples_of_variadic
from opcert.arrays.element_types import FLOATS, Array, fits, type_name
from opcert.arrays.golden import OPEN, Allowance, with_allowance, with_alternatives
from opcert.cases.case import Case
from opcert.cases.conditions import Conditions
from opcert.choices import Choices, call_seed
from opcert.errors import ExpressionError, Inapplicable, OpcertError, Undecided, abbreviate
from opcert.specification.elements import (
    FORMULA_FUNCTIONS,
    Candidates,
    Element,
    FloatElement,
    IndexedInput,
    element_text,
)
from opcert.specification.expressions import (
    EvaluationScope,
    Expression,
    evaluate_in,
    evaluation_scope,
    needed_values,
    parse_expression,
)
from opcert.specification.files import SpecFile
from opcert.specification.model import Spec
from opcert.yaml_files import YamlPath

# How many elements of an output are compared, and how many outputs of a call. Once the elements of
# an output have read so many elements of inputs, no further one is: sums of thousands take long.
MAX_COMPARED, _MAX_OUTPUTS, _MAX_READS = 32, 16, 1 << 14

# Inputs by name, and the outputs that the reference gives for them.
_InputsAndOutputs = tuple[Mapping[str, Array], Sequence[Array]]
_Index = tuple[int, ...]


class ElementFormulas:
    """The element formulas of one spec, compared with golden outputs; and its conditions."""

    def __init__(self, spec_file: SpecFile) -> None:
        self._claimed = spec_file.claimed
        self._formulas = [
            None if output.element is None else _Formula(spec_file.spec, k, output.element)
            for k, output in enumerate(spec_file.spec.outputs)
        ]
        self._computes = any(output.computed for output in spec_file.spec.outputs)
        self.conditions = Conditions(spec_file.spec)
        self._functions = evaluation_scope({}, FORMULA_FUNCTIONS)
        # How many elements of inputs the formulas have read.
        self._reads = [0]

    def check(self, case: Case, *runs: _InputsAndOutputs) -> None:
        """Compare the outputs of `runs` of a case bit by bit with the elements of its formulas.

        Raises:
            ExpressionError: an element differs, or a formula gives none.
        """
        if not any(self._formulas):
            return
        for inputs, outputs in runs:
            # Of many outputs, the last and every so many of the others.
            step = -(-len(outputs) // _MAX_OUTPUTS)
            for number, formula, scope in self._evaluations(case.call, inputs):
                if formula.computed or (number % step and number < len(outputs) - 1):
                    continue
                output = outputs[number]
                try:
                    chosen = _chosen_indices(output.shape, f"{case.id}|{number}")
                    for index in _until_many_reads(chosen, self._reads):
                        value = formula.value(scope, index)
                        self._compare(case.call, formula, value, output[index], index)
                except ExpressionError as error:
                    place = error.place or formula.place
                    raise ExpressionError(f"output {number}: {error}", place) from None

    def _compare(
        self, call: Call, formula: "_Formula", value: Any, element: Any, index: _Index
    ) -> None:
        """Raise ExpressionError if an element of an output is not what its formula gives."""
        candidates = value if isinstance(value, Candidates) else (value,)
        if len(candidates) > 1 and self.conditions.open_elements(call) is None:
            text = "an element has several candidates, but no ambiguity with 'elements'"
            raise ExpressionError(f"{text} touches the call")
        for candidate in candidates:
            if formula.gives(candidate, element):
                return
        text = f"at {list(index)} the formula gives {candidates[0]!s}, the reference"
        raise ExpressionError(f"{text} {element_text(element)}")

    def with_open_elements(
        self, call: Call, inputs: Mapping[str, Array], outputs: Sequence[Array]
    ) -> list[Array]:
        """Return golden outputs of a valid call, with what else elements may be.

        Those left open have alternatives, and computed ones what arithmetics allow.

        Raises:
            ExpressionError: a formula cannot be evaluated, or does not allow what the reference
                gives.
        """
        if self._computes:
            return self._with_allowances(call, inputs, outputs)
        if self.conditions.open_elements(call) is None:
            return [*outputs]
        opened = [*outputs]
        for number, formula, scope in self._evaluations(call, inputs):
            opened[number] = _opened(formula, scope, outputs[number])
        return opened

    def _with_allowances(
        self, call: Call, inputs: Mapping[str, Array], outputs: Sequence[Array]
    ) -> list[Array]:
        allowed = [*outputs]
        types = [type_name(output.dtype) for output in outputs]
        types += [tensor.type for tensor in call.inputs.values()]
        # Operands have the type of the output; a comparison has that of its operands.
        element_type = next((name for name in types if name in PRECISION), None)
        number = None if element_type is None else _numbers(element_type)
        for k, formula, scope in self._evaluations(call, inputs, number):
            if formula.computed:
                allowance = formula.allowance(scope, outputs[k], element_type)
                claimed = self._claimed.get(type_name(outputs[k].dtype), STANDARD)
                allowed[k] = with_allowance(outputs[k], replace(allowance, claimed=claimed))
        return allowed

    def _evaluations(
        self, call: Call, inputs: Mapping[str, Array], computed: "_Numbers | None" = None
    ) -> Iterator[tuple[int, "_Formula", EvaluationScope]]:
        """Yield the number of each output that has a formula, the formula, and its scope.

        `computed` makes numbers of floating-point elements, with which formulas compute.
        """
        tensors = {}
        for name, tensor in call.inputs.items():
            array = inputs[name]
            as_number = computed and computed(array)
            tensors[name] = IndexedInput(
                **vars(tensor), name=name, array=array, number=as_number, reads=self._reads
            )
        names = {**self.conditions.names(call), **tuples_of_variadic(tensors)}
        counts = self.conditions.output_counts(call)
        described = ((k, i) for k, count in enumerate(counts) for i in range(count))
        for number, (k, i) in enumerate(described):
            if (formula := self._formulas[k]) is not None:
                yield number, formula, {**names, **self._functions, "i": i}


class _Formula:
    """The formula of an output, compiled once, with the values that it names."""

    def __init__(self, spec: Spec, k: int, text: str) -> None:
        output = spec.outputs[k]
        values = {**spec.names, **output.where}
        self.place: YamlPath = ("outputs", k, "element")
        self.computed = output.computed
        self._element = parse_expression(text)
        self._forms = [self._element, *map(parse_expression, output.forms)]
        self._open = parse_expression(output.open)
        if self.computed:
            text = f"[{', '.join([text, *output.forms, output.open])}]"
        # Values that depend on the index are evaluated for each element, all others once.
        self._fixed: list[tuple[str, Expression, YamlPath]] = []
        self._varying: list[tuple[str, Expression, YamlPath]] = []
        varying = {"at"}
        for name, named in needed_values(text, values).items():
            value = parse_expression(named)
            place = ("outputs", k, "where", name) if name in output.where else ("names", name)
            if varying.isdisjoint(value.names):
                self._fixed.append((name, value, place))
            else:
                varying.add(name)
                self._varying.append((name, value, place))

    def value(self, scope: EvaluationScope, index: _Index) -> Any:
        """Return what the formula gives at an index; the scope keeps the fixed values.

        Raises:
            ExpressionError: the formula, or a value that it names, cannot be evaluated.
        """
        self._move(scope, index)
        return _evaluated(scope, self._element, self.place)

    def _move(self, scope: EvaluationScope, index: _Index) -> None:
        """Give the names that depend on the index their values there."""
        if "at" not in scope:
            for name, expression, place in self._fixed:
                scope[name] = _evaluated(scope, expression, place)
        scope["at"] = index
        for name, expression, place in self._varying:
            scope[name] = _evaluated(scope, expression, place)

    def _computed_forms(self, scope: EvaluationScope, index: _Index) -> list[Any]:
        """Return what each form gives at an index, or None where it leaves the element open."""
        with suppress(Undecided):
            self._move(scope, index)
            if not _evaluated(scope, self._open, self.place):
                return [_evaluated(scope, form, self.place) for form in self._forms]
        return [None for _ in self._forms]

    def allowance(
        self, scope: EvaluationScope, output: Array, element_type: str | None
    ) -> Allowance:
        """Return the results that arithmetics of a type allow for a computed output.

        Raises:
            ExpressionError: the formula cannot be evaluated, or does not allow an element.
        """
        with np.errstate(all="ignore"):
            rows = [self._computed_forms(scope, index) for index in np.ndindex(output.shape)]
        forms = [[row[k] for row in rows] for k in range(len(self._forms))]
        output_type = type_name(output.dtype)
        if element_type == output_type:
            allowance = _of_numbers(element_type, forms, output)
        else:
            allowance = _of_integers(forms, output)
        wrong = ~allowance.allows_claimed(output)
        if wrong.any():
            place = int(np.argmax(wrong))
            index = [int(k) for k in np.unravel_index(place, output.shape)]
            low, high = allowance.bounds_at(place) or ("NaN", "NaN")
            element = element_text(output.reshape(-1)[place])
            text = f"at {index} the formula allows {low} to {high}, the reference gives {element}"
            raise ExpressionError(text, self.place)
        return allowance

    def gives(self, value: Any, element: Any) -> bool:
        """Whether `value`, which the formula gives, is an element of an output, bit by bit.

        Raises:
            ExpressionError: it is no number, or of another type.
        """
        output_type = type_name(element.dtype)
        if isinstance(value, FloatElement):
            if value.tensor.type != output_type:
                types = f"of type {value.tensor.type}; expected {output_type}"
                text = f"the formula gives elements of '{value.tensor.name}' {types}"
                raise ExpressionError(text)
            return bool(value.scalar.tobytes() == element.tobytes())
        if not isinstance(value, int | float):
            text = f"{abbreviate(self._element.text)} is {abbreviate(value)}; expected an element"
            raise ExpressionError(f"{text} of an input, such as data[at], or a number")
        if isinstance(value, int) and output_type not in FLOATS:
            return int(element) == value
        if not fits(output_type, value):
            raise ExpressionError(f"the formula gives {value!s}, which {output_type} cannot hold")
        return bool(np.array(value, element.dtype).tobytes() == element.tobytes())


def _evaluated(scope: EvaluationScope, expression: Expression, place: YamlPath) -> Any:
    try:
        return evaluate_in(scope, expression)
    except (ExpressionError, Inapplicable) as error:
        at = f", at {list(scope['at'])}" if "at" in scope else ""
        raise ExpressionError(f"{error}{at}", place) from None


def _chosen_indices(shape: _Index, seed: str) -> Iterator[_Index]:
    """Yield all indices of a small output; of a large one the first, the last, some at random."""
    size = prod(shape)
    if size <= MAX_COMPARED:
        yield from np.ndindex(shape)
        return
    random = Choices(call_seed(seed)).integers("element", 1, size - 2, MAX_COMPARED - 2)
    chosen = [0, size - 1, *random]
    yield from zip(*(axis.tolist() for axis in np.unravel_index(chosen, shape)), strict=True)


def _until_many_reads(indices: Iterator[_Index], reads: Sequence[int]) -> Iterator[_Index]:
    """Yield two indices, and more until too many elements are read for them, counted in `reads`."""
    most = inf
    for index in indices:
        if reads[0] > most:
            return
        yield index
        # The first one reads what all of them share.
        most = reads[0] + _MAX_READS if most == inf else most


# What makes numbers of the elements of an input.
_Numbers = Callable[[Array], Callable[[float], Any]]


def _numbers(element_type: str) -> _Numbers:
    """Return what makes numbers of the elements of a call; only arithmetic needs python-flint.

    Raises:
        OpcertError: it is not installed.
    """
    try:
        from opcert.accuracy.balls import leaf  # noqa: PLC0415
    except ImportError:
        raise OpcertError(
            "an operator that computes needs the package python-flint; pip install "
            "'opcert[arithmetic]'"
        ) from None
    of = arithmetics(element_type)
    # Equal elements are one number, whose results are shared; the zeros differ in their sign.
    shared = cache(lambda number, _, largest: leaf(of, number, largest))

    def of_input(array: Array) -> Callable[[float], Any]:
        # A signalling NaN is invalid.
        with np.errstate(invalid="ignore"):
            largest = float(np.abs(array).max(initial=0))
        largest = largest if largest >= 0 else inf
        return lambda number: shared(number, copysign(1.0, number), largest)

    return of_input


def _of_numbers(element_type: str, forms: Sequence[Sequence[Any]], output: Array) -> Allowance:
    """Return what arithmetics allow of floating-point elements."""
    from opcert.accuracy.balls import ball  # noqa: PLC0415
    from opcert.accuracy.bounds import allowed  # noqa: PLC0415

    of = arithmetics(element_type)
    balls = [[None if value is None else ball(of, value) for value in form] for form in forms]
    with np.errstate(all="ignore"):
        low, high, flags = allowed(of, balls)
    shape = (len(of.names), *output.shape)
    low, high = low.reshape(shape), high.reshape(shape)
    return Allowance(of.names, low, high, flags.reshape(output.shape), STANDARD)


def _of_integers(forms: Sequence[Sequence[Any]], output: Array) -> Allowance:
    """Return what is allowed of integers: what forms give, and all between.

    Where one of them or a partial sum leaves the type, anything is.
    """
    output_type = type_name(output.dtype)
    low, high = (np.zeros(output.size, output.dtype) for _ in range(2))
    flags = np.zeros(output.size, np.uint8)
    for k, values in enumerate(zip(*forms, strict=True)):
        numbers = [n for value in values for n in (value, *getattr(value, "ends", ()))]
        if all(number is not None and fits(output_type, number) for number in numbers):
            low[k], high[k] = min(values), max(values)
        else:
            flags[k] = OPEN
    low, high = (ends.reshape(1, *output.shape) for ends in (low, high))
    return Allowance((STANDARD,), low, high, flags.reshape(output.shape), STANDARD)


def _opened(formula: _Formula, scope: EvaluationScope, output: Array) -> Array:
    """Return an output with alternatives: each element has as many others as it has candidates."""
    alternatives: list[Array] = []
    for index in np.ndindex(output.shape):
        candidates = formula.value(scope, index)
        if not isinstance(candidates, Candidates) or len(candidates) == 1:
            continue
        others = [item for item in candidates if not formula.gives(item, output[index])]
        alternatives += [output.copy() for _ in others[len(alternatives) :]]
        for alternative, other in zip(alternatives, others, strict=False):
            alternative[index] = other.scalar if isinstance(other, Element) else other
    return with_alternatives(output, alternatives)
