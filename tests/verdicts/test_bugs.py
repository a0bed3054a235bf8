"""Bugs: causes with the same condition are one."""

from dataclasses import replace

from opcert.verdicts.bugs import bugs_of
from tests import samples


def test_causes_of_several_operators_with_one_condition_are_one_bug() -> None:
    certificate = samples.faulty()
    first, *others = certificate.causes
    assert first.condition
    again = replace(first, operator="vendor/Other-1")
    (bug,) = bugs_of([first, again])
    assert bug.operators == [first.operator, "vendor/Other-1"]
    assert bug.title == f"Calls with {first.condition[0].text}"
    assert bug.sentence.endswith("; the same holds for Other-1")
    unexplained = replace(first, condition=())
    assert len(bugs_of([first, *others, again])) == 1 + len(others)
    assert len(bugs_of([unexplained, unexplained])) == 2
