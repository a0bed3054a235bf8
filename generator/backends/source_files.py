"""The files of a backend's own code, by its name; notices that one changes during a run."""

import shlex
import shutil
import sys
from collections.abc import Sequence
from hashlib import file_digest
from importlib.machinery import PathFinder
from pathlib import Path

from opcert.backends.lookup import BUILT_IN_BACKENDS, DRIVER_PREFIX, registered_backends


class SourceFiles:
    """The files of a backend: that of its class, or those that the command of a driver names.

    `digests` are their SHA-256 at first, and `changed` those that had another one later, both by
    the name of the file, with the folders that distinguish files of equal names. A backend that
    comes with opcert has no files: opcert has a version.
    """

    def __init__(self, backend: str) -> None:
        """Read the files of the backend with this name; a missing file has no digest."""
        self._paths = _shortest_names(_files_of(backend))
        self.digests = self._read()
        self.changed: set[str] = set()

    def check(self) -> None:
        """Compare the files with their digests, and remember those that differ."""
        current = self._read()
        for name, digest in self.digests.items():
            if current.get(name) != digest:
                self.changed.add(name)

    def _read(self) -> dict[str, str]:
        digests = {}
        for name, path in self._paths.items():
            try:
                with path.open("rb") as file:
                    digests[name] = file_digest(file, "sha256").hexdigest()
            except OSError:
                continue
        return digests


def _shortest_names(paths: Sequence[Path]) -> dict[str, Path]:
    """Return files by the shortest ends of their paths that distinguish them."""
    names = {}
    for path in paths:
        length = 1
        while any(o != path and o.parts[-length:] == path.parts[-length:] for o in paths):
            length += 1
        names["/".join(path.parts[-length:])] = path
    return names


def _files_of(backend: str) -> list[Path]:
    """Return the files of a backend. Nothing is imported, since that is left to its process."""
    if backend.startswith(DRIVER_PREFIX):
        try:
            words = shlex.split(backend.removeprefix(DRIVER_PREFIX))
        except ValueError:
            return []
        program = [shutil.which(word) or word for word in words[:1]]
        files = [Path(word).absolute() for word in (*program, *words[1:])]
        return [file for file in files if file.is_file()]
    if backend in BUILT_IN_BACKENDS:
        return []
    if ":" not in backend:
        point = registered_backends().get(backend)
        backend = "" if point is None else point.value
    module, _, _ = backend.rpartition(":")
    return [Path(module).absolute()] if module.endswith(".py") else _files_of_module(module)


def _files_of_module(module: str) -> list[Path]:
    folders = [*sys.path, str(Path.cwd())]
    spec = None
    for name in filter(None, module.split(".")):
        spec = PathFinder.find_spec(name, folders)
        if spec is None:
            break
        folders = list(spec.submodule_search_locations or ())
    return [Path(spec.origin)] if spec is not None and spec.origin else []
