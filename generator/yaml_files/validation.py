"""What a model finds wrong in a YAML file -> mistakes, each told once, with its place."""

import json
from difflib import get_close_matches
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from opcert.errors import Mistake, SpecError, did_you_mean
from opcert.yaml_files.source import KEY_STEP, YamlPath, YamlSource

Content = TypeVar("Content")


def validated_content(
    source: YamlSource, form: TypeAdapter[Content], model: type[BaseModel]
) -> Content:
    """Return what `source` holds, in its `form`; `model` is the outermost one in that.

    Raises:
        SpecError: with every mistake in the file.
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
    """Say each error of `model` once: branches of a union that all failed count as one."""
    by_place: dict[YamlPath, list[Any]] = {}
    for each in error.errors(include_url=False):
        by_place.setdefault(_place(source, each), []).append(each)
    within = {place[:length] for place in by_place for length in range(len(place))}
    unknown = [place[:-1] for place in by_place if place[-1:] == (KEY_STEP,)]
    # Where a part has a mistake of its own, the whole is not of the wrong type.
    return [
        source.mistake(place, _model_text(errors, model))
        for place, errors in by_place.items()
        if place not in within and not _is_misspelt(place, errors[0]["type"], unknown)
    ]


def _is_misspelt(place: YamlPath, kind: str, unknown: list[YamlPath]) -> bool:
    """Whether a key is missing only because an unknown one stands in its place."""
    beside = [str(each[-1]) for each in unknown if each[:-1] == place[:-1]]
    return kind == "missing" and bool(get_close_matches(str(place[-1]), beside))


def _place(source: YamlSource, error: Any) -> YamlPath:
    loc = error["loc"]
    if error["type"] == "missing":
        return (*source.known_part(loc[:-1]), loc[-1])
    return source.known_part((*loc, KEY_STEP) if error["type"] == "extra_forbidden" else loc)


def describe_first_error(error: ValidationError) -> str:
    """Say the first mistake that a model finds in JSON, and where."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return f"{place}: is missing"
    if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{place}: unknown key"
    if first["type"] == "value_error" and not place:
        return str(first["ctx"]["error"])
    return f"{place}: found {json.dumps(first['input'])[:60]}; expected {expected(first)}"


_EXPECTED = {
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


def _model_text(errors: list[Any], model: type[BaseModel]) -> str:
    first = errors[0]
    loc, kind = first["loc"], first["type"]
    if kind == "missing":
        is_key = isinstance(loc[-1], str)
        return f"missing key '{loc[-1]}'" if is_key else f"missing item {loc[-1] + 1}"
    if kind == "extra_forbidden":
        return f"unknown key '{loc[-1]}'{did_you_mean(loc[-1], _keys_at(loc[:-1], model))}"
    wanted = " or ".join(dict.fromkeys(map(expected, errors)))
    return f"found {json.dumps(first['input'])[:60]}; expected {wanted}"


def expected(error: Any) -> str:
    """Say what a model wants in the place of an error."""
    known = _EXPECTED.get(error["type"])
    if known is None:
        return str(error["msg"]).removeprefix("Input should be ")
    return known.format(**error.get("ctx", {}))


def _keys_at(loc: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    for step in loc:
        field = model.model_fields.get(str(step))
        if field is not None:
            model = next(_parts_in(field.annotation), model)
    return [field.alias or name for name, field in model.model_fields.items()]


def _parts_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _parts_in(argument)
