"""Backends that read the documents of the core operators in other ways.

Each is the reference with one difference, in calls that the document leaves open or decides.
"""

from functools import partial

import numpy as np

from opcert.arrays.element_types import Array
from opcert.reference.variadic_split import parts_along
from tests.faults.fault import (
    BROADCAST,
    DML,
    GATHER,
    SLICE,
    SPLIT,
    Call,
    Compute,
    Outputs,
    rejecting,
    right,
)
from tests.operators.planted import misreading, taking

UINT = 1 << 32

# Broadcast


def has_mapping_in_numpy_mode(call: Call) -> bool:
    return "axes_mapping" in call and call.get("mode", "numpy") == "numpy"


def applies_a_mapping_in_numpy_mode(call: Call) -> Call:
    return call.given(mode="explicit") if has_mapping_in_numpy_mode(call) else call


def ignores_mode_and_mapping_at_equal_ranks(call: Call) -> Call:
    target = call.get("target_shape")
    is_equal = target is not None and "data" in call and call.data.ndim == target.size
    return call.without("mode", "axes_mapping") if is_equal else call


def stretches_in_explicit_mode(call: Call, outputs: Outputs) -> bool:
    mapping = call.ints("axes_mapping") if "axes_mapping" in call else []
    sizes = [outputs[0].shape[axis] for axis in mapping]
    return call.get("mode", "numpy") != "numpy" and sizes != list(call.data.shape)


def maps_data_to_axes_of_size_0(call: Call) -> Outputs:
    if call.get("mode") != "explicit" or 0 not in call.ints("target_shape"):
        return right(BROADCAST, call)
    target, mapping = call.ints("target_shape"), call.ints("axes_mapping")
    pairs = zip(call.data.shape, mapping, strict=True)
    shape = [1 if target[axis] == 0 else n for n, axis in pairs]
    return right(BROADCAST, call.moving(np.zeros(shape, call.data.dtype)))


def counts_mapped_axes_from_the_end(call: Call) -> Array:
    rank, mapping = call["target_shape"].size, call["axes_mapping"]
    is_list = mapping.dtype.kind == "i" and mapping.ndim == 1
    if call.get("mode") == "explicit" and is_list and (mapping >= -rank).all():
        mapping = np.where(mapping < 0, mapping + rank, mapping)
    return np.array(mapping)


# DML_OPERATOR_SPLIT


def is_not_in_the_table(call: Call, _: Outputs) -> bool:
    dtype = call.data.dtype
    return call.data.ndim > 8 or dtype.kind not in "iuf" or dtype.isbuiltin != 1


# Slice


def has_mixed_types(call: Call, _: Outputs) -> bool:
    return len({call[name].dtype for name in ("start", "stop", "step")}) > 1


def takes_booleans_for_integers(call: Call) -> Call:
    bools = {n: a.astype("u1") for n, a in call.inputs.items() if n != "data" and a.dtype == bool}
    return call.given(**bools)


# Gather


def one_of_several_axes(part: slice, call: Call) -> Array:
    axis: Array = call["axis"]
    return axis[part] if axis.ndim == 1 and axis.size > 1 else axis


# What the documents decide


def accepts_no_slices_with_axes(call: Call) -> Call:
    lists = [call.get(name) for name in ("start", "stop", "step")]
    is_empty = all(each is not None and each.shape == (0,) for each in lists)
    return call.given(axes=np.zeros(0, np.int64)) if is_empty else call


def takes_the_greatest_stop_for_the_end(call: Call) -> Outputs:
    right(SLICE, call)
    stop = call["stop"]
    most = np.iinfo(stop.dtype).max
    wide = np.where(stop == most, np.iinfo(np.int64).max, stop.astype(np.int64))
    lists = {name: call[name].astype(np.int64) for name in ("start", "step")}
    narrow = stop.dtype.itemsize < wide.dtype.itemsize
    return right(SLICE, call.given(stop=wide, **lists) if narrow else call)


def accepts_no_lengths(call: Call) -> Outputs:
    lengths = call.get("split_lengths")
    if lengths is not None and lengths.shape == (0,):
        return parts_along(call.data, 0, [])
    return right(SPLIT, call)


def never_checks_the_lower_bound(call: Call) -> int:
    batch_dims, rank = int(call["batch_dims"]), int(call["indices"].ndim)
    return batch_dims + rank if -rank <= batch_dims < 0 else batch_dims


def aligns_at_the_end_without_a_mapping(call: Call) -> Call:
    is_alone = call.get("mode") == "explicit" and "axes_mapping" not in call
    return call.without("mode") if is_alone else call


def accepts_an_unknown_mode(call: Call) -> Call:
    return call if call.get("mode") in ("numpy", "explicit") else call.without("mode")


def does_not_sort_out_mappings(call: Call) -> Array:
    mapping: Array = call["axes_mapping"]
    return np.sort(mapping) if call.get("mode") == "explicit" else mapping


def takes_sizes_in_32_bits(call: Call) -> list[dict[str, object]]:
    tensors = call["OutputTensors"]
    return [{**each, "Sizes": [size % UINT for size in each["Sizes"]]} for each in tensors]


OPEN: list[tuple[str, str, Compute]] = [
    (BROADCAST, "rejects-a-mapping-in-numpy-mode",
        rejecting(BROADCAST, lambda call, _: has_mapping_in_numpy_mode(call))),
    (BROADCAST, "applies-a-mapping-in-numpy-mode",
        taking(BROADCAST, applies_a_mapping_in_numpy_mode)),
    (BROADCAST, "ignores-mode-and-mapping-at-equal-ranks",
        taking(BROADCAST, ignores_mode_and_mapping_at_equal_ranks)),
    (BROADCAST, "rejects-explicit-stretching", rejecting(BROADCAST, stretches_in_explicit_mode)),
    (BROADCAST, "maps-data-to-axes-of-size-0", maps_data_to_axes_of_size_0),
    (BROADCAST, "accepts-capital-modes",
        misreading(BROADCAST, "mode", lambda c: c["mode"].lower())),
    (BROADCAST, "counts-mapped-axes-from-the-end",
        misreading(BROADCAST, "axes_mapping", counts_mapped_axes_from_the_end)),
    (DML, "rejects-surplus-descriptors",
        rejecting(DML, lambda c, _: len(c["OutputTensors"]) > c["OutputCount"])),
    (DML, "supports-no-more-than-its-table", rejecting(DML, is_not_in_the_table)),
    (DML, "rejects-zero-sizes", rejecting(DML, lambda _, out: not all(each.size for each in out))),
    (SLICE, "rejects-a-slice-of-no-axis", rejecting(SLICE, lambda c, _: not c["start"].size)),
    (SLICE, "rejects-mixed-types", rejecting(SLICE, has_mixed_types)),
    (SLICE, "takes-booleans-for-integers", taking(SLICE, takes_booleans_for_integers)),
    (SPLIT, "rejects-a-split-into-nothing", rejecting(SPLIT, lambda _, outputs: not outputs)),
    (GATHER, "takes-the-first-of-several-axes",
        misreading(GATHER, "axis", partial(one_of_several_axes, slice(1)))),
    (GATHER, "takes-the-last-of-several-axes",
        misreading(GATHER, "axis", partial(one_of_several_axes, slice(-1, None)))),
]  # fmt: skip
DECIDED: list[tuple[str, str, Compute, str]] = [
    (SLICE, "accepts-no-slices-with-axes", taking(SLICE, accepts_no_slices_with_axes),
        "equal-lengths"),
    (SLICE, "takes-the-greatest-stop-for-the-end", takes_the_greatest_stop_for_the_end, ""),
    (SPLIT, "accepts-no-lengths", accepts_no_lengths, "lengths-sum"),
    (GATHER, "never-checks-the-lower-bound-of-batch-dims",
        misreading(GATHER, "batch_dims", never_checks_the_lower_bound), "batch-dims-range"),
    (BROADCAST, "aligns-at-the-end-without-a-mapping",
        taking(BROADCAST, aligns_at_the_end_without_a_mapping), "explicit-with-axes-mapping"),
    (BROADCAST, "accepts-an-unknown-mode", taking(BROADCAST, accepts_an_unknown_mode),
        "mode-known"),
    (BROADCAST, "does-not-sort-out-mappings",
        misreading(BROADCAST, "axes_mapping", does_not_sort_out_mappings), "axes-mapping-sorted"),
    (DML, "counts-the-descriptors",
        misreading(DML, "OutputCount", lambda c: len(c["OutputTensors"])), ""),
    (DML, "takes-an-axis-in-32-bits", misreading(DML, "Axis", lambda c: c["Axis"] % UINT),
        "uint-range"),
    (DML, "takes-a-count-in-32-bits",
        misreading(DML, "OutputCount", lambda c: c["OutputCount"] % UINT), "uint-range"),
    (DML, "takes-sizes-in-32-bits", misreading(DML, "OutputTensors", takes_sizes_in_32_bits),
        "uint-range"),
]  # fmt: skip
