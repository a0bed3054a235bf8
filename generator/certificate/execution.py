"""Where the calls of a run are made: in this process, or by workers (see `remote`)."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from itertools import groupby

from opcert.backends.contract import Backend, close_backend
from opcert.certificate.certificate import BackendEntry, ClusterEntry, Run
from opcert.certificate.setup import Setup
from opcert.isolation.supervised import SupervisedBackend
from opcert.suite.suite import Suite
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.certification import Certification
from opcert.verdicts.confirmation import Confirmation, Confirmed
from opcert.verdicts.verdict import Verdict


class Execution(ABC):
    """Makes the calls of a run.

    Attributes:
        backend: The backend, or only its declarations if it runs elsewhere.
        entry: The backend as the certificate describes it.
        run: How the calls are made, as the certificate describes it before the first call.
        diagnosis: Finds the causes of failures of the suite.
    """

    def __init__(self, backend: Backend, entry: BackendEntry, run: Run, suite: Suite) -> None:
        self.backend, self.entry, self.run, self.suite = backend, entry, run, suite
        self.diagnosis = Diagnosis(suite)

    @property
    def cluster(self) -> ClusterEntry | None:
        """The workers of a cluster that have taken part so far."""
        return None

    @abstractmethod
    def changed_files(self) -> set[str]:
        """Return the files of the backend that have changed since the run began."""

    @abstractmethod
    def verdicts(self, certification: Certification, cases: Sequence[str]) -> Generator[Verdict]:
        """Yield the verdicts of cases as they are reached, and add them to `certification`."""

    @abstractmethod
    def interrupt(self) -> None:
        """End the calls that are under way."""

    @abstractmethod
    def confirm(self, verdicts: Mapping[str, Verdict], repeated: Sequence[str]) -> Confirmed:
        """Confirm failures, if the backend can be restarted."""

    @abstractmethod
    def close(self) -> None:
        """End what the run has started."""


def confirmed(
    backend: Backend, diagnosis: Diagnosis, verdicts: Mapping[str, Verdict], repeated: Sequence[str]
) -> Confirmed:
    """Confirm failures if the backend can be restarted."""
    if not isinstance(backend, SupervisedBackend):
        return Confirmed()
    return Confirmation(backend, diagnosis, verdicts, repeated).confirm()


class LocalExecution(Execution):
    """Makes the calls in this process, one after the other."""

    def __init__(self, setup: Setup, suite: Suite) -> None:
        """Start the backend.

        Raises:
            BackendError: it cannot be started, or declares what does not exist.
        """
        self._files = setup.source_files()
        backend = setup.start_backend(self._files)
        try:
            super().__init__(backend, *setup.entries(backend, suite, self._files), suite)
        except BaseException:
            close_backend(backend)
            raise

    def verdicts(self, certification: Certification, cases: Sequence[str]) -> Generator[Verdict]:
        """Run the cases; memory holds those of one operator."""
        known = self.suite.cases
        for name, own in groupby(cases, lambda case: known.operator_suite(case).index.operator):
            self.suite.operators.release_all_but(name)
            yield from map(certification.verdict, own)

    def interrupt(self) -> None:
        """Kill the process of an isolated backend."""
        if isinstance(self.backend, SupervisedBackend):
            self.backend.stop()

    def confirm(self, verdicts: Mapping[str, Verdict], repeated: Sequence[str]) -> Confirmed:
        """Confirm the failures of an isolated backend."""
        return confirmed(self.backend, self.diagnosis, verdicts, repeated)

    def changed_files(self) -> set[str]:
        """Return the files of the backend that changed during the run."""
        self._files.check()
        return self._files.changed

    def close(self) -> None:
        """Close the backend."""
        close_backend(self.backend)
