"""The draws that specs name: extents, axes, parts of a dimension, indices."""

from collections.abc import Callable, Sequence
from math import prod
from random import Random
from typing import Any, TypeAlias

from opcert.arrays import HUGE_EXTENT, LONG_EXTENT, WIDE_EXTENT, fits, highest, lowest, python_slice
from opcert.errors import Inapplicable, did_you_mean

# What draws come from: numbers from 0 to below 1.
RandomSource: TypeAlias = Callable[[], float]
# The most elements that the extents of one tensor are drawn for, where their kind allows it.
MAX_ELEMENTS = 256
_KINDS = ["varied", "ones", "equal", "same", "long", "wide", "tall", "huge", "zero"]
_LONG = (67, 35, 19, LONG_EXTENT)
_PAST = {"wide": WIDE_EXTENT, "tall": WIDE_EXTENT, "huge": HUGE_EXTENT}
_EXTENTS = (2, 3, 5, 7, 4)


class Sampler:
    """Draws for one case; the same seed gives the same draws on any machine.

    Built on `Random.random` alone: what else `Random` offers may change between Pythons.
    """

    def __init__(self, random_source: RandomSource | None = None) -> None:
        """Draw from `chance` where it is given, whatever the seed."""
        self._given = random_source
        self._seed = ""
        self._chance = random_source

    def reseed(self, seed: str) -> None:
        """Start the draws of `seed`."""
        self._seed, self._chance = seed, self._given

    def _below(self, n: int) -> int:
        if self._chance is None:
            self._chance = Random(self._seed).random  # noqa: S311 -- draws, no secrets
        return int(self._chance() * n)

    def between(self, low: int, high: int) -> int:
        """Draw an integer from `low` to `high`, both included."""
        return low + self._below(high - low + 1)

    def pick(self, items: Sequence[Any]) -> Any:
        """Draw one of `items`."""
        return items[self._below(len(items))]

    def sample(self, items: Sequence[Any], count: int) -> tuple[Any, ...]:
        """Draw `count` of `items`, in their order."""
        left = list(range(len(items)))
        chosen = [left.pop(self._below(len(left))) for _ in range(count)]
        return tuple(items[i] for i in sorted(chosen))

    def disordered(self, items: Sequence[Any]) -> tuple[Any, ...]:
        """Draw an order of `items` other than their own, where there is one."""
        order = self._shuffled(items)
        return order if order != tuple(items) else order[1:] + order[:1]

    def _shuffled(self, items: Sequence[Any]) -> tuple[Any, ...]:
        left = list(items)
        return tuple(left.pop(self._below(len(left))) for _ in items)

    def subset_with(self, items: Sequence[Any], item: Any, least: int = 1) -> tuple[Any, ...]:
        """Draw at least `least` of `items`, `item` among them, in their order; not all of them."""
        others = [each for each in items if each != item]
        kept = self.sample(others, self.between(least - 1, max(least, len(others)) - 1))
        return tuple(each for each in items if each == item or each in kept)

    def dims(self, count: int, kind: str = "varied", taken: int = 1) -> tuple[int, ...]:
        """Draw `count` extents beside `taken` elements.

        They are varied, ones, equal, the same as `taken`, zero (one of them), long (the last one),
        wide or tall (the last or the first is past a tile), or huge (the last, past 16 bits).
        """
        if kind not in _KINDS:
            raise ValueError(f"'{kind}' is no kind of extents{did_you_mean(kind, _KINDS)}")
        budget = MAX_ELEMENTS // max(1, taken)
        ones = (1,) * count
        if kind == "ones" or not count:
            return ones
        if kind == "same":
            return (taken,) * count
        if kind == "long":
            return (*ones[1:], next((each for each in _LONG if each <= budget), LONG_EXTENT))
        if kind in _PAST:
            return (_PAST[kind], *ones[1:]) if kind == "tall" else (*ones[1:], _PAST[kind])
        if kind == "equal":
            return self._equal(count, budget)
        extents = self._varied(count, budget)
        if kind == "zero":
            extents[self._below(count)] = 0
        return tuple(extents)

    def _varied(self, count: int, budget: int) -> list[int]:
        """Draw extents of which at least one is more than 1."""
        extents = [1] * count
        for drawn, position in enumerate(self._shuffled(range(count))):
            room = [e for e in _EXTENTS[: 5 if count < 4 else 2] if prod(extents) * e <= budget]
            extents[position] = self.pick(room) if room else 1 if drawn else 2
        return extents

    def _equal(self, count: int, budget: int) -> tuple[int, ...]:
        """Draw extents that are all equal and more than 1; without room, two of them."""
        for extent in (4, 3, 2):
            if extent**count <= budget:
                return (extent,) * count
        pair = self.sample(range(count), min(2, count))
        return tuple(2 if position in pair else 1 for position in range(count))

    def parts(self, total: int, count: int, most: int) -> tuple[int, ...]:
        """Draw `count` lengths up to `most` that sum to `total`, none 0 where that can be."""
        least = 1 if count <= total else 0
        if not count and total:
            raise Inapplicable(f"no lengths do not sum to {total}")
        lengths: list[int] = []
        for others in reversed(range(count)):
            left = total - sum(lengths)
            low, high = max(least, left - most * others), min(most, left - least * others)
            if low > high:
                raise Inapplicable(f"{count} lengths up to {most} do not sum to {total}")
            lengths.append(self.between(low, min(high, max(low, 2 * left // (others + 1)))))
        return tuple(lengths)

    def position_in(self, n: int, index_type: str) -> int:
        """Draw an index into a dimension of `n`, of either sign where its type has both.

        Where `n` is 0 there is none, and the index is near 0.
        """
        least = max(-max(n, 1), lowest(index_type))
        return self.between(least, min(max(n, 1) - 1, highest(index_type)))

    def positions_in(self, n: int, index_type: str, count: int, strays: int) -> tuple[int, ...]:
        """Draw `count` indices into a dimension of `n`; with `strays`, about half are not in it."""
        beyond = [each for each in (n, n + 9, -n - 1) if fits(index_type, each)] if strays else []
        return tuple(
            self.pick(beyond) if beyond and self._below(2) else self.position_in(n, index_type)
            for _ in range(count)
        )

    def span(self, n: int, index_type: str) -> tuple[int, int, int]:
        """Draw start, stop and step of a Python slice that selects something, where n > 0."""
        while n:
            start, stop = self.position_in(n, index_type), self.between(-n - 1, n)
            step = self.pick((1, 1, 2, 3, -1, -2))
            if (
                fits(index_type, stop)
                and fits(index_type, step)
                and python_slice(n, start, stop, step)
            ):
                return start, stop, step
        return 0, 0, 1


_DRAWS = (
    *(Sampler.between, Sampler.pick, Sampler.sample, Sampler.disordered),
    *(
        Sampler.subset_with,
        Sampler.dims,
        Sampler.parts,
        Sampler.position_in,
        Sampler.positions_in,
        Sampler.span,
    ),
)
DRAW_FUNCTIONS: dict[str, Callable[..., Any]] = {draw.__name__: draw for draw in _DRAWS}


def bound_draw_functions(sampler: Sampler) -> dict[str, Callable[..., Any]]:
    """Return the draws that expressions may call, drawing from `sampler`."""
    return {name: getattr(sampler, name) for name in DRAW_FUNCTIONS}
