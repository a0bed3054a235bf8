"""Spec files -> specs: found, read, validated, every mistake told with its place."""

import importlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from opcert.generator.element_types import Array
from opcert.generator.errors import Mistake, OpcertError, SpecError, did_you_mean, said
from opcert.generator.python_files import module_from_file
from opcert.generator.spec import Part, Spec
from opcert.generator.spec_examples import example_mistakes
from opcert.generator.spec_names import name_mistakes
from opcert.generator.yaml_source import KEY, Source, SpecPath

Reference = Callable[..., list[Array]]


@dataclass(frozen=True)
class SpecFile:
    """A valid spec with the file that it was read from, and the function that gives it meaning."""

    path: Path
    source: Source
    spec: Spec
    reference: Reference

    @cached_property
    def name(self) -> str:
        """The path as the suite records it: family and file name, the same on every machine."""
        return f"{self.spec.family}/{self.path.name}"

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file's text, line ends apart."""
        text = self.path.read_text(encoding="utf-8")
        return sha256(text.encode()).hexdigest()

    def mistake(self, path: SpecPath, text: str) -> Mistake:
        """Return a mistake at `path` in the file."""
        return self.source.mistake(path, text)


def _function(source: Source, named: str) -> Reference:
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
        str(source.data["operator"]): _function(source, str(source.data["reference"]))
        for source in sources
        if isinstance(source.data, dict) and source.data.keys() >= {"operator", "reference"}
    }


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
    found = [*name_mistakes(spec), *example_mistakes(spec)]
    mistakes = [source.mistake(where, text) for where, text in found]
    try:
        reference = _function(source, spec.reference)
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
    by_place: dict[SpecPath, list[Any]] = {}
    for each in error.errors(include_url=False):
        by_place.setdefault(_place(source, each), []).append(each)
    within = {place[:length] for place in by_place for length in range(len(place))}
    unknown = [place[:-1] for place in by_place if place[-1:] == (KEY,)]
    # Where a part has a mistake of its own, the whole is not of the wrong type.
    return [
        source.mistake(place, _model_text(errors))
        for place, errors in by_place.items()
        if place not in within and not _is_misspelt(place, errors[0]["type"], unknown)
    ]


def _is_misspelt(place: SpecPath, kind: str, unknown: list[SpecPath]) -> bool:
    """Whether a key is missing only because an unknown one stands in its place."""
    beside = [str(each[-1]) for each in unknown if each[:-1] == place[:-1]]
    return kind == "missing" and bool(get_close_matches(str(place[-1]), beside))


def _place(source: Source, error: Any) -> SpecPath:
    loc = error["loc"]
    if error["type"] == "missing":
        return (*source.known_part(loc[:-1]), loc[-1])
    return source.known_part((*loc, KEY) if error["type"] == "extra_forbidden" else loc)


_EXPECTED = {
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a mapping"),
    **dict.fromkeys(("tuple_type", "list_type"), "a list"),
    "string_type": "text",
    "int_type": "an integer",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_pattern_mismatch": "text of the form {pattern}",
    "greater_than_equal": "{ge} or more",
    "too_short": "at least {min_length} of them",
    "too_long": "at most {max_length} of them",
}


def _model_text(errors: list[Any]) -> str:
    first = errors[0]
    loc, kind = first["loc"], first["type"]
    if kind == "missing":
        is_key = isinstance(loc[-1], str)
        return f"missing key '{loc[-1]}'" if is_key else f"missing item {loc[-1] + 1}"
    if kind == "extra_forbidden":
        return f"unknown key '{loc[-1]}'{did_you_mean(loc[-1], _keys_at(loc[:-1]))}"
    expected = " or ".join(dict.fromkeys(map(_expected, errors)))
    return f"found {json.dumps(first['input'])[:60]}; expected {expected}"


def _expected(error: Any) -> str:
    known = _EXPECTED.get(error["type"])
    if known is None:
        return str(error["msg"]).removeprefix("Input should be ")
    return known.format(**error.get("ctx", {}))


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
