"""The expressions that specs use: Python's syntax, a safe evaluator, parsed once and checked."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

from simpleeval import EvalWithCompoundTypes

from opcert.generator.element_types import FLOATS, INTEGERS, fits, highest, lowest
from opcert.generator.errors import ExpressionError, Inapplicable, did_you_mean

Functions = Mapping[str, Callable[..., Any]]

TENSOR_ATTRIBUTES = ("rank", "shape", "size", "type", "values")


def wrap(axis: int, rank: int) -> int:
    """Return `axis` counted from the front, where a negative one counts from the end."""
    return axis + rank if axis < 0 else axis


def broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether `shape`, aligned at the end, stretches to `target` in one direction."""
    aligned = tuple(target[len(target) - len(shape) :])
    return len(shape) <= len(target) and all(
        extent in (1, wanted) for extent, wanted in zip(shape, aligned, strict=True)
    )


def python_slice(n: int, start: int, stop: int, step: int) -> range:
    """Return the indices that Python's [start:stop:step] selects of `n` elements."""
    return range(*slice(start, stop, step).indices(n))


def insert(items: list[Any], position: int, item: Any) -> tuple[Any, ...]:
    """Return `items` with `item` put in at `position`."""
    return (*items[:position], item, *items[position:])


def replace(items: list[Any], position: int, item: Any) -> tuple[Any, ...]:
    """Return `items` with the one at `position`, from the end where negative, replaced.

    Raises:
        Inapplicable: there is none.
    """
    if not -len(items) <= position < len(items):
        raise Inapplicable(f"no element {position} in {items}")
    position %= len(items)
    return (*items[:position], item, *items[position + 1 :])


# What every expression may call.
FUNCTIONS: Functions = {
    **{f.__name__: f for f in (abs, all, any, enumerate, int, len, list, max, min, range)},
    **{f.__name__: f for f in (reversed, set, sorted, sum, tuple, zip, prod)},
    **{f.__name__: f for f in (wrap, broadcasts, python_slice, insert, replace)},
    **{f.__name__: f for f in (fits, lowest, highest)},
}
CONSTANTS = {"INTEGERS": INTEGERS, "FLOATS": FLOATS}

_ALLOWED = (
    *(ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Add, ast.Sub),
    *(ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE),
    *(ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Is, ast.IsNot, ast.IfExp, ast.Call, ast.Subscript),
    *(ast.Slice, ast.Attribute, ast.Name, ast.Load, ast.Store, ast.Constant, ast.Tuple, ast.List),
    *(ast.Dict, ast.Set, ast.Starred, ast.ListComp, ast.GeneratorExp, ast.comprehension),
)


@dataclass(frozen=True)
class Expression:
    """A parsed expression; two with the same text are equal."""

    text: str
    tree: ast.expr
    names: frozenset[str]

    def mistakes(self, known: Mapping[str, tuple[str, ...]], functions: Functions) -> list[str]:
        """Say what the expression names that it cannot: names, their attributes, functions.

        `known` maps each name to what may follow it after a dot.
        """
        found: list[str] = []
        called = {id(node.func) for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                found += _function_mistakes(node, functions)
            elif isinstance(node, ast.Attribute):
                owner = node.value.id if isinstance(node.value, ast.Name) else ""
                allowed = known.get(owner, TENSOR_ATTRIBUTES)
                if node.attr not in allowed:
                    found.append(_unknown(f"{owner}.{node.attr}", node.attr, list(allowed)))
            elif isinstance(node, ast.Name) and node.id in self.names and id(node) not in called:
                found += [] if node.id in known else [_unknown(node.id, node.id, sorted(known))]
        return [f"{text} in '{self.text}'" for text in dict.fromkeys(found)]


def _function_mistakes(call: ast.Call, functions: Functions) -> list[str]:
    if not isinstance(call.func, ast.Name):
        return [f"a call of '{ast.unparse(call.func)}'; only functions by name can be called"]
    name = call.func.id
    if name in functions:
        return []
    return [_unknown(f"{name}()", name, sorted(functions))]


def _unknown(found: str, name: str, known: list[str]) -> str:
    return f"unknown name '{found}'{did_you_mean(name, known)}"


@cache
def parse(text: str) -> Expression:
    """Parse `text`.

    Raises:
        ExpressionError: it is no expression of the kind that specs use.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ExpressionError(f"'{text}' is not an expression: {reason}") from None
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            kind = type(node).__name__
            raise ExpressionError(f"'{text}' has {kind}, which expressions do not have")
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    free = {node.id for node in names if id(node) not in called} - bound
    return Expression(text, tree, frozenset(free))


_evaluator = EvalWithCompoundTypes(functions=dict(FUNCTIONS))


def evaluate(expression: Expression, names: Mapping[str, Any], functions: Functions) -> Any:
    """Return the value of `expression`, lists as tuples.

    Raises:
        ExpressionError: it cannot be evaluated on these names.
        Inapplicable: the names do not admit it: an element is not there, a value does not fit.
    """
    _evaluator.names = names
    _evaluator.functions = functions
    try:
        value = _evaluator.eval(expression.text, previously_parsed=expression.tree)
    except Inapplicable:
        raise
    except IndexError:
        raise Inapplicable(f"'{expression.text}' asks for an element that is not there") from None
    except Exception as error:
        raise ExpressionError(f"'{expression.text}' cannot be evaluated: {error!r}") from None
    return tuple(value) if isinstance(value, list) else value


def condition(expression: Expression, names: Mapping[str, Any]) -> bool:
    """Return whether `expression` holds.

    Raises:
        ExpressionError: it cannot be evaluated, or is neither true nor false.
    """
    try:
        value = evaluate(expression, names, FUNCTIONS)
    except Inapplicable as error:
        raise ExpressionError(str(error)) from None
    if not isinstance(value, bool):
        raise ExpressionError(f"'{expression.text}' is {value!r}; expected true or false")
    return value
