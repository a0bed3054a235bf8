"""List the available backends, and what they support."""

from opcert.commands.tables import print_backends
from opcert.report.terminal import console
from opcert.run.backend_list import available_backends
from opcert.specification.references import shipped_operators


def backends() -> None:
    print_backends(available_backends(), shipped_operators(), console())
