"""The role `parts`: the number of equal parts of an axis."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.roles.argument import BoundExpressions
from opcert.roles.axis import AxisRole
from opcert.roles.data import DataRole
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    Factor,
    ObservationPoint,
    ObservedLevels,
    Requirement,
    forbid,
)
from opcert.roles.role import Role

# Numbers of parts: divisors of the lengths of data, up to and past a vector.
_COUNTS = {
    **{"two": 2, "one": 1, "three": 3, "six": 6, "four": 4, "eight": 8},
    **{"past_16": 17, "nineteen": 19, "past_32": 37},
}
_MANY_COUNTS = {"past_256": 257, "two": 2, "one": 1}


class PartsRole(Role):
    """The number of equal parts of an axis of data: an attribute that divides the size.

    Unless `empty` is false, an axis of size 0 has any number of parts.
    """

    relations: ClassVar = {"of": ("data",), "along": ("axis",)}

    role: Literal["parts"]
    type: Literal["int"]
    of: str
    along: str
    empty: bool = True

    def bounds(self) -> BoundExpressions:
        """Return 1 and the size of the axis; an empty axis has any number of parts."""
        return ("1", f"{self._size_expr} or {self.name}")

    @property
    def data(self) -> DataRole:
        """The data that is divided."""
        return self.related(self.of, DataRole)

    @property
    def _size_expr(self) -> str:
        return f"{self.of}.shape[{self.related(self.along, AxisRole).wrapped_expr}]"

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield the number of parts."""
        counts = _MANY_COUNTS if profile == "stress" else _COUNTS
        words = {level: f"{n} part{'s' * (n > 1)}" for level, n in counts.items()}
        yield Factor(self.factor("count"), counts, words=words)

    def constraints(self) -> Iterator[Constraint]:
        """Forbid numbers that do not divide the length of the axis."""
        n, count = self.data.factor("length"), self.factor("count")
        yield forbid(lambda n, count: n % count != 0, n, count)
        if not self.empty:
            yield forbid(lambda n: n == 0, n)

    def build(self, context: BuildContext) -> int:
        """Return the number of parts."""
        count: int = context.choice[self.factor("count")]
        return count

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Observe the number of parts."""
        return ObservedLevels({self.factor("count"): call.attributes[self.name]})

    def requirements(self) -> Iterator[Requirement]:
        """Yield its least value, and that it divides the size of the axis."""
        name = self.name
        yield Requirement(f"{name}.least", f"{name} is at least 1.", f"{name} >= 1")
        yield Requirement(
            f"{name}.divides",
            f"{name} divides the size of the axis of {self.of}.",
            f"{self._size_expr} % {name} == 0",
            prerequisites=(f"{self.along}.range", f"{name}.least"),
        )
