"""Each role in made-up operators of `operators/`, and variants: calls, mistakes, wrong backends."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.roles.made_up import (
    MADE_UP,
    SPECS,
    assert_certified,
    assert_fails,
    checked_calls,
    mistakes,
    random_calls,
    read,
    requirements_of,
)

DRAWS = 400
pytestmark = pytest.mark.usefixtures("few_calls")

# Four inputs of OneHot, five lists of windows, and two outputs of TopK take more lines than others.
MOST_LINES = {"one_hot": 27, "sliding": 33, "top_k": 40}
# Those whose suites take longest; the core suite has operators with the same roles.
LONG = (
    *("counts", "lengths", "partition", "reshape", "select", "spans", "spans_inputs", "windows"),
)


def rows(key: str) -> list[Any]:
    """Return each operator with each row of a list that it has."""
    return [
        pytest.param(
            name,
            row,
            id=f"{name}-{number}",
            marks=pytest.mark.slow if key == "wrong" and (number or name in LONG) else (),
        )
        for name, operator in MADE_UP.items()
        for number, row in enumerate(operator.get(key, ()))
    ]


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return what gives the suite of an operator, which certifies its reference."""
    return cache(
        lambda name: assert_certified(
            tmp_path_factory.mktemp(name),
            SPECS[name],
            MADE_UP[name]["reference"],
            MOST_LINES.get(name, 25),
        )
    )


@pytest.mark.parametrize(("name", "edit"), rows("wrong"))
def test_a_wrong_implementation_fails(name: str, edit: list[str], suites: Any) -> None:
    assert_fails(suites(name), MADE_UP[name]["reference"], *edit)


@pytest.mark.parametrize(
    ("name", "variant"), [*rows("variants"), *((n, MADE_UP[n]) for n in SPECS)]
)
def test_calls_are_valid_and_take_each_option(
    name: str, variant: dict[str, Any], tmp_path: Path
) -> None:
    text = SPECS[name]
    for old, new in variant.get("change", ()):
        assert old in text
        text = text.replace(old, new)
    spec = read(tmp_path, text)
    found = requirements_of(spec)
    for rule, expected in variant.get("requirements", {}).items():
        assert found[rule][: len(expected)] == expected
    # A prerequisite may follow the rule that needs it.
    order = [*found]
    for rule, (_, prerequisites, _) in found.items():
        assert all(order.index(name) < order.index(rule) for name in prerequisites)
    calls = checked_calls(spec, DRAWS)
    # A huge depth of OneHot is a valid one, but for the size of the output.
    assert len(calls) >= (0.1 if name == "one_hot" else 0.6) * DRAWS
    names = [{**dict.fromkeys(spec.defaults), **call.arguments} for call in calls]
    for condition in variant.get("calls", ()):
        assert all(eval(condition, {**own}) for own in names), condition  # noqa: S307
    for condition in variant.get("some", ()):
        assert any(eval(condition, {**own}) for own in names), condition  # noqa: S307


@pytest.mark.parametrize(("name", "row"), rows("mistakes"))
def test_a_mistake_is_reported_at_its_place(name: str, row: list[Any], tmp_path: Path) -> None:
    """A row may say that others follow from the mistake: how many there are."""
    old, new, place, text, count = [*row, 1][:5]
    found = mistakes(tmp_path, SPECS[name], old, new)
    assert len(found) == count
    assert any(mistake.startswith(place) and text in mistake for mistake in found)


def test_a_requirement_that_the_document_leaves_open_is_an_ambiguity(tmp_path: Path) -> None:
    rule = "  - {id: least, from: repeats.least, clause: R}\n"
    assert rule in SPECS["counts"]
    spec = f"""{SPECS["counts"].replace(rule, "")}ambiguities:
  - id: negative
    from: repeats.least
    clause: R
    text: What a negative number of repetitions means.
    readings: {{valid: As often as 0., invalid: It cannot be.}}
"""
    (ambiguity,) = read(tmp_path, spec).ambiguities
    assert ambiguity.touches == (
        "(repeats.type in ['i32', 'i64']) and (repeats.rank == 1) and (repeats.size == data.rank)"
        " and not (all(count >= 0 for count in repeats.values))"
    )


def test_records_after_the_count_do_not_count(tmp_path: Path) -> None:
    spec = read(tmp_path, SPECS["descriptors"])
    call = random_calls(spec)[0]
    longer = [*call.attributes["parts"], {"dims": [], "kind": ""}]
    surplus = type(call)(call.inputs, {**call.attributes, "parts": longer})
    (role,) = (role for role in spec.bound_roles if role.name == "parts")
    assert role.values_in(surplus) == role.values_in(call)
