"""Calls that are drawn, of every shipped operator."""

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.element_types import same_bytes
from opcert.arrays.patterns import materialize
from opcert.cases.conditions import Conditions
from opcert.cases.drawn import draw_call, drawn_calls
from opcert.choices import Choices
from opcert.errors import ExpressionError, Inapplicable
from opcert.specification.files import golden_outputs, read_spec, read_specs_in
from opcert.specification.model import Spec
from tests.roles.made_up import checked_calls, random_calls, read
from tests.shipped import spec as shipped_spec
from tests.small_spec import spec as small_spec

DRAWS = 200


@cache
def shipped() -> dict[str, Spec]:
    return {file.spec.operator: file.spec for file in read_specs_in(None)}


@pytest.mark.parametrize("name", shipped())
def test_calls_are_valid_and_have_their_levels_and_each_option(name: str) -> None:
    # The sizes of windows that slide over padded data, and of three tensors that broadcast, do not
    # always fit together.
    share = {"openvino/AvgPool-1": 0.75, "openvino/MaxPool-1": 0.7, "openvino/Select-1": 0.85}
    share["openvino/Convolution-1"] = 0.6
    assert len(checked_calls(shipped()[name], DRAWS)) >= share.get(name, 0.9) * DRAWS


class Anew(Choices):
    """Answers a choice otherwise each time that it is asked, as Hypothesis may."""

    asked = 0

    def integer(self, name: str, low: int, high: int) -> int:
        self.asked += 1
        assert low <= high, name
        return super().integer(f"{name} {self.asked}", low, high)


@pytest.mark.parametrize("operator", shipped())
def test_every_choice_has_an_answer_whatever_the_others_are(operator: str) -> None:
    for number in range(200):
        with suppress(Inapplicable):
            draw_call(shipped()[operator], Anew(number))


BROADCASTING = [
    (name, argument.name)
    for name, spec in shipped().items()
    for argument in spec.inputs
    if getattr(argument, "broadcasts_with", None)
]


@pytest.mark.parametrize(("operator", "name"), BROADCASTING)
def test_data_repeat_the_last_axis_and_keep_another_or_the_reverse(
    operator: str, name: str
) -> None:
    last = other = 0
    for _, call, _ in islice(drawn_calls(shipped()[operator], 0), 300):
        shapes = [tensor.shape for tensor in call.inputs.values()]
        own, result = call.inputs[name].shape, np.broadcast_shapes(*shapes)
        repeated = [n < of for n, of in zip(own, result[len(result) - len(own) :], strict=True)]
        kept = [n > 1 and not repeats for n, repeats in zip(own, repeated, strict=True)]
        last += repeated[-1:] == [True] and any(kept)
        other += kept[-1:] == [True] and any(repeated)
    assert last >= 6
    assert other >= 6


@pytest.mark.parametrize(
    "operator", ["openvino/Slice-8", "openvino/StridedSlice-1", "directml/DML_OPERATOR_SLICE1"]
)
def test_an_output_has_what_roles_say_that_a_call_selects(operator: str) -> None:
    spec_file = shipped_spec(operator.partition("/")[2])
    decided = 0
    for _, call, _ in islice(drawn_calls(spec_file.spec, 0), 120):
        if Conditions(spec_file.spec).ambiguity(call) is None:
            arrays = {name: materialize(tensor) for name, tensor in call.inputs.items()}
            (output,) = golden_outputs(spec_file.reference, arrays, call.attributes)
            data = arrays[spec_file.spec.leading_key]
            selected: dict[int, range] = {}
            for role in spec_file.spec.bound_roles:
                selected |= role.selected_in(call)
            each = [selected.get(axis, range(n)) for axis, n in enumerate(data.shape)]
            assert same_bytes(data[np.ix_(*each)].reshape(output.shape), output), call
            decided += 1
    assert decided > 100


def test_a_call_depends_on_the_seed_and_its_number_alone() -> None:
    (spec,) = (spec for name, spec in shipped().items() if name.endswith("/Slice-8"))
    first, longer, other = (
        [(number, str(call)) for number, call, _ in islice(drawn_calls(spec, seed), count)]
        for seed, count in ((0, 20), (0, 40), (1, 20))
    )
    assert longer[:20] == first != other


def test_a_spec_without_a_valid_call_is_an_error(tmp_path: Path) -> None:
    path = small_spec(tmp_path, ("0 <= count <= data.shape[0]", "count < 0"))
    with pytest.raises(ExpressionError, match=r"2,000 draws in a row gave no valid call.*violates"):
        next(drawn_calls(read_spec(path).spec, 0))


ATTRIBUTES = """\
attributes:
  - {name: axis, type: int, required: false, value: "%s", text: The axis.}
"""


def attributes_with(folder: Path, value: str) -> list[Mapping[str, Any]]:
    """The attributes of calls of an operator with one without a role, of this value."""
    data = "inputs: [{name: data, role: data, type: T, rank: [1, 2], text: Data.}]\n"
    head = "types: {T: [f32]}\nconstants: {NAMES: {f32: '7'}}\n"
    rest = """\
outputs: [{name: out, type: T, shape: data.shape, text: The same.}]
rules: [{id: same, clause: S, text: The same.}]
"""
    spec = read(folder, head + data + ATTRIBUTES % value + rest)
    return [call.attributes for call in random_calls(spec, 40)]


def test_an_attribute_without_a_role_sees_the_arguments(tmp_path: Path) -> None:
    found = {attributes["axis"] for attributes in attributes_with(tmp_path, "data.rank + 5")}
    assert found == {6, 7}


def test_an_attribute_that_is_none_is_omitted(tmp_path: Path) -> None:
    assert not any(attributes_with(tmp_path, "None"))


def test_an_attribute_of_another_type_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ExpressionError, match=r"expected a value of type int"):
        attributes_with(tmp_path, "data.type")


def test_new_patterns_leave_everything_else_as_it_was() -> None:
    call = Call({"x": Tensor("i8", (2,), pattern="old"), "i": Tensor("i8", (1,), (3,))}, {"a": 1})
    patterned = call.patterned("new")
    assert patterned.inputs["x"] == Tensor("i8", (2,), pattern="new|x")
    assert patterned.inputs["i"] is call.inputs["i"]
    assert patterned.attributes == {"a": 1}
