"""The role `data`: a tensor whose elements an operator moves."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Literal

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.patterns import MAX_STORED_BYTES
from opcert.roles.argument import RankBounds
from opcert.roles.drawing import Drawing
from opcert.roles.role import Requirement, Role


class DataRole(Role):
    """A tensor whose elements are moved.

    Unless `empty` is false, an extent may be 0. Data may have the type of other data (`type_of`),
    and the shape of another argument (`shape_of`).
    """

    relations: ClassVar = {"type_of": ("data",), "shape_of": ("data", "element_indices")}

    role: Literal["data"]
    rank: RankBounds = ("1", "8")
    empty: bool = True
    type_of: str | None = None
    shape_of: str | None = None

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report a type symbol other than that of data with its type."""
        if self.type_of is not None:
            symbol = self.related(self.type_of, DataRole).type
            if self.type != symbol:
                text = f"type symbol '{self.type}' differs from that of '{self.type_of}'"
                yield "type", f"{text}; expected '{symbol}'"

    def rank_bounds(self) -> tuple[str, str]:
        """Return the ranks of the argument whose shape it has."""
        if self.shape_of is None:
            return super().rank_bounds()
        return self.related(self.shape_of, Role).rank_bounds()

    @property
    def tensor_expr(self) -> str:
        """The expression of the tensor whose rank and extents other arguments refer to."""
        return self.name

    def tensor_of(self, call: Call) -> Tensor:
        """Return the tensor whose rank and extents other arguments refer to."""
        return call.inputs[self.name]

    # Whether its shape is drawn before an axis of it.
    draws_own_shape: ClassVar[bool] = True

    def draw_rank(self, call: Drawing) -> int:
        """Draw its rank."""
        if self.shape_of is not None:
            return super().draw_rank(call)
        least, most = map(int, self.rank)
        return call.one(self, "rank", range(least, most + 1))

    def draw_shape(self, call: Drawing) -> tuple[int, ...]:
        """Draw its shape, or return that of the argument that it shares it with."""
        if self.shape_of is not None:
            return call.fact(self.related(self.shape_of, Role).draw_shape)
        rank, room = call.fact(self.draw_rank), call.room(self)
        return call.extents(self, rank, room, empty=self.empty, huge=True)

    def draw(self, call: Drawing) -> Tensor:
        """Return a tensor for a data pattern to fill."""
        tensor = Tensor(call.fact(self.draw_type), call.fact(self.draw_shape))
        # A tensor of equal elements has no recipe, so a pack stores it whole.
        if tensor.size > 1 and tensor.nbytes <= MAX_STORED_BYTES:
            uniform: Literal["no", "some"] = call.one(
                self, "elements", {"different": "no"}, {"all alike": "some"}
            )
            tensor = replace(tensor, uniform=uniform)
        return call.laid_out(self, tensor)

    def requirements(self) -> Iterator[Requirement]:
        """Yield the type and the shape that it shares with other arguments."""
        name = self.name
        if self.type_of is not None:
            text = f"{name} has the type of {self.type_of}."
            yield Requirement(f"{name}.type", text, f"{name}.type == {self.type_of}.type")
        if self.shape_of is not None:
            text = f"{name} has the shape of {self.shape_of}."
            yield Requirement(f"{name}.shape", text, f"{name}.shape == {self.shape_of}.shape")
