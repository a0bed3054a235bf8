"""Spec -> positive cases: calls of the document, and calls that cover the input space visibly.

Combinatorial testing calls the opposite masking: levels that are combined only in calls without
data, for instance, are not tested together.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

from opcert.arrays.calls import Call, Tensor, flatten_variadic
from opcert.arrays.element_types import Array, bits_of, invert_bits
from opcert.arrays.patterns import materialize_numbered
from opcert.arrays.tensor_functions import MAX_ELEMENTS
from opcert.cases.conditions import Conditions
from opcert.cases.drawn import drawn_calls
from opcert.cases.input_space import Case, InputSpace, MistakeLog, Observer, short_digest
from opcert.combinatorics.tables import Row
from opcert.errors import ExpressionError, Inapplicable, OpcertError
from opcert.specification.expressions import DocumentedTensor, evaluate
from opcert.specification.files import Reference, SpecFile, golden_outputs
from opcert.yaml_files import YamlPath

# Larger calls are assumed to discriminate: measuring takes long.
_MAX_MEASURED_ELEMENTS = 1 << 20


def discriminates(
    data: Iterable[Array], outputs: Sequence[Array], inverted_data_outputs: Sequence[Array]
) -> bool:
    """Whether outputs depend on data, and the data has two elements that differ.

    `inverted_data_outputs` are the outputs where every bit of the data is inverted. If all elements
    are equal, one that is moved to a wrong place goes unnoticed.
    """
    return any(map(_has_different_elements, data)) and any(
        bool((bits_of(output) != bits_of(alternate)).any())
        for output, alternate in zip(outputs, inverted_data_outputs, strict=True)
    )


def can_discriminate(reference: Reference, call: Call) -> bool:
    """Whether a valid call discriminates, whatever data will fill its patterns."""
    data = {name: tensor for name, tensor in call.inputs.items() if tensor.values is None}
    if not any(tensor.size > 1 and tensor.uniform == "no" for tensor in data.values()):
        return False
    if sum(tensor.size for tensor in call.inputs.values()) > _MAX_MEASURED_ELEMENTS:
        return True
    inputs = {name: materialize_numbered(tensor) for name, tensor in call.inputs.items()}
    inverted = {name: invert_bits(inputs[name]) for name in data}
    try:
        outputs = golden_outputs(reference, inputs, call.attributes)
        if not any(output.size for output in outputs):
            return False
        alternate = golden_outputs(reference, {**inputs, **inverted}, call.attributes)
    except OpcertError:
        # A reference that fails is reported where its golden outputs are checked.
        return False
    return discriminates([inputs[name] for name in data], outputs, alternate)


def _has_different_elements(array: Array) -> bool:
    bits = bits_of(array).reshape(-1)
    return bool((bits[1:] != bits[:1]).any())


# How many calls are built for a row until one exhibits all of its levels.
MAX_DRAWS = 256
# How many such calls may fail to discriminate until the row is replaced by another.
_MAX_MEASURED = 4


class PositiveCases:
    """Builds the positive cases of one spec; mistakes that come up are recorded in `mistakes`."""

    def __init__(self, file: SpecFile, profile: str, seed: int, mistakes: MistakeLog) -> None:
        self._spec = spec = file.spec
        self._reference = file.reference
        self._profile = profile
        self._seed = seed
        self._mistakes = mistakes
        self._observer = Observer(spec, profile)
        self._conditions = Conditions(spec)
        self._discriminating: dict[Row, Call] = {}

    def examples(self) -> Iterator[Case]:
        """Yield the documented calls."""
        for i, example in enumerate(self._spec.examples):
            with self._mistakes.collect(("examples", i)):
                documented = flatten_variadic(example.inputs)
                inputs = {key: _tensor(tensor) for key, tensor in documented.items()}
                call = Call(inputs, example.attributes)
                yield self._case(example.id, call, ("examples", i), example=example)

    def covering(self, t: int) -> Iterator[Case]:
        """Yield a case for each row of a covering array of strength t."""
        with self._mistakes.collect(("cases",)):
            space = InputSpace(self._spec, self._profile)
            for row in space.rows(t, lambda row: self.discriminates(space, row)):
                levels = space.level_names(row)
                pairs = ", ".join(f"{factor}={level}" for factor, level in levels.items())
                with self._mistakes.collect(("cases",), f", built for {pairs}"):
                    call = self._discriminating.get(row)
                    if call is None:
                        # The row is final: whether the call discriminates changes nothing.
                        call = next(self._exhibiting_calls(space, row))
                    yield self._case(_case_name(levels), call, ("cases",), levels=levels)

    def drawn(self, number: int) -> Iterator[Case]:
        """Yield a case for each of `number` drawn calls; a longer suite begins with a shorter."""
        with self._mistakes.collect(("cases",)):
            for draw, call, _ in islice(drawn_calls(self._spec, self._seed), number):
                yield self._case(f"drawn-{draw:06}", call, ("cases",))

    def discriminates(self, space: InputSpace, row: Row) -> bool:
        """Whether a call of `row` discriminates; that call is kept for its case."""
        try:
            for call in islice(self._exhibiting_calls(space, row), _MAX_MEASURED):
                if can_discriminate(self._reference, call):
                    self._discriminating[row] = call
                    return True
        except (ExpressionError, Inapplicable):
            # The mistake is recorded where the case is made.
            return True
        return False

    def _exhibiting_calls(self, space: InputSpace, row: Row) -> Iterator[Call]:
        """Yield calls that exhibit each level of `row`; there is at least one.

        The values that the row does not determine are drawn. A call in which they happen to exhibit
        another level is drawn again.

        Raises:
            ExpressionError: no call exhibits all levels.
        """
        levels = space.level_names(row)
        seed = f"{self._seed}|{self._spec.full_id(_case_name(levels))}"
        is_exhibited = False
        for attempt in range(MAX_DRAWS):
            call = space.call(row, f"{seed}|{attempt}" if attempt else seed)
            unobserved = self._observer.unobserved(call, levels)
            if not unobserved:
                is_exhibited = True
                self._limit_outputs(call)
                yield call
        if not is_exhibited:
            missing = ", ".join(f"{factor}={levels[factor]}" for factor in unobserved)
            raise ExpressionError(f"{call} does not exhibit {missing}")

    def _limit_outputs(self, call: Call) -> None:
        """Refuse a call whose declared outputs would fill the memory.

        Raises:
            ExpressionError: they have too many elements.
        """
        is_small = True
        # A shape that cannot be computed is reported where the outputs are compared with it.
        with suppress(ExpressionError, Inapplicable):
            is_small = self._conditions.has_small_outputs(call, MAX_ELEMENTS)
        if not is_small:
            text = f"the outputs of {call} have too many elements; expected at most"
            raise ExpressionError(f"{text} {MAX_ELEMENTS:,}", ("cases",))

    def _case(self, name: str, call: Call, place: YamlPath, **fields: Any) -> Case:
        """Return the case of a valid call, with data patterns of its own."""
        identity = self._spec.full_id(name)
        call = call.patterned(f"{self._seed}|{identity}")
        check = self._conditions.check(call)
        if check.violated:
            violated = ", ".join(check.violated)
            text = f"{identity} is meant to be a valid call, but violates {violated}: {call}"
            raise ExpressionError(text)
        return Case(
            identity,
            call,
            place,
            self._spec.full_ids(*check.satisfied, *self._conditions.behaviours(call)),
            ambiguity=self._conditions.ambiguity(call),
            feature_levels=self._feature_levels(call),
            **fields,
        )

    def _feature_levels(self, call: Call) -> tuple[str, ...]:
        """Return the feature levels whose table has the first input's rank and type."""
        first = call.inputs[self._spec.leading_key]
        return tuple(
            level.name
            for level in self._spec.feature_levels
            if level.ranks[0] <= first.rank <= level.ranks[1] and first.type in level.types
        )


def _case_name(levels: Mapping[str, str]) -> str:
    """Return a name that depends on the levels alone, so that a new row renames no case."""
    pairs = sorted(f"{factor}={level}" for factor, level in levels.items())
    return "-".join(["valid", *[*levels.values()][:2], short_digest(" ".join(pairs))])


def _tensor(documented: DocumentedTensor) -> Tensor:
    tensor = Tensor(documented.type, documented.shape, documented.values)
    if documented.element is None:
        return tensor
    values = (evaluate(documented.element, {"i": i}) for i in range(tensor.size))
    return replace(tensor, values=tuple(values))
