"""The role `matrices`: one of two tensors whose matrices an operator multiplies."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from opcert.roles.data import DataRole
from opcert.roles.drawing import Drawing
from opcert.roles.modes import FlagRole
from opcert.roles.role import Requirement

# How many products are added, in most draws and in a few.
_MOST_PRODUCTS, _MANY_PRODUCTS = 256, 600


class MatricesRole(DataRole):
    """Matrices in the last two dimensions, and before them dimensions that broadcast.

    The second factor names the first in `times`. One dimension is a vector: a row of the first
    factor, a column of the second. If the flag `transposed` is set, rows and columns are exchanged.
    """

    relations: ClassVar = {"times": ("matrices",), "transposed": ("flag",)}

    role: Literal["matrices"]  # type: ignore[assignment]
    times: str | None = None
    transposed: str
    # Keys of data that factors do not have.
    type_of: None = None
    shape: None = None
    broadcasts_with: None = None
    read: Literal[False] = False

    @property
    def _first(self) -> "MatricesRole":
        return self if self.times is None else self.related(self.times, MatricesRole)

    def draw_rank(self, call: Drawing) -> int:
        """Return its rank."""
        return len(call.fact(self.draw_shape))

    def draw_shape(self, call: Drawing) -> tuple[int, ...]:
        """Return its shape, which is drawn with that of the other factor."""
        return call.fact(self._first.draw_factors)[self.times is not None]

    def draw_factors(self, call: Drawing) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Draw the shapes of both factors."""
        second = self.referrers("times")[0]
        factors = self, self.related(second.name, MatricesRole)
        ranks = [factor._draw_usual_rank(call) for factor in factors]
        is_many = call.choices.rarely(f"{self.name} many", 16)
        room = min(call.room(self), _MANY_PRODUCTS if is_many else _MOST_PRODUCTS)
        # The length of sums, rows of the first, columns of the second, and what broadcasts.
        count, batch_rank = 1 + sum(rank > 1 for rank in ranks), max(*ranks, 2) - 2
        length, *others = call.extents(self, count + batch_rank, room, empty=self.empty)
        batch = others[count - 1 :]
        shapes: list[tuple[int, ...]] = []
        ways = ["none", "first", "second", "in turn"] if batch else ["none"]
        stretched = call.one(self, "stretched", ways)
        for factor, rank, name in zip(factors, ranks, ("first", "second"), strict=True):
            own = [
                1 if stretched == name or (stretched == "in turn" and d % 2 == len(shapes)) else n
                for d, n in enumerate(batch)
            ][batch_rank - max(rank - 2, 0) :]
            matrix = [length] if rank == 1 else [others.pop(0), length]
            flag = call.fact(self.related(factor.transposed, FlagRole).draw_meant)
            shapes.append((*own, *(matrix[::-1] if flag == (factor is self) else matrix)))
        return shapes[0], shapes[1]

    def _draw_usual_rank(self, call: Drawing) -> int:
        least, most = map(int, self.rank)
        usual = min(most, 4)
        return call.one(self, "rank", range(least, usual + 1), range(usual + 1, most + 1))

    @property
    def _columns(self) -> str:
        """The expression of the length of its rows; of the second factor, of its columns."""
        name, is_second = self.name, self.times is not None
        outer, inner = f"{name}.shape[-2]", f"{name}.shape[-1]"
        is_last = f"{name}.rank == 1 or {'' if is_second else 'not '}{self.transposed}"
        return f"({inner} if {is_last} else {outer})"

    def requirements(self) -> Iterator[Requirement]:
        """Yield its rank, and how the second factor agrees with the first."""
        yield from super().requirements()
        name, first = self.name, self._first
        yield self.requirement("rank", f"{name} has a dimension.", f"{name}.rank >= 1")
        if self.times is not None:
            text, holds = (
                f"{name} has the type of {first.name}.",
                f"{name}.type == {first.name}.type",
            )
            yield self.requirement("type", text, holds)
            keys = "rank", f"{first.name}.rank"
            text = f"The rows of {first.name} are as long as the columns of {name}."
            holds = f"{first._columns} == {self._columns}"
            yield self.requirement("length", text, holds, *keys)
            text = f"The dimensions before the matrices of {first.name} and {name} broadcast."
            holds = f"compatible([{first.name}.shape[:-2], {name}.shape[:-2]])"
            yield self.requirement("batches", text, holds, *keys)
