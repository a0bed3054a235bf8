"""Which types are taken: the reference takes what the specs say."""

from typing import Any

import pytest

from opcert.generator.arrays.element_types import ELEMENT_TYPES, INTEGERS, Array
from opcert.generator.backends import load
from opcert.generator.backends.plain_calls import DML_SPLIT, INDICES, types_taken
from opcert.generator.specification.files import specs_in

REFERENCE = load("reference")


@pytest.mark.parametrize("operator", [*INDICES, DML_SPLIT])
def test_the_reference_takes_the_types_of_the_spec(operator: str) -> None:
    (spec,) = (each.spec for each in specs_in(None) if each.spec.operator == operator)
    taken = types_taken(operator, REFERENCE.run)
    if operator == DML_SPLIT:
        assert set(taken["types"]) == set(spec.types["T"])
    else:
        assert taken == {"types": list(ELEMENT_TYPES), "index_types": list(INTEGERS)}


def test_a_type_that_is_refused_is_left_out() -> None:
    def attempt(_: str, inputs: dict[str, Array], __: dict[str, Any]) -> None:
        if any(array.dtype == "u1" for array in inputs.values()):
            raise ValueError("no kernel")

    taken = types_taken("openvino/Gather-8", attempt)
    assert set(ELEMENT_TYPES) - set(taken["types"]) == {"u8"}
    assert set(INTEGERS) - set(taken["index_types"]) == {"u8"}
