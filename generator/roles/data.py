"""The role `data`: a tensor whose elements an operator moves."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call, Tensor, extent_kinds
from opcert.arrays.element_types import LAYOUTS
from opcert.arrays.patterns import MAX_STORED_BYTES
from opcert.roles.drawing import Drawing
from opcert.roles.factors import (
    Factor,
    ObservationPoint,
    ObservedLevels,
    RankBounds,
)
from opcert.roles.role import Requirement, Role

# Lengths of the tested axis: around the limits of 8 bits, prime or divisible.
_LENGTHS = {
    **{"six": 6, "one": 1, "two": 2, "many": 19, "i8_max": 127, "past_i8": 128},
    **{"u8_max": 255, "past_u8": 256, "beyond_u8": 259, "zero": 0},
}
_OTHERS = ("varied", "long", "equal", "same", "ones", "wide", "tall", "zero")
AXIS_POSITIONS: dict[str, Any] = {
    "first": 0,
    "last": lambda rank: rank - 1,
    "second": 1,
    "before_last": lambda rank: rank - 2,
    "third": 2,
    "third_last": lambda rank: rank - 3,
    "middle": lambda rank: rank // 2,
    "lower_middle": lambda rank: (rank - 1) // 2,
}
LAYOUT_WORDS = {
    "c": "",
    "fortran": "{} in Fortran order",
    "reversed": "{} backwards in memory",
    "gapped": "{} with gaps",
    "pitched": "{} with padded rows",
    "permuted": "{} with permuted axes",
    "first_reversed": "{} with the first axis backwards",
    "last_reversed": "{} with the last axis backwards",
}


class DataRole(Role):
    """A tensor whose elements are moved.

    One of its axes is the tested axis: the one that another argument names, or each in turn. Its
    factors are the length and the position of that axis, the extents of the others, the rank, the
    element type, the layout, and whether all elements are equal. Unless `empty` is false, an extent
    may be 0. Data with the type of another (`type_of`) shares its factor of the type. Data with
    the shape of another argument (`shape_of`) has no rank, length, position and extents of its own.
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

    def factors(self) -> Iterator[Factor]:
        """Yield type, rank, length and position of the tested axis, others, layout and elements."""
        if self.type_factor == self.factor("type"):
            types = self._signature.types[self.type]
            yield Factor.of_names(self.factor("type"), types, f"{self.name} of {{}}")
        if self.shape_of is not None:
            yield from self._fill_factors()
            return
        least, most = map(int, self.rank)
        yield Factor(self.factor("rank"), {str(rank): rank for rank in range(least, most + 1)})
        lengths = {level: n for level, n in _LENGTHS.items() if n or self.empty}
        words = {level: f"an axis of {n}" if n else "an empty axis" for level, n in lengths.items()}
        yield Factor(self.factor("length"), lengths, words=words)
        yield Factor(self.factor("axis"), AXIS_POSITIONS, (self.factor("rank"),), "the {} axis")
        allowed = [kind for kind in _OTHERS if kind != "zero" or self.empty]
        yield Factor.of_names(self.factor("others"), allowed, "{} extents next to it")
        yield from self._fill_factors()

    def _fill_factors(self) -> Iterator[Factor]:
        """Yield the layout, and whether all elements are equal."""
        name = self.name
        words = {level: text.format(name) for level, text in LAYOUT_WORDS.items()}
        yield Factor(self.factor("layout"), {layout: layout for layout in LAYOUTS}, words=words)
        words = {"no": "", "some": f"{name} of one repeated element"}
        yield Factor.of_names(self.factor("elements"), words)

    @property
    def tensor_expr(self) -> str:
        """The expression of the tensor whose rank and extents other arguments refer to."""
        return self.name

    def tensor_of(self, call: Call) -> Tensor:
        """Return the tensor whose rank and extents other arguments refer to."""
        return call.inputs[self.name]

    @property
    def has_own_shape(self) -> bool:
        """Whether no other role determines its shape."""
        if self.shape_of is not None:
            return False
        return not any(self.name in role.shapes for role in self._signature.roles)

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

    @cached_property
    def axis_key(self) -> str:
        """The key of its tested axis in an observation point.

        It is `axis` for the data that other arguments refer to, or else for the first.
        """
        roles = self._signature.roles
        own = [role for role in roles if isinstance(role, DataRole) and role.has_own_shape]
        related = {getattr(role, key, None) for role in roles for key in ("of", "into")}
        others = (
            own[1:]
            if own and not related & {role.name for role in own}
            else [role for role in own if role.name not in related]
        )
        return self.factor("axis") if self.name in {role.name for role in others} else "axis"

    def axis_points(self, call: Call) -> list[ObservationPoint]:
        """Return each of its axes as an observation point; a scalar is one point."""
        return [{self.axis_key: axis} for axis in range(self.tensor_of(call).rank)] or [{}]

    def observe(self, call: Call, point: ObservationPoint) -> ObservedLevels:
        """Observe all factors, with the axis of `point` as the tested axis."""
        tensor = call.inputs[self.name]
        values: dict[str, Any] = {
            self.factor("layout"): tensor.layout,
            self.factor("elements"): tensor.uniform,
        }
        if self.type_factor == self.factor("type"):
            values[self.factor("type")] = tensor.type
        if self.shape_of is None:
            values[self.factor("rank")] = tensor.rank
        if self.has_own_shape:
            axis = point.get(self.axis_key, 0)
            length = tensor.shape[axis] if tensor.rank else 1
            others = [extent for d, extent in enumerate(tensor.shape) if d != axis]
            values[self.factor("axis")] = axis
            values[self.factor("length")] = length
            values[self.factor("others")] = extent_kinds(others, length)
        return ObservedLevels(values)
