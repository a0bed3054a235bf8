"""Probing which types a runtime accepts."""

from typing import Any

import pytest

from opcert.arrays.element_types import ELEMENT_TYPES, FOUR_BIT_TYPES, INTEGERS, Array
from opcert.backends.lookup import load
from opcert.backends.probing import DML_SPLIT, PLAIN_CALLS, probe_types
from opcert.specification.files import read_specs_in, shipped_operators

REFERENCE = load("reference")


@pytest.mark.parametrize("operator", sorted({*PLAIN_CALLS, DML_SPLIT} & {*shipped_operators()}))
def test_the_reference_accepts_the_types_of_the_spec(operator: str) -> None:
    (spec,) = (file.spec for file in read_specs_in(None) if file.spec.operator == operator)
    support = probe_types(operator, REFERENCE.run)
    if operator == DML_SPLIT:
        assert set(support["types"]) == set(spec.types["T"])
    else:
        allowed = {each.name: set(spec.type_sets[each.type]) for each in spec.inputs}
        plain = PLAIN_CALLS[operator]
        for name in plain.names("f"):
            declared = support.get("types") or support["input_types"][name]
            assert allowed[name] <= set(declared)
        probed = set(plain.index_types)
        for name in plain.names("i"):
            by_input = support.get("input_types", {}).get(name, probed)
            indices = set(support.get("index_types", by_input))
            assert allowed[name] & probed == indices.difference(FOUR_BIT_TYPES)


def test_a_rejected_type_is_not_declared() -> None:
    def attempt(_: str, inputs: dict[str, Array], __: dict[str, Any]) -> None:
        if any(array.dtype == "u1" for array in inputs.values()):
            raise ValueError("no kernel")

    support = probe_types("openvino/Gather-8", attempt)
    assert set(ELEMENT_TYPES) - set(support["types"]) == {"u8"}
    assert set(INTEGERS) - set(support["index_types"]) == {"u8"}


def test_types_are_declared_by_input_where_inputs_differ() -> None:
    def attempt(_: str, inputs: dict[str, Array], __: dict[str, Any]) -> None:
        if inputs["indices"].dtype not in ("i4", "i8"):
            raise ValueError("no kernel")

    support = probe_types("openvino/Gather-8", attempt)
    assert support["input_types"] == {"indices": ["i32", "i64"]}
    assert "index_types" not in support


def test_inputs_that_share_a_type_are_probed_together() -> None:
    same_types = [["start", "stop", "step", "axes"]]

    def attempt(_: str, inputs: dict[str, Array], __: dict[str, Any]) -> None:
        if len({inputs[name].dtype for name in same_types[0]}) > 1:
            raise ValueError("types differ")

    support = probe_types("openvino/Slice-8", attempt, same_types)
    assert support["index_types"] == list(INTEGERS)
    assert support["same_types"] == same_types
