"""Verdicts of calls in a process that misbehaves for tensors of rank 3."""

from collections.abc import Mapping
from typing import Any

from opcert.isolation.supervised import SupervisedBackend
from opcert.settings import RunSettings
from opcert.verdicts.certification import Certification
from opcert.verdicts.verdict import Verdict
from tests.faults.finding import core_suite

DML = "directml/DML_OPERATOR_SPLIT"
SUITE = core_suite()


def judged(
    backend: str,
    options: Mapping[str, Any] | None = None,
    *,
    of: str = "f32",
    timeout: float = 20.0,
) -> Verdict:
    """Return the verdict of a valid call of rank 3, between calls of rank 2 and 4 that pass."""
    process = SupervisedBackend(backend, options, RunSettings(timeout=timeout, memory=256))
    run = Certification(process, SUITE, repeats=False)
    cases = [SUITE.select(DML, f"dml-split/drawn-{of}-{rank}-*")[0] for rank in (2, 3, 4)]
    try:
        before, verdict, after = map(run.verdict, cases)
    finally:
        process.close()
    assert (before.status, after.status) == ("pass", "pass"), (before.detail, after.detail)
    return verdict
