"""The contract of a backend, and the lookup that finds one."""

import importlib
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from opcert.generator.element_types import Array
from opcert.generator.errors import BackendError, did_you_mean
from opcert.generator.python_files import module_from_file

GROUP = "opcert.backends"
BUILT_IN = {"reference": "opcert.generator.backends.reference:Reference"}


@runtime_checkable
class Backend(Protocol):
    """An implementation under certification.

    It may also have `support`, a mapping of operators to what it supports of each (see
    `opcert.generator.support`), and `close()`.
    """

    name: str
    version: str

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> Sequence[Array]:
        """Compute `operator`; the outputs share no memory with the inputs, which stay as they are.

        Raises:
            NotImplementedError: the operator, a type or the like is not supported.
            Exception: the call breaks a rule of the operator.
        """


def load(name: str, **options: Any) -> Backend:
    """Return the backend that `name` means, made with `options`.

    `name` is a built-in one, an entry point of group opcert.backends, package.module:attribute or
    path/file.py:attribute; the attribute is a class, a factory or an instance.

    Raises:
        BackendError: nothing is found there, it cannot be made, or it is no backend.
    """
    found = _find(name)
    if isinstance(found, type) or (callable(found) and not _is_backend(found)):
        try:
            found = found(**options)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise BackendError(f"backend '{name}' cannot be made: {reason}") from error
    elif options:
        raise BackendError(f"backend '{name}' is an instance and takes no options: {options}")
    return checked(found, name)


def checked(backend: Any, name: str) -> Backend:
    """Return `backend` if it has what the contract asks for.

    Raises:
        BackendError: it lacks a part.
    """
    if not _is_backend(backend):
        parts = ("name", "version", "run")
        missing = ", ".join(part for part in parts if not hasattr(backend, part)) or "run()"
        raise BackendError(
            f"'{name}' is no backend: it lacks {missing}; expected name, version and "
            "run(operator, inputs, attributes)"
        )
    found: Backend = backend
    return found


def _is_backend(candidate: Any) -> bool:
    return isinstance(candidate, Backend) and callable(candidate.run)


def _find(name: str) -> Any:
    place, _, attribute = name.rpartition(":")
    if name in BUILT_IN:
        place, _, attribute = BUILT_IN[name].rpartition(":")
    elif not place:
        return _entry_point(name)
    try:
        if place.endswith(".py"):
            module = module_from_file(Path(place).resolve())
        else:
            module = importlib.import_module(place)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise BackendError(f"backend '{name}': {place} cannot be imported: {reason}") from error
    if not hasattr(module, attribute):
        near = did_you_mean(attribute, [each for each in vars(module) if each[0] != "_"])
        raise BackendError(f"backend '{name}': {place} has no '{attribute}'{near}")
    return getattr(module, attribute)


def _entry_point(name: str) -> Any:
    known = {point.name: point for point in entry_points(group=GROUP)}
    if name not in known:
        near = did_you_mean(name, [*BUILT_IN, *known])
        raise BackendError(
            f"unknown backend '{name}'{near}; a backend of your own is path/file.py:attribute "
            "or package.module:attribute"
        )
    try:
        return known[name].load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise BackendError(f"backend '{name}' cannot be imported: {reason}") from error
