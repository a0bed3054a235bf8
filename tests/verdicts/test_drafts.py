"""Which causes of different kinds, or of one kind, are one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from opcert.diagnosis.table import BoolArray, Condition, LevelTable
from opcert.verdicts.call_levels import VIOLATED_RULE
from opcert.verdicts.drafts import Draft, drafts_of, merged, one_cause

FACTORS = {factor: [*"01234"] for factor in "abc"}
CASES = [dict(zip(FACTORS, levels, strict=True)) for levels in product(*FACTORS.values())]
TABLE = LevelTable(FACTORS, [[{f: frozenset([x]) for f, x in case.items()}] for case in CASES])
Holds = Callable[[dict[str, str]], bool]


def mask(holds: Holds) -> BoolArray:
    return np.array([holds(case) for case in CASES])


def draft(kind: str, condition: Condition, fails: Holds) -> Draft:
    """Return the cause of the cases that match and fail; all others pass."""
    failing = mask(fails)
    explained = TABLE.matching(condition) & failing
    return Draft((kind,), condition, explained, explained, ~failing, ~failing)


def conditions(*drafts: Draft) -> list[Condition]:
    return [one.condition for one in merged(drafts, TABLE)]


def of(**levels: str) -> Condition:
    return tuple((name, tuple(one)) for name, one in levels.items())


def has_a_0(case: dict[str, str]) -> bool:
    return case["a"] == "0"


def has_a_0_and_shows(case: dict[str, str]) -> bool:
    """Return whether a bug of calls with a = 0 shows; in three of these it does not."""
    return case["a"] == "0" and (case["b"] in "01" or case["b"] != case["c"])


def test_a_term_that_says_where_a_bug_shows_is_dropped() -> None:
    first = draft("shape", of(a="0", b="01"), has_a_0_and_shows)
    second = draft("value", of(a="0", b="234", c="01"), has_a_0_and_shows)
    assert conditions(first, second) == [of(a="0")]


def test_a_term_may_be_shared_in_other_words() -> None:
    # A level of "z" is in the same cases as that of "a".
    points = [[{f: frozenset([x]) for f, x in {**c, "z": c["a"]}.items()}] for c in CASES]
    table = LevelTable({**FACTORS, "z": FACTORS["a"]}, points)
    first = draft("shape", of(a="0", b="01"), has_a_0_and_shows)
    first = replace(first, condition=of(b="01", z="0"), alternatives=(first.condition,))
    second = draft("value", of(a="0", b="234", c="01"), has_a_0_and_shows)
    assert [one.condition for one in merged([first, second], table)] == [of(a="0")]


@pytest.mark.parametrize("is_visible", [False, True])
def test_passes_in_which_nothing_shows_say_nothing_against_one_cause(is_visible: bool) -> None:
    def fails(case: dict[str, str]) -> bool:
        return case["a"] == "0" and case["b"] in "01"

    first, second = draft("shape", of(a="0", b="0"), fails), draft("value", of(a="0", b="1"), fails)
    compared = mask(lambda case: not fails(case) and (is_visible or case["a"] != "0"))
    found = conditions(*(replace(one, compared=compared) for one in (first, second)))
    assert (found == [of(a="0")]) is not is_visible


def test_a_part_of_one_condition_may_explain_the_failures_of_both() -> None:
    first = draft("shape", of(a="0", b="0123"), has_a_0)
    second = draft("value", of(b="4", c="01"), has_a_0)
    assert conditions(first, second) == [of(a="0")]


def test_of_kinds_that_share_a_term_the_condition_of_one_may_say_exactly_when_both_fail() -> None:
    def fails(case: dict[str, str]) -> bool:
        return case["a"] == "0" and case["b"] != "4"

    first = draft("mutated-input", of(a="0", b="0123"), fails)
    second = draft("shape", of(a="0", c="4"), fails)
    assert conditions(first, second) == [of(a="0", b="0123")]


def test_a_value_and_a_crash_are_one_bug_if_their_conditions_share_a_term() -> None:
    first = draft("crash", of(a="0", b="0123"), has_a_0)
    second = draft("value", of(a="0", c="4"), has_a_0)
    assert conditions(first, second) == [of(a="0")]


def test_what_one_search_has_split_is_joined() -> None:
    def fails(case: dict[str, str]) -> bool:
        return case["a"] == "0" and case["b"] in "01" and case["c"] != "4"

    first = draft("value", of(a="0", b="0"), fails)
    second = draft("value", of(a="0", b="1", c="0123"), fails)
    assert conditions(first, second) == [of(a="0", b="01", c="0123")]


def test_a_shared_term_that_many_passes_have_is_no_cause() -> None:
    def fails(case: dict[str, str]) -> bool:
        return case["a"] == "0" and (case["b"] == "0" or case["c"] == "0")

    first, second = draft("value", of(a="0", b="0"), fails), draft("shape", of(a="0", c="0"), fails)
    assert len(conditions(first, second)) == 2


def test_conditions_that_share_no_term_are_two_causes() -> None:
    def fails(case: dict[str, str]) -> bool:
        return case["a"] == "0" or case["b"] == "0"

    first, second = draft("value", of(a="0"), fails), draft("shape", of(b="0"), fails)
    assert conditions(first, second) == [of(a="0"), of(b="0")]


def test_what_is_kept_from_call_to_call_is_a_cause_of_its_own() -> None:
    first = draft("state", of(a="0", b="01"), has_a_0)
    second = draft("value", of(a="0", b="2"), has_a_0)
    assert len(conditions(first, second)) == 2


@pytest.mark.parametrize(
    ("fails", "causes"), [(has_a_0_and_shows, 1), (lambda case: case["b"] == "0", 2)]
)
def test_failures_of_two_kinds_are_one_cause_if_all_have_what_those_of_one_have_in_common(
    fails: Holds, causes: int
) -> None:
    value = replace(draft("value", (), has_a_0), common=of(a="0"))
    found = merged([value, draft("accuracy", (), fails)], TABLE)
    assert [cause.common for cause in found] == [of(a="0"), ()][:causes]


@pytest.mark.parametrize(
    ("showing", "condition"), [((0, 2, 3), of(a="0")), ((0, 2), ())], ids=["most", "fewer"]
)
def test_what_all_failures_have_is_the_cause_if_most_such_cases_fail(
    showing: Sequence[int], condition: Condition
) -> None:
    def fails(case: dict[str, str]) -> bool:
        # No level says in which calls with a = 0 the bug shows.
        return case["a"] == "0" and (2 * int(case["b"]) + int(case["c"])) % 5 in showing

    failing, visible = mask(fails), np.ones(len(CASES), bool)
    (found,) = drafts_of(TABLE, ("value",), failing, ~failing, visible, ())
    assert found.condition == condition
    assert (found.explained == failing).all()


@pytest.mark.parametrize(("hidden", "count"), [(29, 1), (30, 2)])
def test_where_few_faults_would_be_visible_a_cause_needs_many_failures(
    hidden: int, count: int
) -> None:
    levels = np.repeat(["visible", "hidden", "passing"], [1000, hidden, 1000])
    table = LevelTable({"a": [*"vhp"]}, [[{"a": frozenset(level[0])}] for level in levels])
    failing = levels != "passing"
    drafts = drafts_of(table, ("value",), failing, ~failing, levels != "hidden", ())
    assert [draft.condition for draft in drafts] == [of(a="v"), of(a="h")][:count]


def test_what_many_passing_cases_have_too_is_no_cause_if_conditions_say_more() -> None:
    failing_rows = [*["a--t"] * 100, *["-b-t"] * 100, *["--ct"] * 12]
    rows = [*failing_rows, "a--t", "-b-t", *["---t"] * 150, *["---f"] * 300]
    points = [[dict(zip("xyzw", map(frozenset, row), strict=True))] for row in rows]
    table = LevelTable({"x": [*"a-"], "y": [*"b-"], "z": [*"c-"], "w": [*"tf"]}, points)
    failing = np.arange(len(rows)) < len(failing_rows)
    drafts = drafts_of(table, ("value",), failing, ~failing, np.ones(len(rows), bool), ())
    assert [draft.condition for draft in drafts] == [of(x="a"), of(y="b"), of(z="c")]


def test_failures_that_break_another_rule_are_not_listed_with_a_cause() -> None:
    rules = ["one"] * 20 + ["other"] * 12
    points = [[{VIOLATED_RULE: frozenset([rule])}] for rule in rules]
    table = LevelTable({VIOLATED_RULE: ["one", "other"]}, points, [VIOLATED_RULE])
    failing = np.arange(len(rules)) < 22
    drafts = drafts_of(table, ("accepted",), failing, ~failing, np.ones(len(rules), bool), ())
    assert [(len(one.condition), one.explained.sum()) for one in drafts] == [(1, 20), (0, 2)]


@pytest.mark.parametrize("in_part", ["", "123"], ids=["wholly", "in-part"])
def test_what_failures_of_several_rules_have_in_common_does_not_make_them_one(in_part: str) -> None:
    cases = [(rule, "a") for rule in "123" for _ in range(20)]
    passing = [("4", "a"), ("4", "b"), ("4", "b"), *product(in_part, "b")]
    cases += [case for case in passing for _ in range(30)]
    points = [[{VIOLATED_RULE: frozenset(rule), "x": frozenset(x)}] for rule, x in cases]
    table = LevelTable({VIOLATED_RULE: [*"1234"], "x": [*"ab"]}, points, [VIOLATED_RULE])
    failing = np.array([rule != "4" and x == "a" for rule, x in cases])
    drafts = drafts_of(table, ("accepted",), failing, ~failing, np.ones(len(cases), bool), ())
    further = (("x", ("a",)),) if in_part else ()
    expected = [((VIOLATED_RULE, (rule,)), *further) for rule in "123"]
    assert [one.condition for one in drafts] == expected


def explained_counts(*counted: tuple[str, int, bool]) -> list[int]:
    """Return how many failures each cause explains, of so many cases with these levels."""
    factors = {factor: ["1"] for factor in "xpqr"}
    cases = [(levels, fails) for levels, count, fails in counted for _ in range(count)]
    table = LevelTable(factors, [[{x: frozenset("1") for x in levels}] for levels, _ in cases])
    failing = np.array([fails for _, fails in cases])
    drafts = drafts_of(table, ("value",), failing, ~failing, np.ones(len(cases), bool), ())
    return [int(found.explained.sum()) for found in drafts]


@pytest.mark.parametrize(("rare", "counts"), [("x", [60]), ("", [40, 12, 8])])
def test_three_causes_are_one_if_a_term_of_the_largest_holds_for_all(
    rare: str, counts: list[int]
) -> None:
    fails = [(f"{rare}p", 40, True), (f"{rare}q", 12, True), (f"{rare}r", 8, True)]
    passes = [("x", 150, False), *((level, 50 * (rare != ""), False) for level in "pqr")]
    assert explained_counts(*fails, *passes, ("", 100, False)) == counts


@pytest.mark.parametrize(("few", "counts"), [(5, [65]), (15, [60, 15])])
def test_where_most_failures_have_no_condition_few_have_one_by_chance(
    few: int, counts: list[int]
) -> None:
    assert explained_counts(("p", few, True), ("", 60, True), ("", 200, False)) == counts


def test_what_the_conditions_of_one_cause_share_is_common_to_its_failures() -> None:
    # Few cases fail, and as many that pass have what they share.
    levels = [("f", "t", "1"), ("f", "t", "2"), *[("f", "t", "3")] * 3, *[("h", "t", "1")] * 4]
    points = [[{"a": frozenset(a), "b": frozenset(b), "c": frozenset(c)}] for a, b, c in levels]
    table = LevelTable({"a": [*"fh"], "b": [*"t-"], "c": [*"123"]}, points)
    drafts = []
    for number in range(2):
        explained = np.arange(len(levels)) == number
        condition: Condition = (("a", ("f",)), ("c", (levels[number][2],)))
        drafts.append(Draft(("value",), condition, explained, explained, ~explained, ~explained))
    whole = one_cause(drafts, table)
    assert (whole.condition, whole.common) == ((), (("a", ("f",)),))
