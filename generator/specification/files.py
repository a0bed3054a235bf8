"""Spec files: found, read, and checked without making a call."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from opcert.errors import Mistake, OpcertError, SpecError, did_you_mean
from opcert.specification.factor_table_checks import factor_table_mistakes
from opcert.specification.model import Spec
from opcert.specification.references import (
    Reference,
    find_spec_files,
    load_reference,
    load_role_classes,
)
from opcert.specification.role_rules import (
    complete_from_roles,
    derivation_mistakes,
    role_mistakes,
)
from opcert.specification.static_checks import static_mistakes
from opcert.yaml_files.source import YamlPath, YamlSource
from opcert.yaml_files.validation import model_mistakes


@dataclass(frozen=True)
class SpecFile:
    """A valid spec, the file that it was read from, and its reference function."""

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
        checks = (derivation_mistakes, static_mistakes, factor_table_mistakes)
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


def read_specs_in(folder: Path | None, operator: str = "*") -> list[SpecFile]:
    """Read the specs in `folder` whose operator matches the glob `operator`.

    Raises:
        SpecError: one of them has mistakes.
        OpcertError: there are none, or none matches.
    """
    specs = read_specs(find_spec_files(folder))
    matching = [file for file in specs if fnmatchcase(file.spec.operator, operator)]
    if not matching:
        known = [file.spec.operator for file in specs]
        raise OpcertError(f"no operator matches '{operator}'{did_you_mean(operator, known)}")
    return matching
