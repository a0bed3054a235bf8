"""Whether the core suite finds a fault: what of it fails, and whether it is certified."""

from functools import cache

from opcert.generator import certification
from opcert.generator.suite import Suite
from opcert.generator.verdict import Verdict
from tests import made_certificate
from tests.faults.fault import Fault


@cache
def core_suite() -> Suite:
    """Return the core suite, opened once."""
    return Suite()


def first_failure(fault: Fault) -> Verdict | None:
    """Return the first verdict in the suite's order that keeps the fault from being certified.

    None where it is conformant and bit-exact all the same.
    """
    suite = core_suite()
    run = certification.Certification(fault.make(), suite)
    for case in suite.operators[fault.operator].cases:
        verdict = run.verdict(case)
        if verdict.status == "fail":
            return verdict
    verdicts = run.finish()
    certificate = made_certificate.certificate(verdicts)
    if certificate.conformant and certificate.grade == "bit-exact":
        return None
    return next(verdict for verdict in verdicts if verdict.status != "pass")
