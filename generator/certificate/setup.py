"""What a run starts in each of its processes: a backend, and certifications on it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from opcert.backends.contract import Backend
from opcert.backends.lookup import in_process_backend, with_reference_specs
from opcert.backends.source_files import SourceFiles
from opcert.certificate.certificate import BackendEntry, Run
from opcert.certificate.entries import backend_entry, run_entry
from opcert.isolation.supervised import start_backend
from opcert.run.settings import RunSettings
from opcert.scope.claims import Claim
from opcert.scope.support import Support, checked_support
from opcert.suite.suite import Suite
from opcert.verdicts.certification import Certification


@dataclass(frozen=True)
class Setup:
    """The backend, an object or its name, with its options, and the settings of the run.

    The feature level of the settings is that of the claim, if it has one.
    """

    backend: str | Backend
    options: Mapping[str, Any]
    settings: RunSettings
    claim: Claim | None

    def source_files(self) -> SourceFiles:
        """Read the files of the backend's code, before it is started."""
        return SourceFiles(self.backend if isinstance(self.backend, str) else "")

    def start_backend(self, files: SourceFiles) -> Backend:
        """Start the backend.

        Raises:
            BackendError: it cannot be started.
        """
        settings = self.settings
        if not isinstance(self.backend, str):
            return in_process_backend(self.backend, settings.isolated)
        return start_backend(
            self.backend,
            with_reference_specs(self.backend, self.options, settings.specs),
            settings.isolated,
            timeout=settings.timeout,
            memory=settings.memory_bytes,
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
            feature_level=self.settings.feature_level,
            claim=self.claim,
            max_crashes=self.settings.max_crashes,
        )

    def entries(
        self, backend: Backend, suite: Suite, files: SourceFiles
    ) -> tuple[BackendEntry, Run]:
        """Return how a certificate describes the started backend, and how its calls are made."""
        support = checked_support(backend, suite)
        entry = backend_entry(backend, self.backend, self.options, support, files.digests)
        return entry, run_entry(backend, self.settings)
