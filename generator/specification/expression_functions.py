"""The functions that expressions can call."""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from opcert.arrays.element_types import fits, highest, lowest
from opcert.arrays.indexing import (
    broadcasts,
    insert,
    part_at,
    python_slice,
    repeats,
    replace,
    within,
    wrap,
)

Functions = Mapping[str, Callable[..., Any]]

# What all expressions may call.
EXPRESSION_FUNCTIONS: Functions = {
    **{f.__name__: f for f in (abs, all, any, enumerate, int, len, list, max, min)},
    **{f.__name__: f for f in (prod, range, reversed, set, sorted, sum, tuple, zip)},
    **{f.__name__: f for f in (wrap, broadcasts, python_slice, part_at, within, repeats)},
    **{f.__name__: f for f in (insert, replace, fits, lowest, highest)},
}
