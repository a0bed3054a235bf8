"""Starts, stops and steps of slices: their levels, what they select, how they are drawn."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from opcert.arrays.element_types import highest, lowest
from opcert.roles.data import DataRole
from opcert.roles.role import ListRole, Requirement, Role

# A constant, or a function of the length of the axis and the element type.
SpanValue = int | Callable[[int, str], int]

# Starts and stops with their words: at, next to and past both ends of the axis, of the type, and of
# narrower types to which a runtime may truncate.
ENDPOINTS: dict[str, tuple[SpanValue, str]] = {
    "zero": (0, "at 0"),
    "one": (1, "at 1"),
    "last": (lambda n, _: n - 1, "at the last"),
    "end": (lambda n, _: n, "at the size"),
    "beyond": (lambda n, _: n + 3, "past the end"),
    "minus_one": (-1, "at -1"),
    "first_from_end": (lambda n, _: -n, "at the negated size"),
    "below": (lambda n, _: -n - 1, "below the negated size"),
    "least": (lambda _, t: lowest(t), "at the least of its type"),
    "most": (lambda _, t: highest(t), "at the greatest of its type"),
    "int_min": (-(1 << 31), "at -2^31"),
    "int_max": ((1 << 31) - 1, "at 2^31 - 1"),
    "int64_min": (-(1 << 63), "at -2^63"),
    "int64_max": ((1 << 63) - 1, "at 2^63 - 1"),
    "past_u8": ((1 << 8) + 1, "at 257"),
    "past_u16": ((1 << 16) + 1, "at 65537"),
    "past_u32": ((1 << 32) + 1, "at 2^32 + 1"),
    "u32_max": ((1 << 32) - 1, "at 2^32 - 1"),
    "below_u32": (1 - (1 << 32), "at 1 - 2^32"),
    "u64_max": ((1 << 64) - 1, "at 2^64 - 1"),
}
# The plainest levels, which come first, and the levels under stress.
PLAINEST_ENDPOINTS = {
    "start": ("zero", "one", "last", "end"),
    "stop": ("end", "last", "one", "zero"),
}
# Absolute values of steps with their words. The least value of a type has no positive counterpart.
STEP_SIZES: dict[str, tuple[SpanValue, str]] = {
    "one": (1, "of 1"),
    "two": (2, "of 2"),
    "three": (3, "of 3"),
    "four": (4, "of 4"),
    "eight": (8, "of 8"),
    "beyond": (lambda n, _: n + 1, "past the size"),
    "most": (lambda _, t: highest(t), "of the greatest of its type"),
    "least": (lambda _, t: -lowest(t), "of the least of its type"),
    "past_u8": ((1 << 8) + 1, "of 257"),
    "past_u16": ((1 << 16) + 1, "of 65537"),
    "past_u32": ((1 << 32) + 1, "of 2^32 + 1"),
}
SELECTED = {
    "some": "selects some",
    "all": "selects all",
    "one": "selects one",
    "none": "selects nothing",
}


PARTS = ("start", "stop", "step")


class SlicePartRole(ListRole):
    """The starts, the stops or the steps of slices: a list with an element for each slice.

    Three arguments have the role, one for each `part`. A subclass states what they mean.
    """

    relations: ClassVar = {"of": ("data",)}

    role: Literal["spans", "slicing_steps"]
    part: Literal["start", "stop", "step"]
    of: str

    def bounds(self) -> tuple[str, str] | None:
        """Return the limits of its type: a slice may reach past its axis."""
        if self.is_attribute:
            return None
        return (f"lowest({self.name}.type)", f"highest({self.name}.type)")

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report missing and repeated parts."""
        group = [(role.name, role.part) for role in self._group]
        yield from self.part_mistakes(self.of, group, PARTS)

    @cached_property
    def data(self) -> DataRole:
        """The data that is sliced."""
        return self.related(self.of, DataRole)

    @cached_property
    def _group(self) -> list["SlicePartRole"]:
        roles = self._signature.roles
        return [role for role in roles if isinstance(role, SlicePartRole) and role.of == self.of]

    @cached_property
    def _parts(self) -> tuple["SlicePartRole", "SlicePartRole", "SlicePartRole"]:
        start, stop, step = sorted(self._group, key=lambda role: PARTS.index(role.part))
        return start, stop, step

    @cached_property
    def _value_factor(self) -> str:
        """The factor of its value; for a step, without the direction."""
        return self.factor("size" if self.part == "step" else "value")

    @cached_property
    def _direction_factor(self) -> str:
        return self._parts[2].factor("direction")

    @cached_property
    def _tensor_parts(self) -> list["SlicePartRole"]:
        return [part for part in self._parts if not part.is_attribute]

    def requirements(self) -> Iterator[Requirement]:
        """Yield types, rank, lengths, and that no step is 0.

        The start yields the requirements that all parts share.
        """
        name = self.name
        if not self.is_attribute:
            yield self.rank_requirement()
        if self.part == "start":
            yield from self._type_requirement()
            yield from self._length_requirements()
        if self.part == "step":
            yield Requirement(
                f"{name}.nonzero",
                "No step is 0.",
                f"all(value != 0 for value in {self.values_expr})",
                self.given_expr,
            )

    def _type_requirement(self) -> Iterator[Requirement]:
        """Yield the element types of all parts, as one requirement."""
        kinds: dict[str, list[str]] = {}
        conditions = []
        for part in self._tensor_parts:
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
            yield Requirement(f"{self.name}.type", f"{'; '.join(texts)}.", " and ".join(conditions))

    def _length_requirements(self) -> Iterator[Requirement]:
        """Yield what the lengths of the parts must be."""
        raise NotImplementedError


def series(names: Sequence[str]) -> str:
    """Return names as an enumeration."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


# The levels of starts, of stops and of the absolute values of steps.
STARTS = (
    *("zero", "one", "last", "minus_one", "first_from_end", "beyond", "below", "least", "most"),
    *("past_u8", "past_u16", "past_u32", "u32_max"),
)
STOPS = (
    *("end", "last", "zero", "one", "minus_one", "first_from_end", "beyond", "below", "least"),
    *("most", "past_u8", "past_u16", "past_u32", "u32_max"),
)
SIZES = ("one", "two", "three", "beyond", "most", "past_u8", "past_u32")


@dataclass(frozen=True)
class SlicingStep:
    """What one step does: it slices an axis, or a mask gives it another meaning."""

    kind: Literal["slice", "new", "single", "rest"]
    start: int
    stop: int
    step: int
    is_start_open: bool = False
    is_stop_open: bool = False

    def has_mark(self, marks: str) -> bool:
        """Whether the mask that marks a start, a stop or a kind marks it."""
        if marks in ("start", "stop"):
            return self.is_start_open if marks == "start" else self.is_stop_open
        return self.kind == marks


def level_value(value: Callable[[int, str], int], n: int, element_type: str, *_: int) -> int:
    """Return the value of a level, which further factors do not change."""
    return value(n, element_type)


def open_value(part: str, n: int, _: str, sign: int, *__: int) -> int:
    """Return where a masked start or stop lies."""
    if part == "start":
        return 0 if sign > 0 else n - 1
    return n if sign > 0 else 0


def backwards_step(n: int) -> SlicingStep:
    """Return a slice backwards that selects several elements of an axis of `n`, if it has them.

    An implementation that special-cases a rank, or an axis of it, fails where it differs.
    """
    return SlicingStep("slice", -1, 0 if n > 2 else -n - 1, -2 if n > 3 else -1)
