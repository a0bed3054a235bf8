"""Stretching to a target shape, and the role `mapping`: the axes that data's axes become."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.errors import Inapplicable
from opcert.roles.data import DataRole
from opcert.roles.drawing import Drawing
from opcert.roles.role import ListRole, Requirement, Role
from opcert.roles.scalar_values import ModeRole


class MappingRole(ListRole):
    """For each axis of data an axis of the target shape, in ascending order.

    With the key `mode`, it is given only if that mode is `mode_is`. Along an axis that it maps, a
    size of 1 is `kept` or `stretched`, or the document leaves it `open`.
    """

    relations: ClassVar = {"of": ("data",), "into": ("shape",), "mode": ("mode",)}

    role: Literal["mapping"]
    of: str
    into: str
    mode: str | None = None
    mode_is: str | None = None
    ones: Literal["kept", "stretched", "open"] = "kept"

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an unknown word of the mode, and missing or superfluous keys."""
        mode = self.selected_by
        if mode is None:
            if self.mode_is is not None:
                yield "mode_is", "missing key 'mode'; expected it together with 'mode_is'"
        else:
            yield from mode.selection_mistakes(self, self.mode_is)

    def bounds(self) -> tuple[str, str]:
        """Return the first and the last axis of the target."""
        return ("0", f"{self.into}.size - 1")

    @property
    def data(self) -> DataRole:
        """The data that has the mapped axes."""
        return self.related(self.of, DataRole)

    @property
    def target(self) -> Role:
        """The target shape that has the listed axes."""
        return self.related(self.into, Role)

    @property
    def selected_by(self) -> ModeRole | None:
        """The mode that determines whether it is given, if there is one."""
        return None if self.mode is None else self.related(self.mode, ModeRole)

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
        if self.selected_by is not None and call.fact(self.selected_by.draw_meant) != self.mode_is:
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
        name, of, into = self.name, self.of, self.into
        mode, values, target = self.selected_by, f"{self.name}.values", f"{into}.values"
        form = (f"{into}.type", f"{into}.rank")
        selected: tuple[str, ...] = ()
        when, begin = self.given_expr, ""
        if mode is not None:
            selected = (mode.word_requirement,)
            is_selected, begin = mode.is_one_of([str(self.mode_is)]), f"In mode {self.mode_is}, "
            yield Requirement(
                f"{name}.given",
                f"{begin}{name} is given.",
                f"{name} is not None",
                is_selected,
                (*selected, *form, f"{into}.least"),
            )
            when = f"{is_selected} and {when}"
        for requirement in (*super().requirements(), self.rank_requirement()):
            yield replace(requirement, when=when, prerequisites=selected)
        yield Requirement(
            f"{name}.size",
            f"{name} has as many elements as {of} has dimensions.",
            f"{name}.size == {of}.rank",
            when,
            (f"{name}.rank",),
        )
        least, _ = self.range or self.bounds()
        yield Requirement(
            f"{name}.range",
            f"{name} lists axes of the output.",
            f"all({least} <= axis < {into}.size for axis in {values})",
            when,
            (*form, f"{name}.type", f"{name}.rank", f"{name}.size"),
        )
        yield Requirement(
            f"{name}.order",
            f"{name} is in ascending order.",
            f"tuple(sorted(set({values}))) == {values}",
            when,
            (f"{name}.range",),
        )
        sizes = f"[1, {target}[axis]]" if self.ones != "kept" else f"[{target}[axis]]"
        yield Requirement(
            f"{name}.extents",
            f"{begin}each size of {of} is {'1 or ' if self.ones != 'kept' else ''}that of the "
            f"axis of the output that {name} maps it to.",
            f"all(n in {sizes} for n, axis in zip({of}.shape, {values}))",
            when,
            (
                f"{into}.least",
                *(f"{name}.{aspect}" for aspect in ("given", "size", "range", "order")),
            ),
        )
