"""Element formulas, evaluated for all elements of an output at once.

A formula is written for one element. To evaluate it once per element would take longer than all
other work on a suite. Its names and values are therefore arrays over the elements of the output:
conditions choose element by element, and an index is an array of all its values.
"""

import ast
import operator
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, cached_property, partial, reduce
from typing import Any

import numpy as np

from opcert.arrays.calls import Tensor, part_at
from opcert.arrays.element_types import FLOATS, Array
from opcert.specification.expressions import (
    EXPRESSION_FUNCTIONS,
    Expression,
    Functions,
    abbreviate,
    parse_expression,
    subexpression,
)

# The positions of a zero and of an index out of bounds, which are not elements of an input.
ZERO_SOURCE, OUTSIDE_SOURCE = -1, -2
# The product of two integers below it fits 64 bits; NumPy computes with larger ones as objects.
SMALL = 1 << 31


class ElementwiseValues:
    """An integer or a truth value for each element of an output."""

    def __init__(self, values: Any) -> None:
        self._array = as_array(values)

    def __repr__(self) -> str:
        return "a number"

    @property
    def array(self) -> Array:
        """The values, in a shape that broadcasts to that of the output."""
        return self._array

    @staticmethod
    def _elementwise(operation: Callable[[Any, Any], Any]) -> Any:
        def method(self: "ElementwiseValues", other: object) -> "ElementwiseValues":
            return ElementwiseValues(operation(self.array, exact(other)))

        return method

    @staticmethod
    def _reflected(operation: Callable[[Any, Any], Any]) -> Any:
        def method(self: "ElementwiseValues", other: object) -> "ElementwiseValues":
            return ElementwiseValues(operation(exact(other), self.array))

        return method

    __add__ = __radd__ = _elementwise(operator.add)
    __sub__, __rsub__ = _elementwise(operator.sub), _reflected(operator.sub)
    __mul__ = __rmul__ = _elementwise(operator.mul)
    __floordiv__, __rfloordiv__ = _elementwise(operator.floordiv), _reflected(operator.floordiv)
    __mod__, __rmod__ = _elementwise(operator.mod), _reflected(operator.mod)
    __lt__, __le__ = _elementwise(operator.lt), _elementwise(operator.le)
    __gt__, __ge__ = _elementwise(operator.gt), _elementwise(operator.ge)
    __eq__, __ne__ = _elementwise(operator.eq), _elementwise(operator.ne)
    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> "ElementwiseValues":
        return ElementwiseValues(-self.array)

    def __abs__(self) -> "ElementwiseValues":
        return ElementwiseValues(abs(self.array))

    def __bool__(self) -> bool:
        raise ValueError(
            "a condition that differs from element to element can only be used in "
            "'if … else', 'and', 'or' or 'not'"
        )


class SourceElements(ElementwiseValues):
    """For each element of an output, the element of an input that it copies, or a zero.

    `positions` count the elements of all inputs, one input after the other. Integers and truth
    values of one input can be used as numbers.
    """

    def __init__(self, positions: Array, tensor: "IndexedInput | None") -> None:
        self.positions = positions
        self.tensor = tensor

    @property
    def array(self) -> Array:
        """The values of the elements.

        Raises:
            ValueError: they are not integers of one input.
        """
        if self.tensor is None:
            raise ValueError("elements of several inputs cannot be used as numbers")
        # A value at a position out of bounds is never chosen, or the position is a mistake.
        within = self.positions >= 0
        values = as_array(self.tensor.numbers[(self.positions - self.tensor.first) * within])
        return np.where(within, values, 0)


@dataclass(frozen=True)
class IndexedInput(Tensor):
    """An input whose elements a formula names by index; its first element has position `first`.

    If the call does not fix its elements, `array` has those of a run.
    """

    name: str = ""
    first: int = 0
    array: Array | None = None

    # Otherwise Python would iterate by index without end.
    __iter__ = None

    @property
    def is_read(self) -> bool:
        """Whether a formula used elements that the call does not fix as numbers."""
        return self.values is None and "numbers" in self.__dict__

    @cached_property
    def numbers(self) -> Array:
        """The elements in C order, followed by a zero for positions out of bounds.

        Raises:
            ValueError: they are not integers.
        """
        values: Sequence[Any] | None = self.values
        if values is None and self.array is not None and self.type not in FLOATS:
            # The integers of 4 bits, which NumPy lacks, have no `tolist` of their own.
            wide = np.uint64 if self.type == "u64" else np.int64
            values = self.array.reshape(-1).astype(wide).tolist()
        if values is None or any(value % 1 for value in values):
            raise ValueError(f"the elements of '{self.name}' are not known integers")
        values = [int(value) for value in values]
        is_large = any(not -SMALL < value < SMALL for value in values)
        return np.array((*values, 0), object if is_large else np.int64)

    def __getitem__(self, index: Any) -> SourceElements:
        indices = index if isinstance(index, tuple | list) else (index,)
        if len(indices) != self.rank:
            raise ValueError(f"{len(indices)} indices into '{self.name}' of rank {self.rank}")
        position: Any = 0
        within: Any = True
        for extent, axis_index in zip(self.shape, indices, strict=True):
            number = exact(axis_index)
            if np.min(number) < 0 or np.max(number) >= extent:
                within = within & (number >= 0) & (number < extent)
            position = _exact_sum(position * extent, number)
        if within is not True:
            position = np.where(within, as_array(position), OUTSIDE_SOURCE - self.first)
        return SourceElements(np.asarray(position + self.first, np.int64), self)


class IndexedInputs(tuple[IndexedInput, ...]):
    """The tensors of a variadic input; a formula can name another one for each element."""

    __slots__ = ()

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, ElementwiseValues):
            return _ChosenInput(tuple(self), number.array)
        return super().__getitem__(number)


@dataclass(frozen=True)
class _ChosenInput:
    """For each element of an output, one of several inputs of the same rank, by its number."""

    inputs: tuple[IndexedInput, ...]
    numbers: Array

    __iter__ = None

    def __getitem__(self, index: Any) -> SourceElements:
        indices = index if isinstance(index, tuple | list) else (index,)
        ranks = {tensor.rank for tensor in self.inputs}
        if ranks != {len(indices)}:
            raise ValueError(f"{len(indices)} indices into inputs of rank {sorted(ranks)}")
        within = (self.numbers >= 0) & (self.numbers < len(self.inputs))
        numbers = np.where(within, self.numbers, 0)
        position = np.zeros((), np.int64)
        for axis, axis_index in enumerate(indices):
            extents = np.array([tensor.shape[axis] for tensor in self.inputs], np.int64)[numbers]
            number = exact(axis_index)
            within = within & (number >= 0) & (number < extents)
            position = _exact_sum(position * extents, number)
        position = position + np.array([tensor.first for tensor in self.inputs])[numbers]
        positions = np.where(within, position, OUTSIDE_SOURCE)
        return SourceElements(np.asarray(positions, np.int64), None)


def source_positions(value: object) -> Array | None:
    """Return the positions of the elements that a formula gives, or None for any other value."""
    if isinstance(value, SourceElements):
        return value.positions
    return np.array(ZERO_SOURCE) if type(value) is int and value == 0 else None


class CandidateElements(SourceElements):
    """For each element of an output the input elements that it may copy, one of which it does.

    `candidates` are pairs: where the candidates apply, and their positions. Both arrays have an
    axis more than the output, along which there are several candidates, or broadcast to such
    arrays. The last pair applies where no other does.
    """

    def __init__(self, candidates: Sequence[tuple[Array, Array]]) -> None:
        super().__init__(candidates[-1][1], None)
        self.candidates = candidates


def candidate_functions(rank: int) -> Functions:
    """Return the functions of a formula that lists candidates for elements of a rank."""
    return {
        "one_of": partial(_one_of, rank),
        # One array holds all integers: as many evaluations would take long.
        "each": lambda n: [ElementwiseValues(np.arange(n).reshape(n, *(1,) * rank))] * (n > 0),
    }


def _one_of(
    rank: int, items: Sequence[tuple[object, object]], otherwise: object
) -> CandidateElements:
    """Return the elements of `items`, pairs of a condition and an element, whose condition is true.

    Raises:
        ValueError: an item has no element of an input.
    """
    candidates: list[tuple[Array, Array]] = []
    applied = np.zeros((1,) * (rank + 1), np.bool_)
    for condition, element in items:
        applies = np.asarray(exact(condition), np.bool_)
        applies = applies.reshape((1,) * (rank + 1 - applies.ndim) + applies.shape)
        candidates.append((applies, _positions(element)))
        applied = applied | applies.any(axis=0, keepdims=True)
    return CandidateElements([*candidates, (~applied, _positions(otherwise))])


def _positions(element: object) -> Array:
    positions = source_positions(element)
    if positions is None or isinstance(element, CandidateElements):
        raise ValueError(f"{abbreviate(element)}; expected an element of an input, or 0")
    return positions


def exact(number: Any) -> Any:
    """Return an integer, or one for each element, such that NumPy computes with it exactly.

    Raises:
        TypeError: it is not an integer.
    """
    if isinstance(number, ElementwiseValues):
        return number.array
    if not isinstance(number, int):
        raise TypeError(f"{abbreviate(number)} where an integer is expected")
    return number if -SMALL < number < SMALL else np.array(number, object)


def _exact_sum(first: Any, second: Any) -> Any:
    # Of arrays of rank 0, NumPy returns a Python integer, which may not fit the other array.
    return (exact(first) if isinstance(first, int) else first) + second


def as_array(result: Any) -> Array:
    """Return the result of an operation as an array; on arrays of rank 0 NumPy returns scalars."""
    dtype = object if type(result) is int else None
    return result if isinstance(result, np.ndarray) else np.array(result, dtype)


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
