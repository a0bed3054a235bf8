"""What a spec says of each input and attribute, with or without a role."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) else value


ExpressionText = Annotated[
    str,
    BeforeValidator(_as_text, json_schema_input_type=str | int | bool),
    Field(description="An expression in Python's syntax."),
]
BoundExpressions = tuple[ExpressionText, ExpressionText]
KebabCaseId = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]


class SpecModel(BaseModel):
    """A part of a spec: immutable, with no keys but its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Argument(SpecModel):
    """What inputs and attributes have in common. `range` is [least, most]; both ends are tested."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
    type: str
    required: bool
    text: str
    range: BoundExpressions | None = None


class Input(Argument):
    """One input tensor of a type symbol from `types`; `rank` is [least, most] as well."""

    rank: BoundExpressions


class Attribute(Argument):
    """One attribute: a plain value beside the inputs."""

    type: Literal["int", "string", "list"]
    default: JsonValue = None
    one_of: tuple[str, ...] | None = None
