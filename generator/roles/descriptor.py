"""The role `descriptor`: a record with the sizes and the element type of the output."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.roles.argument import ExpressionText
from opcert.roles.descriptors import RecordRole
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
from opcert.roles.samplers import Sampler
from opcert.roles.windows import WindowsRole, reachable

COPIES = {
    "all": "",
    "fewer": "fewer elements than the window reaches",
    "one": "one of the elements that the window reaches",
}


class DescriptorRole(RecordRole):
    """A record with the sizes and the element type of the output: an attribute.

    `extents` is an expression of its sizes. With `windows` instead, each size is at least 1 and at
    most the number of elements that the window reaches on this axis.
    """

    relations: ClassVar = {"of": ("data", "tensors"), "windows": ("windows",)}

    role: Literal["descriptor"]
    type: Literal["record"]
    extents: ExpressionText | None = None
    windows: str | None = None

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an unknown table of names, and missing or duplicate sizes."""
        yield from super().mistakes()
        if self.extents is None and self.windows is None:
            yield "sizes", f"nothing determines '{self.sizes}'; expected 'extents' or 'windows'"
        elif self.extents is not None and self.windows is not None:
            yield "windows", "both 'extents' and 'windows'; expected one of them"

    @property
    def _windows(self) -> WindowsRole | None:
        return None if self.windows is None else self.related(self.windows, WindowsRole)

    def factors(self, _: str) -> Iterator[Factor]:
        """Yield how many of the elements that a window reaches are copied."""
        if self._windows is not None:
            yield Factor.of_names(self.factor("copies"), COPIES)

    def constraints(self) -> Iterator[Constraint]:
        """Forbid to copy fewer elements than all where there are too few, or all are reversed."""
        if self._windows is None:
            return
        offset, size, stride = self._windows.parts
        yield forbid(
            lambda others, copies: others == "reversed" and copies != "all",
            *(offset.factor("others"), self.factor("copies")),
        )
        # Only all of them reveal that a long stride is cut.
        yield forbid(
            lambda level, copies: level == "past_u8" and copies != "all",
            *(LevelName(stride.value_factor), self.factor("copies")),
        )
        yield forbid(
            lambda size, stride, copies: (
                reachable(size, stride) < {"all": 1, "fewer": 3, "one": 2}[copies]
            ),
            *(size.value_factor, stride.value_factor, LevelName(self.factor("copies"))),
        )

    def build(self, context: BuildContext) -> dict[str, Any]:
        """Return the record of the output."""
        if self._windows is not None:
            sizes = context.draw(self.name, partial(self._draw_sizes, self._windows, context))
        else:
            sizes = context.evaluate(str(self.extents))
        return self.record(context, sizes)

    def following(self, call: Call, evaluate: Callable[[str], Any]) -> dict[str, Any] | None:
        """Return the record with the sizes and the type that follow from other arguments."""
        names = self._signature.constants[self.type_names]
        element_type = self.data.tensor_of(call).type
        if self.extents is None or element_type not in names:
            return None
        sizes = [*evaluate(self.extents)]
        return {self.sizes: sizes, self.element_type: names[element_type]}

    def _draw_sizes(
        self, windows: WindowsRole, context: BuildContext, sampler: Sampler
    ) -> Sequence[int]:
        choice = context.choice
        tested_axis, copies = choice[self.data.factor("axis")], choice[self.factor("copies")]
        is_reversed = choice[windows.parts[0].factor("others")] == "reversed"
        sizes = []
        for axis, (_, size, stride) in enumerate(windows.drawn(context)):
            most = reachable(size, abs(stride))
            if axis == tested_axis:
                fewer = sampler.between(2, most - 1) if copies == "fewer" else 1
                sizes.append(most if copies == "all" else fewer)
            else:
                sizes.append(
                    most if is_reversed else sampler.pick((most, most, sampler.between(1, most)))
                )
        return sizes

    def observe(self, call: Call, point: ObservationPoint) -> ObservedLevels:
        """Observe how many of the elements that a window reaches are copied."""
        if self._windows is None:
            return ObservedLevels()
        axis = point["axis"]
        _, size, stride = (part.values_in(call)[axis] for part in self._windows.parts)
        copied, most = call.attributes[self.name][self.sizes][axis], reachable(size, abs(stride))
        levels = {"all": copied == most, "fewer": 1 < copied < most, "one": copied == 1 < most}
        return ObservedLevels(levels={self.factor("copies"): levels_where(levels)})

    def requirements(self) -> Iterator[Requirement]:
        """Yield the rank, the type and the sizes of the record."""
        name, of, sizes = self.name, self.data.tensor_expr, f"{self.name}['{self.sizes}']"
        described = f"The tensor that {name} describes has"
        yield Requirement(
            f"{name}.rank",
            f"{described} as many dimensions as {of}.",
            f"len({sizes}) == {of}.rank",
        )
        yield Requirement(
            f"{name}.element-type",
            f"{described} the element type of {of}.",
            f"{name}['{self.element_type}'] == {self.type_names}[{of}.type]",
        )
        if self._windows is None:
            yield Requirement(
                f"{name}.extents",
                f"{described} the sizes that follow from the other arguments.",
                f"list({sizes}) == list({self.extents})",
                prerequisites=(f"{name}.rank",),
            )
            return
        lengths = tuple(f"{part.name}.length" for part in self._windows.parts)
        offset, size, stride = self._windows.parts
        yield Requirement(
            f"{name}.extents",
            f"On each axis, {name} has 1 to as many elements as the window reaches.",
            f"all(1 <= {sizes}[d] <= 1 + ({size.values_expr}[d] - 1) // "
            f"abs({stride.values_expr}[d]) for d in range({of}.rank))",
            prerequisites=(
                *(f"{name}.rank", *lengths),
                *(f"{size.name}.least", f"{offset.name}.within", f"{stride.name}.nonzero"),
            ),
        )
