"""Constraints from a Python function of one assignment, for tests."""

from collections.abc import Callable

import numpy as np

from opcert.combinatorics.tables import BoolArray, LevelColumns, LevelConstraint, Row


def constraint(factors: tuple[int, ...], allows: Callable[[Row], bool]) -> LevelConstraint:
    """Return a constraint that allows the assignments for which `allows` is true."""

    def evaluate(columns: LevelColumns, reachable: BoolArray) -> BoolArray:
        levels = np.broadcast_arrays(reachable, *(columns[factor] for factor in factors))[1:]
        assignments = zip(*(column.ravel().tolist() for column in levels), strict=True)
        return np.array([allows(each) for each in assignments], bool).reshape(reachable.shape)

    return LevelConstraint(factors, evaluate)
