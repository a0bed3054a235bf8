"""Spec files -> specs: found, read, validated, every mistake told with its place."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from opcert.errors import Mistake, OpcertError, SpecError, did_you_mean
from opcert.specification.examples import example_mistakes
from opcert.specification.model import Spec
from opcert.specification.names import name_mistakes
from opcert.specification.references import (
    Reference,
    find_spec_files,
    load_reference,
    load_role_classes,
)
from opcert.specification.role_rules import (
    complete_from_roles,
    role_mistakes,
    rule_mistakes,
)
from opcert.yaml_files import YamlPath, YamlSource, model_mistakes


@dataclass(frozen=True)
class SpecFile:
    """A valid spec with the file that it was read from, and the function that gives it meaning."""

    path: Path
    source: YamlSource
    spec: Spec
    reference: Reference

    @cached_property
    def name(self) -> str:
        """The path as the suite records it: family and file name, the same on every machine."""
        return f"{self.spec.family}/{self.path.name}"

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file's text, line ends apart."""
        text = self.source.content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return sha256(text).hexdigest()

    def mistake(self, path: YamlPath, text: str) -> Mistake:
        """Return a mistake at `path` in the file."""
        return self.source.mistake(path, text)


def read_spec(path: Path) -> SpecFile:
    """Read the spec at `path`.

    Raises:
        SpecError: with every mistake that shows without drawing a case.
    """
    source = YamlSource(path)
    brought = {"roles": load_role_classes(source)}
    try:
        spec = Spec.model_validate_json(json.dumps(source.data), context=brought)
    except ValidationError as error:
        raise SpecError(source.mistakes + model_mistakes(source, error, Spec)) from None
    found = [*role_mistakes(spec)]
    if not found:
        spec = complete_from_roles(spec)
        found = [*rule_mistakes(spec), *name_mistakes(spec), *example_mistakes(spec)]
    mistakes = [source.mistake(where, text) for where, text in found]
    try:
        reference = load_reference(source, spec.reference)
    except SpecError as error:
        mistakes += error.mistakes
    if source.mistakes or mistakes:
        raise SpecError(source.mistakes + mistakes)
    return SpecFile(path, source, spec, reference)


def read_specs(paths: Iterable[Path]) -> list[SpecFile]:
    """Read several specs, in the order of their operators.

    Raises:
        SpecError: with the mistakes of all of them, also where two describe one operator.
    """
    read: dict[str, SpecFile] = {}
    mistakes: list[Mistake] = []
    for path in paths:
        try:
            spec_file = read_spec(path)
        except SpecError as error:
            mistakes += error.mistakes
            continue
        for key, value in (("operator", spec_file.spec.operator), ("slug", spec_file.spec.slug)):
            other = read.setdefault(value, spec_file)
            if other is not spec_file:
                text = f"{key} '{value}' is also that of {other.path}; expected one spec for each"
                mistakes.append(spec_file.mistake((key,), text))
    if mistakes:
        raise SpecError(mistakes)
    return [read[name] for name in sorted(read) if name == read[name].spec.operator]


def read_specs_in(folder: Path | None, operator: str = "*") -> list[SpecFile]:
    """Read the specs in `folder` whose operator matches the glob `operator`.

    Raises:
        SpecError: one of them has mistakes.
        OpcertError: none is there, or none matches.
    """
    specs = read_specs(find_spec_files(folder))
    chosen = [each for each in specs if fnmatchcase(each.spec.operator, operator)]
    if not chosen:
        known = [each.spec.operator for each in specs]
        raise OpcertError(f"no operator matches '{operator}'{did_you_mean(operator, known)}")
    return chosen
