"""The role `leading_dims`: how many leading dimensions two tensors share, as batches."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from opcert.arrays import Call, wrap
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
_FEW = ("none", "one")
_COUNT_WORDS = {
    **{"none": "no shared dimension", "one": "one shared dimension"},
    **{"two": "two shared dimensions", "three": "three shared dimensions"},
}


class LeadingDimsRole(Role):
    """How many leading dimensions `of` and `shared_with` have in common: an attribute.

    The extents of these dimensions are equal. To a negative number the rank of `negative_from` is
    added; without that key it is not negative. Where `at_most` names an axis of `of`, the shared
    dimensions all lie before it. If it is not required, `default` is what an omitted one means.
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
        """Return from none, or the negated smaller rank, to the most that there can be."""
        ranks = f"{self.of}.rank, {self.shared_with}.rank"
        least = "0" if self.negative_from is None else f"-min({ranks})"
        if self.at_most is None:
            return (least, f"min({ranks})")
        # The last axis is the furthest, and no shared dimension.
        return (least, f"min({self.of}.rank - 1, {self.shared_with}.rank)")

    @property
    def data(self) -> DataRole:
        """The tensor whose leading extents the other one has, too."""
        return self.partner(self.of, DataRole)

    @property
    def count_factor(self) -> str:
        """The factor of how many dimensions are shared."""
        return self.factor("count")

    @property
    def wrapped(self) -> str:
        """The expression of how many dimensions are shared."""
        if self.negative_from is None:
            return self.name
        return f"wrap({self.name}, {self.negative_from}.rank)"

    @property
    def _ranks(self) -> tuple[str, str]:
        return (f"{self.of}_rank", f"{self.shared_with}_rank")

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield how many dimensions are shared, and how the number is given."""
        names = _FEW if profile == "stress" else _COUNTS
        counts: dict[str, Any] = {name: _COUNTS[name] for name in names}
        words = {name: _COUNT_WORDS[name] for name in names}
        if profile != "stress":
            counts["all"] = lambda rank: rank
            words["all"] = f"all dimensions of {self.shared_with} shared"
        yield Factor(self.count_factor, counts, (self._ranks[1],), words)
        given = ["positive"]
        if not self.required:
            given.insert(0, OMITTED)
        if self.negative_from is not None:
            given.append("negative")
        yield Factor(
            self.factor("given"), {each: each for each in given}, words=f"{self.name} {{}}"
        )

    def constraints(self) -> Iterator[Constraint]:
        """Yield how many dimensions can be shared, and which numbers say so."""
        data, count, given = self.data, self.count_factor, self.factor("given")
        rank, other_rank = self._ranks
        yield forbid(lambda count, rank: count > rank, count, other_rank)
        yield forbid(lambda level, count: level == "all" and count == 0, LevelName(count), count)
        end = rank if self.at_most is None else data.factor("axis")
        yield forbid(lambda count, end: count > end, count, end)
        # An empty batch would leave nothing to look at in either tensor.
        yield forbid(
            lambda count, others: count > 0 and others == "zero", count, data.factor("others")
        )
        if not self.required:
            yield forbid(
                lambda given, count, rank: (
                    given == OMITTED and count != wrap(self.default or 0, rank)
                ),
                *(given, count, self._rank_added),
            )
        if self.negative_from is not None:
            yield forbid(
                lambda given, count, rank, other, added: (
                    given == "negative" and not -min(rank, other) <= count - added < 0
                ),
                *(given, count, rank, other_rank, self._rank_added),
            )

    @property
    def _rank_added(self) -> str:
        return f"{self.negative_from or self.shared_with}_rank"

    def build(self, scene: BuildContext) -> int | None:
        """Return the number, or None where it is omitted."""
        choice = scene.choice
        given = choice[self.factor("given")]
        if given == OMITTED:
            return None
        count: int = choice[self.count_factor]
        return count - choice[self._rank_added] if given == "negative" else count

    def extents(self, scene: BuildContext) -> tuple[int, ...]:
        """Return the extents that both tensors begin with."""
        return self.data.shape(scene)[: scene.choice[self.count_factor]]

    def count(self, call: Call) -> int:
        """Return how many dimensions a call shares."""
        number = call.attributes.get(self.name, self.default)
        return wrap(number, call.inputs[self.negative_from or self.shared_with].rank)

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Return how many dimensions are shared, and how the number is given."""
        number = call.attributes.get(self.name)
        given = {
            OMITTED: number is None,
            "positive": number is not None and number >= 0,
            "negative": number is not None and number < 0,
        }
        return ObservedLevels(
            {self.count_factor: self.count(call)}, {self.factor("given"): levels_where(given)}
        )

    def requirements(self) -> Iterator[Requirement]:
        """Yield its range, that it is at most an axis, and that the shared extents are equal."""
        name, of, other = self.name, self.of, self.shared_with
        smaller = f"min({of}.rank, {other}.rank)"
        least = "0" if self.negative_from is None else f"-{smaller}"
        negated = ", and at least its negative" if self.negative_from is not None else ""
        last = f"{name}.range"
        yield Requirement(
            last,
            f"{name} is at most the smaller rank of {of} and {other}{negated}.",
            f"{least} <= {name} <= {smaller}",
        )
        if self.at_most is not None:
            axis = self.partner(self.at_most, AxisRole)
            given, last = (f"{self.at_most}.range", last), f"{name}.at-most-axis"
            yield Requirement(
                last,
                f"The dimensions that {name} counts lie before {self.at_most}.",
                f"{self.wrapped} <= {axis.wrapped}",
                given=given,
            )
        yield Requirement(
            f"{name}.extents",
            f"The dimensions that {name} counts have the same sizes in {of} and {other}.",
            f"{of}.shape[:{self.wrapped}] == {other}.shape[:{self.wrapped}]",
            given=(last,),
        )
