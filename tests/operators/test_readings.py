"""The readings of the twelve operators without committed suites, as backends.

Each backend is the reference with one difference. Where the document leaves a call open, a backend
may do as it likes with it and is certified; where it decides, the difference is found.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

from opcert import Certificate, certify
from opcert.arrays import Array, calls, materialize_numbered, type_name
from opcert.arrays.variadic import flatten_variadic, group_variadic
from opcert.cases import Conditions, MistakeLog, PositiveCases
from opcert.cases.candidates import CandidateSearch
from opcert.specification import SpecFile, read_specs_in
from tests.operators.planted import Attributes, Compute, Inputs, WrongBackend, core_suite, right

SPLIT = "openvino/Split-1"
CONCAT = "openvino/Concat-1"
TILE = "openvino/Tile-1"
PAD = "openvino/Pad-1"
TRANSPOSE = "openvino/Transpose-1"
RESHAPE = "openvino/Reshape-1"
GATHER = "openvino/GatherElements-6"
SCATTER = "openvino/ScatterElementsUpdate-3"
SLICE = "openvino/StridedSlice-1"
REVERSE = "openvino/ReverseSequence-1"
JOIN = "directml/DML_OPERATOR_JOIN"
WINDOW = "directml/DML_OPERATOR_SLICE1"
OPERATORS = (
    SPLIT,
    CONCAT,
    TILE,
    PAD,
    TRANSPOSE,
    RESHAPE,
    GATHER,
    SCATTER,
    SLICE,
    REVERSE,
    JOIN,
    WINDOW,
)
# The inputs whose elements are only moved; conditions do not depend on them.
_MOVED = {"data", "arg", "inputs", "InputTensors", "InputTensor", "updates", "pad_value"}


@cache
def spec_file(operator: str) -> SpecFile:
    (file,) = read_specs_in(None, operator)
    return file


def certified(operator: str, compute: Compute) -> Certificate:
    return certify(WrongBackend(compute), suite=core_suite(operator), operator=operator)


def described(inputs: Inputs, attributes: Attributes) -> calls.Call:
    """Return a call as conditions see it."""
    tensors = {}
    for key, item in flatten_variadic(inputs).items():
        values = None if key.partition("[")[0] in _MOVED else tuple(item.ravel().tolist())
        tensors[key] = calls.Tensor(type_name(item.dtype), item.shape, values)
    return calls.Call(tensors, attributes)


def _given(inputs: Inputs, **changed: Any) -> dict[str, Any]:
    return {**inputs, **changed}


def _refuse(is_refused: bool) -> None:
    if is_refused:
        raise ValueError("not a call of this reading")


# Types


def takes_booleans_for_integers(operator: str, inputs: Inputs, attributes: Attributes) -> Any:
    indices = {
        name: item.astype("u1")
        for name, item in inputs.items()
        if name not in _MOVED and item.dtype == np.bool_
    }
    return right(operator, _given(inputs, **indices), attributes)


def rejects_boolean_data(operator: str, inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(operator, inputs, attributes)
    _refuse(any(output.dtype == np.bool_ for output in outputs))
    return outputs


def updates_booleans(inputs: Inputs, attributes: Attributes) -> Any:
    pair = [inputs.get("data"), inputs.get("updates")]
    if any(item is None or item.dtype != np.bool_ for item in pair):
        return right(SCATTER, inputs, attributes)
    data, updates = (np.asarray(item).view("u1") for item in pair)
    (output,) = right(SCATTER, _given(inputs, data=data, updates=updates), attributes)
    return [output.view(np.bool_)]


def rejects_mixed_types(
    operator: str, names: Sequence[str], inputs: Inputs, attributes: Attributes
) -> Any:
    outputs = right(operator, inputs, attributes)
    _refuse(len({inputs[name].dtype for name in names if name in inputs}) > 1)
    return outputs


def supports_no_more_than_its_table(
    operator: str, ranks: range, inputs: Inputs, attributes: Attributes
) -> Any:
    outputs = right(operator, inputs, attributes)
    (output,) = outputs
    types = [f"{kind}{width}" for kind in "iu" for width in (1, 2, 4)] + ["f2", "f4"]
    _refuse(output.ndim not in ranks or output.dtype not in map(np.dtype, types))
    return outputs


# Split and Tile


def rejects_an_axis_of_size_0(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(SPLIT, inputs, attributes)
    _refuse(inputs["data"].shape[int(inputs["axis"])] == 0)
    return outputs


def rejects_negative_repeats(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(TILE, inputs, attributes)
    _refuse(any(count < 0 for count in inputs["repeats"].ravel().tolist()))
    return outputs


def takes_the_magnitude_of_repeats(inputs: Inputs, attributes: Attributes) -> Any:
    right(TILE, inputs, attributes)
    return [np.tile(inputs["data"], [abs(int(n)) for n in inputs["repeats"].ravel()]).copy()]


def rejects_repeats_of_another_rank(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(TILE, inputs, attributes)
    _refuse(inputs["repeats"].ndim != 1)
    return outputs


# Pad


def accepts_capital_modes(inputs: Inputs, attributes: Attributes) -> Any:
    lower = {name: word.lower() for name, word in attributes.items()}
    return right(PAD, inputs, lower)


def rejects_a_value_in_other_modes(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(PAD, inputs, attributes)
    _refuse("pad_value" in inputs and attributes["pad_mode"] != "constant")
    return outputs


def rejects_the_edge_of_nothing(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(PAD, inputs, attributes)
    data = inputs["data"]
    grown = [a != b for a, b in zip(outputs[0].shape, data.shape, strict=True)]
    is_empty = any(n == 0 and more for n, more in zip(data.shape, grown, strict=True))
    _refuse(attributes["pad_mode"] == "edge" and is_empty)
    return outputs


def reflects_nothing(inputs: Inputs, attributes: Attributes) -> Any:
    names = ("data", "pads_begin", "pads_end")
    is_known = attributes.get("pad_mode") == "reflect" and all(name in inputs for name in names)
    if not is_known or 0 not in inputs["data"].shape:
        return right(PAD, inputs, attributes)
    # The limits of the other axes remain.
    ones = np.zeros([n or 1 for n in inputs["data"].shape], inputs["data"].dtype)
    right(PAD, _given(inputs, data=ones), attributes)
    return right(PAD, inputs, {**attributes, "pad_mode": "symmetric"})


# Reshape


def copies_1_after_the_last_dimension(inputs: Inputs, attributes: Attributes) -> Any:
    if not {"data", "shape"} <= inputs.keys() or not attributes.get("special_zero"):
        return right(RESHAPE, inputs, attributes)
    shape, rank = inputs["shape"], inputs["data"].ndim
    if shape.ndim == 1 and shape.dtype.kind in "iu" and shape.size > rank and shape[rank] == 0:
        shape = shape.copy()
        shape[rank] = 1
    return right(RESHAPE, _given(inputs, shape=shape), attributes)


def infers(size: int, inputs: Inputs, attributes: Attributes) -> Any:
    """Infer `size` for a -1 next to a size of 0."""
    try:
        return right(RESHAPE, inputs, attributes)
    except ValueError as error:
        if "inferred-size" not in str(error) or inputs["data"].size:
            raise
    sizes = [size if k == -1 else k for k in inputs["shape"].tolist()]
    return right(RESHAPE, _given(inputs, shape=np.array(sizes)), attributes)


# GatherElements and ScatterElementsUpdate


def takes_axis_0_by_default(inputs: Inputs, attributes: Attributes) -> Any:
    return right(GATHER, inputs, {"axis": 0, **attributes})


def gathers(kind: str, inputs: Inputs, attributes: Attributes) -> Any:
    """Treat an index outside of the axis in one of several ways."""
    (output,) = right(GATHER, inputs, attributes)
    data, indices = inputs["data"], inputs["indices"]
    n = data.shape[attributes["axis"]]
    outside = (indices < 0) | (indices >= n)
    if not outside.any():
        return [output]
    _refuse(kind == "rejects" or not n)
    if kind == "zeros":
        output[outside] = 0
        return [output]
    return right(GATHER, _given(inputs, indices=indices % n), attributes)


def keeps_the_first_update(inputs: Inputs, attributes: Attributes) -> Any:
    (output,) = right(SCATTER, inputs, attributes)
    indices, axis = inputs["indices"], int(inputs["axis"].ravel()[0])
    flipped = {name: np.flip(inputs[name], axis) for name in ("indices", "updates")}
    return right(SCATTER, _given(inputs, **flipped), attributes) if indices.size else [output]


# StridedSlice

MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")


def _steps(inputs: Inputs, attributes: Attributes) -> list[dict[str, Any]]:
    """Return begin, end, stride, the bits, and the dimension of each step of a valid call."""
    m, rank = inputs["begin"].size, inputs["data"].ndim
    columns = {name: [*attributes.get(name, []), *[0] * m][:m] for name in MASKS}
    columns["begin"], columns["end"] = inputs["begin"].tolist(), inputs["end"].tolist()
    columns["stride"] = inputs["stride"].tolist() if "stride" in inputs else [1] * m
    steps = [{name: column[k] for name, column in columns.items()} for k in range(m)]
    used = sum(not step["new_axis_mask"] and not step["ellipsis_mask"] for step in steps)
    dimension = 0
    for step in steps:
        step["dimension"] = dimension
        is_new = step["new_axis_mask"]
        dimension += rank - used if step["ellipsis_mask"] else 0 if is_new else 1
    return steps


def _is_sliced(step: dict[str, Any]) -> bool:
    return not any(step[name] for name in MASKS[2:])


def _resliced(inputs: Inputs, attributes: Attributes, steps: Iterable[dict[str, Any]]) -> Any:
    """Return the outputs for other begins, ends and strides."""
    rows = [*steps]
    most = (1 << 63) - 1  # an index past any dimension, like those of 64 bits without a sign
    lists = {n: [min(row[n], most) for row in rows] for n in ("begin", "end", "stride")}
    arrays = {name: np.array(numbers, "i8") for name, numbers in lists.items()}
    masks = {name: [row[name] for row in rows] for name in MASKS}
    return right(SLICE, _given(inputs, **arrays), {**attributes, **masks})


def keeps_one_element(inputs: Inputs, attributes: Attributes) -> Any:
    """Keep an element where begin equals end."""
    right(SLICE, inputs, attributes)
    steps = _steps(inputs, attributes)
    for step in filter(_is_sliced, steps):
        n = inputs["data"].shape[step["dimension"]] if inputs["data"].ndim else 0
        begin, end = (k + n if k < 0 else k for k in (step["begin"], step["end"]))
        if begin == end and 0 <= begin < n and not step["begin_mask"] and not step["end_mask"]:
            step["begin"] = begin
            step["end"] = begin + 1 if step["stride"] > 0 else begin - 1 - n
    return _resliced(inputs, attributes, steps)


def rejects_nothing(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(SLICE, inputs, attributes)
    _refuse(outputs[0].size == 0 and inputs["data"].size > 0)
    return outputs


def goes_back_to_the_first_element(inputs: Inputs, attributes: Attributes) -> Any:
    right(SLICE, inputs, attributes)
    steps = _steps(inputs, attributes)
    for step in filter(_is_sliced, steps):
        if step["end_mask"] and step["stride"] < 0:
            step["end_mask"], step["end"] = 0, -(1 << 40)
    return _resliced(inputs, attributes, steps)


def takes_omitted_masks_for_zeros(inputs: Inputs, attributes: Attributes) -> Any:
    return right(SLICE, inputs, {"begin_mask": [], "end_mask": [], **attributes})


def rejects_fewer_steps(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(SLICE, inputs, attributes)
    steps = _steps(inputs, attributes)
    sliced = sum(not step["new_axis_mask"] for step in steps)
    has_rest = any(step["ellipsis_mask"] for step in steps)
    _refuse(not steps or (sliced < inputs["data"].ndim and not has_rest))
    return outputs


def rejects_overlapping_masks(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(SLICE, inputs, attributes)
    for step in _steps(inputs, attributes):
        _refuse(sum(step[name] for name in MASKS[2:]) > 1)
        _refuse(step["shrink_axis_mask"] and (step["begin_mask"] or step["end_mask"]))
    return outputs


def rejects_a_shrunk_index_outside(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(SLICE, inputs, attributes)
    for step in _steps(inputs, attributes):
        if step["shrink_axis_mask"] and not step["new_axis_mask"] and not step["ellipsis_mask"]:
            n = inputs["data"].shape[step["dimension"]]
            _refuse(not -n <= step["begin"] < n)
    return outputs


def accepts_an_ignored_stride_of_0(inputs: Inputs, attributes: Attributes) -> Any:
    names = {"data", "begin", "end", "stride"}
    if not names <= inputs.keys() or inputs["stride"].shape != inputs["begin"].shape:
        return right(SLICE, inputs, attributes)
    stride = inputs["stride"].copy()
    for step in range(stride.size):
        is_ignored = any(1 in attributes.get(name, [])[step : step + 1] for name in MASKS[2:])
        if stride.ndim == 1 and is_ignored and stride[step] == 0:
            stride[step] = 1
    return right(SLICE, _given(inputs, stride=stride), attributes)


def ignores_further_bits(inputs: Inputs, attributes: Attributes) -> Any:
    if "begin" not in inputs:
        return right(SLICE, inputs, attributes)
    cut = {name: mask[: inputs["begin"].size] for name, mask in attributes.items()}
    return right(SLICE, inputs, cut)


# ReverseSequence


def rejects_one_axis_for_both(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(REVERSE, inputs, attributes)
    rank = inputs["data"].ndim
    _refuse(attributes.get("batch_axis", 0) % rank == attributes.get("seq_axis", 1) % rank)
    return outputs


def accepts_empty_sequences(inputs: Inputs, attributes: Attributes) -> Any:
    data, lengths = inputs.get("data"), inputs.get("seq_lengths")
    axis = attributes.get("seq_axis", 1)
    if data is None or lengths is None or data.ndim < 2 or not -data.ndim <= axis < data.ndim:
        return right(REVERSE, inputs, attributes)
    if data.shape[axis] or not np.isfinite(lengths.astype("f8")).all():
        return right(REVERSE, inputs, attributes)
    _refuse(bool((lengths.astype("f8") % 1).any()))
    stretched = np.zeros([n or 1 for n in data.shape], data.dtype)
    batch = attributes.get("batch_axis", 0)
    if -data.ndim <= batch < data.ndim and data.shape[batch] == 0:
        return right(REVERSE, inputs, attributes)
    right(REVERSE, _given(inputs, data=stretched, seq_lengths=lengths * 0 + 1), attributes)
    return [data.copy()]


# DML_OPERATOR_JOIN and DML_OPERATOR_SLICE1


def rejects_zero_sizes(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(JOIN, inputs, attributes)
    _refuse(outputs[0].size == 0)
    return outputs


def rejects_surplus_tensors(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(JOIN, inputs, attributes)
    _refuse(len(inputs["InputTensors"]) > attributes["InputCount"])
    return outputs


def rejects_surplus_elements(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(WINDOW, inputs, attributes)
    lists = [value for name, value in attributes.items() if name.startswith("InputWindow")]
    _refuse(any(len(value) > attributes["DimensionCount"] for value in lists))
    return outputs


def rejects_strides_past_31_bits(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(WINDOW, inputs, attributes)
    strides = attributes["InputWindowStrides"][: attributes["DimensionCount"]]
    _refuse(any(stride >= 1 << 31 for stride in strides))
    return outputs


OPEN: list[tuple[str, str, Compute]] = [
    *(
        (operator, "takes-booleans-for-integers", partial(takes_booleans_for_integers, operator))
        for operator in (SPLIT, TILE, PAD, TRANSPOSE, RESHAPE, SCATTER, SLICE)
    ),
    *(
        (operator, "rejects-boolean-data", partial(rejects_boolean_data, operator))
        for operator in (CONCAT, PAD, RESHAPE)
    ),
    (SCATTER, "updates-booleans", updates_booleans),
    (
        PAD,
        "rejects-mixed-types",
        partial(rejects_mixed_types, PAD, ("pads_begin", "pads_end")),
    ),
    (
        SLICE,
        "rejects-mixed-types",
        partial(rejects_mixed_types, SLICE, ("begin", "end", "stride")),
    ),
    (JOIN, "supports-its-table", partial(supports_no_more_than_its_table, JOIN, range(4, 6))),
    (WINDOW, "supports-its-table", partial(supports_no_more_than_its_table, WINDOW, range(1, 9))),
    (SPLIT, "rejects-an-axis-of-size-0", rejects_an_axis_of_size_0),
    (TILE, "rejects-negative-repeats", rejects_negative_repeats),
    (TILE, "takes-the-magnitude-of-repeats", takes_the_magnitude_of_repeats),
    (TILE, "rejects-repeats-of-another-rank", rejects_repeats_of_another_rank),
    (PAD, "accepts-capital-modes", accepts_capital_modes),
    (PAD, "rejects-a-value-in-other-modes", rejects_a_value_in_other_modes),
    (PAD, "rejects-the-edge-of-nothing", rejects_the_edge_of_nothing),
    (PAD, "reflects-nothing", reflects_nothing),
    (RESHAPE, "copies-1-after-the-last-dimension", copies_1_after_the_last_dimension),
    (RESHAPE, "infers-0", partial(infers, 0)),
    (RESHAPE, "infers-1", partial(infers, 1)),
    (GATHER, "takes-axis-0-by-default", takes_axis_0_by_default),
    (GATHER, "rejects-indices-outside", partial(gathers, "rejects")),
    (GATHER, "gathers-zeros-outside", partial(gathers, "zeros")),
    (GATHER, "counts-indices-around", partial(gathers, "wraps")),
    (SCATTER, "keeps-the-first-update", keeps_the_first_update),
    (SLICE, "keeps-one-element", keeps_one_element),
    (SLICE, "rejects-nothing", rejects_nothing),
    (SLICE, "goes-back-to-the-first-element", goes_back_to_the_first_element),
    (SLICE, "takes-omitted-masks-for-zeros", takes_omitted_masks_for_zeros),
    (SLICE, "rejects-fewer-steps", rejects_fewer_steps),
    (SLICE, "rejects-overlapping-masks", rejects_overlapping_masks),
    (SLICE, "rejects-a-shrunk-index-outside", rejects_a_shrunk_index_outside),
    (SLICE, "accepts-an-ignored-stride-of-0", accepts_an_ignored_stride_of_0),
    (SLICE, "ignores-further-bits", ignores_further_bits),
    (REVERSE, "rejects-one-axis-for-both", rejects_one_axis_for_both),
    (REVERSE, "accepts-empty-sequences", accepts_empty_sequences),
    (JOIN, "rejects-zero-sizes", rejects_zero_sizes),
    (JOIN, "rejects-surplus-tensors", rejects_surplus_tensors),
    (WINDOW, "rejects-surplus-elements", rejects_surplus_elements),
    (WINDOW, "rejects-strides-past-31-bits", rejects_strides_past_31_bits),
]


@pytest.mark.parametrize(
    ("operator", "compute"),
    [pytest.param(operator, run, id=f"{operator}-{name}") for operator, name, run in OPEN],
)
def test_a_backend_with_another_reading_is_conformant(operator: str, compute: Compute) -> None:
    certificate = certified(operator, compute)
    assert certificate.conformant, certificate.reasons
    assert certificate.grade == "bit-exact"


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_backend_with_the_other_reading_of_every_ambiguity_is_conformant(operator: str) -> None:
    spec, conditions = spec_file(operator).spec, Conditions(spec_file(operator).spec)
    answered = set()

    def answers_otherwise(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        ambiguity = conditions.ambiguity(described(inputs, attributes))
        if ambiguity is None:
            return right(operator, inputs, attributes)
        answered.add(ambiguity)
        try:
            right(operator, inputs, attributes)
        except ValueError:
            return [np.zeros(1)]
        raise ValueError("it is open whether this call is valid")

    certificate = certified(operator, answers_otherwise)
    assert (certificate.conformant, certificate.grade) == (True, "bit-exact"), certificate.reasons
    assert answered == {ambiguity.id for ambiguity in spec.call_ambiguities}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("operator", OPERATORS)
def test_every_candidate_for_a_negative_case_is_invalid_in_every_reading(
    operator: str, seed: int
) -> None:
    """Of the calls that break a requirement, a suite has a few; another seed has others."""
    file = spec_file(operator)
    mistakes = MistakeLog(file)
    author = PositiveCases(file, "core", seed, mistakes)
    valid = [case for case in (*author.examples(), *author.covering(2)) if case.ambiguity is None]
    search = CandidateSearch(Conditions(file.spec), "core", seed, valid, mistakes)
    readings = [(name, compute) for known, name, compute in OPEN if known == operator]
    accepted = []
    for rule, candidates in search.candidates().items():
        for candidate in candidates:
            inputs = group_variadic(
                {name: materialize_numbered(item) for name, item in candidate.call.inputs.items()}
            )
            for name, compute in readings:
                # Whatever a backend raises is a rejection.
                with suppress(Exception):
                    compute(inputs, candidate.call.attributes)
                    accepted.append((rule, name, candidate.name, str(candidate.call)[:200]))
    assert accepted == []


# What the documents decide


def takes_one_element_for_a_scalar(
    operator: str, name: str, inputs: Inputs, attributes: Attributes
) -> Any:
    item = inputs.get(name)
    if item is not None and item.shape == (1,):
        inputs = _given(inputs, **{name: item.reshape(())})
    return right(operator, inputs, attributes)


def casts(operator: str, name: str, to: str, inputs: Inputs, attributes: Attributes) -> Any:
    """Convert the elements of one input to the type of another."""
    if name not in inputs or to not in inputs:
        return right(operator, inputs, attributes)
    with np.errstate(all="ignore"):
        changed = {name: inputs[name].astype(inputs[to].dtype)}
    return right(operator, _given(inputs, **changed), attributes)


def rejects_repeats_of_0(inputs: Inputs, attributes: Attributes) -> Any:
    outputs = right(TILE, inputs, attributes)
    _refuse(0 in inputs["repeats"])
    return outputs


def pads_nothing_where_negative(inputs: Inputs, attributes: Attributes) -> Any:
    pads = {
        name: np.maximum(inputs[name], 0)
        for name in ("pads_begin", "pads_end")
        if name in inputs and inputs[name].dtype.kind == "i"
    }
    return right(PAD, _given(inputs, **pads), attributes)


def counts_the_order_from_the_end(inputs: Inputs, attributes: Attributes) -> Any:
    order = inputs.get("input_order")
    if "arg" not in inputs or order is None or order.dtype.kind != "i":
        return right(TRANSPOSE, inputs, attributes)
    counted = np.where(order < 0, order + inputs["arg"].ndim, order)
    return right(TRANSPOSE, _given(inputs, input_order=counted), attributes)


def copies_1_beyond_the_last_dimension(inputs: Inputs, attributes: Attributes) -> Any:
    if not {"data", "shape"} <= inputs.keys() or not attributes.get("special_zero"):
        return right(RESHAPE, inputs, attributes)
    rank, shape = inputs["data"].ndim, inputs["shape"].copy()
    if shape.ndim == 1 and shape.dtype.kind in "iu":
        shape[rank:][shape[rank:] == 0] = 1
    return right(RESHAPE, _given(inputs, shape=shape), attributes)


def counts_indices_from_the_end(inputs: Inputs, attributes: Attributes) -> Any:
    names = {"data", "indices", "axis"}
    if not names <= inputs.keys() or inputs["indices"].dtype.kind != "i":
        return right(SCATTER, inputs, attributes)
    data, indices, axis = inputs["data"], inputs["indices"].astype("i8"), inputs["axis"].ravel()
    if axis.size == 1 and axis.dtype.kind in "iu" and -data.ndim <= int(axis[0]) < data.ndim:
        n = data.shape[int(axis[0])]
        indices = np.where((indices < 0) & (indices >= -n), indices + n, indices)
    return right(SCATTER, _given(inputs, indices=indices), attributes)


def begins_before_the_first_element(inputs: Inputs, attributes: Attributes) -> Any:
    """Clamp a backward begin as Python does, so that nothing is left to select."""
    right(SLICE, inputs, attributes)
    steps = _steps(inputs, attributes)
    for step in filter(_is_sliced, steps):
        n = inputs["data"].shape[step["dimension"]]
        if step["begin"] < -n and step["stride"] < 0 and not step["begin_mask"]:
            step["begin"], step["end"], step["end_mask"] = 0, 0, 0
    return _resliced(inputs, attributes, steps)


def ignores_steps_beyond_the_dimensions(inputs: Inputs, attributes: Attributes) -> Any:
    is_plain = not any(1 in attributes.get(name, []) for name in MASKS[2:])
    names = [name for name in ("begin", "end", "stride") if name in inputs]
    if "data" not in inputs or len({inputs[name].shape for name in names}) != 1 or not is_plain:
        return right(SLICE, inputs, attributes)
    rank = inputs["data"].ndim
    cut = {name: inputs[name][:rank] for name in names if inputs[name].ndim == 1}
    return right(SLICE, _given(inputs, **cut), attributes)


def takes_a_length_of_0_for_1(inputs: Inputs, attributes: Attributes) -> Any:
    lengths = inputs.get("seq_lengths")
    if lengths is None:
        return right(REVERSE, inputs, attributes)
    ones = np.where(lengths == 0, np.ones_like(lengths), lengths)
    return right(REVERSE, _given(inputs, seq_lengths=ones), attributes)


def joins_empty_tensors(inputs: Inputs, attributes: Attributes) -> Any:
    tensors, axis = inputs["InputTensors"], attributes["Axis"]
    kept = [item for item in tensors if not 0 <= axis < item.ndim or item.shape[axis]]
    others = {item.shape[:axis] + item.shape[axis + 1 :] for item in tensors}
    if not kept or len(others) > 1 or len(tensors) != attributes["InputCount"]:
        return right(JOIN, inputs, attributes)
    fewer = {**attributes, "InputCount": len(kept)}
    return right(JOIN, _given(inputs, InputTensors=kept), fewer)


def slices_nine_dimensions(inputs: Inputs, attributes: Attributes) -> Any:
    tensor, output = inputs["InputTensor"], attributes["OutputTensor"]
    sizes = output["Sizes"]
    rows = [attributes[name] for name in attributes if name.startswith("InputWindow")]
    if {tensor.ndim, attributes["DimensionCount"], len(sizes), *map(len, rows)} != {9}:
        return right(WINDOW, inputs, attributes)
    fewer = {**attributes, "DimensionCount": 8, "OutputTensor": {**output, "Sizes": sizes[:8]}}
    for name in ("InputWindowOffsets", "InputWindowSizes", "InputWindowStrides"):
        fewer[name] = attributes[name][:8]
    eight = {"InputTensor": tensor.reshape(tensor.shape[:8])}
    return [right(WINDOW, eight, fewer)[0].reshape(sizes)]


def takes_strides_in_32_bits(inputs: Inputs, attributes: Attributes) -> Any:
    half = 1 << 31
    strides = [(k + half) % (2 * half) - half for k in attributes["InputWindowStrides"]]
    return right(WINDOW, inputs, {**attributes, "InputWindowStrides": strides})


DECIDED: list[tuple[str, str, Compute, str]] = [
    (
        SPLIT,
        "takes-one-element-for-a-scalar",
        partial(takes_one_element_for_a_scalar, SPLIT, "axis"),
        "axis-scalar",
    ),
    (
        PAD,
        "takes-one-element-for-a-scalar",
        partial(takes_one_element_for_a_scalar, PAD, "pad_value"),
        "value-shape",
    ),
    (PAD, "casts-the-value", partial(casts, PAD, "pad_value", "data"), "value-type"),
    (PAD, "pads-nothing-where-negative", pads_nothing_where_negative, "not-negative"),
    (TILE, "rejects-repeats-of-0", rejects_repeats_of_0, "no-copy"),
    (TRANSPOSE, "counts-the-order-from-the-end", counts_the_order_from_the_end, "order-range"),
    (
        RESHAPE,
        "copies-1-beyond-the-last-dimension",
        copies_1_beyond_the_last_dimension,
        "zero-has-dimension",
    ),
    (SCATTER, "casts-updates", partial(casts, SCATTER, "updates", "data"), "updates-type"),
    (SCATTER, "counts-indices-from-the-end", counts_indices_from_the_end, "indices-range"),
    (SLICE, "begins-before-the-first-element", begins_before_the_first_element, "clamp-below"),
    (SLICE, "ignores-steps-beyond", ignores_steps_beyond_the_dimensions, "steps-fit"),
    (REVERSE, "takes-a-length-of-0-for-1", takes_a_length_of_0_for_1, "lengths-range"),
    (JOIN, "joins-empty-tensors", joins_empty_tensors, "axis-size-nonzero"),
    (WINDOW, "slices-nine-dimensions", slices_nine_dimensions, "dimension-count-range"),
    (WINDOW, "takes-strides-in-32-bits", takes_strides_in_32_bits, "stride-width"),
]


@pytest.mark.parametrize(
    ("operator", "compute", "rule"),
    [pytest.param(known, run, rule, id=f"{known}-{name}") for known, name, run, rule in DECIDED],
)
def test_a_backend_that_contradicts_its_document_is_not_conformant(
    operator: str, compute: Compute, rule: str
) -> None:
    certificate = certified(operator, compute)
    assert not certificate.conformant
    failed = [verdict for verdict in certificate.verdicts if verdict.status == "fail"]
    assert any(name.endswith(rule) for verdict in failed for name in verdict.rules)
