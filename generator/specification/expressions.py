"""The expressions of specs: Python's syntax, checked node by node, compiled to bytecode."""

import ast
import warnings
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, cached_property
from types import CodeType
from typing import Any, TypeAlias

from opcert.arrays.element_types import FLOATS, INTEGERS
from opcert.errors import ExpressionError, Inapplicable, did_you_mean
from opcert.specification.expression_functions import EXPRESSION_FUNCTIONS, Functions

TENSOR_ATTRIBUTES = ("rank", "shape", "size", "type", "values", "layout", "uniform")
EXPRESSION_CONSTANTS = {"INTEGERS": INTEGERS, "FLOATS": FLOATS}

# How many characters of an expression or a value a message quotes.
_MAX_QUOTED = 100

_ALLOWED = (
    *(ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Add, ast.Sub),
    *(ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE),
    *(ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Is, ast.IsNot, ast.IfExp, ast.Call, ast.Subscript),
    *(ast.Slice, ast.Attribute, ast.Name, ast.Load, ast.Store, ast.Constant, ast.Tuple, ast.List),
    *(ast.Dict, ast.Set, ast.Starred, ast.ListComp, ast.GeneratorExp, ast.comprehension),
)
_FORBIDDEN: dict[type[ast.AST], str] = {
    ast.Lambda: "a lambda",
    ast.NamedExpr: "an assignment",
    ast.JoinedStr: "an f-string",
    ast.Div: "a division by '/' instead of '//'",
    ast.keyword: "an argument by name",
}


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
        is_method = isinstance(call.func, ast.Attribute)
        callee = f"'.{call.func.attr}()'" if is_method else "a value"  # type: ignore[attr-defined]
        return [f"a call of {callee}{context}; only functions can be called"]
    name = call.func.id
    return [] if name in functions else [_unknown(f"function '{name}'{context}", name, functions)]


def _unknown(description: str, name: str, known: Iterable[str]) -> str:
    return f"unknown {description}{did_you_mean(name, sorted(known))}"


def abbreviate(value: object) -> str:
    """Return `value` for a message: on one line, up to a hundred characters."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:
        return "a number of thousands of digits"
    text = " ".join(text.split())
    text = text if len(text) <= _MAX_QUOTED else f"{text[: _MAX_QUOTED - 3]}..."
    return f"'{text}'" if isinstance(value, str) else text


@cache
def parse_expression(text: str) -> Expression:
    """Parse an expression.

    Raises:
        ExpressionError: the syntax is not that of expressions.
    """
    try:
        with warnings.catch_warnings(action="error"):
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ExpressionError(f"{abbreviate(text)} is not an expression: {reason}") from None
    for node in ast.walk(tree):
        # The variables of a comprehension are names and tuples of names; Python allows more.
        is_target = isinstance(node, ast.Attribute | ast.Subscript) and isinstance(
            node.ctx, ast.Store
        )
        if is_target or not isinstance(node, _ALLOWED):
            kind = _FORBIDDEN.get(ast.NamedExpr if is_target else type(node), type(node).__name__)
            raise ExpressionError(f"{abbreviate(text)} contains {kind}, which is not supported")
    return Expression(text, tree, _free_names(tree))


def subexpression(expression: Expression, tree: ast.expr) -> Expression:
    """Return a part of an expression; messages about it quote the whole."""
    return Expression(expression.text, tree, _free_names(tree))


def _free_names(tree: ast.expr) -> frozenset[str]:
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return frozenset({node.id for node in names if id(node) not in called} - bound)


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
        return ast.Call(function, node.args, [])


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
    return {**_BASE_SCOPE, **further, **names}


def evaluate(expression: Expression, names: Mapping[str, Any], functions: Functions) -> Any:
    """Return the value of `expression`; a list becomes a tuple.

    Raises:
        ExpressionError: it cannot be evaluated with these names.
        Inapplicable: it does not apply to them: an index is out of range, a value does not fit.
    """
    return evaluate_in(evaluation_scope(names, functions), expression)


def evaluate_in(scope: EvaluationScope, expression: Expression) -> Any:
    """Return the value of `expression` as `evaluate` does, in a scope that can be reused."""
    try:
        value = eval(expression.code, scope)  # noqa: S307 -- the tree is checked
    except Inapplicable:
        raise
    except IndexError:
        text = f"index out of range in {abbreviate(expression.text)}{_values_in(scope, expression)}"
        raise Inapplicable(text) from None
    except Exception as error:
        text = f"{abbreviate(expression.text)} cannot be evaluated: {error}"
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
            texts.append(f"{name}={text[:_MAX_QUOTED]}")
    return f" with {', '.join(texts)}" if texts else ""


def evaluate_integer(expression: Expression, names: Mapping[str, Any]) -> int:
    """Return the value of `expression`, an integer.

    Raises:
        ExpressionError, Inapplicable: it cannot be evaluated, or is not an integer.
    """
    value = evaluate(expression, names, EXPRESSION_FUNCTIONS)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ExpressionError(
            f"{abbreviate(expression.text)} is {abbreviate(value)}; expected an integer"
        )
    return value


def evaluate_condition(
    expression: Expression, names: Mapping[str, Any], functions: Functions = EXPRESSION_FUNCTIONS
) -> bool:
    """Return whether `expression` holds.

    Raises:
        ExpressionError: it cannot be evaluated, or is neither true nor false.
    """
    return evaluate_condition_in(evaluation_scope(names, functions), expression)


def evaluate_condition_in(scope: EvaluationScope, expression: Expression) -> bool:
    """Return whether `expression` holds, in a scope that can be reused."""
    try:
        value = evaluate_in(scope, expression)
    except Inapplicable as error:
        raise ExpressionError(str(error)) from None
    if value is True or value is False:
        return value
    text = f"{abbreviate(expression.text)} is {abbreviate(value)}; expected true or false"
    raise ExpressionError(text)
