"""The cause of a plan cache whose key lacks an argument names this argument."""

import pytest

from opcert import certify
from tests.faults.catalogue import FAULTS
from tests.faults.finding import core_suite
from tests.faults.test_programs import MADE

LACKS = "/plan-without-"
# Some of them, since each takes a minute; `test_confirmation.py` has the axis of VariadicSplit.
PLANS = [name for name in FAULTS if LACKS in name][4::4]


@pytest.mark.slow
@pytest.mark.usefixtures("tried_at_length")
@pytest.mark.parametrize("name", PLANS)
def test_the_cause_names_what_the_key_lacks(name: str) -> None:
    found = certify(MADE, core_suite(), options={"name": name}, operator=FAULTS[name].operator)
    argument = name.partition(LACKS)[2].replace("-", "_")
    statements = [cause.statement for cause in found.causes if cause.kinds == ("state",)]
    assert f"another value of {argument}" in statements[0], statements
