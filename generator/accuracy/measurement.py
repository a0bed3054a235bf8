"""Outputs x allowances -> how accurate a call, and an operator, is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import ConfigDict

from opcert.accuracy.arithmetics import PRECISION, arithmetics, minimal, neighbours
from opcert.arrays.allowances import OPEN, Allowance
from opcert.arrays.element_types import FLOATS, Array, bits_of, type_name
from opcert.arrays.patterns import allowance_of

# Errors of more than 512 units are counted together.
_MORE = 10


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How accurate the computed outputs of a call are.

    `within` are the tightest arithmetics that allow all elements. `worst` is how many elements of
    the type lie at most between a result and the correctly rounded one, and `counts` how many
    elements have 0 of them, 1, 2, up to 4, and so on, or more than 512; others are `open`. `drift`
    is the sum of these errors, positive where a result is too large in magnitude, and `spread` that
    of their squares.
    """

    # Read by pydantic when it parses a certificate.
    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)

    type: str
    within: tuple[str, ...]
    worst: float
    counts: tuple[int, ...]
    open: int
    drift: float
    spread: float


def accuracy_of(allowance: Allowance, output: Array) -> Accuracy | None:
    """Return how accurate an output is; None of integers, and of what is all open."""
    element_type = type_name(output.dtype)
    if element_type not in FLOATS:
        return None
    decided = allowance.decided & np.isfinite(output)
    if not decided.any():
        return None
    place, low, high = (_ordinals(array) for array in (output, allowance.low[0], allowance.high[0]))
    errors = (np.maximum(0.0, place - high) - np.maximum(0.0, low - place))[decided]
    outwards, distances = errors * np.sign(place[decided]), np.abs(errors)
    buckets = np.ceil(np.log2(np.clip(distances, 0.5, 2.0**_MORE))).astype(int) + 1
    return Accuracy(
        element_type,
        tuple(minimal(allowance.within(output), element_type)),
        float(distances.max()),
        tuple(np.bincount(buckets).tolist()),
        int(output.size - decided.sum()),
        float(outwards.sum()),
        float((errors**2).sum()),
    )


def _ordinals(array: Array) -> Array:
    """Return the number of each element in the order of its type, as a double; zeros are equal."""
    bits = bits_of(array)
    sign = bits.dtype.type(1 << (8 * bits.itemsize - 1))
    magnitudes = (bits & ~sign).astype(np.float64)
    return np.asarray(np.where(bits >= sign, -magnitudes, magnitudes))


def accuracy_of_call(golden: Sequence[Array], outputs: Sequence[Array]) -> Accuracy | None:
    """Return how accurate the first computed output is; outputs agree in type and shape."""
    for expected, output in zip(golden, outputs, strict=False):
        if (allowance := allowance_of(expected)) is not None:
            return accuracy_of(allowance, output)
    return None


def undistinguished(
    outputs: Iterable[Sequence[Array]],
) -> dict[str, list[tuple[str, str]]]:
    """Return, by element type, neighbouring arithmetics that no golden output distinguishes.

    An output distinguishes two if the looser one allows a result that the tighter one refuses.
    """
    pairs_by_type: dict[str, list[tuple[str, str]]] = {}
    for allowance in (allowance_of(output) for golden in outputs for output in golden):
        if allowance is None or type_name(allowance.low.dtype) not in PRECISION:
            continue
        element_type = type_name(allowance.low.dtype)
        pairs = pairs_by_type.setdefault(element_type, neighbours(element_type))
        decided = ~allowance.flagged(OPEN)
        for pair in [*pairs]:
            tight, loose = map(allowance.arithmetics.index, pair)
            is_looser = allowance.low[loose] < allowance.low[tight]
            is_looser |= allowance.high[loose] > allowance.high[tight]
            if (is_looser & decided).any():
                pairs.remove(pair)
    return pairs_by_type


def arithmetics_of(calls: Iterable[Accuracy], element_type: str) -> list[str]:
    """Return the tightest arithmetics of a type that allow all of several calls.

    An arithmetic allows what one that it contains allows.
    """
    table = arithmetics(element_type)
    holds = np.ones(len(table.names), np.bool_)
    for call in calls:
        within = [table.names.index(name) for name in call.within]
        holds &= table.contains[:, within].any(axis=1)
    return minimal(
        [name for name, is_held in zip(table.names, holds, strict=True) if is_held], element_type
    )
