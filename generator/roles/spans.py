"""The role `spans`: starts, stops and steps of slices, and what `slicing_steps` shares with it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import repeat
from typing import ClassVar, Literal

from opcert.arrays.calls import Call, python_slice
from opcert.arrays.element_types import fits, lowest
from opcert.errors import listed
from opcert.roles.axes import AxesRole
from opcert.roles.data import PartRole
from opcert.roles.drawing import Drawing, near, parted, places
from opcert.roles.role import ListRole, Requirement, Role


class SlicePartRole(PartRole):
    """The starts, the stops or the steps of slices: a list with an element for each slice.

    Three arguments have the role, one for each `part`. A subclass states what they mean.
    """

    part_names: ClassVar = ("start", "stop", "step")

    role: Literal["spans", "slicing_steps"]
    part: Literal["start", "stop", "step"]

    def bounds(self) -> tuple[str, str]:
        """Return the limits of its type: a slice may reach past its axis."""
        return (f"lowest({self.name}.type)", f"highest({self.name}.type)")

    def requirements(self) -> Iterator[Requirement]:
        """Yield types, rank, lengths, and that no step is 0.

        The start yields the requirements that all parts share.
        """
        yield from (rule for rule in super().requirements() if rule.key.endswith(".rank"))
        if self.part == "start":
            yield from self._type_requirement()
            yield self._equal_lengths()
        if self.part == "step":
            holds = f"all(value != 0 for value in {self.values_expr})"
            yield self.requirement("nonzero", "No step is 0.", holds)

    def _type_requirement(self) -> Iterator[Requirement]:
        """Yield the element types of all parts, as one requirement."""
        types = [(part, rule) for part in self.parts for rule in Role.requirements(part)]
        kinds: dict[str, list[str]] = {}
        for part, rule in types:
            kinds.setdefault(rule.text.partition(" is ")[2], []).append(part.name)
        texts = [
            f"{listed(names)} {'are' if len(names) > 1 else 'is'} {kind.removesuffix('.')}"
            for kind, names in kinds.items()
        ]
        if types:
            holds = " and ".join(_where_given(part, rule.holds) for part, rule in types)
            yield self.requirement("type", f"{'; '.join(texts)}.", holds, when="True")

    def axes_in(self, call: Call) -> Sequence[int | None]:
        """Return the axis of each slice, if it has one."""
        raise NotImplementedError

    def slices_in(self, call: Call) -> Iterator[tuple[int | None, slice]]:
        """Yield the axis of each slice, and the slice; an omitted part leaves its end open."""
        numbers = [part.values_in(call) or repeat(None) for part in self.parts]
        for axis, *own in zip(self.axes_in(call), *numbers, strict=False):
            yield axis, slice(*own)

    def selected_in(self, call: Call) -> Mapping[int, range]:
        """Return what the slices select that all parts describe together."""
        shape, slices = self.data.tensor_of(call).shape, self.slices_in(call)
        return {axis: range(shape[axis])[own] for axis, own in slices if axis is not None}

    @property
    def _lists(self) -> list[ListRole]:
        """The lists that have an element for each slice."""
        return [*self.parts]

    @property
    def _compared(self) -> ListRole:
        """The list with which all lengths are compared: one that is not omitted."""
        return next((part for part in self._lists if part.required), self)

    def _equal_lengths(self) -> Requirement:
        lists, length = self._lists, self._compared.length_expr
        others = [part for part in lists if part is not self._compared]
        conditions = [_where_given(part, f"{part.length_expr} == {length}") for part in others]
        names = [part.name if part.required else f"where given {part.name}" for part in lists]
        ranks = [f"{part.name}.rank" for part in lists if not part.is_attribute]
        text = f"{listed(names)} have equally many elements."
        return self.requirement("length", text, " and ".join(conditions), *ranks, when="True")


def _where_given(part: ListRole, condition: str) -> str:
    """Return a condition on a list that a call may omit."""
    return condition if part.required else f"({part.name} is None or {condition})"


Span = tuple[int, int, int]


class SpansRole(SlicePartRole):
    """The starts, the stops or the steps of slices along axes of data, as in Python.

    Three arguments have the role, one for each `part`: `start`, `stop` and `step`. Each is a tensor
    or an attribute with an element for each of the axes that `along` names, or for all axes. An
    omitted part means the whole axis, in steps of 1.
    """

    relations: ClassVar = {"of": ("data",), "along": ("axes",)}

    role: Literal["spans"]
    along: str | None = None

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report missing and repeated parts, and parts along different axes."""
        yield from super().mistakes()
        first = self.group[0]
        if self.along != first.along:
            text = f"along {self.along or 'all axes'}, but '{first.name}' is along"
            yield "along", f"{text} {first.along or 'all axes'}; expected the same axes"

    @cached_property
    def axes(self) -> AxesRole | None:
        """The sliced axes, None for all axes."""
        return None if self.along is None else self.related(self.along, AxesRole)

    def draw_together(self, call: Drawing) -> list[Span]:
        """Draw start, stop and step for each sliced axis; one of them is near ends and limits."""
        shape = call.fact(self.data.draw_shape)
        axes = tuple(range(len(shape))) if self.axes is None else call.fact(self.axes.draw_listed)
        tested = call.one(self.parts[0], "place", places(len(axes))) if axes else 0
        return [
            self._draw_tested_span(call, shape[axis])
            if k == tested
            else self._draw_other_span(call, shape[axis], k)
            for k, axis in enumerate(axes)
        ]

    def _draw_tested_span(self, call: Drawing, n: int) -> Span:
        """Draw a slice of an axis of `n` near its ends and the limits of types."""
        start, stop, step = self.parts
        by = 1
        if call.fact(step.draw_given):
            element_type = call.fact(step.draw_type)
            backwards = {"backwards": -1} if lowest(element_type) < 0 else {}
            sign = call.one(step, "direction", {"forwards": 1, **backwards})
            steps = near(n, element_type).items()
            by = call.one_near(step, "value", {name: v for name, v in steps if v * sign > 0})
        begin, end = (0, n) if by > 0 else (n - 1, -n - 1)
        # Most slices select something, so that outputs show what is wrong.
        if call.fact(start.draw_given):
            values = near(n, call.fact(start.draw_type))
            options = parted(values, lambda v: python_slice(n, v, end, by))
            begin = call.one_near(start, "value", *options)
        if call.fact(stop.draw_given):
            values = near(n, call.fact(stop.draw_type))
            options = parted(values, lambda v: python_slice(n, begin, v, by))
            end = call.one_near(stop, "value", *options)
        return begin, end, by

    def _draw_other_span(self, call: Drawing, n: int, k: int) -> Span:
        """Draw a slice of an axis of `n` that selects something, unless the axis is empty."""
        start, stop, step = self.parts
        first, last = sorted(call.integers(start, f"ends {k}", 0, max(0, n - 1), 2))
        begin, end, by = (first, first - n), (last + 1, last + 1 - n), 1
        if last + 1 == n:
            # Counted from the end, 0 would be the first element.
            end = n, n + 2
        if call.fact(step.draw_given):
            by = _pick(call, step, f"step {k}", (1, 1, 2, 3, n + 1, -1, -2))
        if by < 0:
            begin = last, last - n
            # -1 would be the last element.
            end = (first - 1, first - 1 - n) if first else (-n - 1, -n - 3)
        values = [
            _pick(call, part, f"value {k}", ways) if call.fact(part.draw_given) else 0
            for part, ways in ((start, begin), (stop, end))
        ]
        return values[0], values[1], by

    def axes_in(self, call: Call) -> Sequence[int]:
        """Return the sliced axes."""
        return range(call.inputs[self.of].rank) if self.axes is None else self.axes.axes_in(call)

    @property
    def _lists(self) -> list[ListRole]:
        return [*self.parts, *([self.axes] if self.axes is not None else [])]

    def _equal_lengths(self) -> Requirement:
        """Return that all parts have the same length, which may be the rank of data."""
        equal = super()._equal_lengths()
        if self.axes is not None:
            return equal
        text = f"{equal.text[:-1]}, one for each dimension of {self.of}."
        holds = f"{equal.holds} and {self._compared.length_expr} == {self.of}.rank"
        return replace(equal, text=text, holds=holds)

    def requirements(self) -> Iterator[Requirement]:
        """Yield what all slices require, and how many there are without axes."""
        yield from super().requirements()
        axes, length = self.axes, self._compared.length_expr
        if self.part == "start" and axes is not None and not axes.required:
            relation, words = "<=", "no more slices than"
            if axes.omitted == "all":
                relation, words = "==", "as many slices as"
            text = f"Without {axes.name}, there are {words} {self.of} has dimensions."
            holds, when = f"{length} {relation} {self.of}.rank", f"{axes.name} is None"
            yield self.requirement("fit", text, holds, "length", when=when)


def _pick(call: Drawing, part: SlicePartRole, aspect: str, values: Sequence[int]) -> int:
    """Return one of the values that fit the type of a part, without a level."""
    element_type = call.fact(part.draw_type)
    return call.pick(part, aspect, [value for value in values if fits(element_type, value)])
