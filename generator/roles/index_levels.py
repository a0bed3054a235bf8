"""Levels of the factors of indices: which index is looked at, where, and what the others are."""

from collections.abc import Sequence
from typing import Any

from opcert.arrays import fits, highest, lowest
from opcert.roles.factors import levels_where
from opcert.roles.samplers import Sampler

# The index at the place in focus, given the size of the axis and the type of the indices.
_INSIDE: dict[str, Any] = {
    "zero": 0,
    "last": lambda n, _: n - 1,
    "middle": lambda n, _: n // 2,
    # Inside where the axis has as many elements as the type has numbers.
    "most": lambda _, element_type: highest(element_type),
    "least": lambda _, element_type: lowest(element_type),
    "past_u8": 256,
}
_FROM_END: dict[str, Any] = {"minus_one": -1, "first_from_end": lambda n, _: -n}
_BEYOND: dict[str, Any] = {
    "end": lambda n, _: n,
    "beyond": lambda n, _: n + 3,
    "below": lambda n, _: -n - 1,
    "far_below": lambda n, _: -n - 5,
    # Cut to fewer bits, these are inside.
    "past_u16": 1 << 16,
    "past_u32": 1 << 32,
    "past_u40": 1 << 40,
    "below_u32": 1 - (1 << 32),
}
_STRESSED = ("zero", "last", "middle", "minus_one", "first_from_end", "end", "below", "past_u16")
VALUE_WORDS = {
    **{"zero": "an index of 0", "last": "the last index", "middle": "an index in the middle"},
    **{"minus_one": "an index of -1", "first_from_end": "an index of the negated size"},
    **{"most": "the greatest index of its type", "least": "the least index of its type"},
    **{"past_u8": "an index of 256", "end": "an index of the size"},
    **{"beyond": "an index past the end", "below": "an index below the negated size"},
    **{"far_below": "an index far below", "past_u16": "an index of 65536"},
    **{"past_u32": "an index of 2^32", "past_u40": "an index of 2^40"},
    "below_u32": "an index of 1 - 2^32",
}
# As `dims` draws them; `alike` begins like data, as if the dimensions were shared.
EXTENTS = ("varied", "long", "equal", "alike", "ones", "wide", "tall", "zero")
PLACES = {
    "first": "at the first place",
    "middle": "at a middle place",
    "last": "at the last place",
}
# Runs are what compilers look for, to make slices of them.
ORDERS = {
    **{"drawn": "", "rising": "indices rising", "falling": "indices falling"},
    "alike": "indices all the same",
}


def index_values(is_stress: bool, *, negative: bool, outside: bool) -> dict[str, Any]:
    """Return the levels of an index, where some count from the end or lie outside."""
    values = {
        **_INSIDE,
        **(_FROM_END if negative or outside else {}),
        **(_BEYOND if outside else {}),
    }
    return {level: n for level, n in values.items() if level in _STRESSED or not is_stress}


def places_of(count: int) -> dict[str, int]:
    """Return where among `count` indices the places are."""
    return {"first": 0, "middle": count // 2, "last": max(count, 1) - 1}


def run(order: str, n: int, count: int) -> tuple[int, ...]:
    """Return `count` indices in order, beginning again at the end of the axis."""
    size = max(n, 1)
    rising: Sequence[int] = [k % size for k in range(count)]
    return tuple(rising) if order == "rising" else tuple(size - 1 - k for k in rising)


def observed_orders(values: tuple[int, ...], n: int) -> frozenset[str]:
    """Return in which orders the indices into an axis of `n` are."""
    return levels_where(
        {
            "drawn": True,
            "rising": values == run("rising", n, len(values)),
            "falling": values == run("falling", n, len(values)),
            "alike": len(values) > 1 and min(values) == max(values),
        }
    )


def drawn(
    sampler: Sampler, n: int, element_type: str, count: int, *, negative: bool, outside: bool
) -> tuple[int, ...]:
    """Draw `count` indices into an axis of `n`, about half of them outside if some are to be."""
    least = max(-max(n, 1) if negative else 0, lowest(element_type))
    most = min(max(n, 1) - 1, highest(element_type))
    beyond = [i for i in (n, n + 9, -n - 1) if outside and fits(element_type, i)]
    return tuple(
        sampler.pick(beyond) if beyond and sampler.between(0, 1) else sampler.between(least, most)
        for _ in range(count)
    )
