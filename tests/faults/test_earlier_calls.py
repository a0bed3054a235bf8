"""The cause of a plan cache whose key lacks an argument names this argument."""

import pytest

from opcert import certify
from tests.faults.fault import BROADCAST
from tests.faults.finding import core_suite
from tests.faults.test_programs import MADE


@pytest.mark.slow
@pytest.mark.usefixtures("tried_at_length")
def test_the_cause_names_what_the_key_lacks() -> None:
    """It takes a minute; `test_confirmation.py` has the axis of VariadicSplit."""
    options = {"name": "broadcast-1/plan-without-axes-mapping"}
    found = certify(MADE, core_suite(), options=options, operator=BROADCAST)
    statements = [cause.statement for cause in found.causes if cause.kinds == ("state",)]
    assert "another value of axes_mapping" in statements[0], statements
