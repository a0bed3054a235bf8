"""Attributes that are true or false, fractions, and lists of them: calls, mutations, faults."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from opcert.arrays.element_types import Array
from opcert.cases.attribute_changes import attribute_mutations
from opcert.cases.list_mutations import MutationContext
from opcert.errors import Inapplicable
from opcert.roles.argument import Attribute
from opcert.roles.role import Role
from opcert.specification.model import Spec
from opcert.strength.effects import FinishedCall, Turn
from opcert.strength.faults import misreadings
from opcert.suite.suite import Suite
from tests.roles.made_up import assert_certified, assert_fails, mistakes, random_calls, read

pytestmark = pytest.mark.usefixtures("few_calls")

# Takes the first part of the rows, and turns them and the columns around.
SPEC = """\
roles: {chosen: 'tests.chosen:Chosen', flags: 'tests.chosen:Flags'}
types: {T: numeric}
inputs:
  - {name: data, role: data, type: T, rank: [2, 2], text: Data.}
attributes:
  - {name: rows, role: flag, required: false, default: false, text: Whether rows turn around.}
  - {name: turned, role: flags, type: list, text: Which axes turn around.,
     values: {no: [false, false], rows: [true, false], columns: [false, true], all: [true, true]}}
  - {name: part, role: chosen, type: float, text: How many of the rows.,
     values: {half: 0.5, all: 1.0, little: 0.3}}
outputs:
  - {name: output, type: T, shape: "[int(data.shape[0] * part), data.shape[1]]", text: Rows.}
rules:
  - {id: length, kind: requirement, clause: M, text: One for each axis., holds: len(turned) == 2}
  - {id: part-range, kind: requirement, clause: P, text: 0 to 1., holds: 0 <= part <= 1}
  - {id: moved, clause: R, text: Rows are taken., holds: len(outputs) == 1}
"""
REFERENCE = """\
from opcert.reference import require


def up(data, turned, part, rows=False):
    require(len(turned) == 2, "up-1/length", f"{turned}")
    require(0 <= part <= 1, "up-1/part-range", f"{part}")
    taken = data[: int(data.shape[0] * part)]
    taken = taken[::-1] if rows != turned[0] else taken
    return [(taken[:, ::-1] if turned[1] else taken).copy()]
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the spec, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("suite"), SPEC, REFERENCE)


def test_calls_have_plain_values_of_the_declared_types(tmp_path: Path) -> None:
    calls = random_calls(read(tmp_path, SPEC))
    flags = {call.attributes.get("rows") for call in calls}
    assert flags == {True, False, None}
    for call in calls:
        assert type(call.attributes["part"]) is float
        assert [type(element) for element in call.attributes["turned"]] == [bool, bool]
        assert call.inputs["data"].type != "boolean"


def test_a_suite_keeps_the_types(suite: Path) -> None:
    cases = Suite(suite).operators["made/Up-1"].cases.values()
    assert {type(case.attributes["part"]) for case in cases} == {float}
    assert {type(case.attributes.get("rows")) for case in cases} == {bool, type(None)}
    violated = {case.violated_rule for case in cases} - {None}
    assert violated == {"up-1/length", "up-1/part-range"}


def mutated(spec: Spec, attribute: Attribute | Role, value: Any) -> dict[str, Any]:
    """Return the mutations of a value by position and name."""
    context = MutationContext()
    values: dict[str, Any] = {}
    for position, name, mutation in attribute_mutations(spec, attribute):
        with suppress(Inapplicable):
            values[f"{position} {name}".strip()] = mutation(value, context)
    return {name: other for name, other in values.items() if other != value}


def test_a_mutation_keeps_the_type(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC)
    rows, turned, part = spec.attributes
    assert mutated(spec, rows, True) == {"inverted": False}
    lists = mutated(spec, turned, [True, False])
    assert lists["first inverted"] == [False, False]
    assert lists["without-last"] == [True]
    assert lists["with-first-again"] == [True, False, True]
    assert all(type(element) is bool for value in lists.values() for element in value)
    numbers = mutated(spec, part, 0.5)
    assert numbers["negated"] == -0.5
    assert numbers["past-f32"] == 1e39
    assert all(type(value) is float for value in numbers.values())


def test_a_mutation_of_a_list_of_words_changes_one_word(tmp_path: Path) -> None:
    words = Attribute(
        name="sides",
        type="list",
        elements="string",
        one_of=("left", "right"),
        required=True,
        text="",
        value=None,
    )
    lists = mutated(read(tmp_path, SPEC), words, ["left", "left"])
    assert lists["last set-to-right"] == ["left", "right"]
    assert lists["all upper-case"] == ["LEFT", "LEFT"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rows=False", "rows=True"),
        ("if rows != turned[0]", "if turned[0]"),
        ("rows != turned[0]", "rows or turned[0]"),
        ("if turned[1]", "if turned[0]"),
        ("data.shape[0] * part", "data.shape[0] * round(part)"),
        ('require(0 <= part <= 1, "up-1/part-range", f"{part}")', "part = max(0, part)"),
        ('require(len(turned) == 2, "up-1/length", f"{turned}")', "turned = [*turned, False]"),
    ],
)
def test_a_wrong_implementation_fails(old: str, new: str, suite: Path) -> None:
    assert_fails(suite, REFERENCE, old, new)


def test_a_wrong_backend_reads_one_value_for_the_other(tmp_path: Path) -> None:
    effects = {e.text: e for e in misreadings(read(tmp_path, SPEC), frozenset({"data"}))}
    assert "rows is True where it is omitted" in effects
    seen: list[Mapping[str, Any]] = []

    def read_call(arguments: Mapping[str, Any]) -> list[Array]:
        seen.append(arguments)
        return []

    call = FinishedCall({}, {"rows": True, "turned": [True, False], "part": 0.5})
    for text in (
        "rows is taken for False",
        "turned is read from its end",
        "part is cut to an integer",
    ):
        effects[text].apply(Turn(call, None, read_call))
    assert seen[0]["rows"] is False
    assert seen[1]["turned"] == [False, True]
    assert seen[2]["part"] == 0.0
    assert effects["rows is taken for True"].apply(Turn(call, None, read_call)) is None


def test_an_optional_flag_needs_a_default(tmp_path: Path) -> None:
    (mistake,) = mistakes(tmp_path, SPEC, "required: false, default: false,", "required: false,")
    assert mistake.endswith("missing default of a flag that may be omitted; expected true or false")
