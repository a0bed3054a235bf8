"""ONNX's own node cases as calls of opcert's operators, judged as ONNX's runner judges."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner
from onnx.helper import get_attribute_value

from opcert.arrays.element_types import Array
from opcert.backends.contract import Backend
from opcert.reference.directml import data_type_of

Inputs: TypeAlias = dict[str, Array]
Attributes: TypeAlias = dict[str, Any]
Adapted: TypeAlias = tuple[str, Inputs, Attributes]


@dataclass(frozen=True)
class OnnxCase:
    """A node case of ONNX as the call of an operator; the arrays are those of ONNX."""

    name: str
    operator: str
    inputs: Inputs
    attributes: Attributes
    outputs: list[Array]
    rtol: float
    atol: float


@dataclass(frozen=True)
class Node:
    """A node of ONNX with its arrays: inputs by ONNX's names, the attributes that are given."""

    inputs: Inputs
    attributes: Attributes
    outputs: list[Array]


def variadic_split(node: Node) -> Adapted:
    """Return ONNX's Split with its lengths, which are those of its outputs, spelled out."""
    axis = node.attributes.get("axis", 0)
    lengths = [output.shape[axis] for output in node.outputs]
    split = node.inputs.get("split", np.array(lengths, np.int64))
    inputs = {"data": node.inputs["input"], "axis": np.array(axis), "split_lengths": split}
    return "openvino/VariadicSplit-1", inputs, {}


def dml_split(node: Node) -> Adapted:
    """Return ONNX's Split with the shapes of its outputs, and the axis from the front."""
    tensor = node.inputs["input"]
    data_type = data_type_of(tensor)
    parts = [{"Sizes": list(each.shape), "DataType": data_type} for each in node.outputs]
    axis = node.attributes.get("axis", 0) % tensor.ndim
    attributes = {"OutputCount": len(parts), "OutputTensors": parts, "Axis": axis}
    return "directml/DML_OPERATOR_SPLIT", {"InputTensor": tensor}, attributes


def slice_8(node: Node) -> Adapted:
    """Return ONNX's Slice with steps of 1 where they are left out; axes may be left out in both."""
    starts = node.inputs["starts"]
    inputs = {
        "data": node.inputs["x"],
        "start": starts,
        "stop": node.inputs["ends"],
        "step": node.inputs.get("steps", np.ones_like(starts)),
    }
    if "axes" in node.inputs:
        inputs["axes"] = node.inputs["axes"]
    return "openvino/Slice-8", inputs, {}


def gather_8(node: Node) -> Adapted:
    """Return ONNX's Gather with its axis as an input."""
    axis = np.array(node.attributes.get("axis", 0))
    return "openvino/Gather-8", {**node.inputs, "axis": axis}, {}


def broadcast_1(node: Node) -> Adapted:
    """Return ONNX's Expand, which stretches both ways, to the shape that it comes to."""
    target = np.array(node.outputs[0].shape, np.int64)
    return "openvino/Broadcast-1", {"data": node.inputs["data"], "target_shape": target}, {}


ADAPTERS: Mapping[str, tuple[Callable[[Node], Adapted], ...]] = {
    "Split": (variadic_split, dml_split),
    "Slice": (slice_8,),
    "Gather": (gather_8,),
    "Expand": (broadcast_1,),
}


@cache
def onnx_cases() -> tuple[OnnxCase, ...]:
    """Return the cases of every operator, in the order in which ONNX's runner has them."""
    with warnings.catch_warnings(action="ignore"):
        tests = sorted(load_model_tests(kind="node"), key=lambda each: str(each.name))
    return tuple(case for test in tests for case in _adapted(test))


def _adapted(test: Any) -> Iterator[OnnxCase]:
    first, *others = test.model.graph.node
    if others or first.op_type not in ADAPTERS:
        return
    attributes = {each.name: get_attribute_value(each) for each in first.attribute}
    names = list(filter(None, first.input))
    for inputs, outputs in test.data_sets:
        node = Node(dict(zip(names, inputs, strict=True)), attributes, list(outputs))
        for adapt in ADAPTERS[first.op_type]:
            yield OnnxCase(test.name, *adapt(node), node.outputs, test.rtol, test.atol)


def onnx_failure(backend: Backend, operator: str) -> str:
    """Run the cases of an operator on a backend, each once, up to the first that fails.

    The backend gets ONNX's own arrays, of which the expected outputs may be views and which cases
    share; they are restored after it.
    """
    cases = [case for case in onnx_cases() if case.operator == operator]
    with _restored([array for case in cases for array in case.inputs.values()]):
        return next(filter(None, (_failure(backend, case) for case in cases)), "")


def _failure(backend: Backend, case: OnnxCase) -> str:
    """Say what ONNX's runner would find wrong with one run of a case; nothing if it passes."""
    try:
        outputs = backend.run(case.operator, dict(case.inputs), dict(case.attributes))
        Runner.assert_similar_outputs(case.outputs, outputs, case.rtol, case.atol)
    except Exception as error:
        return f"{case.name}: {type(error).__name__}: {error}"
    return ""


@contextmanager
def _restored(arrays: Sequence[Array]) -> Iterator[None]:
    """Give every array its elements again, whatever is written to it, at once or later on."""
    before = [array.copy() for array in arrays]
    try:
        yield
    finally:
        for array, elements in zip(arrays, before, strict=True):
            array[...] = elements
