"""Observation: which levels a call exhibits, determined from the call alone."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Literal

import pytest

from opcert.arrays.calls import Call, Tensor, extent_kinds
from opcert.arrays.element_types import Array, bits_of
from opcert.arrays.tensor_functions import filled, vector
from opcert.cases.observation import Observation, Observer
from opcert.roles.factors import Factor, ObservationPoint, ObservedLevels
from opcert.roles.role import Role
from opcert.specification.files import read_specs_in
from opcert.specification.model import Spec
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from tests import shipped

SPECS = {each.spec.operator: each for each in read_specs_in(None)}
each_spec_at_length = shipped.at_length("name", zip(SPECS))


class Taken(Role):
    """A tensor of which indices take elements; each index is a point."""

    role: Literal["taken"]

    def factors(self) -> Iterator[Factor]:
        yield Factor.of_names("type", ["f32", "i8"])
        yield Factor("n", {"five": 5, "one": 1, "many": 259})
        index = {"first": 0, "last": lambda n: n - 1, "negative": -1, "beyond": lambda n: n}
        yield Factor("index", index, ("n",))
        yield Factor.of_names("rest", ["alone", "more"])
        yield Factor.of_names("others", ["varied", "ones", "long"])

    def observation_points(self, call: Call) -> list[ObservationPoint]:
        # Without an index, there is a point without one.
        return [{"k": k} for k in range(call.inputs["indices"].size)]

    def observe(self, call: Call, point: ObservationPoint) -> ObservedLevels:
        data, indices = call.inputs["data"], call.inputs["indices"].values or ()
        values = {
            "type": data.type,
            "n": data.shape[0],
            "others": extent_kinds(data.shape[1:], data.shape[0]),
        }
        if point:
            values["index"] = indices[point["k"]]
        return ObservedLevels(values, {"rest": frozenset(["more" if indices[1:] else "alone"])})


class Indices(Role):
    """Adds nothing."""

    role: Literal["indices_of_taken"]

    def factors(self) -> Iterator[Factor]:
        return iter(())

    def observe(self, _call: Call, _point: ObservationPoint) -> ObservedLevels:
        return ObservedLevels()


@cache
def observer() -> Observer:
    """The observer of a made-up operator that takes elements of data."""
    argument = {"text": "x", "type": "T"}
    spec = {
        "operator": "made/Up",
        "slug": "up",
        "version": 1,
        "document": {"title": "x", "version": "1"},
        "reference": "up.py:up",
        "types": {"T": ["f32", "i8"]},
        "inputs": [
            {**argument, "name": "data", "role": "taken", "rank": ["1", "8"]},
            {**argument, "name": "indices", "role": "indices_of_taken", "rank": ["1", "1"]},
        ],
        "outputs": [{"name": "out", "type": "T", "shape": "data.shape", "text": "x"}],
        "rules": [{"id": "any", "kind": "behaviour", "clause": "x", "text": "x"}],
    }
    roles = {"taken": Taken, "indices_of_taken": Indices}
    return Observer(Spec.model_validate_json(json.dumps(spec), context={"roles": roles}))


def call(shape: tuple[int, ...], *indices: int, element_type: str = "f32") -> Call:
    return Call({"data": filled(element_type, shape), "indices": vector("i32", indices)})


def missing(call: Call) -> list[str]:
    """Return the factors whose level in LEVELS the call does not exhibit at its best point."""
    points = observer().observe(call)
    return min(([f for f in LEVELS if not o.exhibits(f, LEVELS[f])] for o in points), key=len)


def only(observer: Observer, call: Call) -> Observation:
    (observation,) = observer.observe(call)
    return observation


LEVELS = {"type": "f32", "n": "five", "index": "last", "rest": "more", "others": "varied"}


def test_a_call_that_exhibits_all_levels_lacks_none() -> None:
    assert missing(call((5, 2, 3), 1, 4)) == []


@pytest.mark.parametrize(
    ("drawn", "lacks"),
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
def test_levels_that_are_not_exhibited_are_missing(drawn: Call, lacks: list[str]) -> None:
    assert missing(drawn) == lacks


def test_each_point_is_observed() -> None:
    levels = [each.levels("index") for each in observer().observe(call((5, 2, 3), 1, 4, -1))]
    assert levels == [set(), {"last"}, {"negative"}]


def test_without_an_index_no_level_of_it_is_exhibited() -> None:
    assert missing(call((5, 2))) == ["index", "rest"]


def test_a_factor_without_a_value_at_a_point_has_no_level_there() -> None:
    subject = Observer(SPECS["openvino/Gather-8"].spec)
    observation = Observation(subject, ObservedLevels({"data_rank": 3}))
    assert observation.levels("data_rank") == {"3"}
    assert observation.levels("data_length") == set()


def test_several_levels_of_one_value_are_exhibited_together() -> None:
    observation = only(observer(), call((1, 2, 3), 0))
    assert observation.levels("index") == {"first", "last"}
    assert observation.levels("n") == {"one"}


def test_a_list_exhibits_every_level_whose_value_is_in_it() -> None:
    observation = only(observer(), call((5, 2, 67), 0))
    assert observation.levels("others") == {"varied", "long"}
    assert only(observer(), call((5, 1, 1), 0)).levels("others") == {"ones"}


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


# Whatever is not one of the other levels of its factor.
OF_ANY_CALL = {("indices_order", "drawn"), ("target_shape_new", "drawn")}


@each_spec_at_length
def test_no_level_is_exhibited_everywhere(name: str) -> None:
    """A level that any call exhibits tests nothing, unless it is the ordinary one."""
    subject = Observer(SPECS[name].spec)
    factors = subject.factors.values()
    always = {(factor.name, level) for factor in factors for level in factor.levels}
    operator = shipped.suite(name).operators[name]
    drawn = [case for case in operator.index.cases if "/drawn-" in case.id]
    for stored in (stored_call(operator, case) for case in drawn[::3]):
        for observation in subject.observe(stored):
            always -= {pair for pair in always if not observation.exhibits(*pair)}
    assert always <= OF_ANY_CALL
