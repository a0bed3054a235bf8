"""Whether the core suite finds a fault: what of it fails, and whether it is certified."""

from collections.abc import Collection
from functools import cache
from itertools import takewhile

from opcert.backends.contract import Backend
from opcert.suite.suite import Suite
from opcert.verdicts import certification
from opcert.verdicts.verdict import Verdict
from tests import made_certificate
from tests.faults.catalogue import FAULTS
from tests.faults.fault import Fault
from tests.short_suite import CORE


@cache
def whole_core_suite() -> Suite:
    """Return the core suite that comes with opcert, opened once."""
    return Suite(CORE)


@cache
def core_suite() -> Suite:
    """Return the short core suite that tests run, opened once."""
    return Suite()


def suites() -> tuple[Suite, ...]:
    """Return the suites that look for a fault, the shortest first."""
    return core_suite(), whole_core_suite()


@cache
def found(name: str) -> Verdict | None:
    """Return `first_failure` of a fault of the catalogue, by opcert as it is."""
    return first_failure(FAULTS[name])


def first_failure(fault: Fault) -> Verdict | None:
    """Return the first verdict of the core suite that keeps the fault from being certified."""
    return next(filter(None, (first_failure_of(suite, fault) for suite in suites())), None)


def first_failure_of(suite: Suite, fault: Fault) -> Verdict | None:
    """Return the first failure of a suite.

    For a fault that leaves a rule unchecked, the cases that break this rule come first, and valid
    calls run only as baselines, since the fault computes them correctly.
    """
    cases = list(suite.operators[fault.operator].cases.values())
    if fault.rule is not None:
        rejected = [case for case in cases if case.expects == "rejection"]
        cases = sorted(rejected, key=lambda case: case.violated_rule != fault.rule)
    return failure_of(fault.make(), suite, fault.operator, [case.id for case in cases])


def failure_of(
    backend: Backend, suite: Suite, operator: str, cases: Collection[str]
) -> Verdict | None:
    """Return the first verdict that keeps a backend from being conformant and bit-exact, if any.

    The call that a run repeats comes last: most faults show without it, and it takes long.
    """
    run = certification.Certification(backend, suite, repeats=False)
    repeating = certification.Certification(backend, suite)
    for case in cases:
        if (verdict := run.verdict(case)).status == "fail":
            return verdict
    for case in takewhile(lambda _: not repeating.repeated, cases):
        if (verdict := repeating.verdict(case)).status == "fail":
            return verdict
    verdicts = run.finish()
    certificate = made_certificate.certificate(verdicts, [operator], len(verdicts))
    if certificate.conformant and certificate.grade == "bit-exact":
        return None
    return next(verdict for verdict in verdicts if verdict.status != "pass")
