"""What roles share that have one number for each axis of data."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from opcert.arrays import Call
from opcert.roles.argument import BoundExpressions
from opcert.roles.data import DataRole
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    Factor,
    Requirement,
    forbid,
)
from opcert.roles.role import Role


class PerAxis(Role):
    """One number for each axis of data: a list attribute, or a one-dimensional tensor."""

    relations: ClassVar = {"of": ("data",)}

    of: str

    def rank_bounds(self) -> BoundExpressions:
        """Return that it is a list."""
        return ("1", "1")

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Yield that it is an attribute and no list."""
        if self.is_attribute and self.type != "list":
            text = f"the role '{self.role}' has a number for each axis"
            yield "type", f"{text}; expected the type 'list', or a tensor"

    @property
    def data(self) -> DataRole:
        """The data for whose axes there are numbers."""
        return self.partner(self.of, DataRole)

    def layout_factors(self) -> Iterator[Factor]:
        """Yield its layout in memory, of a tensor."""
        if not self.is_attribute:
            yield self.list_layout()

    def constraints(self) -> Iterator[Constraint]:
        """Yield that one number has no layout."""
        if not self.is_attribute:
            yield forbid(
                lambda layout, rank: layout != "c" and rank < 2,
                *(self.factor("layout"), self.data.factor("rank")),
            )

    def built(self, scene: BuildContext, numbers: Sequence[int]) -> Any:
        """Return the attribute or the tensor of `numbers`."""
        if self.is_attribute:
            return [*numbers]
        return self.integers(scene, numbers, scene.choice[self.factor("layout")])

    def observed_form(self, call: Call) -> dict[str, Any]:
        """Return the element type and the layout of a tensor."""
        if self.is_attribute:
            return {}
        layout = call.inputs[self.name].layout if self.is_in(call) else "c"
        return {**self.observed_type(call), self.factor("layout"): layout}

    @property
    def form(self) -> tuple[str, ...]:
        """The keys of what is required before its numbers have a meaning, one for each axis."""
        keys = () if self.is_attribute else (f"{self.name}.type", f"{self.name}.rank")
        return (*keys, f"{self.name}.length")

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type and rank, and how many numbers there are."""
        yield from super().requirements()
        name, form = self.name, self.form
        if not self.is_attribute:
            text = f"{name} is one-dimensional."
            yield Requirement(f"{name}.rank", text, f"{name}.rank == 1", self.is_given)
        yield Requirement(
            f"{name}.length",
            f"{name} has one number for each axis of {self.of}.",
            f"{self.length} == {self.of}.rank",
            self.is_given,
            form[:-1],
        )
