"""The role `count`: how many tensors another argument describes."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from opcert.roles.argument import BoundExpressions
from opcert.roles.factors import BuildContext, Requirement
from opcert.roles.role import Role


class CountRole(Role):
    """How many tensors a list describes: an attribute beside the list, as in C.

    With `surplus`, the list may be longer, and what lies behind the count is not read: no rule
    follows for it.
    """

    relations: ClassVar = {"of": ("descriptors",)}

    role: Literal["count"]
    of: str
    surplus: bool = False

    def bounds(self) -> BoundExpressions:
        """Return one tensor up to all that are described."""
        return ("1", f"len({self.of})")

    def build(self, scene: BuildContext) -> int:
        """Return how many tensors the list describes."""
        count: int = scene.choice[f"{self.of}_count"]
        return count

    def requirements(self) -> Iterator[Requirement]:
        """Yield that it is positive, and that the list has as many descriptions."""
        name, of = self.name, self.of
        yield Requirement(f"{name}.least", f"{name} is greater than 0.", f"{name} > 0")
        matches, number = (">=", "no fewer tensors than")
        if not self.surplus:
            matches, number = ("==", "exactly as many tensors as")
        yield Requirement(
            f"{name}.described",
            f"{of} describes {number} {name} says.",
            f"len({of}) {matches} {name}",
            given=(f"{name}.least",),
        )
