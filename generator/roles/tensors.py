"""Tensors that go with data: the roles `tensors`, `matrices`, which are multiplied, and `fill`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call, Tensor, insert, tensors_in
from opcert.arrays.layouts import C_ORDER
from opcert.roles.axes import AlongRole
from opcert.roles.data import DataRole
from opcert.roles.drawing import Drawing, parted, places
from opcert.roles.plain_values import FlagRole, OneElementRole, SelectedRole
from opcert.roles.role import Requirement

# Drawn tensors have at most so many elements together.
_MOST_ELEMENTS = 1 << 18


class TensorsRole(AlongRole, DataRole):
    """A list of tensors that are joined along the axis `along`.

    They have one type and one rank, and the same extents off the axis. Along it, their lengths may
    differ; unless `empty` is false, an extent may be 0.
    """

    can_be_variadic: ClassVar = True

    role: Literal["tensors"]
    variadic: tuple[int, int]

    @property
    def tensor_expr(self) -> str:
        """The expression of the first tensor."""
        return f"{self.name}[0]"

    def tensor_of(self, call: Call) -> Tensor:
        """Return the first tensor."""
        return tensors_in(call.arguments[self.name])[0]

    draws_own_shape: ClassVar[bool] = False

    def draw_rank(self, call: Drawing) -> int:
        """Draw the rank of all of them."""
        return call.one(self, "rank", self.ranks)

    def draw_count(self, call: Drawing) -> int:
        """Draw how many tensors there are; a single one has nothing to be joined to."""
        least, most = self.variadic
        few = {"2": 2, "3": 3, "4": 4, "several": call.integer(self, "several", 5, 16)}
        rare = {"1": 1, "many": call.many(self)}
        fitting = [{k: n for k, n in named.items() if least <= n <= most} for named in (few, rare)]
        return call.one(self, "number", *fitting)

    def draw_shapes(self, call: Drawing) -> list[tuple[int, ...]]:
        """Draw the shape of each tensor: they differ on the axis alone."""
        rank, room, count = call.fact(self.draw_rank), call.room(self), call.fact(self.draw_count)
        if not rank:
            return [()] * count
        # Half of the room is for extents off the axis.
        share = max(1, room // (2 * count))
        others = call.extents(self, rank - 1, share, empty=self.empty, aspect="other extents")
        axis = call.fact(self.axis.draw_axis)
        size = prod(max(1, extent) for extent in others)
        lengths = self._draw_lengths(call, count, max(4, share // size), _MOST_ELEMENTS // size)
        # Offsets may be kept under the first shapes, the last one and that of the output.
        if count > 4 and call.one(self, "order", ["any", "inner ones exchanged"]) != "any":
            lengths[-3:-1] = lengths[-2:-4:-1]
        return [insert(others, axis, length) for length in lengths]

    def _draw_lengths(self, call: Drawing, count: int, most: int, most_in_all: int) -> list[int]:
        """Draw the lengths on the axis, up to `most`, but one may be longer.

        Where a tensor begins is the sum of the lengths before it, which may wrap.
        """
        kinds = ["different", "equal", "one longer"] if count > 1 else ["any", "one longer"]
        common, rare = (["some empty"], ["all empty"]) if self.empty and count > 1 else ([], [])
        kind = call.one(self, "lengths", [*kinds, *common], rare)
        if kind in ("equal", "all empty"):
            return [call.extent(self, "length", most) if kind == "equal" else 0] * count
        lengths = call.integers(self, "lengths", 1, most, count)
        place = call.one(self, "place", places(count))
        if kind == "some empty":
            are_empty = call.integers(self, "empty", 0, 2, count)
            lengths = [n * bool(rest) for n, rest in zip(lengths, are_empty, strict=True)]
            lengths[place] = 0
        elif kind == "different" and len(set(lengths)) == 1:
            lengths[place] += 1
        elif kind == "one longer":
            before = sum(lengths[:place])
            ends = {"2^8": 1 << 8, "2^16": 1 << 16, "2^8 + 1": 257, "2^16 + 1": (1 << 16) + 1}
            ends = {k: end for k, end in ends.items() if before < end <= most_in_all}
            longer = before + call.extent(self, "longer", 8 * most, least=most)
            lengths[place] = call.one(self, "end", {"any": longer, **ends}) - before
        return lengths

    def draw_shape(self, call: Drawing) -> tuple[int, ...]:
        """Return the shape of the first tensor."""
        return call.fact(self.draw_shapes)[0]

    def values_in(self, call: Call) -> Sequence[int]:
        """Return the lengths of the tensors on the axis."""
        axis = self.axis.axis_in(call)
        return [tensor.shape[axis] for tensor in tensors_in(call.arguments[self.name])]

    def draw(self, call: Drawing) -> Any:
        """Return tensors for data patterns to fill, in one layout or in several."""
        element_type, shapes = call.fact(self.draw_type), call.fact(self.draw_shapes)
        largest, count = Tensor(element_type, max(shapes, key=prod)), len(shapes)
        uniform, layout = self.draw_uniform(call, largest), call.laid_out(self, largest).layout
        layouts = [layout] * count
        if count > 1 and layout != C_ORDER:
            places_of = {"all": range(count), "the first": range(1)}
            places_of |= {"all but the first": range(1, count), "any": range(0)}
            laid_out = call.one(self, "laid out", places_of)
            layouts = [layout if k in laid_out else C_ORDER for k in range(count)]
            if not laid_out:
                others = layout, call.laid_out(self, largest, "other layout").layout, C_ORDER
                numbers = call.integers(self, "layouts", 0, 2, count)
                layouts = [others[number] for number in numbers]
        return tuple(
            Tensor(element_type, shape, uniform=uniform, layout=own)
            for shape, own in zip(shapes, layouts, strict=True)
        )

    def requirements(self) -> Iterator[Requirement]:
        """Yield one type, one rank, and the same extents off the axis."""
        name, first = self.name, self.tensor_expr
        holds = f"all(tensor.type == {first}.type for tensor in {name})"
        yield self.requirement("same-type", f"All tensors of {name} have one element type.", holds)
        text = f"All tensors of {name} have as many dimensions."
        holds = f"all(tensor.rank == {first}.rank for tensor in {name})"
        yield self.requirement("same-rank", text, holds)
        text = f"Off the axis, all tensors of {name} have the same extents."
        others = f"for d in range({first}.rank) if d != {self.axis.wrapped_expr}"
        holds = f"all(tensor.shape[d] == {first}.shape[d] for tensor in {name} {others})"
        yield self.requirement("off-axis", text, holds, "same-rank", f"{self.along}.range")


# How many products are added, in most draws and in a few.
_MOST_PRODUCTS, _MANY_PRODUCTS = 256, 600


class MatricesRole(DataRole):
    """Matrices in the last two dimensions, and before them dimensions that broadcast.

    The second factor names the first in `times`. One dimension is a vector: a row of the first
    factor, a column of the second. If the flag `transposed` is set, rows and columns are exchanged.
    """

    relations: ClassVar = {"times": ("matrices",), "transposed": ("flag",)}

    role: Literal["matrices"]
    times: str | None = None
    transposed: str

    @property
    def _first(self) -> "MatricesRole":
        return self if self.times is None else self.related(self.times, MatricesRole)

    def draw_shape(self, call: Drawing) -> tuple[int, ...]:
        """Return its shape, which is drawn with that of the other factor."""
        return call.fact(self._first.draw_factors)[self.times is not None]

    def draw_factors(self, call: Drawing) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Draw the shapes of both factors."""
        factors = self, *self.referrers("times", MatricesRole)[:1]
        ranks = [factor._draw_usual_rank(call) for factor in factors]
        room = min(call.room(self), call.few_or_many(self, _MOST_PRODUCTS, _MANY_PRODUCTS))
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
        usual, unusual = parted({str(n): n for n in self.ranks}, lambda n: n <= 4)
        return call.one(self, "rank", usual, unusual)

    @property
    def _columns(self) -> str:
        """The expression of the length of its rows; of the second factor, of its columns."""
        name, is_second = self.name, self.times is not None
        outer, inner = f"{name}.shape[-2]", f"{name}.shape[-1]"
        is_last = f"{name}.rank == 1 or {'' if is_second else 'not '}{self.transposed}"
        return f"({inner} if {is_last} else {outer})"

    def requirements(self) -> Iterator[Requirement]:
        """Yield its rank, and how the second factor agrees with the first."""
        name, first = self.name, self._first
        yield self.requirement("rank", f"{name} has a dimension.", f"{name}.rank >= 1")
        if self.times is not None:
            yield self.same_type(first.name)
            keys = "rank", f"{first.name}.rank"
            text = f"The rows of {first.name} are as long as the columns of {name}."
            holds = f"{first._columns} == {self._columns}"
            yield self.requirement("length", text, holds, *keys)
            text = f"The dimensions before the matrices of {first.name} and {name} broadcast."
            holds = f"compatible([{first.name}.shape[:-2], {name}.shape[:-2]])"
            yield self.requirement("batches", text, holds, *keys)


class FillRole(SelectedRole, OneElementRole):
    """One element of the type of data: a tensor.

    `form` lists the allowed forms: `scalar` (rank 0) and `one_element` (shape [1]). An omitted fill
    means 0. With the key `mode`, it is given only if that mode is `mode_is`.
    """

    relations: ClassVar = {"like": ("data",), "mode": ("mode",)}

    role: Literal["fill"]
    like: str

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report a type symbol other than that of data, and wrong keys of a mode."""
        yield from super().mistakes()
        yield from self.type_mistakes(self.like)

    @property
    def data(self) -> DataRole:
        """The data that has its type."""
        return self.related(self.like, DataRole)

    def draw(self, call: Drawing) -> Tensor | None:
        """Return an element for a data pattern to fill, or 0; None where the mode has no use."""
        if not self.is_selected(call) or not call.fact(self.draw_given):
            return None
        shape = self.draw_form(call)
        # An element of 0 looks like an omitted one.
        uniform: Literal["no", "zero"] = call.one(self, "element", {"any": "no"}, {"0": "zero"})
        return call.laid_out(self, Tensor(call.fact(self.draw_type), shape, uniform=uniform))

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type and its form."""
        yield self.same_type(self.like, *self.selected_keys)
        text = f"{self.name} is one element, given as {' or '.join(self.form).replace('_', ' ')}."
        yield replace(self.form_requirement(*self.selected_keys), text=text)
