"""What formulas of elements compute with: an integer for each element of an output.

A formula is written for one element. All elements go through it together, since one at a time they
would take longer than all else about a suite. What it says about one holds for each: conditions
choose element by element, and a name for an index stands for every value of that index.
"""

import ast
import operator
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from opcert.arrays import INTEGERS, Tensor
from opcert.specification.expressions import (
    EXPRESSION_FUNCTIONS,
    Expression,
    Functions,
    abbreviate,
    parse_expression,
    subexpression,
)

Array: TypeAlias = npt.NDArray[Any]

# The places of what is no element of an input: zero, and an index that is out of bounds.
ZERO_SOURCE, OUTSIDE_SOURCE = -1, -2
# Within this, no product of two integers overflows; beyond it, NumPy computes with Python's own.
_FAR = 1 << 31


def _exact(number: Any) -> Any:
    """Return an integer, or the integers of all elements, as NumPy computes with them exactly.

    Raises:
        TypeError: it is no integer.
    """
    if isinstance(number, ElementwiseValues):
        return number.array
    if not isinstance(number, int):
        raise TypeError(f"{abbreviate(number)} where an integer is expected")
    return number if -_FAR < number < _FAR else np.array(number, object)


def _array_of(result: Any) -> Array:
    """Return the result of an operation, which of arrays of rank 0 is no array."""
    exact = object if type(result) is int else None
    return result if isinstance(result, np.ndarray) else np.array(result, exact)


def _by_element(operation: Callable[[Any, Any], Any]) -> Any:
    def method(self: "ElementwiseValues", other: object) -> "ElementwiseValues":
        return ElementwiseValues(operation(self.array, _exact(other)))

    return method


def _reflected(operation: Callable[[Any, Any], Any]) -> Any:
    return _by_element(lambda one, other: operation(other, one))


class ElementwiseValues:
    """An integer or a truth value for each element of an output."""

    def __init__(self, numbers: Any) -> None:
        self._array = _array_of(numbers)

    def __repr__(self) -> str:
        return "a number"

    @property
    def array(self) -> Array:
        """The numbers, in a shape that broadcasts to that of the output."""
        return self._array

    __add__ = __radd__ = _by_element(operator.add)
    __sub__, __rsub__ = _by_element(operator.sub), _reflected(operator.sub)
    __mul__ = __rmul__ = _by_element(operator.mul)
    __floordiv__, __rfloordiv__ = _by_element(operator.floordiv), _reflected(operator.floordiv)
    __mod__, __rmod__ = _by_element(operator.mod), _reflected(operator.mod)
    __lt__, __le__ = _by_element(operator.lt), _by_element(operator.le)
    __gt__, __ge__ = _by_element(operator.gt), _by_element(operator.ge)
    __eq__, __ne__ = _by_element(operator.eq), _by_element(operator.ne)
    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> "ElementwiseValues":
        return ElementwiseValues(-self.array)

    def __abs__(self) -> "ElementwiseValues":
        return ElementwiseValues(abs(self.array))

    def __bool__(self) -> bool:
        raise ValueError(
            "a condition that differs from element to element stands where none can; "
            "expected it in 'if … else', 'and', 'or' or 'not'"
        )


class SourceElements(ElementwiseValues):
    """An element of an input, or zero, for each element of an output; a number where it is known.

    `places` number the elements of all inputs on end.
    """

    def __init__(self, places: Array, tensor: "IndexedInput | None") -> None:
        self.places = places
        self.tensor = tensor

    @property
    def array(self) -> Array:
        """The numbers.

        Raises:
            ValueError: the case states none.
        """
        if self.tensor is None:
            raise ValueError("elements of several inputs have no number to compute with")
        # Whatever stands at a place out of bounds is not chosen, or is told as a mistake.
        within = self.places >= 0
        stated = _array_of(self.tensor.numbers[(self.places - self.tensor.first) * within])
        return np.where(within, stated, 0)


@dataclass(frozen=True)
class IndexedInput(Tensor):
    """An input whose elements a formula names by index; the first one has the place `first`."""

    name: str = ""
    first: int = 0

    # Nothing ends an iteration by index.
    __iter__ = None

    @cached_property
    def numbers(self) -> Array:
        """The elements in C order.

        Raises:
            ValueError: they are no integers that the case states.
        """
        if self.values is None or self.type not in INTEGERS:
            raise ValueError(f"the elements of '{self.name}' are no known integers")
        far = any(not -_FAR < value < _FAR for value in self.values)
        # One more for what is out of bounds, also of a tensor without elements.
        return np.array((*self.values, 0), object if far else np.int64)

    def __getitem__(self, index: Any) -> SourceElements:
        indices = index if isinstance(index, tuple | list) else (index,)
        if len(indices) != self.rank:
            raise ValueError(f"{len(indices)} indices into '{self.name}' of rank {self.rank}")
        place: Any = 0
        within: Any = True
        for extent, each in zip(self.shape, indices, strict=True):
            number = _exact(each)
            if np.min(number) < 0 or np.max(number) >= extent:
                within = within & (number >= 0) & (number < extent)
            place = place * extent + number
        if within is not True:
            place = np.where(within, _array_of(place), OUTSIDE_SOURCE - self.first)
        return SourceElements(np.asarray(place + self.first, np.int64), self)


def source_positions(value: object) -> Array | None:
    """Return the places of the elements that a formula gives, or None of anything else."""
    if isinstance(value, SourceElements):
        return value.places
    return np.array(ZERO_SOURCE) if type(value) is int and value == 0 else None


def _choose(condition: object, one: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """Return what `one if condition else other` is, element by element."""
    if not isinstance(condition, ElementwiseValues):
        return one() if condition else other()
    branches = one(), other()
    elements = [each for each in branches if isinstance(each, SourceElements)]
    places = [place for each in branches if (place := source_positions(each)) is not None]
    if elements and len(places) == len(branches):
        alone = all(each.tensor is elements[0].tensor for each in elements)
        return SourceElements(
            np.where(condition.array, *places), elements[0].tensor if alone else None
        )
    return ElementwiseValues(np.where(condition.array, *map(_exact, branches)))


def _both(one: Any, other: Callable[[], Any]) -> Any:
    """Return what `one and other` is, element by element."""
    if not isinstance(one, ElementwiseValues):
        return one and other()
    return ElementwiseValues(np.logical_and(one.array, _exact(other())))


def _either(one: Any, other: Callable[[], Any]) -> Any:
    """Return what `one or other` is, element by element."""
    if not isinstance(one, ElementwiseValues):
        return one or other()
    return ElementwiseValues(np.logical_or(one.array, _exact(other())))


def _negated(value: Any) -> Any:
    return (
        ElementwiseValues(np.logical_not(value.array))
        if isinstance(value, ElementwiseValues)
        else not value
    )


def _wrap(axis: Any, rank: Any) -> Any:
    return _choose(axis < 0, lambda: axis + rank, lambda: axis)


def _extreme(plain: Callable[..., Any], parse_elementwise: Callable[[Any, Any], Any]) -> Any:
    def function(*items: Any) -> Any:
        numbers = items if len(items) > 1 else tuple(items[0])
        if not any(isinstance(each, ElementwiseValues) for each in numbers):
            return plain(numbers)
        return ElementwiseValues(reduce(parse_elementwise, map(_exact, numbers)))

    return function


# What stands for Python's own conditions has names that no expression can call.
_CHOOSE, _BOTH, _EITHER, _NEGATED = "choose", "both", "either", "negated"
FORMULA_FUNCTIONS: Functions = {
    **EXPRESSION_FUNCTIONS,
    **{_CHOOSE: _choose, _BOTH: _both, _EITHER: _either, _NEGATED: _negated},
    **{"wrap": _wrap, "min": _extreme(min, np.minimum), "max": _extreme(max, np.maximum)},
}


class _ByElement(ast.NodeTransformer):
    """Turns conditions into calls that decide element by element; what is not chosen can wait."""

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        test, body, orelse = map(self.visit, (node.test, node.body, node.orelse))
        return _call(_CHOOSE, test, _later(body), _later(orelse))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        function = _BOTH if isinstance(node.op, ast.And) else _EITHER
        *before, last = map(self.visit, node.values)
        for value in reversed(before):
            last = _call(function, value, _later(last))
        return last  # type: ignore[no-any-return]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return _call(_NEGATED, operand)
        return ast.UnaryOp(node.op, operand)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        terms = [self.visit(each) for each in (node.left, *node.comparators)]
        # A term between two signs is in both pairs, by a copy for what turns the tree further.
        *before, last = (
            ast.Compare(deepcopy(one), [sign], [other])
            for one, sign, other in zip(terms, node.ops, terms[1:], strict=False)
        )
        result: ast.expr = last
        for pair in reversed(before):
            result = _call(_BOTH, pair, _later(result))
        return result


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), [*arguments], [])


def _later(tree: ast.expr) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), tree)


@cache
def parse_elementwise(text: str) -> Expression:
    """Parse an expression of a formula, to be evaluated for all elements at once.

    Raises:
        ExpressionError: it is no expression of the kind that specs use.
    """
    expression = parse_expression(text)
    return subexpression(expression, _ByElement().visit(deepcopy(expression.tree)))
