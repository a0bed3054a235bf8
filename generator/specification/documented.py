"""The tensors of examples: by their keys, or as a text such as i32[2, 3] 1..6."""

import json
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.roles.argument import ExpressionText, SpecModel

_TENSOR_TEXT = re.compile(
    r"(?P<type>\w+)\[(?P<shape>[\d, ]*)\]\s*(= *(?P<element>.+)|(?P<values>.*))"
)


def _read_tensor(value: Any) -> Any:
    """Return a tensor from its keys or its text; pydantic rejects other values."""
    if isinstance(value, dict):
        return DocumentedTensor.model_validate_json(json.dumps(value))
    if not isinstance(value, str):
        return value
    match = _TENSOR_TEXT.fullmatch(value)
    if match is None:
        raise ValueError("a tensor such as i32[2, 3] 1..6, or its keys")
    shape = tuple(int(extent) for extent in match["shape"].replace(",", " ").split())
    words = (match["values"] or "").split()
    values = tuple(element for word in words for element in _elements(word))
    return DocumentedTensor(
        type=match["type"],
        shape=shape,
        values=values if words or 0 in shape else None,
        element=match["element"],
    )


def _elements(word: str) -> list[bool | int | float]:
    """Return the elements of a word: true, false, a number, or the integers of a range a..b."""
    first, dots, last = word.partition("..")
    try:
        if dots:
            return list(range(int(first), int(last) + 1))
        constant = {"true": True, "false": False}.get(word)
        if constant is not None:
            return [constant]
        return [float(word) if {".", "e", "n"} & set(word.lower()) else int(word)]
    except ValueError:
        raise ValueError("elements such as 1, -2.5, true or 1..6") from None


class DocumentedTensor(SpecModel):
    """A tensor of an example: its values in C order, a formula for them, or only its shape.

    As text `i32[2, 3] 1 2 3 7..9`, `i64[4] = 2 * i`, where `i` is the number of the element in C
    order, or `f32[2, 3]`, which a data pattern fills.
    """

    type: str = Field(json_schema_extra={"enum": list(ELEMENT_TYPES)})
    shape: tuple[int, ...]
    values: tuple[bool | int | float, ...] | None = None
    element: ExpressionText | None = None


WrittenTensor = Annotated[
    DocumentedTensor,
    BeforeValidator(_read_tensor, json_schema_input_type=str | DocumentedTensor),
]


def _read_input(value: Any) -> Any:
    """Return the tensor of an input, or those of a variadic one."""
    return tuple(map(_read_tensor, value)) if isinstance(value, list) else _read_tensor(value)


WrittenInput = Annotated[
    DocumentedTensor | tuple[DocumentedTensor, ...],
    BeforeValidator(
        _read_input,
        json_schema_input_type=str | DocumentedTensor | list[str | DocumentedTensor],
    ),
]
