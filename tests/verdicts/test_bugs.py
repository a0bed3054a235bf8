"""Bugs: causes with the same condition are one."""

from dataclasses import replace

import pytest

from opcert.diagnosis import LevelTable
from opcert.verdicts.case_levels import CaseLevels
from opcert.verdicts.cause_text import EFFECTS, bugs_of, terms_of
from tests import samples
from tests.faults.fault import SLICE


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


@pytest.mark.parametrize(
    ("factor", "levels", "text"),
    [
        ("step value", ("2^16 + 1", "2^15 - 1"), "step = 2^16 + 1 or 2^15 - 1"),
        ("step sign", ("1", "2 or more"), "step of 1 or more"),
        ("step sign", ("-2 or less", "-1"), "step of -1 or less"),
        ("data axis", ("any but the last",), "an axis of data other than the last"),
        ("data rank", ("3", "4", "5"), "data of rank 3 to 5"),
        ("data rank", ("1", "3", "4", "5", "6"), "anything but data of rank 2"),
        ("data extents", ("0", "2 or more"), "data with an extent of 0 or 2 or more"),
    ],
)
def test_levels_are_words(factor: str, levels: tuple[str, ...], text: str) -> None:
    factors = {
        "step value": ["2^16 + 1", "2^15 - 1", "0"],
        "step sign": ["-2 or less", "-1", "0", "1", "2 or more"],
        "data axis": ["first", "last", "any but the last"],
        "data rank": ["1", "2", "3", "4", "5", "6"],
        "data extents": ["0", "1", "2 or more"],
    }
    known = CaseLevels(
        samples.suite().operators[SLICE], {"": [dict.fromkeys(factors, frozenset())]}
    )
    known.__dict__["table"] = LevelTable(factors, [[dict.fromkeys(factors, frozenset())]])
    (term,) = terms_of(((factor, levels),), known)
    assert term.text == text
