"""The entries of a certificate that describe a run, without identifying the machine."""

import json
import math
import platform
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Any

from opcert.backends.contract import Backend, declared_reuse
from opcert.certificate.certificate import (
    BackendEntry,
    ClaimEntry,
    ClusterEntry,
    Platform,
    Run,
    Selection,
    WaiversEntry,
    WorkerPlatform,
)
from opcert.errors import printable_line
from opcert.run.outcome import IsolatedBackend
from opcert.run.settings import RunSettings
from opcert.scope.claims import Claim
from opcert.scope.support import Support
from opcert.scope.waivers import Waivers
from opcert.verdicts.redaction import redact_text

# How far the clock of another machine may be ahead.
_CLOCK_TOLERANCE = timedelta(days=1)


def selection_entry(settings: RunSettings) -> Selection:
    """Return the entry for the globs and the feature level that select cases."""
    return Selection(
        operator=_text(settings.operator or "*"),
        case=_text(settings.case),
        feature_level=settings.feature_level,
    )


def backend_entry(
    backend: Backend,
    source: object,
    options: Mapping[str, Any],
    support: Support,
    files: Mapping[str, str],
) -> BackendEntry:
    """Return the entry for a backend; options that are not plain data become text."""
    reuse = declared_reuse(backend)
    return BackendEntry(
        name=backend.name,
        version=backend.version,
        files={printable_line(_text(redact_text(name))): files[name] for name in files},
        **stated_arguments(source, options),
        support=support.declared,
        reuse=_text(redact_text(reuse)) if reuse else None,
        delivery=backend.delivery if isinstance(backend, IsolatedBackend) else "strided",
    )


def stated_arguments(source: object, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a certificate states the name of a backend, and the options of its constructor.

    A backend that is given as an object has no name.
    """
    # A relative path identifies nobody, and others can use it.
    name = _text(redact_text(source)).removeprefix("<here>/") if isinstance(source, str) else None
    return {
        "source": name,
        "options": {_text(key): _plain_data(value) for key, value in options.items()},
    }


def _plain_data(value: Any) -> Any:
    """Return an option as redacted JSON data."""

    def redacted(data: Any) -> Any:
        if isinstance(data, dict):
            return {_text(key): redacted(item) for key, item in data.items()}
        if isinstance(data, list):
            return [redacted(item) for item in data]
        return _text(redact_text(data)) if isinstance(data, str) else data

    try:
        return redacted(json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False)))
    except (TypeError, ValueError, RecursionError):
        return redacted(str(value))


def _text(text: str) -> str:
    """Replace surrogates, which can occur in a command line but not in a file."""
    return text.encode(errors="replace").decode()


def run_entry(backend: Backend, settings: RunSettings) -> Run:
    """Return the entry for the conditions of a run; limits of 0 and infinity become None."""
    isolated = isinstance(backend, IsolatedBackend)
    return Run(
        isolated=isolated,
        timeout=float(settings.timeout) if isolated and math.isfinite(settings.timeout) else None,
        memory=settings.memory_bytes if isolated and settings.memory else None,
        jobs=settings.jobs,
        cluster=None,
        repeated=(),
        resumed=(),
        changed=(),
    )


def merged_clusters(former: ClusterEntry | None, now: ClusterEntry | None) -> ClusterEntry | None:
    """Return the workers that took part in a run and in one that resumed it."""
    if former is None or now is None:
        return former or now
    cases: Counter[WorkerPlatform] = Counter()
    for worker in (*former.platforms, *now.platforms):
        cases[worker.model_copy(update={"cases": 0})] += worker.cases
    platforms = (worker.model_copy(update={"cases": n}) for worker, n in cases.items())
    return ClusterEntry(platforms=tuple(platforms), lost=former.lost + now.lost)


def claim_entry(claim: Claim | None) -> ClaimEntry | None:
    """Return the entry for a claim."""
    if claim is None:
        return None
    return ClaimEntry(sha256=claim.source.sha256, content=claim.content)


def waivers_entry(waivers: Waivers | None) -> WaiversEntry | None:
    """Return the entry for waivers."""
    if waivers is None:
        return None
    return WaiversEntry(sha256=waivers.source.sha256, content=waivers.content)


def current_platform() -> Platform:
    """Return the entry for this machine and the current time."""
    return Platform(
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        opcert=version("opcert"),
        system=platform.system(),
        machine=platform.machine(),
        python=platform.python_version(),
        numpy=version("numpy"),
    )


def date_mistake(date: str, now: datetime) -> str | None:
    """Return why nothing can have happened at a date, or None."""
    try:
        in_future = datetime.fromisoformat(date) - now > _CLOCK_TOLERANCE
    except ValueError:
        return f"invalid date {date}; expected a date of the calendar"
    return f"found {date}, which is in the future" if in_future else None
