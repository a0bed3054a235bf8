"""YAML with the line and column of every part, validated by pydantic models."""

import json
import re
from collections.abc import Hashable, Iterator
from difflib import get_close_matches
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, get_args

import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError

from opcert.errors import Mistake, SpecError, did_you_mean, listed
from opcert.system import read_limited

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"
YamlPath: TypeAlias = tuple[Hashable, ...]

# The core schema of YAML 1.2: no `no` as false, no `1_0` as ten, no `1:30` as ninety.
_CONSTANTS = {
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$")
_FLOAT = re.compile(r"([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)$")
_SPECIAL_FLOAT = re.compile(r"([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$")
# The most bytes that are read; the largest spec has a fortieth of it.
_MAX_BYTES = 1 << 20
# A longer number stays text: Python does not convert thousands of digits.
_MAX_DIGITS = 99
_QUOTED = ("'", '"', "|", ">")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Readers recurse; no spec is nested nearly as deep.
_MAX_DEPTH = 50
# Hints for the most frequent syntax errors.
_HINTS = {
    "mapping values are not allowed": "quote a text that contains ': '",
    "expected ',' or '}'": "quote a text that contains ': ', a bracket or a quotation mark",
}

# The last step of a path to a key instead of its value, as in the locations of pydantic.
KEY_STEP = "[key]"


class YamlSource:
    """One YAML file as plain data, with a position for each path into it."""

    def __init__(self, path: Path) -> None:
        """Read `path`.

        Raises:
            SpecError: it cannot be read, is not YAML, or has aliases or tags. Mistakes after which
                reading continues, such as duplicate keys, are added to `mistakes`.
        """
        self.file = str(path)
        self.mistakes: list[Mistake] = []
        # Paths whose mistake is already recorded: an error of the model there adds nothing.
        self.reported: set[YamlPath] = set()
        self._positions: dict[YamlPath, tuple[int, int]] = {(): (1, 1)}
        text = self._text(path)
        try:
            self._note_extras(text)
            if self.mistakes:
                raise SpecError(self.mistakes)
            root = yaml.compose(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            reason = ", ".join(filter(None, (error.context, error.problem)))
            hints = [f"; {hint}" for problem, hint in _HINTS.items() if problem in reason]
            raise self._error(_place_of(mark), f"not YAML: {reason}{''.join(hints)}") from None
        except yaml.YAMLError as error:
            raise self._error((1, 1), f"not YAML: {error}") from None
        self.data = self._plain(root, ()) if root is not None else None

    def known_steps(self, path: YamlPath) -> YamlPath:
        """Return `path` without the steps that the file does not have."""
        known: YamlPath = ()
        for step in path:
            known = (*known, step) if (*known, step) in self._positions else known
        return known

    def mistake(self, path: YamlPath, text: str) -> Mistake:
        """Return a mistake with a text of one line, at the deepest part of `path` in the file.

        The position of a mapping's entry is that of its scalar, or else of its key;
        `(*path, KEY_STEP)` is always the key.
        """
        return Mistake(self.file, *self._positions[self.known_steps(path)], " ".join(text.split()))

    def _error(self, position: tuple[int, int], text: str) -> SpecError:
        return SpecError([Mistake(self.file, *position, " ".join(text.split()))])

    def _text(self, path: Path) -> str:
        try:
            # Read only once: a pipe of a process substitution cannot be read again.
            self.content = read_limited(path, _MAX_BYTES, pipes=True)
            self.sha256 = sha256(self.content).hexdigest()
            return self.content.decode()
        except OSError as error:
            raise self._error((1, 1), f"cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode()
            position = before.count("\n") + 1, len(before) - before.rfind("\n")
            byte = f"0x{error.object[error.start]:02x}"
            raise self._error(position, f"not UTF-8: found the byte {byte}") from None

    def _note_extras(self, text: str) -> None:
        """Note the aliases and tags of the file; raise SpecError where it is nested too deeply."""
        depth = 0
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            position = _place_of(event.start_mark)
            if depth > _MAX_DEPTH:
                raise self._error(position, f"nested more than {_MAX_DEPTH} levels deep")
            if isinstance(event, yaml.AliasEvent):
                self._note(position, "an alias; write the value out instead")
            elif tag := getattr(event, "tag", None):
                self._note(position, f"the tag {tag}; expected a value without a tag")

    def _plain(self, node: yaml.Node, path: YamlPath) -> Plain:
        # An entry of a mapping already has a position: that of its key.
        self._positions.setdefault(path, _place_of(node.start_mark))
        if isinstance(node, yaml.ScalarNode):
            if node.value:
                self._positions[path] = _place_of(node.start_mark)
            return _scalar(node)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        return [self._plain(child, (*path, i)) for i, child in enumerate(node.value)]

    def _mapping(self, node: yaml.MappingNode, path: YamlPath) -> dict[str, Plain]:
        plain: dict[str, Plain] = {}
        previous_key, previous_is_missing = "", False
        for key_node, value in node.value:
            position = _place_of(key_node.start_mark)
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else ""
            if not key:
                self._note(position, "a key that is not plain text; expected a name")
                continue
            if key in plain:
                first = self._positions[(*path, key, KEY_STEP)][0]
                text = f"duplicate key '{key}', first on line {first}; keep one of them"
                self._note(position, text)
                continue
            self._positions[(*path, key)] = self._positions[(*path, key, KEY_STEP)] = position
            plain[key] = self._plain(value, (*path, key))
            # An unquoted `{text: a, b, c}` is a text `a` and two keys: one mistake.
            is_missing = node.flow_style and _is_missing(value)
            if is_missing:
                self.reported.add((*path, key))
                if not previous_is_missing:
                    advice = f"if it belongs to '{previous_key}', quote that text: a comma ends it"
                    advice = advice if previous_key else "expected one"
                    self._note(position, f"key '{key}' has no value; {advice}")
            previous_key, previous_is_missing = key, is_missing
        return plain

    def _note(self, position: tuple[int, int], text: str) -> None:
        self.mistakes += self._error(position, text).mistakes


def _is_missing(value: yaml.Node) -> bool:
    return isinstance(value, yaml.ScalarNode) and not value.value and value.style not in _QUOTED


def _place_of(mark: Any) -> tuple[int, int]:
    """Return line and column, counted from 1."""
    return (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)


def _scalar(node: yaml.ScalarNode) -> Plain:
    """Return the value of a scalar by the core schema of YAML 1.2."""
    text: str = node.value
    if node.style in _QUOTED or len(text) > _MAX_DIGITS:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.match(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _SPECIAL_FLOAT.match(text):
        return float(text.replace(".", ""))
    return float(text) if _FLOAT.match(text) else text


def read_source(file: str | Path | YamlSource) -> YamlSource:
    """Return `file`, read unless it has been.

    Raises:
        SpecError: it cannot be read, or is not YAML.
    """
    return file if isinstance(file, YamlSource) else YamlSource(Path(file))


Content = TypeVar("Content")

# As many mistakes as anybody reads at once; to compare them with each other takes time. A message
# quotes so many characters of the file.
_MAX_ERRORS, _MAX_FOUND = 200, 60
# The type of a PydanticCustomError whose text is the whole message.
VERBATIM = "verbatim"


def validated_content(
    source: YamlSource, form: TypeAdapter[Content], model: type[BaseModel]
) -> Content:
    """Return the content of `source`, validated as `form`, in which `model` is the outermost model.

    Raises:
        SpecError: the file has mistakes; lists all of them.
    """
    try:
        content = form.validate_json(json.dumps(source.data))
    except ValidationError as error:
        mistakes = model_mistakes(source, error, model)
        raise SpecError(source.mistakes + mistakes) from None
    if source.mistakes:
        raise SpecError(source.mistakes)
    return content


def model_mistakes(
    source: YamlSource, error: ValidationError, model: type[BaseModel]
) -> list[Mistake]:
    """Return one mistake for each cause among the errors of `model`.

    The branches of a union that all failed are one cause; so are a missing key and an unknown one
    that resembles it, and a part of the wrong type and the mistakes within it.
    """
    by_place: dict[YamlPath, list[Any]] = {}
    for details in islice(error.errors(include_url=False), _MAX_ERRORS):
        by_place.setdefault(_place(source, details), []).append(details)
    outer_places = {place[:length] for place in by_place for length in range(len(place))}
    unknown_keys = [place[:-1] for place in by_place if place[-1:] == (KEY_STEP,)]
    mistakes = []
    for place, errors in by_place.items():
        unknown_names = [str(path[-1]) for path in unknown_keys if path[:-1] == place[:-1]]
        is_missing = errors[0]["type"] == "missing"
        is_misspelt = is_missing and bool(get_close_matches(str(place[-1]), unknown_names))
        is_reported = tuple(step for step in place if step != KEY_STEP) in source.reported
        if place not in outer_places and not is_misspelt and not is_reported:
            mistakes.append(source.mistake(place, _error_text(errors, model)))
    return mistakes


def _place(source: YamlSource, error: Any) -> YamlPath:
    """Return the path to an error, without the steps by which pydantic names branches of unions."""
    loc = error["loc"]
    if error["type"] == "missing":
        return (*source.known_steps(loc[:-1]), loc[-1])
    return source.known_steps((*loc, KEY_STEP) if error["type"] == "extra_forbidden" else loc)


def describe_first_error(error: ValidationError) -> str:
    """Return the text of the first error of a model, with its place in the JSON."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "json_invalid":
        # Python's reader takes more than this one, such as surrogates and hundreds of brackets.
        return f"not JSON: {first['ctx']['error']}"
    if first["type"] == "missing":
        return f"{place}: is missing"
    if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{place}: unknown key"
    if first["type"] == "value_error" and not place:
        return str(first["ctx"]["error"])
    prefix, found = f"{place}: " if place else "", json.dumps(first["input"])[:_MAX_FOUND]
    return f"{prefix}found {found}; expected {_expectation(first)}"


_EXPECTATIONS = {
    **dict.fromkeys(
        ("dict_type", "model_type", "model_attributes_type", "dataclass_type"), "a mapping"
    ),
    **dict.fromkeys(("tuple_type", "list_type"), "a list"),
    "string_type": "text",
    "int_type": "an integer",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_pattern_mismatch": "text of the form {pattern}",
    "greater_than_equal": "{ge} or more",
    "string_too_short": "text that is not empty",
    "value_error": "{error}",
    "too_short": "at least {min_length} of them",
    "too_long": "at most {max_length} of them",
}


def _error_text(errors: list[Any], model: type[BaseModel]) -> str:
    first = errors[0]
    loc, kind = first["loc"], first["type"]
    if kind == "missing":
        is_key = isinstance(loc[-1], str)
        return f"missing key '{loc[-1]}'" if is_key else f"missing item {loc[-1] + 1}"
    if kind == "extra_forbidden":
        return f"unknown key '{loc[-1]}'{did_you_mean(loc[-1], _keys_at(loc[:-1], model))}"
    if kind == VERBATIM:
        return str(first["msg"])
    expectations = " or ".join(dict.fromkeys(map(_expectation, errors)))
    return f"found {_found(first)}; expected {expectations}"


def _found(error: Any) -> str:
    """Return what the file has at the place of an error; of a mapping that is long, its keys."""
    found, loc = error["input"], error["loc"]
    if found is None and not loc:
        return "nothing"
    text = json.dumps(found)
    if isinstance(found, dict) and len(text) > _MAX_FOUND:
        return f"a mapping with {listed([repr(key) for key in found])}"
    name = f" as '{loc[-1]}'" if found == "" and loc and isinstance(loc[-1], str) else ""
    return f"{text[:_MAX_FOUND]}{name}"


def _expectation(error: Any) -> str:
    """Return what a model expects at the place of an error."""
    template = _EXPECTATIONS.get(error["type"])
    if template is None:
        return str(error["msg"]).removeprefix("Input should be ")
    return template.format(**error.get("ctx", {}))


def _keys_at(loc: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    """Return the keys that the part of `model` at `loc` can have."""
    for step in loc:
        field = model.model_fields.get(str(step))
        if field is not None:
            model = next(_models_in(field.annotation), model)
    return [field.alias or name for name, field in model.model_fields.items()]


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
