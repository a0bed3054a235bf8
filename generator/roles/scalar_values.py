"""The roles `mask` and `fill`, bits and an element, and what one mode selects."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from opcert.arrays.calls import Call, Tensor
from opcert.errors import did_you_mean
from opcert.roles.argument import ElementKind
from opcert.roles.data import DataRole
from opcert.roles.drawing import Drawing
from opcert.roles.modes import ModeRole
from opcert.roles.role import ListRole, OneElementRole, Requirement, Role
from opcert.roles.slicing_steps import SlicingStepsRole
from opcert.roles.spans import series


class SelectedRole(Role):
    """The base class of roles with the key `mode`: given only if that mode is `mode_is`."""

    mode: str | None = None
    mode_is: str | None = None

    @property
    def selected_by(self) -> ModeRole | None:
        """The mode that determines whether it is given, if there is one."""
        return None if self.mode is None else self.related(self.mode, ModeRole)

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an unknown word of the mode, and missing or superfluous keys."""
        yield from super().mistakes()
        mode, word = self.selected_by, self.mode_is
        if mode is None:
            if word is not None:
                yield "mode_is", "missing key 'mode'; expected it together with 'mode_is'"
        elif word is None:
            yield "mode", f"missing key 'mode_is'; expected {' or '.join(mode.one_of)}"
        elif word not in mode.one_of:
            near = did_you_mean(word, [*mode.one_of])
            yield "mode_is", f"unknown word '{word}' of '{mode.name}'{near}"
        elif self.required:
            text = f"required in every mode, but given only if '{mode.name}' is {word}"
            yield "mode", f"{text}; expected 'required: false'"

    def is_selected(self, call: Drawing) -> bool:
        """Draw whether the mode, if there is one, has a use for it."""
        mode = self.selected_by
        return mode is None or call.fact(mode.draw_meant) == self.mode_is

    @property
    def selected_expr(self) -> str:
        """The condition that the mode has a use for it."""
        mode = self.selected_by
        return "True" if mode is None else mode.is_one_of([str(self.mode_is)])

    @property
    def selected_keys(self) -> tuple[str, ...]:
        """The keys of the requirements that this condition relies on."""
        return () if self.selected_by is None else (self.selected_by.word_requirement,)

    @property
    def used_expr(self) -> str:
        """The condition that it is given where the mode has a use for it."""
        if self.selected_by is None:
            return self.given_expr
        return f"{self.selected_expr} and {self.given_expr}"


class FillRole(SelectedRole, OneElementRole):
    """One element of the type of data: a tensor.

    `form` lists the allowed forms: `scalar` (rank 0) and `one_element` (shape [1]). An omitted fill
    means 0. With the key `mode`, it is given only if that mode is `mode_is`.
    """

    relations: ClassVar = {"like": ("data",), "mode": ("mode",)}

    role: Literal["fill"]
    like: str

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report a type symbol other than that of data, and wrong keys of a mode."""
        yield from super().mistakes()
        symbol = self.data.type
        if self.type != symbol:
            text = f"type symbol '{self.type}' differs from that of '{self.like}'"
            yield "type", f"{text}; expected '{symbol}'"

    @property
    def data(self) -> DataRole:
        """The data that has its type."""
        return self.related(self.like, DataRole)

    def draw(self, call: Drawing) -> Tensor | None:
        """Return an element for a data pattern to fill, or 0; None where the mode has no use."""
        if not self.is_selected(call) or not call.fact(self.draw_given):
            return None
        shape = self.draw_form(call)
        # An element of 0 looks like an omitted one.
        is_zero = call.one(self, "element", {"any": False}, {"0": True})
        uniform: Literal["no", "zero"] = "zero" if is_zero else "no"
        return call.laid_out(self, Tensor(call.fact(self.draw_type), shape, uniform=uniform))

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type and its form."""
        name, keys, when = self.name, self.selected_keys, self.used_expr
        text, holds = f"{name} has the type of {self.like}.", f"{name}.type == {self.like}.type"
        yield self.requirement("type", text, holds, *keys, when=when)
        yield self.form_requirement("element", *keys, when=when)


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
        steps = call.fact(self._steps.draw_steps)
        mask = [int(step.has_mark(self.marks)) for step in steps]
        if not self.required and not any(mask) and not call.fact(self.draw_given):
            return None
        marked = max([k + 1 for k, bit in enumerate(mask) if bit], default=0)
        shorter = ["shorter"] if marked < len(mask) else []
        length = call.one(self, "length", ["as steps"], [*shorter, "longer"])
        if length == "shorter":
            return mask[: call.integer(self, "short", marked, len(mask) - 1)]
        if length == "longer":
            further = call.choices.integers(f"{self.name} further", 0, 1, 3)
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
        group = [role.name for role in self.related(self.of, SlicingStepsRole).masks.values()]
        # The first mask yields what holds for all.
        if name == group[0]:
            text = f"The elements of {series(group)} are 0 and 1."
            holds = f"all(bit in [0, 1] for mask in [{', '.join(group)}] for bit in mask)"
            yield self.requirement("bits", text, holds)
        if self.marks == "rest":
            holds = f"sum([bit == 1 for bit in {name}]) <= 1"
            yield self.requirement("once", f"{name} has at most one 1.", holds)
