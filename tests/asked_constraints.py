"""Constraints that a function of one choice of levels makes, for tests."""

from collections.abc import Callable

import numpy as np

from opcert.combinatorics import BoolArray, LevelColumns, LevelConstraint, Row


def constraint(factors: tuple[int, ...], allows: Callable[[Row], bool]) -> LevelConstraint:
    """Return a constraint that asks `allows` of each choice of levels there is."""

    def asked(columns: LevelColumns, reached: BoolArray) -> BoolArray:
        own = np.broadcast_arrays(reached, *(columns[factor] for factor in factors))[1:]
        choices = zip(*(each.ravel().tolist() for each in own), strict=True)
        return np.array([allows(choice) for choice in choices], bool).reshape(reached.shape)

    return LevelConstraint(factors, asked)
