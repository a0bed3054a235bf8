"""The role `data`: a tensor whose elements an operator moves."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call, Tensor, extent_kinds, insert
from opcert.arrays.element_types import LAYOUTS, TYPE_SETS
from opcert.arrays.patterns import MAX_STORED_BYTES
from opcert.arrays.tensor_functions import filled, with_layout
from opcert.roles.drawing import Drawing
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    Factor,
    LevelName,
    ObservationPoint,
    ObservedLevels,
    RankBounds,
    Sampler,
    forbid,
)
from opcert.roles.role import Requirement, Role

# Lengths of the tested axis: around the limits of 8 bits, prime or divisible.
_LENGTHS = {
    **{"six": 6, "one": 1, "two": 2, "many": 19, "i8_max": 127, "past_i8": 128},
    **{"u8_max": 255, "past_u8": 256, "beyond_u8": 259, "zero": 0},
}
# Under stress: past 16 bits, and past 16 MB of elements of four bytes.
_LARGE_LENGTHS = {"past_u16": 65537, "past_16_mb": 4194319, "past_u8": 257, "six": 6}
_OTHERS = ("varied", "long", "equal", "same", "ones", "wide", "tall", "zero")
# Kinds of extents so large that a tensor has only one of them.
PAST_A_TILE = ("wide", "tall", "huge")
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
# With all extents equal to the length of the axis, data has at most so many elements.
_MAX_SAME_ELEMENTS = 700
# Next to a longer axis, extents do not vary, and few other axes change.
MILLION = 1_000_000


def axis_position_constraints(axis: str, rank: str) -> Iterator[Constraint]:
    """Forbid positions beyond the rank, and second names: an axis has the first that applies."""
    for least, level in enumerate([*AXIS_POSITIONS][1:], 2):
        yield forbid(
            lambda rank, axis, least=least, level=level: axis == level and rank < least,
            *(rank, LevelName(axis)),
        )


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

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield type, rank, length and position of the tested axis, others, layout and elements."""
        name, is_stress = self.name, profile == "stress"
        types = [*self._signature.types[self.type]]
        if is_stress:
            types = [name for name in ("f32", "u8", "f16", "i64", "boolean") if name in types]
        elif profile == "full" and set(types) in map(set, (TYPE_SETS["any"], TYPE_SETS["numeric"])):
            types += ["i4", "u4"]
        if self.type_factor == self.factor("type"):
            yield Factor.of_names(self.factor("type"), types, f"{name} of {{}}")
        if self.shape_of is not None:
            yield from self._fill_factors(profile)
            return
        least, most = map(int, self.rank)
        ranks = range(least, (min(most, max(3, least)) if is_stress else most) + 1)
        yield Factor(self.factor("rank"), {str(rank): rank for rank in ranks})
        lengths = _LARGE_LENGTHS if is_stress else _LENGTHS
        lengths = {level: n for level, n in lengths.items() if n or self.empty}
        words = {level: f"an axis of {n}" if n else "an empty axis" for level, n in lengths.items()}
        yield Factor(self.factor("length"), lengths, words=words)
        yield Factor(self.factor("axis"), AXIS_POSITIONS, (self.factor("rank"),), "the {} axis")
        others = ("varied", "ones", "huge") if is_stress else _OTHERS
        allowed = [kind for kind in others if kind != "zero" or self.empty]
        yield Factor.of_names(self.factor("others"), allowed, "{} extents next to it")
        yield from self._fill_factors(profile)

    def _fill_factors(self, profile: str) -> Iterator[Factor]:
        """Yield the layout, and whether all elements are equal."""
        name = self.name
        words = {level: text.format(name) for level, text in LAYOUT_WORDS.items()}
        yield Factor(self.factor("layout"), {layout: layout for layout in LAYOUTS}, words=words)
        uniform = ("no",) if profile == "stress" else ("no", "some")
        words = {"no": "", "some": f"{name} of one repeated element"}
        yield Factor.of_names(self.factor("elements"), uniform, words)

    def constraints(self) -> Iterator[Constraint]:
        """Forbid axes beyond the rank, and extents and layouts that exclude each other."""
        if self.shape_of is not None:
            return
        length, others = map(self.factor, ("length", "others"))
        yield from self.axis_constraints()
        crowded = (*PAST_A_TILE, "zero")
        for role in self.of_one_shape:
            yield forbid(
                lambda elements, n, others: elements != "no" and (n < 2 or others in crowded),
                *(role.factor("elements"), length, others),
            )
            yield forbid(
                lambda layout, n, others: layout != "c" and (n < 2 or others == "zero"),
                *(role.factor("layout"), length, others),
            )
        yield forbid(lambda others, n: others == "huge" and n > 10, others, length)
        if self.has_own_shape:
            yield from self._extent_constraints()

    @property
    def of_one_shape(self) -> list["DataRole"]:
        """It and all data that has its shape by `shape_of`."""
        alike = [role for role in self.referrers("shape_of") if isinstance(role, DataRole)]
        return [self, *(role for other in alike for role in other.of_one_shape)]

    def axis_constraints(self) -> Iterator[Constraint]:
        """Forbid axes beyond the rank."""
        rank, length, axis = map(self.factor, ("rank", "length", "axis"))
        yield from axis_position_constraints(axis, rank)
        if int(self.rank[0]) == 0:
            yield forbid(
                lambda rank, n, axis: rank == 0 and (n != 1 or axis != "first"),
                *(rank, length, LevelName(axis)),
            )

    def _extent_constraints(self) -> Iterator[Constraint]:
        """Forbid levels that contradict the extents which this role draws."""
        rank, length, others = map(self.factor, ("rank", "length", "others"))
        yield forbid(lambda others, rank: others != "varied" and rank < 2, others, rank)
        yield forbid(
            lambda others, n, rank: others == "same" and (n < 2 or n**rank > _MAX_SAME_ELEMENTS),
            *(others, length, rank),
        )
        yield forbid(
            lambda others, n, rank: others == "varied" and n > MILLION and rank > 1,
            *(others, length, rank),
        )
        # Only with two axes longer than 1 do these layouts differ from C.
        of_two = ("fortran", "pitched", "first_reversed", "last_reversed")
        for role in self.of_one_shape:
            layout = role.factor("layout")
            yield forbid(
                lambda layout, rank, others: layout in of_two and (rank < 2 or others == "ones"),
                *(layout, rank, others),
            )
            yield forbid(
                lambda layout, rank, others: (
                    layout == "permuted" and (rank < 3 or others not in ("equal", "same"))
                ),
                *(layout, rank, others),
            )

    def masking(self) -> Iterator[Constraint]:
        """Mask data of fewer than two elements, or of equal ones."""
        rank, length, others = map(self.factor, ("rank", "length", "others"))
        yield forbid(lambda elements: elements != "no", self.factor("elements"))
        if self.shape_of is not None:
            return
        yield forbid(lambda n: n == 0, length)
        yield forbid(lambda others: others == "zero", others)
        yield forbid(
            lambda n, rank, others: n == 1 and (rank < 2 or others == "ones"), length, rank, others
        )

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

    def shape(self, context: BuildContext) -> tuple[int, ...]:
        """Return the shape for a choice."""
        if self.shape_of is not None:
            return self.related(self.shape_of, Role).shape(context)
        for role in self._signature.roles:
            if self.name in role.shapes:
                return role.shape_for(self, context)
        return context.draw(self.factor("shape"), partial(self.extents, context))

    def extents(self, context: BuildContext, sampler: Sampler) -> tuple[int, ...]:
        """Draw extents, the length of the tested axis among them."""
        choice = context.choice
        rank, length = choice[self.factor("rank")], choice[self.factor("length")]
        if rank == 0:
            return ()
        others = sampler.dims(rank - 1, choice[self.factor("others")], length)
        return insert(others, choice[self.factor("axis")], length)

    def build(self, context: BuildContext) -> Tensor:
        """Return a tensor for a data pattern to fill."""
        choice = context.choice
        tensor = filled(choice[self.type_factor], self.shape(context))
        tensor = replace(tensor, uniform=choice[self.factor("elements")])
        return with_layout(tensor, choice[self.factor("layout")])

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
