"""What the roles of starts, stops and steps of slices share."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from opcert.roles.data import PartRole
from opcert.roles.role import ListRole, Requirement, Role


class SlicePartRole(PartRole):
    """The starts, the stops or the steps of slices: a list with an element for each slice.

    Three arguments have the role, one for each `part`. A subclass states what they mean.
    """

    part_names: ClassVar = ("start", "stop", "step")

    role: Literal["spans", "slicing_steps"]
    part: Literal["start", "stop", "step"]

    def bounds(self) -> tuple[str, str] | None:
        """Return the limits of its type: a slice may reach past its axis."""
        if self.is_attribute:
            return None
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
        kinds: dict[str, list[str]] = {}
        conditions = []
        for part in self.parts:
            for requirement in Role.requirements(part):
                kind = requirement.text.partition(" is ")[2].removesuffix(".")
                kinds.setdefault(kind, []).append(part.name)
                holds = requirement.holds
                conditions.append(holds if part.required else f"({part.name} is None or {holds})")
        texts = [
            f"{series(names)} {'are' if len(names) > 1 else 'is'} {kind}"
            for kind, names in kinds.items()
        ]
        if conditions:
            text = f"{'; '.join(texts)}."
            yield self.requirement("type", text, " and ".join(conditions), when="True")

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
        equal = [(part, f"{part.length_expr} == {length}") for part in others]
        conditions = [
            holds if part.required else f"({part.name} is None or {holds})" for part, holds in equal
        ]
        names = [part.name if part.required else f"where given {part.name}" for part in lists]
        ranks = [f"{part.name}.rank" for part in lists if not part.is_attribute]
        text = f"{series(names)} have equally many elements."
        return self.requirement("length", text, " and ".join(conditions), *ranks, when="True")


def series(names: Sequence[str]) -> str:
    """Return names as an enumeration."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
