"""A sample of a certificate's cases x the backend -> where it now does something else."""

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opcert.backends import Backend, close_backend, with_reference_specs
from opcert.certificate import BackendEntry, Certificate, backend_entry, json_differences
from opcert.isolation import CALL_TIMEOUT, start_backend
from opcert.scope import checked_support
from opcert.suite import Suite
from opcert.verdicts import Certification, Verdict
from opcert.verification.findings import Finding
from opcert.verification.verdict_checks import Judged

# Kinds that tell of what ran before or later, which a sample leaves out.
_OF_MORE = ("state", "aliased-output", "mutated-input")


def sample(certificate: Certificate, suite: Suite, count: int, seed: int) -> list[Verdict]:
    """Return up to `count` verdicts of calls that were made, in the suite's order."""
    ran = [
        each
        for each in certificate.verdicts
        if each.observed != "not-run" and each.kind not in _OF_MORE and each.case in suite.cases
    ]
    chosen = random.Random(seed).sample(range(len(ran)), min(count, len(ran)))  # noqa: S311
    return [ran[i] for i in sorted(chosen)]


def rerun_flaws(
    certificate: Certificate,
    suite: Suite,
    sampled: Sequence[Verdict],
    backend: str,
    options: Mapping[str, Any],
    specs: Path | None = None,
) -> Iterator[Finding]:
    """Run the cases of `sampled` verdicts again, and yield where another verdict comes out.

    Raises:
        BackendError: the backend cannot be found or made.
    """
    run = certificate.run
    found = start_backend(
        backend,
        with_reference_specs(backend, options, specs),
        run.isolated,
        timeout=run.timeout or CALL_TIMEOUT,
        memory=run.memory or 0,
    )
    try:
        entry = backend_entry(found, backend, options, checked_support(found, suite))
        yield from _other(certificate, entry)
        yield from _otherwise(certificate, suite, sampled, found)
    finally:
        close_backend(found)


def _other(certificate: Certificate, entry: BackendEntry) -> Iterator[Finding]:
    """Say how the backend that runs now is another one."""
    # Where it is looked up is a matter of the machine that it runs on.
    stated, here = (
        {name: part for name, part in parts.items() if name != "source"}
        for parts in (
            certificate.content()["backend"],
            entry.model_dump(mode="json", exclude_unset=True),
        )
    )
    for place, was, now in json_differences(stated, here):
        text = f"found {was}; the backend that runs now has {now}"
        yield Finding(".".join(("backend", *place)), text)


def _otherwise(
    certificate: Certificate, suite: Suite, sampled: Sequence[Verdict], backend: Backend
) -> Iterator[Finding]:
    """Say which cases have another verdict now."""
    chosen = {verdict.case for verdict in sampled}
    repeated = [case for case in certificate.run.repeated if case not in chosen]
    certification = Certification(backend, suite, repeated=repeated)
    for verdict in sampled:
        again = certification.verdict(verdict.case)
        where = suite.cases[verdict.case]
        was, now = Judged(*where, verdict), Judged(*where, again)
        if not _same(was, now):
            text = f"found {_told(was)}; run again it is {_told(now)}: {again.detail}"
            yield Finding(f"verdicts, {verdict.case}", text)


def _same(was: Judged, now: Judged) -> bool:
    """Whether two verdicts of a case agree; what else was declined decides what that counts as."""
    if was.declined or now.declined:
        return was.declined and now.declined
    return (was.said, was.verdict.observed) == (now.said, now.verdict.observed)


def _told(judged: Judged) -> str:
    status, kind = judged.said
    return f"{status}{f' ({kind})' if kind else ''}, observed '{judged.verdict.observed}'"
