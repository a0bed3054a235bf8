"""Runs a sample of a certificate's cases again on the backend."""

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opcert.backends.contract import close_backend
from opcert.backends.lookup import with_reference_specs
from opcert.certificate.certificate import Certificate
from opcert.certificate.entries import backend_entry
from opcert.certificate.file import json_differences
from opcert.isolation.supervised import CALL_TIMEOUT, start_backend
from opcert.scope.support import checked_support
from opcert.suite.suite import Suite
from opcert.verdicts.certification import Certification
from opcert.verdicts.verdict import Verdict
from opcert.verification.verification import Finding

# Failures of these kinds depend on earlier or later cases, which a sample may lack.
_KINDS_OF_SEVERAL_CASES = ("state", "aliased-output", "mutated-input")


def sample_verdicts(certificate: Certificate, suite: Suite, count: int, seed: int) -> list[Verdict]:
    """Return a random sample of up to `count` verdicts of cases that ran, in suite order."""
    ran = [
        verdict
        for verdict in certificate.verdicts
        if verdict.observed != "not-run"
        and verdict.kind not in _KINDS_OF_SEVERAL_CASES
        and verdict.case in suite.cases
    ]
    numbers = random.Random(seed).sample(range(len(ran)), min(count, len(ran)))  # noqa: S311
    return [ran[number] for number in sorted(numbers)]


def rerun_findings(
    certificate: Certificate,
    suite: Suite,
    sample: Sequence[Verdict],
    backend: str,
    options: Mapping[str, Any],
    specs: Path | None = None,
) -> Iterator[Finding]:
    """Run the cases of `sample` again, and yield differences in backend and verdicts.

    Raises:
        BackendError: the backend cannot be found or started.
    """
    run = certificate.run
    started = start_backend(
        backend,
        with_reference_specs(backend, options, specs),
        run.isolated,
        timeout=run.timeout or CALL_TIMEOUT,
        memory=run.memory or 0,
    )
    try:
        support = checked_support(started, suite)
        entry = backend_entry(started, backend, options, support, files={})
        certified = certificate.to_dict()["backend"]
        # Where the backend is, and the bytes of its program, may differ between machines.
        certified, current = (
            {name: part for name, part in parts.items() if name not in ("source", "files")}
            for parts in (certified, entry.model_dump(mode="json", exclude_unset=True))
        )
        for place, found, now in json_differences(certified, current):
            text = f"found {found}; the current backend has {now}"
            yield Finding(".".join(("backend", *place)), text)
        # Only a case that the run repeated is repeated again, since repetition takes long.
        in_sample = {verdict.case for verdict in sample}
        repeated = [case for case in run.repeated if case not in in_sample]
        certification = Certification(started, suite, repeated=repeated)
        for verdict in sample:
            again = certification.verdict(verdict.case)
            before = verdict.without_waiver()
            if not _agree(before, again):
                text = f"found {_description(before)}; run again: {_description(again)}"
                yield Finding(f"verdicts, {verdict.case}", f"{text}: {again.detail}")
    finally:
        close_backend(started)


def _agree(before: Verdict, after: Verdict) -> bool:
    """Whether two verdicts of a case agree."""
    # Whether a declined call is a failure depends on cases that a sample may lack.
    if _is_declined(before) or _is_declined(after):
        return _is_declined(before) and _is_declined(after)
    return (before.status, before.kind, before.observed) == (
        after.status,
        after.kind,
        after.observed,
    )


def _is_declined(verdict: Verdict) -> bool:
    """Whether the backend declined the call, or the baseline of a rejected call."""
    outcomes = (("unsupported", None), ("fail", "undeclared"))
    return verdict.observed != "not-run" and (verdict.status, verdict.kind) in outcomes


def _description(verdict: Verdict) -> str:
    kind = "" if verdict.kind is None else f" ({verdict.kind})"
    return f"{verdict.status}{kind}, observed '{verdict.observed}'"
