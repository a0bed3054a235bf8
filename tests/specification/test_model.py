"""The model of a spec, and its JSON Schema for editors."""

import json
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from opcert.specification.files import find_spec_files, read_spec, read_specs_in, shipped_operators
from opcert.specification.model import Spec
from opcert.specs import CORE_OPERATORS
from opcert.yaml_files import YamlSource
from tests.command_line import opcert

SHIPPED = find_spec_files(None)
TAKE = Path(__file__).parents[1] / "bad_specs" / "take.yaml"


@cache
def schema() -> dict[str, Any]:
    result = opcert("schema")
    assert result.exit_code == 0
    printed: dict[str, Any] = json.loads(result.stdout)
    return printed


def errors_of(data: object) -> list[str]:
    return [each.message for each in Draft202012Validator(schema()).iter_errors(data)]


def take() -> Any:
    """Return a small valid spec as plain data, without roles of its own."""
    spec: Any = deepcopy(YamlSource(TAKE).data)
    del spec["roles"], spec["inputs"][0]["role"], spec["attributes"][0]["role"]
    return spec


def test_the_printed_schema_is_a_json_schema() -> None:
    Draft202012Validator.check_schema(schema())


def test_the_path_of_a_shipped_spec_names_its_operator() -> None:
    assert shipped_operators() == [read_spec(path).spec.operator for path in SHIPPED]
    assert set(CORE_OPERATORS) <= set(shipped_operators())
    assert (len(SHIPPED), len(CORE_OPERATORS)) == (38, 5)


@pytest.mark.parametrize("path", SHIPPED, ids=[path.stem for path in SHIPPED])
def test_a_shipped_spec_is_valid_by_the_schema(path: Path) -> None:
    assert errors_of(YamlSource(path).data) == []


CHANGES: dict[str, Callable[[Any], object]] = {
    "unknown key": lambda spec: spec.update(lenguage="en"),
    "unknown key in a part": lambda spec: spec["rules"][0].update(clauses="1"),
    "missing key": lambda spec: spec.pop("slug"),
    "missing key in a part": lambda spec: spec["inputs"][0].pop("rank"),
    "text for an integer": lambda spec: spec.update(version="one"),
    "version 0": lambda spec: spec.update(version=0),
    "integer for a mapping": lambda spec: spec.update(document=3),
    "nothing for text": lambda spec: spec["rules"][0].update(text=None),
    "list for an expression": lambda spec: spec["rules"][0].update(holds=["True"]),
    "unknown kind": lambda spec: spec["rules"][0].update(kind="rule"),
    "three ends": lambda spec: spec["inputs"][0].update(rank=[1, 2, 3]),
    "operator without family": lambda spec: spec.update(operator="Take"),
    "rule id with a space": lambda spec: spec["rules"][0].update(id="a rule"),
    "input name with a space": lambda spec: spec["inputs"][0].update(name="my data"),
    "no inputs": lambda spec: spec.update(inputs=[]),
}


def test_the_small_spec_is_valid_by_the_schema() -> None:
    assert errors_of(take()) == []


@pytest.mark.parametrize("name", CHANGES)
def test_a_bad_spec_is_invalid_by_the_schema(name: str) -> None:
    spec = take()
    CHANGES[name](spec)
    assert len(errors_of(spec)) == 1


@pytest.mark.parametrize("name", CHANGES)
def test_a_spec_that_the_schema_rejects_is_rejected_by_the_model(name: str) -> None:
    spec = take()
    CHANGES[name](spec)
    with pytest.raises(ValidationError):
        Spec.model_validate_json(json.dumps(spec))


@pytest.mark.parametrize(("value", "text"), [(True, "True"), (-3, "-3"), ("a + 1", "a + 1")])
def test_an_expression_can_be_a_plain_scalar(value: object, text: str) -> None:
    spec = take()
    spec["rules"][0]["holds"] = value
    assert errors_of(spec) == []
    assert Spec.model_validate_json(json.dumps(spec)).rules[0].holds == text


def test_a_spec_is_frozen() -> None:
    spec = read_spec(TAKE).spec
    with pytest.raises(ValidationError):
        spec.version = 2


def test_type_sets_are_lists_of_element_types() -> None:
    sets = {each.spec.operator: each.spec.type_sets for each in read_specs_in(None)}
    assert len(sets["openvino/Slice-8"]["T"]) == 15
    assert len(sets["openvino/Slice-8"]["T_IND"]) == 8
    assert read_spec(TAKE).spec.type_sets == {"T": ("i8", "f32")}


def test_rules_are_requirements_or_behaviours() -> None:
    spec = read_spec(TAKE).spec
    assert (list(spec.requirements), list(spec.behaviours)) == (["count-range"], ["first-rows"])


def test_an_omitted_argument_is_none_or_its_default() -> None:
    spec = take()
    spec["attributes"][0].update(required=False, default=1)
    model = Spec.model_validate_json(json.dumps(spec))
    assert model.defaults == {"data": None, "count": 1}


def test_full_ids_begin_with_the_slug() -> None:
    spec = read_spec(TAKE).spec
    assert (spec.full_id("count-range"), spec.family) == ("take-1/count-range", "example")
