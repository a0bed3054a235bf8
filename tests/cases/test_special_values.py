"""Special values, such as NaN payloads, reach golden outputs of each type."""

from opcert.arrays.element_types import bits_of, type_name
from opcert.arrays.patterns import special_bits
from tests.shipped import each_moving_spec_at_length, spec, vectors


@each_moving_spec_at_length
def test_every_type_has_special_values_in_a_golden_output(name: str) -> None:
    lacking: dict[str, set[int]] = {}
    for output in (output for vector in vectors(name) for output in vector.outputs):
        element_type, bits = type_name(output.dtype), bits_of(output)
        missing = lacking.setdefault(element_type, {*special_bits(element_type)})
        missing -= {special for special in missing if (bits == special).any()}
    # A few calls that a document leaves open have another type.
    declared = {*spec(name).spec.type_sets[spec(name).spec.leading.type]}
    missing_of = {element_type: lacking[element_type] for element_type in lacking.keys() & declared}
    # Chance decides which reach an output: in 500 calls, one of all types may not.
    assert sum(map(len, missing_of.values())) <= 1, missing_of
