"""Element formulas, evaluated for all elements of an output at once.

A formula is written for one element. To evaluate it once per element would take longer than all
other work on a suite. Its names and values are therefore arrays over the elements of the output:
conditions choose element by element, and an index is an array of all its values.
"""

import ast
from collections.abc import Callable
from copy import deepcopy
from functools import cache, reduce
from typing import Any

import numpy as np

from opcert.arrays.indexing import part_at
from opcert.specification.elementwise_values import (
    SMALL,
    CandidateElements,
    ElementwiseValues,
    IndexedInputs,
    SourceElements,
    exact,
    source_positions,
)
from opcert.specification.expression_functions import EXPRESSION_FUNCTIONS, Functions
from opcert.specification.expressions import Expression, parse_expression, subexpression

# The functions that replace conditions evaluate a branch only when needed.


def _choose(condition: object, first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """Return `first if condition else second`, element by element."""
    if not isinstance(condition, ElementwiseValues):
        return first() if condition else second()
    branches = first(), second()
    if any(isinstance(branch, CandidateElements) for branch in branches):
        raise ValueError("'one_of' in a condition; expected the condition in its pairs")
    elements = [branch for branch in branches if isinstance(branch, SourceElements)]
    positions = [p for branch in branches if (p := source_positions(branch)) is not None]
    if not elements and len(positions) == len(branches):
        # Either branch is a zero.
        return 0
    if len(positions) == len(branches):
        tensor = elements[0].tensor
        is_one_input = all(branch.tensor is tensor for branch in elements)
        chosen = np.where(condition.array, *positions)
        return SourceElements(chosen, tensor if is_one_input else None)
    return ElementwiseValues(np.where(condition.array, *map(exact, branches)))


def _and(first: Any, second: Callable[[], Any]) -> Any:
    if not isinstance(first, ElementwiseValues):
        return first and second()
    return ElementwiseValues(np.logical_and(first.array, exact(second())))


def _or(first: Any, second: Callable[[], Any]) -> Any:
    if not isinstance(first, ElementwiseValues):
        return first or second()
    return ElementwiseValues(np.logical_or(first.array, exact(second())))


def _not(value: Any) -> Any:
    if not isinstance(value, ElementwiseValues):
        return not value
    return ElementwiseValues(np.logical_not(value.array))


def _item(items: Any, index: Any) -> Any:
    """Return `items[index]`, element by element if the index into a list of integers differs."""
    if not isinstance(index, ElementwiseValues) or not isinstance(items, tuple | list | range):
        return items[index]
    if isinstance(items, IndexedInputs):
        return items[index]
    if not all(isinstance(item, int) for item in items):
        raise TypeError("an index that differs from element to element, into no list of integers")
    numbers, n = index.array, len(items)
    is_large = any(not -SMALL < item < SMALL for item in items)
    # An item out of bounds is never chosen, or the index is a mistake.
    values = np.array([*items, 0], object if is_large else np.int64)
    is_inside = (numbers >= -n) & (numbers < n)
    return ElementwiseValues(values[np.where(is_inside, numbers % max(n, 1), n).astype(np.intp)])


def _wrap(axis: Any, rank: Any) -> Any:
    return _choose(axis < 0, lambda: axis + rank, lambda: axis)


def _part_at(lengths: Any, position: Any) -> tuple[Any, Any]:
    """Return what the function of the same name returns, element by element."""
    if not isinstance(position, ElementwiseValues):
        return part_at(lengths, position)
    ends = np.cumsum([0, *lengths])
    # Of the parts that begin at one position, all but the last are empty.
    numbers = np.searchsorted(ends, position.array, side="right") - 1
    return ElementwiseValues(numbers), ElementwiseValues(position.array - ends[numbers])


def _extreme(of_numbers: Callable[..., Any], of_arrays: Callable[[Any, Any], Any]) -> Any:
    def function(*items: Any) -> Any:
        numbers = items if len(items) > 1 else tuple(items[0])
        if not any(isinstance(number, ElementwiseValues) for number in numbers):
            return of_numbers(numbers)
        return ElementwiseValues(reduce(of_arrays, map(exact, numbers)))

    return function


def _every(of_values: Callable[[Any], bool], of_arrays: Callable[[Any, Any], Any]) -> Any:
    def function(items: Any) -> Any:
        values = tuple(items)
        if not any(isinstance(value, ElementwiseValues) for value in values):
            return of_values(values)
        return ElementwiseValues(reduce(of_arrays, map(exact, values)))

    return function


# No expression of a spec can call the first five: their names are keywords.
FORMULA_FUNCTIONS: Functions = {
    **EXPRESSION_FUNCTIONS,
    **{"if": _choose, "and": _and, "or": _or, "not": _not, "from": _item},
    "all": _every(all, np.logical_and),
    "any": _every(any, np.logical_or),
    **{
        "wrap": _wrap,
        "part_at": _part_at,
        "min": _extreme(min, np.minimum),
        "max": _extreme(max, np.maximum),
    },
}


class _Elementwise(ast.NodeTransformer):
    """Turns conditions into calls that decide element by element, with unevaluated branches.

    Indexing becomes a call as well.
    """

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        test, body, orelse = map(self.visit, (node.test, node.body, node.orelse))
        return _call("if", test, _lazy(body), _lazy(orelse))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        items, index = self.visit(node.value), self.visit(node.slice)
        if any(isinstance(part, ast.Slice) for part in ast.walk(node.slice)):
            return ast.Subscript(items, index, node.ctx)
        return _call("from", items, index)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        function = "and" if isinstance(node.op, ast.And) else "or"
        *terms, result = map(self.visit, node.values)
        for term in reversed(terms):
            result = _call(function, term, _lazy(result))
        return result  # type: ignore[no-any-return]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return _call("not", operand)
        return ast.UnaryOp(node.op, operand)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Turn `a < b < c` into `a < b and b < c`."""
        terms = [self.visit(term) for term in (node.left, *node.comparators)]
        # Copies, since a term between two signs is in both pairs, and trees are changed in place.
        *pairs, last = (
            ast.Compare(deepcopy(left), [sign], [right])
            for left, sign, right in zip(terms, node.ops, terms[1:], strict=False)
        )
        result: ast.expr = last
        for pair in reversed(pairs):
            result = _call("and", pair, _lazy(result))
        return result


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), [*arguments], [])


def _lazy(tree: ast.expr) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), tree)


@cache
def parse_elementwise(text: str) -> Expression:
    """Parse an expression of a formula, to be evaluated for all elements at once.

    Raises:
        ExpressionError: the syntax is not that of expressions.
    """
    expression = parse_expression(text)
    return subexpression(expression, _Elementwise().visit(deepcopy(expression.tree)))
