"""Calls of Broadcast-1, valid ones and those that break one of its rules."""

import numpy as np
from hypothesis import strategies as st

from opcert.reference.broadcasting import broadcast_1
from tests.property import drawing, oracles
from tests.property.drawing import Call, Ranks, Types
from tests.property.oracles import Index
from tests.property.subject import Subject

MODES = st.sampled_from(["numpy", "explicit"])


@st.composite
def stretchable(draw: st.DrawFn, extents: list[int]) -> Index:
    """Shapes that broadcast to some extents, one by one."""
    return tuple(draw(st.sampled_from([extent, 1])) for extent in extents)


@st.composite
def calls(
    draw: st.DrawFn,
    dtypes: Types = drawing.ANY_TYPE,
    index_types: Types = drawing.ANY_INTEGER,
    ranks: Ranks = drawing.ANY_RANK_OR_ZERO,
    modes: st.SearchStrategy[str] = MODES,
    least: int = 0,
) -> Call:
    """Valid calls with a target of one of `ranks` and data of rank `least` or more."""
    dtype, target_type, rank = draw(dtypes), draw(index_types), draw(ranks)
    target = draw(drawing.shapes(rank, longest=np.iinfo(target_type).max))
    mapped = draw(st.integers(least, rank))
    call: Call = {"target_shape": draw(drawing.vectors(target, target_type))}
    if draw(modes) == "numpy":
        mapping = list(range(rank - mapped, rank))
        call |= draw(st.sampled_from([{}, {"mode": "numpy"}]))
    else:
        mapping = sorted(draw(st.permutations(range(rank)))[:mapped])
        axes = draw(drawing.vectors(mapping, draw(index_types)))
        call |= {"mode": "explicit", "axes_mapping": axes}
    shape = draw(stretchable([target[axis] for axis in mapping]))
    return {"data": draw(drawing.arrays(shape, dtype)), **call}


CALLS = calls()
NUMPY = calls(modes=st.just("numpy"))
EXPLICIT = calls(modes=st.just("explicit"))
MAPPED = calls(modes=st.just("explicit"), least=1, ranks=drawing.ANY_RANK)


def mapping_of(call: Call) -> list[int]:
    """The axes of the target that data's are mapped to."""
    if "axes_mapping" in call:
        return [int(axis) for axis in call["axes_mapping"]]
    rank: int = call["target_shape"].size
    return list(range(rank - call["data"].ndim, rank))


@st.composite
def unknown_mode(draw: st.DrawFn) -> Call:
    """The mode is not one of the two, if only by its capitals."""
    names = ["", "NUMPY", "Explicit", "bidirectional", "pdpd", "numpy "]
    return draw(CALLS) | {"mode": draw(st.sampled_from(names))}


@st.composite
def negative_target(draw: st.DrawFn) -> Call:
    """One element of the target is negative."""
    call = draw(calls(ranks=drawing.ANY_RANK))
    target = call["target_shape"].tolist()
    at = draw(st.integers(0, len(target) - 1))
    target[at] = draw(st.sampled_from([-1, -2, -target[at] - 1, -128]))
    return call | {"target_shape": draw(drawing.vectors_of_any_type(target))}


@st.composite
def more_data_than_target(draw: st.DrawFn) -> Call:
    """Data has more dimensions than the target, if only by leading ones."""
    call = draw(NUMPY)
    missing = call["target_shape"].size - call["data"].ndim
    ones = (1,) * (missing + draw(st.integers(1, 2)))
    return call | {"data": call["data"].reshape(ones + call["data"].shape)}


@st.composite
def incompatible(draw: st.DrawFn, mode: str) -> Call:
    """One extent of data is neither 1 nor the target's, as when the target should stretch."""
    call = draw(calls(modes=st.just(mode), least=1, ranks=drawing.ANY_RANK))
    target, shape = call["target_shape"].tolist(), list(call["data"].shape)
    axis = draw(st.integers(0, len(shape) - 1))
    extent = target[mapping_of(call)[axis]]
    shape[axis] = draw(st.sampled_from(sorted({0, 2, extent + 1, 2 * extent} - {1, extent})))
    return call | {"data": draw(drawing.arrays(tuple(shape), call["data"].dtype))}


@st.composite
def mapping_of_wrong_size(draw: st.DrawFn) -> Call:
    """One of data's dimensions is not mapped, or one that it has not is."""
    call = draw(EXPLICIT)
    mapping = mapping_of(call)
    unmapped = set(range(call["target_shape"].size)) - set(mapping)
    wrong = [sorted([*mapping, axis]) for axis in unmapped] or [[*mapping, len(mapping)]]
    wrong += [[one for one in mapping if one != axis] for axis in mapping]
    return call | {"axes_mapping": draw(drawing.vectors_of_any_type(draw(st.sampled_from(wrong))))}


@st.composite
def mapping_outside(draw: st.DrawFn) -> Call:
    """The first axis mapped to lies before the target's, or the last after them."""
    call = draw(MAPPED)
    mapping, rank = mapping_of(call), call["target_shape"].size
    wrong = draw(st.sampled_from([rank, rank + 256, 2**64 - 1, -1, -rank, mapping[0] - rank]))
    mapping[0 if wrong < 0 else -1] = wrong
    return call | {"axes_mapping": draw(drawing.vectors_of_any_type(mapping))}


@st.composite
def unsorted_mapping(draw: st.DrawFn) -> Call:
    """Two axes are mapped in reverse or to the same axis; the extents would allow it."""
    call = draw(calls(modes=st.just("explicit"), least=2, ranks=st.integers(2, 8)))
    mapping = mapping_of(call)
    at = draw(st.integers(1, len(mapping) - 1))
    mapping[at - 1], mapping[at] = mapping[at], draw(st.sampled_from(mapping[at - 1 : at + 1]))
    data = draw(drawing.arrays((1,) * len(mapping), call["data"].dtype))
    return call | {"data": data, "axes_mapping": draw(drawing.vectors_of_any_type(mapping))}


BREACHES = {
    "required-inputs": drawing.lacking(CALLS, "data", "target_shape"),
    "mode-known": unknown_mode(),
    "target-type": drawing.with_changed(CALLS, "target_shape", drawing.changed_types),
    "target-rank": drawing.with_changed(CALLS, "target_shape", drawing.changed_ranks),
    "target-not-negative": negative_target(),
    "numpy-rank": more_data_than_target(),
    "numpy-compatible": incompatible("numpy"),
    "explicit-with-axes-mapping": drawing.lacking(EXPLICIT, "axes_mapping"),
    "axes-mapping-type": drawing.with_changed(EXPLICIT, "axes_mapping", drawing.changed_types),
    "axes-mapping-rank": drawing.with_changed(MAPPED, "axes_mapping", drawing.changed_ranks),
    "axes-mapping-size": mapping_of_wrong_size(),
    "axes-mapping-range": mapping_outside(),
    "axes-mapping-sorted": unsorted_mapping(),
    "explicit-compatible": incompatible("explicit"),
}

SUBJECT = Subject(
    slug="broadcast-1",
    reference=broadcast_1,
    formula=oracles.broadcast_1,
    calls=calls,
    breaches=BREACHES,
    ranks=range(9),
)
