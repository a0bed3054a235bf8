"""The expressions of specs: Python's syntax, checked node by node, compiled to bytecode."""

import ast
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from types import CodeType
from typing import Any, TypeAlias

from opcert.arrays.element_types import FLOATS, INTEGERS
from opcert.errors import ExpressionError, Inapplicable, did_you_mean
from opcert.specification.expression_functions import (
    EXPRESSION_FUNCTIONS,
    Functions,
    bounded_items,
    bounded_power,
    bounded_product,
    bounded_sum,
    count_elements,
    remainder,
)

TENSOR_ATTRIBUTES = ("rank", "shape", "size", "type", "values", "layout", "uniform")
EXPRESSION_CONSTANTS = {"INTEGERS": INTEGERS, "FLOATS": FLOATS}

# The most steps of all comprehensions of one evaluation.
_MAX_STEPS = 10**4
# The most elements that such an evaluation reads in functions, and keeps in lists, all together.
_MAX_READ, _MAX_KEPT = 10**7, 10**6
# The functions that read all elements of their arguments.
_READERS = frozenset(
    {
        *("all", "any", "enumerate", "list", "max", "min", "prod", "reversed", "set", "sorted"),
        *("sum", "tuple", "zip"),
    }
)
# The most characters of an expression; the longest of a spec has a tenth.
_MAX_LENGTH = 5000
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
        """The bytecode; functions and guards have names that no expression can contain."""
        guarded = _Guarded(self.names, self.has_comprehension).visit(deepcopy(self.tree))
        tree = ast.Expression(guarded)
        with warnings.catch_warnings(action="ignore"):
            return compile(ast.fix_missing_locations(tree), "<spec>", "eval")

    @cached_property
    def has_comprehension(self) -> bool:
        """Whether the number of steps has to be limited."""
        return any(isinstance(node, ast.comprehension) for node in ast.walk(self.tree))

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
    if len(text) > _MAX_LENGTH:
        reason = f"{len(text)} characters; expected up to {_MAX_LENGTH}"
        raise ExpressionError(f"{abbreviate(text)} is not an expression: {reason}")
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


class _StepCounter:
    """Limits the steps of all comprehensions of one evaluation, and what they read and keep."""

    def __init__(self) -> None:
        self._steps, self._read, self._kept = _MAX_STEPS, _MAX_READ, _MAX_KEPT

    def steps(self, items: Iterable[Any]) -> Collection[Any]:
        """Return `items`, over which a comprehension iterates.

        Raises:
            ValueError: there are too many.
        """
        try:
            steps = len(items)  # type: ignore[arg-type]
        except TypeError:
            items = tuple(islice(items, self._steps + 1))
            steps = len(items)
        self._steps -= steps
        if self._steps < 0:
            raise ValueError(f"comprehensions of more than {_MAX_STEPS} steps")
        return items  # type: ignore[return-value]

    def keep(self, value: Any) -> Any:
        """Return `value`, an element of a list; inner lists may be shared, and count each time.

        Raises:
            ValueError: there are too many elements.
        """
        if hasattr(value, "__len__"):
            self._kept -= count_elements(value, self._kept)
            if self._kept < 0:
                raise ValueError(f"lists of more than {_MAX_KEPT} elements")
        return value

    def read(self, items: Any) -> Any:
        """Return `items`, which a function reads.

        Raises:
            ValueError: there are too many.
        """
        if hasattr(items, "__len__"):
            self._read -= len(items)
            if self._read < 0:
                raise ValueError(f"functions read more than {_MAX_READ} elements")
        return items


def _refuse_attribute(attribute: str) -> None:
    raise ValueError(f"there is no attribute '{attribute}'")


# Operators whose results could exhaust memory. No expression can use or shadow the names of their
# guards, which are not identifiers.
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: bounded_sum,
    ast.Mult: bounded_product,
    ast.Mod: remainder,
    ast.Pow: bounded_power,
}
_COUNT_STEPS, _REFUSE_ATTRIBUTE = "count_steps()", "refuse_attribute()"
_KEEP, _READ, _ITEMS = "keep()", "read()", "items()"
_GUARDS: dict[str, Any] = {
    "__builtins__": {},
    _REFUSE_ATTRIBUTE: _refuse_attribute,
    _ITEMS: bounded_items,
    **{f"operator {node.__name__}()": guard for node, guard in _OPERATORS.items()},
}


class _Guarded(ast.NodeTransformer):
    """Turns a checked tree into one that Python can evaluate safely.

    Functions get names that a spec cannot give to anything else. Operators, comprehensions and
    attributes that could do harm become calls of guards.
    """

    def __init__(self, free: frozenset[str], has_comprehension: bool) -> None:
        self._free = free
        self._has_comprehension = has_comprehension

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if not isinstance(node.func, ast.Name):
            return _call(_REFUSE_ATTRIBUTE, ast.Constant(getattr(node.func, "attr", "()")))
        arguments = [*map(self.visit, node.args)]
        if self._has_comprehension and node.func.id in _READERS:
            arguments = [
                argument if isinstance(argument, ast.Starred) else _call(_READ, argument)
                for argument in arguments
            ]
        return _call(f"{node.func.id}()", *arguments)

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        return ast.Starred(_call(_ITEMS, self.visit(node.value)), node.ctx)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        if type(node.op) in _OPERATORS:
            return _call(f"operator {type(node.op).__name__}()", left, right)
        return ast.BinOp(left, node.op, right)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        # `level` has an attribute for each factor, whose names the spec chooses.
        of_level = isinstance(node.value, ast.Name) and node.value.id == "level"
        if node.attr in TENSOR_ATTRIBUTES or (
            of_level and "level" in self._free and not node.attr.startswith("_")
        ):
            return ast.Attribute(self.visit(node.value), node.attr, ast.Load())
        return _call(_REFUSE_ATTRIBUTE, ast.Constant(node.attr))

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        # A generator would outlive the evaluation, and the count of its steps.
        return self.visit_ListComp(ast.ListComp(node.elt, node.generators))

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        generators = [
            ast.comprehension(
                generator.target,
                _call(_COUNT_STEPS, _call(_KEEP, self.visit(generator.iter))),
                [*map(self.visit, generator.ifs)],
                generator.is_async,
            )
            for generator in node.generators
        ]
        return ast.ListComp(_call(_KEEP, self.visit(node.elt)), generators)


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), [*arguments], [])


# The globals of the bytecode: guards, functions, names.
EvaluationScope: TypeAlias = dict[str, Any]
_BASE_SCOPE: EvaluationScope = {
    **_GUARDS,
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
        if expression.has_comprehension:
            counts = _StepCounter()
            scope |= {_COUNT_STEPS: counts.steps, _KEEP: counts.keep, _READ: counts.read}
        value = eval(expression.code, scope)  # noqa: S307 -- the tree is checked and guarded
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
