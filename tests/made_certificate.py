"""Certificates of made-up verdicts."""

from collections.abc import Sequence

from opcert.certificate.certificate import BackendEntry, Certificate, Run, Selection
from opcert.certificate.setup import current_platform
from opcert.suite.format import SuiteEntry
from opcert.verdicts.verdict import Verdict

OPERATOR = "vendor/A-1"
DIGEST = "0123456789abcdef" * 4


def certificate(
    verdicts: Sequence[Verdict], operators: Sequence[str] = (OPERATOR,), cases: int = 9
) -> Certificate:
    """Return a certificate with `verdicts`, of a suite with these operators and number of cases."""
    return Certificate(
        suite=SuiteEntry(
            version=2,
            profile="core",
            seed=0,
            digest=DIGEST,
            cases=cases,
            specs=dict.fromkeys(operators, DIGEST),
        ),
        selection=Selection(operator="*", case="*", feature_level=None),
        backend=BackendEntry(
            name="b",
            version="1",
            source=None,
            files={},
            options={},
            support=None,
            reuse=None,
            delivery="strided",
        ),
        run=Run(
            isolated=False,
            timeout=None,
            memory=None,
            jobs=1,
            cluster=None,
            repeated=(),
            resumed=(),
            changed=(),
        ),
        claim=None,
        waivers=None,
        platform=current_platform(),
        files={},
        excerpts={},
        reproductions={},
        fresh={},
        causes=(),
        verdicts=tuple(verdicts),
    )
