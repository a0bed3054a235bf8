"""The role `data`: a tensor whose elements an operator moves or reads."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Literal, Self

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.element_types import FLOATS, INTEGERS, fits
from opcert.arrays.patterns import MAX_STORED_BYTES
from opcert.errors import Inapplicable, listed
from opcert.roles.argument import ExpressionText, RankBounds
from opcert.roles.drawing import Drawing
from opcert.roles.numbers import CONVERTED, Domain, draw_converted, draw_numbers
from opcert.roles.plain_values import ModeRole, OfModeRole
from opcert.roles.role import ListRole, Requirement, Role

# How many elements are read, in most draws and in a few: formulas may read all of them for each
# element of an output.
_MAX_READ, _MANY_READ = 256, 600
# How many of them are multiplied in several windows.
_MAX_FILTERED = 64
# Numbers that a narrower type does not hold: integers, and fractions.
_WIDE = [(1 << k) + d for k in (7, 8, 15, 16, 24, 31, 32, 53, 63) for d in (-1, 0, 1)]
_FRACTIONS = (0.5, -1.5, 2.0**-24, 2.0**-133, 2.0**-149, -(2.0**-1074), 2.0**100)


class DataRole(Role):
    """A tensor whose elements an operator moves; the base class of the roles of such tensors.

    Or the operator computes with them (`computed`), and most are in the interval `domain`, which
    may differ by type. Unless `empty` is false, an extent may be 0.
    """

    # Whether its shape is drawn before an axis of it.
    draws_own_shape: ClassVar[bool] = True

    rank: RankBounds = ("1", "8")
    empty: bool = True
    computed: bool = False
    divides: bool = False
    domain: Domain | dict[str, Domain] | None = None

    @property
    def tensor_expr(self) -> str:
        """The expression of the tensor whose rank and extents other arguments refer to."""
        return self.name

    def tensor_of(self, call: Call) -> Tensor:
        """Return the tensor whose rank and extents other arguments refer to."""
        return call.inputs[self.name]

    def values_in(self, call: Call) -> Sequence[int]:
        """Return no integers where the elements are numbers to compute with."""
        return () if self.computed else super().values_in(call)

    @cached_property
    def into(self) -> ModeRole | None:
        """What names the type into which its elements go, if it is not their own."""
        names = self._signature.computed_types if self.computed else ()
        modes = (role for role in self._signature.roles if isinstance(role, ModeRole))
        return next((role for role in modes if role.name in names), None)

    def draw_type(self, call: Drawing) -> str:
        """Draw its element type; most of what a kernel computes wrongly are roundings."""
        floats = [name for name in self._signature.types[self.type] if name in FLOATS]
        draws_own = self.computed and self._first_of_type.name == self.name
        if draws_own and self.into is not None:
            # Each type goes into each other one.
            call.choices.spread(f"{self.name} type", f"{self.into.name} word")
        elif draws_own and floats and not call.choices.integer("whole numbers", 0, 1):
            return call.one(self, "type", floats)
        return super().draw_type(call)

    def draw(self, call: Drawing) -> Any:
        """Return a tensor of numbers to compute with, or one for a data pattern to fill."""
        tensor = Tensor(call.fact(self.draw_type), call.fact(self.draw_shape))
        values = self.draw_values(call, tensor)
        uniform = self.draw_uniform(call, tensor) if values is None else tensor.uniform
        return call.laid_out(self, replace(tensor, values=values, uniform=uniform))

    def draw_operand(self, call: Drawing) -> Tensor | None:
        """Draw another operand; in some calls, numbers are next to those of it."""
        del call
        return None

    def draw_values(self, call: Drawing, tensor: Tensor) -> tuple[float, ...] | None:
        """Draw numbers to compute with; None if the operator does not."""
        if not self.computed:
            return None
        domain = self.domain.get(tensor.type) if isinstance(self.domain, dict) else self.domain
        into = None if self.into is None else call.fact(self.into.draw_meant)
        if into in CONVERTED and tensor.type in CONVERTED:
            values = draw_converted(self, call, tensor, str(into))
        else:
            values = draw_numbers(self, call, tensor, domain, self.draw_operand(call))
        if self.divides and tensor.type in INTEGERS:
            # By these, processors end the process, which no reading of a document excuses.
            values = tuple(2 if value in (0, -1) else value for value in values)
        return values

    def draw_uniform(self, call: Drawing, tensor: Tensor) -> Literal["no", "some"]:
        """Draw whether all elements are alike: a pack stores such a tensor whole."""
        if tensor.size < 2 or tensor.nbytes > MAX_STORED_BYTES:
            return "no"
        return call.one(self, "elements", {"different": "no"}, {"all alike": "some"})

    def requirements(self) -> Iterator[Requirement]:
        """Yield none: a spec states which types and ranks there are."""
        return iter(())


class PlainDataRole(DataRole, OfModeRole):
    """The role `data`: one tensor.

    It may have the type of other data (`type_of`). Its shape is drawn, or that of an expression
    (`shape`); or data broadcasts with other data (`broadcasts_with`). If a mode says how, `ways`
    has for each of its words whether they stretch to one another (`both`), this one to the other
    (`onto`), or none. If its elements are `read`, conditions and shapes may depend on them.
    """

    relations: ClassVar = {"type_of": ("data",), "broadcasts_with": ("data",), "mode": ("mode",)}

    role: Literal["data"]
    type_of: str | None = None
    shape: ExpressionText | None = None
    broadcasts_with: str | None = None
    ways: Mapping[str, Literal["both", "onto", "none"]] = {}
    read: bool = False

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report a wrong type symbol, a chain of data that broadcast, and words without a way."""
        if self.type_of is not None:
            yield from self.type_mistakes(self.type_of)
        if self._partners and self._partners[0].broadcasts_with is not None:
            text = f"'{self.broadcasts_with}' names data that it broadcasts with, too"
            yield "broadcasts_with", f"{text}; expected data without this key"
        words = () if self.mode_role is None else self.mode_role.one_of
        if self.ways.keys() != {*words} or (words and self.broadcasts_with is None):
            text = "ways of other words than the mode has, or without other data"
            yield "ways", f"{text}; expected 'broadcasts_with', and ways of {[*words]}"

    def rank_bounds(self) -> tuple[str, str]:
        """Return the ranks of the argument whose shape it has."""
        other = self._signature.arguments.get((self.shape or "").removesuffix(".shape"))
        return other.rank_bounds() if isinstance(other, Role) else super().rank_bounds()

    @cached_property
    def _partners(self) -> list["PlainDataRole"]:
        """The data that broadcast to one another, this one among them; none if it does not."""
        first = self.related(self.broadcasts_with or self.name, PlainDataRole)
        others = first.referrers("broadcasts_with", PlainDataRole)
        return [first, *others] if others else []

    def draw_rank(self, call: Drawing) -> int:
        """Draw its rank."""
        if self.shape is not None or self._partners:
            return super().draw_rank(call)
        return self._draw_own_rank(call, "rank")

    def _draw_own_rank(self, call: Drawing, aspect: str) -> int:
        least, most = map(int, self.rank)
        return call.one(self, aspect, range(max(least, call.fact(self._is_long)), most + 1))

    def _is_long(self, call: Drawing) -> bool:
        """Whether it has many elements: some decide, whatever a conversion may get wrong."""
        has_axes = self.into is not None and self.rank[1] != "0"
        return has_axes and not call.choices.rarely(f"{self.name} few", 8)

    def draw_shape(self, call: Drawing) -> tuple[int, ...]:
        """Draw its shape, or return that of the expression that gives it."""
        if self.shape is not None:
            return call.evaluate_integers(self.shape)
        if not self._partners:
            return self._draw_own_shape(call, call.fact(self.draw_rank))
        return call.fact(self._partners[0].draw_shapes)[self.name]

    def draw_shapes(self, call: Drawing) -> Mapping[str, tuple[int, ...]]:
        """Draw the shapes of the data that broadcast to one another, of which it is the first."""
        shape = self._draw_result_shape(call)
        way = call.fact(self._partners[1].draw_way)
        if way == "none":
            return {role.name: shape for role in self._partners}
        # One of them has all axes. Each extent is kept by all that have the axis, or all but one.
        onto = way == "onto"
        whole = self if onto else call.pick(self, "with all axes", self._partners)
        first_axes = {
            role.name: 0 if role is whole else len(shape) - role._draw_own_axes(call, len(shape))
            for role in self._partners
        }
        repeating = []
        for axis, number in enumerate(call.choices.integers("keepers", 0, 1 << 16, len(shape))):
            having = [name for name, first in first_axes.items() if first <= axis]
            options = [*reversed(having), ""] if len(having) > 1 else [""]
            repeating.append(options[number % len(options)])
        common, rare = (["none"], ["some", "all"]) if onto else (["some"], ["none", "all"])
        shapes = {self.name: shape}
        for role in self._partners[1:] if onto else self._partners:
            stretched = call.one(role, "stretched", common, rare)
            own = tuple(
                1 if stretched == "all" or (stretched == "some" and role.name == name) else extent
                for extent, name in zip(shape, repeating, strict=True)
            )
            shapes[role.name] = own[first_axes[role.name] :]
        return shapes

    def _draw_own_axes(self, call: Drawing, most: int) -> int:
        least, most = int(self.rank[0]), min(int(self.rank[1]), most)
        if least > most:
            raise Inapplicable("the result has too few dimensions")
        common = {"as many": most, "one fewer": most - 1}
        rare = {"half": most // 2, "fewest": least}
        possible = ({name: k for name, k in own.items() if k >= least} for own in (common, rare))
        return call.one(self, "axes", *possible)

    def draw_way(self, call: Drawing) -> str:
        """Draw how it broadcasts with other data."""
        return "both" if self.mode_role is None else self.ways[call.fact(self.mode_role.draw_meant)]

    def _draw_result_shape(self, call: Drawing) -> tuple[int, ...]:
        # Only extents above 1 show what is repeated: most shapes have several.
        shape = [*self._draw_own_shape(call, self._draw_own_rank(call, "rank of the result"))]
        if shape and not call.choices.rarely(f"{self.name} as drawn", 4):
            for k, extent in enumerate(call.choices.integers("longer", 1, 4, len(shape))):
                if shape[k] == 1:
                    if prod(shape) * extent > _MAX_READ:
                        # The longest axis gives what this one takes.
                        shape[shape.index(max(shape))] //= extent
                    shape[k] = extent
        return tuple(shape)

    def _draw_own_shape(self, call: Drawing, rank: int) -> tuple[int, ...]:
        if any(role.role == "filter" for role in self.referrers("type_of", DataRole)):
            space = call.extents(self, rank - 2, _MAX_FILTERED // 2, empty=self.empty)
            room = _MAX_FILTERED // max(1, prod(space))
            channels = call.extent(self, "channels", room)
            return (call.extent(self, "batches", room // channels), channels, *space)
        if not self.computed:
            return call.extents(self, rank, call.room(self), empty=self.empty, huge=True)
        room = min(call.room(self), call.few_or_many(self, _MAX_READ, _MANY_READ))
        is_long = call.fact(self._is_long)
        shape = call.extents(self, rank, room, empty=self.empty and not is_long)
        if not is_long:
            return shape
        longer = call.integer(self, "longer", 0, rank - 1)
        times = max(1, _MAX_READ // prod(shape))
        return tuple(n * times if k == longer else n for k, n in enumerate(shape))

    def draw_operand(self, call: Drawing) -> Tensor | None:
        """Draw the first of the data with which it broadcasts."""
        first = self.broadcasts_with
        return None if first is None else call.fact(self.related(first, PlainDataRole).draw)

    def draw_values(self, call: Drawing, tensor: Tensor) -> tuple[float, ...] | None:
        """Draw numbers that are read: many are 0, or equal; some need all bits of the type."""
        if self.computed or not self.read:
            return super().draw_values(call, tensor)
        if tensor.size > call.few_or_many(self, _MAX_READ, _MANY_READ):
            raise Inapplicable(f"{self.name} has too many elements to be read")
        wide = [n for n in (*_WIDE, *(-n for n in _WIDE), *_FRACTIONS) if fits(tensor.type, n)]
        few: Sequence[float] = [n for n in (-1, 0, 1) if fits(tensor.type, n)]
        pools = {
            "few different": few,
            "different": [n for n in range(-127, 128) if fits(tensor.type, n)],
            "wide": [*few, *wide],
            "ones": [1],
        }
        pool = call.one(self, "values", pools, {"zeros": [0]})
        numbers = call.integers(self, "numbers", 0, len(pool) - 1, tensor.size)
        return tuple(pool[number] for number in numbers)

    def requirements(self) -> Iterator[Requirement]:
        """Yield the type and the shape that it shares with other arguments."""
        name = self.name
        if self.type_of is not None:
            yield self.same_type(self.type_of)
        if self.shape is not None:
            of = self.shape.removesuffix(".shape")
            text = f"{name} has the shape {'' if of == self.shape else 'of '}{of}."
            yield self.requirement("shape", text, f"{name}.shape == tuple({self.shape})")
        if self.broadcasts_with is not None:
            yield from self._broadcasting(self.broadcasts_with)

    def _broadcasting(self, first: str) -> Iterator[Requirement]:
        """Yield that it broadcasts with other data in each way that it may."""
        name, mode = self.name, self.mode_role
        names = [role.name for role in self._partners]
        names = names[: names.index(name) + 1]
        shapes = f"[{', '.join(f'{each}.shape' for each in names)}]"
        together = f"{listed(names)} broadcast to one another"
        own = f"broadcasts({name}.shape, {first}.shape)"
        ways = {
            "both": ("broadcasts", together, f"compatible({shapes})"),
            "onto": ("onto", f"{name} broadcasts to {first}", own),
            "none": ("equal", f"{name} has the shape of {first}", f"{name}.shape == {first}.shape"),
        }
        for way, (aspect, fact, holds) in ways.items():
            keys = [f"{each}.{aspect}" for each in names[1:-1]]
            words = [word for word, own in self.ways.items() if own == way]
            if mode is None and way == "both":
                yield self.requirement(aspect, f"{fact}.", holds, *keys)
            elif mode is not None and words:
                text = f"If {mode.name} is {' or '.join(words)}, {fact}."
                keys.insert(0, mode.word_requirement)
                yield self.requirement(aspect, text, holds, *keys, when=mode.is_one_of(words))


class OfDataRole(Role):
    """The base class of roles of one data, which `of` names."""

    relations: ClassVar[Mapping[str, tuple[str, ...]]] = {"of": ("data",)}

    of: str

    @property
    def data(self) -> DataRole:
        """The data that it is about."""
        return self.related(self.of, DataRole)

    def axes_in(self, call: Call) -> int | Sequence[int | None] | None:
        """Return all axes."""
        return range(self.data.tensor_of(call).rank)


class PerAxis(ListRole, OfDataRole):
    """One number for each axis of data: a list attribute, or a one-dimensional tensor."""

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an attribute that is no list."""
        yield from super().mistakes()
        if self.is_attribute and self.type != "list":
            text = f"an attribute of type '{self.type}' has no number for each axis"
            yield "type", f"{text}; expected the type 'list', or a tensor"

    @property
    def list_keys(self) -> tuple[str, ...]:
        """The keys of the requirements that make it a list with a number for each axis."""
        return (*super().list_keys, *(() if self.lengths is None else (f"{self.name}.length",)))

    @property
    def lengths(self) -> tuple[str, str] | None:
        """The condition on its length, and the words for it; None if it may have any length."""
        text = f"{self.name} has one number for each axis of {self.of}"
        return f"{self.length_expr} == {self.of}.rank", text

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank and its length."""
        yield from super().requirements()
        if self.lengths is not None:
            condition, text = self.lengths
            yield self.requirement("length", f"{text}.", condition, *super().list_keys)


class PartRole(ListRole, OfDataRole):
    """One of the lists that describe together what is taken of data.

    Each of them has the same role, and another `part`.
    """

    part_names: ClassVar[tuple[str, ...]]

    part: str

    @cached_property
    def group(self) -> list[Self]:
        """The arguments with a part, in the order of the signature."""
        return self.data.referrers("of", type(self))

    @cached_property
    def parts(self) -> list[Self]:
        """The arguments with a part, in the order of the parts."""
        return sorted(self.group, key=lambda role: self.part_names.index(role.part))

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report missing and repeated parts."""
        yield from super().mistakes()
        for part in self.part_names:
            names = [role.name for role in self.group if role.part == part]
            if self.name in names[1:]:
                yield "part", f"duplicate {part} of '{self.of}'; the first is '{names[0]}'"
            if not names and self.name == self.group[0].name:
                expected = f"an argument with 'role: {self.role}' and 'part: {part}'"
                yield "part", f"missing {part} of '{self.of}'; expected {expected}"

    def draw_together(self, call: Drawing) -> Sequence[tuple[Any, ...]]:
        """Draw the numbers of all parts, for each place of the lists; the first part draws them."""
        raise NotImplementedError

    def draw(self, call: Drawing) -> Any:
        """Return its own numbers of those of all parts; None if it is omitted."""
        drawn = call.fact(self.parts[0].draw_together)
        if not call.fact(self.draw_given):
            return None
        number = self.part_names.index(self.part)
        return self.drawn_list(call, [numbers[number] for numbers in drawn])
