"""The role `leading_dims`: the number of leading dimensions that two tensors share, as batches."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.arrays.indexing import wrap
from opcert.roles.argument import BoundExpressions
from opcert.roles.axis import AxisRole
from opcert.roles.data import DataRole
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    Factor,
    LevelName,
    ObservationPoint,
    ObservedLevels,
    Requirement,
    forbid,
    levels_where,
)
from opcert.roles.role import OMITTED, Role

_COUNTS = {"none": 0, "one": 1, "two": 2, "three": 3}
_COUNTS_UNDER_STRESS = ("none", "one")
_COUNT_WORDS = {
    **{"none": "no shared dimension", "one": "one shared dimension"},
    **{"two": "two shared dimensions", "three": "three shared dimensions"},
}


class LeadingDimsRole(Role):
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
    of: str
    shared_with: str
    negative_from: str | None = None
    at_most: str | None = None
    default: int | None = None

    def bounds(self) -> BoundExpressions:
        """Return 0 or the negated smaller rank, and the greatest number."""
        ranks = f"{self.of}.rank, {self.shared_with}.rank"
        least = "0" if self.negative_from is None else f"-min({ranks})"
        if self.at_most is None:
            return (least, f"min({ranks})")
        # The axis itself is never shared, so that the last axis is the limit.
        return (least, f"min({self.of}.rank - 1, {self.shared_with}.rank)")

    @property
    def data(self) -> DataRole:
        """The tensor from which `shared_with` takes its leading extents."""
        return self.related(self.of, DataRole)

    @property
    def count_factor(self) -> str:
        """The factor of the number of shared dimensions."""
        return self.factor("count")

    @property
    def wrapped_expr(self) -> str:
        """The expression of the number of shared dimensions, not negative."""
        if self.negative_from is None:
            return self.name
        return f"wrap({self.name}, {self.negative_from}.rank)"

    @property
    def _rank_factors(self) -> tuple[str, str]:
        return (f"{self.of}_rank", f"{self.shared_with}_rank")

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield the number of shared dimensions, and whether it is given, positive or negative."""
        names = _COUNTS_UNDER_STRESS if profile == "stress" else _COUNTS
        counts: dict[str, Any] = {name: _COUNTS[name] for name in names}
        words = {name: _COUNT_WORDS[name] for name in names}
        if profile != "stress":
            counts["all"] = lambda rank: rank
            words["all"] = f"all dimensions of {self.shared_with} shared"
        yield Factor(self.count_factor, counts, (self._rank_factors[1],), words)
        given = ["positive"] if self.required else [OMITTED, "positive"]
        if self.negative_from is not None:
            given.append("negative")
        yield Factor.of_names(self.factor("given"), given, f"{self.name} {{}}")

    def constraints(self) -> Iterator[Constraint]:
        """Forbid too many shared dimensions, and forms that cannot express their number."""
        data, count, given = self.data, self.count_factor, self.factor("given")
        rank, other_rank = self._rank_factors
        yield forbid(lambda count, rank: count > rank, count, other_rank)
        yield forbid(lambda level, count: level == "all" and count == 0, LevelName(count), count)
        end = rank if self.at_most is None else data.factor("axis")
        yield forbid(lambda count, end: count > end, count, end)
        # With an empty batch both tensors are empty.
        yield forbid(
            lambda count, others: count > 0 and others == "zero", count, data.factor("others")
        )
        if not self.required:
            yield forbid(
                lambda given, count, rank: (
                    given == OMITTED and count != wrap(self.default or 0, rank)
                ),
                *(given, count, self._rank_of_negative),
            )
        if self.negative_from is not None:
            yield forbid(
                lambda given, count, rank, other_rank, wrapped_rank: (
                    given == "negative" and not -min(rank, other_rank) <= count - wrapped_rank < 0
                ),
                *(given, count, rank, other_rank, self._rank_of_negative),
            )

    @property
    def _rank_of_negative(self) -> str:
        """The factor of the rank that is added to a negative number."""
        return f"{self.negative_from or self.shared_with}_rank"

    def build(self, context: BuildContext) -> int | None:
        """Return the number, None if it is omitted."""
        choice = context.choice
        given = choice[self.factor("given")]
        if given == OMITTED:
            return None
        count: int = choice[self.count_factor]
        return count - choice[self._rank_of_negative] if given == "negative" else count

    def extents(self, context: BuildContext) -> tuple[int, ...]:
        """Return the shared extents."""
        return self.data.shape(context)[: context.choice[self.count_factor]]

    def count_in(self, call: Call) -> int:
        """Return the number of shared dimensions in a call, not negative."""
        number = call.attributes.get(self.name, self.default)
        return wrap(number, call.inputs[self.negative_from or self.shared_with].rank)

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Observe the number of shared dimensions, and how it is given."""
        number = call.attributes.get(self.name)
        given = {
            OMITTED: number is None,
            "positive": number is not None and number >= 0,
            "negative": number is not None and number < 0,
        }
        return ObservedLevels(
            {self.count_factor: self.count_in(call)}, {self.factor("given"): levels_where(given)}
        )

    def requirements(self) -> Iterator[Requirement]:
        """Yield its range, its relation to an axis, and that the shared extents are equal."""
        name, of, other = self.name, self.of, self.shared_with
        smaller = f"min({of}.rank, {other}.rank)"
        least = "0" if self.negative_from is None else f"-{smaller}"
        negated = ", and at least its negative" if self.negative_from is not None else ""
        prerequisite = f"{name}.range"
        yield Requirement(
            prerequisite,
            f"{name} is at most the smaller rank of {of} and {other}{negated}.",
            f"{least} <= {name} <= {smaller}",
        )
        if self.at_most is not None:
            axis = self.related(self.at_most, AxisRole)
            prerequisites = (f"{self.at_most}.range", prerequisite)
            prerequisite = f"{name}.at-most-axis"
            yield Requirement(
                prerequisite,
                f"The dimensions that {name} counts lie before {self.at_most}.",
                f"{self.wrapped_expr} <= {axis.wrapped_expr}",
                prerequisites=prerequisites,
            )
        yield Requirement(
            f"{name}.extents",
            f"The dimensions that {name} counts have the same sizes in {of} and {other}.",
            f"{of}.shape[:{self.wrapped_expr}] == {other}.shape[:{self.wrapped_expr}]",
            prerequisites=(prerequisite,),
        )
