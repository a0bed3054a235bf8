"""Whether an expression of a spec names only what is known where it stands."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from opcert.errors import ExpressionError, did_you_mean
from opcert.specification.expressions import (
    EXPRESSION_CONSTANTS,
    TENSOR_ATTRIBUTES,
    Functions,
    parse_expression,
)
from opcert.specification.model import Spec
from opcert.yaml_files import YamlPath

Found: TypeAlias = Iterator[tuple[YamlPath, str]]
Known: TypeAlias = Mapping[str, tuple[str, ...]]


def expression_mistakes(path: YamlPath, text: str, known: Known, functions: Functions) -> Found:
    """Yield what is wrong with the expression at `path`, given what it may name and call."""
    try:
        mistakes = parse_expression(text).mistakes(known, functions)
    except ExpressionError as error:
        mistakes = [str(error)]
    for mistake in mistakes:
        yield path, mistake


def call_names(spec: Spec) -> Known:
    """Return what conditions on a call may name."""
    fixed = dict.fromkeys((*EXPRESSION_CONSTANTS, *spec.constants, *spec.types, "omitted"), ())
    return {
        **fixed,
        **dict.fromkeys((each.name for each in spec.inputs), TENSOR_ATTRIBUTES),
        **dict.fromkeys((each.name for each in spec.attributes), ()),
    }


def unknown_name(path: YamlPath, what: str, name: str, known: list[str]) -> Found:
    """Yield a mistake where `name` is not among what is `known`."""
    if name not in known:
        yield path, f"unknown {what} '{name}'{did_you_mean(name, known)}"
