"""The role `flag`: true or false."""

from collections.abc import Iterator
from typing import Any, Literal

from opcert.arrays.calls import Call
from opcert.roles.factors import BuildContext, Factor, ObservationPoint, ObservedLevels
from opcert.roles.role import OMITTED, Role


class FlagRole(Role):
    """True or false, which select one of two variants of the operator.

    A flag that is not required has a `default`.
    """

    role: Literal["flag"]
    type: Literal["boolean"] = "boolean"
    default: bool | None = None

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an optional flag without a default."""
        if not self.required and self.default is None:
            text = "missing default of a flag that may be omitted; expected true or false"
            yield "required", text

    def factors(self, _: str) -> Iterator[Factor]:
        """Yield its values, the default first, and its omission."""
        values: dict[str, Any] = {"true": True, "false": False}
        if self.default is False:
            values = {"false": False, "true": True}
        words = {level: f"{self.name} {level}" for level in values}
        if not self.required:
            values[OMITTED], words[OMITTED] = OMITTED, f"{self.name} omitted"
        yield Factor(self.factor("value"), values, words=words)

    def build(self, context: BuildContext) -> bool | None:
        """Return the value, None if it is omitted."""
        value = context.choice[self.factor("value")]
        return None if value == OMITTED else bool(value)

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Observe the value."""
        return ObservedLevels({self.factor("value"): call.attributes.get(self.name, OMITTED)})
