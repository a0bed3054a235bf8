"""What a run rests on -> the entries of its certificate that say so."""

import json
import math
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from opcert import __version__
from opcert.backends import Backend, declared_reuse
from opcert.certificate.certificate import (
    BackendEntry,
    ClaimEntry,
    Platform,
    Run,
    Selection,
    WaiversEntry,
)
from opcert.run import IsolatedBackend
from opcert.scope import Claim, Support
from opcert.verdicts import Waivers, without_names


def selection_entry(operator: str, case: str, feature_level: str | None) -> Selection:
    """Return the entry of the globs and the feature level that choose cases."""
    return Selection(operator=_text(operator), case=_text(case), feature_level=feature_level)


def backend_entry(
    backend: Backend, source: str | None, options: Mapping[str, Any], support: Support
) -> BackendEntry:
    """Return the entry of a backend; an option that is no plain value is there as text."""
    plain = {_text(key): _plain(value) for key, value in options.items()}
    return BackendEntry(
        name=backend.name,
        version=backend.version,
        # What lies below the current folder is found by others too.
        source=None if source is None else _text(without_names(source)).removeprefix("<here>/"),
        options=plain,
        support=support.declared,
        reuse=_text(without_names(reuse)) if (reuse := declared_reuse(backend)) else None,
        delivery=backend.delivery if isinstance(backend, IsolatedBackend) else "as drawn",
    )


def _plain(value: Any) -> Any:
    try:
        return _without_names(json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False)))
    except (TypeError, ValueError, RecursionError):
        return _without_names(str(value))


def _without_names(value: Any) -> Any:
    """Return plain data as another machine may see it, and a file can hold it."""
    if isinstance(value, dict):
        return {_text(key): _without_names(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_names(each) for each in value]
    return _text(without_names(value)) if isinstance(value, str) else value


def _text(given: str) -> str:
    """Return text of the command line, which need be no Unicode, as a file can hold it."""
    return given.encode(errors="replace").decode()


def run_entry(backend: Backend, timeout: float, memory: int) -> Run:
    """Return how calls will be made; limits are None where there are none."""
    isolated = isinstance(backend, IsolatedBackend)
    return Run(
        isolated=isolated,
        timeout=float(timeout) if isolated and math.isfinite(timeout) else None,
        memory=memory if isolated and memory else None,
        repeated=(),
        resumed=(),
    )


def claim_entry(claim: Claim | None) -> ClaimEntry | None:
    """Return the entry of a claim."""
    if claim is None:
        return None
    return ClaimEntry(sha256=claim.source.sha256, content=claim.content)


def waivers_entry(waivers: Waivers | None) -> WaiversEntry | None:
    """Return the entry of waivers."""
    if waivers is None:
        return None
    return WaiversEntry(sha256=waivers.source.sha256, content=waivers.content)


def current_platform() -> Platform:
    """Return where and when a run takes place, as a certificate says it."""
    return Platform(
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        opcert=__version__,
        system=platform.system(),
        machine=platform.machine(),
        python=platform.python_version(),
        numpy=version("numpy"),
    )
