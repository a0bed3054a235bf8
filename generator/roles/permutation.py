"""The role `permutation`: an order of all axes of data."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from opcert.arrays.calls import Call
from opcert.roles.argument import BoundExpressions
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    Factor,
    ObservationPoint,
    ObservedLevels,
    Requirement,
    forbid,
    levels_where,
)
from opcert.roles.per_axis import PerAxis
from opcert.roles.role import OMITTED

# The orders, with the least rank at which each differs from those before it. A rotation is not its
# own inverse: it discriminates between a permutation and its inverse. Implementations have code of
# their own for orders that keep the last axis, or the first one, at its place.
_ORDERS = {
    **{"reversed": 2, "identity": 0, "last_two_exchanged": 3, "first_to_last": 3},
    **{"last_to_first": 3, "first_two_exchanged": 3, "second_to_last": 4, "last_to_second": 4},
    **{"inner_exchanged": 4, "ends_exchanged": 4, "halves_exchanged": 4, "disordered": 4},
    **{"halves_exchanged_first_reversed": 4, "empty": 1},
}


class PermutationRole(PerAxis):
    """An order of all axes of data, each listed once and counted from the front.

    An omitted permutation means the reversed order. An empty one `reverses` the axes as well, or is
    `invalid` unless data has rank 0.
    """

    role: Literal["permutation"]
    empty: Literal["invalid", "reverses"] = "invalid"

    def bounds(self) -> BoundExpressions | None:
        """Return the first and the last axis of data."""
        return None if self.is_attribute else ("0", f"{self.of}.rank - 1")

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield the order and the layout."""
        yield from self.type_factors(profile)
        words = {order: f"axes {order.replace('_', ' ')}" for order in _ORDERS}
        words |= {"reversed": "axes in reversed order", "identity": "axes in their own order"}
        words["halves_exchanged_first_reversed"] = "halves exchanged, the first one reversed"
        words["empty"] = f"{self.name} empty"
        if self.empty == "invalid":
            del words["empty"]
        if not self.required:
            words[OMITTED] = f"{self.name} omitted"
        yield Factor.of_names(self.factor("order"), words)
        yield from self.layout_factors()

    def constraints(self) -> Iterator[Constraint]:
        """Forbid orders that a rank does not have, or that have another name at that rank."""
        yield from super().constraints()
        order = self.factor("order")
        yield from self.omission_constraints(order, OMITTED)
        yield forbid(
            lambda order, rank: rank < _ORDERS.get(order, 0), order, self.data.factor("rank")
        )
        if not self.is_attribute:
            layout, without_axes = self.factor("layout"), (OMITTED, "empty")
            yield forbid(
                lambda order, layout: order in without_axes and layout != "c", *(order, layout)
            )

    def build(self, context: BuildContext) -> Any:
        """Return the order of the axes."""
        order, rank = context.choice[self.factor("order")], context.choice[self.data.factor("rank")]
        if order == OMITTED:
            return None
        if order == "empty":
            return self.build_list(context, ())
        axes = _named_orders(rank).get(order)
        if axes is None:
            axes = context.draw(self.name, lambda sampler: sampler.disordered(range(rank)))
        return self.build_list(context, axes)

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Observe the order, the type and the layout."""
        order = tuple(self.values_in(call))
        is_given, rank = self.is_given_in(call), call.inputs[self.of].rank
        named = {
            level: is_given and order == tuple(axes) and rank >= _ORDERS[level]
            for level, axes in {**_named_orders(rank), "empty": ()}.items()
        }
        is_other = is_given and not any(named.values())
        levels = levels_where({**named, "disordered": is_other, OMITTED: not is_given})
        return ObservedLevels(self.observed_list(call), {self.factor("order"): levels})

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
        name = self.name
        yield Requirement(
            f"{name}.range",
            f"Each of {name} is an axis that {self.of} has.",
            f"all(0 <= axis < {self.of}.rank for axis in {self.values_expr})",
            self.given_expr,
            self.list_requirements,
        )
        yield Requirement(
            f"{name}.unique",
            "No axis is listed twice.",
            f"len(set({self.values_expr})) == {self.length_expr}",
            self.given_expr,
            self.list_requirements,
        )


def _named_orders(rank: int) -> dict[str, Sequence[int]]:
    """Return the orders of `rank` axes other than `disordered`, by name."""
    axes = range(rank)
    return {
        "reversed": axes[::-1],
        "identity": axes,
        "last_two_exchanged": (*axes[:-2], *axes[-2:][::-1]),
        "first_to_last": (*axes[1:], *axes[:1]),
        "last_to_first": (*axes[-1:], *axes[:-1]),
        "first_two_exchanged": (*axes[:2][::-1], *axes[2:]),
        "second_to_last": (*axes[:1], *axes[2:], *axes[1:2]),
        "last_to_second": (*axes[:1], *axes[-1:], *axes[1:-1]),
        "inner_exchanged": (*axes[:1], *axes[1:3][::-1], *axes[3:]),
        "ends_exchanged": (*axes[-1:], *axes[1:-1], *axes[:1]),
        "halves_exchanged": (*axes[rank // 2 :], *axes[: rank // 2]),
        "halves_exchanged_first_reversed": (*axes[rank // 2 :], *axes[: rank // 2][::-1]),
    }
