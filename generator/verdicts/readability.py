"""How much effort it takes to read a case: the easiest failing case represents a cause."""

from collections.abc import Iterable
from math import prod

import numpy as np

from opcert.arrays.element_types import bits_of
from opcert.suite.format import IndexedCase, StoredArray
from opcert.suite.operator_suite import OperatorSuite

# The most elements of an array that people read.
_READABLE = 64


def easiest_to_read(operator: OperatorSuite, cases: Iterable[str]) -> list[str]:
    """Return cases in the order in which they are easy to read, the easiest first."""
    return sorted(cases, key=lambda case: _effort(operator, operator.cases[case]))


def _effort(operator: OperatorSuite, case: IndexedCase) -> tuple[int, ...]:
    """Return a key that sorts cases, the one that is the easiest to read first.

    Documented examples are first. Then come calls with elements, with few of them, with distinct
    data, in plain layouts, and with short values.
    """
    arrays = [*case.inputs.values(), *case.outputs]
    sizes = [prod(array.shape) for array in arrays]
    text, repeated = 0, 0
    for name, array in case.inputs.items():
        size = prod(array.shape)
        if size <= _READABLE and isinstance(array, StoredArray):
            elements = operator.read_array(array)
            text += len(str(elements.tolist()))
            if name in case.data_inputs:
                repeated += size - len(np.unique(bits_of(elements)))
        else:
            text += 8 * size
    is_large = max(sizes, default=0) > _READABLE
    return (
        not case.example or is_large,
        0 in sizes,
        is_large,
        repeated > 0,
        sum(array.layout != "c" for array in case.inputs.values()),
        text,
    )
