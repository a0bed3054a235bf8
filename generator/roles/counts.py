"""The roles `count`, a number of tensors, and `counts`, a number for each axis of data."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.arrays.element_types import highest
from opcert.errors import Inapplicable, did_you_mean
from opcert.roles.data import PerAxis
from opcert.roles.drawing import MAX_OUTPUTS, Drawing, near, parted, places
from opcert.roles.modes import ModeRole
from opcert.roles.role import Requirement, Role


class CountRole(Role):
    """The number of tensors that a list has or describes: an attribute as well, as in C.

    With `surplus`, the list may be longer. No rule follows for its further elements, which are not
    read.
    """

    relations: ClassVar = {"of": ("descriptors", "tensors")}

    role: Literal["count"]
    of: str
    surplus: bool = False

    def bounds(self) -> tuple[str, str]:
        """Return 1 and the number of descriptions."""
        return ("1", f"len({self.of})")

    def draw(self, call: Drawing) -> int:
        """Return the number of tensors."""
        return call.fact(self.related(self.of, Role).draw_count)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its least value, and the length of the list."""
        name, of = self.name, self.of
        verb = "describes" if self.related(of, Role).variadic is None else "has"
        yield self.requirement("least", f"{name} is greater than 0.", f"{name} > 0")
        relation, number = "==", "exactly as many tensors as"
        if self.surplus:
            relation, number = ">=", "no fewer tensors than"
        text = f"{of} {verb} {number} {name} says."
        yield self.requirement("described", text, f"len({of}) {relation} {name}", "least")


# The most elements of a large output that is drawn: counts past 16 bits need it.
_MAX_CHANGED = 1 << 19


class CountsRole(PerAxis):
    """For each axis of data, how often it is repeated or how much is added at one end.

    `zero` is the meaning of a 0: it `keeps` the axis (nothing is added), `empties` it (it is
    repeated zero times), or is `invalid`. `negative` is the meaning of a negative count: it `crops`
    the axis by so much, or is `invalid`. With `aligned`, there may be fewer or more counts than
    axes; both are aligned at the end, and the shorter is extended by counts that change nothing, or
    by axes of 1 element. `limits` gives the greatest count in some words of `mode`, as an offset
    to the size of the axis.
    """

    relations: ClassVar = {**PerAxis.relations, "mode": ("mode",)}

    role: Literal["counts"]
    zero: Literal["keeps", "empties", "invalid"]
    negative: Literal["crops", "invalid"] = "invalid"
    aligned: bool = False
    mode: str | None = None
    limits: Mapping[str, int] = {}

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report unknown words of the mode, and limits without a mode."""
        yield from super().mistakes()
        if self.limits and self.mode is None:
            yield "limits", "missing key 'mode'; expected it together with 'limits'"
        elif self.mode is not None:
            words = self.related(self.mode, ModeRole).one_of
            for word in self.limits.keys() - {*words}:
                near = did_you_mean(word, [*words])
                yield "limits", f"unknown word '{word}' of '{self.mode}'{near}"

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

    def bounds(self) -> tuple[str, str] | None:
        """Return None: large counts are valid, and make outputs large."""
        return None

    @property
    def _earlier(self) -> list["CountsRole"]:
        """The counts of the same data that come before these."""
        roles = [role for role in self._signature.roles if isinstance(role, CountsRole)]
        alike = [role for role in roles if role.of == self.of]
        return alike[: [role.name for role in alike].index(self.name)]

    def _changed(self, n: int, count: int) -> int:
        """Return what an axis of `n` becomes."""
        return n + count if self.zero == "keeps" else n * count

    def _draw_surplus(self, call: Drawing) -> int:
        """Draw how many more counts than axes there are."""
        rank, most = call.fact(self.data.draw_rank), int(self.data.rank[1])
        kinds = {"as many": 0, "one more": 1, "one fewer": -1, "two more": 2, "two fewer": -2}
        if most - rank > max(kinds.values()):
            kinds["as many as possible"] = most - rank
        kinds |= {"only one": 1 - rank, "any": call.integer(self, "surplus", 1 - rank, most - rank)}
        possible = {kind: k for kind, k in kinds.items() if min(rank, 1) <= rank + k <= most}
        return call.one(self, "number", possible, {"none": -rank} if rank else {})

    def draw_counts(self, call: Drawing) -> list[int]:
        """Draw the counts; one of them is near the size of its axis, or past the limits of types.

        How large they are depends on what the output has room for, next to earlier counts.
        """
        shape = call.fact(self.data.draw_shape)
        surplus = self._draw_surplus(call) if self.aligned else 0
        own = [*(1,) * surplus, *shape[max(0, -surplus) :]]
        limits, count = self._limits(call, own), len(own)
        if any(limit < self.neutral for limit in limits):
            raise Inapplicable("an axis has no element to repeat")
        if not count:
            return []
        extents = own
        for role in self._earlier:
            earlier = call.fact(role.draw_counts)
            extents = [role._changed(n, k) for n, k in zip(extents, earlier, strict=True)]
        rooms = {"up to 2^14": MAX_OUTPUTS}, {"up to 2^19": _MAX_CHANGED}
        size = prod(max(1, n) for n in (*shape[: max(0, -surplus)], *extents))
        room = max(2, call.one(self, "size", *rooms) // size)
        tested = call.one(self, "place", places(count))
        others = [k for k in call.sample(self, "order", range(count), count) if k != tested]
        also = {"only it": 0, "one more": 1, "all": count - 1}
        also = {name: k for name, k in also.items() if k < count and (name != "all" or k > 1)}
        numbers = [self.neutral] * count
        for k in [tested, *others[: call.one(self, "changed", also)]]:
            n = max(1, extents[k])
            most = min(limits[k], n * (room - 1) if self.zero == "keeps" else room)
            if k == tested:
                numbers[k] = self._draw_tested(call, own[k], most)
            else:
                least = min(self.neutral + 1, most)
                numbers[k] = call.integer(self, f"count {k}", least, max(least, min(most, 4)))
            room = max(1, room * n // max(1, self._changed(n, numbers[k])))
        return numbers

    def _limits(self, call: Drawing, extents: Sequence[int]) -> list[int]:
        """Return the greatest counts that the mode and the type allow."""
        most = _MAX_CHANGED
        if not self.is_attribute:
            most = min(most, highest(call.fact(self.draw_type)))
        if self.mode is not None:
            word = call.fact(self.related(self.mode, ModeRole).draw_meant)
            if word in self.limits:
                return [min(most, n + self.limits[str(word)]) for n in extents]
        return [most] * len(extents)

    def _draw_tested(self, call: Drawing, n: int, most: int) -> int:
        """Draw the count of an axis of `n` elements, `most` at most."""
        least = 1 - n if self.least is None else self.least
        named = {"2": 2, "3": 3, **near(n, "i64"), "the most": most}
        named = {name: k for name, k in named.items() if least <= k <= most}
        # No change and no copy leave nothing to see.
        return call.one(self, "count", *parted(named, lambda k: k not in (self.neutral, 0)))

    def draw(self, call: Drawing) -> Any:
        """Return the counts."""
        return self.drawn_list(call, call.fact(self.draw_counts))

    @property
    def lengths(self) -> tuple[str, str] | None:
        """The condition on its length, and the words for it; None if it may have any length."""
        return None if self.aligned else super().lengths

    def axes_in(self, call: Call) -> Sequence[int | None]:
        """Return the axis of each count, aligned at the end; None for one before the first axis."""
        count, rank = len(self.values_in(call)), self.data.tensor_of(call).rank
        return [k + rank - count if k + rank >= count else None for k in range(count)]

    def requirements(self) -> Iterator[Requirement]:
        """Yield type, rank, length, least count, and the greatest count of each mode."""
        yield from super().requirements()
        name = self.name
        if self.least is not None:
            holds = f"all(count >= {self.least} for count in {self.values_expr})"
            text = f"None of {name} is below {self.least}."
            yield self.requirement("least", text, holds, *self.list_keys)
        if self.mode is None:
            return
        mode = self.related(self.mode, ModeRole)
        for word, offset in self.limits.items():
            limit = f"n + {offset}" if offset > 0 else f"n - {-offset}" if offset else "n"
            of = "from their ends, " if self.aligned else ""
            counts, extents = self.values_expr, f"{self.of}.shape"
            if self.aligned:
                counts, extents = f"reversed({counts})", f"reversed({extents})"
            yield self.requirement(
                f"limit-{word}",
                f"In mode {word}, {of}none of {name} is above {limit} for an axis of n elements.",
                f"all(count <= {limit} for count, n in zip({counts}, {extents}))",
                *self.list_keys,
                mode.word_requirement,
                when=f"{mode.is_one_of([word])} and {self.given_expr}",
            )
