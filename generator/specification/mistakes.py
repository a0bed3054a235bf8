"""Mistakes in a spec, as its checks yield them: unknown names, names with two meanings."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TypeAlias

from opcert.errors import ExpressionError, did_you_mean
from opcert.specification.expression_functions import EXPRESSION_FUNCTIONS, Functions
from opcert.specification.expressions import (
    EXPRESSION_CONSTANTS,
    TENSOR_ATTRIBUTES,
    parse_expression,
)
from opcert.specification.model import Spec
from opcert.yaml_files.source import YamlPath

# Each mistake is a path into the spec and a text.
Mistakes: TypeAlias = Iterator[tuple[YamlPath, str]]
# The attributes that each known name has in expressions.
KnownNames: TypeAlias = Mapping[str, tuple[str, ...]]


def unknown_name(path: YamlPath, kind: str, name: str, known: Iterable[str]) -> Mistakes:
    """Yield a mistake if `name` is not among the `known` names of its `kind`."""
    if name not in (names := list(known)):
        yield path, f"unknown {kind} '{name}'{did_you_mean(name, names)}"


def expression_mistakes(
    path: YamlPath, text: str, known: KnownNames, functions: Functions = EXPRESSION_FUNCTIONS
) -> Mistakes:
    """Yield the mistakes in the expression at `path`, which can use `known` and `functions`."""
    try:
        messages = parse_expression(text).mistakes(known, functions)
    except ExpressionError as error:
        messages = [str(error)]
    for message in messages:
        yield path, message


def call_names(spec: Spec) -> KnownNames:
    """Return the names that a condition on a call can use."""
    constants = (*EXPRESSION_CONSTANTS, *spec.constants, *spec.types, "omitted")
    return {
        **dict.fromkeys(constants, ()),
        # A variadic input is a list, whose tensors have the attributes.
        **{
            argument.name: TENSOR_ATTRIBUTES if argument.variadic is None else ()
            for argument in spec.inputs
        },
        **dict.fromkeys((argument.name for argument in spec.attributes), ()),
        **dict.fromkeys(spec.names, ()),
    }


def is_misspelt_as(name: str, written: Iterable[str], known: Collection[str]) -> bool:
    """Whether the missing `name` resembles an unknown name in `written`, so is misspelt there."""
    return bool(get_close_matches(name, [other for other in written if other not in known]))


def taken_name(path: YamlPath, name: str, taken: Collection[str]) -> Mistakes:
    """Yield a mistake if `name` is among the names that are `taken`."""
    if name in taken:
        yield path, f"'{name}' already has a meaning in expressions; choose another name"
