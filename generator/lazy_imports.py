"""Lazy imports: a package's names are imported on first use, so that workers start fast."""

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any


def lazy_attributes(package: str, modules: Mapping[str, Collection[str]]) -> Callable[[str], Any]:
    """Return a package's `__getattr__` (PEP 562), which imports a name from its module.

    `modules` maps each module, relative to the package, to the names that are imported from it.
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return attribute
