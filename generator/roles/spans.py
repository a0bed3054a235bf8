"""The role `spans`: where slices along axes of data start and stop, and by which step they go."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

from opcert.arrays import Call, fits, python_slice
from opcert.roles.argument import BoundExpressions
from opcert.roles.axes import AxesRole
from opcert.roles.data import DataRole
from opcert.roles.factors import (
    BuildContext,
    Choice,
    Constraint,
    DerivedFactor,
    Factor,
    LevelName,
    ObservationPoint,
    ObservedLevels,
    Requirement,
    forbid,
    levels_where,
)
from opcert.roles.role import LIST_LAYOUTS, OMITTED, Role
from opcert.roles.samplers import Sampler
from opcert.roles.span_levels import (
    FIRST,
    PLACES,
    PLACES_UNDER_STRESS,
    SELECTED,
    SIZES,
    SIZES_UNDER_STRESS,
    WHEN_OMITTED,
    Value,
    selected,
)

PARTS = ("start", "stop", "step")
Span = tuple[int, int, int]
# An attribute has whatever fits the widest of integers that are common.
_PLAIN = "i64"


class SpansRole(Role):
    """The starts, the stops or the steps of slices along axes of data, as in Python.

    Three arguments have the role, one for each `part`: `start`, `stop` and `step`. Each is a list,
    a tensor or an attribute, with an element for each of the axes that `along` names, or for all
    axes. One that is omitted counts as what takes the whole axis, in steps of 1.
    """

    relations: ClassVar = {"of": ("data",), "along": ("axes",)}

    role: Literal["spans"]
    part: Literal["start", "stop", "step"]
    of: str
    along: str | None = None

    def rank_bounds(self) -> BoundExpressions:
        """Return that it is a list."""
        return ("1", "1")

    def bounds(self) -> BoundExpressions | None:
        """Return all of its type: a slice may reach past its axis."""
        if self.is_attribute:
            return None
        return (f"lowest({self.name}.type)", f"highest({self.name}.type)")

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Yield where one of the three parts is not there once, or is along other axes."""
        group = self._group
        for part in PARTS:
            names = [each.name for each in group if each.part == part]
            if len(names) > 1 and self.name in names[1:]:
                yield "part", f"'{names[0]}' is the {part} of '{self.of}' already"
            if not names and self is group[0]:
                text = f"no argument is the {part} of '{self.of}'; expected one with"
                yield "part", f"{text} 'role: spans' and 'part: {part}'"
        if self.along != group[0].along:
            text = f"'{group[0].name}', which it belongs to, has {group[0].along or 'none'}"
            yield "along", f"found {self.along or 'none'}, but {text}"

    @cached_property
    def data(self) -> DataRole:
        """The data that is sliced."""
        return self.partner(self.of, DataRole)

    @cached_property
    def axes(self) -> AxesRole | None:
        """The axes that are sliced; without them all are."""
        return None if self.along is None else self.partner(self.along, AxesRole)

    @cached_property
    def _group(self) -> list["SpansRole"]:
        roles = self._signature.roles
        return [each for each in roles if isinstance(each, SpansRole) and each.of == self.of]

    @cached_property
    def _parts(self) -> tuple["SpansRole", "SpansRole", "SpansRole"]:
        start, stop, step = sorted(self._group, key=lambda each: PARTS.index(each.part))
        return start, stop, step

    @cached_property
    def _main(self) -> str:
        """The factor of its value, without the direction."""
        return self.factor("size" if self.part == "step" else "value")

    @cached_property
    def _direction(self) -> str:
        return self._parts[2].factor("direction")

    def _level(self, value: Value) -> Any:
        """Return the value of a level, given the length and the element type, if it has one."""
        if isinstance(value, int):
            return value
        if self.is_attribute:
            return lambda n: value(n, _PLAIN)
        return lambda n, element_type: value(n, _known(element_type))

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield the values, relative to the axis and the type, and what they select."""
        yield from self.type_factors(profile)
        is_stress, length = profile == "stress", self.data.factor("length")
        about = (length,) if self.is_attribute else (length, self.type_factor)
        if self.part == "step":
            known = SIZES_UNDER_STRESS if is_stress else SIZES
        else:
            first = PLACES_UNDER_STRESS[self.part] if is_stress else (*FIRST[self.part], *PLACES)
            known = {level: PLACES[level] for level in first}
        levels = {level: self._level(value) for level, (value, _) in known.items()}
        words = {level: f"a {self.part} {text}" for level, (_, text) in known.items()}
        yield Factor(self._main, levels, about, words)
        if not self.required:
            given = {"yes": "", "no": f"{self.name} omitted"}
            yield Factor(self.factor("given"), {each: each for each in given}, words=given)
        if self.part == "step":
            words = {"forwards": "forwards", "backwards": "backwards"}
            yield Factor(self._direction, {"forwards": 1, "backwards": -1}, words=words)
        if self.part == "start":
            levels = {each: each for each in SELECTED}
            yield Factor(self.factor("selects"), levels, words=SELECTED)
            layouts = {"c": "", "reversed": "lists backwards in memory"}
            layouts |= {"gapped": "lists with gaps", "mixed": "lists in several layouts"}
            if self._tensors:
                levels = {each: each for each in (*LIST_LAYOUTS, *self._mixed)}
                words = {each: layouts[each] for each in levels}
                yield Factor(self.factor("layouts"), levels, words=words)

    @cached_property
    def _tensors(self) -> list["SpansRole"]:
        return [each for each in self._parts if not each.is_attribute]

    @property
    def _mixed(self) -> tuple[str, ...]:
        return ("mixed",) if len(self._tensors) > 1 else ()

    def constraints(self) -> Iterator[Constraint]:
        """Yield which values fit their type, and what goes with omitted and with short lists."""
        direction, main = self._direction, self._main
        if self.part == "step":
            if self.is_attribute:
                yield forbid(
                    lambda size, by: size == 0 or not fits(_PLAIN, size * by), main, direction
                )
            else:
                yield forbid(
                    lambda size, by, t: size == 0 or not fits(_known(t), size * by),
                    *(main, direction, self.type_factor),
                )
        elif self.is_attribute:
            yield forbid(lambda value: not fits(_PLAIN, value), main)
        else:
            yield forbid(lambda value, t: not fits(_known(t), value), main, self.type_factor)
        if not self.required:
            given = self.factor("given")
            yield from self.omission(given, "no")
            counts_as = WHEN_OMITTED[self.part]
            yield forbid(
                lambda given, value, by: given == "no" and value != counts_as[by < 0],
                *(given, LevelName(main), direction),
            )
        if self.part == "start" and self._tensors:
            yield from self._constraints_of_layouts(self.factor("layouts"))

    def _constraints_of_layouts(self, layouts: str) -> Iterator[Constraint]:
        """Yield that layouts other than C take lists of two elements or more."""
        axes, data = self.axes, self.data
        if axes is None or (axes.omitted == "all" and not axes.required):
            yield forbid(
                lambda layout, rank: layout != "c" and rank < 2, layouts, data.factor("rank")
            )
        if axes is not None:
            listing = axes.factor("listing")
            yield forbid(
                lambda layout, listing: layout != "c" and listing == "one", layouts, listing
            )
            if axes.omitted == "first":
                yield forbid(
                    lambda layout, listing, axis: (
                        layout != "c" and listing == "omitted" and axis == "first"
                    ),
                    *(layouts, listing, LevelName(data.factor("axis"))),
                )
        optional = [each.factor("given") for each in self._tensors if not each.required]
        for given in optional:
            yield forbid(lambda layout, given: layout == "mixed" and given == "no", layouts, given)
        if len(optional) == len(self._tensors):
            yield forbid(
                lambda layout, *given: layout != "c" and "yes" not in given, layouts, *optional
            )

    def derived(self) -> Iterator[DerivedFactor]:
        """Yield how much of the axis is selected."""
        if self.part == "start":
            start, stop, step = self._parts
            about = (self.data.factor("length"), start._main, stop._main, step._main)
            yield DerivedFactor(self.factor("selects"), selected, (*about, self._direction), True)

    def masking(self) -> Iterator[Constraint]:
        """Yield where nothing is selected."""
        if self.part == "start":
            yield forbid(lambda selects: selects == "none", self.factor("selects"))

    def full_combinations(self) -> Iterator[tuple[str, ...]]:
        """Yield starts with stops in both directions, and what is selected of which extents."""
        if self.part == "start":
            start, stop, _ = self._parts
            yield start._main, stop._main, self._direction
            data = self.data
            yield data.factor("length"), data.factor("others"), self.factor("selects")

    def build(self, scene: BuildContext) -> Any:
        """Return the values for all sliced axes, that in focus among them."""
        choice = scene.choice
        if choice.level(self.factor("given")) == "no":
            return None
        start = self._parts[0]
        spans = scene.draw(start.factor("spans"), lambda sampler: self._drawn(scene, sampler))
        values = [span[PARTS.index(self.part)] for span in spans]
        if self.is_attribute:
            return values
        layout = choice[start.factor("layouts")]
        if layout == "mixed":
            position = self._tensors.index(self)
            layout = ("reversed", "c", "gapped")[position]
        return self.integers(scene, values, layout)

    def _drawn(self, scene: BuildContext, sampler: Sampler) -> Sequence[Span]:
        choice, data = scene.choice, self.data
        rank, axis = choice[data.factor("rank")], choice[data.factor("axis")]
        shape, axes = data.shape(scene), self.axes
        start, stop, step = self._parts
        by = choice[step._main] * choice[self._direction]
        focus = (choice[start._main], choice[stop._main], by)
        listed = range(rank) if axes is None else axes.listed(scene)
        return [focus if d == axis else self._span(choice, shape[d], sampler) for d in listed]

    def _span(self, choice: Choice, n: int, sampler: Sampler) -> Span:
        """Draw a slice that selects something of an axis of `n`, where there is something."""
        types = [
            _PLAIN if each.is_attribute else _known(choice.level(each.type_factor))
            for each in self._parts
        ]
        are_given = [choice.level(each.factor("given")) != "no" for each in self._parts]
        while n:
            start, stop, step = sampler.span(n, types[0])
            step = step if are_given[2] else 1
            start = start if are_given[0] else 0 if step > 0 else n - 1
            stop = stop if are_given[1] else n if step > 0 else -n - 1
            values = (start, stop, step)
            do_fit = all(
                fits(t, value) or not is_given
                for t, value, is_given in zip(types, values, are_given, strict=True)
            )
            if do_fit and python_slice(n, *values):
                return values
        return 0, 0, 1

    def observation_points(self, call: Call) -> list[ObservationPoint]:
        """Return each axis with its place in the lists, unless axes are listed."""
        if self.part != "start" or self.along is not None:
            return []
        return [{"axis": d, "element": d} for d in range(call.inputs[self.of].rank)]

    def observe(self, call: Call, focus: ObservationPoint) -> ObservedLevels:
        """Return the levels of all factors, of the slice along the axis in focus."""
        seen: dict[str, Any] = self.observed_type(call)
        levels: dict[str, frozenset[str]] = {}
        if not self.required:
            levels[self.factor("given")] = frozenset(["yes" if self.is_in(call) else "no"])
        start, stop, step = self._parts
        if "element" not in focus:
            own = [self._main, *([self._direction] if self.part == "step" else [])]
            own += [self.factor("selects")] if self.part == "start" else []
            levels |= dict.fromkeys(own, frozenset())
        else:
            n, k = call.inputs[self.of].shape[focus["axis"]], focus["element"]
            by = (step.values_in(call) or {k: 1})[k]
            first = (start.values_in(call) or {k: 0 if by > 0 else n - 1})[k]
            end = (stop.values_in(call) or {k: n if by > 0 else -n - 1})[k]
            value = {"start": first, "stop": end, "step": abs(by)}[self.part]
            seen[self._main] = value
            if self.part == "step":
                seen[self._direction] = 1 if by > 0 else -1
            if self.part == "start":
                count = len(python_slice(n, first, end, by))
                levels[self.factor("selects")] = levels_where(
                    {
                        "some": 1 < count < n,
                        "all": 0 < count == n,
                        "one": 1 == count < n,
                        "none": count == 0,
                    }
                )
        if self.part == "start" and self._tensors:
            given = [call.inputs.get(each.name) for each in self._tensors]
            layouts = {each.layout for each in given if each is not None}
            seen[self.factor("layouts")] = "mixed" if len(layouts) > 1 else "".join(layouts)
        return ObservedLevels(seen, levels)

    def requirements(self) -> Iterator[Requirement]:
        """Yield their type, their ranks, that there are as many of each, and that no step is 0.

        The start states what they require together.
        """
        name = self.name
        if not self.is_attribute:
            text = f"{name} is one-dimensional."
            yield Requirement(f"{name}.rank", text, f"{name}.rank == 1", self.is_given)
        if self.part == "start":
            yield from self._types()
            yield from self._lengths()
        if self.part == "step":
            yield Requirement(
                f"{name}.nonzero",
                "No step is 0.",
                f"all(value != 0 for value in {self.numbers})",
                self.is_given,
            )

    def _types(self) -> Iterator[Requirement]:
        """Yield the element types of all parts, as one requirement."""
        kinds: dict[str, list[str]] = {}
        conditions = []
        for part in self._tensors:
            for each in Role.requirements(part):
                kinds.setdefault(each.text.partition(" is ")[2], []).append(part.name)
                conditions.append(
                    each.holds if part.required else f"({part.name} is None or {each.holds})"
                )
        texts = [
            f"{_series(names)} {'are' if len(names) > 1 else 'is'} {kind.removesuffix('.')}"
            for kind, names in kinds.items()
        ]
        if conditions:
            yield Requirement(f"{self.name}.type", f"{'; '.join(texts)}.", " and ".join(conditions))

    def _lengths(self) -> Iterator[Requirement]:
        """Yield how many slices there are: as many of each part, one for each axis."""
        start, axes, rank = self._parts[0], self.axes, f"{self.of}.rank"
        lists: list[Role] = [*self._parts, *([axes] if axes is not None else [])]
        ranks = tuple(f"{each.name}.rank" for each in lists if not each.is_attribute)
        # What one is compared with has to be there.
        first = next((each for each in lists if each.required), start)
        conditions = [
            f"{each.length} == {first.length}"
            if each.required
            else f"({each.name} is None or {each.length} == {first.length})"
            for each in lists
            if each is not first
        ]
        names = [each.name if each.required else f"where given {each.name}" for each in lists]
        text = f"{_series(names)} have equally many elements"
        if axes is None:
            conditions.append(f"{first.length} == {rank}")
            text += f", one for each dimension of {self.of}"
        yield Requirement(f"{self.name}.length", f"{text}.", " and ".join(conditions), given=ranks)
        if axes is not None and not axes.required:
            is_first = axes.omitted == "first"
            yield Requirement(
                f"{self.name}.fit",
                f"Without {axes.name}, there are {'no more' if is_first else 'as many'} slices "
                f"{'than' if is_first else 'as'} {self.of} has dimensions.",
                f"{first.length} {'<=' if is_first else '=='} {rank}",
                f"{axes.name} is None",
                (f"{self.name}.length",),
            )


def _known(element_type: str) -> str:
    return _PLAIN if element_type == OMITTED else element_type


def _series(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
