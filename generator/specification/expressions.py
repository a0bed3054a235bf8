"""The expressions that specs use: Python's syntax, checked node by node, compiled to bytecode."""

import ast
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sized
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from math import prod
from types import CodeType
from typing import Any, TypeAlias

from opcert.arrays import (
    FLOATS,
    INTEGERS,
    broadcasts,
    extent_kinds,
    fits,
    highest,
    insert,
    lowest,
    python_slice,
    replace,
    within,
    wrap,
)
from opcert.errors import ExpressionError, Inapplicable, did_you_mean

Functions = Mapping[str, Callable[..., Any]]

TENSOR_ATTRIBUTES = ("rank", "shape", "size", "type", "values", "layout", "uniform")

# What keeps a slip in a spec from taking all memory or all day: the most integers of a range, bits
# of a power, elements of a sum, a repetition or a product, and steps of all comprehensions.
_LONGEST_RANGE = 10**6
_MOST_BITS = 4096
_MOST_ELEMENTS = 10**5
_MOST_STEPS = 10**4
_FEW = 32
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


def bounded_product(one: Any, other: Any) -> Any:
    """Return `one * other`; a sequence repeated to a hundred thousand elements at most."""
    for sequence, times in ((one, other), (other, one)):
        if hasattr(sequence, "__len__") and times * len(sequence) > _MOST_ELEMENTS:
            raise ValueError(f"a repetition to more than {_MOST_ELEMENTS} elements")
    return one * other


def bounded_sum(one: Any, other: Any) -> Any:
    """Return `one + other`; two sequences of a hundred thousand elements together at most."""
    if hasattr(one, "__len__") and len(one) + len(other) > _MOST_ELEMENTS:
        raise ValueError(f"a sum of more than {_MOST_ELEMENTS} elements")
    return one + other


def remainder(number: int, divisor: int) -> int:
    """Return `number % divisor`; `%` of a text would be able to fill one of any length."""
    if isinstance(number, str | bytes):
        raise ValueError("a remainder of a text")
    return number % divisor


def bounded_prod(values: Iterable[int]) -> int:
    """Return the product of `values`, which are few or of about 4,096 bits together at most."""
    factors = tuple(values)
    if len(factors) > _FEW and sum(int(each).bit_length() for each in factors) > _MOST_BITS:
        raise ValueError("a product of more than 4,096 bits")
    return prod(factors)


# What every expression may call.
EXPRESSION_FUNCTIONS: Functions = {
    **{f.__name__: f for f in (abs, all, any, enumerate, int, len, list, max, min)},
    **{f.__name__: f for f in (reversed, set, sorted, sum, tuple, zip)},
    **{
        f.__name__: f
        for f in (wrap, broadcasts, python_slice, within, extent_kinds, insert, replace)
    },
    **{f.__name__: f for f in (fits, lowest, highest)},
    "range": bounded_range,
    "prod": bounded_prod,
}
EXPRESSION_CONSTANTS = {"INTEGERS": INTEGERS, "FLOATS": FLOATS}

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
        """The bytecode, which finds functions and guards by names that no expression can have."""
        tree = ast.Expression(_Guarded(self.names).visit(deepcopy(self.tree)))
        with warnings.catch_warnings(action="ignore"):
            return compile(ast.fix_missing_locations(tree), "<spec>", "eval")

    @cached_property
    def loops(self) -> bool:
        """Whether it has a comprehension."""
        return any(isinstance(node, ast.comprehension) for node in ast.walk(self.tree))

    def mistakes(self, known: Mapping[str, tuple[str, ...]], functions: Functions) -> list[str]:
        """Say what the expression names that it cannot: names, their attributes, functions.

        `known` maps each name to what may follow it after a dot.
        """
        found: list[str] = []
        where = f" in {abbreviate(self.text)}"
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


def abbreviate(value: object) -> str:
    """Return `value` for a message: on one line, and no longer than a reader wants."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:
        return "a number of thousands of digits"
    text = " ".join(text.split())
    text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
    return f"'{text}'" if isinstance(value, str) else text


@cache
def parse_expression(text: str) -> Expression:
    """Parse `text`.

    Raises:
        ExpressionError: it is no expression of the kind that specs use.
    """
    try:
        with warnings.catch_warnings(action="error"):
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ExpressionError(f"{abbreviate(text)} is not an expression: {reason}") from None
    for node in ast.walk(tree):
        # Of what can be assigned to, comprehensions have names and tuples of names alone.
        assigned = isinstance(node, ast.Attribute | ast.Subscript) and isinstance(
            node.ctx, ast.Store
        )
        if assigned or not isinstance(node, _ALLOWED):
            kind = _FORBIDDEN.get(ast.NamedExpr if assigned else type(node), type(node).__name__)
            raise ExpressionError(f"{kind} in {abbreviate(text)}; expressions have none")
    return Expression(text, tree, _free_names(tree))


def subexpression(expression: Expression, tree: ast.expr) -> Expression:
    """Return a part of an expression by itself; messages have the whole."""
    return Expression(expression.text, tree, _free_names(tree))


def _free_names(tree: ast.expr) -> frozenset[str]:
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return frozenset({node.id for node in names if id(node) not in called} - bound)


class _Steps:
    """Counts what the comprehensions of one evaluation go through."""

    def __init__(self) -> None:
        self._left = _MOST_STEPS

    def __call__(self, items: Iterable[Any]) -> Collection[Any]:
        """Return `items`, which a comprehension is to go through.

        Raises:
            ValueError: there are too many.
        """
        if not isinstance(items, Sized):
            items = tuple(islice(items, self._left + 1))
        self._left -= len(items)
        if self._left < 0:
            raise ValueError(f"comprehensions of more than {_MOST_STEPS} steps")
        return items  # type: ignore[return-value]


def _refused(attribute: str) -> None:
    raise ValueError(f"there is no attribute '{attribute}'")


# What operators come to that could take all memory. No expression can name these functions, nor
# replace one by a name of its own: what stands for a call is no identifier.
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: bounded_sum,
    ast.Mult: bounded_product,
    ast.Mod: remainder,
    ast.Pow: bounded_power,
}
_STEPS, _REFUSED = "steps()", "refused()"
_GUARDS: dict[str, Any] = {
    "__builtins__": {},
    _REFUSED: _refused,
    **{f"operator {node.__name__}()": guard for node, guard in _OPERATORS.items()},
}


class _Guarded(ast.NodeTransformer):
    """Turns a checked tree into one that Python itself can evaluate.

    Functions get names that no spec can give to anything else; operators, comprehensions and
    attributes that could do harm become calls of functions that refuse to.
    """

    def __init__(self, free: frozenset[str]) -> None:
        self._free = free

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if not isinstance(node.func, ast.Name):
            return _call(_REFUSED, ast.Constant(getattr(node.func, "attr", "()")))
        return _call(f"{node.func.id}()", *map(self.visit, node.args))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        if type(node.op) in _OPERATORS:
            return _call(f"operator {type(node.op).__name__}()", left, right)
        return ast.BinOp(left, node.op, right)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        # A factor's level is the one thing whose attributes have names of the spec's own.
        of_level = isinstance(node.value, ast.Name) and node.value.id == "level"
        if node.attr in TENSOR_ATTRIBUTES or (
            of_level and "level" in self._free and not node.attr.startswith("_")
        ):
            return ast.Attribute(self.visit(node.value), node.attr, ast.Load())
        return _call(_REFUSED, ast.Constant(node.attr))

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        # A generator would outlive the evaluation, and the count of its steps.
        return self.visit_ListComp(ast.ListComp(node.elt, node.generators))

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        generators = [
            ast.comprehension(
                each.target,
                _call(_STEPS, self.visit(each.iter)),
                [*map(self.visit, each.ifs)],
                each.is_async,
            )
            for each in node.generators
        ]
        return ast.ListComp(self.visit(node.elt), generators)


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), [*arguments], [])


# What the bytecode of expressions finds: guards, functions, names.
EvaluationScope: TypeAlias = dict[str, Any]
_OWN_SCOPE: EvaluationScope = {
    **_GUARDS,
    **{f"{name}()": each for name, each in EXPRESSION_FUNCTIONS.items()},
}


def evaluation_scope(
    names: Mapping[str, Any], functions: Functions = EXPRESSION_FUNCTIONS
) -> EvaluationScope:
    """Return what expressions see that may name `names`, and call FUNCTIONS and `functions`."""
    if functions is EXPRESSION_FUNCTIONS:
        return {**_OWN_SCOPE, **names}
    return {**_OWN_SCOPE, **{f"{name}()": each for name, each in functions.items()}, **names}


def evaluate(expression: Expression, names: Mapping[str, Any], functions: Functions) -> Any:
    """Return the value of `expression`, which may call FUNCTIONS and `functions`; lists as tuples.

    Raises:
        ExpressionError: it cannot be evaluated on these names.
        Inapplicable: the names do not admit it: an element is not there, a value does not fit.
    """
    return evaluate_in(evaluation_scope(names, functions), expression)


def evaluate_in(scope: EvaluationScope, expression: Expression) -> Any:
    """Return the value of `expression` as `evaluate` does, where several share a scope."""
    try:
        if expression.loops:
            scope[_STEPS] = _Steps()
        value = eval(expression.code, scope)  # noqa: S307 -- of a tree that is checked and guarded
    except Inapplicable:
        raise
    except IndexError:
        text = f"{abbreviate(expression.text)} asks for an element that is not there"
        raise Inapplicable(text) from None
    except Exception as error:
        text = f"{abbreviate(expression.text)} cannot be evaluated: {error}"
        raise ExpressionError(text) from None
    return tuple(value) if isinstance(value, list) else value


def evaluate_integer(expression: Expression, names: Mapping[str, Any]) -> int:
    """Return the integer that `expression` is.

    Raises:
        ExpressionError, Inapplicable: it cannot be evaluated, or is none.
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
    """Return whether `expression` holds as `condition` does, where several share a scope."""
    try:
        value = evaluate_in(scope, expression)
    except Inapplicable as error:
        raise ExpressionError(str(error)) from None
    if value is True or value is False:
        return value
    text = f"{abbreviate(expression.text)} is {abbreviate(value)}; expected true or false"
    raise ExpressionError(text)
