"""The levels of calls of shipped operators, for tests."""

from collections.abc import Mapping

from opcert.arrays.calls import Call
from opcert.arrays.tensor_functions import filled, vector
from opcert.cases.conditions import Conditions
from opcert.cases.properties import Properties
from opcert.diagnosis.table import Point
from opcert.specification.files import read_specs_in

GATHER, SLICE, BROADCAST = "openvino/Gather-8", "openvino/Slice-8", "openvino/Broadcast-1"
SPLIT, JOIN = "openvino/VariadicSplit-1", "directml/DML_OPERATOR_JOIN"
SPECS = {spec_file.spec.operator: spec_file.spec for spec_file in read_specs_in(None)}


def points(operator: str, call: Call, *outputs: tuple[int, ...]) -> list[Point]:
    return Properties(Conditions(SPECS[operator])).points(call, outputs)


def sliced(*, start: int, stop: int, step: int = 1, axis: int = 0) -> Call:
    numbers = {"start": start, "stop": stop, "step": step, "axes": axis}
    lists = {name: vector("i64", (number,)) for name, number in numbers.items()}
    return Call({"data": filled("f32", (5, 3)), **lists}, {})


def has(point: Point, levels: Mapping[str, str]) -> bool:
    return all(level in point.get(factor, ()) for factor, level in levels.items())
