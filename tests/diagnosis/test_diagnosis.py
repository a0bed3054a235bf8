"""Diagnosis on made-up points: each test is one claim about what explains the failures."""

from collections.abc import Callable, Sequence
from itertools import combinations, product

import numpy as np
import pytest

from opcert.diagnosis.explanations import Explanation, explain_failures, necessary_condition
from opcert.diagnosis.table import LevelTable, Point

FACTORS = {
    "rank": [*"12345678"],
    "type": ["f16", "f32", "i8", "i64"],
    "layout": ["c", "fortran", "gapped"],
    "sign": ["positive", "negative"],
}
Levels = dict[str, str]
# Every combination of levels, as a case with one point.
GRID = [dict(zip(FACTORS, row, strict=True)) for row in product(*FACTORS.values())]


def point(levels: Levels) -> Point:
    return {factor: frozenset([level]) for factor, level in levels.items()}


def explained(
    fails: Callable[[Levels], bool],
    cases: Sequence[Levels] = GRID,
    counts: Callable[[Levels], bool] = lambda _: True,
) -> list[Explanation]:
    """Explain the cases that fail; others pass, if they count."""
    table = LevelTable(FACTORS, [[point(case)] for case in cases], ordered=["rank"])
    failing = np.array([fails(case) for case in cases])
    return explain_failures(table, failing, ~failing & np.array([counts(case) for case in cases]))


def conditions(explanations: Sequence[Explanation]) -> list[dict[str, tuple[str, ...]]]:
    return [dict(explanation.condition) for explanation in explanations]


def test_one_level_explains_failures() -> None:
    assert conditions(explained(lambda case: case["type"] == "f16")) == [{"type": ("f16",)}]


def test_levels_of_one_factor_are_one_condition() -> None:
    found = explained(lambda case: int(case["rank"]) >= 5)
    assert conditions(found) == [{"rank": ("5", "6", "7", "8")}]


def test_numbers_without_a_pass_between_and_after_the_chosen_ones_are_part_of_a_range() -> None:
    tried = [c for c in GRID if c["rank"] != "6" and (c["rank"], c["type"]) != ("8", "i64")]
    found = explained(lambda case: int(case["rank"]) >= 3 and case["type"] == "i64", tried)
    assert conditions(found) == [{"rank": ("3", "4", "5", "6", "7", "8"), "type": ("i64",)}]


def test_a_range_ends_where_cases_pass() -> None:
    found = explained(lambda case: case["rank"] in "57")
    assert conditions(found) == [{"rank": ("5", "7")}]


def test_where_a_case_has_several_numbers_a_condition_is_one_range_of_them() -> None:
    sets = [frozenset(pair) for pair in combinations("12345678", 2)]
    sets += [frozenset(number) for number in "12345678"] * 4
    failing = np.array([bool(own & {*"346"}) for own in sets])
    table = LevelTable(FACTORS, [[{"rank": own}] for own in sets], ordered=["rank"])
    found = conditions(explain_failures(table, failing, ~failing))
    assert found == [{"rank": ("3", "4")}, {"rank": ("6",)}]


def test_one_number_is_no_range() -> None:
    found = explained(lambda case: case["rank"] == "5", counts=lambda case: case["rank"] < "5")
    assert conditions(found) == [{"rank": ("5",)}]


def test_two_levels_explain_failures_together() -> None:
    found = explained(lambda case: case["type"] == "i8" and case["layout"] == "gapped")
    assert conditions(found) == [{"type": ("i8",), "layout": ("gapped",)}]


def test_three_levels_explain_failures_together() -> None:
    found = explained(
        lambda case: (
            case["sign"] == "negative" and case["layout"] == "fortran" and int(case["rank"]) >= 5
        )
    )
    assert conditions(found) == [
        {"rank": ("5", "6", "7", "8"), "layout": ("fortran",), "sign": ("negative",)}
    ]


def test_four_levels_explain_failures_together() -> None:
    halves = {"rank": [*"56"], "type": ["f16", "i8"], "layout": ["c"], "sign": ["negative"]}
    found = explained(
        lambda case: all(case[name] in levels for name, levels in halves.items()), GRID * 20
    )
    assert conditions(found) == [{name: tuple(levels) for name, levels in halves.items()}]


def test_five_levels_explain_a_part_of_the_failures() -> None:
    factors = {name: ["no", "yes"] for name in "abcdefg"}
    cases = [dict(zip(factors, row, strict=True)) for row in product(*factors.values())] * 8
    of_five = np.array([all(case[name] == "yes" for name in "abcde") for case in cases])
    of_one = np.array([case["a"] == "no" and case["f"] == case["g"] == "yes" for case in cases])
    table = LevelTable(factors, [[point(case)] for case in cases])
    found = conditions(explain_failures(table, of_five | of_one, ~of_five & ~of_one))
    assert dict.fromkeys("abcde", ("yes",)) in found


def test_two_causes_are_found_one_by_one() -> None:
    found = explained(lambda case: case["type"] == "f16" or case["rank"] == "8")
    assert conditions(found) == [{"type": ("f16",)}, {"rank": ("8",)}]


def test_each_failure_is_explained_once() -> None:
    found = explained(lambda case: case["type"] == "f16" or case["rank"] == "8")
    assert not (found[0].explained & found[1].explained).any()


def test_a_few_passes_do_not_hide_a_cause() -> None:
    found = explained(lambda case: case["rank"] == "3" and case != GRID[2 * 24])
    assert conditions(found) == [{"rank": ("3",)}]


def test_a_cause_that_often_does_not_show_is_not_cut_to_where_it_always_does() -> None:
    def shows(case: Levels) -> bool:
        ordinal = int(case["rank"]) + (case["sign"] == "negative") + (case["layout"] == "c")
        return case["layout"] == "gapped" or ordinal % 2 == 0

    found = explained(lambda case: case["type"] == "f16" and shows(case))
    assert conditions(found) == [{"type": ("f16",)}]


def test_two_causes_are_not_one_with_exceptions() -> None:
    def fails(case: Levels) -> bool:
        return case["a"] == case["b"] == "yes" or case["c"] == case["d"] == "yes"

    factors = {name: ["no", "yes"] for name in "abcde"}
    cases = [dict(zip(factors, row, strict=True)) for row in product(*factors.values())] * 16
    # All that fail have a level in common, and few others do.
    for number, case in enumerate(cases):
        cases[number] = {**case, "e": "yes" if fails(case) or number % 3 == 0 else "no"}
    failing = np.array([fails(case) for case in cases])
    table = LevelTable(factors, [[point(case)] for case in cases])
    found = conditions(explain_failures(table, failing, ~failing))
    assert found == [{"a": ("yes",), "b": ("yes",)}, {"c": ("yes",), "d": ("yes",)}]


def test_failures_without_a_common_level_are_not_explained() -> None:
    random = np.random.default_rng(0)
    chosen = {int(number) for number in random.choice(len(GRID), 40, replace=False)}
    cases = [{**case, "sign": case["sign"]} for case in GRID]
    numbers = {id(case): number for number, case in enumerate(cases)}
    found = explained(lambda case: numbers[id(case)] in chosen, cases)
    assert sum(explanation.explained.sum() for explanation in found) == 40
    assert found[-1].condition == ()


def test_cases_that_neither_fail_nor_pass_do_not_count() -> None:
    found = explained(
        lambda case: case["type"] == "f16" and case["sign"] == "positive",
        counts=lambda case: case["sign"] == "positive",
    )
    assert conditions(found) == [{"type": ("f16",)}]


def test_levels_must_occur_at_one_point() -> None:
    here = {"type": frozenset(["f16"]), "layout": frozenset(["c"])}
    there = {"type": frozenset(["i8"]), "layout": frozenset(["gapped"])}
    apart = {"type": frozenset(["f16"]), "layout": frozenset(["gapped"])}
    table = LevelTable(FACTORS, [[here, there], [apart]])
    assert table.matching((("type", ("f16",)), ("layout", ("gapped",)))).tolist() == [False, True]


def test_what_the_cases_cannot_separate_is_an_alternative() -> None:
    def fails(case: Levels) -> bool:
        return case["type"] == "f16" and case["layout"] == "gapped"

    def passes(case: Levels) -> bool:
        return case["type"] != "f16" and case["layout"] != "gapped"

    (found,) = explained(fails, counts=passes)
    assert dict(found.condition) == {"type": ("f16",)}
    assert [dict(terms) for terms in found.alternatives] == [{"layout": ("gapped",)}]


def test_a_level_that_means_the_same_is_no_alternative() -> None:
    alike = [case for case in GRID if (case["type"] == "f16") == (case["layout"] == "gapped")]
    (found,) = explained(lambda case: case["type"] == "f16", alike)
    assert dict(found.condition) == {"type": ("f16",)}
    assert found.alternatives == ()


def test_where_every_case_fails_no_level_matters() -> None:
    assert conditions(explained(lambda _: True)) == [{}]


def test_the_order_of_cases_does_not_change_the_conditions() -> None:
    def fails(case: Levels) -> bool:
        return case["type"] == "f16" or (case["rank"] == "8" and case["layout"] == "c")

    assert conditions(explained(fails)) == conditions(explained(fails, GRID[::-1]))


def common(fails: Callable[[Levels], bool]) -> dict[str, tuple[str, ...]]:
    table = LevelTable(FACTORS, [[point(case)] for case in GRID])
    failing = np.array([fails(case) for case in GRID])
    return dict(necessary_condition(table, failing, ~failing))


@pytest.mark.parametrize(("also", "factors"), [((), ["b", "c"]), (("1",), ["b"])])
def test_most_levels_of_a_factor_are_listed_only_if_few_words_say_it(
    also: tuple[str, ...], factors: list[str]
) -> None:
    # All but one of seven levels are "anything but" that one where no case has two of them.
    cases = [(c, b) for b in "xy" for c in "0123456" for _ in range(8)]
    own = [frozenset([c, *(also if c in "24" else ())]) for c, _ in cases]
    points = [[{"b": frozenset(b), "c": levels}] for (_, b), levels in zip(cases, own, strict=True)]
    table = LevelTable({"b": ["x", "y"], "c": [*"0123456"]}, points)
    failing = np.array([b == "x" and c != "3" for c, b in cases])
    (found,) = explain_failures(table, failing, ~failing)
    assert [name for name, _ in found.condition] == factors


def test_what_all_failures_have_is_found_although_others_have_it_and_pass() -> None:
    fails = {("3", "f16"), ("5", "f16"), ("2", "i8")}
    found = common(lambda c: (c["rank"], c["type"]) in fails and c["layout"] == "gapped")
    assert found == {"layout": ("gapped",), "rank": ("2", "3", "5"), "type": ("f16", "i8")}


def test_what_all_failures_have_at_some_place_is_found_whatever_else_they_have() -> None:
    cases = [
        [point(case), point(other)] for case, other in zip(GRID, GRID[5:] + GRID[:5], strict=True)
    ]
    failing = np.array(
        [
            case["type"] == "f16" and case["layout"] == "gapped" and case["rank"] in "367"
            for case in GRID
        ]
    )
    table = LevelTable(FACTORS, cases)
    assert dict(necessary_condition(table, failing, ~failing)) == {
        "type": ("f16",),
        "layout": ("gapped",),
        "rank": ("3", "6", "7"),
    }


@pytest.mark.parametrize(("failures", "factors"), [(48, [*"abc"]), (8, [])])
def test_what_many_failures_have_in_common_may_leave_out_fewer_passing_cases(
    failures: int, factors: list[str]
) -> None:
    def passes(number: int) -> Levels:
        return {name: "yes" if number // 5**k % 5 < 3 else "no" for k, name in enumerate("abc")}

    cases = [dict.fromkeys("abc", "yes")] * failures + [*map(passes, range(1000))]
    table = LevelTable({name: ["no", "yes"] for name in "abc"}, [[point(case)] for case in cases])
    failing = np.arange(len(cases)) < failures
    assert sorted(dict(necessary_condition(table, failing, ~failing))) == factors


@pytest.mark.parametrize(("share", "factors"), [(0, []), (0.05, ["type"])])
def test_a_share_of_the_failures_may_lack_what_the_others_have(
    share: float, factors: list[str]
) -> None:
    cases = [[{"type": frozenset([name])}] for name in ["f16"] * 40 + ["i8"] * 40]
    table = LevelTable({"type": ["f16", "i8", "u8"]}, cases)
    failing = np.arange(80) % 2 == 0
    failing[40:] = np.arange(40) == 0
    found = necessary_condition(table, failing, ~failing, share)
    assert [name for name, _ in found] == factors


def test_few_failures_have_no_more_in_common_than_a_level_that_is_a_cause_of_its_own() -> None:
    rules = ["range"] * 4 + ["rank", "type"] * 10
    cases = [[{"rule": frozenset([rule]), "size": frozenset("2")}] for rule in rules]
    cases[3] = [{"rule": frozenset(["range"]), "size": frozenset("1")}]
    factors = {"rule": ["range", "rank", "type"], "size": ["1", "2"]}
    table = LevelTable(factors, cases, separate=["rule"])
    failing = np.arange(len(cases)) < 3
    assert necessary_condition(table, failing, ~failing) == (("rule", ("range",)),)


def test_what_most_passing_cases_have_too_says_nothing() -> None:
    assert common(lambda case: case["rank"] == case["type"][1:2]) == {}


def test_levels_that_others_include_are_left_out() -> None:
    orders = (["falling", "not rising"], ["not rising", "rotated"], ["not rising"], ["rising"])
    points = [{"order": frozenset(levels), "rank": frozenset("2")} for levels in orders]
    factors = {"order": ["falling", "not rising", "rising", "rotated"], "rank": ["2"]}
    table = LevelTable(factors, [[each] for each in points])
    every = ("order", ("falling", "not rising", "rotated"))
    assert table.without_spare_levels((every, ("rank", ("2",)))) == (
        ("order", ("not rising",)),
        ("rank", ("2",)),
    )
    some = (("order", ("falling", "rotated")),)
    assert table.without_spare_levels(some) == some


def test_a_table_is_extended_by_cases_whose_levels_it_has() -> None:
    cases = [[point(case)] for case in GRID]
    extended = LevelTable(FACTORS, cases[:100]).with_cases([*cases[100:], [point({"rank": "9"})]])
    assert (extended.matrix[:-1] == LevelTable(FACTORS, cases).matrix).all()
    assert not extended.matrix[-1].any()
    assert extended.owners.tolist() == [*range(len(cases) + 1)]
