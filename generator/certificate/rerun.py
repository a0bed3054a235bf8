"""Certificate x backend -> findings: a sample of its cases, run again.

This proves what judging again cannot: that the backend does what the certificate says was observed.
"""

import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from opcert.certificate import file as stored
from opcert.certificate.certificate import Certificate
from opcert.certificate.file import Finding
from opcert.certificate.setup import LocalExecution, Setup
from opcert.settings import RunSettings
from opcert.suite.suite import Suite
from opcert.verdicts.certification import Certification
from opcert.verdicts.verdict import Verdict

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


def settings_of(certificate: Certificate, settings: RunSettings) -> RunSettings:
    """Return settings with the limits of the certified run.

    Whether the backend gets a process of its own is not for the certificate to decide.
    """
    run = certificate.run
    timeout, memory = run.timeout or settings.timeout, (run.memory or 0) >> 20
    return replace(settings, timeout=timeout, memory=memory)


def rerun_differences(
    certificate: Certificate, suite: Suite, sample: Sequence[Verdict], setup: Setup
) -> Iterator[Finding]:
    """Run the cases of `sample` again; yield the differences in backend and verdicts.

    Raises:
        BackendError: the backend cannot be found or started.
    """
    with closing(LocalExecution(setup, suite)) as execution:
        # Where the backend is, and the bytes of its program, may differ between machines.
        certified, current = (
            {name: part for name, part in parts.items() if name not in ("source", "files")}
            for parts in (
                certificate.to_dict()["backend"],
                execution.entry.model_dump(mode="json", exclude_unset=True),
            )
        )
        for place, found, now in stored.json_differences(certified, current, "backend"):
            yield Finding(place, f"found {found}; the current backend has {now}")
        # Only a case that the run repeated is repeated again, since repetition takes long.
        in_sample = {verdict.case for verdict in sample}
        repeated = [case for case in certificate.run.repeated if case not in in_sample]
        certification = Certification(execution.backend, suite, repeated=repeated)
        for verdict in sample:
            certification.verdict(verdict.case)
        # A process may end after its last answer.
        certification.release()
        for verdict in sample:
            before, again = verdict.without_waiver(), certification.verdicts[verdict.case]
            if _compared(before) != _compared(again):
                text = f"found {_description(before)}; run again: {_description(again)}"
                yield Finding(f"verdicts, {verdict.case}", f"{text}: {again.detail}")


def _compared(verdict: Verdict) -> Any:
    """Return what must not differ; whether declining is a failure depends on further cases."""
    return verdict.is_declined or (verdict.status, verdict.kind, verdict.observed)


def _description(verdict: Verdict) -> str:
    kind = "" if verdict.kind is None else f" ({verdict.kind})"
    return f"{verdict.status}{kind}, observed '{verdict.observed}'"
