"""The role `mask`: which slicing steps do something else than slicing."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.roles.argument import ElementKind
from opcert.roles.factors import (
    BuildContext,
    Factor,
    ObservationPoint,
    ObservedLevels,
    Requirement,
    levels_where,
)
from opcert.roles.list_role import ListRole
from opcert.roles.role import OMITTED
from opcert.roles.samplers import Sampler
from opcert.roles.slicing_steps import SlicingStepsRole

_MEANINGS = {
    "new": "a new axis {} it",
    "single": "a removed axis {} it",
    "rest": "skipped axes {} it",
}


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

    def factors(self, _: str) -> Iterator[Factor]:
        """Yield the place of its marks next to the tested step, and its omission."""
        if self.marks in _MEANINGS:
            words = {"none": "", "before": _MEANINGS[self.marks].format("before")}
            words["after"] = _MEANINGS[self.marks].format("after")
            if self.marks == "rest":
                words["nothing"] = "no axis left to skip"
            if not self.required:
                words[OMITTED] = f"{self.name} omitted"
            yield Factor.of_names(self.factor("marks"), words)

    def build(self, context: BuildContext) -> Any:
        """Return the list, None if it is omitted."""
        if context.choice.level(self.factor("marks")) == OMITTED:
            return None
        bits = [step.has_mark(self.marks) for step in self._steps.steps(context)]
        # Most calls have masks of one length: a backend that accepts only such calls shows more.
        is_equal = context.draw(f"{self.of}|masks", lambda sampler: sampler.between(0, 2) > 0)
        return context.draw(self.name, partial(self._draw, bits, is_equal=is_equal))

    def _draw(self, bits: Sequence[bool], sampler: Sampler, *, is_equal: bool) -> Sequence[int]:
        """Draw a list that is as long as the steps, or shorter or longer if it may be."""
        mask = [int(bit) for bit in bits]
        form = "equal" if is_equal else sampler.pick(("equal", "short", "long"))
        if form == "short":
            return mask[: max([k + 1 for k, bit in enumerate(mask) if bit], default=0)]
        # Only one mark means the rest, also among those that are ignored.
        further = 0 if self.marks == "rest" and any(bits) else 1
        return [*mask, further, 0] if form == "long" else mask

    def observe(self, call: Call, point: ObservationPoint) -> ObservedLevels:
        """Observe marks before and after the tested step."""
        if self.marks not in _MEANINGS:
            return ObservedLevels()
        k, count = point.get("element", 0), call.inputs[self.of].size
        marked = [i for i, bit in enumerate(self.values_in(call)[:count]) if bit]
        skipped = call.inputs[self._steps.of].rank - self._steps.sliced_in(call)
        is_nothing = self.marks == "rest" and bool(marked) and not skipped
        levels = {
            "none": self.is_given_in(call) and not {*marked} - {k},
            "before": not is_nothing and any(i < k for i in marked),
            "after": not is_nothing and any(i > k for i in marked),
            "nothing": is_nothing,
            OMITTED: not self.is_given_in(call),
        }
        return ObservedLevels({}, {self.factor("marks"): levels_where(levels)})

    def requirements(self) -> Iterator[Requirement]:
        """Yield that it has no other elements than 0 and 1, and marks the rest once."""
        name = self.name
        group = [role.name for role in self.related(self.of, SlicingStepsRole).masks.values()]
        # The first mask yields what holds for all.
        if name == group[0]:
            yield Requirement(
                f"{name}.bits",
                f"The elements of {', '.join(group[:-1])} and {group[-1]} are 0 and 1.",
                f"all(bit in [0, 1] for mask in [{', '.join(group)}] for bit in mask)",
            )
        if self.marks == "rest":
            yield Requirement(
                f"{name}.once",
                f"{name} has at most one 1.",
                f"sum([bit == 1 for bit in {name}]) <= 1",
            )
