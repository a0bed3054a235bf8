"""Sight: which levels show in a call, told from the call alone."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

import pytest

from opcert.arrays import Array, Call, Tensor, bits_of, filled, vector, with_layout
from opcert.cases import Observer
from opcert.cases.observation import Observation
from opcert.errors import ExpressionError
from opcert.specification import Spec, read_specs_in
from opcert.suite import IndexedCase, OperatorSuite
from tests.faults.finding import core_suite

SUITE = core_suite()
SPECS = {each.spec.operator: each for each in read_specs_in(None)}
each_spec = pytest.mark.parametrize("name", SPECS)

FACTORS = {
    "type": "T",
    "n": {"five": "5", "one": "1", "many": "259"},
    "index": {"first": "0", "last": "n - 1", "negative": "-1", "beyond": "n"},
    "rest": {"alone": "0", "more": "1"},
    "others": "['varied', 'ones', 'long']",
}
SEEN_AT = {"k": "range(indices.size)"}
SEEN = {
    "type": "data.type",
    "n": "data.shape[0]",
    "index": "indices.values[k]",
    "beside": "[*indices.values[:k], *indices.values[k + 1:]]",
    "rest": {"alone": "len(beside) == 0", "more": "len(beside) > 0"},
    "others": "kinds(data.shape[1:], data.shape[0])",
}


def observer(seen: Mapping[str, Any] = SEEN, profile: str = "core", **table: Any) -> Observer:
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
            "places": SEEN_AT,
            "observe": seen,
            **table,
        },
    }
    return Observer(Spec.model_validate_json(json.dumps(spec)), profile)


def call(shape: tuple[int, ...], *indices: int, element_type: str = "f32") -> Call:
    return Call({"data": filled(element_type, shape), "indices": vector("i32", indices)})


def only(found: Observer, drawn: Call) -> Observation:
    (observation,) = found.observe(drawn)
    return observation


LEVELS = {"type": "f32", "n": "five", "index": "last", "rest": "more", "others": "varied"}


def test_a_call_that_shows_all_its_levels_misses_none() -> None:
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
def test_what_does_not_show_is_missed(drawn: Call, missing: list[str]) -> None:
    assert observer().unobserved(drawn, LEVELS) == missing


def test_each_place_is_looked_at_and_the_best_counts() -> None:
    found = observer()
    drawn = call((5, 2, 3), 1, 4, -1)
    shown = [observation.levels("index") for observation in found.observe(drawn)]
    assert shown == [set(), {"last"}, {"negative"}]
    for level in ("last", "negative"):
        assert found.unobserved(drawn, {**LEVELS, "index": level}) == []
    assert found.unobserved(drawn, {**LEVELS, "index": "first"}) == ["index"]


def test_without_a_place_nothing_shows() -> None:
    assert observer().unobserved(call((5,)), LEVELS) == list(LEVELS)


def test_without_seen_at_there_is_one_place() -> None:
    found = observer({"n": "data.shape[0]"}, places={})
    assert len(list(found.observe(call((5, 2), 1, 2)))) == 1
    assert found.unobserved(call((5, 2)), LEVELS) == []


def test_several_levels_of_one_value_show_together() -> None:
    observation = only(observer(), call((1, 2, 3), 0))
    assert observation.levels("index") == {"first", "last"}
    assert observation.levels("n") == {"one"}


def test_a_list_shows_every_level_whose_value_is_in_it() -> None:
    observation = only(observer(), call((5, 2, 67), 0))
    assert observation.levels("others") == {"varied", "long"}
    assert only(observer(), call((5, 1, 1), 0)).levels("others") == {"ones"}


def test_an_element_that_the_call_does_not_have_shows_nothing() -> None:
    found = observer({"mine": "indices.values[9]", "n": "mine"}, places={})
    assert found.unobserved(call((5, 2, 3), 1, 4), LEVELS) == ["n"]


def test_a_factor_that_cannot_be_told_is_not_asked_for() -> None:
    found = observer({"type": "data.type"}, places={})
    assert found.factors == ["type"]
    assert found.unobserved(call((9,), 3), LEVELS) == []


def test_a_factor_told_by_conditions_has_the_value_of_its_level() -> None:
    seen = {
        "n": {"five": "data.rank == 1", "one": "data.rank == 2", "many": "data.rank > 2"},
        "index": "indices.values[0]",
    }
    assert only(observer(seen, places={}), call((3,), 4)).levels("index") == {"last"}
    assert only(observer(seen, places={}), call((3, 3), 0)).levels("index") == {"first", "last"}
    assert only(observer(seen, places={}), call((3, 3, 3), 259)).levels("index") == {"beyond"}


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
def test_what_cannot_be_told_is_a_mistake_with_its_place(
    change: dict[str, Any], place: tuple[str, ...]
) -> None:
    with pytest.raises(ExpressionError) as caught:
        observer(**change).unobserved(call((5, 2, 3), 1, 4), LEVELS)
    assert caught.value.place == place


def test_the_layout_of_a_tensor_shows() -> None:
    found = observer(
        {"layout": "data.layout"},
        places={},
        factors={"layout": "['c', 'fortran', 'reversed', 'gapped']"},
    )

    def shown(shape: tuple[int, ...], layout: Any) -> frozenset[str]:
        drawn = Call(
            {"data": with_layout(filled("i8", shape), layout), "indices": vector("i8", ())}
        )
        return only(found, drawn).levels("layout")

    for layout in ("c", "fortran", "reversed", "gapped"):
        assert shown((2, 3), layout) == {layout}
    assert shown((1, 3), "fortran") == shown((2, 0), "gapped") == shown((1, 1), "reversed") == {"c"}


def stored_call(operator: OperatorSuite, case: IndexedCase) -> Call:
    """Return the call that the suite stores, whatever it was drawn from."""
    inputs = {}
    for name, array in operator.inputs(case).items():
        given, is_free = case.inputs[name], name in case.data_inputs
        values = None if is_free else tuple(array.ravel().tolist())
        alike = alike_of(array) if is_free else "no"
        inputs[name] = Tensor(
            given.type, given.shape, values, requested_layout=given.layout, uniform=alike
        )
    return Call(inputs, case.attributes)


def alike_of(array: Array) -> Literal["no", "some", "zero"]:
    """Tell whether several elements are all the same, and whether they are zero."""
    elements = [*bits_of(array).ravel().tolist()]
    if len(elements) < 2 or len({*elements}) > 1:
        return "no"
    return "some" if elements[0] else "zero"


@cache
def stored_calls(name: str) -> list[tuple[Mapping[str, str], Call]]:
    operator = SUITE.operators[name]
    drawn = [case for case in operator.index.cases if case.levels]
    # Generation asks it of every case; a third of them is quick.
    return [(case.levels, stored_call(operator, case)) for case in drawn[::3]]


@each_spec
def test_every_level_of_the_core_suite_shows_in_the_case_that_has_it(name: str) -> None:
    found = Observer(SPECS[name].spec)
    for levels, stored in stored_calls(name):
        assert found.unobserved(stored, levels) == []


@each_spec
def test_every_factor_of_a_shipped_spec_can_be_told(name: str) -> None:
    found = Observer(SPECS[name].spec)
    assert found.factors == list(found.levels)


# Whatever is not one of the other levels of its factor.
OF_ANY_CALL = {("indices_order", "drawn"), ("target_shape_new", "drawn")}


@each_spec
def test_every_level_fails_to_show_from_some_place_of_the_core_suite(name: str) -> None:
    """A level that shows in any call tells nothing, unless it stands for the ordinary."""
    found = Observer(SPECS[name].spec)
    left = {(factor, level) for factor, levels in found.levels.items() for level in levels}
    for _, stored in stored_calls(name):
        for observation in found.observe(stored):
            left -= {pair for pair in left if not observation.shows(*pair)}
    assert left <= OF_ANY_CALL
