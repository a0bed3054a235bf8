"""The element formulas of a spec: a second oracle for golden outputs.

A formula gives, for each element of an output, the element of an input that it copies. It is
evaluated on indices alone, by code that shares nothing with the reference: a mistake would have to
be made twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from math import prod
from random import Random
from typing import Any

import numpy as np

from opcert.arrays.calls import Call, group_variadic
from opcert.arrays.element_types import FLOATS, Array, bits_dtype, bits_of, type_name
from opcert.arrays.patterns import with_alternatives
from opcert.cases.case import Case
from opcert.cases.conditions import Conditions
from opcert.errors import ExpressionError, Inapplicable, SpecError
from opcert.specification.elementwise import (
    FORMULA_FUNCTIONS,
    OUTSIDE_SOURCE,
    ZERO_SOURCE,
    CandidateElements,
    ElementwiseValues,
    IndexedInput,
    IndexedInputs,
    candidate_functions,
    parse_elementwise,
    source_positions,
)
from opcert.specification.expressions import (
    EvaluationScope,
    abbreviate,
    evaluate_in,
    evaluation_scope,
)
from opcert.specification.files import SpecFile, with_named_values
from opcert.specification.model import Output
from opcert.yaml_files import YamlPath

# How many elements of an output are compared; of a larger one, some indices of each axis.
MAX_COMPARED = 4096
# How many outputs of a call are compared.
_MAX_OUTPUTS = 16
# How many candidates they have in all, if each has one at every index along an axis of an input.
_MAX_CANDIDATES = 1 << 22

# Inputs by name, and the outputs that the reference gives for them.
_InputsAndOutputs = tuple[Mapping[str, Array], Sequence[Array]]
# The indices that are compared, for each axis.
_Coordinates = tuple[tuple[int, ...] | range, ...]


class ElementFormulas:
    """The element formulas of one spec, compared with golden outputs."""

    def __init__(self, spec_file: SpecFile) -> None:
        self._file = spec_file
        self._outputs = with_named_values(spec_file.spec).outputs
        self._conditions = Conditions(spec_file.spec)

    def check(self, case: Case, *runs: _InputsAndOutputs) -> None:
        """Compare the outputs of `runs` of a case bit by bit with the elements of its formulas.

        Raises:
            SpecError: an element differs, or a formula gives none.
        """
        descriptions = self._outputs
        if not any(output.element for output in descriptions):
            return
        # The inputs and the scope of each run; those of the first serve all, unless a formula reads
        # data, whose elements differ from run to run.
        scopes = [self._scope(case.call, runs[0][0])]
        described = self._described(case.call)
        # Of many outputs, the first, the last, and some between them.
        step = -(-len(described) // _MAX_OUTPUTS)
        for number in sorted({*range(0, len(described), step or 1), *range(len(described))[-1:]}):
            k, i = described[number]
            shape = runs[0][1][number].shape
            if descriptions[k].element is None or 0 in shape:
                continue
            most = _most_compared(descriptions[k], case.call)
            coordinates = _coordinates(shape, most, f"{case.id}|{number}")
            try:
                index = _index_values(coordinates)
                tensors, scope = scopes[0]
                sources = _sources(descriptions[k], k, {**scope, "i": i, "at": index})
                for run, (inputs, outputs) in enumerate(runs):
                    if run and any(tensor.is_read for tensor in tensors.values()):
                        if len(scopes) == run:
                            scopes.append(self._scope(case.call, inputs))
                        tensors, scope = scopes[run]
                        sources = _sources(descriptions[k], k, {**scope, "i": i, "at": index})
                    if isinstance(sources, ElementwiseValues):
                        self._require_numbers(descriptions[k], outputs[number], sources)
                        _compare_numbers(sources, coordinates, outputs[number])
                        continue
                    counts = sum(applies.sum(axis=0) for applies, _ in sources)
                    if np.max(counts) > 1 and self._conditions.open_elements(case.call) is None:
                        text = "an element has several candidates, but no ambiguity with 'elements'"
                        raise ExpressionError(f"{text} touches the call")
                    _compare(sources, coordinates, tensors, inputs, outputs[number])
            except ExpressionError as error:
                place = error.place or ("outputs", k, "element")
                text = f"{case.id}, output {number}: {error}"
                raise SpecError([self._file.mistake(place, text)]) from None

    def _require_numbers(self, output: Output, array: Array, numbers: ElementwiseValues) -> None:
        """Raise ExpressionError if the output may have elements that are not integers."""
        types = self._file.spec.type_sets.get(output.type, (type_name(array.dtype),))
        if not set(FLOATS).isdisjoint(types):
            problem = f"{abbreviate(str(output.element))} is {abbreviate(numbers)}"
            expected = "expected an element of an input, such as data[at], or 0"
            raise ExpressionError(f"{problem}; {expected}")

    def with_open_elements(
        self, call: Call, inputs: Mapping[str, Array], outputs: Sequence[Array]
    ) -> list[Array]:
        """Return golden outputs of a valid call, with alternatives of the elements left open.

        Raises:
            ExpressionError: a formula cannot be evaluated.
        """
        descriptions = self._outputs
        if not any(output.has_candidates for output in descriptions):
            return [*outputs]
        if self._conditions.open_elements(call) is None:
            return [*outputs]
        tensors, scope = self._scope(call, inputs)
        opened = [*outputs]
        for number, (k, i) in enumerate(self._described(call)):
            output = outputs[number]
            if output.size and descriptions[k].has_candidates:
                index = _index_values(tuple(range(extent) for extent in output.shape))
                sources = _sources(descriptions[k], k, {**scope, "i": i, "at": index})
                if not isinstance(sources, ElementwiseValues):
                    opened[number] = _opened(sources, tensors, inputs, output)
        return opened

    def _scope(
        self, call: Call, inputs: Mapping[str, Array]
    ) -> tuple[Mapping[str, IndexedInput], EvaluationScope]:
        """Return the inputs of a call, and the names that formulas use on it."""
        tensors = _indexed_inputs(call, inputs)
        arguments = {
            name: IndexedInputs(item) if isinstance(item, list) else item
            for name, item in group_variadic(tensors).items()
        }
        return tensors, {**self._conditions.names(call), **arguments}

    def _described(self, call: Call) -> list[tuple[int, int]]:
        """Return for each output the position of its description, and its number among these."""
        counts = self._conditions.output_counts(call)
        return [(k, i) for k, count in enumerate(counts) for i in range(count)]


def _indexed_inputs(call: Call, inputs: Mapping[str, Array]) -> dict[str, IndexedInput]:
    """Return the inputs with their elements numbered consecutively, for formulas to name."""
    tensors: dict[str, IndexedInput] = {}
    first = 0
    for name, tensor in call.inputs.items():
        tensors[name] = IndexedInput(**vars(tensor), name=name, first=first, array=inputs[name])
        first += tensor.size
    return tensors


def _most_compared(output: Output, call: Call) -> int:
    """Return how many elements of an output are compared, each with all of its candidates."""
    if not output.has_candidates:
        return MAX_COMPARED
    extents = [extent for tensor in call.inputs.values() for extent in tensor.shape]
    return min(MAX_COMPARED, _MAX_CANDIDATES // max(1, *extents))


def _coordinates(shape: tuple[int, ...], most: int, seed: str) -> _Coordinates:
    """Return all indices of an output; of a large one the first, the last and some at random.

    They are those of `most` elements, and at least of one.
    """
    if prod(shape) <= most:
        return tuple(map(range, shape))
    counts = list(shape)
    while prod(counts) > max(most, 1):
        longest = counts.index(max(counts))
        counts[longest] = -(-counts[longest] // 2)
    random = Random(seed)  # noqa: S311 -- which elements are compared is no secret
    coordinates: list[tuple[int, ...] | range] = []
    for extent, count in zip(shape, counts, strict=True):
        if count == extent:
            coordinates.append(range(extent))
        else:
            inner = random.sample(range(1, extent - 1), max(count - 2, 0))
            coordinates.append(tuple(sorted([extent - 1, 0, *inner][:count])))
    return tuple(coordinates)


@lru_cache(maxsize=1024)
def _index_values(coordinates: _Coordinates) -> tuple[ElementwiseValues, ...]:
    """Return the index along each axis, as arrays that broadcast to all compared elements."""
    grid = np.ix_(*(np.array(indices, np.int64) for indices in coordinates))
    return tuple(ElementwiseValues(indices) for indices in grid)


@cache
def _formula_functions(rank: int) -> EvaluationScope:
    """Return the functions that formulas of an output of `rank` dimensions call."""
    return evaluation_scope({}, {**FORMULA_FUNCTIONS, **candidate_functions(rank)})


# For each element of an output, the number of the input element that it copies, and where that
# applies: with an axis more than the output, for several candidates.
_Sources = list[tuple[Array, Array]]


def _sources(output: Output, k: int, scope: EvaluationScope) -> _Sources | ElementwiseValues:
    """Return the candidates for the input element that each element of output `k` copies.

    A formula may also give a number for each element.

    Raises:
        ExpressionError: the formula gives neither.
    """
    scope.update(_formula_functions(len(scope["at"])))
    for name, text in output.where.items():
        scope[name] = _value(text, scope, ("outputs", k, "where", name))
    place = ("outputs", k, "element")
    formula = str(output.element)
    value = _value(formula, scope, place)
    if isinstance(value, CandidateElements):
        return [*value.candidates]
    sources = source_positions(value)
    if sources is None and isinstance(value, int | ElementwiseValues):
        return value if isinstance(value, ElementwiseValues) else ElementwiseValues(value)
    if sources is None:
        problem = f"{abbreviate(formula)} is {abbreviate(value)}"
        text = f"{problem}; expected an element of an input, such as data[at], or 0"
        raise ExpressionError(text, place)
    return [(np.ones((1,) * (len(scope["at"]) + 1), np.bool_), sources)]


def _value(text: str, scope: EvaluationScope, place: YamlPath) -> Any:
    try:
        return evaluate_in(scope, parse_elementwise(text))
    except (ExpressionError, Inapplicable) as error:
        raise ExpressionError(str(error), place) from None


def _compare(
    candidates: _Sources,
    coordinates: _Coordinates,
    tensors: Mapping[str, IndexedInput],
    inputs: Mapping[str, Array],
    output: Array,
) -> None:
    """Compare the elements of an output at `coordinates` with those of the inputs at the sources.

    Raises:
        ExpressionError: one is not among its candidates, or of another type, or out of bounds.
    """
    bits = output.view(bits_dtype(output.dtype))
    pairs = zip(coordinates, output.shape, strict=True)
    if any(len(indices) < extent for indices, extent in pairs):
        bits = bits[np.ix_(*coordinates)]
    is_right = np.zeros(bits.shape, np.bool_)
    for applies, sources in candidates:
        expected = _source_bits(sources, tensors, inputs, output)
        is_right |= (applies & (expected == bits) & (sources > OUTSIDE_SOURCE)).any(axis=0)
    if is_right.all():
        return
    chosen = np.full(bits.shape, ZERO_SOURCE)
    for applies, numbers in (layer for pair in candidates for layer in _layers(*pair)):
        chosen = np.where(applies, numbers, chosen)
    position = tuple(int(index) for index in np.argwhere(~is_right)[0])
    element = tuple(indices[p] for indices, p in zip(coordinates, position, strict=True))
    source = int(chosen[position])
    if source == OUTSIDE_SOURCE:
        raise ExpressionError(f"the formula gives an element out of bounds at {list(element)}")
    text = f"the formula gives {_source_text(source, tensors, inputs)}, the reference"
    raise ExpressionError(f"at {list(element)} {text} {_element_text(output[element])}")


def _compare_numbers(numbers: ElementwiseValues, coordinates: _Coordinates, output: Array) -> None:
    """Compare the elements of an output at `coordinates` with numbers.

    Raises:
        ExpressionError: one differs.
    """
    # NumPy compares integers of 64 bits with and without a sign as floats.
    wide = object if output.dtype == np.uint64 else np.int64
    actual = output[np.ix_(*coordinates)].astype(wide)
    expected = np.broadcast_to(numbers.array, actual.shape)
    is_wrong = expected != actual
    if not is_wrong.any():
        return
    position = tuple(int(index) for index in np.argwhere(is_wrong)[0])
    element = [indices[p] for indices, p in zip(coordinates, position, strict=True)]
    text = f"the formula gives {int(expected[position])}, the reference {int(actual[position])}"
    raise ExpressionError(f"at {element} {text}")


def _source_bits(
    sources: Array, tensors: Mapping[str, IndexedInput], inputs: Mapping[str, Array], output: Array
) -> Array:
    """Return the bits of the elements of inputs that are numbered by `sources`.

    Raises:
        ExpressionError: they have another type than the output.
    """
    dtype = bits_dtype(output.dtype)
    least, greatest = sources.min(), sources.max()
    # An element that copies no element of an input is a zero.
    expected = np.zeros(sources.shape, dtype)
    for name, tensor in tensors.items():
        if greatest < tensor.first or tensor.first + tensor.size <= least:
            continue
        positions = sources - tensor.first
        array = inputs[name]
        elements = array.view(bits_dtype(array.dtype)).reshape(-1)
        if tensor.first <= least and greatest < tensor.first + tensor.size:
            expected = elements[positions]
        else:
            is_inside = (positions >= 0) & (positions < tensor.size)
            if not is_inside.any():
                continue
            expected[is_inside] = elements[positions[is_inside]]
        if array.dtype != output.dtype:
            types = f"{type_name(array.dtype)}; expected {type_name(output.dtype)}"
            raise ExpressionError(f"the formula gives elements of '{name}' of type {types}")
    return expected


def _opened(
    candidates: _Sources,
    tensors: Mapping[str, IndexedInput],
    inputs: Mapping[str, Array],
    output: Array,
) -> Array:
    """Return an output with alternatives: each element has as many others as it has candidates."""
    golden = bits_of(output)
    alternatives: list[Array] = []
    # How many alternatives of each element are stored already.
    counts = np.zeros(output.shape, np.intp)
    for applies, sources in (layer for pair in candidates for layer in _layers(*pair)):
        bits = _source_bits(sources, tensors, inputs, output)
        differs = applies & (bits != golden)
        for number in range(int(counts[differs].max(initial=-1)) + 1):
            if number == len(alternatives):
                alternatives.append(golden.copy())
            here = differs & (counts == number)
            alternatives[number][here] = np.broadcast_to(bits, output.shape)[here]
        counts += differs
    return with_alternatives(output, [array.view(output.dtype) for array in alternatives])


def _layers(applies: Array, sources: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the candidates along the first axis of two arrays one by one."""
    shape = np.broadcast_shapes(applies.shape, sources.shape)
    layers = np.broadcast_to(applies, shape), np.broadcast_to(sources, shape)
    for layer, numbers in zip(*layers, strict=True):
        if layer.any():
            yield layer, numbers


def _source_text(
    source: int, tensors: Mapping[str, IndexedInput], inputs: Mapping[str, Array]
) -> str:
    if source == ZERO_SOURCE:
        return "0"
    tensor = next(t for t in tensors.values() if 0 <= source - t.first < t.size)
    index = tuple(int(i) for i in np.unravel_index(source - tensor.first, tensor.shape))
    return f"{tensor.name}{list(index)} = {_element_text(inputs[tensor.name][index])}"


def _element_text(element: Any) -> str:
    """Return an element with its bits, in which two NaNs or two zeros can differ."""
    return f"{element} (0x{element.tobytes()[::-1].hex()})"
