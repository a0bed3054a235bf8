"""Elements of inputs, as formulas read and compare them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

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


for _operation in ("add", "sub", "mul", "floordiv", "mod", "pow"):
    setattr(FloatElement, f"__{_operation}__", _refuse)
    setattr(FloatElement, f"__r{_operation}__", _refuse)
for _operation in ("neg", "abs"):
    setattr(FloatElement, f"__{_operation}__", _refuse)


# A union of types would be built again for each index.
_SEQUENCES = (tuple, list)


@dataclass(frozen=True, eq=False)
class IndexedInput(Tensor):
    """An input whose elements a formula names by index."""

    name: str = ""
    array: Array = None  # type: ignore[assignment]

    # Otherwise Python would iterate by index.
    __iter__ = None

    def __getitem__(self, index: Any) -> Element:
        indices = tuple(index) if isinstance(index, _SEQUENCES) else (index,)
        if len(indices) != len(self.shape):
            raise ValueError(f"{len(indices)} indices into '{self.name}' of rank {self.rank}")
        for number, extent in zip(indices, self.shape, strict=True):
            if not 0 <= number < extent:
                place = f"{self.name}{list(indices)}"
                raise ValueError(f"{place} is out of the bounds {list(self.shape)}")
        scalar = self.array[indices]
        element = (FloatElement if self.type in FLOATS else IntegerElement)(scalar)
        element.tensor, element.index, element.scalar = self, indices, scalar
        return element


class Candidates(tuple[Any, ...]):
    """The elements that an element of an output may copy, one of which it does."""

    __slots__ = ()


def one_of(elements: Sequence[Any], otherwise: Any) -> Candidates:
    """Return the candidates `elements`, or `otherwise` if there are none."""
    return Candidates(elements or (otherwise,))


class _Groups(dict[Any, list[Any]]):
    """Items by key; at any other key there are none."""

    def __missing__(self, key: Any) -> list[Any]:
        return []


def grouped(pairs: Iterable[tuple[Any, Any]]) -> Mapping[Any, Sequence[Any]]:
    """Return the second items of `pairs` by the first."""
    groups = _Groups()
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups


def positions(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Return the indices of all elements of a tensor, in C order."""
    return product(*map(range, shape))


FORMULA_FUNCTIONS: Functions = {
    **EXPRESSION_FUNCTIONS,
    **{f.__name__: f for f in (one_of, grouped, positions)},
}


def element_text(scalar: Any) -> str:
    """Return an element with its bits, in which two NaNs or two zeros can differ."""
    return f"{scalar} (0x{scalar.tobytes()[::-1].hex()})"
