"""What backends there are: the built-in ones and those of entry points, none of them started."""

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import (
    EntryPoint,
    PackageNotFoundError,
    entry_points,
    packages_distributions,
    requires,
    version,
)

from opcert.backends import BUILT_IN_BACKENDS, ENTRY_POINT_GROUP
from opcert.backends.declared_support import DECLARED_SUPPORT
from opcert.scope import declared_support
from opcert.suite import core_suite_folder, read_manifest

UNSUPPORTED = "unsupported"


@dataclass(frozen=True)
class AvailableBackend:
    """A backend: the versions of its packages, or how to install it, and each operator's `how`.

    `how` is empty where nothing is declared, so that everything counts as supported.
    """

    name: str
    installed: bool
    packages: str
    how: Mapping[str, str]


def core_operators() -> list[str]:
    """Return the operators that the declarations are shown for: those of the core suite."""
    return list(read_manifest(core_suite_folder()).operators)


def available_backends() -> Iterator[AvailableBackend]:
    """Yield every backend that `load` knows by name."""
    for name in BUILT_IN_BACKENDS:
        yield _built_in(name)
    for point in entry_points(group=ENTRY_POINT_GROUP):
        yield _entry_point(point)


def _built_in(name: str) -> AvailableBackend:
    packages = extra(name) or ["opcert"]
    found = [(package, _version(package)) for package in packages]
    installed = all(number is not None for _, number in found)
    said = ", ".join(f"{package} {number}" for package, number in found)
    return AvailableBackend(
        name, installed, said if installed else f"pip install 'opcert[{name}]'", _how(name)
    )


def _how(name: str) -> dict[str, str]:
    """Return the first word of what a class declares; the rest is for its certificate."""
    declared = DECLARED_SUPPORT.get(name) or _declared(name)
    if declared is None:
        return {}
    described = {operator: how.partition(":")[0] for operator, how in declared.items()}
    return {operator: described.get(operator, UNSUPPORTED) for operator in core_operators()}


def _declared(name: str) -> dict[str, str] | None:
    place, _, attribute = BUILT_IN_BACKENDS[name].rpartition(":")
    declared = declared_support(getattr(importlib.import_module(place), attribute)).declared
    if declared is None:
        return None
    return {operator: each.how for operator, each in declared.items()}


def _entry_point(point: EntryPoint) -> AvailableBackend:
    package = point.dist
    return AvailableBackend(
        point.name, True, f"{package.name} {package.version}" if package else point.value, {}
    )


def extra(name: str) -> list[str]:
    """Return the packages in opcert's extra `name`."""
    pattern = re.compile(rf"""([\w.-]+).*;.*extra\s*==\s*["']{re.escape(name)}["']""")
    found = (pattern.match(each) for each in requires("opcert") or [])
    return [match[1] for match in found if match]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        # A build for some device has another name and the same module.
        others = packages_distributions().get(package.replace("-", "_"), [])
        return f"{version(others[0])} ({others[0]})" if others else None
