"""What runs on several processes and on clusters are compared on with one process."""

from collections.abc import Mapping

import pytest

from opcert import Certificate
from tests.command_line import MISBEHAVING, WRONG

SPLIT, CASES = "directml/*", "*-f32-*"
CRASHES, ENDS = f"{MISBEHAVING}:Misbehaves", {"how": "exit"}
with_backends = pytest.mark.parametrize(
    ("backend", "options"),
    [
        (f"{WRONG}:AcceptsEverything", {}),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                ("reference", {}),
                (f"{WRONG}:DeclinesHighRanks", {}),
                (f"{WRONG}:CachesByShape", {}),
                (CRASHES, ENDS),
            )
        ),
    ],
)


def results(certificate: Certificate) -> Mapping[str, tuple[str, str | None]]:
    """Return the status and the kind of each verdict."""
    return {verdict.case: (verdict.status, verdict.kind) for verdict in certificate.verdicts}
