"""The role `sliding`: a window that slides over the axes of data after the first two."""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, ClassVar, Literal, NamedTuple

from opcert.arrays.calls import Call
from opcert.errors import Inapplicable
from opcert.roles.argument import ElementKind
from opcert.roles.data import OfDataRole
from opcert.roles.drawing import Drawing
from opcert.roles.modes import ModeRole
from opcert.roles.role import ListRole, Requirement

# Windows read at most so many elements together.
_MOST_READ = 1 << 10


class Window(NamedTuple):
    """Along one axis: the size of a window, its steps, and the elements added at both ends."""

    size: int
    stride: int
    dilation: int
    before: int
    after: int

    @property
    def span(self) -> int:
        """How many elements it extends over."""
        return (self.size - 1) * self.dilation + 1


class SlidingRole(ListRole, OfDataRole):
    """One number for each axis of data after the first two, a list attribute.

    `part` says what it is of a window that slides along the axis. The word `explicit` of `mode`
    means that elements are added `before` and `after`; `valid`, that none are; any other, so many
    that there are as many windows as elements.
    """

    relations: ClassVar = {"of": ("data",), "mode": ("mode",)}

    role: Literal["sliding"]
    type: Literal["list"] = "list"
    elements: ClassVar[ElementKind | None] = "int"
    part: Literal["size", "stride", "dilation", "before", "after"]
    mode: str

    @property
    def _group(self) -> list["SlidingRole"]:
        roles = self._signature.roles
        return [role for role in roles if isinstance(role, SlidingRole) and role.of == self.of]

    def draw_windows(self, call: Drawing) -> list[Window]:
        """Draw the windows along all axes."""
        shape = call.fact(self.data.draw_shape)
        space = shape[2:]
        word = call.fact(self.related(self.mode, ModeRole).draw_meant)
        keeps_size = word not in ("explicit", "valid")
        parts = {role.part for role in self._group}

        def numbers(aspect: str, least: int, most: int) -> list[int]:
            return call.choices.integers(f"{self.name} {aspect}", least, most, len(space))

        size = call.one(self, "size", {"up to 3": 3, "1": 1, "up to 6": 6})
        strides = {"1": 1} if keeps_size else {"1": 1, "up to 2": 2, "up to 4": 4}
        stride = call.one(self, "stride", strides)
        dilations = {"1": 1, "up to 2": 2, "up to 3": 3} if "dilation" in parts else {"1": 1}
        dilation = call.one(self, "dilation", dilations)
        added = call.one(self, "added", ["within a window", "none", "equal"], ["beyond a window"])
        before, after = (numbers(part, 0, size - 1) for part in ("before", "after"))
        if added == "none":
            before = after = [0] * len(space)
        elif added == "equal":
            after = before
        elif added == "beyond a window":
            after = numbers("beyond", size, size + 2)
        lists = numbers("sizes", 1, size), numbers("strides", 1, stride)
        windows = [*map(Window, *lists, numbers("dilations", 1, dilation), before, after)]
        for axis, (n, window) in enumerate(zip(space, windows, strict=True)):
            room = n + (window.before + window.after if word == "explicit" else 0)
            # What keeps the size has room for any window.
            if window.span > room and not keeps_size:
                windows[axis] = window._replace(size=min(window.size, room), dilation=1)
        # At most, there is a window at each element, and at those added.
        reads = prod(shape[:2])
        for n, window in zip(space, windows, strict=True):
            reads *= ((n + window.before + window.after) // window.stride + 1) * window.size
        if reads > _MOST_READ:
            raise Inapplicable("the windows read too many elements")
        return windows

    def draw(self, call: Drawing) -> Any:
        """Return its number for each axis."""
        windows = call.fact(self._group[0].draw_windows)
        return [getattr(window, self.part) for window in windows]

    def axes_in(self, call: Call) -> Sequence[int | None]:
        """Return the axes after the first two."""
        return range(2, max(2, self.data.tensor_of(call).rank))

    def requirements(self) -> Iterator[Requirement]:
        """Yield its length, and its least number."""
        yield from super().requirements()
        name, least = self.name, int(self.part == "size")
        text = f"{name} has a number for each axis of {self.of} after the first two."
        yield self.requirement("length", text, f"len({name}) == {self.of}.rank - 2")
        is_added = self.part in ("before", "after")
        when = f"{self.mode} == 'explicit'" if is_added else "True"
        text = f"No number of {name} is below {least}."
        yield self.requirement("least", text, f"all(n >= {least} for n in {name})", when=when)
