"""Spec files -> the reference function that each names, the rest of it unread."""

import importlib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from opcert.generator.arrays.element_types import Array
from opcert.generator.errors import OpcertError, SpecError, said
from opcert.generator.python_files import module_from_file
from opcert.generator.specification.yaml_source import Source

Reference = Callable[..., list[Array]]


def spec_paths(folder: Path | None) -> list[Path]:
    """Return the spec files below `folder`, by default those that come with opcert.

    Raises:
        OpcertError: there are none.
    """
    if folder is None:
        folder = Path(str(files("opcert.specs")))
    paths = sorted(folder.rglob("*.yaml")) if folder.is_dir() else []
    if not paths:
        raise OpcertError(f"no spec in {folder}; expected a folder with *.yaml files")
    return paths


def reference_of(source: Source, named: str) -> Reference:
    """Return the reference function that a spec names, as `module:function`.

    Raises:
        SpecError: there is none.
    """
    place, _, attribute = named.partition(":")
    try:
        if place.endswith(".py"):
            module = module_from_file((Path(source.file).parent / place).resolve())
        else:
            module = importlib.import_module(place)
    except (Exception, SystemExit) as error:  # a module may raise anything
        reason = error.strerror if isinstance(error, OSError) else said(error)
        text = f"the module of the reference '{named}' cannot be imported: {reason}"
        raise SpecError([source.mistake(("reference",), text)]) from None
    function: Reference | None = getattr(module, attribute, None)
    if not callable(function):
        text = f"no function '{attribute}' in {place}, which the reference names"
        raise SpecError([source.mistake(("reference",), text)])
    return function


def references_in(folder: Path | None) -> dict[str, Reference]:
    """Return each operator's reference function, reading no more of the specs than its name.

    Raises:
        OpcertError: there is no spec, or no function where one says.
    """
    sources = [Source(path) for path in spec_paths(folder)]
    return {
        str(source.data["operator"]): reference_of(source, str(source.data["reference"]))
        for source in sources
        if isinstance(source.data, dict) and source.data.keys() >= {"operator", "reference"}
    }
