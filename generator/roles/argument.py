"""What a spec declares of arguments."""

from collections.abc import Sequence
from math import isfinite
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from opcert.arrays.calls import Tensor
from opcert.arrays.tensor_functions import MAX_DIMENSIONS


def _integer_as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) else value


ExpressionText = Annotated[
    str,
    BeforeValidator(_integer_as_text, json_schema_input_type=str | int | bool),
    Field(description="An expression in Python's syntax."),
]
# Expressions of a least and a greatest value.
BoundExpressions = tuple[ExpressionText, ExpressionText]


def _check_rank(text: str) -> str:
    if text not in map(str, range(MAX_DIMENSIONS + 1)):
        raise ValueError(f"an integer from 0 to {MAX_DIMENSIONS}")
    return text


def _check_order(bounds: tuple[str, str]) -> tuple[str, str]:
    if int(bounds[0]) > int(bounds[1]):
        raise ValueError("the least rank before the greatest")
    return bounds


# The least and the greatest rank of an argument with a role, which has calls of each.
_Rank = Annotated[ExpressionText, AfterValidator(_check_rank)]
RankBounds = Annotated[tuple[_Rank, _Rank], AfterValidator(_check_order)]
# The types of plain values; the first four are also those of the elements of a list.
ElementKind = Literal["int", "float", "boolean", "string"]
AttributeType = Literal[ElementKind, "list", "record"]
KebabCaseId = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]


class SpecModel(BaseModel):
    """A part of a spec: immutable, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Argument(SpecModel):
    """An input or an attribute. `range` is [least, greatest]; cases use both ends."""

    # Whether it may be a list of tensors.
    can_be_variadic: ClassVar[bool] = False

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
    type: str
    required: bool
    text: str
    range: BoundExpressions | None = None
    variadic: tuple[int, int] | None = Field(
        default=None,
        description="Of a list of tensors: the least and the greatest number; cases use both ends.",
    )


PLAIN_TYPES: dict[str, type] = {
    **{"int": int, "float": float, "boolean": bool, "string": str, "list": list, "record": dict}
}


def integers_in(value: Any) -> Sequence[int]:
    """Return the integers of a list, or a single one; none if the value has none."""
    if isinstance(value, Tensor):
        return () if value.values is None else [*map(int, value.values)]
    values: Sequence[Any] = value if isinstance(value, list) else [value]
    return values if all(type(item) is int for item in values) else ()


def is_plain_value(value: Any, kind: str) -> bool:
    """Whether a value has the type `kind` of attributes; JSON has no infinity and no NaN."""
    plain = list(value) if isinstance(value, tuple) else value
    return type(plain) is PLAIN_TYPES[kind] and (kind != "float" or isfinite(value))


class Input(Argument):
    """A tensor, whose type is a symbol among `types`; `rank` is [least, greatest]."""

    can_be_variadic: ClassVar = True

    rank: BoundExpressions


class Attribute(Argument):
    """A plain value that is no tensor."""

    type: AttributeType
    elements: ElementKind | None = Field(
        None, description="Of a list: what its elements are; by default records, or integers."
    )
    default: JsonValue = None
    one_of: tuple[str, ...] | None = None
    value: ExpressionText | None = Field(
        None, description="Of an attribute without a role: its value in the calls that are drawn."
    )
