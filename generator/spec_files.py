"""Spec files -> specs: found, read, validated, every mistake told with its place."""

import importlib
import importlib.util
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from opcert.generator.element_types import Array
from opcert.generator.errors import Mistake, OpcertError, SpecError, did_you_mean
from opcert.generator.spec import Part, Spec
from opcert.generator.spec_names import name_mistakes
from opcert.generator.yaml_source import Path_, Source

Reference = Callable[..., list[Array]]


@dataclass(frozen=True)
class SpecFile:
    """A valid spec with the file that it was read from."""

    path: Path
    source: Source
    spec: Spec

    @cached_property
    def name(self) -> str:
        """The path as the suite records it: family and file name, the same on every machine."""
        return f"{self.spec.family}/{self.path.name}"

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file's text, line ends apart."""
        text = self.path.read_text(encoding="utf-8")
        return sha256(text.encode()).hexdigest()

    @cached_property
    def reference(self) -> Reference:
        """The NumPy function that says what the operator means.

        Raises:
            SpecError: it is not where the spec says.
        """
        place, _, attribute = self.spec.reference.partition(":")
        try:
            function: Reference = getattr(_module(place, self.path.parent), attribute)
        except (ImportError, OSError, AttributeError, SyntaxError) as error:
            text = f"no reference function '{self.spec.reference}': {error}"
            raise SpecError([self.mistake(("reference",), text)]) from None
        return function

    def mistake(self, path: Path_, text: str) -> Mistake:
        """Return a mistake at `path` in the file."""
        return self.source.mistake(path, text)


def _module(place: str, folder: Path) -> Any:
    if not place.endswith(".py"):
        return importlib.import_module(place)
    return module_from_file(folder / place)


@cache
def module_from_file(path: Path) -> Any:
    """Import the Python file at `path`, once.

    Raises:
        OSError, SyntaxError, ImportError: it cannot be read or imported.
    """
    name = f"opcert_file_{path.stem}_{sha256(str(path).encode()).hexdigest()[:8]}"
    module_spec = importlib.util.spec_from_file_location(name, path)
    if module_spec is None or module_spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    return module


def read_spec(path: Path) -> SpecFile:
    """Read the spec at `path`.

    Raises:
        SpecError: with every mistake that shows without drawing a case.
    """
    source = Source(path)
    try:
        spec = Spec.model_validate_json(json.dumps(source.data))
    except ValidationError as error:
        raise SpecError(source.mistakes + _model_mistakes(source, error)) from None
    mistakes = [source.mistake(where, text) for where, text in name_mistakes(spec)]
    if source.mistakes or mistakes:
        raise SpecError(source.mistakes + mistakes)
    return SpecFile(path, source, spec)


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


def specs_in(folder: Path | None, operator: str = "*") -> list[SpecFile]:
    """Read the specs in `folder` whose operator matches the glob `operator`.

    Raises:
        SpecError: one of them has mistakes.
        OpcertError: none is there, or none matches.
    """
    specs = read_specs(spec_paths(folder))
    chosen = [each for each in specs if fnmatchcase(each.spec.operator, operator)]
    if not chosen:
        known = [each.spec.operator for each in specs]
        raise OpcertError(f"no operator matches '{operator}'{did_you_mean(operator, known)}")
    return chosen


def _model_mistakes(source: Source, error: ValidationError) -> list[Mistake]:
    """Say each error of the model once: branches of a union that all failed count as one."""
    by_place: dict[Path_, list[str]] = {}
    for each in error.errors(include_url=False):
        missing = each["type"] == "missing"
        place = each["loc"] if missing else source.known_part(each["loc"])
        by_place.setdefault(place, []).append(_model_text(each))
    return [
        source.mistake(place, " or ".join(dict.fromkeys(texts)))
        for place, texts in by_place.items()
    ]


def _model_text(error: Any) -> str:
    loc, kind = error["loc"], error["type"]
    if kind == "missing":
        return f"missing key '{loc[-1]}'"
    if kind == "extra_forbidden":
        return f"unknown key '{loc[-1]}'{did_you_mean(loc[-1], _keys_at(loc[:-1]))}"
    expected = error["msg"].removeprefix("Input should be ")
    return f"found {json.dumps(error['input'])[:60]}; expected {expected}"


def _keys_at(loc: tuple[int | str, ...]) -> list[str]:
    model: type[Part] = Spec
    for step in loc:
        field = model.model_fields.get(str(step))
        if field is not None:
            model = next(_parts_in(field.annotation), model)
    return list(model.model_fields)


def _parts_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, Part):
        yield annotation
    for argument in get_args(annotation):
        yield from _parts_in(argument)
