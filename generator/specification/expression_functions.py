"""The functions that expressions can call; all are bounded in time and memory."""

from collections.abc import Callable, Iterable, Mapping
from math import prod
from typing import Any

from opcert.arrays.element_types import fits, highest, lowest
from opcert.arrays.indexing import (
    broadcasts,
    extent_kinds,
    insert,
    part_at,
    python_slice,
    repeats,
    replace,
    within,
    wrap,
)

Functions = Mapping[str, Callable[..., Any]]

# A mistake in a spec must not exhaust memory or time. Limits of the integers of a range, the bits
# of a power or a product, and the elements of a sum or a repetition.
_MAX_RANGE = 10**6
_MAX_BITS = 4096
_MAX_ELEMENTS = 10**5
# A product of so few factors cannot take much memory.
_FEW_FACTORS = 32


def bounded_range(*ends: int) -> range:
    """Return `range(*ends)`, of at most a million integers."""
    integers = range(*ends)
    if integers[_MAX_RANGE:]:
        raise ValueError(f"{integers} is longer than {_MAX_RANGE}")
    return integers


def bounded_power(base: int, exponent: int) -> int | float:
    """Return `base**exponent`, of at most about 4,096 bits."""
    if int(abs(base)).bit_length() * exponent > _MAX_BITS:
        raise ValueError("a power of more than 4,096 bits")
    return base**exponent  # type: ignore[no-any-return]


def count_elements(value: Any, limit: int) -> int:
    """Return the number of elements of a value, those of inner sequences included.

    A list may have itself a million times as an element, so counting ends at `limit`. A range
    counts as one element: it keeps none.
    """
    count: int = 1 if isinstance(value, range) else len(value)
    if isinstance(value, list | tuple | dict):
        items = value.values() if isinstance(value, dict) else value
        # Most are long lists of numbers, and need no loop.
        for item in () if {*map(type, items)} <= {int, bool} else items:
            if count > limit:
                break
            if isinstance(item, list | tuple | dict | str):
                count += count_elements(item, limit - count)
    return count


def bounded_product(left: Any, right: Any) -> Any:
    """Return `left * right`; a repeated sequence has at most a hundred thousand elements."""
    for sequence, times in ((left, right), (right, left)):
        if not hasattr(sequence, "__len__"):
            continue
        if times * count_elements(sequence, _MAX_ELEMENTS) > _MAX_ELEMENTS:
            raise ValueError(f"a repetition to more than {_MAX_ELEMENTS} elements")
    return left * right


def bounded_items(items: Any) -> Any:
    """Return `items`, at most a hundred thousand, which become elements of a list."""
    if hasattr(items, "__len__") and len(items) > _MAX_ELEMENTS:
        raise ValueError(f"a list of more than {_MAX_ELEMENTS} elements")
    return items


def total(values: Iterable[Any], start: Any = 0) -> Any:
    """Return the sum of numbers; lists would be copied again and again."""
    if hasattr(start, "__len__"):
        raise ValueError("a sum of lists; expected numbers")
    return sum(values, start)


def bounded_sum(left: Any, right: Any) -> Any:
    """Return `left + right`; two sequences have together at most a hundred thousand elements."""
    if hasattr(left, "__len__") and len(left) + len(right) > _MAX_ELEMENTS:
        raise ValueError(f"a sum of more than {_MAX_ELEMENTS} elements")
    return left + right


def remainder(number: int, divisor: int) -> int:
    """Return `number % divisor`; on a text, `%` would format, to any length."""
    if isinstance(number, str | bytes):
        raise ValueError("a remainder of a text")
    return number % divisor


def bounded_prod(values: Iterable[int]) -> int:
    """Return the product of `values`, which are few, or have at most about 4,096 bits together."""
    factors = tuple(values)
    # Few factors may also be values for all elements of an output, which have no bit length.
    if len(factors) > _FEW_FACTORS and sum(int(n).bit_length() for n in factors) > _MAX_BITS:
        raise ValueError("a product of more than 4,096 bits")
    return prod(factors)


# What all expressions may call.
EXPRESSION_FUNCTIONS: Functions = {
    **{f.__name__: f for f in (abs, all, any, enumerate, int, len, list, max, min)},
    **{f.__name__: f for f in (reversed, set, sorted, tuple, zip)},
    **{f.__name__: f for f in (wrap, broadcasts, python_slice, part_at, within, repeats)},
    **{f.__name__: f for f in (extent_kinds, insert, replace, fits, lowest, highest)},
    "range": bounded_range,
    "prod": bounded_prod,
    "sum": total,
}
