"""The subject of a property: an operator's reference, the document's formula, and calls to try."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from tests.property import drawing
from tests.property.drawing import Call, Calls, DType
from tests.property.oracles import Array, Tensor, described


@dataclass(frozen=True)
class Subject:
    """An operator, with valid calls, and calls that break one rule, by the rule's name.

    `calls` takes strategies of the data types, index types and ranks that are listed here.
    """

    slug: str
    reference: Callable[..., list[Array]]
    formula: Callable[..., list[Tensor]]
    calls: Callable[..., Calls]
    breaches: Mapping[str, Calls]
    types: Iterable[DType] = drawing.DATA_TYPES
    index_types: Iterable[DType] = drawing.INTEGER_TYPES
    ranks: Iterable[int] = range(1, 9)

    def outputs(self, call: Call) -> list[Tensor]:
        """Return what the reference makes of a call."""
        return [*map(described, self.reference(**call))]
