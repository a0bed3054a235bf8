"""Calls of a run that are made in this process; `remote` has them made by workers."""

from collections.abc import Generator, Mapping, Sequence
from itertools import groupby

from opcert.backends.contract import Backend, close_backend
from opcert.certificate.setup import Setup
from opcert.isolation.supervised import SupervisedBackend
from opcert.suite.suite import Suite
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.certification import Certification
from opcert.verdicts.confirmation import Confirmation, Confirmed
from opcert.verdicts.verdict import Verdict


def confirmed(
    backend: Backend, diagnosis: Diagnosis, verdicts: Mapping[str, Verdict], repeated: Sequence[str]
) -> Confirmed:
    """Confirm failures if the backend can be restarted."""
    if not isinstance(backend, SupervisedBackend):
        return Confirmed()
    return Confirmation(backend, diagnosis, verdicts, repeated).confirm()


class LocalExecution:
    """Makes the calls of a run in this process, one after the other.

    Attributes:
        backend: The backend.
        entry: The backend as the certificate describes it.
        run: How the calls are made, as the certificate describes it before the first call.
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
        self._files = setup.source_files()
        self.backend = setup.start_backend(self._files)
        try:
            self.entry, self.run = setup.entries(self.backend, suite, self._files)
        except BaseException:
            close_backend(self.backend)
            raise

    def verdicts(self, certification: Certification, cases: Sequence[str]) -> Generator[Verdict]:
        """Run the cases; memory holds those of one operator."""
        known = self._suite.cases
        for name, own in groupby(cases, lambda case: known.operator_suite(case).index.operator):
            self._suite.operators.release_all_but(name)
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
