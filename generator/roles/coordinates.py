"""The role `coordinates`: positions in data, each of them a row of a tensor."""

from collections.abc import Iterator
from math import prod
from typing import ClassVar, Literal

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import lowest
from opcert.errors import Inapplicable
from opcert.roles.argument import ExpressionText, RankBounds
from opcert.roles.data import DataRole
from opcert.roles.drawing import MAX_INDICES, Drawing, near, places
from opcert.roles.role import Requirement, Role


class CoordinatesRole(Role):
    """Positions in data: the last dimension lists the coordinates of each, from the first axis on.

    A position with fewer coordinates than data has axes is that of a slice. `after` is an
    expression of the number of leading dimensions that the tensor shares with data; the coordinates
    are those of the axes after them. With `negative`, negative ones count from the end.
    """

    relations: ClassVar = {"into": ("data",)}

    role: Literal["coordinates"]
    rank: RankBounds = ("1", "5")
    into: str
    after: ExpressionText = "0"
    negative: bool = False

    def draw(self, call: Drawing) -> Tensor:
        """Return the positions: a coordinate of one is near the ends of its axis."""
        data = call.fact(self.related(self.into, DataRole).draw_shape)
        (shared,) = call.evaluate_integers(f"[{self.after}]")
        left = len(data) - shared
        counts = {"all": left, "1": 1, "all but one": left - 1}
        count = call.one(self, "coordinates", {k: n for k, n in counts.items() if 0 < n <= left})
        least, most = map(int, self.rank)
        rank = call.one(self, "rank", [*range(max(least, shared + 1), most + 1)])
        own = call.extents(self, rank - shared - 1, 64)
        shape = (*data[:shared], *own, count)
        sizes, rows = data[shared : shared + count], prod(shape[:-1])
        if rows and not all(sizes):
            raise Inapplicable("an axis without elements has no position")
        if rows * count > MAX_INDICES:
            raise Inapplicable("there are too many coordinates")
        element_type = call.fact(self.draw_type)
        is_signed = self.negative and lowest(element_type) < 0
        values = [
            number % n - (n if is_signed and number % 3 == 0 else 0)
            for n, number in zip(
                [*sizes] * rows,
                call.choices.integers(f"{self.name} values", 0, 1 << 16, rows * count),
                strict=True,
            )
        ]
        if values:
            place = call.one(self, "place", places(len(values)))
            n = sizes[place % count]
            named = {k: v for k, v in near(n, element_type).items() if -n * is_signed <= v < n}
            values[place] = call.one(self, "value", named)
        return call.laid_out(self, Tensor(element_type, shape, tuple(values)))

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank, its shape, and that the coordinates are those of elements."""
        yield from super().requirements()
        name, into, after = self.name, self.into, f"({self.after})"
        text = f"{name} has a row of coordinates."
        yield self.requirement("rank", text, f"{name}.rank > {after}", *self.keys_in(after))
        text = f"A row of {name} has at least one coordinate, and one for each axis at most."
        holds = f"0 < {name}.shape[-1] <= {into}.rank - {after}"
        yield self.requirement("length", text, holds, "rank")
        shape = ["rank", "length"]
        if self.after != "0":
            text = f"{name} and {into} have equal leading dimensions, as many as {self.after}."
            holds = f"{name}.shape[:{after}] == {into}.shape[:{after}]"
            yield self.requirement("extents", text, holds, *shape)
            shape.append("extents")
        extent = f"{into}.shape[{after} + k % {name}.shape[-1]]"
        least = f"-{extent}" if self.negative else "0"
        text = f"Each coordinate in {name} is one of its axis of {into}."
        holds = f"all({least} <= value < {extent} for k, value in enumerate({name}.values))"
        yield self.requirement("range", text, holds, "type", *shape)
