"""The Python objects that specs name: reference functions and role classes."""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from opcert.arrays.calls import plain_copy
from opcert.arrays.element_bytes import same_bytes
from opcert.arrays.element_types import Array
from opcert.arrays.variadic import group_variadic
from opcert.errors import OpcertError, SpecError, describe_error
from opcert.python_files import import_file
from opcert.yaml_files.source import YamlPath, YamlSource

if TYPE_CHECKING:
    from opcert.roles.role import Role

Reference = Callable[..., list[Array]]


def find_spec_files(folder: Path | None) -> list[Path]:
    """Return the spec files in `folder` and below it, by default those shipped with opcert.

    Raises:
        OpcertError: there are none.
    """
    if folder is None:
        folder = Path(str(files("opcert.specs")))
    paths = sorted(folder.rglob("*.yaml")) if folder.is_dir() else []
    if not paths:
        raise OpcertError(f"no spec in {folder}; expected a folder with *.yaml files")
    return paths


def shipped_operators() -> list[str]:
    """Return the ids of the operators whose specs come with opcert, by the paths of the specs."""
    return [*_own_spec_files()]


@cache
def _own_spec_files() -> Mapping[str, Path]:
    return {f"{path.parent.name}/{path.stem}": path for path in find_spec_files(None)}


def load_reference(source: YamlSource, name: str) -> Reference:
    """Return the reference function that a spec names as `module:function`.

    Raises:
        SpecError: it cannot be imported, or is not a function.
    """
    function: Reference = _load_object(source, ("reference",), name, "reference")
    if not callable(function):
        text = f"'{name}' is not a function; expected a reference such as module:function"
        raise SpecError([source.mistake(("reference",), text)])
    return function


def load_role_classes(source: YamlSource) -> "dict[str, type[Role]]":
    """Return the custom role classes of a spec, by the name of the role.

    Raises:
        SpecError: one cannot be imported, or is not a role class.
    """
    # To call a reference takes no roles.
    from opcert.roles.role import Role  # noqa: PLC0415

    names = source.data.get("roles") if isinstance(source.data, dict) else None
    classes: dict[str, type[Role]] = {}
    for role, name in names.items() if isinstance(names, dict) else ():
        path: YamlPath = ("roles", role)
        role_class = _load_object(source, path, str(name), "role")
        if not (isinstance(role_class, type) and issubclass(role_class, Role)):
            text = f"'{name}' is not a subclass of opcert.roles.Role"
            raise SpecError([source.mistake(path, text)])
        classes[role] = role_class
    return classes


def _load_object(source: YamlSource, path: YamlPath, name: str, kind: str) -> Any:
    """Return the object that a spec names at `path` as `module:name`, or `file.py:name` next to it.

    Raises:
        SpecError: it cannot be imported.
    """
    module_name, _, attribute = name.partition(":")
    try:
        if module_name.endswith(".py"):
            module = import_file((Path(source.file).parent / module_name).resolve())
        else:
            module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # a module may raise anything
        reason = error.strerror if isinstance(error, OSError) else describe_error(error)
        text = f"the module of the {kind} '{name}' cannot be imported: {reason}"
        raise SpecError([source.mistake(path, text)]) from None
    if not hasattr(module, attribute):
        expected = "class" if kind == "role" else "function"
        text = f"the {kind} '{name}' does not exist: {module_name} has no {expected} '{attribute}'"
        raise SpecError([source.mistake(path, text)])
    return getattr(module, attribute)


class RejectedError(OpcertError):
    """The rejection of a call by a reference: the `rule` that it names, if any, and the error."""

    def __init__(self, error: BaseException) -> None:
        self.rule = getattr(error, "rule", None)
        self.raised = describe_error(error)
        super().__init__(f"the reference rejects a valid call: {self.raised}")


def call_reference(
    reference: Reference, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
) -> list[Array]:
    """Return what a reference returns, which gets a copy of the attributes.

    The arrays of a variadic input, which have a key each, reach it as a list.
    """
    return reference(**group_variadic(inputs), **plain_copy(dict(attributes)))


def golden_outputs(
    reference: Reference, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
) -> list[Array]:
    """Return the outputs of a reference for copies of a call's arguments.

    Raises:
        RejectedError: it raises an exception, as it must where the call violates a rule.
        OpcertError: it returns anything but a list of arrays, or writes to an input.
    """
    copies = {name: array.copy() for name, array in inputs.items()}
    try:
        outputs = call_reference(reference, copies, attributes)
    except (Exception, SystemExit) as error:
        raise RejectedError(error) from None
    is_list = isinstance(outputs, list)
    if not is_list or not all(isinstance(output, np.ndarray) for output in outputs):
        returned = type(outputs).__name__
        raise OpcertError(f"the reference returns {returned}; expected a list of arrays")
    for name, array in inputs.items():
        if not same_bytes(array, copies[name]):
            raise OpcertError(f"the reference writes to its input '{name}'; expected it unchanged")
    return outputs


def load_references(folder: Path | None) -> Mapping[str, Reference]:
    """Return the reference function of each operator; the specs are not checked otherwise.

    Raises:
        OpcertError: there is no spec, or a reference cannot be imported.
    """
    if folder is None:
        return _OwnReferences()
    return _references_in(find_spec_files(folder))


def _references_in(spec_files: Iterable[Path]) -> Mapping[str, Reference]:
    return {
        str(source.data["operator"]): load_reference(source, str(source.data["reference"]))
        for source in map(YamlSource, spec_files)
        if isinstance(source.data, dict) and source.data.keys() >= {"operator", "reference"}
    }


class _OwnReferences(Mapping[str, Reference]):
    """The references of opcert's own specs; each spec is read when its reference is first used."""

    def __getitem__(self, operator: str) -> Reference:
        return _own_reference(operator)

    def __iter__(self) -> Iterator[str]:
        return iter(_own_spec_files())

    def __len__(self) -> int:
        return len(_own_spec_files())


# Other specs may change while the process runs.
@cache
def _own_reference(operator: str) -> Reference:
    return _references_in([_own_spec_files()[operator]])[operator]
