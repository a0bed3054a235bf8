"""An interrupted run's certificate -> the one to go on from, where it is of the very same run."""

from typing import Any

from opcert.certificate.certificate import Certificate
from opcert.certificate.file import json_differences
from opcert.errors import OpcertError

# How many differences are told.
_TOLD = 5


def resume_certificate(former: Certificate, begun: Certificate) -> Certificate:
    """Return `former`, resumed now, if `begun` rests on the same suite, backend and limits.

    Raises:
        OpcertError: they differ in what verdicts rest on; it says in what.
    """
    found = [
        f"{'.'.join(place)} was {was} and now is {now}"
        for place, was, now in json_differences(_identity(former), _identity(begun))
    ]
    if [each.case for each in former.verdicts] != [each.case for each in begun.verdicts]:
        found.append("it has other cases than the suite")
    if found:
        more = f"; and {len(found) - _TOLD} more" if len(found) > _TOLD else ""
        raise OpcertError(
            f"cannot go on from a certificate of another run: {'; '.join(found[:_TOLD])}{more}; "
            "expected the same, or begin anew without resuming"
        )
    resume_certificate = (*former.run.resumed, begun.platform.date)
    return former.replaced(run=former.run.model_copy(update={"resumed": resume_certificate}))


def _identity(certificate: Certificate) -> dict[str, Any]:
    """Return what has to be the same for verdicts to stand side by side."""
    content = certificate.content()
    kept = ("suite", "selection", "backend", "claim", "waivers")
    how = ("isolated", "timeout", "memory")
    where = ("opcert", "system", "machine", "python", "numpy")
    return {
        **{name: content[name] for name in kept},
        "run": {name: content["run"][name] for name in how},
        "platform": {name: content["platform"][name] for name in where},
    }
