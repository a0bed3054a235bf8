"""Combinations of levels: constraints, feasible rows and covering arrays. It knows no spec."""

from opcert.combinatorics.covering_arrays import alternative_rows, covering_array
from opcert.combinatorics.feasible_rows import FeasibleRows, solve_constraints
from opcert.combinatorics.row_sampler import RandBelow, RowSampler
from opcert.combinatorics.tables import (
    BoolArray,
    IntArray,
    LevelColumns,
    LevelConstraint,
    LevelMask,
    Row,
    level_codes,
    unique_codes,
)

__all__ = [
    "BoolArray",
    "FeasibleRows",
    "IntArray",
    "LevelColumns",
    "LevelConstraint",
    "LevelMask",
    "RandBelow",
    "Row",
    "RowSampler",
    "alternative_rows",
    "covering_array",
    "level_codes",
    "solve_constraints",
    "unique_codes",
]
