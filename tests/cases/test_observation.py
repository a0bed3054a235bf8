"""Observation: which levels a call exhibits, determined from the call alone."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

import pytest

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.element_types import Array, bits_of
from opcert.arrays.tensor_functions import filled, vector, with_layout
from opcert.cases.observation import Observation, Observer
from opcert.errors import ExpressionError
from opcert.roles.factors import ObservedLevels
from opcert.specification.files import read_specs_in
from opcert.specification.model import Spec
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from tests import shipped

SPECS = {each.spec.operator: each for each in read_specs_in(None)}
each_spec = pytest.mark.parametrize("name", SPECS)
each_spec_at_length = shipped.at_length("name", zip(SPECS))

FACTORS = {
    "type": "T",
    "n": {"five": "5", "one": "1", "many": "259"},
    "index": {"first": "0", "last": "n - 1", "negative": "-1", "beyond": "n"},
    "rest": {"alone": "0", "more": "1"},
    "others": "['varied', 'ones', 'long']",
}
PLACES = {"k": "range(indices.size)"}
OBSERVE = {
    "type": "data.type",
    "n": "data.shape[0]",
    "index": "indices.values[k]",
    "rest_of_indices": "[*indices.values[:k], *indices.values[k + 1:]]",
    "rest": {"alone": "len(rest_of_indices) == 0", "more": "len(rest_of_indices) > 0"},
    "others": "extent_kinds(data.shape[1:], data.shape[0])",
}


def observer(observe: Mapping[str, Any] = OBSERVE, profile: str = "core", **table: Any) -> Observer:
    """The observer of a made-up operator that takes elements of data."""
    argument = {"required": True, "text": "x"}
    spec = {
        "operator": "made/Up",
        "slug": "up",
        "version": 1,
        "document": {"title": "x", "version": "1"},
        "reference": "up.py:up",
        "types": {"T": ["f32", "i8"]},
        "inputs": [
            {**argument, "name": "data", "type": "T", "rank": ["1", "8"]},
            {**argument, "name": "indices", "type": "T", "rank": ["1", "1"]},
        ],
        "outputs": [{"name": "out", "type": "T", "shape": "data.shape", "text": "x"}],
        "rules": [{"id": "any", "kind": "behaviour", "clause": "x", "text": "x"}],
        "cases": {
            "factors": FACTORS,
            "inputs": {"data": "filled(type, [n])", "indices": "vector('i8', [index])"},
            "places": PLACES,
            "observe": observe,
            **table,
        },
    }
    return Observer(Spec.model_validate_json(json.dumps(spec)), profile)


def call(shape: tuple[int, ...], *indices: int, element_type: str = "f32") -> Call:
    return Call({"data": filled(element_type, shape), "indices": vector("i32", indices)})


def only(observer: Observer, call: Call) -> Observation:
    (observation,) = observer.observe(call)
    return observation


LEVELS = {"type": "f32", "n": "five", "index": "last", "rest": "more", "others": "varied"}


def test_a_call_that_exhibits_all_levels_lacks_none() -> None:
    assert observer().unobserved(call((5, 2, 3), 1, 4), LEVELS) == []


@pytest.mark.parametrize(
    ("drawn", "missing"),
    [
        (call((5, 2, 3), 1, 4, element_type="i8"), ["type"]),
        (call((5, 2, 3), 4), ["rest"]),
        (call((5, 1, 1), 1, 4), ["others"]),
        (call((5, 2, 3), 1, 3), ["index"]),
        # What builds on another factor follows what that shows of it.
        (call((259, 2, 3), 1, 258), ["n"]),
        (call((259, 2, 3), 1, 4), ["n", "index"]),
        # A value that no level has shows none, nor what builds on it.
        (call((7, 2, 3), 1, 6), ["n"]),
    ],
    ids=str,
)
def test_levels_that_are_not_exhibited_are_returned(drawn: Call, missing: list[str]) -> None:
    assert observer().unobserved(drawn, LEVELS) == missing


def test_each_point_is_observed_and_the_best_counts() -> None:
    indices = observer()
    drawn = call((5, 2, 3), 1, 4, -1)
    levels = [observation.levels("index") for observation in indices.observe(drawn)]
    assert levels == [set(), {"last"}, {"negative"}]
    for level in ("last", "negative"):
        assert indices.unobserved(drawn, {**LEVELS, "index": level}) == []
    assert indices.unobserved(drawn, {**LEVELS, "index": "first"}) == ["index"]


def test_without_a_point_nothing_is_exhibited() -> None:
    assert observer().unobserved(call((5,)), LEVELS) == list(LEVELS)


def test_a_factor_without_a_value_at_a_point_has_no_level_there() -> None:
    subject = Observer(SPECS["openvino/Gather-8"].spec)
    observation = Observation(subject, {}, ObservedLevels({"data_rank": 3}))
    assert observation.levels("data_rank") == {"3"}
    assert observation.levels("data_length") == set()


def test_without_places_there_is_one_point() -> None:
    subject = observer({"n": "data.shape[0]"}, places={})
    assert len(list(subject.observe(call((5, 2), 1, 2)))) == 1
    assert subject.unobserved(call((5, 2)), LEVELS) == []


def test_several_levels_of_one_value_are_exhibited_together() -> None:
    observation = only(observer(), call((1, 2, 3), 0))
    assert observation.levels("index") == {"first", "last"}
    assert observation.levels("n") == {"one"}


def test_a_list_exhibits_every_level_whose_value_is_in_it() -> None:
    observation = only(observer(), call((5, 2, 67), 0))
    assert observation.levels("others") == {"varied", "long"}
    assert only(observer(), call((5, 1, 1), 0)).levels("others") == {"ones"}


def test_an_element_that_the_call_lacks_exhibits_nothing() -> None:
    lacking = observer({"mine": "indices.values[9]", "n": "mine"}, places={})
    assert lacking.unobserved(call((5, 2, 3), 1, 4), LEVELS) == ["n"]


def test_a_factor_that_cannot_be_observed_is_ignored() -> None:
    subject = observer({"type": "data.type"}, places={})
    assert subject.factors == ["type"]
    assert subject.unobserved(call((9,), 3), LEVELS) == []


def test_a_factor_observed_by_conditions_has_the_value_of_its_level() -> None:
    by_conditions = {
        "n": {"five": "data.rank == 1", "one": "data.rank == 2", "many": "data.rank > 2"},
        "index": "indices.values[0]",
    }
    assert only(observer(by_conditions, places={}), call((3,), 4)).levels("index") == {"last"}
    assert only(observer(by_conditions, places={}), call((3, 3), 0)).levels("index") == {
        "first",
        "last",
    }
    assert only(observer(by_conditions, places={}), call((3, 3, 3), 259)).levels("index") == {
        "beyond"
    }


def test_the_levels_are_those_of_the_profile() -> None:
    other = {"stress": {"n": {"huge": "65539"}}}
    assert set(observer(profiles=other).levels["n"]) == {"five", "one", "many"}
    stressed = observer(profile="stress", profiles=other)
    assert set(stressed.levels["n"]) == {"huge"}
    assert set(stressed.levels["index"]) == set(FACTORS["index"])
    assert stressed.unobserved(call((65539, 2, 3), 1, 65538), {**LEVELS, "n": "huge"}) == []


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"places": {"k": "data.rank"}}, ("cases", "places", "k")),
        ({"places": {"k": "highest('f32')"}}, ("cases", "places", "k")),
        ({"observe": {"n": "highest('f32')"}}, ("cases", "observe", "n")),
        ({"observe": {"mine": "highest('f32')", "n": "mine"}}, ("cases", "observe", "mine")),
        (
            {"observe": {"rest": {"alone": "data.rank == 9", "more": "data.rank"}}},
            ("cases", "observe", "rest", "more"),
        ),
    ],
    ids=str,
)
def test_an_observation_that_fails_is_a_mistake_with_its_place(
    change: dict[str, Any], place: tuple[str, ...]
) -> None:
    with pytest.raises(ExpressionError) as caught:
        observer(**change).unobserved(call((5, 2, 3), 1, 4), LEVELS)
    assert caught.value.place == place


def test_the_layout_of_a_tensor_is_observed() -> None:
    subject = observer(
        {"layout": "data.layout"},
        places={},
        factors={"layout": "['c', 'fortran', 'reversed', 'gapped']"},
    )

    def exhibited(shape: tuple[int, ...], layout: Any) -> frozenset[str]:
        drawn = Call(
            {"data": with_layout(filled("i8", shape), layout), "indices": vector("i8", ())}
        )
        return only(subject, drawn).levels("layout")

    for layout in ("c", "fortran", "reversed", "gapped"):
        assert exhibited((2, 3), layout) == {layout}
    # Where no layout makes a difference, it is C order.
    assert exhibited((1, 3), "fortran") == {"c"}
    assert exhibited((2, 0), "gapped") == {"c"}
    assert exhibited((1, 1), "reversed") == {"c"}


def stored_call(operator: OperatorSuite, case: IndexedCase) -> Call:
    """Return the call that the suite stores, whatever it was built for."""
    inputs = {}
    for name, array in operator.inputs(case).items():
        stored, is_data = case.inputs[name], name in case.data_inputs
        values = None if is_data else tuple(array.ravel().tolist())
        uniform = uniformity(array) if is_data else "no"
        inputs[name] = Tensor(
            stored.type, stored.shape, values, requested_layout=stored.layout, uniform=uniform
        )
    return Call(inputs, case.attributes)


def uniformity(array: Array) -> Literal["no", "some", "zero"]:
    """Whether several elements are all the same, and whether they are zero."""
    elements = [*bits_of(array).ravel().tolist()]
    if len({*elements}) != 1:
        return "no"
    # The pattern of a single element is not zero.
    return "zero" if not elements[0] else "some" if len(elements) > 1 else "no"


@cache
def stored_calls(name: str) -> list[tuple[Mapping[str, str], Call]]:
    operator = shipped.suite(name).operators[name]
    drawn = [case for case in operator.index.cases if case.levels]
    # Generation asks it of every case; a third of them is quick.
    return [(case.levels, stored_call(operator, case)) for case in drawn[::3]]


@each_spec_at_length
def test_each_case_of_a_core_suite_exhibits_its_levels(name: str) -> None:
    subject = Observer(SPECS[name].spec)
    for levels, stored in stored_calls(name):
        assert subject.unobserved(stored, levels) == []


@each_spec
def test_every_factor_of_a_shipped_spec_can_be_observed(name: str) -> None:
    subject = Observer(SPECS[name].spec)
    assert subject.factors == list(subject.levels)


# Whatever is not one of the other levels of its factor.
OF_ANY_CALL = {("indices_order", "drawn"), ("target_shape_new", "drawn")}


@each_spec_at_length
def test_no_level_is_exhibited_everywhere(name: str) -> None:
    """A level that any call exhibits tests nothing, unless it is the ordinary one."""
    subject = Observer(SPECS[name].spec)
    always = {(factor, level) for factor, levels in subject.levels.items() for level in levels}
    for _, stored in stored_calls(name):
        for observation in subject.observe(stored):
            always -= {pair for pair in always if not observation.exhibits(*pair)}
    assert always <= OF_ANY_CALL
