"""The role `data`: a tensor whose elements an operator moves."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from opcert.arrays import (
    LAYOUTS,
    TYPE_SETS,
    Call,
    Tensor,
    extent_kinds,
    filled,
    insert,
    with_layout,
)
from opcert.roles.argument import BoundExpressions
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    Factor,
    LevelName,
    ObservationPoint,
    ObservedLevels,
    forbid,
)
from opcert.roles.role import Role
from opcert.roles.samplers import Sampler

# Sizes of the axis that matters: around the limits of 8 bits, prime or divisible.
_LENGTHS = {
    **{"six": 6, "one": 1, "two": 2, "many": 19, "i8_max": 127, "past_i8": 128},
    **{"u8_max": 255, "past_u8": 256, "beyond_u8": 259, "zero": 0},
}
# Under stress: past 16 bits, and past 16 MB of elements of four bytes.
_LARGE_LENGTHS = {"past_u16": 65537, "past_16_mb": 4194319, "past_u8": 257, "six": 6}
_OTHERS = ("varied", "long", "equal", "same", "ones", "wide", "tall", "zero")
# Extents so large that a tensor has room for one of them.
PAST_A_TILE = ("wide", "tall", "huge")
_AXES: dict[str, Any] = {
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
# Of equal extents with the length of the axis there are not to be more elements than this.
_MOST_SAME = 700
_LONG_AXIS = 1_000_000


class DataRole(Role):
    """A tensor whose elements are moved.

    One of its axes is in focus: that which another argument names, or each in turn. Its factors
    are the length and the place of that axis and the extents of the others, the rank, the element
    type, the layout in memory, and whether all elements are alike.
    """

    role: Literal["data"]
    rank: BoundExpressions = ("1", "8")
    empty: bool = True

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield type, rank, length, axis, others, layout and elements."""
        name, is_stress = self.name, profile == "stress"
        types = [*self._signature.types[self.type]]
        if is_stress:
            types = [each for each in ("f32", "u8", "f16", "i64", "boolean") if each in types]
        elif profile == "full" and set(types) == set(TYPE_SETS["any"]):
            types += ["i4", "u4"]
        yield Factor(self.factor("type"), {each: each for each in types}, words=f"{name} of {{}}")
        least, most = map(int, self.rank)
        ranks = range(least, (min(most, max(3, least)) if is_stress else most) + 1)
        yield Factor(self.factor("rank"), {str(each): each for each in ranks})
        lengths = _LARGE_LENGTHS if is_stress else _LENGTHS
        lengths = {level: n for level, n in lengths.items() if n or self.empty}
        words = {level: f"an axis of {n}" if n else "an empty axis" for level, n in lengths.items()}
        yield Factor(self.factor("length"), lengths, words=words)
        yield Factor(self.factor("axis"), _AXES, (self.factor("rank"),), "the {} axis")
        others = [*(("varied", "ones", "huge") if is_stress else _OTHERS)]
        if not self.empty:
            others = [each for each in others if each != "zero"]
        yield Factor(
            self.factor("others"), {each: each for each in others}, words="{} extents beside it"
        )
        words = {level: text.format(name) for level, text in LAYOUT_WORDS.items()}
        yield Factor(self.factor("layout"), {each: each for each in LAYOUTS}, words=words)
        # Data of which all elements are the same shows no position.
        alike = ("no",) if is_stress else ("no", "some")
        words = {"no": "", "some": f"{name} of one repeated element"}
        yield Factor(self.factor("elements"), {each: each for each in alike}, words=words)

    def constraints(self) -> Iterator[Constraint]:
        """Yield which axes a rank has, and which extents and layouts go together."""
        rank, length, others = map(self.factor, ("rank", "length", "others"))
        layout, elements, axis = map(self.factor, ("layout", "elements", "axis"))
        # Each axis of each rank has one name.
        for least, level in enumerate([*_AXES][1:], 2):
            yield forbid(
                lambda rank, axis, least=least, level=level: axis == level and rank < least,
                *(rank, LevelName(axis)),
            )
        if int(self.rank[0]) == 0:
            yield forbid(
                lambda rank, n, axis: rank == 0 and (n != 1 or axis != "first"),
                *(rank, length, LevelName(axis)),
            )
        crowded = (*PAST_A_TILE, "zero")
        yield forbid(
            lambda elements, n, others: elements != "no" and (n < 2 or others in crowded),
            *(elements, length, others),
        )
        yield forbid(
            lambda layout, n, others: layout != "c" and (n < 2 or others == "zero"),
            *(layout, length, others),
        )
        yield forbid(lambda others, n: others == "huge" and n > 10, others, length)
        if self.has_own_shape:
            yield from self._constraints_of_extents()

    def _constraints_of_extents(self) -> Iterator[Constraint]:
        """Yield what goes together where the extents are those that this role draws."""
        rank, length, others = map(self.factor, ("rank", "length", "others"))
        layout = self.factor("layout")
        yield forbid(lambda others, rank: others != "varied" and rank < 2, others, rank)
        yield forbid(
            lambda others, n, rank: others == "same" and (n < 2 or n**rank > _MOST_SAME),
            *(others, length, rank),
        )
        yield forbid(
            lambda others, n, rank: others == "varied" and n > _LONG_AXIS and rank > 1,
            *(others, length, rank),
        )
        # What these layouts change takes two axes that are longer than 1.
        of_two = ("fortran", "pitched", "first_reversed", "last_reversed")
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
        """Yield where there are no two elements, or where they are the same."""
        rank, length, others = map(self.factor, ("rank", "length", "others"))
        yield forbid(lambda elements: elements != "no", self.factor("elements"))
        yield forbid(lambda n: n == 0, length)
        yield forbid(lambda others: others == "zero", others)
        yield forbid(
            lambda n, rank, others: n == 1 and (rank < 2 or others == "ones"), length, rank, others
        )

    @property
    def has_own_shape(self) -> bool:
        """Whether no other role decides its shape."""
        return not any(self.name in role.shapes for role in self._signature.roles)

    def shape(self, scene: BuildContext) -> tuple[int, ...]:
        """Return the shape for a choice."""
        for role in self._signature.roles:
            if self.name in role.shapes:
                return role.shape_for(self, scene)
        return scene.draw(self.factor("shape"), lambda sampler: self.extents(scene, sampler))

    def extents(self, scene: BuildContext, sampler: Sampler) -> tuple[int, ...]:
        """Draw extents with the axis in focus among them."""
        choice = scene.choice
        rank, length = choice[self.factor("rank")], choice[self.factor("length")]
        if rank == 0:
            return ()
        others = sampler.dims(rank - 1, choice[self.factor("others")], length)
        return insert(others, choice[self.factor("axis")], length)

    def build(self, scene: BuildContext) -> Tensor:
        """Return a tensor for a data pattern to fill."""
        choice = scene.choice
        tensor = filled(choice[self.factor("type")], self.shape(scene))
        tensor = replace(tensor, uniform=choice[self.factor("elements")])
        return with_layout(tensor, choice[self.factor("layout")])

    def axes(self, call: Call) -> list[ObservationPoint]:
        """Return its axes, as places where a call can be looked at."""
        return [{"axis": axis} for axis in range(call.inputs[self.name].rank)] or [{}]

    def observe(self, call: Call, focus: ObservationPoint) -> ObservedLevels:
        """Return the levels of all factors, with the axis in focus."""
        tensor = call.inputs[self.name]
        values = {
            self.factor("type"): tensor.type,
            self.factor("rank"): tensor.rank,
            self.factor("layout"): tensor.layout,
            self.factor("elements"): tensor.uniform,
        }
        if self.has_own_shape:
            axis = focus.get("axis", 0)
            length = tensor.shape[axis] if tensor.rank else 1
            others = [extent for d, extent in enumerate(tensor.shape) if d != axis]
            values[self.factor("axis")] = axis
            values[self.factor("length")] = length
            values[self.factor("others")] = extent_kinds(others, length)
        return ObservedLevels(values)
