"""The helper that looks for planted faults: the reference has none."""

from functools import partial

import pytest

from tests.operators.planted import first_failure, right

OPERATOR = "directml/DML_OPERATOR_SPLIT"


@pytest.mark.slow
def test_the_reference_has_no_fault() -> None:
    assert first_failure(OPERATOR, partial(right, OPERATOR)) is None


@pytest.mark.slow
def test_outputs_in_reverse_order_are_a_fault() -> None:
    failure = first_failure(OPERATOR, lambda *call: right(OPERATOR, *call)[::-1])
    assert failure is not None
