"""Planted faults of operators whose core suites are generated where they are needed.

A fault computes a call. It may use `right`, the outputs of the reference, and it may raise an
exception to reject the call.
"""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array
from opcert.suite.suite import Suite
from opcert.verdicts.verdict import Verdict
from tests.faults import finding
from tests.faults.fault import Call, Compute, Outputs, Wrong, changing, right


def with_output(operator: str, change: Callable[[Call, Array], Any]) -> Compute:
    """Return what rejects invalid calls, and returns another output for valid ones."""
    return changing(operator, lambda call, outputs: [np.array(change(call, *outputs), order="C")])


def taking(operator: str, change: Callable[[Call], Call]) -> Compute:
    """Return what takes each call, a valid one or not, for another one."""
    return lambda call: right(operator, change(call))


def misreading(operator: str, name: str, change: Callable[[Call], Any]) -> Compute:
    """Return what reads something else from an argument, where it is given."""
    return taking(
        operator, lambda call: call.given(**{name: change(call)}) if name in call else call
    )


def stale(operator: str, key: Callable[[Call], Hashable], *names: str) -> Compute:
    """Return what takes some arguments from the first call of the same key, where they fit."""
    kept: dict[Hashable, dict[str, Array]] = {}

    def change(call: Call, outputs: Outputs) -> Outputs:
        own = {name: call[name].copy() for name in names if name in call}
        try:
            return right(operator, call.given(**kept.setdefault(key(call), own)))
        except ValueError:
            return outputs

    return changing(operator, change)


def first_failure(operator: str, compute: Compute, suite: Suite) -> Verdict | None:
    """Return the first verdict that keeps a backend from being conformant and bit-exact."""
    cases = suite.operators[operator].cases
    return finding.failure_of(Wrong("wrong", operator, compute), suite, operator, cases)
