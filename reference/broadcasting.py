"""Broadcast: data replicated to fill a given shape."""

from itertools import pairwise

import numpy as np

from opcert.reference.rules import Array, is_integer, require, requires_arguments


@requires_arguments("broadcast-1/required-inputs")
def broadcast_1(
    data: Array, target_shape: Array, axes_mapping: Array | None = None, mode: str = "numpy"
) -> list[Array]:
    """Replicate `data` to `target_shape`, its axes aligned at the end or mapped one by one.

    Shapes: data (any), target_shape (output rank,), axes_mapping (rank of data,); the output has
    the shape that target_shape lists.

    Source: OpenVINO Broadcast-1, the detailed description, "mode" and the inputs.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    require(mode in ("numpy", "explicit"), "broadcast-1/mode-known", f"mode {mode!r}")
    require(
        is_integer(target_shape),
        "broadcast-1/target-type",
        f"target_shape of {target_shape.dtype}",
    )
    require(
        target_shape.ndim == 1,
        "broadcast-1/target-rank",
        f"target_shape of rank {target_shape.ndim}",
    )
    target = tuple(target_shape.tolist())
    require(
        all(extent >= 0 for extent in target),
        "broadcast-1/target-not-negative",
        f"target_shape {target}",
    )
    require(
        mode != "explicit" or axes_mapping is not None,
        "broadcast-1/explicit-with-axes-mapping",
        "axes_mapping omitted in mode explicit",
    )
    # The document asks the caller to omit axes_mapping in mode numpy; it is ignored otherwise.
    if mode == "explicit" and axes_mapping is not None:
        mapping = _explicit_axes(data, target, axes_mapping)
    else:
        mapping = _trailing_axes(data, target)
    aligned = [1] * len(target)
    for extent, axis in zip(data.shape, mapping, strict=False):
        aligned[axis] = extent
    return [np.broadcast_to(data.reshape(aligned), target).copy()]


def _trailing_axes(data: Array, target: tuple[int, ...]) -> list[int]:
    """Map the axes of `data` to the last ones of `target`."""
    require(
        data.ndim <= len(target),
        "broadcast-1/numpy-rank",
        f"data of rank {data.ndim} for a target of rank {len(target)}",
    )
    mapping = list(range(len(target) - data.ndim, len(target)))
    require(
        _stretches(data.shape, target, mapping),
        "broadcast-1/numpy-compatible",
        f"data of shape {data.shape} for the target {target}",
    )
    return mapping


def _explicit_axes(data: Array, target: tuple[int, ...], axes_mapping: Array) -> list[int]:
    """Map the axes of `data` to the axes of `target` in `axes_mapping`."""
    require(
        is_integer(axes_mapping),
        "broadcast-1/axes-mapping-type",
        f"axes_mapping of {axes_mapping.dtype}",
    )
    require(
        axes_mapping.ndim == 1,
        "broadcast-1/axes-mapping-rank",
        f"axes_mapping of rank {axes_mapping.ndim}",
    )
    require(
        axes_mapping.size == data.ndim,
        "broadcast-1/axes-mapping-size",
        f"{axes_mapping.size} axes mapped for data of rank {data.ndim}",
    )
    mapping: list[int] = axes_mapping.tolist()
    require(
        all(0 <= axis < len(target) for axis in mapping),
        "broadcast-1/axes-mapping-range",
        f"axes_mapping {mapping} for a target of rank {len(target)}",
    )
    require(
        all(axis < following for axis, following in pairwise(mapping)),
        "broadcast-1/axes-mapping-sorted",
        f"axes_mapping {mapping}",
    )
    require(
        _stretches(data.shape, target, mapping),
        "broadcast-1/explicit-compatible",
        f"data of shape {data.shape} on axes {mapping} of the target {target}",
    )
    return mapping


def _stretches(shape: tuple[int, ...], target: tuple[int, ...], mapping: list[int]) -> bool:
    """Whether each extent of `shape` is 1 or that of the target axis it maps to."""
    return all(extent in (1, target[axis]) for extent, axis in zip(shape, mapping, strict=False))
