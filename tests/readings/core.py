"""Backends that read the documents of the core operators in other ways.

Each is the reference with one difference, in calls that the document leaves open or decides.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from opcert.arrays.element_types import Array
from opcert.reference.variadic_split import parts_along
from tests.faults.fault import BROADCAST, DML, GATHER, SLICE, SPLIT, Call, right
from tests.operators.planted import Attributes, Compute, Inputs

UINT = 1 << 32


def run(
    compute: Callable[[Call], list[Array]], inputs: Inputs, attributes: Attributes
) -> list[Array]:
    return compute(Call(inputs, attributes))


def numpy_mode(call: Call) -> bool:
    return bool(call.attributes.get("mode", "numpy") == "numpy")


def ranks_equal(call: Call) -> bool:
    target = call.inputs.get("target_shape")
    return target is not None and "data" in call.inputs and call.data.ndim == target.size


# Broadcast


def rejects_a_mapping_in_numpy_mode(call: Call) -> list[Array]:
    if numpy_mode(call) and "axes_mapping" in call.inputs:
        raise ValueError("axes_mapping in mode numpy")
    return right(BROADCAST, call)


def applies_a_mapping_in_numpy_mode(call: Call) -> list[Array]:
    mapped = "axes_mapping" in call.inputs and numpy_mode(call)
    return right(BROADCAST, call.with_attributes(mode="explicit") if mapped else call)


def ignores_mode_and_mapping_at_equal_ranks(call: Call) -> list[Array]:
    return right(BROADCAST, call.without("mode", "axes_mapping") if ranks_equal(call) else call)


def rejects_explicit_stretching(call: Call) -> list[Array]:
    outputs = right(BROADCAST, call)
    mapping = call.ints("axes_mapping") if "axes_mapping" in call.inputs else []
    sizes = [outputs[0].shape[axis] for axis in mapping]
    if not numpy_mode(call) and sizes != list(call.data.shape):
        raise ValueError("data does not have the sizes of the axes that it is mapped to")
    return outputs


def maps_data_to_axes_of_size_0(call: Call) -> list[Array]:
    if call.attributes.get("mode") != "explicit" or 0 not in call.ints("target_shape"):
        return right(BROADCAST, call)
    target, mapping = call.ints("target_shape"), call.ints("axes_mapping")
    shape = [
        1 if target[axis] == 0 else n for n, axis in zip(call.data.shape, mapping, strict=True)
    ]
    return right(BROADCAST, call.moving(np.zeros(shape, call.data.dtype)))


def accepts_capital_modes(call: Call) -> list[Array]:
    known = "mode" in call.attributes
    return right(
        BROADCAST, call.with_attributes(mode=call.attributes["mode"].lower()) if known else call
    )


def counts_mapped_axes_from_the_end(call: Call) -> list[Array]:
    if call.attributes.get("mode") == "explicit" and "axes_mapping" in call.inputs:
        rank, mapping = call["target_shape"].size, call["axes_mapping"]
        if mapping.dtype.kind == "i" and mapping.ndim == 1 and (mapping >= -rank).all():
            return right(
                BROADCAST, call.given(axes_mapping=np.where(mapping < 0, mapping + rank, mapping))
            )
    return right(BROADCAST, call)


# DML_OPERATOR_SPLIT


def rejects_surplus_descriptors(call: Call) -> list[Array]:
    if len(call.attributes["OutputTensors"]) > call.attributes["OutputCount"]:
        raise ValueError("more descriptors than OutputCount")
    return right(DML, call)


def supports_no_more_than_its_table(call: Call) -> list[Array]:
    outputs = right(DML, call)
    if call.data.ndim > 8 or call.data.dtype.kind not in "iuf" or call.data.dtype.isbuiltin != 1:
        raise ValueError("not in the table")
    return outputs


def rejects_zero_sizes(call: Call) -> list[Array]:
    outputs = right(DML, call)
    if not all(each.size for each in outputs):
        raise ValueError("a size of 0")
    return outputs


# Slice


def rejects_a_slice_of_no_axis(call: Call) -> list[Array]:
    outputs = right(SLICE, call)
    if not call["start"].size:
        raise ValueError("nothing to slice")
    return outputs


def rejects_mixed_types(call: Call) -> list[Array]:
    outputs = right(SLICE, call)
    if len({call[name].dtype for name in ("start", "stop", "step")}) > 1:
        raise ValueError("start, stop and step of different types")
    return outputs


def takes_booleans_for_integers(call: Call) -> list[Array]:
    bools = {n: a.astype("u1") for n, a in call.inputs.items() if n != "data" and a.dtype == bool}
    return right(SLICE, call.given(**bools))


# VariadicSplit and Gather


def rejects_a_split_into_nothing(call: Call) -> list[Array]:
    outputs = right(SPLIT, call)
    if not outputs:
        raise ValueError("no output")
    return outputs


def takes_the_first_of_several_axes(call: Call) -> list[Array]:
    axis = call.inputs.get("axis")
    several = axis is not None and axis.ndim == 1 and axis.size > 1
    return right(GATHER, call.given(axis=axis[:1]) if several and axis is not None else call)


def takes_the_last_of_several_axes(call: Call) -> list[Array]:
    axis = call.inputs.get("axis")
    several = axis is not None and axis.ndim == 1 and axis.size > 1
    return right(GATHER, call.given(axis=axis[-1:]) if several and axis is not None else call)


_OPEN: list[tuple[str, Callable[[Call], list[Array]]]] = [
    (BROADCAST, rejects_a_mapping_in_numpy_mode),
    (BROADCAST, applies_a_mapping_in_numpy_mode),
    (BROADCAST, ignores_mode_and_mapping_at_equal_ranks),
    (BROADCAST, rejects_explicit_stretching),
    (BROADCAST, maps_data_to_axes_of_size_0),
    (BROADCAST, accepts_capital_modes),
    (BROADCAST, counts_mapped_axes_from_the_end),
    (DML, rejects_surplus_descriptors),
    (DML, supports_no_more_than_its_table),
    (DML, rejects_zero_sizes),
    (SLICE, rejects_a_slice_of_no_axis),
    (SLICE, rejects_mixed_types),
    (SLICE, takes_booleans_for_integers),
    (SPLIT, rejects_a_split_into_nothing),
    (GATHER, takes_the_first_of_several_axes),
    (GATHER, takes_the_last_of_several_axes),
]


# What the documents decide


def accepts_no_slices_with_axes(call: Call) -> list[Array]:
    lists = [call.inputs.get(name) for name in ("start", "stop", "step")]
    if all(each is not None and each.shape == (0,) for each in lists):
        return right(SLICE, call.given(axes=np.zeros(0, np.int64)))
    return right(SLICE, call)


def takes_the_greatest_stop_for_the_end(call: Call) -> list[Array]:
    right(SLICE, call)
    stop = call["stop"]
    most = np.iinfo(stop.dtype).max
    wide = np.where(stop == most, np.iinfo(np.int64).max, stop.astype(np.int64))
    lists = {name: call[name].astype(np.int64) for name in ("start", "step")}
    narrow = stop.dtype.itemsize < wide.dtype.itemsize
    return right(SLICE, call.given(stop=wide, **lists) if narrow else call)


def accepts_no_lengths(call: Call) -> list[Array]:
    lengths = call.inputs.get("split_lengths")
    if lengths is not None and lengths.shape == (0,):
        return parts_along(call.data, 0, [])
    return right(SPLIT, call)


def never_checks_the_lower_bound_of_batch_dims(call: Call) -> list[Array]:
    batch_dims = call.attributes.get("batch_dims", 0)
    indices = call.inputs.get("indices")
    if indices is not None and -indices.ndim <= batch_dims < 0:
        return right(GATHER, call.with_attributes(batch_dims=batch_dims + indices.ndim))
    return right(GATHER, call)


def aligns_at_the_end_without_a_mapping(call: Call) -> list[Array]:
    explicit = call.attributes.get("mode") == "explicit"
    alone = explicit and "axes_mapping" not in call.inputs
    return right(BROADCAST, call.without("mode") if alone else call)


def accepts_an_unknown_mode(call: Call) -> list[Array]:
    known = call.attributes.get("mode") in ("numpy", "explicit")
    return right(BROADCAST, call if known else call.without("mode"))


def does_not_sort_out_mappings(call: Call) -> list[Array]:
    mapping = call.inputs.get("axes_mapping")
    if mapping is None or call.attributes.get("mode") != "explicit":
        return right(BROADCAST, call)
    return right(BROADCAST, call.given(axes_mapping=np.sort(mapping)))


def counts_the_descriptors(call: Call) -> list[Array]:
    return right(DML, call.with_attributes(OutputCount=len(call.attributes["OutputTensors"])))


def takes_an_axis_in_32_bits(call: Call) -> list[Array]:
    return right(DML, call.with_attributes(Axis=call.attributes["Axis"] % UINT))


def takes_a_count_in_32_bits(call: Call) -> list[Array]:
    return right(DML, call.with_attributes(OutputCount=call.attributes["OutputCount"] % UINT))


def takes_sizes_in_32_bits(call: Call) -> list[Array]:
    outputs = call.attributes["OutputTensors"]
    sizes = [{**each, "Sizes": [size % UINT for size in each["Sizes"]]} for each in outputs]
    return right(DML, call.with_attributes(OutputTensors=sizes))


_DECIDED: list[tuple[str, Callable[[Call], list[Array]], str]] = [
    (SLICE, accepts_no_slices_with_axes, "equal-lengths"),
    (SLICE, takes_the_greatest_stop_for_the_end, ""),
    (SPLIT, accepts_no_lengths, "lengths-sum"),
    (GATHER, never_checks_the_lower_bound_of_batch_dims, "batch-dims-range"),
    (BROADCAST, aligns_at_the_end_without_a_mapping, "explicit-with-axes-mapping"),
    (BROADCAST, accepts_an_unknown_mode, "mode-known"),
    (BROADCAST, does_not_sort_out_mappings, "axes-mapping-sorted"),
    (DML, counts_the_descriptors, ""),
    (DML, takes_an_axis_in_32_bits, "uint-range"),
    (DML, takes_a_count_in_32_bits, "uint-range"),
    (DML, takes_sizes_in_32_bits, "uint-range"),
]

OPEN: list[tuple[str, str, Compute]] = [
    (operator, compute.__name__, partial(run, compute)) for operator, compute in _OPEN
]
DECIDED: list[tuple[str, str, Compute, str]] = [
    (operator, compute.__name__, partial(run, compute), rule)
    for operator, compute, rule in _DECIDED
]
