"""The role `reshape`: a target shape with as many elements as data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, ClassVar, Literal

from pydantic import Field

from opcert.arrays.calls import Call, insert, replace
from opcert.arrays.element_types import fits, lowest
from opcert.roles.data import OfDataRole
from opcert.roles.drawing import MAX_OUTPUTS, Drawing, places
from opcert.roles.modes import FlagRole
from opcert.roles.role import ListRole, Requirement


@dataclass(frozen=True)
class _Target:
    """Sizes, and which of them can be copied or inferred, or can neither be copied nor written."""

    sizes: Sequence[int]
    copyable: Sequence[int]
    inferrable: Sequence[int]
    unwritable: Sequence[int]


def _target(
    sizes: Sequence[int], shape: Sequence[int], element_type: str, *, copies: bool
) -> _Target | None:
    """Return the target of data of `shape`, None if no list of its type can describe it.

    `copies` is whether a 0 copies a size.
    """
    pairs = enumerate(zip(sizes, shape, strict=False))
    copyable = [k for k, (size, n) in pairs if copies and size == n]
    # Next to a size of 0, any size could be inferred.
    zeros = [k for k, size in enumerate(sizes) if size == 0]
    can_infer = lowest(element_type) < 0 and len(zeros) < 2
    inferrable = (zeros or [*range(len(sizes))]) if can_infer else []
    unwritable = [
        k
        for k, size in enumerate(sizes)
        if k not in copyable and (not fits(element_type, size) or (copies and not size))
    ]
    if len(unwritable) > 1 or not {*unwritable} <= {*inferrable}:
        return None
    return _Target([*sizes], copyable, inferrable, unwritable)


@cache
def _prime_factors(n: int) -> tuple[int, ...]:
    """Return the prime factors of `n`; none of 0 and 1."""
    factors = []
    divisor = 2
    while n > 1:
        if divisor * divisor > n:
            divisor = n
        while n % divisor == 0:
            factors.append(divisor)
            n //= divisor
        divisor += 1
    return tuple(factors)


class ReshapeRole(ListRole, OfDataRole):
    """The shape that data takes on, with the same elements in the same order.

    A single -1 is inferred from the other sizes. If the flag `copies` is true, a 0 copies the size
    of data at the same position; otherwise, it is a size like any other. A target has up to `most`
    elements.
    """

    relations: ClassVar = {"of": ("data",), "copies": ("flag",)}

    role: Literal["reshape"]
    copies: str | None = None
    most: int = Field(8, ge=1, le=8)

    def _draw_forms(
        self, call: Drawing, shape: Sequence[int], *, copies: bool
    ) -> Iterator[tuple[str, Sequence[int]]]:
        """Yield targets with as many elements as data, by what they do with its axes."""
        rank, size = len(shape), prod(shape)
        yield "the same", shape
        yield "flat", [size]
        axis, pair = (call.integer(self, "axis", 0, max(0, rank - k)) for k in (1, 2))
        if rank:
            factor = call.pick(self, "factor", _prime_factors(shape[axis]) or [1])
            yield "split", [*shape[:axis], factor, shape[axis] // factor, *shape[axis + 1 :]]
            yield "backwards", shape[::-1]
        if rank > 1:
            yield "merged", [*shape[:pair], shape[pair] * shape[pair + 1], *shape[pair + 2 :]]
        count = call.integer(self, "count", 1, self.most)
        if size:
            target = [1] * count
            factors = [factor for n in shape for factor in _prime_factors(n)]
            drawn = call.choices.integers(f"{self.name} factors", 0, count - 1, len(factors))
            for factor, k in zip(factors, drawn, strict=True):
                target[k] *= factor
            yield "factors in other places", target
        else:
            # Where zeros are copies, a 0 must be where data has one.
            place = shape.index(0) if copies else call.integer(self, "zero", 0, count - 1)
            target = [*call.extents(self, max(count, place + 1), MAX_OUTPUTS, empty=False)]
            yield "other sizes", replace(target, place, 0)
            # A copied size would show, where no flag says that a 0 copies.
            yield "only zeros", [0] * rank
        yield "a 1 more", insert(shape, axis, 1)
        yield "without ones", [n for n in shape if n != 1]
        ones = [1] * (self.most - rank)
        yield "ones before it", [*ones, *shape]
        yield "ones after it", [*shape, *ones]

    def draw(self, call: Drawing) -> Any:
        """Return a target; sizes of data at the same places may be copied, and one be inferred."""
        shape, element_type = call.fact(self.data.draw_shape), call.fact(self.draw_type)
        flag = None if self.copies is None else self.related(self.copies, FlagRole)
        copies = flag is not None and call.fact(flag.draw_meant)
        targets: dict[str, _Target] = {}
        for form, sizes in self._draw_forms(call, shape, copies=copies):
            target = _target(sizes, shape, element_type, copies=copies)
            if len(sizes) <= self.most and target and target not in targets.values():
                targets[form] = target
        target = call.one(self, "form", targets)
        values = [*target.sizes]
        named = places(len(values)).items()
        options = {"none": None, **{name: k for name, k in named if k in target.inferrable}}
        if target.unwritable:
            options = {"what its type cannot hold": target.unwritable[0]}
        inferred = call.one(self, "inferred", options)
        if inferred is not None:
            values[inferred] = -1
        copied = [k for k in target.copyable if k != inferred]
        if copied:
            numbers = {len(copied) - 1: "all but one", len(copied): "all", 1: "one", 0: "none"}
            number = call.one(self, "copied", {numbers[k]: k for k in sorted(numbers)})
            for k in call.sample(self, "copies", copied, number):
                values[k] = 0
        # A size that its type cannot hold is copied in any case.
        for k in copied:
            values[k] = values[k] if fits(element_type, values[k]) else 0
        return self.drawn_list(call, values)

    def axes_in(self, call: Call) -> Sequence[int | None]:
        """Return the axis of data at the place of each size, None past the last axis."""
        rank = call.inputs[self.of].rank
        return [k if k < rank else None for k in range(len(self.values_in(call)))]

    def requirements(self) -> Iterator[Requirement]:
        """Yield its form, and that the elements of data fill it."""
        yield from super().requirements()
        name, of, values = self.name, self.of, f"{self.name}.values"
        text = f"{name} lists sizes; no element is less than -1."
        holds = f"all(size >= -1 for size in {values})"
        yield self.requirement("least", text, holds, *self.list_keys)
        text = f"At most one element of {name} is -1."
        holds = f"sum(size == -1 for size in {values}) <= 1"
        yield self.requirement("one-inferred", text, holds, *self.list_keys, "least")
        size, keys = "size", [*self.list_keys, "least", "one-inferred"]
        if self.copies is not None:
            text = f"With {self.copies}, each 0 of {name} has a dimension of {of} to copy."
            holds = f"all(size != 0 for size in {values}[{of}.rank:])"
            yield self.requirement("copied", text, holds, *self.list_keys, when=self.copies)
            keys.append("copied")
            size = f"{of}.shape[k] if {self.copies} and size == 0 else size"
        product = f"prod([{size} for k, size in enumerate({values}) if size != -1])"
        text = f"The sizes in {name} multiply to the number of elements of {of}."
        holds, when = f"{product} == {of}.size", f"-1 not in {values}"
        yield self.requirement("size", text, holds, *keys, when=when)
        text = f"The sizes other than -1 divide the number of elements of {of}."
        holds = f"all(known > 0 and {of}.size % known == 0 for known in [{product}])"
        yield self.requirement("inferred", text, holds, *keys, when=f"-1 in {values}")
