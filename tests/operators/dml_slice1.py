"""Wrong ways to slice windows."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults import fault
from tests.faults.fault import Call, Compute, Outputs, changing, right
from tests.operators.planted import with_output

OPERATOR = "directml/DML_OPERATOR_SLICE1"
UINT = 1 << 32
# Returns the indices that are read on an axis.
Indices: TypeAlias = Callable[["Window"], Sequence[int]]
Condition: TypeAlias = Callable[[Call], bool]


class Window(NamedTuple):
    """The window on one axis, and the number of elements that are copied from it."""

    axis: int
    offset: int
    size: int
    stride: int
    copies: int
    extent: int

    @property
    def direction(self) -> int:
        return 1 if self.stride > 0 else -1

    @property
    def most(self) -> int:
        return 1 + (self.size - 1) // abs(self.stride)

    @property
    def is_within(self) -> bool:
        return self.offset + self.size <= self.extent


def windows(call: Call) -> list[Window]:
    """Return the window on each axis."""
    lists = [call[f"InputWindow{name}"] for name in ("Offsets", "Sizes", "Strides")]
    rows = zip(*lists, call["OutputTensor"]["Sizes"], call.data.shape, strict=False)
    return [Window(axis, *row) for axis, row in enumerate(rows)]


def indices(window: Window) -> list[int]:
    """Return the right indices on an axis."""
    first = window.offset + (window.size - 1 if window.stride < 0 else 0)
    return [first + i * window.stride for i in range(window.copies)]


def copied(read: Indices, call: Call) -> list[Array]:
    """Return the elements at the indices that `read` returns, around the ends where outside."""
    tensor = call.data
    for window in windows(call):
        wrapped_indices = [index % max(window.extent, 1) for index in read(window)]
        tensor = np.take(tensor, wrapped_indices, window.axis)
    return [tensor.copy()]


def reading(read: Indices) -> Compute:
    """Return a backend that checks calls, and reads at other indices."""
    return changing(OPERATOR, lambda call, _: copied(read, call))


def misread(change: Callable[[Window], Window]) -> Compute:
    """Return a backend that checks calls, and changes the window on an axis."""
    return reading(lambda window: indices(change(window)))


def with_outputs(change: Callable[[Array, Array], Array]) -> Compute:
    """Return a backend that changes the right output; `change` takes input and output."""
    return with_output(OPERATOR, lambda call, expected: change(call.data, expected))


def rejecting(condition: Condition) -> Compute:
    """Return a backend that rejects valid calls too."""
    return fault.rejecting(OPERATOR, lambda call, _: condition(call))


def accepting(rule: str, condition: Condition) -> Compute:
    """Return a backend that accepts some calls that break a rule."""

    def instead(call: Call) -> Outputs:
        if not condition(call):
            return right(OPERATOR, call)
        if max(call["OutputTensor"]["Sizes"], default=0) < 1 << 20:
            return copied(indices, call)
        return [np.zeros(1)]

    return fault.accepting(OPERATOR, rule, instead)


def on_some_axis(condition: Callable[[Window], bool]) -> Condition:
    """Return the condition that one axis of a call meets another condition."""
    return lambda call: any(map(condition, windows(call)))


def on_each_axis(condition: Callable[[Window], bool]) -> Condition:
    """Return the condition that all axes of a call meet another condition."""
    return lambda call: all(map(condition, windows(call)))


def cached(key: Callable[[Call], Any]) -> Compute:
    """Return a backend that keeps the numbers of a call under an incomplete key."""
    plans: dict[str, Mapping[str, Any]] = {}
    return changing(
        OPERATOR,
        lambda call, _: right(
            OPERATOR, Call(call.inputs, plans.setdefault(repr(key(call)), call.attributes))
        ),
    )


def without(name: str, call: Call) -> Any:
    """Return what a call is cached under, without an attribute."""
    return call.data.shape, call.data.dtype, call.without(name).attributes


def shorter(name: str) -> Condition:
    """Return the condition that a list has fewer elements than the input has dimensions."""
    return lambda call: len(call[name]) < call.data.ndim


def flipped(window: Window) -> Sequence[int]:
    """Copy forwards, and reverse the copied elements where the stride is negative."""
    forwards = indices(window._replace(stride=abs(window.stride)))
    return forwards[:: window.direction]


def last_of_reachable(window: Window) -> Sequence[int]:
    """Copy the last instead of the first of the reachable elements."""
    return indices(window._replace(copies=window.most))[window.most - window.copies :]


def wrapped(bits: int, number: int) -> int:
    """Return a number cut to so many bits with a sign."""
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def magnitude(change: Callable[[int], int]) -> Compute:
    """Return a backend that changes the magnitude of strides, but not their signs."""
    return misread(lambda w: w._replace(stride=max(change(abs(w.stride)), 1) * w.direction))


def quiet(output: Array) -> Array:
    """Return an output with each NaN replaced by the default one."""
    return np.where(np.isnan(output), np.array(np.nan, output.dtype), output)


def in_memory_order(call: Call, _: Outputs) -> Outputs:
    """Copy from an input whose elements are read in the order of memory."""
    return right(OPERATOR, call.moving(np.ravel(call.data, order="K").reshape(call.data.shape)))


def whole_forwards(call: Call, outputs: Outputs) -> Outputs:
    """Copy forwards where the windows are all of the input, and all strides 1 or -1."""
    if on_each_axis(lambda w: w.size == w.extent and abs(w.stride) == 1)(call):
        return copied(lambda w: indices(w._replace(stride=1)), call)
    return outputs


FAULTS: dict[str, Compute] = {
    "magnitudes of strides in 8 bits": magnitude(lambda number: number & 255),
    "magnitudes of strides in 16 bits": magnitude(lambda number: number & 65535),
    "magnitudes of strides up to 255": magnitude(lambda number: min(number, 255)),
    "magnitudes of strides up to 65535": magnitude(lambda number: min(number, 65535)),
    "backward strides down to -255": misread(lambda w: w._replace(stride=max(w.stride, -255))),
    "backward strides down to -32767": misread(lambda w: w._replace(stride=max(w.stride, -32767))),
    "offsets in 16 bits": misread(lambda w: w._replace(offset=w.offset & 65535)),
    "offsets in 16 bits with a sign": misread(lambda w: w._replace(offset=wrapped(16, w.offset))),
    "sizes in 16 bits": misread(lambda w: w._replace(size=w.size & 65535)),
    "no magnitude of the least stride": rejecting(on_some_axis(lambda w: w.stride == -1 << 31)),
    "whole windows in strides of 1 forwards": changing(OPERATOR, whole_forwards),
    "the last axis of four from the end of the axis": misread(lambda w: w._replace(offset=0,
        size=w.extent) if w.axis == 3 and w.stride < 0 else w),
    "backwards from the offset": misread(lambda w: w._replace(size=1 if w.stride < 0 else w.size)),
    "backwards from the end of the axis":
        misread(lambda w: w._replace(offset=0, size=w.extent) if w.stride < 0 else w),
    "backwards from one past the window":
        misread(lambda w: w._replace(size=w.size + 1 if w.stride < 0 else w.size)),
    "backwards from the last element that is reached forwards":
        misread(lambda w: w._replace(size=w.size - (w.size - 1) % abs(w.stride))),
    "backwards ignores the offset":
        misread(lambda w: w._replace(offset=0 if w.stride < 0 else w.offset)),
    "backwards as forwards and reversed": reading(flipped),
    "the sign of strides ignored": misread(lambda w: w._replace(stride=abs(w.stride))),
    "the sign considered on the last axis of four only":
        misread(lambda w: w._replace(stride=w.stride if w.axis in (0, 3) else abs(w.stride))),
    "backwards only by one": misread(lambda w: w._replace(stride=max(w.stride, -1))),
    "strides limited to the window": misread(lambda w: w._replace(stride=min(w.stride,
        max(w.size - 2, 1)) if w.stride > 0 else w.stride)),
    "strides of the first axis for the last": misread(lambda w: w._replace(stride=w.stride
        if w.axis == 0 else (1 if w.stride > 0 else -1))),
    "offsets of 8 bits": misread(lambda w: w._replace(offset=w.offset % 256)),
    "offsets of 8 bits with a sign": misread(lambda w: w._replace(offset=wrapped(8, w.offset))),
    "sizes of 8 bits": misread(lambda w: w._replace(size=w.size % 256)),
    "strides of 8 bits": misread(lambda w: w._replace(stride=wrapped(8, w.stride))),
    "only the first four offsets":
        misread(lambda w: w._replace(offset=w.offset if w.axis < 4 else 0)),
    "only the first five strides":
        misread(lambda w: w._replace(stride=w.stride if w.axis < 5 else 1)),
    "only the first seven sizes":
        misread(lambda w: w._replace(size=w.size if w.axis < 7 else w.extent)),
    "the last of the reachable elements": reading(last_of_reachable),
    "all of the reachable elements": reading(lambda w: indices(w._replace(copies=w.most))),
    "a stride scaled to fill the output":
        reading(lambda w: indices(w._replace(stride=max(1, w.size // w.copies) * w.direction))),
    "integers through f32": with_outputs(lambda _, y: y.astype(np.float32).astype(y.dtype)
        if y.dtype.kind in "iu" else y),
    "u32 limited to i32":
        with_outputs(lambda _, y: np.minimum(y, (1 << 31) - 1) if y.dtype == np.uint32 else y),
    "f16 without subnormals": with_outputs(lambda _, y: np.where(abs(y) < 6.2e-5, y.dtype.type(0),
        y) if y.dtype == np.float16 else y),
    "NaN without payload": with_outputs(lambda _, y: quiet(y) if y.dtype.kind == "f" else y),
    "layouts ignored": changing(OPERATOR, in_memory_order),
    "whole windows return the input": with_outputs(lambda x, y: x if x.shape == y.shape else y),
    "cached without strides": cached(partial(without, "InputWindowStrides")),
    "cached without offsets": cached(partial(without, "InputWindowOffsets")),
    "cached by the shapes": cached(lambda c: (c.data.shape, c.data.dtype, c["OutputTensor"])),
    "rank 8 rejected": rejecting(lambda c: c.data.ndim == 8),
    "rank 1 rejected": rejecting(lambda c: c.data.ndim == 1),
    "fewer elements than reachable rejected": rejecting(on_some_axis(lambda w: w.copies != w.most)),
    "strides past the window rejected": rejecting(on_some_axis(lambda w: w.stride > w.size > 1)),
    "negative strides of windows of one rejected":
        rejecting(on_some_axis(lambda w: w.size == 1 and w.stride < 0)),
    "strides past 16 bits rejected": rejecting(on_some_axis(lambda w: abs(w.stride) > 0xFFFF)),
    "windows up to the end rejected":
        rejecting(on_some_axis(lambda w: w.offset > 0 and w.offset + w.size == w.extent)),
    "output-type": accepting("output-type", lambda _: True),
    "output-type of the same width": accepting("output-type",
        lambda c: c["OutputTensor"]["DataType"].endswith(str(c.data.itemsize * 8))),
    "output-type of the other sign": accepting("output-type", lambda c:
        c["OutputTensor"]["DataType"].lstrip("U") == c.data.dtype.name.upper().lstrip("U")),
    "an output of fewer dimensions":
        accepting("output-rank", lambda c: len(c["OutputTensor"]["Sizes"]) < c.data.ndim),
    "an output of more dimensions":
        accepting("output-rank", lambda c: len(c["OutputTensor"]["Sizes"]) > c.data.ndim),
    "nine dimensions": accepting("dimension-count-range", lambda c: c["DimensionCount"] == 9),
    "no dimensions": accepting("dimension-count-range", lambda c: c["DimensionCount"] == 0),
    "a DimensionCount below the rank":
        accepting("dimension-count-matches", lambda c: c["DimensionCount"] < c.data.ndim),
    "a DimensionCount above the rank":
        accepting("dimension-count-matches", lambda c: c["DimensionCount"] > c.data.ndim),
    **{f"short {name}": accepting(f"{name}-length", shorter(f"InputWindow{name.capitalize()}"))
        for name in ("offsets", "sizes", "strides")},
    "empty windows": accepting("window-nonempty", lambda _: True),
    "windows checked on the first axis only":
        accepting("window-within", lambda c: windows(c)[0].is_within),
    "windows checked on the last axis only":
        accepting("window-within", lambda c: windows(c)[-1].is_within),
    "offsets and sizes checked apart": accepting("window-within",
        on_each_axis(lambda w: w.offset < w.extent and w.size <= w.extent)),
    "windows past the end by one":
        accepting("window-within", on_each_axis(lambda w: w.offset + w.size <= w.extent + 1)),
    "windows whose end wraps in 32 bits":
        accepting("window-within", on_each_axis(lambda w: (w.offset + w.size) % UINT <= w.extent)),
    "negative offsets": accepting("uint-range", on_some_axis(lambda w: w.offset < 0)),
    "offsets past 32 bits": accepting("uint-range", on_some_axis(lambda w: w.offset >= UINT)),
    "negative sizes": accepting("uint-range", on_some_axis(lambda w: w.size < 0)),
    "strides of 0 on windows of one":
        accepting("stride-nonzero", on_each_axis(lambda w: w.stride != 0 or w.size == 1)),
    "strides of 0 on outputs of one":
        accepting("stride-nonzero", on_each_axis(lambda w: w.stride != 0 or w.copies == 1)),
    "outputs of size 0": accepting("output-sizes", on_each_axis(lambda w: w.copies <= w.most)),
    "outputs up to the size of the window":
        accepting("output-sizes", on_each_axis(lambda w: 1 <= w.copies <= w.size)),
    "outputs up to the size of the axis":
        accepting("output-sizes", on_each_axis(lambda w: 1 <= w.copies <= w.extent)),
    "outputs one past what is reachable": accepting("output-sizes",
        on_each_axis(lambda w: 1 <= w.copies <= 1 + w.size // abs(w.stride))),
    "outputs unchecked where strides are negative": accepting("output-sizes",
        on_each_axis(lambda w: w.stride < 0 or 1 <= w.copies <= 1 + (w.size - 1) // w.stride)),
}  # fmt: skip

RIGHT = {"the-right-indices": reading(indices)}
