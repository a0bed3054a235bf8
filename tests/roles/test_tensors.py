"""The role `tensors`: a list of tensors that are joined along an axis."""

from pathlib import Path

from opcert.arrays.calls import Call, Tensor, tensors_in
from opcert.cases.conditions import Conditions
from tests.roles.made_up import SPECS, random_calls, read

SPEC = SPECS["tensors"]


def _call(*tensors: Tensor, axis: int = 0) -> Call:
    return Call({f"xs[{k}]": tensor for k, tensor in enumerate(tensors)}, {"axis": axis})


def test_tensors_differ_along_the_axis_alone(tmp_path: Path) -> None:
    counts = set()
    for call in random_calls(read(tmp_path, SPEC)):
        tensors, axis = tensors_in(call.arguments["xs"]), call.attributes["axis"]
        counts.add(len(tensors))
        assert len({tensor.type for tensor in tensors}) == 1
        shapes = [list(tensor.shape) for tensor in tensors]
        for shape in shapes:
            del shape[axis]
        assert all(shape == shapes[0] for shape in shapes)
    assert {1, 2, 3} < counts


def test_derived_requirements(tmp_path: Path) -> None:
    conditions = Conditions(read(tmp_path, SPEC))
    one, other = Tensor("f32", (2, 3)), Tensor("f32", (4, 3))
    violated = {
        (): [_call(one), _call(one, other)],
        ("kind",): [_call(one, Tensor("u8", (2, 3)))],
        ("rank",): [_call(one, Tensor("f32", (2,)))],
        ("off",): [_call(one, other, axis=1), _call(one, one, other, axis=-1)],
        ("in-range",): [_call(one, axis=2), _call(one, axis=-3)],
    }
    for rules, calls in violated.items():
        assert [conditions.check(call).violated for call in calls] == [rules] * len(calls)
