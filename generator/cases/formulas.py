"""The formulas of a spec: golden outputs held against the element of an input that each one is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from random import Random
from typing import Any

import numpy as np

from opcert.arrays import Array, Tensor, bits_dtype, type_name
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
    Output,
    SpecFile,
    abbreviate,
    evaluate_in,
    evaluation_scope,
    parse_elementwise,
    source_positions,
)
from opcert.yaml_files import YamlPath

# How many elements of an output are compared at most; of a larger one, indices are drawn.
MOST_COMPARED = 4096

Made = tuple[Mapping[str, Array], Sequence[Array]]


@dataclass(frozen=True)
class Formulas:
    """The formulas of one spec, held against what the reference makes of valid calls."""

    file: SpecFile

    @cached_property
    def _conditions(self) -> Conditions:
        return Conditions(self.file.spec)

    @cached_property
    def _functions(self) -> EvaluationScope:
        return evaluation_scope({}, FORMULA_FUNCTIONS)

    def prove(self, case: Case, *made: Made) -> None:
        """Compare outputs with the elements that the formulas name, bit by bit.

        `made` are inputs of the case's call, with the outputs of the reference for them.

        Raises:
            SpecError: an element is another, or a formula names none.
        """
        if not any(output.element for output in self.file.spec.outputs):
            return
        names = self._conditions.names(case.call)
        tensors: dict[str, IndexedInput] = {}
        first = 0
        for name, tensor in case.call.inputs.items():
            tensors[name] = _indexed(name, tensor, first)
            first += tensor.size
        scope = {**self._functions, **names, **tensors}
        for number, (k, i) in enumerate(self._numbered(case)):
            output = self.file.spec.outputs[k]
            shape = made[0][1][number].shape
            if output.element is None or 0 in shape:
                continue
            coordinates = _coordinates(shape, f"{case.id}|{number}")
            try:
                places = _places(output, k, {**scope, "i": i, "at": _numbers(coordinates)})
                for inputs, outputs in made:
                    _compare(places, coordinates, tensors, inputs, outputs[number])
            except ExpressionError as error:
                text = f"{case.id}, output {number}: {error}"
                place = error.place or ("outputs", k, "element")
                raise SpecError([self.file.mistake(place, text)]) from None

    def _numbered(self, case: Case) -> Iterator[tuple[int, int]]:
        """Yield for each output which description it has, and its number among those that do."""
        for k, count in enumerate(self._conditions.output_counts(case.call)):
            yield from ((k, i) for i in range(count))


def _indexed(name: str, tensor: Tensor, first: int) -> IndexedInput:
    kept = tensor.type, tensor.shape, tensor.values, tensor.pattern, tensor.requested_layout
    return IndexedInput(*kept, tensor.second_half_inverted, tensor.uniform, name, first)


# Per axis, the indices that are compared.
Coordinates = tuple[tuple[int, ...] | range, ...]


def _coordinates(shape: tuple[int, ...], seed: str) -> Coordinates:
    """Return all indices, or the first, the last and drawn ones of an output that has too many."""
    counts = list(shape)
    while prod(counts) > MOST_COMPARED:
        longest = counts.index(max(counts))
        counts[longest] = -(-counts[longest] // 2)
    random = Random(seed)  # noqa: S311 -- which ones are compared is no secret
    coordinates: list[tuple[int, ...] | range] = []
    for extent, count in zip(shape, counts, strict=True):
        if count == extent:
            coordinates.append(range(extent))
        else:
            between = random.sample(range(1, extent - 1), max(count - 2, 0))
            coordinates.append(tuple(sorted([extent - 1, 0, *between][:count])))
    return tuple(coordinates)


@lru_cache(maxsize=1024)
def _numbers(coordinates: Coordinates) -> tuple[ElementwiseValues, ...]:
    """Return the index along each axis: one number for each coordinate, for all of the others."""
    return tuple(
        map(ElementwiseValues, np.ix_(*(np.array(each, np.int64) for each in coordinates)))
    )


def _places(output: Output, k: int, scope: EvaluationScope) -> Array:
    """Return which element of the inputs each element of an output is.

    Raises:
        ExpressionError: the formula does not say so.
    """
    for name, text in output.where.items():
        scope[name] = _value(text, scope, ("outputs", k, "where", name))
    place = ("outputs", k, "element")
    value = _value(str(output.element), scope, place)
    places = source_positions(value)
    if places is None:
        text = f"{abbreviate(str(output.element))} is {abbreviate(value)}; expected an element of an input"
        raise ExpressionError(f"{text}, such as data[at], or 0", place)
    return places


def _value(text: str, scope: EvaluationScope, place: YamlPath) -> Any:
    try:
        return evaluate_in(scope, parse_elementwise(text))
    except (ExpressionError, Inapplicable) as error:
        raise ExpressionError(str(error), place) from None


def _compare(
    places: Array,
    coordinates: Coordinates,
    tensors: Mapping[str, IndexedInput],
    inputs: Mapping[str, Array],
    output: Array,
) -> None:
    """Compare the elements of an output at `coordinates` with those of the inputs at `places`.

    Raises:
        ExpressionError: one is another, of another type or out of bounds.
    """
    bits = output.view(bits_dtype(output.dtype))
    if any(len(each) < extent for each, extent in zip(coordinates, output.shape, strict=True)):
        bits = bits[np.ix_(*coordinates)]
    least, most = places.min(), places.max()
    stated = np.zeros(places.shape, bits.dtype)
    for name, tensor in tensors.items():
        if most < tensor.first or tensor.first + tensor.size <= least:
            continue
        numbers = places - tensor.first
        array = inputs[name]
        elements = array.view(bits_dtype(array.dtype)).reshape(-1)
        if tensor.first <= least and most < tensor.first + tensor.size:
            stated = elements[numbers]
        else:
            within = (numbers >= 0) & (numbers < tensor.size)
            if not within.any():
                continue
            stated[within] = elements[numbers[within]]
        if array.dtype != output.dtype:
            types = f"{type_name(array.dtype)}; expected {type_name(output.dtype)}"
            raise ExpressionError(f"the formula gives elements of '{name}', of {types}")
    if least > OUTSIDE_SOURCE and np.array_equal(np.broadcast_to(stated, bits.shape), bits):
        return
    wrong = (stated != bits) | (places == OUTSIDE_SOURCE)
    position = tuple(int(each) for each in np.argwhere(wrong)[0])
    index = tuple(each[p] for each, p in zip(coordinates, position, strict=True))
    place = int(np.broadcast_to(places, bits.shape)[position])
    if place == OUTSIDE_SOURCE:
        raise ExpressionError(f"the formula gives an element out of bounds at {list(index)}")
    source = _source(place, tensors, inputs)
    text = f"the formula gives {source}, the reference {_shown(output[index])}"
    raise ExpressionError(f"at {list(index)} {text}")


def _source(place: int, tensors: Mapping[str, IndexedInput], inputs: Mapping[str, Array]) -> str:
    """Say which element of which input has a place."""
    if place == ZERO_SOURCE:
        return "0"
    tensor = next(each for each in tensors.values() if 0 <= place - each.first < each.size)
    index = tuple(int(each) for each in np.unravel_index(place - tensor.first, tensor.shape))
    return f"{tensor.name}{list(index)} = {_shown(inputs[tensor.name][index])}"


def _shown(element: Any) -> str:
    """Return an element with its bits, by which two NaNs or zeros can be told apart."""
    return f"{element} (0x{element.tobytes()[::-1].hex()})"
