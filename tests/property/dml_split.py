"""Calls of DML_OPERATOR_SPLIT, valid ones and those that break one of its rules."""

import numpy as np
from hypothesis import strategies as st

from opcert.reference.dml_split import dml_split
from tests.property import drawing, oracles
from tests.property.drawing import Call, Calls, DType, Ranks, Types
from tests.property.subject import Subject

NAMES: dict[DType, str] = {
    np.dtype("f8"): "FLOAT64",
    np.dtype("f4"): "FLOAT32",
    np.dtype("f2"): "FLOAT16",
    np.dtype("i8"): "INT64",
    np.dtype("i4"): "INT32",
    np.dtype("i2"): "INT16",
    np.dtype("i1"): "INT8",
    np.dtype("u8"): "UINT64",
    np.dtype("u4"): "UINT32",
    np.dtype("u2"): "UINT16",
    np.dtype("u1"): "UINT8",
}
ANY_SUPPORTED = st.sampled_from(list(NAMES))
UINT_MAX = 2**32 - 1


@st.composite
def calls(
    draw: st.DrawFn,
    dtypes: Types = ANY_SUPPORTED,
    ranks: Ranks = drawing.ANY_RANK,
) -> Call:
    """Valid calls."""
    dtype, rank = draw(dtypes), draw(ranks)
    shape = draw(drawing.shapes(rank))
    axis = draw(st.integers(0, rank - 1))
    lengths = draw(drawing.parts(shape[axis], UINT_MAX))
    sizes = [[*shape[:axis], length, *shape[axis + 1 :]] for length in lengths]
    return {
        "InputTensor": draw(drawing.arrays(shape, dtype)),
        "OutputCount": len(sizes),
        "OutputTensors": [{"Sizes": size, "DataType": NAMES[dtype]} for size in sizes],
        "Axis": axis,
    }


CALLS = calls()


def with_sizes(call: Call, output: int, sizes: list[int]) -> Call:
    """The same call, but for the sizes of one output."""
    outputs = list(call["OutputTensors"])
    outputs[output] = outputs[output] | {"Sizes": sizes}
    return call | {"OutputTensors": outputs}


@st.composite
def outputs_of(draw: st.DrawFn, valid: Calls) -> tuple[Call, int, list[int]]:
    """Valid calls, one of their outputs, and a copy of its sizes."""
    call = draw(valid)
    output = draw(st.integers(0, call["OutputCount"] - 1))
    return call, output, list(call["OutputTensors"][output]["Sizes"])


@st.composite
def no_outputs(draw: st.DrawFn) -> Call:
    """There are no outputs, perhaps of an axis that needs none."""
    call = draw(CALLS)
    shape = list(call["InputTensor"].shape)
    shape[call["Axis"]] = draw(st.sampled_from([0, shape[call["Axis"]]]))
    data = draw(drawing.arrays(tuple(shape), call["InputTensor"].dtype))
    return call | {"InputTensor": data, "OutputCount": 0, "OutputTensors": []}


@st.composite
def miscounted_outputs(draw: st.DrawFn) -> Call:
    """OutputCount is more than there are outputs."""
    call = draw(CALLS)
    wrong = {call["OutputCount"] + 1, call["OutputCount"] + 256, UINT_MAX}
    return call | {"OutputCount": draw(st.sampled_from(sorted(wrong)))}


@st.composite
def axis_outside(draw: st.DrawFn) -> Call:
    """The axis is not one of the input's."""
    call = draw(CALLS)
    rank = call["InputTensor"].ndim
    return call | {"Axis": draw(st.sampled_from([rank, rank + 256, UINT_MAX]))}


@st.composite
def no_uint(draw: st.DrawFn) -> Call:
    """OutputCount, Axis or a size is below 0 or past 32 bits, which none of them can be."""
    call, output, sizes = draw(outputs_of(CALLS))
    field = draw(st.sampled_from(["OutputCount", "Axis", "Sizes"]))
    wrong = draw(st.sampled_from([-1, -2, -(2**31), UINT_MAX + 1, UINT_MAX + 3]))
    if field != "Sizes":
        return call | {field: wrong}
    sizes[draw(st.integers(0, len(sizes) - 1))] = wrong
    return with_sizes(call, output, sizes)


@st.composite
def wrong_output_rank(draw: st.DrawFn) -> Call:
    """One output has a dimension more, or less."""
    call, output, sizes = draw(outputs_of(CALLS))
    return with_sizes(call, output, draw(st.sampled_from([[*sizes, 1], [1, *sizes], sizes[:-1]])))


@st.composite
def wrong_output_type(draw: st.DrawFn) -> Call:
    """One output has another data type, as often as not of the same width."""
    call, output, _ = draw(outputs_of(CALLS))
    outputs = list(call["OutputTensors"])
    others = sorted({*NAMES.values(), "UNKNOWN", "float32"} - {outputs[output]["DataType"]})
    outputs[output] = outputs[output] | {"DataType": draw(st.sampled_from(others))}
    return call | {"OutputTensors": outputs}


@st.composite
def other_size_off_axis(draw: st.DrawFn) -> Call:
    """One output differs from the input in a dimension that is not split."""
    call, output, sizes = draw(outputs_of(calls(ranks=st.integers(2, 8))))
    others = [axis for axis in range(len(sizes)) if axis != call["Axis"]]
    off = draw(st.sampled_from(others))
    sizes[off] = draw(st.sampled_from(sorted({0, 1, sizes[off] + 1} - {sizes[off]})))
    return with_sizes(call, output, sizes)


@st.composite
def wrong_sum(draw: st.DrawFn) -> Call:
    """The sizes on the axis add up to more or less than the input's."""
    call, output, sizes = draw(outputs_of(CALLS))
    size = sizes[call["Axis"]]
    wrong = {0, size - 1, size + 1, size + 256} - {-1, size}
    sizes[call["Axis"]] = draw(st.sampled_from(sorted(wrong)))
    return with_sizes(call, output, sizes)


BREACHES = {
    "uint-range": no_uint(),
    "output-count-positive": no_outputs(),
    "output-count-matches": miscounted_outputs(),
    "axis-range": axis_outside(),
    "output-rank": wrong_output_rank(),
    "output-type": wrong_output_type(),
    "output-sizes-off-axis": other_size_off_axis(),
    "output-sizes-sum": wrong_sum(),
}

SUBJECT = Subject(
    slug="dml-split",
    reference=dml_split,
    formula=oracles.dml_split,
    calls=calls,
    breaches=BREACHES,
    types=tuple(NAMES),
    index_types=(),
)
