"""Case -> vector: a case with its arrays, and golden outputs that are checked against the spec."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.element_bytes import same_bytes
from opcert.arrays.element_types import Array, invert_bits, type_name
from opcert.arrays.open_elements import alternatives_of
from opcert.arrays.patterns import materialize, with_special_values
from opcert.cases.case import Case
from opcert.cases.conditions import Conditions
from opcert.cases.formulas import ElementFormulas
from opcert.errors import ExpressionError, OpcertError, SpecError
from opcert.specification.documented import DocumentedTensor
from opcert.specification.files import SpecFile
from opcert.specification.references import RejectedError, golden_outputs


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
    maker = _VectorMaker(spec_file)
    last_use = {case.baseline: i for i, case in enumerate(cases)}
    baselines: dict[str, Vector] = {}
    # Further mistakes at the same place add nothing.
    errors: dict[tuple[int, int], SpecError] = {}
    for i, case in enumerate(cases):
        try:
            vector = maker.vector(case, baselines.get(case.baseline or ""))
        except SpecError as error:
            mistake = error.mistakes[0]
            errors.setdefault((mistake.line, mistake.column), error)
        else:
            if last_use.get(case.id, 0) > i:
                baselines[case.id] = vector
            yield vector
            # Its arrays may be large.
            del vector
        if case.baseline is not None and last_use[case.baseline] == i:
            baselines.pop(case.baseline, None)
    if errors:
        raise SpecError([mistake for error in errors.values() for mistake in error.mistakes])


class _VectorMaker:
    """Makes the arrays of cases, and checks the reference against all that the spec states."""

    def __init__(self, spec_file: SpecFile) -> None:
        self._file = spec_file
        self._conditions = Conditions(spec_file.spec)
        self._formulas = ElementFormulas(spec_file)

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
            plain, inputs = inputs, add_special_values(case.call, inputs, outputs)
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
            outputs = self._opened(case, inputs, outputs)
            alternate = alternate and self._opened(case, alternate_inputs, alternate)
        is_open = any(map(alternatives_of, outputs))
        ambiguity = self._conditions.open_elements(case.call) if is_open else None
        return Vector(case, inputs, outputs, alternate, ambiguity)

    def _opened(
        self, case: Case, inputs: Mapping[str, Array], outputs: Sequence[Array]
    ) -> list[Array]:
        try:
            return self._formulas.with_open_elements(case.call, inputs, outputs)
        except ExpressionError as error:
            mistake = self._file.mistake(error.place or case.place, f"{error}, for {case.id}")
            raise SpecError([mistake]) from None

    def _outputs(self, case: Case, inputs: Mapping[str, Array]) -> list[Array]:
        try:
            return golden_outputs(self._file.reference, inputs, case.call.attributes)
        except OpcertError as error:
            raise self._error(case, str(error)) from None

    def _check_rejection(self, case: Case, inputs: Mapping[str, Array]) -> None:
        try:
            golden_outputs(self._file.reference, inputs, case.call.attributes)
        except RejectedError as error:
            if error.rule != case.violated_rule:
                raised = f"names {error.rule}" if error.rule else f"raises {error.raised}"
                text = f"the reference {raised}; expected RuleBroken('{case.violated_rule}', …)"
                raise self._error(case, text) from None
        except OpcertError as error:
            raise self._error(case, str(error)) from None
        else:
            text = f"the reference accepts a call that violates {case.violated_rule}"
            raise self._error(case, text)

    def _check_outputs(self, case: Case, outputs: Sequence[Array]) -> None:
        """Check golden outputs against declared shapes, behaviours, and the example, if any."""
        actual = [Tensor(type_name(output.dtype), output.shape) for output in outputs]
        try:
            declared = self._conditions.outputs(case.call)
            contradicted = self._conditions.contradicted(case.call, case.rules, actual)
        except ExpressionError as error:
            mistake = self._file.mistake(error.place or case.place, f"{error}, for {case.id}")
            raise SpecError([mistake]) from None
        if actual != declared:
            text = f"the reference returns {_shapes(actual)}; the spec declares {_shapes(declared)}"
            raise self._error(case, text)
        if contradicted:
            text = f"the outputs of the reference contradict {', '.join(contradicted)}"
            raise self._error(case, text)
        if case.example is not None:
            self._check_example(case, case.example.outputs, outputs)

    def _check_example(
        self, case: Case, documented: Sequence[DocumentedTensor], outputs: Sequence[Array]
    ) -> None:
        expected = [Tensor(tensor.type, tensor.shape) for tensor in documented]
        actual = [Tensor(type_name(output.dtype), output.shape) for output in outputs]
        if expected != actual:
            text = f"the example gives {_shapes(expected)}, the reference {_shapes(actual)}"
            raise self._error(case, text)
        for i, (tensor, output) in enumerate(zip(documented, outputs, strict=True)):
            if tensor.values is None:
                continue
            array = materialize(Tensor(tensor.type, tensor.shape, tensor.values))
            if array.tobytes() != output.tobytes():
                text = f"output {i} of the example is {array.tolist()}, of the reference"
                raise self._error(case, f"{text} {output.tolist()}")

    def _error(self, case: Case, text: str) -> SpecError:
        return SpecError([self._file.mistake(case.place, f"{case.id}: {text}")])


def _input_array(name: str, tensor: Tensor, baseline: Vector | None) -> Array:
    """Return the elements of an input, which may be the baseline's or depend on them."""
    if baseline is not None and tensor.second_half_inverted:
        array = baseline.inputs[name].copy()
        second_half = array.reshape(-1)[array.size // 2 :]
        second_half[...] = invert_bits(second_half)
        return array
    if baseline is not None and baseline.case.call.inputs.get(name) == tensor:
        return baseline.inputs[name]
    return materialize(tensor)


def add_special_values(
    call: Call, inputs: Mapping[str, Array], outputs: Sequence[Array]
) -> dict[str, Array]:
    """Return the inputs of a call with special values in the data that reaches its outputs."""
    return {
        name: array
        if call.inputs[name].values is not None
        else with_special_values(array, call.inputs[name], outputs)
        for name, array in inputs.items()
    }


def _shapes(tensors: Sequence[Tensor]) -> str:
    return ", ".join(f"{tensor.type}{list(tensor.shape)}" for tensor in tensors) or "no outputs"
