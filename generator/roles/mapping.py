"""Stretching to a target shape, and the role `mapping`: the axes that data's axes become."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.errors import Inapplicable
from opcert.roles.data import OfDataRole
from opcert.roles.drawing import Drawing
from opcert.roles.role import ListRole, Requirement, Role
from opcert.roles.scalar_values import SelectedRole


class MappingRole(ListRole, OfDataRole, SelectedRole):
    """For each axis of data an axis of the target shape, in ascending order.

    With the key `mode`, it is given only if that mode is `mode_is`. Along an axis that it maps, a
    size of 1 is `kept` or `stretched`, or the document leaves it `open`.
    """

    relations: ClassVar = {"of": ("data",), "into": ("shape",), "mode": ("mode",)}

    role: Literal["mapping"]
    into: str
    ones: Literal["kept", "stretched", "open"] = "kept"

    def bounds(self) -> tuple[str, str]:
        """Return the first and the last axis of the target."""
        return ("0", f"{self.into}.size - 1")

    @property
    def target(self) -> Role:
        """The target shape that has the listed axes."""
        return self.related(self.into, Role)

    @property
    def aligned(self) -> tuple[str, str, tuple[str, ...]]:
        """The condition that data aligns at the end, the words for it, and its prerequisites."""
        mode = self.selected_by
        if mode is None:
            return f"{self.name} is None", f"Without {self.name}, ", ()
        words = [word for word in mode.one_of if word != self.mode_is]
        return mode.is_one_of(words), f"In mode {' or '.join(words)}, ", (mode.word_requirement,)

    def draw_places(self, call: Drawing) -> list[int] | None:
        """Draw the axes of the target, in ascending order; None if data aligns at the end."""
        if not self.is_selected(call):
            return None
        if self.selected_by is None and not call.fact(self.draw_given):
            return None
        rank, most = call.fact(self.data.draw_rank), call.fact(self.target.draw_rank)
        if most < rank:
            raise Inapplicable("the target has fewer axes than data")
        return sorted(call.sample(self, "places", range(most), rank))

    def draw(self, call: Drawing) -> Any:
        """Return the mapping, None if it is omitted."""
        listed = call.fact(self.draw_places)
        return None if listed is None else self.drawn_list(call, listed)

    def axes_in(self, call: Call) -> Sequence[int]:
        """Return all axes of data."""
        return range(call.inputs[self.of].rank)

    def extent_in(self, call: Call, axis: int) -> int:
        """Return the number of axes of the target."""
        del axis
        return call.inputs[self.into].size

    def requirements(self) -> Iterator[Requirement]:
        """Yield its presence, its form, its range and order, and the extents of data."""
        name, of, into, when = self.name, self.of, self.into, self.used_expr
        values, form = f"{name}.values", (f"{into}.type", f"{into}.rank")
        begin = ""
        if self.selected_by is not None:
            begin = f"In mode {self.mode_is}, "
            yield self.requirement(
                "given",
                f"{begin}{name} is given.",
                f"{name} is not None",
                *self.selected_keys,
                *form,
                f"{into}.least",
                when=self.selected_expr,
            )
        for requirement in super().requirements():
            yield replace(requirement, when=when, prerequisites=self.selected_keys)
        text = f"{name} has as many elements as {of} has dimensions."
        yield self.requirement("size", text, f"{name}.size == {of}.rank", "rank", when=when)
        least, _ = self.range or self.bounds()
        holds = f"all({least} <= axis < {into}.size for axis in {values})"
        text, keys = f"{name} lists axes of the output.", (*form, "type", "rank", "size")
        yield self.requirement("range", text, holds, *keys, when=when)
        text, holds = f"{name} is in ascending order.", f"tuple(sorted(set({values}))) == {values}"
        yield self.requirement("order", text, holds, "range", when=when)
        one, or_one = ("1, ", "1 or ") if self.ones != "kept" else ("", "")
        sizes = f"[{one}{into}.values[axis]]"
        yield self.requirement(
            "extents",
            f"{begin}each size of {of} is {or_one}that of the axis of the output that {name} maps "
            "it to.",
            f"all(n in {sizes} for n, axis in zip({of}.shape, {values}))",
            *(f"{into}.least", "given", "size", "range", "order"),
            when=when,
        )
