"""Whether the core suite finds a fault: what of it fails, and whether it is certified."""

from functools import cache

from opcert.suite.suite import Suite
from opcert.verdicts import certification
from opcert.verdicts.verdict import Verdict
from tests import made_certificate
from tests.faults.catalogue import FAULTS
from tests.faults.fault import Fault


@cache
def core_suite() -> Suite:
    """Return the core suite, opened once."""
    return Suite()


@cache
def found(name: str) -> Verdict | None:
    """Return `first_failure` of a fault of the catalogue, by opcert as it is."""
    return first_failure(FAULTS[name])


def first_failure(fault: Fault) -> Verdict | None:
    """Return the first verdict that keeps the fault from being certified.

    Cases run in the suite's order. For a fault that leaves a rule unchecked, the cases that break
    this rule come first, and valid calls run only as baselines, since the fault computes them
    correctly. None where the certificate is conformant and bit-exact nevertheless.
    """
    suite = core_suite()
    run = certification.Certification(fault.make(), suite)
    cases = list(suite.operators[fault.operator].index.cases)
    if fault.rule is not None:
        rejected = [case for case in cases if case.expects == "rejection"]
        cases = sorted(rejected, key=lambda case: case.violated_rule != fault.rule)
    for case in (each.id for each in cases):
        verdict = run.verdict(case)
        if verdict.status == "fail":
            return verdict
    verdicts = run.finish()
    certificate = made_certificate.certificate(verdicts)
    if certificate.conformant and certificate.grade == "bit-exact":
        return None
    return next(verdict for verdict in verdicts if verdict.status != "pass")
