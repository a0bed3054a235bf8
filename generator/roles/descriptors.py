"""Described tensors: the roles `descriptor`, `descriptors`, and `count`, a number of tensors."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call, replace
from opcert.errors import did_you_mean
from opcert.roles.argument import ExpressionText
from opcert.roles.axes import DividingRole
from opcert.roles.data import OfDataRole
from opcert.roles.drawing import Drawing, distinct, draw_parts
from opcert.roles.role import Requirement, Role
from opcert.roles.sliding import WindowsRole


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
        return len(call.fact(self.related(self.of, Role).draw))

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


class RecordRole(OfDataRole):
    """Tensors that are described by records with their sizes and element type, as in C structures.

    `sizes` and `element_type` name the fields of a record, `type_names` names the table of
    constants with the name of each element type, which is that of data.
    """

    sizes: str
    element_type: str
    type_names: str

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an unknown or incomplete table of names."""
        constants = self._signature.constants
        table = constants.get(self.type_names)
        if table is None:
            near = did_you_mean(self.type_names, [*constants])
            yield "type_names", f"unknown table of constants '{self.type_names}'{near}"
            return
        # An unknown symbol is a mistake of its own.
        types = self._signature.types.get(self.data.type, ())
        unnamed = [element_type for element_type in types if element_type not in table]
        if unnamed:
            text = f"'{self.type_names}' has no name for {', '.join(unnamed)}"
            yield "type_names", f"{text}; expected one for each type of '{self.of}'"

    def drawn_record(self, call: Drawing, sizes: Sequence[int]) -> dict[str, Any]:
        """Return the description of a tensor."""
        names = self._signature.constants[self.type_names]
        return {self.sizes: [*sizes], self.element_type: names[call.fact(self.data.draw_type)]}

    def described(
        self, words: str, record: str, every: str = "{}", *keys: str
    ) -> Iterator[Requirement]:
        """Yield the rank and the element type of tensors, which `words` name.

        `every` is the condition on all of them, with a place for that on one `record`.
        """
        of = self.data.tensor_expr
        holds = every.format(f"len({record}['{self.sizes}']) == {of}.rank")
        yield self.requirement("rank", f"{words} has as many dimensions as {of}.", holds, *keys)
        names, text = f"{self.type_names}[{of}.type]", f"{words} has the element type of {of}."
        holds = every.format(f"{record}['{self.element_type}'] == {names}")
        yield self.requirement("element-type", text, holds, *keys)


class DescriptorsRole(DividingRole, RecordRole):
    """Records with the sizes and the element type of each output: a list attribute.

    The outputs divide an axis of data, none of them is empty, and their other sizes are those of
    data.
    """

    role: Literal["descriptors"]
    type: Literal["list"]

    @cached_property
    def counter(self) -> CountRole | None:
        """The argument with the number of records that are read, if there is one."""
        return next(iter(self.referrers("of", CountRole)), None)

    def values_in(self, call: Call) -> Sequence[int]:
        """Return the sizes of the described tensors on the axis."""
        axis, records = self.axis.axis_in(call), call.attributes[self.name]
        count = len(records) if self.counter is None else call.attributes[self.counter.name]
        return [record[self.sizes][axis] for record in records[:count]]

    def draw(self, call: Drawing) -> list[dict[str, Any]]:
        """Return a record for each output."""
        shape, axis = call.fact(self.data.draw_shape), call.fact(self.axis.draw_axis)
        lengths = draw_parts(self, call, self.axis.draw_size(call), empty=False)
        return [self.drawn_record(call, replace(shape, axis, length)) for length in lengths]

    def requirements(self) -> Iterator[Requirement]:
        """Yield the rank, the type and the sizes of the records."""
        name, of, axis, counter = self.name, self.of, self.axis.wrapped_expr, self.counter
        records = name if counter is None else f"{name}[:{counter.name}]"
        described = () if counter is None else (f"{counter.name}.described",)
        sizes = f"record['{self.sizes}']"
        every = f"all({{}} for record in {records})"
        words = f"Every tensor that {name} describes"
        yield from self.described(words, "record", every, *described)
        # A record of another rank has no size on some axis.
        fitting = (f"{self.along}.range", "rank")
        text = f"Off the axis, every tensor that {name} describes has the sizes of {of}."
        others = f"for record in {records} for d in range({of}.rank) if d != {axis}"
        holds = f"all({sizes}[d] == {of}.shape[d] {others})"
        yield self.requirement("off-axis", text, holds, *fitting)
        text = f"On the axis, the sizes that {name} describes sum to exactly that of {of}."
        holds = f"sum({sizes}[{axis}] for record in {records}) == {of}.shape[{axis}]"
        yield self.requirement("sum", text, holds, *fitting)


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

    def values_in(self, call: Call) -> Sequence[int]:
        """Return the sizes of the described tensor."""
        return [*call.attributes[self.name][self.sizes]]

    def draw(self, call: Drawing) -> dict[str, Any]:
        """Return the record of the output: what windows reach, or less of it."""
        if self._windows is None:
            return self.drawn_record(call, call.evaluate(str(self.extents)))
        windows = call.fact(self._windows.parts[0].draw_together)
        sizes = [1 + (size - 1) // abs(stride) for _, size, stride in windows]
        # Of two elements, less is a single one.
        long_axes = [axis for axis, most in enumerate(sizes) if most > 2]
        copies = ["fewer on one axis", "fewer on some axes"] if long_axes else []
        rare = ["one element"] if max(sizes, default=1) > 1 else []
        kind = call.one(self, "copies", ["all", *copies], rare)
        if kind == "fewer on one axis":
            axis = call.pick(self, "axis", long_axes)
            fewer = {"all but one": sizes[axis] - 1, "half": sizes[axis] // 2}
            fewer["any"] = call.integer(self, "any", 1, sizes[axis] - 1)
            several = distinct({name: size for name, size in fewer.items() if size > 1})
            sizes[axis] = call.one(self, "size", several, {"1": 1})
        elif kind == "fewer on some axes":
            sizes = [
                call.integer(self, f"size {axis}", (most + 1) // 2, most)
                for axis, most in enumerate(sizes)
            ]
        elif kind == "one element":
            sizes = [1] * len(sizes)
        return self.drawn_record(call, sizes)

    def requirements(self) -> Iterator[Requirement]:
        """Yield the rank, the type and the sizes of the record."""
        name, of, sizes = self.name, self.data.tensor_expr, f"{self.name}['{self.sizes}']"
        tensor = f"The tensor that {name} describes"
        yield from self.described(tensor, name)
        if self._windows is None:
            text = f"{tensor} has the sizes that follow from the other arguments."
            holds = f"list({sizes}) == list({self.extents})"
            yield self.requirement("extents", text, holds, "rank")
            return
        offset, size, stride = parts = self._windows.parts
        text = f"On each axis, {name} has 1 to as many elements as the window reaches."
        most = f"1 + ({size.values_expr}[d] - 1) // abs({stride.values_expr}[d])"
        holds = f"all(1 <= {sizes}[d] <= {most} for d in range({of}.rank))"
        lengths = (f"{part.name}.length" for part in parts)
        keys = *lengths, f"{size.name}.least", f"{offset.name}.within", f"{stride.name}.nonzero"
        yield self.requirement("extents", text, holds, "rank", *keys)
