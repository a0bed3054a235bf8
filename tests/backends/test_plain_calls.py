"""Which types are taken: the reference takes what the specs say."""

from typing import Any

import pytest

from opcert.arrays import ELEMENT_TYPES, INTEGERS, Array
from opcert.backends import load
from opcert.backends.plain_calls import DML_SPLIT, INDICES, types_taken
from opcert.specification import read_specs_in

REFERENCE = load("reference")


@pytest.mark.parametrize("operator", [*INDICES, DML_SPLIT])
def test_the_reference_takes_the_types_of_the_spec(operator: str) -> None:
    (spec,) = (each.spec for each in read_specs_in(None) if each.spec.operator == operator)
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


def test_types_are_told_by_input_where_inputs_differ() -> None:
    def attempt(_: str, inputs: dict[str, Array], __: dict[str, Any]) -> None:
        if inputs["indices"].dtype not in ("i4", "i8"):
            raise ValueError("no kernel")

    taken = types_taken("openvino/Gather-8", attempt)
    assert taken["input_types"] == {"indices": ["i32", "i64"]}
    assert "index_types" not in taken


def test_inputs_of_one_type_are_tried_together() -> None:
    ties = [["start", "stop", "step", "axes"]]

    def attempt(_: str, inputs: dict[str, Array], __: dict[str, Any]) -> None:
        if len({inputs[name].dtype for name in ties[0]}) > 1:
            raise ValueError("types differ")

    taken = types_taken("openvino/Slice-8", attempt, ties)
    assert taken["index_types"] == list(INTEGERS)
    assert taken["same_types"] == ties
