"""The role `counts`: for each axis of data how often it is repeated, or how much is added to it."""

from collections.abc import Iterator, Sequence
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

# How many axes beside that in focus change at most: outputs stay small at every rank.
_MOST_OTHERS = 3
# The shortest axis that two lists of counts can both take one element from.
_LEAST_CROPPED = 3
# The longest axis that more is done to than 8 bits can say: outputs stay small.
_FEW, _BYTE = 19, highest("u8")


class CountsRole(PerAxis):
    """For each axis of data, how often it is repeated, or how much is added at one end of it.

    `zero` says what a 0 means: it `keeps` the axis as it is (nothing is added), it `empties` the
    axis (it is repeated no times), or it is `invalid`. `negative` says whether a negative count
    `crops` the axis by so much, or is `invalid`.
    """

    role: Literal["counts"]
    zero: Literal["keeps", "empties", "invalid"]
    negative: Literal["crops", "invalid"] = "invalid"

    @property
    def neutral(self) -> int:
        """The count that leaves an axis as it is."""
        return 0 if self.zero == "keeps" else 1

    @property
    def least(self) -> int | None:
        """The least count, where there is one."""
        if self.negative == "crops":
            return None
        return 1 if self.zero == "invalid" else 0

    def bounds(self) -> BoundExpressions | None:
        """Return nothing: a greater count is a larger output."""
        return None

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield the count of the axis in focus, those of the others, and the layout in memory."""
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
        yield Factor(self.factor("others"), {each: each for each in words}, words=words)
        yield from self.layout_factors()

    def constraints(self) -> Iterator[Constraint]:
        """Yield which counts data of some extents has."""
        yield from super().constraints()
        rank, length = self.data.factor("rank"), self.data.factor("length")
        count, others = self.factor("count"), self.factor("others")
        yield forbid(lambda count, rank: rank < 1 and count != self.neutral, count, rank)
        yield forbid(lambda others, rank: others == "varied" and rank < 2, others, rank)
        yield forbid(lambda count, n: count < 0 and n < _LEAST_CROPPED, count, length)
        yield forbid(
            lambda count, n, others: count > _BYTE and (n > _FEW or others in PAST_A_TILE),
            *(count, length, self.data.factor("others")),
        )
        if not self.is_attribute:
            yield forbid(lambda count, t: count < 0 and lowest(t) == 0, count, self.type_factor)

    def masking(self) -> Iterator[Constraint]:
        """Yield where an axis is repeated no times."""
        if self.zero == "empties":
            yield forbid(lambda count: count == 0, self.factor("count"))

    def build(self, scene: BuildContext) -> Any:
        """Return the counts."""
        return self.built(scene, scene.draw(self.name, lambda sampler: self._drawn(scene, sampler)))

    def _drawn(self, scene: BuildContext, sampler: Sampler) -> Sequence[int]:
        choice = scene.choice
        axis, rank = choice[self.data.factor("axis")], choice[self.data.factor("rank")]
        numbers = [self.neutral] * rank
        if choice[self.factor("others")] == "varied":
            others = [other for other in range(rank) if other != axis]
            changed = sampler.between(1, min(_MOST_OTHERS, len(others)))
            for other in sampler.sample(others, changed):
                numbers[other] = self.neutral + sampler.between(1, 2)
        if rank:
            numbers[axis] = choice[self.factor("count")]
        return numbers

    def observe(self, call: Call, focus: ObservationPoint) -> ObservedLevels:
        """Return the count of the axis in focus, and whether others have one."""
        numbers, axis = self.values_in(call), focus.get("axis", 0)
        others = {number for k, number in enumerate(numbers) if k != axis}
        is_alone = others <= {self.neutral}
        levels = levels_where({"none": is_alone, "varied": not is_alone})
        count = numbers[axis] if numbers else self.neutral
        return ObservedLevels(
            {**self.observed_form(call), self.factor("count"): count},
            {self.factor("others"): levels},
        )

    def requirements(self) -> Iterator[Requirement]:
        """Yield how many counts there are, and the least that one may be."""
        yield from super().requirements()
        name = self.name
        if self.least is not None:
            yield Requirement(
                f"{name}.least",
                f"None of {name} is below {self.least}.",
                f"all(count >= {self.least} for count in {self.numbers})",
                self.is_given,
                self.form,
            )
