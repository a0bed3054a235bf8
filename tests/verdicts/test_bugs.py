"""Bugs: causes with the same condition are one."""

from dataclasses import replace
from itertools import permutations

import pytest

from opcert.verdicts.call_levels import NARROWED, VIOLATED_RULE
from opcert.verdicts.cause_text import EFFECTS, Cause, bugs_of
from opcert.verdicts.condition_text import Term
from tests import samples


def test_causes_of_several_operators_with_one_condition_are_one_bug() -> None:
    certificate = samples.faulty()
    first, *others = certificate.causes
    assert first.condition
    again = replace(first, operator="vendor/Other-1")
    (bug,) = bugs_of([first, again])
    assert bug.operators == [first.operator, "vendor/Other-1"]
    name = first.operator.partition("/")[2]
    assert bug.title.startswith(f"{name} {EFFECTS[first.kinds[0]]}: {first.condition[0].text}")
    assert bug.sentence.endswith("; the same holds for Other-1")
    unexplained = replace(first, condition=())
    assert len(bugs_of([first, *others, again])) == 1 + len(others)
    assert len(bugs_of([unexplained, unexplained])) == 2


def test_what_spoils_the_same_elements_of_several_operators_is_one_bug() -> None:
    first = replace(samples.faulty().causes[0], condition=(), elements="only elements x are wrong")
    alike = replace(first, operator="vendor/Other-1")
    assert len(bugs_of([first, alike])) == 1
    assert bugs_of([first])[0].title.endswith(": x are wrong")
    assert len(bugs_of([first, replace(alike, elements="only elements y are wrong")])) == 2
    # What elements became is no place where they are.
    results = [replace(cause, elements="wrong elements are 0") for cause in (first, alike)]
    assert len(bugs_of(results)) == 2


def test_more_levels_of_another_operator_are_the_same_bug_only_if_it_fails_alike() -> None:
    first = samples.faulty().causes[0]
    term = first.condition[0]
    wider = (replace(term, levels=(*term.levels, "another level")), *first.condition[1:])
    other = replace(first, operator="vendor/Other-1", condition=wider)
    assert len(bugs_of([first, other])) == 1
    assert len(bugs_of([other, first])) == 1
    assert len(bugs_of([first, replace(other, kinds=("bits",))])) == 2
    assert len(bugs_of([first, replace(other, operator=first.operator)])) == 2


def test_more_levels_of_an_operator_are_the_same_bug_only_if_it_fails_otherwise() -> None:
    first = replace(samples.faulty().causes[0], kinds=("value",))
    term = first.condition[0]
    wider = (replace(term, levels=(*term.levels, "another level")), *first.condition[1:])
    crash = replace(first, kinds=("crash",), condition=wider)
    for causes in permutations([first, crash]):
        assert len(bugs_of(causes)) == 1
    assert len(bugs_of([first, replace(crash, kinds=first.kinds)])) == 2
    other_level = (replace(term, levels=("another level",)), *first.condition[1:])
    assert len(bugs_of([first, replace(crash, condition=other_level)])) == 2


def test_causes_are_one_bug_if_that_of_a_third_operator_has_both() -> None:
    first = samples.faulty().causes[0]
    term = first.condition[0]

    def fails(operator: str, kinds: tuple[str, ...], *levels: str) -> Cause:
        condition = (replace(term, levels=levels),)
        return replace(first, operator=operator, kinds=kinds, condition=condition)

    one, other = fails("vendor/One-1", ("value",), "u64"), fails("vendor/Other-1", ("bits",), "f16")
    both = fails("vendor/Both-1", ("value", "bits"), "u64", "f16")
    assert len(bugs_of([one, other])) == 2
    for causes in permutations([one, both, other]):
        assert [bug.causes[0] for bug in bugs_of(causes)] == [causes[0]]


def test_integers_that_are_cut_to_one_width_are_one_bug_whatever_arguments_show_it() -> None:
    def narrows(argument: str, bits: int) -> Cause:
        level = f"{argument} out of the {bits}-bit range"
        return replace(samples.faulty().causes[0], condition=(Term(NARROWED, (level,), level),))

    assert len(bugs_of([narrows("axis", 32), narrows("indices", 32), narrows("axis", 16)])) == 2


@pytest.mark.parametrize(
    ("kind", "rule", "count"),
    [("crash", "axis-range", 1), ("uncredited", "axis-range", 2), ("crash", "axis-shape", 2)],
)
def test_a_rule_that_is_not_checked_in_several_ways_is_one_bug(
    kind: str, rule: str, count: int
) -> None:
    def fails(kind: str, rule: str, rank: str) -> Cause:
        levels = {VIOLATED_RULE: f"take-1/{rule}", "data rank": rank}
        condition = tuple(Term(name, (level,), level) for name, level in levels.items())
        return replace(samples.faulty().causes[0], kinds=(kind,), condition=condition)

    assert len(bugs_of([fails("accepted", "axis-range", "0"), fails(kind, rule, "1")])) == count
