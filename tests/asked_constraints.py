"""Constraints that a function of one choice of levels makes, for tests."""

from collections.abc import Callable

import numpy as np

from opcert.combinatorics.tables import Columns, Constraint, Flags, Row


def constraint(factors: tuple[int, ...], allows: Callable[[Row], bool]) -> Constraint:
    """Return a constraint that asks `allows` of each choice of levels there is."""

    def asked(columns: Columns, reached: Flags) -> Flags:
        own = np.broadcast_arrays(reached, *(columns[factor] for factor in factors))[1:]
        choices = zip(*(each.ravel().tolist() for each in own), strict=True)
        return np.array([allows(choice) for choice in choices], bool).reshape(reached.shape)

    return Constraint(factors, asked)
