"""Arguments as specs declare them, and the factors and constraints that roles contribute."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

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


@dataclass(frozen=True)
class Factor:
    """A dimension of the input space and its levels, the plainest first.

    A level has a value: a constant, or a function of the values of the factors in `depends_on`.
    `words` describe each level in a sentence; in a single text, {} means the level.
    """

    name: str
    levels: Mapping[str, Any]
    depends_on: tuple[str, ...] = ()
    words: str | Mapping[str, str] = ""

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


@dataclass(frozen=True)
class LevelName:
    """A factor whose level a condition takes by its name instead of its value."""

    factor: str


@dataclass(frozen=True)
class Constraint:
    """Combinations of levels that cannot occur: those for which `when` is true.

    The arguments of `when` are the values of `factors`, or the names of their levels.
    """

    when: Callable[..., bool]
    factors: tuple[str | LevelName, ...]


def forbid(when: Callable[..., bool], *factors: str | LevelName) -> Constraint:
    """Return the constraint that forbids the combinations for which `when` is true."""
    return Constraint(when, factors)


@dataclass(frozen=True)
class DerivedFactor:
    """A factor that others determine: `level` returns the name of its level.

    A `vectorised` function is called once, with an array for each factor, and returns an array of
    names. Its integers are int64, clipped to between -2^62 and 2^62.
    """

    factor: str
    level: Callable[..., Any]
    factors: tuple[str | LevelName, ...]
    vectorised: bool = False
