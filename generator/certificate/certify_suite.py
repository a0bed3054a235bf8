"""Suite x backend -> certificate: the whole run."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from opcert.backends import Backend, close_backend, in_process_backend, with_reference_specs
from opcert.certificate.certificate import Certificate, SuiteEntry
from opcert.certificate.entries import (
    backend_entry,
    claim_entry,
    current_platform,
    run_entry,
    selection_entry,
    waivers_entry,
)
from opcert.certificate.resumption import resume_certificate
from opcert.errors import Mistake, SpecError
from opcert.isolation import CALL_TIMEOUT, SupervisedBackend, start_backend
from opcert.run import Excerpt
from opcert.scope import Claim, checked_support, read_claim
from opcert.suite import CasesById, Suite, generate
from opcert.verdicts import (
    FAILURE_STATUSES,
    Certification,
    Confirmation,
    Confirmed,
    Reproduction,
    Verdict,
    Waivers,
    causes,
    read_waivers,
    representative_verdict,
)
from opcert.yaml_files import YamlSource

# Told each verdict, its number and how many there will be.
OnVerdict = Callable[[Verdict, int, int], None]


class UnusedWaiverError(SpecError):
    """A run of which no failure is what a waiver speaks of, with its certificate."""

    def __init__(self, mistakes: list[Mistake], certificate: Certificate) -> None:
        super().__init__(mistakes)
        self.certificate = certificate


class CertificationInterrupted(KeyboardInterrupt):
    """A run that was interrupted, with the certificate of what was reached."""

    def __init__(self, certificate: Certificate) -> None:
        super().__init__()
        self.certificate = certificate


def certify(
    backend: str | Backend,
    suite: str | Path | Suite | None = None,
    isolated: bool | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    specs: str | Path | None = None,
    operator: str = "*",
    case: str = "*",
    feature_level: str | None = None,
    claim: str | Path | YamlSource | None = None,
    waivers: str | Path | YamlSource | None = None,
    stop_at_failure: bool = False,
    timeout: float = CALL_TIMEOUT,
    memory: int = 0,
    progress: OnVerdict = lambda *_: None,
    resume: Certificate | None = None,
) -> Certificate:
    """Run the cases of a suite on a backend, and certify what it did.

    `backend` is an object, which runs in this process, or what `load` looks up; `options` then go
    to its constructor, and it runs in a process of its own unless it is the reference, or as
    `isolated` says. There a call may take `timeout` seconds, and the process `memory` bytes (0 for
    any); one that crashes or hangs is a verdict. `suite` is a folder, by default the core suite of
    opcert; without it and with `specs`, it is made from those, which the reference then follows
    too. `operator` and `case` are globs. `claim` says what the backend is claimed to support,
    `waivers` which failures are known. `resume` is the certificate of a former run of the same,
    whose cases that are not-run are run now; where there are none, it is returned.

    Raises:
        OpcertError: backend, suite, specs, selection, claim or waivers are at fault, or are not
            those of `resume`.
        Interrupted: with the certificate of what was reached, the rest not-run.
    """
    opened = open_suite(suite, specs, operator)
    given = dict(options or {})
    # Read before the backend is made, which may change the current folder.
    claimed, level = _claimed(claim, opened, operator, feature_level)
    known = None if waivers is None else read_waivers(_file(waivers), opened, given.get("device"))
    here = current_platform()
    if isinstance(backend, str):
        made_with = with_reference_specs(backend, given, specs)
        found = start_backend(backend, made_with, isolated, timeout=timeout, memory=memory)
    else:
        found = in_process_backend(backend, isolated)
    with ExitStack() as stack:
        stack.callback(close_backend, found)
        begin = partial(Certification, found, opened, level, claimed)
        begun = Certificate(
            suite=SuiteEntry(**opened.identity),
            selection=selection_entry(operator, case, level),
            backend=backend_entry(
                found,
                backend if isinstance(backend, str) else None,
                given,
                checked_support(found, opened),
            ),
            run=run_entry(found, timeout, memory),
            claim=claim_entry(claimed),
            waivers=waivers_entry(known),
            platform=here,
            files={},
            excerpts={},
            reproductions={},
            verdicts=tuple(_not_run(opened, operator, case)),
        )
        if resume is not None:
            begun = resume_certificate(resume, begun)
            if not resume.counts["not-run"]:
                return resume
        return _concluded(begin, begun, known, progress, stop_at_failure)


def _concluded(
    begin: Callable[..., Certification],
    begun: Certificate,
    known: Waivers | None,
    progress: OnVerdict,
    stop_at_failure: bool,
) -> Certificate:
    """Run the cases that `begun` has not run, and return the certificate that it becomes.

    Raises:
        Interrupted: with the certificate of what was reached.
    """
    chosen = {verdict.case: verdict for verdict in begun.verdicts}
    left = [case for case, verdict in chosen.items() if verdict.status == "not-run"]
    former = [verdict for case, verdict in chosen.items() if verdict.status != "not-run"]
    former = former if known is None else list(map(known.lifted, former))
    certification = begin(former=former, repeated=begun.run.repeated)
    ended = _run(certification, left, known, progress, stop_at_failure)
    chosen |= {each.case: each for each in certification.finish() if each.case in chosen}
    reproductions = dict(begun.reproductions)
    # Once all have run, so that it is the same failures however often the run was interrupted.
    if all(verdict.status != "not-run" for verdict in chosen.values()) and not ended:
        confirmed = _confirmed(certification, chosen)
        chosen |= confirmed.verdicts
        reproductions |= confirmed.reproductions
    raw = list(chosen.values())
    verdicts = tuple(raw if known is None else map(known.applied, raw))
    certificate = begun.replaced(
        run=begun.run.model_copy(update={"repeated": certification.repeated}),
        excerpts=_excerpts(
            verdicts,
            {**begun.excerpts, **certification.excerpts},
            reproductions,
            certification.suite.cases,
        ),
        reproductions=reproductions,
        verdicts=verdicts,
    )
    if ended:
        # What it has not reached may be what a waiver is for.
        raise CertificationInterrupted(certificate)
    if known is not None and (mistakes := known.idle(raw)):
        raise UnusedWaiverError(mistakes, certificate)
    return certificate


def _excerpts(
    verdicts: Sequence[Verdict],
    excerpts: Mapping[str, Excerpt],
    reproductions: Mapping[str, Reproduction],
    cases: CasesById,
) -> dict[str, Excerpt]:
    """Return of `excerpts` those of the case that stands for each cause."""
    shown = [representative_verdict(cause, reproductions, cases).case for cause in causes(verdicts)]
    return {case: excerpts[case] for case in shown if case in excerpts}


def _not_run(suite: Suite, operator: str, case: str) -> Iterator[Verdict]:
    """Yield the verdicts before anything has run, of the cases that were chosen."""
    for name in suite.select(operator, case):
        of, chosen = suite.cases[name]
        yield Verdict(name, of.index.operator, "not-run", None, "not-run", chosen.rules, "")


def _confirmed(certification: Certification, verdicts: Mapping[str, Verdict]) -> Confirmed:
    """Confirm failures where the backend can be made afresh; an interrupt ends that alone."""
    backend = certification.backend
    if not isinstance(backend, SupervisedBackend):
        return Confirmed()
    try:
        suite = certification.suite
        specs = suite.spec_files()
        return Confirmation(backend, suite, verdicts, certification.repeated, specs).confirmed()
    except KeyboardInterrupt:
        return Confirmed()


def _run(
    certification: Certification,
    chosen: Sequence[str],
    known: Waivers | None,
    progress: OnVerdict,
    stop_at_failure: bool,
) -> bool:
    """Run cases until they are done, or return True where an interrupt ended them."""
    try:
        for number, name in enumerate(chosen, 1):
            verdict = certification.verdict(name)
            verdict = verdict if known is None else known.applied(verdict)
            progress(verdict, number, len(chosen))
            if stop_at_failure and verdict.status in FAILURE_STATUSES:
                break
    except KeyboardInterrupt:
        if isinstance(certification.backend, SupervisedBackend):
            certification.backend.stop()
        return True
    return False


def _claimed(
    claim: str | Path | YamlSource | None, suite: Suite, operator: str, feature_level: str | None
) -> tuple[Claim | None, str | None]:
    """Return the claim, and the feature level to certify."""
    if claim is None:
        return None, feature_level
    found = read_claim(_file(claim), suite, operator)
    return found, found.feature_level(feature_level)


def _file(given: str | Path | YamlSource) -> Path | YamlSource:
    return given if isinstance(given, YamlSource) else Path(given)


def open_suite(
    suite: str | Path | Suite | None, specs: str | Path | None = None, operator: str = "*"
) -> Suite:
    """Return the suite in a folder, that of opcert, or one made of `specs`."""
    if isinstance(suite, Suite):
        return suite
    found = Path(specs) if specs is not None else None
    if suite is not None or specs is None:
        return Suite(Path(suite) if suite is not None else None, found)
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder) / "suite", specs, operator=operator)
        return Suite(Path(folder) / "suite", found)
