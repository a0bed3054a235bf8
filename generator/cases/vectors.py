"""Case -> vector: a case with its arrays, the golden outputs made and proved by the reference."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opcert.arrays import (
    Array,
    Call,
    Tensor,
    invert_bits,
    materialize,
    type_name,
    with_special_values,
)
from opcert.cases.case import Case
from opcert.cases.conditions import Conditions
from opcert.cases.formulas import Formulas
from opcert.errors import ExpressionError, OpcertError, SpecError
from opcert.specification import DocumentedTensor, RejectedError, SpecFile, golden_outputs


@dataclass(frozen=True)
class Vector:
    """A case with its arrays: inputs by name, and golden outputs unless it must be rejected.

    `other` are the golden outputs for inverted data, where they are not just inverted too. A case
    that is one change away from another shares the unchanged arrays with it.
    """

    case: Case
    inputs: Mapping[str, Array]
    outputs: Sequence[Array]
    other: Sequence[Array] = ()


def make_vectors(spec_file: SpecFile, cases: Sequence[Case]) -> list[Vector]:
    """Make the vector of each case, baselines before those that lean on them.

    Raises:
        SpecError: with each case for which the reference contradicts the spec.
    """
    return list(iterate_vectors(spec_file, cases))


def iterate_vectors(spec_file: SpecFile, cases: Sequence[Case]) -> Iterator[Vector]:
    """Make the vector of each case as `vectors_of` does, and hold the baselines alone meanwhile.

    Raises:
        SpecError: behind the last one, with each case for which the reference contradicts the spec.
    """
    prover = _Prover(spec_file)
    # The last case that leans on each baseline.
    last = {case.baseline: i for i, case in enumerate(cases)}
    baselines: dict[str, Vector] = {}
    # One a place: another case shows a mistake no better.
    mistakes: dict[tuple[int, int], SpecError] = {}
    for i, case in enumerate(cases):
        try:
            vector = prover.vector(case, baselines.get(case.baseline or ""))
        except SpecError as error:
            first = error.mistakes[0]
            mistakes.setdefault((first.line, first.column), error)
        else:
            if last.get(case.id, 0) > i:
                baselines[case.id] = vector
            yield vector
            del vector
        if case.baseline is not None and last[case.baseline] == i:
            baselines.pop(case.baseline, None)
    if mistakes:
        raise SpecError([each for error in mistakes.values() for each in error.mistakes])


class _Prover:
    """Makes arrays and goldens for one spec, and holds the reference against what the spec says."""

    def __init__(self, spec_file: SpecFile) -> None:
        self.file = spec_file
        self.conditions = Conditions(spec_file.spec)
        self.formulas = Formulas(spec_file)

    def vector(self, case: Case, baseline: Vector | None) -> Vector:
        inputs = {name: _array(name, tensor, baseline) for name, tensor in case.call.inputs.items()}
        if case.violated_rule is not None:
            self._prove_rejection(case, inputs)
            return Vector(case, inputs, [])
        outputs = self._outputs(case, inputs)
        if baseline is None:
            inputs = specials_added(case.call, inputs, outputs)
            outputs = self._outputs(case, inputs)
        self._prove_outputs(case, outputs)
        free = [name for name, tensor in case.call.inputs.items() if tensor.values is None]
        inverse = {**inputs, **{name: invert_bits(inputs[name]) for name in free}}
        other = self._other(case, inverse, outputs) if free else ()
        # What an open question decides, the document's formula need not say.
        if case.ambiguity is None:
            self.formulas.prove(case, (inputs, outputs), *([(inverse, other)] if other else []))
        return Vector(case, inputs, outputs, other)

    def _other(
        self, case: Case, inverse: Mapping[str, Array], outputs: Sequence[Array]
    ) -> Sequence[Array]:
        """Return the outputs for inverted data, or nothing where they are the inverted outputs."""
        other = self._outputs(case, inverse)
        pairs = zip(other, outputs, strict=True)
        same = all(a.tobytes() == invert_bits(b).tobytes() for a, b in pairs)
        return () if same else other

    def _outputs(self, case: Case, inputs: Mapping[str, Array]) -> list[Array]:
        try:
            return golden_outputs(self.file.reference, inputs, case.call.attributes)
        except OpcertError as error:
            raise self._error(case, str(error)) from None

    def _prove_rejection(self, case: Case, inputs: Mapping[str, Array]) -> None:
        try:
            golden_outputs(self.file.reference, inputs, case.call.attributes)
        except RejectedError as error:
            if error.rule != case.violated_rule:
                found = f"names {error.rule}" if error.rule else f"raises {error.raised}"
                text = f"the reference {found}; expected RuleBroken('{case.violated_rule}', …)"
                raise self._error(case, text) from None
        except OpcertError as error:
            raise self._error(case, str(error)) from None
        else:
            raise self._error(
                case, f"the reference accepts a call that breaks {case.violated_rule}"
            )

    def _prove_outputs(self, case: Case, outputs: Sequence[Array]) -> None:
        found = [Tensor(type_name(each.dtype), each.shape) for each in outputs]
        try:
            declared = self.conditions.outputs(case.call)
            contradicted = self.conditions.contradicted(case.call, case.rules, found)
        except ExpressionError as error:
            mistake = self.file.mistake(error.place or case.place, f"{error}, for {case.id}")
            raise SpecError([mistake]) from None
        if found != declared:
            text = f"the reference gives {_shapes(found)}, the outputs are declared as"
            raise self._error(case, f"{text} {_shapes(declared)}")
        if contradicted:
            text = f"the outputs of the reference contradict {', '.join(contradicted)}"
            raise self._error(case, text)
        if case.example is not None:
            self._prove_example(case, case.example.outputs, outputs)

    def _prove_example(
        self, case: Case, documented: Sequence[DocumentedTensor], outputs: Sequence[Array]
    ) -> None:
        wanted = [Tensor(each.type, each.shape) for each in documented]
        found = [Tensor(type_name(each.dtype), each.shape) for each in outputs]
        if wanted != found:
            text = f"the example gives {_shapes(wanted)}, the reference {_shapes(found)}"
            raise self._error(case, text)
        for i, (each, output) in enumerate(zip(documented, outputs, strict=True)):
            if each.values is None:
                continue
            stated = materialize(Tensor(each.type, each.shape, each.values))
            if stated.tobytes() != output.tobytes():
                text = f"output {i} of the example is {stated.tolist()}, of the reference"
                raise self._error(case, f"{text} {output.tolist()}")

    def _error(self, case: Case, text: str) -> SpecError:
        return SpecError([self.file.mistake(case.place, f"{case.id}: {text}")])


def _array(name: str, tensor: Tensor, baseline: Vector | None) -> Array:
    """Return the elements of an input, which may be those of the baseline's or lean on them."""
    if baseline is not None and tensor.second_half_inverted:
        turned = baseline.inputs[name].copy()
        behind = turned.reshape(-1)[turned.size // 2 :]
        behind[...] = invert_bits(behind)
        return turned
    shared = baseline is not None and baseline.case.call.inputs.get(name) is tensor
    return baseline.inputs[name] if baseline is not None and shared else materialize(tensor)


def specials_added(
    call: Call, inputs: Mapping[str, Array], outputs: Sequence[Array]
) -> dict[str, Array]:
    """Return the inputs of a call, special values among the data that reaches its outputs."""
    return {
        name: array
        if call.inputs[name].values is not None
        else with_special_values(array, call.inputs[name], outputs)
        for name, array in inputs.items()
    }


def _shapes(tensors: Sequence[Tensor]) -> str:
    return ", ".join(f"{each.type}{list(each.shape)}" for each in tensors) or "no outputs"
