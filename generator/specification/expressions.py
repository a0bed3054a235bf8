"""The expressions that specs use: Python's syntax, a safe evaluator, parsed once and checked."""

import ast
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

from simpleeval import DEFAULT_OPERATORS, EvalWithCompoundTypes

from opcert.generator.arrays.element_types import FLOATS, INTEGERS, fits, highest, lowest
from opcert.generator.errors import ExpressionError, Inapplicable, did_you_mean

Functions = Mapping[str, Callable[..., Any]]

TENSOR_ATTRIBUTES = ("rank", "shape", "size", "type", "values", "layout", "alike")

# Extents past a vector register (with a tail), past a tile, past 16 bits.
LONG, WIDE, HUGE = 11, 521, 65539

# What keeps a slip in a spec from taking all memory or all day.
_LONGEST_RANGE = 10**6
_MOST_BITS = 4096
# How much of an expression or of a value a message shows.
_SHOWN = 100


def bounded_range(*ends: int) -> range:
    """Return `range(*ends)`, a million integers at most."""
    integers = range(*ends)
    if integers[_LONGEST_RANGE:]:
        raise ValueError(f"{integers} is longer than {_LONGEST_RANGE}")
    return integers


def bounded_power(base: int, exponent: int) -> int | float:
    """Return `base**exponent`, of about 4,096 bits at most."""
    if int(abs(base)).bit_length() * exponent > _MOST_BITS:
        raise ValueError("a power of more than 4,096 bits")
    return base**exponent  # type: ignore[no-any-return]


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


def within(values: tuple[int, ...], low: int, high: int) -> bool:
    """Whether one of `values` is at least `low` and less than `high`."""
    return any(low <= value < high for value in values)


def kinds(extents: tuple[int, ...], taken: int) -> tuple[str, ...]:
    """Return of which kinds that `dims` draws beside `taken` elements `extents` are."""
    if not extents:
        return ("varied",)
    if 0 in extents:
        return ("zero",)
    if max(extents) == 1:
        return ("ones",)
    past_one = [extent for extent in extents if extent > 1]
    found = {
        "varied": len(extents) == 1 or min(extents) < max(extents),
        "equal": len(extents) == 1 or len(set(past_one)) < len(past_one),
        "same": set(extents) == {taken},
        "long": extents[-1] >= LONG,
        "wide": extents[-1] >= WIDE,
        "tall": extents[0] >= WIDE,
        "huge": max(extents) >= HUGE,
    }
    return tuple(kind for kind, is_so in found.items() if is_so)


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
    **{f.__name__: f for f in (abs, all, any, enumerate, int, len, list, max, min)},
    **{f.__name__: f for f in (reversed, set, sorted, sum, tuple, zip, prod)},
    **{f.__name__: f for f in (wrap, broadcasts, python_slice, within, kinds, insert, replace)},
    **{f.__name__: f for f in (fits, lowest, highest)},
    "range": bounded_range,
}
CONSTANTS = {"INTEGERS": INTEGERS, "FLOATS": FLOATS}

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

    def mistakes(self, known: Mapping[str, tuple[str, ...]], functions: Functions) -> list[str]:
        """Say what the expression names that it cannot: names, their attributes, functions.

        `known` maps each name to what may follow it after a dot.
        """
        found: list[str] = []
        where = f" in {shown(self.text)}"
        called = {id(node.func) for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                found += _function_mistakes(node, functions, where)
            elif isinstance(node, ast.Attribute) and id(node) not in called:
                found += _attribute_mistakes(node, known, where)
            elif isinstance(node, ast.Name) and node.id in self.names.difference(known):
                found.append(_unknown(f"name '{node.id}'{where}", node.id, known))
        return list(dict.fromkeys(found))


def _attribute_mistakes(
    node: ast.Attribute, known: Mapping[str, tuple[str, ...]], where: str
) -> list[str]:
    owner = node.value.id if isinstance(node.value, ast.Name) else ""
    allowed = known.get(owner, TENSOR_ATTRIBUTES)
    if node.attr in allowed:
        return []
    if not allowed:
        return [f"unknown name '{owner}.{node.attr}'{where}; expected '{owner}' alone"]
    return [_unknown(f"name '{owner}.{node.attr}'{where}", node.attr, allowed)]


def _function_mistakes(call: ast.Call, functions: Functions, where: str) -> list[str]:
    if not isinstance(call.func, ast.Name):
        found = f"'.{call.func.attr}()'" if isinstance(call.func, ast.Attribute) else "a value"
        return [f"a call of {found}{where}; only functions by name can be called"]
    name = call.func.id
    return [] if name in functions else [_unknown(f"function '{name}'{where}", name, functions)]


def _unknown(found: str, name: str, known: Iterable[str]) -> str:
    return f"unknown {found}{did_you_mean(name, sorted(known))}"


def shown(value: object) -> str:
    """Return `value` for a message: on one line, and no longer than a reader wants."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:
        return "a number of thousands of digits"
    text = " ".join(text.split())
    text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
    return f"'{text}'" if isinstance(value, str) else text


@cache
def parse(text: str) -> Expression:
    """Parse `text`.

    Raises:
        ExpressionError: it is no expression of the kind that specs use.
    """
    try:
        with warnings.catch_warnings(action="error"):
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ExpressionError(f"{shown(text)} is not an expression: {reason}") from None
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            kind = _FORBIDDEN.get(type(node), type(node).__name__)
            raise ExpressionError(f"{kind} in {shown(text)}; expressions have none")
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    free = {node.id for node in names if id(node) not in called} - bound
    return Expression(text, tree, frozenset(free))


# What needs no look, nor do its elements: names and functions are ours, and hold plain values.
_PLAIN = frozenset((bool, int, float, str, tuple, list, type(None)))


class _Evaluator(EvalWithCompoundTypes):  # type: ignore[misc]
    """Looks at no value of a plain type, as nearly all are."""

    def _check_disallowed_items(self, item: object) -> None:
        if type(item) not in _PLAIN:
            super()._check_disallowed_items(item)


_evaluator = _Evaluator(operators={**DEFAULT_OPERATORS, ast.Pow: bounded_power})


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
        text = f"{shown(expression.text)} asks for an element that is not there"
        raise Inapplicable(text) from None
    except Exception as error:
        text = f"{shown(expression.text)} cannot be evaluated: {error}"
        raise ExpressionError(text) from None
    return tuple(value) if isinstance(value, list) else value


def integer(expression: Expression, names: Mapping[str, Any]) -> int:
    """Return the integer that `expression` is.

    Raises:
        ExpressionError, Inapplicable: it cannot be evaluated, or is none.
    """
    value = evaluate(expression, names, FUNCTIONS)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ExpressionError(f"{shown(expression.text)} is {shown(value)}; expected an integer")
    return value


def condition(
    expression: Expression, names: Mapping[str, Any], functions: Functions = FUNCTIONS
) -> bool:
    """Return whether `expression` holds.

    Raises:
        ExpressionError: it cannot be evaluated, or is neither true nor false.
    """
    try:
        value = evaluate(expression, names, functions)
    except Inapplicable as error:
        raise ExpressionError(str(error)) from None
    if not isinstance(value, bool):
        text = f"{shown(expression.text)} is {shown(value)}; expected true or false"
        raise ExpressionError(text)
    return value
