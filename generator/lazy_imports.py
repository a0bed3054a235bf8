"""Lazy imports: a package's names are imported on first use, so that workers start fast."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_attributes(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's `__getattr__` (PEP 562), which imports a name from its module.

    `homes` maps each name to its module, relative to the package.
    """

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return attribute
