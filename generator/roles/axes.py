"""The role `axes`: a list of axes of data."""

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.arrays.element_types import lowest
from opcert.arrays.indexing import wrap
from opcert.roles.argument import BoundExpressions
from opcert.roles.data import DataRole
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
from opcert.roles.list_role import ListRole
from opcert.roles.role import OMITTED
from opcert.roles.samplers import Sampler

# The least rank of data at which axes can be listed in this way, and the words for it.
_LISTINGS = {
    "one": (1, "one axis listed"),
    "omitted": (0, ""),
    "all": (2, "all axes listed"),
    "some": (3, "some axes listed"),
    "disordered": (3, "all axes listed out of order"),
    "descending": (2, "all axes listed in descending order"),
    "some_disordered": (3, "some axes listed out of order"),
}
_SIGNS = {"positive": "", "negative": "axes from the end", "mixed": "some axes from the end"}


class AxesRole(ListRole):
    """A list of axes of data in any order: a tensor, or an attribute.

    An omitted list means all axes or, with `omitted: first`, the first axes, one for each element
    of the lists that go `along` it. With `negative`, negative axes count from the end. With
    `unique`, no axis may be listed twice.
    """

    relations: ClassVar = {"of": ("data",)}

    role: Literal["axes"]
    of: str
    omitted: Literal["all", "first"] = "all"
    negative: bool = True
    unique: bool = True

    def bounds(self) -> BoundExpressions | None:
        """Return the first and the last axis of data."""
        if self.is_attribute:
            return None
        return (f"-{self.of}.rank" if self.negative else "0", f"{self.of}.rank - 1")

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report `omitted: first` if no list determines the number of axes."""
        if self.omitted == "first" and not self.referrers("along"):
            text = f"unknown number of first axes; expected an argument with 'along: {self.name}'"
            yield "omitted", text

    @cached_property
    def data(self) -> DataRole:
        """The data that has the axes."""
        return self.related(self.of, DataRole)

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield the listing, the sign and the layout."""
        yield from self.type_factors(profile)
        words = {listing: text for listing, (_, text) in _LISTINGS.items()}
        if self.required:
            words.pop("omitted")
        yield Factor.of_names(self.factor("listing"), words)
        if self.negative:
            yield Factor.of_names(self.factor("sign"), _SIGNS)
        if not self.is_attribute:
            yield self.layout_factor()

    def constraints(self) -> Iterator[Constraint]:
        """Forbid listings of more axes than data has, and negative axes of unsigned types."""
        listing, sign = self.factor("listing"), self.factor("sign")
        yield from self.omission_constraints(listing, "omitted")
        least = {level: rank for level, (rank, _) in _LISTINGS.items()}
        # An omitted list means at least one axis.
        least["omitted"] = int(self.omitted == "first")
        yield forbid(lambda listing, rank: rank < least[listing], listing, self.data.factor("rank"))
        if self.negative:
            yield forbid(
                lambda sign, listing: (
                    (sign == "mixed" and listing == "one")
                    or (sign != "positive" and listing == "omitted")
                ),
                *(sign, listing),
            )
        if self.is_attribute:
            return
        if self.negative:
            yield forbid(
                lambda sign, t: sign != "positive" and t != OMITTED and lowest(t) == 0,
                *(sign, self.type_factor),
            )
        yield forbid(
            lambda layout, listing: layout != "c" and listing in ("one", "omitted"),
            *(self.factor("layout"), listing),
        )

    def listed(self, context: BuildContext) -> tuple[int, ...]:
        """Return the listed axes in order, counted from the front, the tested one included."""
        return context.draw(self.factor("listed"), partial(self._draw, context))

    def _draw(self, context: BuildContext, sampler: Sampler) -> tuple[int, ...]:
        choice = context.choice
        axis, axes = choice[self.data.factor("axis")], range(choice[self.data.factor("rank")])
        listing = choice.level(self.factor("listing"))
        if listing == "omitted":
            return tuple(axes if self.omitted == "all" else axes[: axis + 1])
        if listing == "one":
            return (axis,)
        if listing == "descending":
            return tuple(axes[::-1])
        chosen = sampler.subset_with(axes, axis, 2) if listing.startswith("some") else tuple(axes)
        return sampler.disordered(chosen) if listing.endswith("disordered") else chosen

    def build(self, context: BuildContext) -> Any:
        """Return the axes; all, none or every second one of them count from the end."""
        choice = context.choice
        if choice.level(self.factor("listing")) == "omitted":
            return None
        sign, rank = choice.level(self.factor("sign")), choice[self.data.factor("rank")]
        values = [
            axis - rank if sign == "negative" or (sign == "mixed" and k % 2 == 0) else axis
            for k, axis in enumerate(self.listed(context))
        ]
        if self.is_attribute:
            return values
        return self.integer_tensor(context, values, choice[self.factor("layout")])

    def listed_in(self, call: Call) -> Sequence[int]:
        """Return the axes of a call in order, counted from the front."""
        rank = call.inputs[self.of].rank
        if self.is_given_in(call):
            return [wrap(axis, rank) for axis in self.values_in(call)]
        if self.omitted == "all":
            return range(rank)
        return range(len(self.referrers("along")[0].values_in(call)))

    def observation_points(self, call: Call) -> list[ObservationPoint]:
        """Return each of the axes with its position in the list."""
        return [{"axis": axis, "element": k} for k, axis in enumerate(self.listed_in(call))]

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Observe the listing, the sign and the layout."""
        values, listed = self.values_in(call), tuple(self.listed_in(call))
        rank, count = call.inputs[self.of].rank, len(listed)
        is_given = self.is_given_in(call)
        is_ascending = listed == tuple(sorted(listed))
        is_descending = listed == tuple(sorted(listed, reverse=True))
        is_all, are_some = is_given and count == rank > 1, is_given and 1 < count < rank
        levels = {
            self.factor("listing"): levels_where(
                {
                    "omitted": not is_given,
                    "one": is_given and count == 1,
                    "all": is_all and is_ascending,
                    "some": are_some and is_ascending,
                    "disordered": is_all and not is_ascending and not is_descending,
                    "descending": is_all and is_descending,
                    "some_disordered": are_some and not is_ascending,
                }
            )
        }
        if self.negative:
            least, most = min(values, default=0), max(values, default=0)
            signs = {"positive": least >= 0, "negative": most < 0, "mixed": least < 0 <= most}
            levels[self.factor("sign")] = levels_where(signs)
        observed = self.observed_type(call)
        if not self.is_attribute:
            layout = call.inputs[self.name].layout if is_given else "c"
            observed[self.factor("layout")] = layout
        return ObservedLevels(observed, levels)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its rank, its range and its uniqueness."""
        yield from super().requirements()
        name, rank = self.name, f"{self.of}.rank"
        form: tuple[str, ...] = ()
        if not self.is_attribute:
            form = (f"{name}.type", f"{name}.rank")
            yield self.rank_requirement()
        least = f"-{rank}" if self.negative else "0"
        yield Requirement(
            f"{name}.range",
            f"Each of {name} is an axis that {self.of} has.",
            f"all({least} <= axis < {rank} for axis in {self.values_expr})",
            self.given_expr,
            form,
        )
        if self.unique:
            wrapped = f"wrap(axis, {rank})" if self.negative else "axis"
            yield Requirement(
                f"{name}.unique",
                "No axis is listed twice.",
                f"len(set({wrapped} for axis in {self.values_expr})) == {self.length_expr}",
                self.given_expr,
                (*form, f"{name}.range"),
            )
