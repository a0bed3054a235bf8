"""The role `count`: the number of tensors that another argument describes or is."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call, tensors_in
from opcert.roles.argument import BoundExpressions
from opcert.roles.factors import BuildContext, Requirement
from opcert.roles.role import Role


class CountRole(Role):
    """The number of tensors that a list has or describes: an attribute as well, as in C.

    With `surplus`, the list may be longer. No rule follows for its further elements, which are not
    read.
    """

    relations: ClassVar = {"of": ("descriptors", "tensors")}

    role: Literal["count"]
    of: str
    surplus: bool = False

    def bounds(self) -> BoundExpressions:
        """Return 1 and the number of descriptions."""
        return ("1", f"len({self.of})")

    def build(self, context: BuildContext) -> int:
        """Return the number of descriptions."""
        count: int = context.choice[f"{self.of}_count"]
        return count

    def following(self, call: Call, _: Callable[[str], Any]) -> int | None:
        """Return the number of tensors of a variadic input."""
        is_variadic = self.related(self.of, Role).variadic is not None
        return len(tensors_in(call.arguments.get(self.of))) if is_variadic else None

    @property
    def _verb(self) -> str:
        return "has" if self.related(self.of, Role).variadic is not None else "describes"

    def requirements(self) -> Iterator[Requirement]:
        """Yield its least value, and the length of the list."""
        name, of = self.name, self.of
        yield Requirement(f"{name}.least", f"{name} is greater than 0.", f"{name} > 0")
        relation, number = "==", "exactly as many tensors as"
        if self.surplus:
            relation, number = ">=", "no fewer tensors than"
        yield Requirement(
            f"{name}.described",
            f"{of} {self._verb} {number} {name} says.",
            f"len({of}) {relation} {name}",
            prerequisites=(f"{name}.least",),
        )
