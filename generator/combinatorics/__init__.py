"""Combinations of levels: constraints, covering arrays, diagnosis of failures. It knows no spec."""

from opcert.combinatorics.covering_arrays import alternative_rows, covering_array
from opcert.combinatorics.diagnosis import (
    Condition,
    Explanation,
    LevelTable,
    Point,
    explain_failures,
    separate_causes,
)
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
    "Condition",
    "Explanation",
    "FeasibleRows",
    "IntArray",
    "LevelColumns",
    "LevelConstraint",
    "LevelMask",
    "LevelTable",
    "Point",
    "RandBelow",
    "Row",
    "RowSampler",
    "alternative_rows",
    "covering_array",
    "explain_failures",
    "level_codes",
    "separate_causes",
    "solve_constraints",
    "unique_codes",
]
