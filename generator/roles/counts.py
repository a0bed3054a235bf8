"""The role `counts`: for each axis of data, how often it is repeated or how much is added."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal

from opcert.arrays import Call, highest, lowest
from opcert.roles.argument import BoundExpressions
from opcert.roles.data import PAST_A_TILE
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
from opcert.roles.samplers import Sampler

# At most so many axes change in addition to the tested one: outputs stay small at every rank.
_MAX_OTHERS = 3
# Two lists of counts can both crop an axis of this length by one element.
_MIN_CROPPED_LENGTH = 3
# A count of more than 8 bits is for axes up to this length: outputs stay small.
_MAX_LENGTH_OF_LARGE_COUNT = 19
_MAX_BYTE = highest("u8")


class CountsRole(PerAxis):
    """For each axis of data, how often it is repeated or how much is added at one end.

    `zero` is the meaning of a 0: it `keeps` the axis (nothing is added), `empties` it (it is
    repeated zero times), or is `invalid`. `negative` is the meaning of a negative count: it `crops`
    the axis by so much, or is `invalid`.
    """

    role: Literal["counts"]
    zero: Literal["keeps", "empties", "invalid"]
    negative: Literal["crops", "invalid"] = "invalid"

    @property
    def neutral(self) -> int:
        """The count that does not change an axis."""
        return 0 if self.zero == "keeps" else 1

    @property
    def least(self) -> int | None:
        """The least valid count, None if there is no such limit."""
        if self.negative == "crops":
            return None
        return 1 if self.zero == "invalid" else 0

    def bounds(self) -> BoundExpressions | None:
        """Return None: large counts are valid, and make outputs large."""
        return None

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield the count of the tested axis, the counts of the other axes, and the layout."""
        yield from self.type_factors(profile)
        counts = {"two": 2, "none": self.neutral, "three": 3, "one": 1, "past_u8": 257, "zero": 0}
        counts = {"two": 2, "none": self.neutral} if profile == "stress" else counts
        counts = {
            level: count
            for level, count in counts.items()
            if level == "none" or count != self.neutral
        }
        if self.zero == "invalid":
            counts.pop("zero", None)
        if self.negative == "crops":
            counts["cropped"] = -1
        words = {level: f"{count} of {self.name}" for level, count in counts.items()}
        yield Factor(self.factor("count"), counts, words=words)
        words = {"none": "", "varied": f"{self.name} on other axes too"}
        yield Factor.of_names(self.factor("others"), words)
        yield from self.layout_factors()

    def constraints(self) -> Iterator[Constraint]:
        """Forbid counts that do not go with the rank or the extents of data."""
        yield from super().constraints()
        rank, length = self.data.factor("rank"), self.data.factor("length")
        count, others = self.factor("count"), self.factor("others")
        yield forbid(lambda count, rank: rank < 1 and count != self.neutral, count, rank)
        yield forbid(lambda others, rank: others == "varied" and rank < 2, others, rank)
        yield forbid(lambda count, n: count < 0 and n < _MIN_CROPPED_LENGTH, count, length)
        yield forbid(
            lambda count, n, others: (
                count > _MAX_BYTE and (n > _MAX_LENGTH_OF_LARGE_COUNT or others in PAST_A_TILE)
            ),
            *(count, length, self.data.factor("others")),
        )
        if not self.is_attribute:
            yield forbid(lambda count, t: count < 0 and lowest(t) == 0, count, self.type_factor)

    def masking(self) -> Iterator[Constraint]:
        """Mask axes that are repeated zero times."""
        if self.zero == "empties":
            yield forbid(lambda count: count == 0, self.factor("count"))

    def build(self, context: BuildContext) -> Any:
        """Return the counts."""
        numbers = context.draw(self.name, partial(self._draw, context))
        return self.build_list(context, numbers)

    def _draw(self, context: BuildContext, sampler: Sampler) -> Sequence[int]:
        choice = context.choice
        axis, rank = choice[self.data.factor("axis")], choice[self.data.factor("rank")]
        numbers = [self.neutral] * rank
        if choice[self.factor("others")] == "varied":
            others = [other for other in range(rank) if other != axis]
            changed = sampler.between(1, min(_MAX_OTHERS, len(others)))
            for other in sampler.sample(others, changed):
                numbers[other] = self.neutral + sampler.between(1, 2)
        if rank:
            numbers[axis] = choice[self.factor("count")]
        return numbers

    def observe(self, call: Call, point: ObservationPoint) -> ObservedLevels:
        """Observe the count of the tested axis, and whether other axes change."""
        numbers, axis = self.values_in(call), point.get("axis", 0)
        others = {number for k, number in enumerate(numbers) if k != axis}
        is_alone = others <= {self.neutral}
        levels = levels_where({"none": is_alone, "varied": not is_alone})
        count = numbers[axis] if numbers else self.neutral
        return ObservedLevels(
            {**self.observed_list(call), self.factor("count"): count},
            {self.factor("others"): levels},
        )

    def requirements(self) -> Iterator[Requirement]:
        """Yield type, rank, length and least count."""
        yield from super().requirements()
        name = self.name
        if self.least is not None:
            yield Requirement(
                f"{name}.least",
                f"None of {name} is below {self.least}.",
                f"all(count >= {self.least} for count in {self.values_expr})",
                self.given_expr,
                self.list_requirements,
            )
