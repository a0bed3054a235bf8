"""The check of whole specs: what their cases exercise, and which bounds no case reaches."""

import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from opcert.backends.reference import Reference
from opcert.commands.specs import print_rule_counts
from opcert.errors import Mistake
from opcert.reference import RuleBroken
from opcert.settings import PROFILES
from opcert.suite.spec_check import RuleCounts, check_specs
from tests.command_line import opcert
from tests.small_spec import mistakes_of, spec

pytestmark = pytest.mark.usefixtures("few_calls")


def mistakes(*paths: Path) -> tuple[Mistake, ...]:
    return mistakes_of(check_specs, paths)


def texts(path: Path) -> list[str]:
    return [mistake.text for mistake in mistakes(path)]


def test_a_correct_spec_has_cases_of_each_rule(tmp_path: Path) -> None:
    (checked,) = check_specs([spec(tmp_path)])
    requirement, behaviour = checked.counts
    assert (requirement.rule, behaviour.rule) == ("take-1/count-range", "take-1/first-rows")
    # The drawn calls and the example satisfy the requirement.
    assert requirement.positive == PROFILES["core"].calls + 1 <= behaviour.positive
    assert requirement.negative > 30
    assert behaviour.negative == 0


def test_a_behaviour_has_no_count_of_negative_cases() -> None:
    console = Console(file=StringIO(), width=80)
    print_rule_counts(
        [RuleCounts("a/b", "requirement", 3, 2), RuleCounts("a/c", "behaviour", 1, 0)], console
    )
    assert isinstance(console.file, StringIO)
    printed = [line.split() for line in console.file.getvalue().splitlines()]
    assert ["│", "a/b", "│", "requirement", "│", "3", "│", "2", "│"] in printed
    assert ["│", "a/c", "│", "behaviour", "│", "1", "│", "│"] in printed


def test_the_mistakes_of_all_specs_are_reported(tmp_path: Path) -> None:
    one = spec(tmp_path, ("rank: [1, 2]", "rank: [1, 3]"))
    new = ("slug: take-1", "slug: take-2"), ("example/Take-1", "example/Take-2")
    two = spec(tmp_path, *new, ("take.py:take", "take.py:accepting"), name="two")
    assert {mistake.file for mistake in mistakes(one, two)} == {str(one), str(two)}


def test_an_ambiguous_case_counts_for_no_rule(tmp_path: Path) -> None:
    ambiguity = """ambiguities:
  - {id: all, clause: a, text: b, readings: {valid: c, invalid: d}, touches: "True"}
examples:
"""
    path = spec(tmp_path, ("examples:\n", ambiguity))
    assert any("no mutation violates 'count-range' alone" in text for text in texts(path))


def test_valid_cases_must_reach_both_bounds_of_a_range(tmp_path: Path) -> None:
    path = spec(tmp_path, ("rank: [1, 2]", "rank: [0, 3]"))
    assert texts(path) == [
        "no case of 'data' reaches the boundary '0'",
        "no case of 'data' reaches the boundary '3'",
    ]


def test_a_range_that_cannot_be_evaluated_hides_no_other_mistake(tmp_path: Path) -> None:
    bad = ('range: [0, "data.shape[0]"]', 'range: [0, "data.shape[1]"]')
    assert texts(spec(tmp_path, bad, ("rank: [1, 2]", "rank: [1, 3]"))) == [
        "no case of 'data' reaches the boundary '3'",
        "index out of range in 'data.shape[1]' with data=i8[3] [1, 2, 3]",
    ]


@pytest.mark.parametrize("bound", ["data.shape", "'a'", "None", "1.5", "[1]"])
def test_a_bound_that_is_not_an_integer_is_a_mistake(tmp_path: Path, bound: str) -> None:
    (text,) = texts(spec(tmp_path, ('range: [0, "data.shape[0]"]', f'range: [0, "{bound}"]')))
    assert text.endswith("; expected an integer")


def test_a_value_outside_its_range_is_a_mistake(tmp_path: Path) -> None:
    path = spec(tmp_path, ("rank: [1, 2]\n", "rank: [1, 2]\n    range: [5, 6]\n"))
    assert "a valid case has 1 for 'data', outside [5, 6]" in texts(path)


def test_a_type_that_no_case_has_is_a_mistake(tmp_path: Path) -> None:
    path = spec(tmp_path, ("    role: rows\n", "    role: rows\n    drawn: [i8]\n"))
    assert texts(path) == ["no case has 'data' of f32"]


@pytest.mark.parametrize("condition", ["data.shape[0] - count", "count < 1 // 0"])
def test_a_condition_that_fails_is_reported_once_at_its_line(
    tmp_path: Path, condition: str
) -> None:
    path = spec(tmp_path, ("holds: 0 <= count <= data.shape[0]", f"holds: {condition}"))
    line = 1 + path.read_text().splitlines().index(f"    holds: {condition}")
    assert [mistake.line for mistake in mistakes(path)] == [line]


def warnings(path: Path) -> list[str]:
    (checked,) = check_specs([path])
    return [warning.text for warning in checked.warnings]


def test_a_declaration_that_no_negative_case_violates_is_a_warning(tmp_path: Path) -> None:
    assert set(warnings(spec(tmp_path))) == {
        "no negative case has 'data' of a type outside T",
        "no negative case has 'data' of a rank below '1'",
        "no negative case omits the required 'data'",
        "no negative case omits the required 'count'",
    }


def test_a_bound_that_no_negative_case_exceeds_is_a_warning(tmp_path: Path) -> None:
    ambiguity = """ambiguities:
  - id: below
    clause: Attributes
    text: Whether a negative number counts from the end.
    readings: {valid: So it does., invalid: There are no such rows.}
    breaks: [count-range]
    touches: count < 0
examples:
"""
    path = spec(tmp_path, ("examples:\n", ambiguity))
    assert "no negative case has 'count' below '0'" in warnings(path)


def test_a_behaviour_with_few_cases_is_a_warning(tmp_path: Path) -> None:
    rare = """  - id: rare
    kind: behaviour
    clause: Outputs
    text: Two of three rows.
    when: count == 2 and data.shape == (3,)
examples:
"""
    path = spec(tmp_path, ("examples:\n", rare))
    assert "few valid cases exhibit 'rare': found 1, expected 3 or more" in warnings(path)


def test_outputs_without_an_oracle_are_a_warning(tmp_path: Path) -> None:
    path = spec(tmp_path, ("- i8[2] 1 2", "- i8[2]"))
    assert any("nothing can show" in text for text in warnings(path))
    path = spec(
        tmp_path,
        ("- i8[2] 1 2", "- i8[2]"),
        ("    text: The first rows.\n", "    text: The first rows.\n    element: data[at]\n"),
    )
    assert not any("nothing can show" in text for text in warnings(path))


def test_warnings_do_not_change_the_exit_code(tmp_path: Path) -> None:
    path = spec(tmp_path)
    result = opcert("check", "--no-strength", path, exits=0)
    assert f"warning: {path}:" in result.stderr


def test_a_reference_that_returns_views_is_refused(tmp_path: Path) -> None:
    path = spec(tmp_path, ("take.py:take", "views.py:take"))
    source = (tmp_path / "take.py").read_text()
    (tmp_path / "views.py").write_text(source.replace("[data[:count].copy()]", "[data[:count]]"))
    text = "the reference returns a view of its input 'data'; expected a new array"
    assert texts(path) == [text]


def test_a_requirement_that_the_reference_leaves_to_the_spec_is_checked_by_the_spec(
    tmp_path: Path,
) -> None:
    path = spec(tmp_path, ("take.py:take", "take.py:unchecked"))
    (checked,) = check_specs([path])
    assert checked.stated_once == ["take-1/count-range"]
    backend = Reference(path.parent)
    data = np.arange(3, dtype=np.int8)
    (rows,) = backend.run(checked.spec_file.spec.operator, {"data": data}, {"count": 2})
    assert rows.tolist() == [0, 1]
    for count in (4, -1):
        with pytest.raises(RuleBroken, match="take-1/count-range"):
            backend.run(checked.spec_file.spec.operator, {"data": data}, {"count": count})


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_a_reference_that_takes_too_much_memory_is_a_mistake(tmp_path: Path) -> None:
    path = spec(tmp_path, ("reference: take.py:take", "reference: large.py:take"))
    (tmp_path / "large.py").write_text(
        "import numpy as np\n\n\ndef take(data, count):\n    return [np.zeros(1 << 36, np.int8)]\n"
    )
    (mistake, *_) = texts(path)
    assert "the reference rejects a valid call: " in mistake
    assert "MemoryError: Unable to allocate 64.0 GiB" in mistake
