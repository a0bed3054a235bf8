"""The element formulas of a spec: a second oracle for golden outputs.

A formula gives, for each element of an output, the element of an input that it copies. It is
evaluated on indices alone, by code that shares nothing with the reference: a mistake would have to
be made twice.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from random import Random
from typing import Any

import numpy as np

from opcert.arrays import Array, Tensor, bits_dtype, group_variadic, type_name
from opcert.cases.case import Case
from opcert.cases.conditions import Conditions
from opcert.errors import ExpressionError, Inapplicable, SpecError
from opcert.specification import (
    FORMULA_FUNCTIONS,
    OUTSIDE_SOURCE,
    ZERO_SOURCE,
    ElementwiseValues,
    EvaluationScope,
    IndexedInput,
    IndexedInputs,
    Output,
    SpecFile,
    abbreviate,
    evaluate_in,
    evaluation_scope,
    parse_elementwise,
    source_positions,
)
from opcert.yaml_files import YamlPath

# How many elements of an output are compared; of a larger one, some indices of each axis.
MAX_COMPARED = 4096

# Inputs by name, and the outputs that the reference gives for them.
_InputsAndOutputs = tuple[Mapping[str, Array], Sequence[Array]]
# The indices that are compared, for each axis.
_Coordinates = tuple[tuple[int, ...] | range, ...]


class ElementFormulas:
    """The element formulas of one spec, compared with golden outputs."""

    def __init__(self, spec_file: SpecFile) -> None:
        self._file = spec_file
        self._conditions = Conditions(spec_file.spec)
        self._functions = evaluation_scope({}, FORMULA_FUNCTIONS)

    def check(self, case: Case, *runs: _InputsAndOutputs) -> None:
        """Compare the outputs of `runs` of a case bit by bit with the elements of its formulas.

        Raises:
            SpecError: an element differs, or a formula gives none.
        """
        descriptions = self._file.spec.outputs
        if not any(output.element for output in descriptions):
            return
        # The elements of all inputs are numbered consecutively; a formula gives such numbers.
        tensors: dict[str, IndexedInput] = {}
        first = 0
        for name, tensor in case.call.inputs.items():
            tensors[name] = _indexed(name, tensor, first)
            first += tensor.size
        arguments = {
            name: IndexedInputs(item) if isinstance(item, list) else item
            for name, item in group_variadic(tensors).items()
        }
        scope = {**self._functions, **self._conditions.names(case.call), **arguments}
        # For each output, the position of its description, and its number among the outputs that
        # this describes.
        counts = self._conditions.output_counts(case.call)
        described = [(k, i) for k, count in enumerate(counts) for i in range(count)]
        for number, (k, i) in enumerate(described):
            shape = runs[0][1][number].shape
            if descriptions[k].element is None or 0 in shape:
                continue
            coordinates = _coordinates(shape, f"{case.id}|{number}")
            try:
                index = _index_values(coordinates)
                sources = _sources(descriptions[k], k, {**scope, "i": i, "at": index})
                for inputs, outputs in runs:
                    _compare(sources, coordinates, tensors, inputs, outputs[number])
            except ExpressionError as error:
                place = error.place or ("outputs", k, "element")
                text = f"{case.id}, output {number}: {error}"
                raise SpecError([self._file.mistake(place, text)]) from None


def _indexed(name: str, tensor: Tensor, first: int) -> IndexedInput:
    return IndexedInput(
        tensor.type,
        tensor.shape,
        tensor.values,
        tensor.pattern,
        tensor.requested_layout,
        tensor.second_half_inverted,
        tensor.uniform,
        name,
        first,
    )


def _coordinates(shape: tuple[int, ...], seed: str) -> _Coordinates:
    """Return all indices of an output; of a large one the first, the last and some at random."""
    if prod(shape) <= MAX_COMPARED:
        return tuple(map(range, shape))
    counts = list(shape)
    while prod(counts) > MAX_COMPARED:
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


def _sources(output: Output, k: int, scope: EvaluationScope) -> Array:
    """Return the number of the input element that each element of output `k` copies.

    Raises:
        ExpressionError: the formula gives no element.
    """
    for name, text in output.where.items():
        scope[name] = _value(text, scope, ("outputs", k, "where", name))
    place = ("outputs", k, "element")
    formula = str(output.element)
    value = _value(formula, scope, place)
    sources = source_positions(value)
    if sources is None:
        problem = f"{abbreviate(formula)} is {abbreviate(value)}"
        text = f"{problem}; expected an element of an input, such as data[at], or 0"
        raise ExpressionError(text, place)
    return sources


def _value(text: str, scope: EvaluationScope, place: YamlPath) -> Any:
    try:
        return evaluate_in(scope, parse_elementwise(text))
    except (ExpressionError, Inapplicable) as error:
        raise ExpressionError(str(error), place) from None


def _compare(
    sources: Array,
    coordinates: _Coordinates,
    tensors: Mapping[str, IndexedInput],
    inputs: Mapping[str, Array],
    output: Array,
) -> None:
    """Compare the elements of an output at `coordinates` with those of the inputs at `sources`.

    Raises:
        ExpressionError: one differs, or is of another type, or out of bounds.
    """
    bits = output.view(bits_dtype(output.dtype))
    pairs = zip(coordinates, output.shape, strict=True)
    if any(len(indices) < extent for indices, extent in pairs):
        bits = bits[np.ix_(*coordinates)]
    least, greatest = sources.min(), sources.max()
    # An element that copies no element of an input is a zero.
    expected = np.zeros(sources.shape, bits.dtype)
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
    if least > OUTSIDE_SOURCE and np.array_equal(np.broadcast_to(expected, bits.shape), bits):
        return
    differs = (expected != bits) | (sources == OUTSIDE_SOURCE)
    position = tuple(int(index) for index in np.argwhere(differs)[0])
    element = tuple(indices[p] for indices, p in zip(coordinates, position, strict=True))
    source = int(np.broadcast_to(sources, bits.shape)[position])
    if source == OUTSIDE_SOURCE:
        raise ExpressionError(f"the formula gives an element out of bounds at {list(element)}")
    text = f"the formula gives {_source_text(source, tensors, inputs)}, the reference"
    raise ExpressionError(f"at {list(element)} {text} {_element_text(output[element])}")


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
