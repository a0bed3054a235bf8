"""Roles of made-up operators' own: attributes whose values the spec lists."""

from typing import Any, ClassVar

from pydantic import JsonValue

from opcert.roles.drawing import Drawing
from opcert.roles.role import Role


class Chosen(Role):
    """An attribute that has one of `values`, by level."""

    values: dict[str, JsonValue]

    def draw(self, call: Drawing) -> Any:
        return call.one(self, "value", self.values)


class Flags(Chosen):
    """A list of true and false."""

    elements: ClassVar = "boolean"


class Words(Chosen):
    """A list of words."""

    elements: ClassVar = "string"


class Fractions(Chosen):
    """A list of fractions."""

    elements: ClassVar = "float"
