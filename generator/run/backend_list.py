"""Lists the backends that `load` knows by name: built-in ones and entry points."""

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version

from opcert.backends.contract import DECLARED_SUPPORT
from opcert.backends.lookup import BUILT_IN_BACKENDS, registered_backends
from opcert.specification.files import shipped_operators
from opcert.suite.support import declared_support


@dataclass(frozen=True)
class AvailableBackend:
    """A backend with the versions of its packages, or the command that installs them.

    `how` is native, composed or unsupported, by operator. It is empty if the backend declares no
    support, so that every operator counts as supported.
    """

    name: str
    installed: bool
    packages: str
    how: Mapping[str, str]


def available_backends() -> Iterator[AvailableBackend]:
    """Yield every backend that `load` knows by name."""
    for name in BUILT_IN_BACKENDS:
        yield _built_in(name)
    for point in registered_backends().values():
        package = point.dist
        text = f"{package.name} {package.version}" if package else point.value
        yield AvailableBackend(point.name, True, text, {})


def _built_in(name: str) -> AvailableBackend:
    packages = packages_of_extra(name) or ["opcert"]
    versions = {package: _version_of(package) for package in packages}
    if None in versions.values():
        return AvailableBackend(name, False, f"pip install 'opcert[{name}]'", _how(name))
    text = ", ".join(f"{package} {number}" for package, number in versions.items())
    return AvailableBackend(name, True, text, _how(name))


def _how(name: str) -> dict[str, str]:
    """Return the first word of the declared `how` of each operator."""
    declared = DECLARED_SUPPORT.get(name)
    if declared is None:
        module, _, attribute = BUILT_IN_BACKENDS[name].rpartition(":")
        support = declared_support(getattr(importlib.import_module(module), attribute)).declared
        if support is None:
            return {}
        declared = {operator: entry.how for operator, entry in support.items()}
    return {
        operator: declared.get(operator, "unsupported").partition(":")[0]
        for operator in shipped_operators()
    }


def packages_of_extra(name: str) -> list[str]:
    """Return the packages in opcert's extra `name`."""
    pattern = re.compile(rf"""([\w.-]+).*;.*extra\s*==\s*["']{re.escape(name)}["']""")
    matches = (pattern.match(requirement) for requirement in requires("opcert") or [])
    return [match[1] for match in matches if match]


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        # A build for another device has another name and the same module.
        builds = packages_distributions().get(package.replace("-", "_"), [])
        return f"{version(builds[0])} ({builds[0]})" if builds else None
