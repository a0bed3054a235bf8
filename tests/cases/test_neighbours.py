"""Neighbours: valid calls that differ from another in one respect."""

from opcert.arrays.patterns import materialize
from opcert.cases.case import Case
from opcert.cases.conditions import Conditions
from opcert.settings import PROFILES
from opcert.specification.files import golden_outputs
from tests.shipped import cases, each_spec_at_length, spec

# Edits, which no choice gives.
EDITS = {"other-half-of-data", "other-signedness"}


def neighbours(name: str) -> dict[str, list[tuple[Case, Case]]]:
    """Return the neighbours of an operator's core suite, each after its baseline, by respect."""
    by_id = {case.id: case for case in cases(name)}
    found: dict[str, list[tuple[Case, Case]]] = {}
    for case in by_id.values():
        if case.baseline and case.change and not (case.violated_rule or case.ambiguity):
            found.setdefault(case.change.kind, []).append((by_id[case.baseline], case))
    return found


@each_spec_at_length
def test_each_respect_is_an_edit_an_argument_or_a_choice(name: str) -> None:
    choices = {level for case in cases(name) if case.choices for level in case.choices.levels}
    arguments = {argument.name for argument in spec(name).spec.arguments}
    respects = {f"other-{respect.replace(' ', '-')}" for respect in choices | arguments} | EDITS
    found = neighbours(name)
    assert found.keys() <= respects
    # Some choices have one option only.
    assert len(found) > len(respects) / 2
    assert {len(pairs) for pairs in found.values()} == {PROFILES["smoke"].neighbours}


@each_spec_at_length
def test_a_neighbour_is_another_valid_call_that_the_document_decides(name: str) -> None:
    conditions = Conditions(spec(name).spec)
    for pairs in neighbours(name).values():
        for baseline, neighbour in pairs:
            call = neighbour.call
            assert call != baseline.call
            assert not conditions.check(call).violated
            assert not conditions.ambiguity(call)
            assert not conditions.open_elements(call)


@each_spec_at_length
def test_an_edit_keeps_the_signature_or_the_bytes(name: str) -> None:
    found = neighbours(name)
    for baseline, neighbour in found.get("other-half-of-data", []):
        assert neighbour.call.signature == baseline.call.signature
    for baseline, neighbour in found.get("other-signedness", []):
        for key, tensor in neighbour.call.inputs.items():
            assert materialize(tensor).tobytes() == materialize(baseline.call.inputs[key]).tobytes()


@each_spec_at_length
def test_other_outputs_show_a_key_without_some_argument(name: str) -> None:
    declared = [f"other-{argument.name}" for argument in spec(name).spec.arguments]
    found = neighbours(name)
    pairs = [found[kind][0] for kind in declared if kind in found]
    differing = [pair for pair in pairs if outputs(name, pair[0]) != outputs(name, pair[1])]
    assert len(differing) >= len(declared) / 2


def outputs(name: str, case: Case) -> list[object]:
    """Return the shape and the bytes of each output of the reference."""
    arrays = {key: materialize(tensor) for key, tensor in case.call.inputs.items()}
    golden = golden_outputs(spec(name).reference, arrays, case.call.attributes)
    return [(array.shape, array.tobytes()) for array in golden]
