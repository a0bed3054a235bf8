"""What makes the backend of a fault, where `--backend` names it."""

from opcert.backends.contract import Backend
from tests.faults.catalogue import FAULTS


def made(name: str) -> Backend:
    """Return the backend of the fault `name`."""
    return FAULTS[name].make()
