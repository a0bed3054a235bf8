"""How a run in this process begins: its backend, certifications, and entries in a certificate."""

import json
import math
import platform
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path, PureWindowsPath
from typing import Any

from opcert.backends.contract import Backend, close_backend, declared_reuse
from opcert.backends.lookup import SourceFiles
from opcert.certificate.certificate import BackendEntry, ClusterEntry, Platform, Run, WorkerPlatform
from opcert.errors import printable_line
from opcert.isolation.supervised import SupervisedBackend, start_backend
from opcert.run.outcome import IsolatedBackend
from opcert.settings import RunSettings
from opcert.suite.claims import Claim, read_claim
from opcert.suite.suite import Suite
from opcert.suite.support import Support, checked_support
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.certification import Certification
from opcert.verdicts.confirmation import Confirmation, Confirmed
from opcert.verdicts.verdict import Verdict, redact_text
from opcert.verdicts.waivers import Waivers, read_waivers


def read_scope(
    settings: RunSettings, suite: Suite, options: Mapping[str, Any]
) -> tuple[Claim | None, Waivers | None, str | None]:
    """Return the claim and the waivers of a run, and its feature level.

    The suite has the arithmetics of the claim then. The files are read before the backend starts,
    which may change the current folder.

    Raises:
        OpcertError: a file is at fault.
    """
    claim = waivers = None
    if settings.claim is not None:
        claim = read_claim(settings.claim, suite, settings.operator or "*")
    suite.claim({} if claim is None else claim.content.arithmetic)
    if settings.waivers is not None:
        waivers = read_waivers(settings.waivers, suite, options.get("device"))
    level = settings.feature_level
    return claim, waivers, level if claim is None else claim.feature_level(level)


def stated_arguments(source: object, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a certificate states the name of a backend, and the options of its constructor.

    A backend that is given as an object has no name.
    """
    name = redact_text(source) if isinstance(source, str) else None
    return {
        # A relative path identifies nobody, and others can use it.
        "source": name and name.removeprefix("<here>/"),
        "options": {plain_text(key): _plain_data(value) for key, value in options.items()},
    }


def _redacted_option(text: str) -> str:
    """Return an option without what identifies somebody; a path in a text ends at a space."""
    redacted, path = redact_text(text), PureWindowsPath(text)
    is_path = text.startswith("/") or path.is_absolute()
    is_known = redacted.startswith("<") and not redacted.startswith("<path>")
    if not is_path or is_known or len(path.parts) < 3 or text.startswith("/dev/"):
        return redacted
    return "<path>" if Path(text).is_dir() else f"<path>/{redact_text(path.name)}"


def _plain_data(value: Any) -> Any:
    """Return an option as redacted JSON data."""

    def redacted(data: Any) -> Any:
        if isinstance(data, dict):
            return {plain_text(key): redacted(item) for key, item in data.items()}
        if isinstance(data, list):
            return [redacted(item) for item in data]
        return _redacted_option(data) if isinstance(data, str) else data

    try:
        return redacted(json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False)))
    except (TypeError, ValueError, RecursionError):
        return redacted(str(value))


def plain_text(text: str) -> str:
    """Replace surrogates, which can occur in a command line but not in a file."""
    return text.encode(errors="replace").decode()


def merged_clusters(former: ClusterEntry | None, now: ClusterEntry | None) -> ClusterEntry | None:
    """Return the workers that took part in a run and in one that resumed it."""
    if former is None or now is None:
        return former or now
    cases: Counter[WorkerPlatform] = Counter()
    for worker in (*former.platforms, *now.platforms):
        cases[worker.model_copy(update={"cases": 0})] += worker.cases
    platforms = (worker.model_copy(update={"cases": n}) for worker, n in cases.items())
    return ClusterEntry(platforms=tuple(platforms), lost=former.lost + now.lost)


def this_machine() -> dict[str, str]:
    """Return what the entries for this machine and for a worker on it have in common."""
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
    }


def current_platform() -> Platform:
    """Return the entry for this machine and the current time."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Platform(date=now, opcert=version("opcert"), **this_machine())


@dataclass(frozen=True)
class Setup:
    """The backend, an object or its name, with its options, and the settings of the run.

    The feature level of the settings is that of the claim, if it has one.
    """

    backend: str | Backend
    options: Mapping[str, Any]
    settings: RunSettings
    claim: Claim | None

    def start_certification(
        self, backend: Backend, entry: BackendEntry, suite: Suite, **continued: Any
    ) -> Certification:
        """Start a certification on a backend, given its entry and what it continues."""
        return Certification(
            backend,
            suite,
            # Not checked again: to check it may read operators.
            support=Support(entry.support),
            feature_level=self.settings.feature_level,
            claim=self.claim,
            max_crashes=self.settings.max_crashes,
            **continued,
        )

    def entries(
        self, backend: Backend, suite: Suite, files: SourceFiles
    ) -> tuple[BackendEntry, Run]:
        """Return how a certificate describes the started backend, and how its calls are made.

        Limits of 0 and infinity become None.
        """
        isolated, settings = isinstance(backend, IsolatedBackend), self.settings
        reuse, digests = declared_reuse(backend), files.digests
        entry = BackendEntry(
            name=backend.name,
            version=backend.version,
            files={printable_line(redact_text(n)): digests[n] for n in digests},
            **stated_arguments(self.backend, self.options),
            support=checked_support(backend, suite).declared,
            reuse=redact_text(reuse) if reuse else None,
            delivery=backend.delivery if isinstance(backend, IsolatedBackend) else "strided",
        )
        has_limit = isolated and math.isfinite(settings.timeout)
        return entry, Run(
            isolated=isolated,
            timeout=float(settings.timeout) if has_limit else None,
            memory=settings.memory_bytes if isolated and settings.memory else None,
            jobs=settings.jobs,
            cluster=None,
            repeated=(),
            resumed=(),
            changed=(),
        )


class LocalExecution:
    """Makes the calls of a run in this process, one after the other.

    Attributes:
        backend: The backend.
        entry: The backend as the certificate describes it.
        run: How the calls are made, as the certificate describes it before the first call.
        files: The files of the backend's code.
        diagnosis: Finds the causes of failures of the suite.
    """

    # No workers of a cluster take part.
    cluster = None

    def __init__(self, setup: Setup, suite: Suite) -> None:
        """Start the backend.

        Raises:
            BackendError: it cannot be started, or declares what does not exist.
        """
        self._suite, self.diagnosis = suite, Diagnosis(suite)
        self.files = SourceFiles(setup.backend)
        self.backend = start_backend(setup.backend, setup.options, setup.settings, self.files)
        try:
            self.entry, self.run = setup.entries(self.backend, suite, self.files)
        except BaseException:
            close_backend(self.backend)
            raise

    def verdicts(self, certification: Certification, cases: Sequence[str]) -> Generator[Verdict]:
        """Run the cases, one after the other."""
        yield from map(certification.verdict, cases)

    def interrupt(self) -> None:
        """Kill the process of an isolated backend."""
        if isinstance(self.backend, SupervisedBackend):
            self.backend.stop()

    def confirm(self, verdicts: Mapping[str, Verdict], repeated: Sequence[str]) -> Confirmed:
        """Confirm the failures of an isolated backend, which can be restarted."""
        if not isinstance(self.backend, SupervisedBackend):
            return Confirmed()
        return Confirmation(self.backend, self.diagnosis, verdicts, repeated).confirm()

    def changed_files(self) -> set[str]:
        """Return the files of the backend that changed during the run."""
        return self.files.check()

    def close(self) -> None:
        """Close the backend."""
        close_backend(self.backend)
