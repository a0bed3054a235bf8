"""Spec files: found, read and checked, with the Python objects and the values that they name."""

import importlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from opcert.arrays.calls import group_variadic, plain_copy
from opcert.arrays.element_types import Array, same_bytes
from opcert.errors import Mistake, OpcertError, SpecError, describe_error, did_you_mean
from opcert.roles.role import Role
from opcert.specification.model import Spec
from opcert.specification.role_rules import (
    complete_from_roles,
    derivation_mistakes,
    role_mistakes,
    value_mistakes,
)
from opcert.specification.static_checks import static_mistakes
from opcert.system import import_file
from opcert.yaml_files import YamlPath, YamlSource, model_mistakes

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


def load_role_classes(source: YamlSource) -> dict[str, type[Role]]:
    """Return the custom role classes of a spec, by the name of the role.

    Raises:
        SpecError: one cannot be imported, or is not a role class.
    """
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

    The arrays of a variadic input, which have a key each, reach it as a list. NumPy does not warn:
    what a reference computes of special values is its result.
    """
    with np.errstate(all="ignore"):
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
    if not (isinstance(outputs, list) and all(isinstance(item, np.ndarray) for item in outputs)):
        returned = type(outputs).__name__
        raise OpcertError(f"the reference returns {returned}; expected a list of arrays")
    for name, array in inputs.items():
        if not same_bytes(array, copies[name]):
            raise OpcertError(f"the reference writes to its input '{name}'; expected it unchanged")
    return outputs


def load_references(paths: Iterable[Path]) -> dict[str, Reference]:
    """Return the reference function of each operator; the specs are not checked otherwise.

    Raises:
        SpecError: a spec cannot be read, or a reference cannot be imported.
    """
    return {
        str(source.data["operator"]): load_reference(source, str(source.data["reference"]))
        for source in map(YamlSource, paths)
        if isinstance(source.data, dict) and source.data.keys() >= {"operator", "reference"}
    }


# Other specs may change while the process runs.
@cache
def own_reference(operator: str) -> Reference:
    """Return the reference function of an operator that comes with opcert; it reads this spec only.

    Raises:
        KeyError: the operator does not come with opcert.
    """
    return load_references([_own_spec_files()[operator]])[operator]


def own_spec(operator: str) -> Spec:
    """Return the spec of an operator that comes with opcert."""
    return read_spec(_own_spec_files()[operator]).spec


@dataclass(frozen=True)
class SpecFile:
    """A valid spec, the file that it was read from, and its reference function."""

    path: Path
    source: YamlSource
    spec: Spec
    reference: Reference
    # The arithmetics that verdicts ask for, by element type, where a claim names others.
    claimed: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def name(self) -> str:
        """The path as the suite records it: family and file name, the same on every machine."""
        return f"{self.spec.family}/{self.path.name}"

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file's text, with line ends normalized."""
        text = self.source.content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return sha256(text).hexdigest()

    def mistake(self, path: YamlPath, text: str) -> Mistake:
        """Return a mistake at `path` in the file."""
        return self.source.mistake(path, text)


def read_spec(path: Path) -> SpecFile:
    """Read the spec at `path`.

    Raises:
        SpecError: with every mistake that can be found without a call.
    """
    source = YamlSource(path)
    context = {"roles": load_role_classes(source)}
    try:
        spec = Spec.model_validate_json(json.dumps(source.data), context=context)
    except ValidationError as error:
        raise SpecError(source.mistakes + model_mistakes(source, error, Spec)) from None
    located_texts = [*role_mistakes(spec)]
    if not located_texts:
        spec = complete_from_roles(spec)
        checks = (derivation_mistakes, static_mistakes, value_mistakes)
        located_texts = [located_text for check in checks for located_text in check(spec)]
    mistakes = source.mistakes + [source.mistake(place, text) for place, text in located_texts]
    try:
        reference = load_reference(source, spec.reference)
    except SpecError as error:
        mistakes += error.mistakes
    if mistakes:
        raise SpecError(mistakes)
    return SpecFile(path, source, spec, reference)


def read_specs(paths: Iterable[Path]) -> list[SpecFile]:
    """Read several specs, sorted by operator.

    Raises:
        SpecError: with the mistakes of all of them, and where two describe the same operator.
    """
    by_name: dict[str, SpecFile] = {}
    mistakes: list[Mistake] = []
    for path in paths:
        try:
            spec_file = read_spec(path)
        except SpecError as error:
            mistakes += error.mistakes
            continue
        for key, name in (("operator", spec_file.spec.operator), ("slug", spec_file.spec.slug)):
            first = by_name.setdefault(name, spec_file)
            if first is not spec_file:
                text = f"duplicate {key} '{name}', also in {first.path}; expected one spec for it"
                mistakes.append(spec_file.mistake((key,), text))
    if mistakes:
        raise SpecError(mistakes)
    return [by_name[name] for name in sorted(by_name) if name == by_name[name].spec.operator]


def is_selected(operator: str, globs: str) -> bool:
    """Whether the id of an operator matches one of some globs, which commas separate."""
    return any(fnmatchcase(operator, glob.strip()) for glob in globs.split(","))


def select_operators(
    operators: Iterable[str], globs: str | None, known: list[str] | None = None
) -> list[str]:
    """Return the operators whose ids match one of some globs, which commas separate; None is any.

    Raises:
        OpcertError: a glob matches none. `known` ids are suggested, by default these operators.
    """
    names = [*operators]
    if globs is None:
        return names
    for glob in globs.split(","):
        if not any(is_selected(name, glob) for name in names):
            near = did_you_mean(glob.strip(), known or names)
            raise OpcertError(f"no operator matches '{glob.strip()}'{near}")
    return [name for name in names if is_selected(name, globs)]


def read_specs_in(folder: Path | None, operator: str | None = None) -> list[SpecFile]:
    """Read the specs in `folder` whose operator matches one of the globs `operator`, if given.

    Raises:
        SpecError: one of them has mistakes.
        OpcertError: there are none, or a glob matches none.
    """
    specs = {file.spec.operator: file for file in read_specs(find_spec_files(folder))}
    return [specs[name] for name in select_operators(specs, operator)]
