"""The base class of roles that are lists of integers."""

from collections.abc import Iterator, Sequence

from opcert.arrays.calls import Tensor
from opcert.arrays.layouts import Layout
from opcert.arrays.tensor_functions import vector, with_layout
from opcert.roles.argument import BoundExpressions
from opcert.roles.factors import BuildContext, Factor, Requirement
from opcert.roles.role import Role

LIST_LAYOUTS = ("c", "reversed", "gapped")


class ListRole(Role):
    """A list of integers: a one-dimensional tensor, or an attribute."""

    def rank_bounds(self) -> BoundExpressions:
        """Return rank 1."""
        return ("1", "1")

    @property
    def values_expr(self) -> str:
        """The expression of its list of integers."""
        return self.name if self.is_attribute else f"{self.name}.values"

    @property
    def length_expr(self) -> str:
        """The expression of the number of its integers."""
        return f"len({self.name})" if self.is_attribute else f"{self.name}.size"

    def layout_factor(self) -> Factor:
        """Return the factor of the layout in memory."""
        words = {"c": "", "reversed": f"{self.name} backwards in memory"}
        words["gapped"] = f"{self.name} with gaps"
        return Factor.of_names(self.factor("layout"), words)

    def integer_tensor(
        self, context: BuildContext, values: Sequence[int], layout: Layout = "c"
    ) -> Tensor:
        """Return a one-dimensional tensor of its type."""
        return with_layout(vector(context.choice[self.type_factor], tuple(values)), layout)

    def part_mistakes(
        self, of: str, group: Sequence[tuple[str, str]], parts: Sequence[str]
    ) -> Iterator[tuple[str, str]]:
        """Report missing and repeated parts, where arguments have one part each of the same role.

        `group` lists the names of the arguments for `of`, this one among them, with their parts.
        """
        for part in parts:
            names = [name for name, own in group if own == part]
            if self.name in names[1:]:
                yield "part", f"duplicate {part} of '{of}'; the first is '{names[0]}'"
            if not names and self.name == group[0][0]:
                expected = f"an argument with 'role: {self.role}' and 'part: {part}'"
                yield "part", f"missing {part} of '{of}'; expected {expected}"

    def rank_requirement(self) -> Requirement:
        """Return the requirement that its tensor is one-dimensional."""
        text = f"{self.name} is one-dimensional."
        return Requirement(f"{self.name}.rank", text, f"{self.name}.rank == 1", self.given_expr)
