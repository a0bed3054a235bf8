"""The role `parts`: a number of equal parts that make up an axis."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from opcert.arrays import Call
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

# How many parts: divisors of the lengths that data has, up to and past a vector.
_COUNTS = {
    **{"two": 2, "one": 1, "three": 3, "six": 6, "four": 4, "eight": 8},
    **{"past_16": 17, "nineteen": 19, "past_32": 64},
}
_MANY_COUNTS = {"past_256": 257, "two": 2, "one": 1}


class PartsRole(Role):
    """How many equal parts an axis of data has: an attribute, at least 1, that divides its size."""

    relations: ClassVar = {"of": ("data",), "along": ("axis",)}

    role: Literal["parts"]
    type: Literal["int"]
    of: str
    along: str

    def bounds(self) -> BoundExpressions:
        """Return one part up to as many as the axis is long; an empty axis has any number."""
        return ("1", f"{self._size} or {self.name}")

    @property
    def data(self) -> DataRole:
        """The data that is divided."""
        return self.partner(self.of, DataRole)

    @property
    def _size(self) -> str:
        return f"{self.of}.shape[{self.partner(self.along, AxisRole).wrapped}]"

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield how many parts there are."""
        counts = _MANY_COUNTS if profile == "stress" else _COUNTS
        words = {level: f"{n} part{'s' * (n > 1)}" for level, n in counts.items()}
        yield Factor(self.factor("count"), counts, words=words)

    def constraints(self) -> Iterator[Constraint]:
        """Yield that the parts are equal."""
        n, count = self.data.factor("length"), self.factor("count")
        yield forbid(lambda n, count: n % count != 0, n, count)

    def build(self, scene: BuildContext) -> int:
        """Return the number of parts."""
        count: int = scene.choice[self.factor("count")]
        return count

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Return the number of parts."""
        return ObservedLevels({self.factor("count"): call.attributes[self.name]})

    def requirements(self) -> Iterator[Requirement]:
        """Yield that it is at least 1 and divides the axis."""
        name = self.name
        yield Requirement(f"{name}.least", f"{name} is at least 1.", f"{name} >= 1")
        yield Requirement(
            f"{name}.divides",
            f"{name} divides the size of the axis of {self.of}.",
            f"{self._size} % {name} == 0",
            given=(f"{self.along}.range", f"{name}.least"),
        )
