"""The base class of roles with one number for each axis of data."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from opcert.arrays.calls import Call
from opcert.roles.data import DataRole
from opcert.roles.factors import BuildContext, Constraint, Factor, Requirement, forbid
from opcert.roles.list_role import ListRole


class PerAxis(ListRole):
    """One number for each axis of data: a list attribute, or a one-dimensional tensor."""

    relations: ClassVar = {"of": ("data",)}

    of: str

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an attribute that is no list."""
        if self.is_attribute and self.type != "list":
            text = f"an attribute of type '{self.type}' has no number for each axis"
            yield "type", f"{text}; expected the type 'list', or a tensor"

    @property
    def data(self) -> DataRole:
        """The data that has the axes."""
        return self.related(self.of, DataRole)

    def layout_factors(self) -> Iterator[Factor]:
        """Yield the layout of a tensor."""
        if not self.is_attribute:
            yield self.layout_factor()

    def constraints(self) -> Iterator[Constraint]:
        """Forbid layouts other than C for fewer than two numbers."""
        if not self.is_attribute:
            yield forbid(
                lambda layout, rank: layout != "c" and rank < 2,
                *(self.factor("layout"), self.data.factor("rank")),
            )

    def build_list(self, context: BuildContext, numbers: Sequence[int]) -> Any:
        """Return `numbers` as an attribute or a tensor."""
        if self.is_attribute:
            return [*numbers]
        return self.integer_tensor(context, numbers, context.choice[self.factor("layout")])

    def observed_list(self, call: Call) -> dict[str, Any]:
        """Observe the element type and the layout of a tensor."""
        if self.is_attribute:
            return {}
        layout = call.inputs[self.name].layout if self.is_given_in(call) else "c"
        return {**self.observed_type(call), self.factor("layout"): layout}

    @property
    def list_requirements(self) -> tuple[str, ...]:
        """The keys of the requirements that make it a list with a number for each axis."""
        keys = () if self.is_attribute else (f"{self.name}.type", f"{self.name}.rank")
        return keys if self.lengths is None else (*keys, f"{self.name}.length")

    @property
    def lengths(self) -> tuple[str, str] | None:
        """The condition on its length, and the words for it; None if it may have any length."""
        text = f"{self.name} has one number for each axis of {self.of}"
        return f"{self.length_expr} == {self.of}.rank", text

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank and its length."""
        yield from super().requirements()
        if not self.is_attribute:
            yield self.rank_requirement()
        if self.lengths is not None:
            condition, text = self.lengths
            yield Requirement(
                f"{self.name}.length",
                f"{text}.",
                condition,
                self.given_expr,
                self.list_requirements[:-1],
            )
