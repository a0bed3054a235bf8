"""Wrong ways to slice with strides and masks."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.fault import Call, Compute, Outputs, accepting, changing, rejecting, right
from tests.operators.planted import stale

OPERATOR = "openvino/StridedSlice-1"
LISTS = ("begin", "end", "stride")
MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")
# Changes a valid call, as an implementation that misreads it.
Misreading: TypeAlias = Callable[[Call], Call]


def _misread(misreading: Misreading) -> Compute:
    """Return a backend that rejects invalid calls, and misreads valid ones."""

    def change(call: Call, expected: Outputs) -> Outputs:
        wide = {name: call[name].astype(np.int64) for name in LISTS if name in call}
        try:
            return right(OPERATOR, misreading(call.given(**wide)))
        except (ValueError, IndexError):
            return [np.zeros(1, expected[0].dtype)]

    return changing(OPERATOR, change)


def _each(name: str, change: Callable[[int, int], int]) -> Misreading:
    """Return a misreading of each element of an input, given the element and its position."""

    def misread(call: Call) -> Call:
        if name not in call:
            return call
        changed = [change(element, k) for k, element in enumerate(call.ints(name))]
        return call.given(**{name: np.array(changed, np.int64)})

    return misread


def _at(name: str, step: int, change: Callable[[int], int]) -> Misreading:
    """Return a misreading of the element of one step."""
    return _each(name, lambda element, k: change(element) if k == step else element)


def _mask(name: str, change: Callable[[list[int], int], list[int]]) -> Misreading:
    """Return a misreading of a mask, given the mask and the number of steps."""
    return lambda call: call.given(**{name: change([*call.get(name, [0])], call["begin"].size)})


def _cut(bits: int) -> Callable[[int, int], int]:
    half = 1 << (bits - 1)
    return lambda element, _: (element + half) % (2 * half) - half


def _marks(call: Call, name: str) -> int:
    """Return how many steps a mask marks."""
    return sum(call.get(name, [])[: call["begin"].size])


def _where(name: str, change: Callable[[Array, int], Array]) -> Compute:
    """Return a backend with a wrong output where a mask marks a step."""
    return changing(
        OPERATOR,
        lambda c, out: [change(out[0], c.data.ndim).copy("C")] if _marks(c, name) else out,
    )


def _last_bit_repeated(mask: list[int], count: int) -> list[int]:
    return [*mask, *mask[-1:] * (count - len(mask))]


MISREADINGS: dict[str, Misreading] = {
    **{f"{name}-cut-to-{bits}-bits": _each(name, _cut(bits)) for name in ("begin", "end", "stride")
        for bits in (8, 16, 32)},
    "begin-negative-as-zero": _each("begin", lambda element, _: max(element, 0)),
    "begin-negative-one-high": _each("begin", lambda element, _: element + (element < 0)),
    "end-negative-one-low": _each("end", lambda element, _: element - (element < 0)),
    "end-included":
        _each("end", lambda element, _: element + 1 if element not in (-1,) else 1 << 40),
    "stride-absolute": _each("stride", lambda element, _: abs(element)),
    "stride-of-three-as-two": _each("stride", lambda element, _: 2 if element == 3 else element),
    "stride-one": _each("stride", lambda element, _: 1 if element > 0 else -1),
    "begin-of-the-first-step": _each("begin", lambda element, k: 0 if k == 0 else element),
    **{f"{name}-mask-ignored": _mask(f"{name.replace('-', '_')}_mask", lambda _, __: [0])
        for name in ("begin", "end", "new-axis", "shrink-axis", "ellipsis")},
    **{f"{name}-mask-padded-with-ones":
        _mask(f"{name}_mask", lambda mask, count: [*mask, *[1] * (count - len(mask))])
        for name in ("begin", "end")},
    **{f"{name}-mask-aligned-at-the-end": _mask(f"{name.replace('-', '_')}_mask",
        lambda mask, count: ([0] * (count - len(mask)) + mask)[-count:])
        for name in ("begin", "new-axis")},
    "begin-mask-first-only": _mask("begin_mask", lambda mask, _: mask[:1]),
    "end-mask-last-bit-repeated": _mask("end_mask", _last_bit_repeated),
    "end-mask-from-its-end": _mask("end_mask", lambda mask, _: mask[::-1]),
    "new-axis-once": _mask("new_axis_mask",
        lambda mask, _: [int(b and 1 not in mask[:k]) for k, b in enumerate(mask)]),
    "shrink-axis-mask-of-four-steps": _mask("shrink_axis_mask", lambda mask, _: mask[:4]),
    "ellipsis-one-late": _mask("ellipsis_mask", lambda mask, count: [0, *mask][:count]),
    **{f"{name}-of-step-{k}-ignored": _at(name, k, value) for k in range(3)
        for name, value in {"begin": lambda _: 0, "end": lambda _: 1 << 40,
        "stride": lambda element: 1 if element > 0 else -1}.items()},
    "stride-magnitude-in-8-bits":
        _each("stride", lambda element, _: (abs(element) & 255 or 1) * (1 if element > 0 else -1)),
    "ellipsis-first-only": _mask("ellipsis_mask", lambda mask, _: mask[:1]),
}  # fmt: skip
FAULTS: dict[str, Compute] = {
    **{name: _misread(misreading) for name, misreading in MISREADINGS.items()},
    **{f"unchecked-{rule}": accepting(OPERATOR, rule, lambda c: [c["data"].copy()])
        for rule in (*("required-arguments", "begin-rank", "end-rank", "stride-rank",
        "equal-lengths"),
        *("mask-bits", "ellipsis-once", "stride-nonzero", "steps-fit", "index-type"))},
    "new-axis-last": _where("new_axis_mask", lambda output, _: output.reshape([n
        for n in output.shape if n != 1] + [1]) if output.size else output),
    "shrunk-axis-kept": _where("shrink_axis_mask", lambda output, _: output[np.newaxis]),
    "ellipsis-reversed":
        _where("ellipsis_mask", lambda output, rank: output[..., ::-1] if rank > 4 else output),
    "rank-8": rejecting(OPERATOR, lambda c, _: c.data.ndim == 8),
    "ellipsis-of-nothing-rejected": rejecting(OPERATOR,
        lambda c, _: _marks(c, "ellipsis_mask") and c["begin"].size - 1 == c.data.ndim),
    "long-masks-rejected": rejecting(OPERATOR,
        lambda c, _: any(len(c.get(name, [0])) > max(c["begin"].size, 1) for name in MASKS)),
    "empty-masks-rejected": rejecting(OPERATOR, lambda c, _: [] in c.attributes.values()),
    "stride-required": rejecting(OPERATOR, lambda c, _: "stride" not in c),
    "negative-stride-rejected":
        rejecting(OPERATOR, lambda c, _: "stride" in c and (c["stride"] < 0).any()),
    "empty-data-rejected": rejecting(OPERATOR, lambda c, _: not c.data.size),
    "end-beyond-rejected": rejecting(OPERATOR, lambda c, _: (c["end"] > max(c.data.shape)).any()),
    "stale-lists": stale(OPERATOR,
        lambda c: (c.data.shape, c.data.dtype, c["begin"].shape, str(c.attributes)), *LISTS),
    "scalar-output-rejected": rejecting(OPERATOR, lambda _, out: not out[0].ndim),
    "backwards-on-the-last-of-four-rejected": rejecting(OPERATOR, lambda c, _:
        c.data.ndim == c["begin"].size == 4 and "stride" in c and c["stride"][-1] < 0),
    "two-new-axes-rejected": rejecting(OPERATOR, lambda c, _: _marks(c, "new_axis_mask") > 1),
    "longer-masks-rejected": rejecting(OPERATOR,
        lambda c, _: any(len(mask) > c["begin"].size for mask in c.attributes.values())),
}  # fmt: skip
