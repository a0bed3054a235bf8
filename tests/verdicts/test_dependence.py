"""Which earlier calls make a call fail, found from trials in fresh processes."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from opcert.arrays.calls import Call
from opcert.arrays.element_types import Array
from opcert.arrays.layouts import C_ORDER
from opcert.arrays.tensor_functions import filled, scalar, vector
from opcert.run.session import Step
from opcert.verdicts.call_facts import differing, facts_of
from opcert.verdicts.dependence import (
    Known,
    Relation,
    Trial,
    explained_by,
    known_case,
    most_alike,
    relation_of,
)
from opcert.verdicts.earlier_calls import parts_taken
from tests.faults.finding import core_suite

Outcome = Literal["outputs", "rejection"]


def known(
    name: str, outcome: Outcome = "outputs", baseline: str | None = None, **facts: object
) -> Known:
    return Known(name, baseline, facts, outcome)


LAST = known("last", shape=(2, 3), axis=1)
SAME_SHAPE = known("same-shape", shape=(2, 3), axis=0)
OTHER_SHAPE = known("other-shape", shape=(4,), axis=0)
REJECTED = known("rejected", "rejection", "last", shape=(2, 3), axis=7)


NOTHING: dict[str, Array] = {}
FAILS_AFTER_ANOTHER_AXIS = ((SAME_SHAPE, True), (OTHER_SHAPE, False), (LAST, False))


def tried(*outcomes: tuple[Known, bool]) -> list[Trial]:
    return [Trial(first, LAST, fails) for first, fails in outcomes]


def test_a_key_that_lacks_an_attribute_is_found_by_what_is_shared_and_what_differs() -> None:
    relation = relation_of(tried(*FAILS_AFTER_ANOTHER_AXIS))
    assert relation.text == "another call with the same shape, but another axis"
    assert relation.figures == "tried: after 1 of 1 such calls, after 0 of 2 others"


def test_the_ends_of_a_list_are_facts_of_a_call_but_no_difference_besides_its_value() -> None:
    one, other = (
        facts_of(Call({"pads": vector("i64", (1, end))}, {"axes": [end, 2]}), NOTHING.__getitem__)
        for end in (3, 4)
    )
    assert one["first element of pads"] == other["first element of pads"]
    assert one["last element of axes"] == other["last element of axes"]
    assert differing(one, other) == ("value of pads", "value of axes")


def test_the_outer_extents_of_data_are_facts_but_no_difference_besides_its_shape() -> None:
    one, other = (
        facts_of(Call({"data": filled("f32", shape)}, {}), {"data": np.zeros(shape)}.__getitem__)
        for shape in ((2, 3, 4), (5, 6, 4))
    )
    assert one["last extent of data"] == other["last extent of data"]
    assert one["first extent of data"] != other["first extent of data"]
    assert differing(one, other) == ("shape of data",)


def test_data_that_a_call_describes_without_values_have_a_content() -> None:
    call = Call({"data": filled("f32", (2,))}, {})
    one, same, other = (
        facts_of(call, {"data": np.array([1, end], np.float32)}.__getitem__) for end in (2, 2, 3)
    )
    assert not differing(one, same)
    assert differing(one, other) == ("content of data",)


def test_an_axis_counted_from_the_front_and_the_extent_along_it_are_facts() -> None:
    suite = core_suite()
    first, last, other = (
        facts_of(
            Call({"data": filled("f32", shape), "axis": scalar("i64", axis)}, {}),
            {"data": np.zeros(shape, np.float32)}.__getitem__,
            suite.spec_files["openvino/VariadicSplit-1"],
        )
        for shape, axis in (((2, 3), -1), ((4, 3), 1), ((2, 3), 0))
    )
    assert first["position of axis"] == last["position of axis"]
    assert first["extent along axis of data"] == last["extent along axis of data"]
    # They follow from the value, and from the shape.
    assert differing(first, other) == ("value of axis",)
    assert differing(last, first) == ("value of axis", "shape of data")


def test_data_of_an_invalid_call_have_a_content_as_those_of_its_baseline() -> None:
    suite = core_suite()
    case = next(c for _, c in suite.cases.values() if c.violated_rule == "gather-8/axis-range")
    facts = known_case(suite, {}, case.id).facts
    assert "content of data" in facts
    assert "value of data" not in facts
    assert "value of axis" in facts


def test_the_content_of_data_is_nothing_that_calls_have_in_common() -> None:
    facts: dict[str, object] = {"shape": (2,), "axis": 1, "content of data": 7}
    last, alike, other = (
        Known(name, None, facts | changed, "outputs")
        for name, changed in (
            ("last", {}),
            ("alike", {"axis": 0}),
            ("other", {"axis": 2, "shape": (3,), "content of data": 8}),
        )
    )
    found = relation_of([Trial(alike, last, True), Trial(other, last, False)])
    assert found.same == ("shape",)


def test_what_both_calls_lack_of_an_argument_that_they_have_is_nothing_in_common() -> None:
    bare = {"type of data": "f32", "axis": 1}
    last, alike, other = (
        Known(name, None, facts, "outputs")
        for name, facts in (
            ("last", bare),
            ("alike", bare),
            ("other", {**bare, "axis": 2, "first element of data": "1"}),
        )
    )
    trials = [Trial(alike, last, True), Trial(other, last, False)]
    assert relation_of(trials).same == ("axis",)


def test_calls_are_most_alike_that_share_what_few_others_have() -> None:
    many = [known(f"of-one-type-{i}", shape=(i,), type="f32", layout="C") for i in range(20)]
    same_shape = known("same-shape", shape=(2, 3), type="i8", layout="gaps")
    last = known("last", shape=(2, 3), type="f32", layout="C")
    assert most_alike(last, [same_shape, *many])[-1] == same_shape


def test_what_only_the_earlier_call_has_is_given() -> None:
    bare, given = known("bare", shape=(2,)), known("given", shape=(2,), axes=(1,))
    trials = [Trial(given, bare, True), Trial(bare, bare, False)]
    assert relation_of(trials).text == "another call with axes given"


def test_one_earlier_call_states_a_value_by_chance() -> None:
    bare = Known("bare", None, {"type of data": "f32"}, "outputs")
    explicit = replace(bare, facts={**bare.facts, "value of mode": '"explicit"'})
    trials = [Trial(explicit, bare, True), Trial(bare, bare, False)]
    assert relation_of(trials).text == "another call with another value of mode"


def test_what_only_rejected_calls_do_is_found_by_their_outcome_alone() -> None:
    relation = relation_of(tried((REJECTED, True), (SAME_SHAPE, False), (LAST, False)))
    assert relation.text == "a rejected call"


def test_what_an_earlier_call_states_is_named_where_it_says_more_than_what_differs() -> None:
    last = known("last", axes="[0]")
    firsts = [
        Known(flag, None, {"value of keep_dims": flag, "axes": axes}, "outputs")
        for flag, axes in (("true", "[1]"), ("true", "[2]"), ("false", "[3]"))
    ]
    trials = [Trial(first, last, first.case == "true") for first in (*firsts, last)]
    relation = relation_of(trials)
    assert relation.text == "another call with keep_dims = true"
    assert relation.counts == (2, 0, 0, 2)
    assert [relation.explains(first, last) for first in firsts] == [True, True, False]
    (stated,) = relation.facts
    assert relation.without(stated).text == "any call"


def test_an_input_that_an_earlier_call_gives_is_named() -> None:
    last = Known("last", None, {"type of data": "f32"}, "outputs")
    given, bare = (
        Known(name, None, {"type of data": "f32", **facts}, "outputs")
        for name, facts in (("given", {"type of pads": "i64", "rank of pads": 1}), ("bare", {}))
    )
    trials = [Trial(given, last, True), Trial(bare, last, False)]
    assert relation_of(trials, ("type of pads", "rank of pads")).text == (
        "another call with pads given"
    )


def test_what_any_earlier_call_does_has_no_condition() -> None:
    relation = relation_of(tried((REJECTED, True), (SAME_SHAPE, True), (LAST, True)))
    assert relation.text == "any call"


@pytest.mark.parametrize(
    ("others", "is_evident"),
    [([], False), ([(OTHER_SHAPE, False)], True)],
    ids=["none-passes-for-lack-of-a-fact", "another-passes"],
)
def test_what_fails_at_times_after_any_call_is_no_relation(
    others: list[tuple[Known, bool]], is_evident: bool
) -> None:
    relation = relation_of(tried((SAME_SHAPE, True), (SAME_SHAPE, False), *others))
    assert relation.is_evident == is_evident


def test_what_no_fact_separates_is_counted() -> None:
    relation = relation_of(tried((SAME_SHAPE, True), (SAME_SHAPE, False)))
    assert relation.counts == (1, 1, 0, 0)


def test_of_facts_that_separate_the_same_the_one_that_differs_least_often_is_named() -> None:
    last = known("last", values=5, type="i8")
    firsts = [known("a", values=1, type="f32"), known("b", values=2, type="i8"), last]
    trials = [Trial(first, last, first.case == "a") for first in firsts]
    assert relation_of(trials).text == "another call with another type"


def names(cases: Iterable[Known], failing: list[str], *trials: tuple[Known, bool]) -> list[str]:
    return explained_by(relation_of(tried(*trials)), failing, {case.case: case for case in cases})


def test_a_failure_is_explained_by_a_call_that_the_run_made_before_it() -> None:
    failing, made = ["last", "other-shape"], FAILS_AFTER_ANOTHER_AXIS
    assert names([SAME_SHAPE, LAST, OTHER_SHAPE], failing, *made) == ["last"]
    assert names([LAST, SAME_SHAPE, OTHER_SHAPE], failing, *made) == []


@pytest.mark.parametrize("outcome", ["outputs", "rejection"])
def test_only_a_valid_case_makes_its_own_call_with_other_data(outcome: Outcome) -> None:
    facts = {"content of data": 1, "shape of data": (2,)}
    relation = Relation(
        outcome=None, same=("shape of data",), other=("content of data",), counts=(1, 0, 0, 0)
    )
    own = Known("own", None, facts, outcome)
    assert bool(explained_by(relation, ["own"], {"own": own})) == (outcome == "outputs")


def test_a_rejection_is_followed_by_the_call_of_its_baseline() -> None:
    made = ((REJECTED, True), (SAME_SHAPE, False), (LAST, False))
    assert names([LAST, REJECTED], ["rejected"], *made) == ["rejected"]


def test_parts_are_taken_one_at_a_time_in_the_order_of_the_spec() -> None:
    def call(*names: str, **attributes: int) -> Step:
        inputs: dict[str, Array] = {name: np.array([len(names)], np.int32) for name in names}
        return Step("a/A", inputs, attributes, None, dict.fromkeys(names, C_ORDER), ())

    one, other = call("data", "start", axis=1), call("data", "axes", "start", axis=2)
    taken = [*parts_taken(one, other)]
    assert [[*step.inputs] for step in taken] == [
        ["data", "start"],
        ["data", "start"],
        ["data", "axes", "start"],
        ["data", "start"],
    ]
    assert [step.attributes for step in taken] == [{"axis": 1}] * 3 + [{"axis": 2}]
    assert not [*parts_taken(one, one)]


def test_the_types_of_all_tensors_are_taken_together_too() -> None:
    def call(number: int, dtype: str) -> Step:
        inputs = {f"inputs[{i}]": np.zeros(2, dtype) for i in range(number)}
        return Step("a/A", inputs, {}, None, dict.fromkeys(inputs, C_ORDER), ())

    first, *_ = parts_taken(call(3, "i4"), call(2, "f4"))
    assert {array.dtype.name for array in first.inputs.values()} == {"float32"}
    assert len(first.inputs) == 3
