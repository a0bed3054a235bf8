"""Parameters of tests that are alike: a few of them are tried always, the others with `-m slow`."""

from collections.abc import Iterable
from typing import Any

import pytest


def at_length(rows: Iterable[Any], one_in: int) -> list[Any]:
    """Return the values of a parametrised test: the first of each `one_in` rows is quick."""
    marked = [(row, pytest.mark.slow if number % one_in else ()) for number, row in enumerate(rows)]
    return [
        pytest.param(*row, marks=marks)
        if isinstance(row, tuple)
        else pytest.param(row, marks=marks)
        for row, marks in marked
    ]
