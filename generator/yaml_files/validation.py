"""YAML files validated by pydantic models: each error once, in plain words, with its place."""

import json
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from opcert.errors import Mistake, SpecError, did_you_mean
from opcert.yaml_files.source import KEY_STEP, YamlPath, YamlSource

Content = TypeVar("Content")

# As many mistakes as anybody reads at once; to compare them with each other takes time.
_MAX_ERRORS = 200
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
    prefix = f"{place}: " if place else ""
    return f"{prefix}found {json.dumps(first['input'])[:60]}; expected {_expectation(first)}"


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
    return f"found {json.dumps(first['input'])[:60]}; expected {expectations}"


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
