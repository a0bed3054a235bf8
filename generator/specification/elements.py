"""Elements of inputs, as formulas read and compare them, or compute with them."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from operator import methodcaller
from typing import Any, Self

from opcert.accuracy.arithmetics import PRECISION, nearest
from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import FLOATS, Array
from opcert.specification.expressions import EXPRESSION_FUNCTIONS, Functions


class Element:
    """An element of an input: a number that remembers its place, and so its bits."""

    tensor: "IndexedInput"
    index: tuple[int, ...]
    # The element as NumPy has it, in the type of the input.
    scalar: Any

    def __str__(self) -> str:
        return f"{self.tensor.name}{list(self.index)} = {element_text(self.scalar)}"


class IntegerElement(Element, int):
    """An element of an integer type or boolean, with which formulas compute as with any integer."""


class FloatElement(Element, float):
    """An element of a floating-point type, which formulas compare and choose."""


def _refuse(element: FloatElement, *_: object) -> None:
    text = f"arithmetic with elements of {element.tensor.type}; only integers have arithmetic"
    raise TypeError(text)


_BINARY = ("add", "sub", "mul", "floordiv", "mod", "pow")
for _operation in (*_BINARY, *(f"r{name}" for name in _BINARY), "neg", "abs"):
    setattr(FloatElement, f"__{_operation}__", _refuse)


# A union of types would be built again for each index.
_SEQUENCES = (tuple, list)


@dataclass(frozen=True, eq=False)
class IndexedInput(Tensor):
    """An input whose elements a formula names by index."""

    name: str = ""
    array: Array = None  # type: ignore[assignment]
    # What makes a number of an element with which formulas compute.
    number: Callable[[float], Any] | None = None
    # How many elements have been read, of this input and of others with the same counter.
    reads: list[int] = field(default_factory=lambda: [0])

    # Otherwise Python would iterate by index.
    __iter__ = None

    def __getitem__(self, index: Any) -> Any:
        indices = tuple(index) if isinstance(index, _SEQUENCES) else (index,)
        if len(indices) != len(self.shape):
            raise ValueError(f"{len(indices)} indices into '{self.name}' of rank {self.rank}")
        for number, extent in zip(indices, self.shape, strict=True):
            if not 0 <= number < extent:
                place = f"{self.name}{list(indices)}"
                raise ValueError(f"{place} is out of the bounds {list(self.shape)}")
        self.reads[0] += 1
        scalar = self.array[indices]
        if self.number is not None and self.type in FLOATS:
            return self.number(float(scalar))
        element = (FloatElement if self.type in FLOATS else IntegerElement)(scalar)
        element.tensor, element.index, element.scalar = self, indices, scalar
        return element


class Candidates(tuple[Any, ...]):
    """The elements that an element of an output may copy, one of which it does."""

    __slots__ = ()


def one_of(elements: Sequence[Any], otherwise: Any) -> Candidates:
    """Return the candidates `elements`, or `otherwise` if there are none."""
    return Candidates(elements or (otherwise,))


def grouped(pairs: Iterable[tuple[Any, Any]]) -> Mapping[Any, Sequence[Any]]:
    """Return the second items of `pairs` by the first; at any other key there are none."""
    groups: defaultdict[Any, list[Any]] = defaultdict(list)
    for key, item in pairs:
        groups[key].append(item)
    return groups


def positions(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Return the indices of all elements of a tensor, in C order."""
    return product(*map(range, shape))


def _computed(items: Iterable[Any], combine: str, plain: Callable[..., Any], *more: int) -> Any:
    """Return what a method of the first computed number makes of numbers, or a plain function."""
    numbers = [*items]
    computed = (number for number in numbers if hasattr(number, combine))
    first = next(computed, None)
    return plain(numbers) if first is None else getattr(first, combine)(numbers, *more)


class Total(int):
    """A sum of integers, and the ends between which its partial sums lie in any order."""

    ends: tuple[int, int]

    def __new__(cls, number: int, ends: tuple[int, int]) -> Self:
        """Return a number with these ends."""
        result = super().__new__(cls, number)
        result.ends = ends
        return result

    def __neg__(self) -> "Total":
        return Total(-int(self), self.ends)

    def __floordiv__(self, divisor: int) -> "Total":
        return Total(int(self) // divisor, self.ends)


def _total_of_integers(numbers: Sequence[Any]) -> Any:
    number = sum(numbers)
    if not isinstance(number, int):
        return number
    return Total(number, (sum(n for n in numbers if n < 0), sum(n for n in numbers if n > 0)))


def total(items: Iterable[Any]) -> Any:
    """Return the sum of numbers, in any order."""
    return _computed(items, "total", _total_of_integers)


def running_mean(items: Iterable[Any]) -> Any:
    """Return the mean of computed numbers, as a running mean gives it."""
    return _computed(items, "running", lambda numbers: sum(numbers) // len(numbers))


def greatest(*items: Any) -> Any:
    """Return the greatest of several numbers, or of those in one list."""
    return _computed(items if len(items) > 1 else items[0], "extreme", max, 1)


def least(*items: Any) -> Any:
    """Return the least of several numbers, or of those in one list."""
    return _computed(items if len(items) > 1 else items[0], "extreme", min, -1)


def rounded(number: Any, element_type: str) -> Any:
    """Return the element of a type that is nearest to an element, or to another number.

    In the middle it is the even one, but the integer that is farther from 0.
    """
    if element_type in PRECISION and not isfinite(number):
        return number
    exact = getattr(number, "exact", number)
    if element_type in PRECISION and exact:
        return nearest(exact, element_type)
    if element_type in PRECISION:
        # A zero has a sign, but the greatest or the least of several numbers.
        zero = getattr(number, "number", number)
        return 0.0 if zero is None else zero
    size = math.floor(abs(Fraction(exact)) + Fraction(1, 2))
    return size if exact > 0 else -size


def between(number: Any, low: float, high: float) -> Any:
    """Return a computed number that no arithmetic takes below `low` or above `high`."""
    return number.between(low, high) if hasattr(number, "between") else number


def isfinite(number: Any) -> bool:
    """Whether a number is neither infinite nor NaN."""
    return number.value is not None if hasattr(number, "value") else math.isfinite(number)


FORMULA_FUNCTIONS: Functions = {
    **EXPRESSION_FUNCTIONS,
    **{f.__name__: f for f in (one_of, grouped, positions, running_mean)},
    **{f.__name__: f for f in (rounded, between, isfinite, math.isqrt)},
    **{"sum": total, "max": greatest, "min": least},
    **{name: methodcaller(name) for name in ("exp", "sqrt", "tanh")},
    # A constant that is no element: an arithmetic rounds it like the result of an operation.
    "fraction": Fraction,
}


def element_text(scalar: Any) -> str:
    """Return an element with its bits, in which two NaNs or two zeros can differ."""
    return f"{scalar} (0x{scalar.tobytes()[::-1].hex()})"
