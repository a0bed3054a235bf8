"""Each role in a made-up operator of `operators/`: requirements, mistakes and wrong backends."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.roles.made_up import (
    MADE_UP,
    SPECS,
    assert_certified,
    assert_fails,
    holds,
    mistakes,
    read,
)

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
            marks=pytest.mark.slow if key == "wrong" and name in LONG else (),
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


@pytest.mark.parametrize("name", [name for name in MADE_UP if "requirements" in MADE_UP[name]])
def test_derived_requirements(name: str, tmp_path: Path) -> None:
    found = {
        rule: [condition, [*prerequisites]]
        for rule, (condition, prerequisites) in holds(read(tmp_path, SPECS[name])).items()
    }
    expected = MADE_UP[name]["requirements"]
    assert {rule: found[rule] for rule in expected} == expected


@pytest.mark.parametrize(("name", "row"), rows("mistakes"))
def test_a_mistake_is_reported_at_its_place(name: str, row: list[Any], tmp_path: Path) -> None:
    """A row may say that others follow from the mistake: how many there are."""
    old, new, place, text, count = [*row, 1][:5]
    found = mistakes(tmp_path, SPECS[name], old, new)
    assert len(found) == count
    assert any(mistake.startswith(place) and text in mistake for mistake in found)
