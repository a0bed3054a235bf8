"""Which rules a call satisfies and violates, by conditions small enough to follow by hand."""

from typing import Any

import pytest
import yaml

from opcert.arrays.calls import Call, Tensor
from opcert.cases.conditions import Conditions
from opcert.errors import ExpressionError
from opcert.specification.model import Spec

DATA = Tensor("i8", (4, 2))
SPEC = yaml.safe_load("""\
operator: example/Take-1
slug: take-1
version: 1
document: {title: Take, version: "1"}
reference: take.py:take
types: {T: [i8, f32]}
inputs:
  - {name: data, type: T, required: true, text: "", rank: ["0", "8"]}
  - {name: mask, type: T, required: false, text: "", rank: ["0", "8"]}
attributes: [{name: count, type: int, required: false, default: 1, text: ""}]
outputs: [{name: output, type: T, text: "", shape: "[count, 2]"}]
rules:
  - {id: not-negative, kind: requirement, clause: "1", text: "", holds: count >= 0}
  - {id: enough, kind: requirement, clause: "1", text: "", prerequisites: [not-negative],
     holds: "count <= data.shape[0]"}
  - {id: mask-rank, kind: requirement, clause: "1", text: "", when: mask is not None,
     holds: mask.rank == 1}
  - {id: all-rows, kind: behaviour, clause: "2", text: "", when: "count == data.shape[0]",
     holds: "outputs[0].shape == data.shape"}
ambiguities:
  - {id: none, clause: "3", text: What no rows are., readings: {valid: Rows., invalid: No rows.},
     touches: count == 0}
""")
NOT_NEGATIVE, ENOUGH, WITH_MASK, _ = SPEC["rules"]
(NONE,) = SPEC["ambiguities"]


def conditions(**changed: Any) -> Conditions:
    """Return the conditions of a spec that takes `count` rows of `data`."""
    return Conditions(Spec.model_validate({**SPEC, **changed}, strict=False))


def call(count: int | None = None, **inputs: Tensor) -> Call:
    attributes = {} if count is None else {"count": count}
    return Call({"data": DATA, **inputs}, attributes)


def test_what_is_omitted_has_its_default_and_is_listed() -> None:
    names = conditions().names(call())
    assert (names["count"], names["mask"]) == (1, None)
    assert names["omitted"] == ("mask", "count")


def test_type_symbols_are_the_names_of_their_types() -> None:
    assert conditions().names(call())["T"] == ("i8", "f32")


def test_a_valid_call_satisfies_every_rule_that_applies() -> None:
    check = conditions().check(call(4))
    assert (check.satisfied, check.violated) == (("not-negative", "enough"), ())


def test_a_rule_with_when_is_checked_where_it_applies() -> None:
    check = conditions().check(call(4, mask=Tensor("i8", (4, 1))))
    assert check.violated == ("mask-rank",)


def test_a_rule_is_not_checked_where_a_prerequisite_is_violated() -> None:
    check = conditions().check(call(-1))
    assert (check.satisfied, check.violated) == ((), ("not-negative",))


def test_a_rule_that_is_not_checked_fails_as_a_prerequisite() -> None:
    last = {**ENOUGH, "id": "last", "prerequisites": ["enough"], "holds": "False"}
    check = conditions(rules=[NOT_NEGATIVE, ENOUGH, last]).check(call(-1))
    assert check.violated == ("not-negative",)


def test_every_rule_whose_prerequisites_hold_is_checked() -> None:
    check = conditions().check(call(-1, mask=Tensor("i8", ())))
    assert check.violated == ("not-negative", "mask-rank")


def test_a_rule_does_not_apply_without_a_required_argument_that_it_names() -> None:
    check = conditions().check(Call({}, {"count": 9}))
    assert (check.satisfied, check.violated) == (("not-negative",), ())


def test_a_behaviour_is_exhibited_when_its_condition_holds() -> None:
    assert conditions().behaviours(call(4)) == ("all-rows",)
    assert conditions().behaviours(call(3)) == ()


def test_the_first_ambiguity_that_a_call_touches_decides_it() -> None:
    twice = conditions(ambiguities=[NONE, {**NONE, "id": "other", "touches": "count < 3"}])
    assert [twice.ambiguity(call(count)) for count in (0, 2, 3)] == ["none", "other", None]


def test_a_call_that_is_invalid_in_both_readings_is_not_ambiguous() -> None:
    few = {**NONE, "touches": "count < 2"}
    assert conditions(ambiguities=[few]).ambiguity(call(1)) == "none"
    assert conditions(ambiguities=[few]).ambiguity(call(-1)) is None
    assert (
        conditions(ambiguities=[{**few, "breaks": ["not-negative"]}]).ambiguity(call(-1)) == "none"
    )


def test_an_ambiguity_is_not_touched_without_a_required_argument_that_it_names() -> None:
    about = conditions(ambiguities=[{**NONE, "touches": "data.rank == 0"}])
    assert about.ambiguity(Call()) is None


def test_outputs_have_the_declared_shapes_and_the_type_of_their_symbol() -> None:
    assert conditions().outputs(call(3)) == [Tensor("i8", (3, 2))]


def test_an_output_description_can_describe_several_numbered_outputs() -> None:
    parts = [{"name": "o", "type": "T", "text": "", "count": "count", "shape": "[i]"}]
    assert conditions(outputs=parts).outputs(call(2)) == [Tensor("i8", (0,)), Tensor("i8", (1,))]


@pytest.mark.parametrize("shape", ["3", "'x'", "['x']", "[1.5]", "None", "data.shape[9]"])
def test_a_declared_shape_that_is_no_shape_is_a_mistake(shape: str) -> None:
    outputs = [{"name": "o", "type": "T", "text": "", "shape": shape}]
    with pytest.raises(ExpressionError, match=r"expected a shape|out of range"):
        conditions(outputs=outputs).outputs(call())


@pytest.mark.parametrize("count", ["-1", "data.shape", "10**9", "'2'", "data.shape[9]"])
def test_a_declared_count_that_is_no_count_is_a_mistake(count: str) -> None:
    outputs = [{"name": "o", "type": "T", "text": "", "shape": "[1]", "count": count}]
    with pytest.raises(ExpressionError, match=r"expected a number of outputs|out of range"):
        conditions(outputs=outputs).outputs(call())


def test_outputs_contradict_a_behaviour_whose_condition_is_false() -> None:
    exhibited = ["take-1/all-rows"]
    assert conditions().contradicted(call(4), exhibited, [DATA]) == []
    assert conditions().contradicted(call(4), exhibited, [Tensor("i8", ())]) == ["all-rows"]


def test_a_behaviour_that_is_not_exhibited_is_not_contradicted() -> None:
    assert conditions().contradicted(call(3), [], [Tensor("i8", ())]) == []


@pytest.mark.parametrize("holds", ["count", "data.shape[7] == 1", "data.values[0] == 1"])
def test_a_condition_that_is_no_bool_is_a_mistake(holds: str) -> None:
    with pytest.raises(ExpressionError, match=r"expected true or false|out of range|cannot be"):
        conditions(rules=[{**NOT_NEGATIVE, "holds": holds}]).check(call())


# Whether a negative count may count from the end; the rule that forbids it is given first.
FROM_END = {**NONE, "id": "from-end", "touches": "count < 0", "breaks": ["not-negative"]}
FITS = {**ENOUGH, "id": "fits", "holds": "-count <= data.shape[0]"}


def test_a_call_is_ambiguous_where_it_is_valid_in_one_reading() -> None:
    spec = conditions(rules=[NOT_NEGATIVE, FITS], ambiguities=[FROM_END])
    assert spec.ambiguity(call(-4)) == "from-end"


def test_a_call_that_also_violates_a_dependent_rule_is_not_ambiguous() -> None:
    # It violates a rule whose prerequisite the reading that rejects the call leaves violated.
    spec = conditions(rules=[NOT_NEGATIVE, FITS], ambiguities=[FROM_END])
    assert spec.ambiguity(call(-5)) is None
    assert spec.check(call(-5)).violated == ("not-negative",)


def test_a_call_that_violates_only_rules_of_two_ambiguities_is_ambiguous() -> None:
    of_masks = {**NONE, "id": "masks", "touches": "mask is not None", "breaks": ["mask-rank"]}
    spec = conditions(rules=[NOT_NEGATIVE, WITH_MASK], ambiguities=[FROM_END, of_masks])
    assert spec.ambiguity(call(-1, mask=Tensor("i8", ()))) == "from-end"
    assert spec.ambiguity(call(1, mask=Tensor("i8", ()))) == "masks"


def test_a_condition_that_fails_under_a_presumption_is_left_out() -> None:
    at = {**FITS, "id": "at", "holds": "data.shape[count] > 0"}
    spec = conditions(rules=[NOT_NEGATIVE, at], ambiguities=[FROM_END])
    assert spec.check(call(-9), ["not-negative"]).violated == ("not-negative",)


@pytest.mark.parametrize(
    ("rule", "count", "expected"),
    [
        ("enough", 7, "count > data.shape[0]"),
        ("not-negative", -1, "count < 0"),
        ("not-negative", 0, "count = 0"),
        ("mask-rank", 1, None),
    ],
)
def test_how_the_sides_of_a_requirement_compare(rule: str, count: int, expected: str) -> None:
    compared = conditions().comparison(rule, call(count=count))
    assert compared == expected
