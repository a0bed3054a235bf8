"""Bugs: causes with the same condition are one."""

from dataclasses import replace

from opcert.verdicts.cause_text import EFFECTS, bugs_of
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


def test_more_levels_of_another_operator_are_the_same_bug_only_if_it_fails_alike() -> None:
    first = samples.faulty().causes[0]
    term = first.condition[0]
    wider = (replace(term, levels=(*term.levels, "another level")), *first.condition[1:])
    other = replace(first, operator="vendor/Other-1", condition=wider)
    assert len(bugs_of([first, other])) == 1
    assert len(bugs_of([other, first])) == 1
    assert len(bugs_of([first, replace(other, kinds=("bits",))])) == 2
    assert len(bugs_of([first, replace(other, operator=first.operator)])) == 2
