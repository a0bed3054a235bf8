"""The base class of described tensors, and the role `descriptors` for the parts of an axis."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from opcert.arrays.calls import Call
from opcert.arrays.element_types import highest
from opcert.arrays.indexing import replace
from opcert.errors import did_you_mean
from opcert.roles.axis import AxisRole
from opcert.roles.count import CountRole
from opcert.roles.data import DataRole
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    Factor,
    ObservationPoint,
    ObservedLevels,
    Requirement,
    forbid,
)
from opcert.roles.partition import (
    COUNTS,
    LENGTHS,
    MANY_COUNTS,
    draw_lengths,
    is_possible,
    observed_lengths,
)
from opcert.roles.role import Role

# Sizes have no element type of their own; C structures have them as unsigned 32 bits.
_MAX_SIZE = highest("u32")


class RecordRole(Role):
    """Tensors that are described by records with their sizes and element type, as in C structures.

    `sizes` and `element_type` name the fields of a record, `type_names` names the table of
    constants with the name of each element type, which is that of data.
    """

    relations: ClassVar[Mapping[str, tuple[str, ...]]] = {"of": ("data",)}

    of: str
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

    @property
    def data(self) -> DataRole:
        """The data whose element type the described tensors have."""
        return self.related(self.of, DataRole)

    def record(self, context: BuildContext, sizes: Sequence[int]) -> dict[str, Any]:
        """Return the description of a tensor."""
        name = self._signature.constants[self.type_names][context.choice[self.data.type_factor]]
        return {self.sizes: [*sizes], self.element_type: name}


class DescriptorsRole(RecordRole):
    """Records with the sizes and the element type of each output: a list attribute.

    The outputs divide an axis of data, none of them is empty, and their other sizes are those of
    data.
    """

    relations: ClassVar = {"of": ("data",), "along": ("axis",)}

    role: Literal["descriptors"]
    type: Literal["list"]
    along: str

    @property
    def axis(self) -> AxisRole:
        """The axis that is divided."""
        return self.related(self.along, AxisRole)

    @property
    def counter(self) -> CountRole | None:
        """The argument with the number of records that are read, if there is one."""
        return next((role for role in self.referrers("of") if isinstance(role, CountRole)), None)

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield the number of outputs and the kind of their sizes on the axis."""
        counts = MANY_COUNTS if profile == "stress" else COUNTS
        words = {level: f"{n} part{'s' * (n > 1)}" for level, n in counts.items()}
        yield Factor(self.factor("count"), counts, words=words)
        kinds = [kind for kind in LENGTHS if kind != "high_bit"]
        yield Factor.of_names(self.factor("lengths"), kinds, "{} sizes")

    def constraints(self) -> Iterator[Constraint]:
        """Forbid sizes that cannot sum to the length of the axis."""
        n, count, lengths = self.data.factor("length"), self.factor("count"), self.factor("lengths")
        yield forbid(lambda count, n: count > n, count, n)
        yield forbid(lambda lengths, count: lengths != "varied" and count < 2, lengths, count)
        yield forbid(
            lambda lengths, n, count: not is_possible(lengths, n, count, _MAX_SIZE),
            *(lengths, n, count),
        )

    def build(self, context: BuildContext) -> list[dict[str, Any]]:
        """Return a record for each output."""
        choice, data = context.choice, self.data
        axis, n = choice[data.factor("axis")], choice[data.factor("length")]
        count, kind = choice[self.factor("count")], choice[self.factor("lengths")]
        lengths = context.draw(
            self.name, lambda sampler: draw_lengths(kind, n, count, _MAX_SIZE, sampler)
        )
        shape = data.shape(context)
        return [self.record(context, replace(shape, axis, length)) for length in lengths]

    def observe(self, call: Call, point: ObservationPoint) -> ObservedLevels:
        """Observe the number of outputs and the kinds of their sizes on the axis."""
        counter = self.counter
        records: Sequence[Mapping[str, Any]] = call.attributes[self.name]
        if counter is not None:
            records = records[: call.attributes[counter.name]]
        axis = point["axis"]
        lengths = [record[self.sizes][axis] for record in records]
        kinds = observed_lengths(lengths, call.inputs[self.of].shape[axis], _MAX_SIZE)
        return ObservedLevels({self.factor("count"): len(records)}, {self.factor("lengths"): kinds})

    def requirements(self) -> Iterator[Requirement]:
        """Yield the rank, the type and the sizes of the records."""
        name, of, axis, counter = self.name, self.of, self.axis.wrapped_expr, self.counter
        records = name if counter is None else f"{name}[:{counter.name}]"
        described = () if counter is None else (f"{counter.name}.described",)
        sizes = f"record['{self.sizes}']"
        yield Requirement(
            f"{name}.rank",
            f"Every tensor that {name} describes has as many dimensions as {of}.",
            f"all(len({sizes}) == {of}.rank for record in {records})",
            prerequisites=described,
        )
        yield Requirement(
            f"{name}.element-type",
            f"Every tensor that {name} describes has the element type of {of}.",
            f"all(record['{self.element_type}'] == {self.type_names}[{of}.type] "
            f"for record in {records})",
            prerequisites=described,
        )
        # A record of another rank has no size on some axis.
        fitting = (f"{self.along}.range", f"{name}.rank")
        yield Requirement(
            f"{name}.off-axis",
            f"Off the axis, every tensor that {name} describes has the sizes of {of}.",
            f"all({sizes}[d] == {of}.shape[d] "
            f"for record in {records} for d in range({of}.rank) if d != {axis})",
            prerequisites=fitting,
        )
        yield Requirement(
            f"{name}.sum",
            f"On the axis, the sizes that {name} describes sum to exactly that of {of}.",
            f"sum({sizes}[{axis}] for record in {records}) == {of}.shape[{axis}]",
            prerequisites=fitting,
        )
