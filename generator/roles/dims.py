"""The roles `permutation`, an order of axes, and `leading_dims`, a number of batch dimensions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call, replace, wrap
from opcert.roles.axes import AxisRole
from opcert.roles.data import OfDataRole, PerAxis
from opcert.roles.drawing import MAX_OUTPUT_RANK, Drawing, parted
from opcert.roles.role import OMITTED, Requirement, Role


class PermutationRole(PerAxis):
    """An order of all axes of data, each listed once and counted from the front.

    An omitted permutation means the reversed order. An empty one `reverses` the axes as well, or is
    `invalid` unless data has rank 0.
    """

    counts_axes: ClassVar = True

    role: Literal["permutation"]
    empty: Literal["invalid", "reverses"] = "invalid"

    def bounds(self) -> tuple[str, str] | None:
        """Return the first and the last axis of data."""
        return None if self.is_attribute else ("0", f"{self.of}.rank - 1")

    def draw(self, call: Drawing) -> Any:
        """Return the order of the axes, None if it is omitted."""
        shape = call.fact(self.data.draw_shape)
        axes = tuple(range(len(shape)))
        long_axes = [axis for axis in axes if shape[axis] > 1]
        named: dict[str, Sequence[int] | None] = {}
        for name, order in _named_orders(len(axes)).items():
            # With few axes, orders are equal.
            if order not in named.values():
                named[name] = order
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
        holds = f"all(0 <= axis < {self.of}.rank for axis in {self.values_expr})"
        yield self.requirement("range", text, holds, *self.list_keys)
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


class LeadingDimsRole(OfDataRole):
    """The number of leading dimensions that `of` and `shared_with` have in common: an attribute.

    The extents of these dimensions are equal. A negative number is relative to the rank of
    `negative_from`; without that key it is invalid. If `at_most` names an axis of `of`, the shared
    dimensions all precede that axis. An omitted number means `default`.
    """

    relations: ClassVar = {
        "of": ("data",),
        "shared_with": ("indices",),
        "negative_from": ("data", "indices"),
        "at_most": ("axis",),
    }

    role: Literal["leading_dims"]
    type: Literal["int"]
    shared_with: str
    negative_from: str | None = None
    at_most: str | None = None
    default: int | None = None

    def bounds(self) -> tuple[str, str]:
        """Return 0 or the negated smaller rank, and the greatest number."""
        if self.at_most is None:
            return self._least_and_most
        # The axis itself is never shared, so that the last axis is the limit.
        return (self._least_and_most[0], f"min({self.of}.rank - 1, {self.shared_with}.rank)")

    @property
    def _least_and_most(self) -> tuple[str, str]:
        smaller = f"min({self.of}.rank, {self.shared_with}.rank)"
        return ("0" if self.negative_from is None else f"-{smaller}", smaller)

    @property
    def wrapped_expr(self) -> str:
        """The expression of the number of shared dimensions, not negative."""
        if self.negative_from is None:
            return self.name
        return f"wrap({self.name}, {self.negative_from}.rank)"

    def extent_in(self, call: Call, axis: int) -> int:
        """Return the rank of the tensor that shares dimensions of data."""
        del axis
        return call.inputs[self.shared_with].rank

    def draw_count(self, call: Drawing) -> int:
        """Draw how many dimensions are shared; as many as the output has no room for are."""
        rank = call.fact(self.data.draw_rank)
        other_rank = call.fact(self.related(self.shared_with, Role).draw_rank)
        least = max(0, rank - 1 + other_rank - MAX_OUTPUT_RANK)
        most = min(self.draw_limit(call), other_rank)
        counts = {"none": 0, "one": 1, "all of the other": most, "some": most - 1}
        return call.one(self, "count", {k: n for k, n in counts.items() if least <= n <= most})

    def draw_limit(self, call: Drawing) -> int:
        """Draw how many dimensions of data may be shared."""
        if self.at_most is None:
            return call.fact(self.data.draw_rank)
        return call.fact(self.related(self.at_most, AxisRole).draw_axis)

    def draw(self, call: Drawing) -> int | None:
        """Return the number, or relative to a rank; None if it is omitted."""
        count = call.fact(self.draw_count)
        ways: dict[str, int | None] = {"counted from the front": count}
        if self.negative_from is not None:
            least = -min(
                call.fact(self.related(name, Role).draw_rank)
                for name in (self.of, self.shared_with)
            )
            relative = count - call.fact(self.related(self.negative_from, Role).draw_rank)
            if least <= relative < 0:
                ways["counted from the end"] = relative
        if not self.required:
            rank = call.fact(self.related(self.negative_from or self.shared_with, Role).draw_rank)
            if count == wrap(self.default or 0, rank):
                ways[OMITTED] = None
        return call.one(self, "way", ways)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its range, its relation to an axis, and that the shared extents are equal."""
        name, of, other = self.name, self.of, self.shared_with
        least, most = self._least_and_most
        negated = ", and at least its negative" if self.negative_from is not None else ""
        text = f"{name} is at most the smaller rank of {of} and {other}{negated}."
        yield self.requirement("range", text, f"{least} <= {name} <= {most}")
        prerequisite = "range"
        if self.at_most is not None:
            axis = self.related(self.at_most, AxisRole)
            text = f"The dimensions that {name} counts lie before {self.at_most}."
            holds = f"{self.wrapped_expr} <= {axis.wrapped_expr}"
            prerequisite = "at-most-axis"
            yield self.requirement(prerequisite, text, holds, f"{self.at_most}.range", "range")
        text = f"The dimensions that {name} counts have the same sizes in {of} and {other}."
        holds = f"{of}.shape[:{self.wrapped_expr}] == {other}.shape[:{self.wrapped_expr}]"
        yield self.requirement("extents", text, holds, prerequisite)
