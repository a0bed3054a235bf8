"""The roles `number`, integers within bounds, and `real`, a number with a fraction."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from opcert.accuracy.arithmetics import nearest
from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import highest, lowest
from opcert.errors import Inapplicable
from opcert.roles.argument import ExpressionText
from opcert.roles.drawing import Drawing, near, places
from opcert.roles.role import ListRole, OneElementRole, Requirement, Role


class NumberRole(ListRole, OneElementRole):
    """An integer, or a list of them: an attribute or a tensor.

    `range` are expressions of the least and the greatest valid one; without it, any integer of the
    type is valid. The integers that are drawn are near the size `next_to`, which is by default the
    greatest. With `each`, an expression of a list of sizes, it is a list with one integer for each,
    near that size. `form` lists the allowed forms of a tensor that is no list.
    """

    role: Literal["number"]
    next_to: ExpressionText = "1"
    each: ExpressionText | None = None

    def rank_bounds(self) -> tuple[str, str]:
        """Return the rank of a list, or the ranks of its forms."""
        own = OneElementRole if self.each is None else ListRole
        return own.rank_bounds(self)

    def draw(self, call: Drawing) -> Any:
        """Return the integers; one of them is near a size, a bound or the limits of its type."""
        if not call.fact(self.draw_given):
            return None
        element_type = call.fact(self.draw_type)
        least, most = lowest(element_type), highest(element_type)
        if self.range is not None:
            lower, upper = call.evaluate_integers(f"[{self.range[0]}, {self.range[1]}]")
            least, most = max(least, lower), min(most, upper)
        if least > most:
            raise Inapplicable(f"no integer is from {least} to {most}")
        size = self.range[1] if self.range else self.next_to
        sizes = call.evaluate_integers(self.each or f"[{size}]")
        values = [
            call.integer(self, f"value {k}", max(least, min(most, -n)), min(most, max(least, n)))
            for k, n in enumerate(sizes)
        ]
        if sizes:
            place = call.one(self, "place", places(len(sizes)))
            named = {"the least": least, **near(sizes[place], element_type), "the most": most}
            named["any"] = call.integer(self, "any", least, most)
            valid = {name: value for name, value in named.items() if least <= value <= most}
            values[place] = call.one_near(self, "value", valid)
        if self.each is not None:
            return self.drawn_list(call, values)
        if self.is_attribute:
            return values[0]
        return call.laid_out(self, Tensor(element_type, self.draw_form(call), tuple(values)))

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its form or its length, and its range."""
        name = self.name
        keys = [] if self.is_attribute else ["type"]
        values = f"[{name}]" if self.is_attribute else self.values_expr
        if self.each is not None:
            yield from super().requirements()
            keys, values = [*self.list_keys], self.values_expr
            text = f"{name} has as many elements as there are of {self.each}."
            holds = f"{self.length_expr} == len(({self.each}))"
            yield self.requirement("length", text, holds, *keys, *self.keys_in(self.each))
        elif not self.is_attribute:
            yield from Role.requirements(self)
            yield self.form_requirement("integer")
            keys.append("shape")
        if self.range is not None:
            least, most = self.range
            text = f"{name} is from {least} to {most}."
            holds = f"all(({least}) <= value <= ({most}) for value in {values})"
            yield self.requirement("range", text, holds, *keys, *self.keys_in(f"{least} {most}"))


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
