"""The roles `slicing_steps`, starts, stops and steps of slices, and `mask`, which modifies them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice, repeat
from typing import ClassVar, Literal, NamedTuple

from opcert.arrays.calls import Call, python_slice
from opcert.arrays.element_types import fits, highest, lowest
from opcert.errors import listed
from opcert.roles.argument import ElementKind
from opcert.roles.drawing import Drawing, distinct, near, parted, places
from opcert.roles.role import ListRole, Requirement, Role
from opcert.roles.spans import SlicePartRole


class SlicingStep(NamedTuple):
    """The numbers of a step, and the masks that mark it; a step without a mark slices an axis."""

    start: int
    stop: int
    step: int
    marks: Collection[str] = ()


class SlicingStepsRole(SlicePartRole):
    """The starts, the stops or the steps of slices, with an element for each slicing step.

    As for `spans`, three arguments have the role. The arguments of the role `mask` that name the
    start change what a step does. A step that no mask marks slices the next axis. Which slices
    select nothing, the end of an open stop backwards, and steps without an axis are left to the
    spec: calls are drawn without them.
    """

    role: Literal["slicing_steps"]

    @cached_property
    def masks(self) -> Mapping[str, Role]:
        """The masks by what they mark."""
        return {role.marks: role for role in self.parts[0].referrers("of", MaskRole)}

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report missing parts, as for `spans`, and missing masks."""
        problems = [*super().mistakes()]
        yield from problems
        if not problems and self.part == "start":
            for marks in ("start", "stop", "new", "single", "rest"):
                if marks not in self.masks:
                    expected = f"an argument with 'role: mask', 'of: {self.name}', 'marks: {marks}'"
                    yield "part", f"no mask marks '{marks}'; expected {expected}"

    def draw_together(self, call: Drawing) -> list[SlicingStep]:
        """Draw what each step does: the tested one slices an axis, near ends and limits of types.

        Every axis that no step skips has a step of its own, in order, next to those of new axes.
        """
        shape, single = call.fact(self.data.draw_shape), self.masks["single"]
        skipped = self._draw_skipped(call, shape)
        free = [axis for axis in range(len(shape)) if skipped is None or axis not in skipped]
        most = max(0, len(free) - 1)
        common = distinct({"none": 0, "one": min(1, most), "all but one": most})
        number = call.one(single, "number", common, {"all": len(free)} if free else {})
        removed = sorted(call.sample(single, "axes", free, number))
        sliced = [axis for axis in free if axis not in removed]
        tested = sliced[call.one(self, "place", places(len(sliced)))] if sliced else None
        kinds = ["any", "whole", "backwards"] if self._can_be_backwards(call) else ["any", "whole"]
        others = call.one(self, "others", kinds) if len(sliced) > 1 else "any"
        steps: list[SlicingStep] = []
        for axis in free:
            n = shape[axis]
            if axis in removed:
                steps.append(self._draw_single(call, n, axis, is_tested=axis == removed[0]))
            elif axis == tested:
                steps.append(self._draw_tested(call, n))
            else:
                steps.append(self._draw_other(call, n, axis, others))
        if skipped is not None:
            steps.insert(skipped.start, self._draw_ignored(call, "rest"))
        new = self.masks["new"]
        count = call.one(new, "number", {"none": 0, "one": 1}, {"two": 2, "four": 4})
        for k in range(count):
            place = call.integer(new, f"place {k}", 0, len(steps))
            if k == 0:
                place = call.one(new, "place", places(len(steps) + 1))
            steps.insert(place, self._draw_ignored(call, "new", k))
        return steps

    def _draw_skipped(self, call: Drawing, shape: Sequence[int]) -> range | None:
        """Draw the axes that one step skips, perhaps none; None if there is no such step."""
        rank, rest = len(shape), self.masks["rest"]
        first, last = sorted(call.integers(rest, "ends", 0, rank, 2))
        if 0 in shape:
            # What a slice selects of an empty axis is open.
            empty = shape.index(0)
            around = range(min(first, empty), max(last, empty + 1))
            return call.one(rest, "axes", {"an empty one": around})
        kinds: dict[str, range | None] = {"none": None}
        if rank > 1:
            kinds["one"] = range(min(first, rank - 1), min(first, rank - 1) + 1)
        if 1 < last - first < rank:
            kinds["several"] = range(first, last)
        return call.one(rest, "axes", kinds, {"no axis": range(first, first), "all": range(rank)})

    def _can_be_backwards(self, call: Drawing) -> bool:
        return call.fact(self.parts[2].draw_given) and lowest(call.fact(self.draw_type)) < 0

    def _draw_ignored(
        self, call: Drawing, kind: Literal["new", "rest"], number: int = 0
    ) -> SlicingStep:
        """Draw a step whose numbers are ignored, and whose start and stop may be masked too."""
        role, named = self.masks[kind], near(9, call.fact(self.draw_type))
        start, stop, by = (
            call.pick(role, f"ignored {part} {number}", [v for v in named.values() if v or k < 2])
            for k, part in enumerate(self.part_names)
        )
        ends = ("start", "stop")
        masks = [part for part in ends if not call.integer(role, f"{part} mask {number}", 0, 3)]
        return SlicingStep(start, stop, by, (kind, *masks))

    def _draw_single(self, call: Drawing, n: int, axis: int, *, is_tested: bool) -> SlicingStep:
        """Draw a step that takes one of `n` elements: its stop equals its start."""
        single, named = self.masks["single"], near(n, call.fact(self.draw_type))
        inside = {name: value for name, value in named.items() if -n <= value < n}
        index = call.pick(single, f"index {axis}", [*inside.values()])
        if is_tested:
            index = call.one(single, "index", inside)
        # Whatever the step is, it is ignored.
        by = call.pick(single, f"step {axis}", [value for value in named.values() if value])
        return SlicingStep(index, index, by, ("single",))

    def _draw_tested(self, call: Drawing, n: int) -> SlicingStep:
        """Draw a slice of an axis of `n` that mostly selects something."""
        start, stop, step = self.parts
        element_type = call.fact(self.draw_type)
        named, sign, size = near(n, element_type), 1, 1
        if self._can_be_backwards(call):
            sign = call.one(step, "direction", {"forwards": 1, "backwards": -1})
        if call.fact(step.draw_given):
            sizes = {k: v for k, v in named.items() if v > 0 and fits(element_type, sign * v)}
            size = call.one_near(step, "size", sizes)
        by, (first, end) = sign * size, (0, n) if sign > 0 else (n - 1, -n - 1)
        # What a mask replaces may be anything.
        begin = call.pick(start, "masked value", [*named.values()])
        marks = [*call.one(start, "mask", {"unmasked": (), "masked": ("start",)})]
        if not marks:
            # A start below the axis counts as its first element, backwards too.
            reach = {k: v for k, v in named.items() if python_slice(n, max(v, -n), end, by)}
            begin = call.one_near(start, "value", reach)
            first = max(begin, -n)
        picked = python_slice(n, first, n if sign > 0 else 0, by)
        # Backwards, it is open whether a masked stop includes the first element.
        is_decided = sign > 0 or (picked and picked[-1] + by)
        masks = parted({"unmasked": False, "masked": True}, lambda masked: is_decided or not masked)
        if call.one(stop, "mask", *masks):
            marks.append("stop")
            end = call.pick(stop, "masked value", [*named.values()])
        else:
            ends = parted(named, lambda v: python_slice(n, first, v, by))
            end = call.one_near(stop, "value", *ends)
        return SlicingStep(begin, end, by, marks)

    def _draw_other(self, call: Drawing, n: int, axis: int, kind: str) -> SlicingStep:
        """Draw a slice of an axis of `n` that selects something; its numbers fit their type."""
        start, stop, step = self.parts
        element_type = call.fact(self.draw_type)
        if kind == "whole":
            begin, end = call.integers(start, f"masked {axis}", 0, 9, 2)
            return SlicingStep(begin, end, 1, ("start", "stop"))
        sign = -1 if kind == "backwards" else 1
        if kind == "any" and self._can_be_backwards(call):
            sign = call.pick(step, f"direction {axis}", (1, -1))
        size = call.pick(step, f"size {axis}", (1, 1, 2, 3)) if call.fact(step.draw_given) else 1
        most = min(n, highest(element_type)) - 1
        low, high = sorted(call.integers(start, f"ends {axis}", 0, most, 2))
        begin, end = (low, high + 1) if sign > 0 else (high, low - 1)
        if end < 0:
            # No other number than these means that the first element is included.
            end, begin = (-n - 1, begin) if fits(element_type, -n - 1) else (0, max(begin, 1))
        elif end < n and call.integer(stop, f"from the end {axis}", 0, 1):
            end -= n if fits(element_type, end - n) else 0
        if call.integer(start, f"from the end {axis}", 0, 1):
            begin -= n if fits(element_type, begin - n) else 0
        # What a masked stop means backwards is open.
        can_be_masked = (start, stop) if sign > 0 else (start,)
        marks = [
            role.part for role in can_be_masked if not call.integer(role, f"mask {axis}", 0, 2)
        ]
        return SlicingStep(begin, end, sign * size, marks)

    def _marked(self, call: Call, marks: str) -> list[bool]:
        bits = chain(self.masks[marks].values_in(call), repeat(0))
        return [bit == 1 for bit in islice(bits, call.inputs[self.parts[0].name].size)]

    def axes_in(self, call: Call) -> Sequence[int | None]:
        """Return the axis of each step; None for a step that has none of its own."""
        marks = [*zip(self._marked(call, "new"), self._marked(call, "rest"), strict=True)]
        axis, skipped = 0, call.inputs[self.of].rank - marks.count((False, False))
        axes: list[int | None] = []
        for is_new, is_rest in marks:
            is_sliced = not (is_new or is_rest)
            axes.append(axis if is_sliced else None)
            # Of several steps that skip axes, the first skips all of them.
            axis, skipped = (axis + skipped, 0) if is_rest else (axis + is_sliced, skipped)
        return axes

    def slices_in(self, call: Call) -> Iterator[tuple[int | None, slice]]:
        """Yield the slice of each step, as masks change it; a single element is a slice of one."""
        shape = self.data.tensor_of(call).shape
        marks = [self._marked(call, marks) for marks in ("single", "start", "stop")]
        for (axis, own), *marked in zip(super().slices_in(call), *marks, strict=True):
            is_single, from_first, to_last = marked
            if is_single:
                # Past -1, the last element, there is no index.
                yield axis, slice(own.start, own.start + 1 or None)
            elif axis is not None:
                # A start below the axis counts as its first element, backwards too.
                first = None if from_first else max(own.start, -shape[axis])
                yield axis, slice(first, None if to_last else own.stop, own.step)


class MaskRole(ListRole):
    """A list of 0 and 1, an attribute: a 1 marks a slicing step of `of`.

    `marks` is what a 1 means: the step slices from the `start` or to the `stop` of its axis, it
    inserts a `new` axis, it takes a `single` element and removes the axis, or it skips the
    `rest` of the axes. A shorter list is padded with zeros, and further elements are ignored.
    """

    relations: ClassVar = {"of": ("slicing_steps",)}

    role: Literal["mask"]
    type: Literal["list"] = "list"
    elements: ClassVar[ElementKind | None] = "int"
    of: str
    marks: Literal["start", "stop", "new", "single", "rest"]

    @property
    def _steps(self) -> SlicingStepsRole:
        return self.related(self.of, SlicingStepsRole)

    def draw(self, call: Drawing) -> list[int] | None:
        """Return the list, None if it is omitted.

        It is as long as there are steps, or shorter without marks at its end, or longer: what
        belongs to no step is ignored.
        """
        steps = call.fact(self._steps.draw_together)
        mask = [int(self.marks in step.marks) for step in steps]
        if not self.required and not any(mask) and not call.fact(self.draw_given):
            return None
        marked = max([k + 1 for k, bit in enumerate(mask) if bit], default=0)
        shorter = ["shorter"] if marked < len(mask) else []
        length = call.one(self, "length", ["as steps"], [*shorter, "longer"])
        if length == "shorter":
            return mask[: call.integer(self, "short", marked, len(mask) - 1)]
        if length == "longer":
            further = call.integers(self, "further", 0, 1, 3)
            if self.marks == "rest":
                # Whether a second mark of the rest counts where it is ignored is open.
                further = [0, int(not any(mask)), 0]
            mask += further[: call.integer(self, "long", 1, 3)]
        return mask

    def axes_in(self, call: Call) -> Sequence[int | None]:
        """Return the axis of each step."""
        return self._steps.axes_in(call)

    def requirements(self) -> Iterator[Requirement]:
        """Yield that it has no other elements than 0 and 1, and marks the rest once."""
        name = self.name
        group = [role.name for role in self._steps.masks.values()]
        # The first mask yields what holds for all.
        if name == group[0]:
            text = f"The elements of {listed(group)} are 0 and 1."
            holds = f"all(bit in [0, 1] for mask in [{', '.join(group)}] for bit in mask)"
            yield self.requirement("bits", text, holds)
        if self.marks == "rest":
            holds = f"sum([bit == 1 for bit in {name}]) <= 1"
            yield self.requirement("once", f"{name} has at most one 1.", holds)
