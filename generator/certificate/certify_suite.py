"""Suite x backend -> certificate, in one run or in several that resume each other."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias

from opcert.backends.contract import Backend
from opcert.certificate.certificate import Certificate, ClaimEntry, Selection, WaiversEntry
from opcert.certificate.file import json_differences
from opcert.certificate.remote import RemoteExecution
from opcert.certificate.setup import (
    LocalExecution,
    Setup,
    current_platform,
    merged_clusters,
    plain_text,
    read_scope,
)
from opcert.errors import Mistake, OpcertError, SpecError
from opcert.settings import RunSettings
from opcert.suite.generation import open_suite
from opcert.suite.suite import Suite
from opcert.verdicts.certification import Certification
from opcert.verdicts.verdict import FAILURE_STATUSES, Verdict
from opcert.verdicts.waivers import Waivers
from opcert.workers import ClusterLostError, Workers

Execution: TypeAlias = LocalExecution | RemoteExecution
# Called with each verdict, its number, and the number of cases to run.
OnVerdict = Callable[[Verdict, int, int], None]

# How often a run saves its certificate: for 50,000 cases, that takes up to 1.5 s of a processor.
SAVE_SECONDS = 30.0
# The number of differences that are listed if a run cannot be resumed.
_LISTED_DIFFERENCES = 10


class UnusedWaiverError(SpecError):
    """A waiver applies to no failure of a run; has the certificate of the run."""

    def __init__(self, mistakes: list[Mistake], certificate: Certificate) -> None:
        super().__init__(mistakes)
        self.certificate = certificate


class CertificationInterrupted(KeyboardInterrupt):
    """The run was interrupted, for a reason; has the certificate of the completed cases."""

    def __init__(self, certificate: Certificate, reason: str = "interrupted") -> None:
        super().__init__(reason)
        self.certificate, self.reason = certificate, reason


def certify(
    backend: str | Backend,
    suite: str | Path | Suite | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    cluster: Workers | None = None,
    progress: OnVerdict = lambda *_: None,
    resume: Certificate | None = None,
    save: Callable[[Certificate], object] | None = None,
    **settings: Any,
) -> Certificate:
    """Run the cases of a suite on a backend, and return the certificate.

    Args:
        backend: an object, which runs in this process, or a name as for `load`.
        suite: a folder that `generate` wrote; by default a suite generated from `specs`, or the
            core suite without `specs`.
        options: arguments for the backend's constructor; the certificate records them.
        cluster: an `opcert.workers.Cluster`, on whose workers the cases run, each with a backend of
            its own. The backend must be a name, as with `jobs`.
        progress: called with each verdict, its number and the number of cases to run.
        resume: the certificate of an earlier run with the same arguments; only its not-run cases
            are run. A certificate without such cases is returned unchanged.
        save: called every 30 seconds, and once all cases have run, with the certificate so far,
            which has no causes yet; it can be resumed if this process ends.
        **settings: those of `RunSettings`.

    Raises:
        OpcertError: an argument or a file is at fault, or `resume` is of another run.
        UnusedWaiverError: a waiver applies to no failure.
        CertificationInterrupted: the run was interrupted; the remaining cases are not-run.
    """
    given = RunSettings(**settings)
    opened = open_suite(suite, given.specs, given.operator, given.profile)
    selected = given.operator or "*"
    options = dict(options or {})
    claim, known, level = read_scope(given, opened, options)
    platform = current_platform()
    setup = Setup(backend, options, replace(given, feature_level=level), claim)
    with _execution(setup, opened, cluster) as execution:
        certificate = Certificate(
            suite=opened.identity,
            selection=Selection(
                operator=plain_text(selected), case=plain_text(given.case), feature_level=level
            ),
            backend=execution.entry,
            run=execution.run,
            claim=(
                ClaimEntry(sha256=claim.source.sha256, content=claim.content) if claim else None
            ),
            waivers=(
                WaiversEntry(sha256=known.source.sha256, content=known.content) if known else None
            ),
            platform=platform,
            files={},
            excerpts={},
            reproductions={},
            fresh={},
            causes=(),
            verdicts=tuple(_not_run(opened, id_) for id_ in opened.select(selected, given.case)),
        )
        if resume is not None:
            certificate = _resumed(resume, certificate)
            # One that was saved during a run lacks the causes of its failures.
            fails = any(verdict.status in FAILURE_STATUSES for verdict in resume.verdicts)
            if not certificate.counts["not-run"] and (resume.causes or not fails):
                before_waivers = [verdict.without_waiver() for verdict in resume.verdicts]
                if known is not None and (mistakes := known.unused(before_waivers)):
                    raise UnusedWaiverError(mistakes, resume)
                return resume
        certification = setup.start_certification(
            execution.backend,
            execution.entry,
            opened,
            former=[v.without_waiver() for v in certificate.verdicts if v.status != "not-run"],
            repeated=certificate.run.repeated,
        )
        run = _Run(certificate, certification, known, execution)
        return run.complete(progress, save, given.stop_at_failure)


@contextmanager
def _execution(setup: Setup, suite: Suite, cluster: Workers | None) -> Iterator[Execution]:
    """Start the backend, here or on a cluster, and close it afterwards.

    Raises:
        OpcertError: it cannot be started, or is an object that processes cannot share.
    """
    if not isinstance(setup.backend, str) and (setup.settings.jobs > 1 or cluster is not None):
        raise OpcertError("several processes need a backend by name: they cannot share an object")
    is_local = cluster is None and setup.settings.jobs == 1
    execution = LocalExecution(setup, suite) if is_local else RemoteExecution(cluster, setup, suite)
    try:
        yield execution
    finally:
        try:
            execution.close()
        except KeyboardInterrupt:
            # All verdicts are there; only the backend takes its time to end.
            execution.interrupt()


def _not_run(suite: Suite, case: str) -> Verdict:
    # The rules are those of a case that was read, when it is its turn.
    return Verdict(case, suite.cases.operator_of(case), "not-run", None, "not-run", (), "")


@dataclass(frozen=True)
class _Run:
    """A run that goes on from a certificate."""

    certificate: Certificate
    certification: Certification
    waivers: Waivers | None
    execution: Execution

    def complete(
        self,
        progress: OnVerdict,
        save: Callable[[Certificate], object] | None,
        stop_at_failure: bool,
    ) -> Certificate:
        """Run the not-run cases, and return the certificate with their verdicts.

        `save` is called with the certificate of those so far.

        Raises:
            UnusedWaiverError: a waiver applies to no failure.
            CertificationInterrupted: the run was interrupted.
        """
        certificate, certification = self.certificate, self.certification
        # Waivers are removed here and applied again at the end.
        verdicts = {verdict.case: verdict.without_waiver() for verdict in certificate.verdicts}
        remaining = [v.case for v in certificate.verdicts if v.status == "not-run"]
        interrupted, next_save = "", monotonic() + SAVE_SECONDS
        try:
            with closing(self.execution.verdicts(certification, remaining)) as reached:
                for number, verdict in enumerate(reached, 1):
                    waived = self._waived(verdict)
                    progress(waived, number, len(remaining))
                    if stop_at_failure and waived.status in FAILURE_STATUSES:
                        break
                    is_last = number == len(remaining)
                    if save is not None and (is_last or monotonic() > next_save):
                        # Who resumes a run without remaining cases does not judge them again.
                        so_far = certification.verdicts.values()
                        save(self._after(certification.finish() if is_last else so_far))
                        next_save = monotonic() + SAVE_SECONDS
        except KeyboardInterrupt:
            interrupted = "interrupted"
            self.execution.interrupt()
        except ClusterLostError as error:
            interrupted = str(error)
        # Baselines that were not selected ran too, but are not part of the certificate.
        verdicts |= {
            verdict.case: verdict for verdict in certification.finish() if verdict.case in verdicts
        }
        is_complete = not any(v.is_left_to_run for v in verdicts.values())
        if interrupted and not is_complete:
            # Without the causes, which take time to find.
            raise CertificationInterrupted(self._after(verdicts.values()), interrupted)
        reproductions, fresh = dict(certificate.reproductions), dict(certificate.fresh)
        fails = any(v.status in FAILURE_STATUSES for v in verdicts.values())
        # Only after all cases, so that resuming a run does not change which failures are confirmed.
        if is_complete and fails and not interrupted:
            # An interrupt ends only the confirmation.
            with suppress(KeyboardInterrupt):
                confirmed = self.execution.confirm(verdicts, certification.repeated)
                verdicts |= confirmed.verdicts
                reproductions |= confirmed.reproductions
                fresh |= confirmed.fresh
        certificate = self._after(verdicts.values(), reproductions=reproductions, fresh=fresh)
        causes = self.execution.diagnosis.causes(certificate.verdicts, reproductions, fresh)
        kept = {cause.representative for cause in causes} & certificate.excerpts.keys()
        excerpts = {case: text for case, text in certificate.excerpts.items() if case in kept}
        certificate = certificate.replace(causes=causes, excerpts=excerpts)
        if interrupted:
            raise CertificationInterrupted(certificate, interrupted)
        if self.waivers is not None and (mistakes := self.waivers.unused([*verdicts.values()])):
            raise UnusedWaiverError(mistakes, certificate)
        return certificate

    def _waived(self, verdict: Verdict) -> Verdict:
        return verdict if self.waivers is None else self.waivers.apply(verdict)

    def _after(self, so_far: Iterable[Verdict], **results: object) -> Certificate:
        """Return the certificate with the verdicts so far and other results, without causes."""
        former, certification = self.certificate, self.certification
        by_case = {verdict.case: verdict for verdict in so_far}
        reached = [by_case.get(verdict.case, verdict) for verdict in former.verdicts]
        excerpts = {**former.excerpts, **certification.excerpts}
        run = {
            "repeated": certification.repeated,
            "changed": tuple(sorted({*former.run.changed, *self.execution.changed_files()})),
            "cluster": merged_clusters(former.run.cluster, self.execution.cluster),
        }
        return former.replace(
            run=former.run.model_copy(update=run),
            excerpts={v.case: excerpts[v.case] for v in reached if v.case in excerpts},
            causes=(),
            verdicts=tuple(map(self._waived, reached)),
            **results,
        )


def _resumed(former: Certificate, current: Certificate) -> Certificate:
    """Return `former`, marked as resumed now, if it is of the same run as `current`.

    Raises:
        OpcertError: the runs differ; the message lists the differences.
    """
    differences = [
        f"{place} was {before} and now is {now}"
        for place, before, now in json_differences(_identity(former), _identity(current))
    ]
    if [v.case for v in former.verdicts] != [v.case for v in current.verdicts]:
        differences.append("its cases are not those of the suite")
    if differences:
        listed, others = differences[:_LISTED_DIFFERENCES], differences[_LISTED_DIFFERENCES:]
        more = f"; and {len(others)} more" if others else ""
        raise OpcertError(
            f"cannot resume, the certificate is of another run: {'; '.join(listed)}{more}; "
            "expected the same run; else start a new one, without resuming"
        )
    times = (*former.run.resumed, current.platform.date)
    jobs = max(former.run.jobs, current.run.jobs)
    run = former.run.model_copy(update={"resumed": times, "jobs": jobs})
    return former.replace(run=run)


def _identity(certificate: Certificate) -> dict[str, Any]:
    """Return the parts of a certificate that must be equal for a run to be resumed.

    Those that may have many differences are last.
    """
    data = certificate.to_dict()
    limits = ("isolated", "timeout", "memory")
    environment = ("opcert", "system", "machine", "python", "numpy")
    return {
        "selection": data["selection"],
        "run": {name: data["run"][name] for name in limits},
        **{name: data[name] for name in ("claim", "waivers", "backend", "suite")},
        "platform": {name: data["platform"][name] for name in environment},
    }
