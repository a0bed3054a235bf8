"""What a run starts in each of its processes: a backend, and certifications on it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from opcert.backends.contract import Backend
from opcert.backends.lookup import in_process_backend, with_reference_specs
from opcert.backends.source_files import SourceFiles
from opcert.certificate.certificate import BackendEntry, Run
from opcert.certificate.entries import backend_entry, run_entry
from opcert.isolation.supervised import start_backend
from opcert.scope.claims import Claim
from opcert.scope.support import Support, checked_support
from opcert.suite.suite import Suite
from opcert.verdicts.certification import Certification


@dataclass(frozen=True)
class Setup:
    """The backend, an object or its name, and the conditions of a run; see `certify`."""

    backend: str | Backend
    options: Mapping[str, Any]
    isolated: bool | None
    timeout: float
    memory: int
    specs: Path | None
    feature_level: str | None
    claim: Claim | None
    max_crashes: int

    def source_files(self) -> SourceFiles:
        """Read the files of the backend's code, before it is started."""
        return SourceFiles(self.backend if isinstance(self.backend, str) else "")

    def start_backend(self, files: SourceFiles) -> Backend:
        """Start the backend.

        Raises:
            BackendError: it cannot be started.
        """
        if not isinstance(self.backend, str):
            return in_process_backend(self.backend, self.isolated)
        return start_backend(
            self.backend,
            with_reference_specs(self.backend, self.options, self.specs),
            self.isolated,
            timeout=self.timeout,
            memory=self.memory,
            files=files,
        )

    def start_certification(
        self, suite: Suite, support: Support | None = None
    ) -> Callable[..., Certification]:
        """Return a function that starts a certification, given a backend and what it continues.

        `support` is what the backend declares, checked before.
        """
        return partial(
            Certification,
            suite=suite,
            support=support,
            feature_level=self.feature_level,
            claim=self.claim,
            max_crashes=self.max_crashes,
        )

    def entries(
        self, backend: Backend, suite: Suite, files: SourceFiles, jobs: int = 1
    ) -> tuple[BackendEntry, Run]:
        """Return how a certificate describes the started backend, and how its calls are made."""
        support = checked_support(backend, suite)
        entry = backend_entry(backend, self.backend, self.options, support, files.digests)
        return entry, run_entry(backend, self.timeout, self.memory, jobs)
