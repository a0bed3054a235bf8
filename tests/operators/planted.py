"""Planted faults of operators whose core suites are generated where they are needed.

A fault is a function from the inputs and attributes of a call to outputs. It may use `right`, the
outputs of the reference, and it may raise an exception to reject a call.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from opcert.arrays.element_types import Array
from opcert.backends.reference import Reference
from opcert.reference import RuleBroken
from opcert.suite.suite import Suite
from opcert.verdicts.verdict import Verdict
from tests.faults import finding

Inputs: TypeAlias = Mapping[str, Any]
Attributes: TypeAlias = Mapping[str, Any]
Compute: TypeAlias = Callable[[Inputs, Attributes], Sequence[Array]]

_REFERENCE = Reference()


class WrongBackend:
    """A backend that computes one operator by `compute`."""

    name = "wrong"
    version = "1"

    def __init__(self, compute: Compute) -> None:
        self.compute = compute

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        del operator
        with np.errstate(all="ignore"):
            return self.compute(inputs, attributes)


def right(operator: str, inputs: Inputs, attributes: Attributes) -> list[Array]:
    """Return the outputs of the reference.

    Raises:
        RuleBroken: the call breaks a rule.
    """
    return _REFERENCE.run(operator, inputs, attributes)


def with_output(operator: str, change: Callable[[Inputs, Attributes, Array], Any]) -> Compute:
    """Return a backend that rejects invalid calls, and returns another output for valid ones."""

    def compute(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        (expected,) = right(operator, inputs, attributes)
        return [np.array(change(inputs, attributes, expected), order="C")]

    return compute


def rejecting(operator: str, where: Callable[[Inputs, Attributes], Any]) -> Compute:
    """Return a backend that rejects some valid calls."""

    def compute(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        outputs = right(operator, inputs, attributes)
        if where(inputs, attributes):
            raise ValueError("not supported")
        return outputs

    return compute


def accepting(operator: str, rule: str, instead: Compute) -> Compute:
    """Return a backend that computes something for a call that breaks `rule`."""

    def compute(inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        try:
            return right(operator, inputs, attributes)
        except RuleBroken as broken:
            if broken.rule.partition("/")[2] != rule:
                raise
        return instead(inputs, attributes)

    return compute


def taking(
    operator: str, change: Callable[[Inputs, Attributes], tuple[Inputs, Attributes]]
) -> Compute:
    """Return a backend that takes each call, a valid one or not, for another one."""
    return lambda inputs, attributes: right(operator, *change(inputs, attributes))


def first_failure(operator: str, compute: Compute, suite: Suite) -> Verdict | None:
    """Return the first verdict that keeps a backend from being conformant and bit-exact."""
    cases = suite.operators[operator].cases
    return finding.failure_of(WrongBackend(compute), suite, operator, cases)
