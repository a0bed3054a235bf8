"""Where along data an operator works, or in what order: the roles `axis`, `axes`, `permutation`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call, Tensor, replace, wrap
from opcert.arrays.element_types import lowest
from opcert.errors import Inapplicable
from opcert.roles.data import DataRole, OfDataRole, PerAxis
from opcert.roles.drawing import Drawing, distinct, parted, places
from opcert.roles.plain_values import OneElementRole
from opcert.roles.role import OMITTED, ListRole, Requirement, Role


class AxisRole(OneElementRole, OfDataRole):
    """An axis of data: a tensor of one element, or an attribute.

    With `negative`, a negative axis counts from the end. `form` lists the allowed forms of a
    tensor: `scalar` (rank 0) and `one_element` (shape [1]). An omitted attribute means `default`.
    If an operator works along two axes, one of them names the other in `other_than`.
    """

    relations: ClassVar = {"of": ("data", "tensors"), "other_than": ("axis",)}
    counts_axes: ClassVar = True

    role: Literal["axis"]
    negative: bool = True
    other_than: str | None = None

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an optional axis without a default."""
        if not self.required and not (self.is_attribute and isinstance(self.default, int)):
            text = "an axis that may be omitted has no default"
            yield "required", f"{text}; expected an attribute with a default"

    def bounds(self) -> tuple[str, str]:
        """Return the first and the last axis of data."""
        return (f"-{self._rank_expr}" if self.negative else "0", f"{self._rank_expr} - 1")

    @property
    def _rank_expr(self) -> str:
        return f"{self.data.tensor_expr}.rank"

    @property
    def value_expr(self) -> str:
        """The expression of the axis as it is given."""
        return self.name if self.is_attribute else f"{self.name}.values[0]"

    @property
    def wrapped_expr(self) -> str:
        """The expression of the axis counted from the front."""
        return f"wrap({self.value_expr}, {self._rank_expr})" if self.negative else self.value_expr

    @property
    def size_expr(self) -> str:
        """The expression of the size of the axis."""
        return f"{self.data.tensor_expr}.shape[{self.wrapped_expr}]"

    def draw_size(self, call: Drawing) -> int:
        """Draw the size of the axis."""
        return call.fact(self.data.draw_shape)[call.fact(self.draw_axis)]

    def draw_axis(self, call: Drawing) -> int:
        """Draw the axis, counted from the front."""
        named = places(call.fact(self.data.draw_rank))
        if self.other_than is not None:
            other = call.fact(self.related(self.other_than, AxisRole).draw_axis)
            named = {name: place for name, place in named.items() if place != other}
        if self.data.draws_own_shape:
            # An axis of one element shows little.
            shape = call.fact(self.data.draw_shape)
            return call.one(self, "position", *parted(named, lambda axis: shape[axis] != 1))
        return call.one(self, "position", named)

    def draw(self, call: Drawing) -> Any:
        """Return the axis, counted from the front or from the end, None if it is omitted."""
        axis, rank = call.fact(self.draw_axis), call.fact(self.data.draw_rank)
        element_type = call.fact(self.draw_type)
        ways: dict[str, int | None] = {"from the front": axis}
        if self.negative and lowest(element_type) < 0:
            ways["from the end"] = axis - rank
        is_default = isinstance(self.default, int) and axis == wrap(self.default, rank)
        if not self.required and is_default:
            ways[OMITTED] = None
        value = call.one(self, "sign", ways)
        if value is None or self.is_attribute:
            return value
        return call.laid_out(self, Tensor(element_type, self.draw_form(call), (value,)))

    def axis_in(self, call: Call) -> int:
        """Return the axis of a call, counted from the front; an omitted one is its default."""
        axis = next(iter(self.values_in(call)), self.default)
        return wrap(int(str(axis)), self.data.tensor_of(call).rank)

    def axes_in(self, call: Call) -> int | None:
        """Return itself, unless another one is the axis that its integers concern."""
        return None if self.other_than is not None else self.axis_in(call)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its form and its range."""
        yield from super().requirements()
        if not self.is_attribute:
            yield self.form_requirement()
        least, _ = self.range or self.bounds()
        text = f"{self.name} is an axis that {self.of} has."
        holds = f"{least} <= {self.value_expr} < {self._rank_expr}"
        yield self.requirement("range", text, holds, "type", "shape")


class AlongRole(Role):
    """The base class of roles whose integers concern one axis of data, which `along` names."""

    relations: ClassVar[Mapping[str, tuple[str, ...]]] = {"along": ("axis",)}

    along: str

    @property
    def axis(self) -> AxisRole:
        """The axis that they concern."""
        return self.related(self.along, AxisRole)

    @property
    def data(self) -> DataRole:
        """The data that has this axis."""
        return self.axis.data

    def axes_in(self, call: Call) -> int:
        """Return the axis that they concern."""
        return self.axis.axis_in(call)


class DividingRole(AlongRole, OfDataRole):
    """The base class of roles that divide an axis of data into parts."""

    relations: ClassVar = {**OfDataRole.relations, **AlongRole.relations}


class AxesRole(ListRole, OfDataRole):
    """A list of axes of data in any order: a tensor, or an attribute.

    An omitted list means all axes or, with `omitted: first`, the first axes, one for each element
    of the lists that go `along` it. With `negative`, negative axes count from the end. With
    `unique`, no axis may be listed twice. With `single`, each has one element. With `empty`, there
    may be none; with `scalar`, one axis may be a scalar.
    """

    counts_axes: ClassVar = True

    role: Literal["axes"]
    omitted: Literal["all", "first"] = "all"
    negative: bool = True
    unique: bool = True
    single: bool = False
    empty: bool = False
    scalar: bool = False

    def rank_bounds(self) -> tuple[str, str]:
        """Return rank 1, and rank 0 if an axis may be a scalar."""
        return ("0" if self.scalar else "1", "1")

    def bounds(self) -> tuple[str, str]:
        """Return the first and the last axis of data."""
        return (f"-{self.of}.rank" if self.negative else "0", f"{self.of}.rank - 1")

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report `omitted: first` if no list determines the number of axes."""
        if self.omitted == "first" and not self.referrers("along", Role):
            text = f"unknown number of first axes; expected an argument with 'along: {self.name}'"
            yield "omitted", text

    def draw_listed(self, call: Drawing) -> tuple[int, ...]:
        """Draw the listed axes in order, counted from the front."""
        rank = call.fact(self.data.draw_rank)
        axes: Sequence[int] = range(rank)
        if self.single:
            axes = [k for k, n in enumerate(call.fact(self.data.draw_shape)) if n == 1]
            rank = len(axes)
        if not call.fact(self.draw_given):
            return self._draw_omitted(call, axes)
        if not rank and not self.empty:
            raise Inapplicable("data has no axis that may be listed")
        least_ranks = {"one": 1, "all": 2, "some": 3, "all in another order": 3, "descending": 2}
        least_ranks["some in any order"] = 3
        if not self.unique:
            least_ranks["one twice"] = 1
        listings = [listing for listing, ranks in least_ranks.items() if rank >= ranks]
        listing = call.one(self, "listing", listings, ["none"] if self.empty else [])
        if listing == "none":
            return ()
        if listing == "one":
            return (axes[call.one(self, "position", places(rank))],)
        if listing == "one twice":
            twice = axes[call.one(self, "position", places(rank))]
            return (twice, axes[call.integer(self, "between", 0, rank - 1)], twice)
        if listing in ("all", "descending"):
            return tuple(axes if listing == "all" else axes[::-1])
        count = call.integer(self, "number", 2, rank - 1) if listing.startswith("some") else rank
        order = call.sample(self, "order", axes, count)
        return tuple(sorted(order) if listing == "some" else order)

    def _draw_omitted(self, call: Drawing, axes: Sequence[int]) -> tuple[int, ...]:
        """Draw the axes that an omitted list means."""
        if self.omitted == "first":
            if not axes:
                raise Inapplicable("there is no first axis")
            axes = axes[: call.one(self, "number", range(1, len(axes) + 1))]
        return tuple(axes)

    def draw(self, call: Drawing) -> Any:
        """Return the axes; all, none or some of them count from the end."""
        listed, rank = call.fact(self.draw_listed), call.fact(self.data.draw_rank)
        if not call.fact(self.draw_given):
            return None
        element_type = call.fact(self.draw_type)
        signs = ["from the front"]
        if self.negative and lowest(element_type) < 0:
            signs += ["from the end", "mixed"] if len(listed) > 1 else ["from the end"]
        sign = call.one(self, "sign", signs)
        values = tuple(
            axis - rank if sign == "from the end" or (sign == "mixed" and k % 2 == 0) else axis
            for k, axis in enumerate(listed)
        )
        can_be_scalar = self.scalar and len(values) == 1
        if can_be_scalar and call.one(self, "form", ["list", "scalar"]) == "scalar":
            return Tensor(element_type, (), values)
        return self.drawn_list(call, values)

    def axes_in(self, call: Call) -> Sequence[int]:
        """Return the axes of a call in order, counted from the front."""
        rank = call.inputs[self.of].rank
        if self.name in call.arguments:
            return [wrap(axis, rank) for axis in self.values_in(call)]
        if self.omitted == "all":
            return range(rank)
        return range(len(self.referrers("along", Role)[0].values_in(call)))

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank, its range and its uniqueness."""
        yield from super().requirements()
        name, rank, values = self.name, f"{self.of}.rank", self.values_expr
        least, _ = self.bounds()
        text = f"Each of {name} is an axis that {self.of} has."
        yield self.of_each("range", text, "axis", f"{least} <= axis < {rank}")
        if self.single:
            text, holds = f"Each of {name} has one element.", f"{self.of}.shape[axis] == 1"
            yield self.of_each("single", text, "axis", holds, "range")
        if self.unique:
            wrapped = f"wrap(axis, {rank})" if self.negative else "axis"
            holds = f"len(set({wrapped} for axis in {values})) == {self.length_expr}"
            text = "No axis is listed twice."
            yield self.requirement("unique", text, holds, *self.list_keys, "range")


class PermutationRole(PerAxis):
    """An order of all axes of data, each listed once and counted from the front.

    An omitted permutation means the reversed order. An empty one `reverses` the axes as well, or is
    `invalid` unless data has rank 0.
    """

    counts_axes: ClassVar = True

    role: Literal["permutation"]
    empty: Literal["invalid", "reverses"] = "invalid"

    def bounds(self) -> tuple[str, str]:
        """Return the first and the last axis of data."""
        return ("0", f"{self.of}.rank - 1")

    def draw(self, call: Drawing) -> Any:
        """Return the order of the axes, None if it is omitted."""
        shape = call.fact(self.data.draw_shape)
        axes = tuple(range(len(shape)))
        long_axes = [axis for axis in axes if shape[axis] > 1]
        # With few axes, orders are equal.
        named: dict[str, Sequence[int] | None] = {**distinct(_named_orders(len(axes)))}
        if len(axes) > 2:
            named["any"] = tuple(call.sample(self, "any", axes, len(axes)))
        if len(long_axes) > 1:
            one, other = call.sample(self, "exchanged", long_axes, 2)
            named["two exchanged"] = replace(replace(axes, one, other), other, one)
        if self.empty == "reverses" and axes:
            named["empty"] = ()
        if not self.required:
            named[OMITTED] = None

        # Elements move only where long axes change places.
        def moves(order: Sequence[int] | None) -> bool:
            return [axis for axis in order or axes[::-1] if axis in long_axes] != long_axes

        chosen = call.one(self, "order", *parted(named, moves))
        return None if chosen is None else self.drawn_list(call, chosen)

    def axes_in(self, call: Call) -> Sequence[int]:
        """Return the axes in their order."""
        return self.values_in(call)

    @property
    def lengths(self) -> tuple[str, str] | None:
        """The condition on its length, and the words for it."""
        if self.empty == "invalid":
            return super().lengths
        text = f"{self.name} has one number for each axis of {self.of}, or is empty"
        return f"{self.length_expr} in [0, {self.of}.rank]", text

    def requirements(self) -> Iterator[Requirement]:
        """Yield its form, its range and its uniqueness."""
        yield from super().requirements()
        text = f"Each of {self.name} is an axis that {self.of} has."
        yield self.of_each("range", text, "axis", f"0 <= axis < {self.of}.rank")
        holds = f"len(set({self.values_expr})) == {self.length_expr}"
        yield self.requirement("unique", "No axis is listed twice.", holds, *self.list_keys)


def _named_orders(rank: int) -> Mapping[str, Sequence[int]]:
    """Return orders of `rank` axes by name.

    A rotation is not its own inverse: it discriminates between a permutation and its inverse.
    Implementations have code of their own for orders that keep the last axis, or the first one, at
    its place.
    """
    axes, half = tuple(range(rank)), rank // 2
    orders = {"identity": axes} if rank < 2 else {"reversed": axes[::-1], "identity": axes}
    if rank > 2:
        orders |= {
            "last two exchanged": (*axes[:-2], *axes[-2:][::-1]),
            "first to last": (*axes[1:], *axes[:1]),
            "last to first": (*axes[-1:], *axes[:-1]),
            "first two exchanged": (*axes[:2][::-1], *axes[2:]),
        }
    if rank > 3:
        orders |= {
            "second to last": (*axes[:1], *axes[2:], *axes[1:2]),
            "last to second": (*axes[:1], *axes[-1:], *axes[1:-1]),
            "inner exchanged": (*axes[:1], *axes[1:3][::-1], *axes[3:]),
            "ends exchanged": (*axes[-1:], *axes[1:-1], *axes[:1]),
            "halves exchanged": (*axes[half:], *axes[:half]),
            "halves exchanged first reversed": (*axes[half:], *axes[:half][::-1]),
        }
    return orders
