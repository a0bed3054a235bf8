"""Roles of made-up operators' own: attributes whose values the spec lists."""

from collections.abc import Iterator
from typing import Any, ClassVar

from pydantic import JsonValue

from opcert.arrays.calls import Call
from opcert.roles.drawing import Drawing
from opcert.roles.factors import Factor, ObservationPoint, ObservedLevels
from opcert.roles.role import Role


class Chosen(Role):
    """An attribute that has one of `values`, by level."""

    values: dict[str, JsonValue]

    def draw(self, call: Drawing) -> Any:
        return call.one(self, "value", self.values)

    def factors(self) -> Iterator[Factor]:
        yield Factor.of_names(self.factor("value"), self.values.keys())

    def observe(self, call: Call, _point: ObservationPoint) -> ObservedLevels:
        named = {k for k, value in self.values.items() if call.attributes[self.name] == value}
        return ObservedLevels(levels={self.factor("value"): frozenset(named)})


class Flags(Chosen):
    """A list of true and false."""

    elements: ClassVar = "boolean"


class Words(Chosen):
    """A list of words."""

    elements: ClassVar = "string"


class Fractions(Chosen):
    """A list of fractions."""

    elements: ClassVar = "float"
