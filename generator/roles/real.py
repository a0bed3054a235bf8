"""The role `real`: a real number, with which an operator computes."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from opcert.accuracy.arithmetics import nearest
from opcert.roles.drawing import Drawing
from opcert.roles.role import Role

_KINDS = ("whole", "in halves", "dense")
_RARE = ("zero", "large", "small")


class RealRole(Role):
    """A real number, an attribute of type `float`; most are at least another one (`at_least`).

    It has at most the 24 significant bits of f32: documents do not say in which type a runtime
    keeps it.
    """

    relations: ClassVar = {"at_least": ("real",)}

    role: Literal["real"]
    type: Literal["float"] = "float"
    at_least: str | None = None

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report a number that may be omitted without a default."""
        if not self.required and self.default is None:
            yield "required", "missing default of a number that may be omitted; expected a number"

    def draw(self, call: Drawing) -> float | None:
        """Return the number, None if it is omitted."""
        if not call.fact(self.draw_given):
            return None
        number = self._draw_number(call)
        if self.at_least is None:
            return number
        least = call.fact(self.related(self.at_least, RealRole).draw) or 0.0
        ways = {"above": least + abs(number)}
        rare = {"equal": least, "below": least - abs(number)}
        return nearest(call.one(self, "place", ways, rare), "f32")

    def _draw_number(self, call: Drawing) -> float:
        kind = call.one(self, "kind", _KINDS, _RARE)
        mantissa = call.integer(self, "mantissa", -(1 << 24), 1 << 24)
        few = call.integer(self, "few", -9, 9)
        numbers = {
            "whole": float(few),
            "in halves": few + 0.5,
            "dense": mantissa * 2.0**-21,
            "zero": 0.0,
            "large": mantissa * 2.0**40,
            "small": mantissa * 2.0**-60,
        }
        return numbers[kind]
