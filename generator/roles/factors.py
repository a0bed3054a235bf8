"""The declaration of an argument, and the levels that roles observe in finished calls."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from opcert.arrays.tensor_functions import MAX_DIMENSIONS

# A place in a call where levels are observed, by name: an axis of data, an element of a list.
ObservationPoint = Mapping[str, int]


@dataclass(frozen=True)
class ObservedLevels:
    """The values of factors, or the names of their levels, that a call exhibits.

    A tuple as a value lists several values, each of which the call exhibits. A factor that is in
    neither mapping has no level.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    levels: Mapping[str, frozenset[str]] = field(default_factory=dict)


def levels_where(conditions: Mapping[str, bool]) -> frozenset[str]:
    """Return the names of the levels whose condition is true."""
    return frozenset(level for level, is_true in conditions.items() if is_true)


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


# The least and the greatest rank of an argument with a role, which has calls of each.
_Rank = Annotated[ExpressionText, AfterValidator(_check_rank)]
RankBounds = tuple[_Rank, _Rank]
# The types of plain values; the first four are also those of the elements of a list.
ElementKind = Literal["int", "float", "boolean", "string"]
AttributeType = Literal["int", "float", "boolean", "string", "list", "record"]
ATTRIBUTE_TYPES: tuple[str, ...] = get_args(AttributeType)
KebabCaseId = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]


class SpecModel(BaseModel):
    """A part of a spec: immutable, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Argument(SpecModel):
    """An input or an attribute. `range` is [least, greatest]; cases use both ends."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
    type: str
    required: bool
    text: str
    range: BoundExpressions | None = None
    variadic: tuple[int, int] | None = Field(
        default=None,
        description="Of an input that is a list of tensors: the least and the greatest number of "
        "them. Cases use both ends.",
    )


_PLAIN_TYPES: dict[str, type] = {
    **{"int": int, "float": float, "boolean": bool, "string": str, "list": list, "record": dict}
}


def is_plain_value(value: Any, kind: str) -> bool:
    """Whether a value has the type `kind` of attributes; JSON has no infinity and no NaN."""
    plain = list(value) if isinstance(value, tuple) else value
    return type(plain) is _PLAIN_TYPES[kind] and (kind != "float" or isfinite(value))


class Input(Argument):
    """A tensor, whose type is a symbol among `types`; `rank` is [least, greatest]."""

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


@dataclass(frozen=True)
class Factor:
    """A property of calls and its levels, the plainest first.

    A level has a value: a constant, or a function of the values of the factors in `depends_on`.
    `words` describe each level in a sentence; in a single text, {} means the level.
    """

    name: str
    levels: Mapping[str, Any]
    depends_on: tuple[str, ...] = ()
    words: str | Mapping[str, str] = ""

    def phrase(self, level: str) -> str:
        """Return the words of a level; without words, its name after that of the factor."""
        readable = level.replace("_", " ")
        if isinstance(self.words, str) and self.words:
            return self.words.replace("{}", readable)
        words = self.words or {}
        return dict(words).get(level, f"{self.name.replace('_', ' ')} {readable}")

    @classmethod
    def of_names(
        cls, name: str, levels: Iterable[str], words: str | Mapping[str, str] | None = None
    ) -> "Factor":
        """Return a factor whose levels have their names as values.

        A mapping as `levels` gives the words of each level as well.
        """
        if words is None:
            words = levels if isinstance(levels, Mapping) else ""
        return cls(name, {level: level for level in levels}, words=words)
