"""Windows on data: the roles `windows`, `sliding`, and `filter`, their factors."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, ClassVar, Literal, NamedTuple

from opcert.arrays.calls import Call
from opcert.arrays.element_types import fits
from opcert.errors import Inapplicable
from opcert.roles.argument import ElementKind
from opcert.roles.data import DataRole, PartRole, PerAxis
from opcert.roles.drawing import Drawing, distinct, near, parted, places
from opcert.roles.plain_values import ModeRole
from opcert.roles.role import Requirement, Role

Interval = tuple[int, int, int]


def backwards_in(n: int, *, is_at_end: bool) -> Interval:
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

    def draw_together(self, call: Drawing) -> list[Interval]:
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

    def _draw_tested_window(self, call: Drawing, n: int) -> Interval:
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

    def _draw_other_window(self, call: Drawing, n: int, axis: int) -> Interval:
        """Draw a window of an axis of `n`; half of them are whole, so that outputs stay large."""
        offset, _, stride = self.parts
        first, last = sorted(call.integers(offset, f"ends {axis}", 0, n - 1, 2))
        if call.integer(offset, f"whole {axis}", 0, 1):
            first, last = 0, n - 1
        return first, last + 1 - first, call.pick(stride, f"other {axis}", (1, 1, 2, -1, -2, 3))

    def selected_in(self, call: Call) -> Mapping[int, range]:
        """Return what the window reaches, as far as a described tensor has room for it."""
        # A description names the first part.
        if self is not self.parts[0]:
            return {}
        windows = zip(*(part.values_in(call) for part in self.parts), strict=False)
        reached = [range(first, first + size)[::stride] for first, size, stride in windows]
        for role in self.referrers("windows", Role):
            reached = [own[:most] for own, most in zip(reached, role.values_in(call), strict=False)]
        return dict(enumerate(reached[: self.data.tensor_of(call).rank]))

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


# Windows read at most so many elements together.
_MOST_READ = 1 << 10
# Filters give at most so many sums of so many products together, in most draws and in a few.
_MOST_SUMS, _MANY_SUMS, _MOST_PRODUCTS = 48, 256, 400


class Window(NamedTuple):
    """Along one axis: size and steps of windows, the elements added at both ends, their number."""

    size: int
    stride: int
    dilation: int
    before: int
    after: int
    number: int = 0

    @property
    def span(self) -> int:
        """How many elements it extends over."""
        return (self.size - 1) * self.dilation + 1

    def within(self, room: int, *, is_whole: bool) -> "Window":
        """Return what fits into `room`; the last one ends there if they are to be whole."""
        window, stride = self, self.stride
        if self.span > room:
            size = min(self.size, room)
            most = (room - 1) // max(size - 1, 1)
            window = self._replace(size=size, dilation=max(1, min(self.dilation, most)))
        rest = room - window.span
        if is_whole:
            stride = next(s for s in range(stride, 0, -1) if rest % s == 0)
        return window._replace(stride=stride, number=rest // stride + 1)


class SlidingRole(PartRole):
    """One number for each axis of data after the first two, a list attribute.

    `part` says what it is of a window that slides along the axis. The word `explicit` of `mode`
    means that elements are added `before` and `after`; `valid`, that none are; any other, so many
    that there are as many windows as elements. If `whole`, the last window ends where data does.
    """

    relations: ClassVar = {"of": ("data",), "mode": ("mode",)}
    # None must be there: those of a filter have no size, and those that pool no dilation.
    part_names: ClassVar = ()

    role: Literal["sliding"]
    type: Literal["list"] = "list"
    elements: ClassVar[ElementKind | None] = "int"
    part: Literal["size", "stride", "dilation", "before", "after"]
    mode: str
    whole: bool = False

    def draw_together(self, call: Drawing) -> list[Window]:
        """Draw the windows along all axes."""
        shape = call.fact(self.data.draw_shape)
        space = shape[2:]
        word = call.fact(self.related(self.mode, ModeRole).draw_meant)
        keeps_size = word not in ("explicit", "valid")
        parts = {role.part for role in self.group}

        def numbers(aspect: str, least: int, most: int) -> list[int]:
            return call.integers(self, aspect, least, most, len(space))

        sizes = {"up to 3": 3, "1": 1, "up to 6": 6}
        # Those of a filter are no part.
        rare = {} if "size" in parts else {"1": sizes.pop("1")}
        size = call.one(self, "size", sizes, rare)
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
        is_whole = any(role.whole for role in self.group)
        for axis, (n, window) in enumerate(zip(space, windows, strict=True)):
            room = n + (window.before + window.after if word == "explicit" else 0)
            # What keeps the size has room for any window.
            windows[axis] = (
                window._replace(number=n) if keeps_size else window.within(room, is_whole=is_whole)
            )
        # At most, there is a window at each element, and at those added.
        reads = prod(shape[:2])
        for n, window in zip(space, windows, strict=True):
            reads *= ((n + window.before + window.after) // window.stride + 1) * window.size
        if reads > _MOST_READ:
            raise Inapplicable("the windows read too many elements")
        return windows

    def draw(self, call: Drawing) -> Any:
        """Return its number for each axis."""
        windows = call.fact(self.group[0].draw_together)
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


class FilterRole(DataRole):
    """What is multiplied with data in each window: (outputs, channels of data, sizes...).

    `windows` names one of the lists of the window, which has its sizes.
    """

    relations: ClassVar = {"type_of": ("data",), "windows": ("sliding",)}

    role: Literal["filter"]
    type_of: str
    windows: str

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report a type symbol other than that of data."""
        return self.type_mistakes(self.type_of)

    @property
    def _sliding(self) -> SlidingRole:
        return self.related(self.windows, SlidingRole)

    def draw_shape(self, call: Drawing) -> tuple[int, ...]:
        """Draw the number of outputs; data and the windows determine the rest."""
        batches, channels, *_ = call.fact(self._sliding.data.draw_shape)
        windows = call.fact(self._sliding.group[0].draw_together)
        sizes, sums = [w.size for w in windows], batches * prod(w.number for w in windows) or 1
        most = call.few_or_many(self, _MOST_SUMS, _MANY_SUMS) // sums
        room = min(most, _MOST_PRODUCTS // (sums * channels * prod(sizes)))
        if not room:
            raise Inapplicable(f"{self.name} is multiplied with too many elements")
        return (call.extent(self, "outputs", room), channels, *sizes)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank, and its channels."""
        yield self.same_type(self.type_of)
        name, data = self.name, self._sliding.data.name
        text = f"{name} has as many dimensions as {data}."
        yield self.requirement("rank", text, f"{name}.rank == {data}.rank")
        text = f"{name} has as many channels as {data}."
        yield self.requirement("channels", text, f"{name}.shape[1] == {data}.shape[1]", "rank")
