"""Expressions of specs, compiled; tensors of examples, and arguments as specs write them."""

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from math import prod
from types import CodeType, MappingProxyType
from typing import Annotated, Any, TypeAlias, Union

from pydantic import BeforeValidator, PlainValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from opcert.arrays import calls, element_types
from opcert.arrays.element_types import FLOATS, INTEGERS
from opcert.arrays.tensor_functions import LAW_FUNCTIONS, TENSOR_BUILDERS, TENSOR_CHANGES
from opcert.errors import (
    MAX_QUOTED,
    ExpressionError,
    Inapplicable,
    Undecided,
    abbreviate,
    class_name,
    did_you_mean,
)
from opcert.roles import ROLES
from opcert.roles.argument import Attribute, Input, SpecModel
from opcert.roles.role import Role
from opcert.yaml_files import VERBATIM

Functions = Mapping[str, Callable[..., Any]]

# What all expressions may call.
EXPRESSION_FUNCTIONS: Functions = {
    **{f.__name__: f for f in (abs, all, any, enumerate, int, len, list, max, min)},
    **{f.__name__: f for f in (prod, range, reversed, set, sorted, sum, tuple, zip)},
    **{f.__name__: f for f in (calls.wrap, calls.broadcasts, calls.compatible, calls.aligned)},
    **{f.__name__: f for f in (calls.broadcast_shape, calls.python_slice, calls.part_at)},
    **{f.__name__: f for f in (calls.within, calls.repeats, calls.insert, calls.replace)},
    **{f.__name__: f for f in (element_types.fits, element_types.lowest)},
    **{f.__name__: f for f in (element_types.highest, element_types.modulo)},
}
# Where a spec can call the other functions.
_KNOWN_IN = {
    **dict.fromkeys(("one_of", "grouped", "positions"), "'element' and 'where' of outputs"),
    **dict.fromkeys(TENSOR_BUILDERS | TENSOR_CHANGES | LAW_FUNCTIONS, "violations or laws"),
}

TENSOR_ATTRIBUTES = ("rank", "shape", "size", "type", "values", "uniform")
EXPRESSION_CONSTANTS = {"INTEGERS": INTEGERS, "FLOATS": FLOATS}


@dataclass(frozen=True)
class Expression:
    """A parsed expression; two with the same text are equal."""

    text: str
    tree: ast.expr
    names: frozenset[str]

    @cached_property
    def code(self) -> CodeType:
        """The bytecode; functions have names that no expression can give to anything else."""
        tree = ast.Expression(_NamedFunctions().visit(deepcopy(self.tree)))
        with warnings.catch_warnings(action="ignore"):
            return compile(ast.fix_missing_locations(tree), "<spec>", "eval")

    def mistakes(self, known: Mapping[str, tuple[str, ...]], functions: Functions) -> list[str]:
        """Return a message for each name, attribute and function that is not known.

        `known` maps each name to the attributes that it has.
        """
        messages: list[str] = []
        context = f" in {abbreviate(self.text)}"
        called = {id(node.func) for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                messages += _function_mistakes(node, functions, context)
            elif isinstance(node, ast.Attribute) and id(node) not in called:
                messages += _attribute_mistakes(node, known, context)
            elif isinstance(node, ast.Name) and node.id in self.names.difference(known):
                messages.append(_unknown(f"name '{node.id}'{context}", node.id, known))
        return list(dict.fromkeys(messages))


def _attribute_mistakes(
    node: ast.Attribute, known: Mapping[str, tuple[str, ...]], context: str
) -> list[str]:
    owner = node.value.id if isinstance(node.value, ast.Name) else ""
    allowed = known.get(owner, TENSOR_ATTRIBUTES)
    if node.attr in allowed:
        return []
    if not allowed:
        return [f"unknown name '{owner}.{node.attr}'{context}; expected '{owner}' alone"]
    return [_unknown(f"name '{owner}.{node.attr}'{context}", node.attr, allowed)]


def _function_mistakes(call: ast.Call, functions: Functions, context: str) -> list[str]:
    if not isinstance(call.func, ast.Name):
        callee = f"'.{call.func.attr}()'" if isinstance(call.func, ast.Attribute) else "a value"
        return [f"a call of {callee}{context}; only functions can be called"]
    name = call.func.id
    if name in functions:
        return []
    if name in _KNOWN_IN:
        return [f"function '{name}'{context}, which is only known in {_KNOWN_IN[name]}"]
    return [_unknown(f"function '{name}'{context}", name, functions)]


def _unknown(description: str, name: str, known: Iterable[str]) -> str:
    return f"unknown {description}{did_you_mean(name, sorted(known))}"


@cache
def parse_expression(text: str) -> Expression:
    """Parse an expression.

    Raises:
        ExpressionError: it is not in Python's syntax.
    """
    try:
        with warnings.catch_warnings(action="error"):
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ExpressionError(f"{abbreviate(text)} is not an expression: {reason}") from None
    nodes = [*ast.walk(tree)]
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    names = [node for node in nodes if isinstance(node, ast.Name) and id(node) not in called]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return Expression(text, tree, frozenset({node.id for node in names} - bound))


class _NamedFunctions(ast.NodeTransformer):
    """Gives functions names that are not identifiers: an argument may be named like a function.

    Generators become lists, so that whether an expression fails depends on no order of elements.
    """

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        return self.generic_visit(ast.ListComp(node.elt, node.generators))  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name):
            function = ast.Name(f"{function.id}()", ast.Load())
        return ast.Call(function, node.args, node.keywords)


# The globals of the bytecode: functions and names.
EvaluationScope: TypeAlias = dict[str, Any]
_BASE_SCOPE: EvaluationScope = {
    "__builtins__": {},
    **{f"{name}()": function for name, function in EXPRESSION_FUNCTIONS.items()},
}


def evaluation_scope(
    names: Mapping[str, Any], functions: Functions = EXPRESSION_FUNCTIONS
) -> EvaluationScope:
    """Return the scope of expressions that use `names` and call `functions`."""
    if functions is EXPRESSION_FUNCTIONS:
        return {**_BASE_SCOPE, **names}
    further = {f"{name}()": function for name, function in functions.items()}
    return {**names, **_BASE_SCOPE, **further}


def needed_values(text: str, values: Mapping[str, str]) -> dict[str, str]:
    """Return the named values that an expression needs, in the order of `values`.

    Raises:
        ExpressionError: an expression cannot be parsed.
    """
    needed = parse_expression(text).names & values.keys()
    for name in reversed([*values]):
        if name in needed:
            needed |= parse_expression(values[name]).names & values.keys()
    return {name: text for name, text in values.items() if name in needed}


def add_values(scope: EvaluationScope, values: Mapping[str, str]) -> None:
    """Add the named values that a scope lacks; each may use those before it."""
    for name, text in values.items():
        if name not in scope:
            scope[name] = evaluate_in(scope, parse_expression(text))


def names_in(text: str, values: Mapping[str, str]) -> frozenset[str]:
    """Return the names in an expression and in the named values that it needs."""
    texts = [text, *needed_values(text, values).values()]
    return frozenset().union(*(parse_expression(each).names for each in texts))


def evaluate(
    text: str,
    names: Mapping[str, Any],
    functions: Functions = EXPRESSION_FUNCTIONS,
    values: Mapping[str, str] = MappingProxyType({}),
) -> Any:
    """Return the value of an expression, which may use named `values`; a list becomes a tuple.

    Raises:
        ExpressionError: it cannot be parsed, or evaluated with these names.
        Inapplicable: it does not apply to them: an index is out of range, a value does not fit.
    """
    scope = evaluation_scope(names, functions)
    add_values(scope, needed_values(text, values))
    return evaluate_in(scope, parse_expression(text))


def evaluate_in(scope: EvaluationScope, expression: Expression) -> Any:
    """Return the value of `expression` as `evaluate` does, in a scope that can be reused."""
    try:
        value = eval(expression.code, scope)  # noqa: S307 -- the tree is checked
    except (Inapplicable, Undecided):
        raise
    except IndexError:
        text = f"index out of range in {abbreviate(expression.text)}{_values_in(scope, expression)}"
        raise Inapplicable(text) from None
    except Exception as error:
        # Some errors, such as those of memory, have no text.
        reason = str(error) or class_name(error)
        text = f"{abbreviate(expression.text)} cannot be evaluated: {reason}"
        raise ExpressionError(text) from None
    return tuple(value) if isinstance(value, list) else value


def _values_in(scope: EvaluationScope, expression: Expression) -> str:
    """Return the values of the names in an expression, without those of type symbols."""
    texts = []
    for name in sorted(expression.names & scope.keys()):
        value = scope[name]
        items = value if isinstance(value, tuple) else ()
        if not any(isinstance(item, str) for item in items):
            text = f"[{', '.join(map(str, items))}]" if isinstance(value, tuple) else str(value)
            texts.append(f"{name}={text[:MAX_QUOTED]}")
    return f" with {', '.join(texts)}" if texts else ""


def evaluate_integer(text: str, names: Mapping[str, Any]) -> int:
    """Return the value of an expression, an integer.

    Raises:
        ExpressionError, Inapplicable: it cannot be evaluated, or is not an integer.
    """
    value = evaluate(text, names)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ExpressionError(f"{abbreviate(text)} is {abbreviate(value)}; expected an integer")
    return value


_TENSOR_TEXT = re.compile(
    r"(?P<type>\w+)\[(?P<shape>[\d, ]*)\]\s*(= *(?P<element>.+)|(?P<values>.*))"
)


@dataclass(frozen=True)
class DocumentedTensor(calls.Tensor):
    """A tensor of an example: its elements in C order, a formula for them, or only its shape.

    It is written as `i32[2, 3] 1 2 3 7..9`, as `i64[4] = 2 * i`, where `i` is the number of the
    element in C order, or as `f32[2, 3]`, which a data pattern fills.
    """

    element: str | None = None


def _read_tensor(text: Any) -> DocumentedTensor:
    match = _TENSOR_TEXT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError("a tensor such as i32[2, 3] 1..6")
    shape = tuple(int(extent) for extent in match["shape"].replace(",", " ").split())
    words = (match["values"] or "").split()
    elements = tuple(element for word in words for element in _elements(word))
    values = elements if words or 0 in shape else None
    return DocumentedTensor(match["type"], shape, values, element=match["element"])


def _elements(word: str) -> list[bool | int | float]:
    """Return the elements of a word: true, false, a number, or the integers of a range a..b."""
    first, dots, last = word.partition("..")
    try:
        if dots:
            return list(range(int(first), int(last) + 1))
        if word in ("true", "false"):
            return [word == "true"]
        return [float(word) if {".", "e", "n"} & set(word.lower()) else int(word)]
    except ValueError:
        raise ValueError("elements such as 1, -2.5, true or 1..6") from None


def _read_input(value: Any) -> DocumentedTensor | tuple[DocumentedTensor, ...]:
    """Return the tensor of an input, or those of a variadic one."""
    return tuple(map(_read_tensor, value)) if isinstance(value, list) else _read_tensor(value)


WrittenTensor = Annotated[
    DocumentedTensor, PlainValidator(_read_tensor, json_schema_input_type=str)
]
WrittenInput = Annotated[
    DocumentedTensor | tuple[DocumentedTensor, ...],
    PlainValidator(_read_input, json_schema_input_type=str | list[str]),
]


def _with_role(plain: type[SpecModel]) -> BeforeValidator:
    """Return a validator that reads an argument as the class of its role, or else as `plain`."""

    def read(value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, dict):
            return value
        if "role" not in value:
            _require_role(value, plain)
            return plain.model_validate_json(json.dumps(value))
        known = {**ROLES, **(info.context or {}).get("roles", {})}
        if value["role"] not in known:
            role = str(value["role"])
            names = {"role": role, "hint": did_you_mean(role, [*known])}
            raise PydanticCustomError(VERBATIM, "unknown role '{role}'{hint}", names)
        return known[value["role"]].model_validate_json(json.dumps(value))

    form: Any = Union[(plain, *ROLES.values())]
    return BeforeValidator(read, json_schema_input_type=form)


def _require_role(value: dict[str, Any], plain: type[SpecModel]) -> None:
    """Raise PydanticCustomError if an argument has keys of a role, but no role."""
    of_roles = {key for role in ROLES.values() for key in role.model_fields}
    for key in value.keys() - plain.model_fields.keys():
        if get_close_matches("role", [str(key)]):
            text = "unknown key '{key}'; expected 'role'"
            raise PydanticCustomError(VERBATIM, text, {"key": key})
        if key in of_roles:
            text = "missing key 'role', to which the key '{key}' belongs"
            raise PydanticCustomError(VERBATIM, text, {"key": key})


InputPart = Annotated[Input | Role, _with_role(Input)]
AttributePart = Annotated[Attribute | Role, _with_role(Attribute)]
