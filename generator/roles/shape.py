"""Target shapes, and axes in them: the roles `shape`, `reshape` and `mapping`."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import cycle, islice
from math import isqrt, prod
from typing import Any, ClassVar, Literal

from pydantic import Field

from opcert.arrays.calls import Call, insert, replace
from opcert.arrays.element_types import fits, lowest
from opcert.errors import Inapplicable
from opcert.roles.data import OfDataRole
from opcert.roles.drawing import MAX_OUTPUTS, Drawing, distinct, places
from opcert.roles.plain_values import FlagRole, SelectedRole
from opcert.roles.role import ListRole, Requirement, Role


class MappingRole(ListRole, OfDataRole, SelectedRole):
    """For each axis of data an axis of the target shape, in ascending order.

    With the key `mode`, it is given only if that mode is `mode_is`. Along an axis that it maps, a
    size of 1 is `kept` or `stretched`, or the document leaves it `open`.
    """

    relations: ClassVar = {"of": ("data",), "into": ("shape",), "mode": ("mode",)}

    role: Literal["mapping"]
    into: str
    ones: Literal["kept", "stretched", "open"] = "kept"

    def bounds(self) -> tuple[str, str]:
        """Return the first and the last axis of the target."""
        return ("0", f"{self.into}.size - 1")

    @property
    def aligned(self) -> tuple[str, str, tuple[str, ...]]:
        """The condition that data aligns at the end, the words for it, and its prerequisites."""
        mode = self.mode_role
        if mode is None:
            return f"{self.name} is None", f"Without {self.name}, ", ()
        words = [word for word in mode.one_of if word != self.mode_is]
        return mode.is_one_of(words), f"In mode {' or '.join(words)}, ", (mode.word_requirement,)

    def draw_places(self, call: Drawing) -> list[int] | None:
        """Draw the axes of the target, in ascending order; None if data aligns at the end."""
        if not self.is_selected(call):
            return None
        if self.mode_role is None and not call.fact(self.draw_given):
            return None
        rank = call.fact(self.data.draw_rank)
        most = call.fact(self.related(self.into, Role).draw_rank)
        if most < rank:
            raise Inapplicable("the target has fewer axes than data")
        return sorted(call.sample(self, "places", range(most), rank))

    def draw(self, call: Drawing) -> Any:
        """Return the mapping, None if it is omitted."""
        listed = call.fact(self.draw_places)
        return None if listed is None else self.drawn_list(call, listed)

    def extent_in(self, call: Call, axis: int) -> int:
        """Return the number of axes of the target."""
        del axis
        return call.inputs[self.into].size

    def requirements(self) -> Iterator[Requirement]:
        """Yield its presence, its form, its range and order, and the extents of data."""
        name, of, into = self.name, self.of, self.into
        values, form = f"{name}.values", (f"{into}.type", f"{into}.rank")
        begin, mode = "", self.mode_role
        if mode is not None:
            begin = f"In mode {self.mode_is}, "
            text, holds = f"{begin}{name} is given.", f"{name} is not None"
            keys = *self.selected_keys, *form, f"{into}.least"
            yield self.requirement(
                "given", text, holds, *keys, when=mode.is_one_of([str(self.mode_is)])
            )
        for requirement in super().requirements():
            yield dataclasses.replace(requirement, prerequisites=self.selected_keys)
        text = f"{name} has as many elements as {of} has dimensions."
        yield self.requirement("size", text, f"{name}.size == {of}.rank", "rank")
        least, _ = self.range or self.bounds()
        holds = f"all({least} <= axis < {into}.size for axis in {values})"
        text = f"{name} lists axes of the output."
        yield self.requirement("range", text, holds, *form, "type", "rank", "size")
        text, holds = f"{name} is in ascending order.", f"tuple(sorted(set({values}))) == {values}"
        yield self.requirement("order", text, holds, "range")
        one, or_one = ("1, ", "1 or ") if self.ones != "kept" else ("", "")
        target = f"that of the axis of the output that {name} maps it to"
        text = f"{begin}each size of {of} is {or_one}{target}."
        sizes = f"[{one}{into}.values[axis]]"
        holds = f"all(n in {sizes} for n, axis in zip({of}.shape, {values}))"
        keys = f"{into}.least", "given", "size", "range", "order"
        yield self.requirement("extents", text, holds, *keys)


class ShapeRole(ListRole, OfDataRole):
    """The shape to which data broadcasts, in this direction only.

    Data aligns at the end, and a size of 1 stretches. With a `mapping`, each axis of data becomes
    the axis of the target that the mapping lists. A target has up to `most` elements, and unless
    `empty` is false, it may have none.
    """

    role: Literal["shape"]
    most: int = Field(8, ge=1, le=8)
    empty: bool = True

    @cached_property
    def mapping(self) -> MappingRole | None:
        """The mapping of axes of data onto its own, if the operator has one."""
        return next(iter(self.referrers("into", MappingRole)), None)

    def draw_rank(self, call: Drawing) -> int:
        """Draw how many elements it has."""
        rank = call.fact(self.data.draw_rank)
        least = 0 if rank or self.empty else 1
        return rank + call.one(self, "more axes", range(least, max(0, self.most - rank) + 1))

    def draw(self, call: Drawing) -> Any:
        """Return a target that keeps or stretches the axes of data, and adds some."""
        shape, count = call.fact(self.data.draw_shape), call.fact(self.draw_rank)
        mapping = None if self.mapping is None else call.fact(self.mapping.draw_places)
        listed = [*range(count - len(shape), count)] if mapping is None else mapping
        room = max(2, MAX_OUTPUTS // max(1, prod(shape)))
        target = [*call.extents(self, count, room, empty=self.data.empty)]
        like_data = [*islice(cycle(shape or (1,)), count)]
        if prod(like_data) <= MAX_OUTPUTS and not call.integer(self, "like data", 0, 3):
            # Where extents recur, an axis can be taken for another one.
            target = like_data
        ones = "stretched" if mapping is None or self.mapping is None else self.mapping.ones
        stretch = "none"
        if 1 in shape and ones == "stretched":
            stretch = call.one(self, "stretched", ["all", "some", "none"])
        for number, (place, extent) in enumerate(zip(listed, shape, strict=True)):
            is_kept = stretch == "none" or (
                stretch == "some" and call.integer(self, f"keeps {number}", 0, 1)
            )
            if extent != 1 or is_kept:
                target[place] = extent
            elif target[place] == 1:
                target[place] = 2
        return self.drawn_list(call, target)

    def axes_in(self, call: Call) -> Sequence[int | None]:
        """Return the axis of data that becomes each axis of the target; None for a new one."""
        count, rank = len(self.values_in(call)), call.inputs[self.of].rank
        mapped = () if self.mapping is None else self.mapping.values_in(call)
        axes = {place: axis for axis, place in enumerate(mapped or range(count - rank, count))}
        return [axes.get(place) for place in range(count)]

    def requirements(self) -> Iterator[Requirement]:
        """Yield its form, and that data broadcasts to it unless a mapping is given."""
        yield from super().requirements()
        name, of, values = self.name, self.of, f"{self.name}.values"
        text = f"{name} lists sizes, none of them negative."
        yield self.of_each("least", text, "size", "size >= 0")
        mapping, when, begin = self.mapping, "True", ""
        prerequisites: tuple[str, ...] = ()
        if mapping is not None:
            if mapping.required:
                return
            when, begin, prerequisites = mapping.aligned
        text = f"{begin}{of} has no more dimensions than {name} has elements."
        keys = (*prerequisites, *self.list_keys, "least")
        yield self.requirement("ranks", text, f"{of}.rank <= {name}.size", *keys, when=when)
        text = f"{begin}each size of {of}, aligned at the end, is 1 or that of {name}."
        holds = f"broadcasts({of}.shape, {values})"
        yield self.requirement("extents", text, holds, "ranks", when=when)


@cache
def _prime_factors(n: int) -> tuple[int, ...]:
    """Return the prime factors of `n`; none of 0 and 1."""
    for divisor in range(2, isqrt(n) + 1):
        if n % divisor == 0:
            return (divisor, *_prime_factors(n // divisor))
    return (n,) if n > 1 else ()


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
            drawn = call.integers(self, "factors", 0, count - 1, len(factors))
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

    def _inferrable(
        self, sizes: Sequence[int], shape: tuple[int, ...], element_type: str, *, copies: bool
    ) -> Mapping[str, int | None]:
        """Return which size may be inferred, by place; nothing if no list describes the target."""
        # Next to a size of 0, any size could be inferred.
        zeros = [k for k, size in enumerate(sizes) if size == 0]
        can_infer = lowest(element_type) < 0 and len(zeros) < 2
        inferrable = (zeros or [*range(len(sizes))]) if can_infer else []
        # What can neither be copied nor written must be inferred.
        unwritable = [
            k
            for k, size in enumerate(sizes)
            if not (copies and shape[k : k + 1] == (size,))
            and (not fits(element_type, size) or (copies and not size))
        ]
        if len(unwritable) > 1 or not {*unwritable} <= {*inferrable}:
            return {}
        if unwritable:
            return {"what its type cannot hold": unwritable[0]}
        named = {name: k for name, k in places(len(sizes)).items() if k in inferrable}
        return {"none": None, **named}

    def draw(self, call: Drawing) -> Any:
        """Return a target; sizes of data at the same places may be copied, and one be inferred."""
        shape, element_type = call.fact(self.data.draw_shape), call.fact(self.draw_type)
        flag = None if self.copies is None else self.related(self.copies, FlagRole)
        copies = flag is not None and call.fact(flag.draw_meant)
        forms = self._draw_forms(call, shape, copies=copies)
        targets = {
            form: (target, inferrable)
            for form, target in distinct({form: tuple(sizes) for form, sizes in forms}).items()
            if (inferrable := self._inferrable(target, shape, element_type, copies=copies))
            and len(target) <= self.most
        }
        target, inferrable = call.one(self, "form", targets)
        values, inferred = [*target], call.one(self, "inferred", inferrable)
        if inferred is not None:
            values[inferred] = -1
        copied = [k for k, n in enumerate(shape[: len(values)]) if copies and values[k] == n]
        if copied:
            n = len(copied)
            numbers = distinct({"none": 0, "one": 1, "all but one": n - 1, "all": n})
            for k in call.sample(self, "copies", copied, call.one(self, "copied", numbers)):
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
        yield self.of_each("least", text, "size", "size >= -1")
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
