"""Spec files -> the reference function that each names, and what one makes of a call."""

import importlib
from collections.abc import Callable, Mapping
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from opcert.arrays import Array
from opcert.errors import OpcertError, SpecError, describe_error
from opcert.python_files import import_file
from opcert.roles import Role
from opcert.yaml_files import YamlPath, YamlSource

Reference = Callable[..., list[Array]]


def find_spec_files(folder: Path | None) -> list[Path]:
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


def load_reference(source: YamlSource, named: str) -> Reference:
    """Return the reference function that a spec names, as `module:function`.

    Raises:
        SpecError: there is none.
    """
    function: Reference = named_object(source, ("reference",), named, "reference")
    if not callable(function):
        text = f"'{named}' is no function; expected a reference such as module:function"
        raise SpecError([source.mistake(("reference",), text)])
    return function


def load_role_classes(source: YamlSource) -> dict[str, type[Role]]:
    """Return the role classes that a spec brings, by the name of the role.

    Raises:
        SpecError: one of them is not there, or is no role.
    """
    named = source.data.get("roles") if isinstance(source.data, dict) else None
    classes: dict[str, type[Role]] = {}
    for name, place in named.items() if isinstance(named, dict) else ():
        path: YamlPath = ("roles", name)
        role = named_object(source, path, str(place), "role")
        if not (isinstance(role, type) and issubclass(role, Role)):
            text = f"'{place}' is no subclass of {Role.__module__}.{Role.__name__}"
            raise SpecError([source.mistake(path, text)])
        classes[name] = role
    return classes


def named_object(source: YamlSource, path: YamlPath, named: str, what: str) -> Any:
    """Return what a spec names at `path` as `module:name`, or `file.py:name` beside it.

    Raises:
        SpecError: it is not there.
    """
    place, _, attribute = named.partition(":")
    try:
        if place.endswith(".py"):
            module = import_file((Path(source.file).parent / place).resolve())
        else:
            module = importlib.import_module(place)
    except (Exception, SystemExit) as error:  # a module may raise anything
        reason = error.strerror if isinstance(error, OSError) else describe_error(error)
        text = f"the module of the {what} '{named}' cannot be imported: {reason}"
        raise SpecError([source.mistake(path, text)]) from None
    if not hasattr(module, attribute):
        text = f"no function '{attribute}' in {place}, which the reference names"
        if what == "role":
            text = f"no class '{attribute}' in {place}, which the spec names"
        raise SpecError([source.mistake(path, text)])
    return getattr(module, attribute)


class RejectedError(OpcertError):
    """A call that a reference rejects: the `rule` that it names, if any, and what it raised."""

    def __init__(self, error: BaseException) -> None:
        self.rule = getattr(error, "rule", None)
        self.raised = describe_error(error)
        super().__init__(f"the reference rejects a valid call: {self.raised}")


def golden_outputs(
    reference: Reference, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
) -> list[Array]:
    """Return what a reference makes of copies of a call's arguments.

    Raises:
        RejectedError: it raises something, as it has to where the call breaks a rule.
        OpcertError: it returns no list of arrays, or writes to an input.
    """
    given = {name: array.copy() for name, array in inputs.items()}
    try:
        outputs = reference(**given, **deepcopy(dict(attributes)))
    except (Exception, SystemExit) as error:
        raise RejectedError(error) from None
    if not isinstance(outputs, list) or not all(isinstance(each, np.ndarray) for each in outputs):
        found = type(outputs).__name__
        raise OpcertError(f"the reference returns {found}; expected a list of arrays")
    for name, array in inputs.items():
        if array.tobytes() != given[name].tobytes():
            raise OpcertError(f"the reference writes to its input '{name}'; expected it unchanged")
    return outputs


def load_references(folder: Path | None) -> dict[str, Reference]:
    """Return each operator's reference function, reading no more of the specs than its name.

    Raises:
        OpcertError: there is no spec, or no function where one says.
    """
    sources = [YamlSource(path) for path in find_spec_files(folder)]
    return {
        str(source.data["operator"]): load_reference(source, str(source.data["reference"]))
        for source in sources
        if isinstance(source.data, dict) and source.data.keys() >= {"operator", "reference"}
    }
