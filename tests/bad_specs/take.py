"""The reference of the made-up operator that the bad specs describe, wrong ones, and its roles."""

from typing import Any, Literal

import numpy.typing as npt

from opcert.arrays.calls import Tensor
from opcert.arrays.tensor_functions import filled
from opcert.reference.rules import require
from opcert.roles.drawing import Drawing
from opcert.roles.role import Role

Array = npt.NDArray[Any]


def take(data: Array, count: int) -> list[Array]:
    """Return the first `count` rows of `data`."""
    require(0 <= count <= len(data), "take-1/count-range", f"count {count} of {len(data)}")
    return [data[:count].copy()]


def unchecked(data: Array, count: int) -> list[Array]:
    """Take rows, and leave the check to the spec."""
    return [data[: max(count, 0)].copy()]


def accepting(data: Array, count: int) -> list[Array]:
    """Take rows, and accept a count that is too high."""
    return take(data, min(count, len(data)))


def misnaming(data: Array, count: int) -> list[Array]:
    """Take rows, and name another rule when rejecting."""
    require(0 <= count <= len(data), "take-1/first-rows", f"count {count} of {len(data)}")
    return take(data, count)


def rejecting(data: Array, count: int) -> list[Array]:
    """Take rows, but never none."""
    require(count != 0, "take-1/count-range", "count 0")
    return take(data, count)


def transposing(data: Array, count: int) -> list[Array]:
    """Take rows, and turn them into columns."""
    return [each.T for each in take(data, count)]


NOT_A_FUNCTION = "take"


class Rows(Role):
    """The rows: a tensor of one dimension or two."""

    role: Literal["rows"]
    drawn: tuple[str, ...] | None = None

    def draw(self, call: Drawing) -> Tensor:
        return filled(call.fact(self.draw_type), call.fact(self.draw_shape))

    def draw_type(self, call: Drawing) -> str:
        return call.one(self, "type", self.drawn or self._signature.types[self.type])

    def draw_shape(self, call: Drawing) -> tuple[int, ...]:
        n = call.one(self, "n", {"three": 3, "one": 1, "zero": 0})
        others = call.one(self, "rank", {"one": (), "two": (call.integer(self, "columns", 2, 4),)})
        return (n, *others)


class ManyRows(Rows):
    """The rows, thousands of them among others."""

    def draw_shape(self, call: Drawing) -> tuple[int, ...]:
        n, *others = super().draw_shape(call)
        return (5003 if n == 1 else n, *others)


class Taken(Role):
    """How many rows are taken, and how many more than there are."""

    role: Literal["taken"]
    more: int = 0

    def draw(self, call: Drawing) -> int:
        (rows,) = (role for role in self._signature.roles if isinstance(role, Rows))
        n, *_ = call.fact(rows.draw_shape)
        return call.one(self, "count", {"none": 0, "all": n + self.more})
