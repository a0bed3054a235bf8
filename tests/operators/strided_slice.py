"""Wrong ways to slice with strides and masks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from tests.operators.planted import Attributes, Compute, Inputs, accepting, rejecting, right

OPERATOR = "openvino/StridedSlice-1"
MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")
# Changes the inputs and attributes of a valid call, as an implementation that misreads them.
Misreading = Callable[[dict[str, Any], dict[str, Any]], None]


def _misread(misreading: Misreading) -> Compute:
    """Return a backend that rejects invalid calls, and misreads valid ones."""

    def compute(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        expected = right(OPERATOR, inputs, attributes)
        arguments, masks = {**inputs}, {**attributes}
        for name in ("begin", "end", "stride"):
            if name in arguments:
                arguments[name] = arguments[name].astype(np.int64)
        misreading(arguments, masks)
        try:
            return right(OPERATOR, arguments, masks)
        except (ValueError, IndexError):
            return [np.zeros(1, expected[0].dtype)]

    return compute


def _each(name: str, change: Callable[[int, int], int]) -> Misreading:
    """Return a misreading of each element of an input, given the element and its position."""

    def misread(inputs: dict[str, Any], _: dict[str, Any]) -> None:
        if name in inputs:
            elements = inputs[name].tolist()
            changed = [change(element, k) for k, element in enumerate(elements)]
            inputs[name] = np.array(changed, np.int64)

    return misread


def _at(name: str, step: int, change: Callable[[int], int]) -> Misreading:
    """Return a misreading of the element of one step."""
    return _each(name, lambda element, k: change(element) if k == step else element)


def _mask(name: str, change: Callable[[list[int], int], list[int]]) -> Misreading:
    """Return a misreading of a mask, given the mask and the number of steps."""

    def misread(inputs: dict[str, Any], masks: dict[str, Any]) -> None:
        masks[name] = change(list(masks.get(name, [0])), inputs["begin"].size)

    return misread


def _cut(bits: int) -> Callable[[int, int], int]:
    half = 1 << (bits - 1)
    return lambda element, _: (element + half) % (2 * half) - half


def _any(mask: Sequence[int], count: int) -> bool:
    return any(mask[:count])


def _where(name: str, change: Callable[[Array, int], Array]) -> Compute:
    """Return a backend with a wrong output where a mask marks a step."""

    def compute(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        (expected,) = right(OPERATOR, inputs, attributes)
        count = inputs["begin"].size
        if _any(attributes.get(name, [0]), count):
            return [np.array(change(expected, inputs["data"].ndim), order="C")]
        return [expected]

    return compute


def _last_bit_repeated(mask: list[int], count: int) -> list[int]:
    return [*mask, *mask[-1:] * (count - len(mask))]


def _stale() -> Compute:
    kept: dict[Any, Mapping[str, Any]] = {}

    def compute(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        expected = right(OPERATOR, inputs, attributes)
        key = inputs["data"].shape, inputs["data"].dtype, inputs["begin"].shape, str(attributes)
        lists = {name: array.copy() for name, array in inputs.items() if name != "data"}
        try:
            return right(OPERATOR, {**inputs, **kept.setdefault(key, lists)}, attributes)
        except ValueError:
            return expected

    return compute


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
    "begin-mask-ignored": _mask("begin_mask", lambda _, __: [0]),
    "end-mask-ignored": _mask("end_mask", lambda _, __: [0]),
    "begin-mask-first-only": _mask("begin_mask", lambda mask, _: mask[:1]),
    "end-mask-last-bit-repeated": _mask("end_mask", _last_bit_repeated),
    "begin-mask-padded-with-ones":
        _mask("begin_mask", lambda mask, count: [*mask, *[1] * (count - len(mask))]),
    "end-mask-padded-with-ones":
        _mask("end_mask", lambda mask, count: [*mask, *[1] * (count - len(mask))]),
    "begin-mask-aligned-at-the-end":
        _mask("begin_mask", lambda mask, count: ([0] * (count - len(mask)) + mask)[-count:]),
    "end-mask-from-its-end": _mask("end_mask", lambda mask, _: mask[::-1]),
    "new-axis-mask-ignored": _mask("new_axis_mask", lambda _, __: [0]),
    "new-axis-once": _mask("new_axis_mask",
        lambda mask, _: [int(b and 1 not in mask[:k]) for k, b in enumerate(mask)]),
    "new-axis-mask-aligned-at-the-end":
        _mask("new_axis_mask", lambda mask, count: ([0] * (count - len(mask)) + mask)[-count:]),
    "shrink-axis-mask-ignored": _mask("shrink_axis_mask", lambda _, __: [0]),
    "shrink-axis-mask-of-four-steps": _mask("shrink_axis_mask", lambda mask, _: mask[:4]),
    "ellipsis-mask-ignored": _mask("ellipsis_mask", lambda _, __: [0]),
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
    **{f"unchecked-{rule}": accepting(OPERATOR, rule, lambda i, _: [i["data"].copy()])
        for rule in (*("required-arguments", "begin-rank", "end-rank", "stride-rank",
        "equal-lengths"),
        *("mask-bits", "ellipsis-once", "stride-nonzero", "steps-fit", "index-type"))},
    "new-axis-last": _where("new_axis_mask", lambda output, _: output.reshape([n
        for n in output.shape if n != 1] + [1]) if output.size else output),
    "shrunk-axis-kept": _where("shrink_axis_mask", lambda output, _: output[np.newaxis]),
    "ellipsis-reversed":
        _where("ellipsis_mask", lambda output, rank: output[..., ::-1] if rank > 4 else output),
    "rank-8": rejecting(OPERATOR, lambda inputs, _: inputs["data"].ndim == 8),
    "ellipsis-of-nothing-rejected": rejecting(OPERATOR,
        lambda inputs, attributes: _any(attributes.get("ellipsis_mask", []), inputs["begin"].size)
        and inputs["begin"].size - 1 == inputs["data"].ndim),
    "long-masks-rejected": rejecting(OPERATOR, lambda inputs,
        attributes: any(len(attributes.get(name, [0])) > max(inputs["begin"].size, 1)
        for name in MASKS)),
    "empty-masks-rejected": rejecting(OPERATOR, lambda _, attributes: [] in attributes.values()),
    "stride-required": rejecting(OPERATOR, lambda inputs, _: "stride" not in inputs),
    "negative-stride-rejected": rejecting(OPERATOR,
        lambda inputs, _: "stride" in inputs and bool((inputs["stride"] < 0).any())),
    "empty-data-rejected": rejecting(OPERATOR, lambda inputs, _: not inputs["data"].size),
    "end-beyond-rejected": rejecting(OPERATOR,
        lambda inputs, _: bool((inputs["end"] > max(inputs["data"].shape)).any())),
    "stale-lists": _stale(),
    "scalar-output-rejected":
        rejecting(OPERATOR, lambda inputs, masks: not right(OPERATOR, inputs, masks)[0].ndim),
    "backwards-on-the-last-of-four-rejected": rejecting(OPERATOR,
        lambda inputs, _: inputs["data"].ndim == inputs["begin"].size == 4 and "stride" in inputs
        and int(inputs["stride"][-1]) < 0),
    "two-new-axes-rejected": rejecting(OPERATOR,
        lambda inputs, masks: sum(masks.get("new_axis_mask", [])[: inputs["begin"].size]) > 1),
    "longer-masks-rejected": rejecting(OPERATOR,
        lambda inputs, masks: any(len(mask) > inputs["begin"].size for mask in masks.values())),
}  # fmt: skip
