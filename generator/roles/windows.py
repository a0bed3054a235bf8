"""The role `windows`: on each axis of data, a window of elements and the stride through it."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

from opcert.arrays.element_types import fits
from opcert.errors import Inapplicable
from opcert.roles.data import PartRole, PerAxis
from opcert.roles.drawing import Drawing, distinct, near, parted, places
from opcert.roles.role import Requirement

Window = tuple[int, int, int]
_DRAWN_STRIDES = (1, 1, 2, -1, -2, 3)


def reachable(size: int, stride: int) -> int:
    """Return how many elements of a window a stride reaches, by its magnitude."""
    return 1 + (size - 1) // stride


def backwards_in(n: int, *, is_at_end: bool) -> Window:
    """Return a window of an axis whose offset, size, stride and sign all matter, if `n` allows it.

    An implementation that special-cases a rank, or an axis of it, fails where it differs.
    """
    if n > 3:
        return 1, n - 1, -2
    return (1, n - 1, -1) if n == 3 or (n == 2 and is_at_end) else (0, n, -1)


def _far(call: Drawing, role: PerAxis, options: Mapping[str, int]) -> Mapping[str, int]:
    """Return those past 16 bits in one of two draws, if there are any: few axes have them."""
    past = {name: value for name, value in options.items() if value >= 1 << 16}
    return past if past and call.integer(role, "far", 0, 1) else options


class WindowsRole(PerAxis, PartRole):
    """The offsets, the sizes or the strides of a window of data, with a number for each axis.

    Three arguments have the role, one for each `part`: `offset`, `size` and `stride`. The window
    has at least one element on each axis, all within data. A negative stride starts at the end of
    the window. With `surplus`, the lists may be longer than the rank of data. No rule follows for
    further elements, which are not read.
    """

    part_names: ClassVar = ("offset", "size", "stride")

    role: Literal["windows"]
    part: Literal["offset", "size", "stride"]
    surplus: bool = False

    def draw_windows(self, call: Drawing) -> list[Window]:
        """Draw offset, size and stride for each axis; one of them is near ends and limits."""
        shape, offset = call.fact(self.data.draw_shape), self.parts[0]
        if 0 in shape:
            raise Inapplicable("an axis without elements has no window")
        if not shape:
            return []
        # On an axis of one element, there is only one window.
        named = distinct({**places(len(shape)), "longest": shape.index(max(shape))})
        tested = call.one(offset, "place", *parted(named, lambda axis: shape[axis] > 1))
        others = call.one(offset, "others", ["any", "whole", "backwards", "whole backwards"])
        windows = []
        for axis, n in enumerate(shape):
            if axis == tested:
                windows.append(self._draw_tested_window(call, n))
            elif others == "backwards":
                windows.append(backwards_in(n, is_at_end=bool(axis % 2)))
            elif others == "any":
                windows.append(self._draw_other_window(call, n, axis))
            else:
                windows.append((0, n, 1 if others == "whole" else -1))
        return windows

    def _draw_tested_window(self, call: Drawing, n: int) -> Window:
        """Draw a window of an axis of `n`, with a stride that mostly reaches several elements."""
        offset_role, size_role, stride_role = self.parts
        sizes = {"n": n, "n - 1": n - 1, "n // 2": n // 2, "2": 2}
        sizes["any"] = call.integer(size_role, "any", 1, n)
        sizes |= {"2^8": 1 << 8, "2^8 + 1": 257, "2^16": 1 << 16, "2^16 + 1": (1 << 16) + 1}
        # A window of one element shows no stride.
        long = distinct({name: value for name, value in sizes.items() if 1 < value <= n})
        size = call.one(size_role, "value", _far(call, size_role, long), {"1": 1})
        room = n - size
        offsets = {"0": 0, "up to the end": room, "inside": room // 2, "1": 1, "2^8": 1 << 8}
        offsets |= {"one short of the end": room - 1, "2^16": 1 << 16, "2^16 + 1": (1 << 16) + 1}
        offsets = {name: value for name, value in offsets.items() if 0 <= value <= room}
        offset = call.one(offset_role, "value", _far(call, offset_role, distinct(offsets)))
        sign = call.one(stride_role, "direction", {"forwards": 1, "backwards": -1})
        # More than 32 bits may be invalid; the least integer of these has no positive counterpart.
        strides = {
            name.replace("n", " size").strip(): value
            for name, value in {**near(size, "i64"), "2^31 - 1": (1 << 31) - 1}.items()
            if value > 0 and fits("i32", sign * value)
        }
        inside, past = parted(strides, lambda value: value < size)
        stride = call.one(stride_role, "size", _far(call, stride_role, inside), past)
        return offset, size, sign * stride

    def _draw_other_window(self, call: Drawing, n: int, axis: int) -> Window:
        """Draw a window of an axis of `n`; half of them are whole, so that outputs stay large."""
        offset, _, stride = self.parts
        first, last = sorted(call.choices.integers(f"{offset.name} ends {axis}", 0, n - 1, 2))
        if call.integer(offset, f"whole {axis}", 0, 1):
            first, last = 0, n - 1
        return first, last + 1 - first, call.pick(stride, f"other {axis}", _DRAWN_STRIDES)

    def draw(self, call: Drawing) -> Any:
        """Return its number for each axis."""
        return self.drawn_part(call, call.fact(self.parts[0].draw_windows))

    @property
    def lengths(self) -> tuple[str, str] | None:
        """The condition on its length, and the words for it."""
        if not self.surplus:
            return super().lengths
        text = f"{self.name} has a number for each axis of {self.of}"
        return f"{self.length_expr} >= {self.of}.rank", text

    def requirements(self) -> Iterator[Requirement]:
        """Yield types, ranks and lengths, and that windows are in data, not empty, with strides."""
        of, values = self.of, self.values_expr
        axes = f"for d in range({of}.rank)"
        yield from super().requirements()
        if self.part == "size":
            text = f"The window of {of} has at least one element on each axis."
            yield self.requirement("least", text, f"all({values}[d] >= 1 {axes})", "length")
        elif self.part == "offset":
            size = self.parts[1]
            text = f"The window lies within {of} on each axis."
            holds = f"all(0 <= {values}[d] <= {of}.shape[d] - {size.values_expr}[d] {axes})"
            yield self.requirement("within", text, holds, "length", f"{size.name}.length")
        else:
            holds = f"all({values}[d] != 0 {axes})"
            yield self.requirement("nonzero", "No stride is 0.", holds, "length")
