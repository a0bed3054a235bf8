"""The cases of one operator with their arrays: stored in the pack, generated, or recomputed."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from math import prod
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from opcert.accuracy.arithmetics import STANDARD
from opcert.arrays.element_types import (
    ELEMENT_TYPES,
    Array,
    bit_width,
    bits_dtype,
    digest_of,
    invert_bits,
    same_bytes,
    stored_dtype,
)
from opcert.arrays.golden import Allowance, inverted_output, with_allowance, with_alternatives
from opcert.arrays.layouts import copy_in_layout
from opcert.arrays.patterns import Recipe, read_elements
from opcert.errors import OpcertError, SuiteError
from opcert.specification.files import (
    Reference,
    RejectedError,
    find_spec_files,
    golden_outputs,
    load_references,
    own_reference,
)
from opcert.suite.format import (
    DigestedArray,
    GeneratedArray,
    Index,
    IndexedCase,
    InputArray,
    ListedArray,
    OperatorEntry,
    StoredArray,
    inconsistent_suite,
)
from opcert.yaml_files import describe_first_error

Value = TypeVar("Value")

# A message that describes a call has the elements of inputs up to this size.
_DESCRIBED_ELEMENTS = 16
# The cases of an operator of the core suite, and more; each takes about 2 KiB.
_KEPT_CASES = 1 << 13
_CASE = TypeAdapter(IndexedCase)


class ReadOnUse(Mapping[str, Value]):
    """A mapping whose values are read when they are first used.

    So a run begins before its suite is read, and a process reads only what it runs.
    """

    def __init__(
        self,
        names: Collection[str],
        read: Callable[[str], Value],
        has_room: Callable[[Collection[str]], bool] = lambda _: True,
        values: dict[str, Value] | None = None,
    ) -> None:
        """`read` returns the value of one of the names.

        Values are kept, in `values` if given. `has_room` says whether memory has room for another
        one besides those of some names; if not, the value that was read first is released.
        """
        self._names, self._read, self._has_room = names, read, has_room
        self._values = {} if values is None else values

    def __getitem__(self, name: str) -> Value:
        if name in self._values:
            return self._values[name]
        while not self._has_room(self._values):
            del self._values[next(iter(self._values))]
        self._values[name] = value = self._read(name)
        return value

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True)
class OperatorSuite:
    """The index and the pack of one operator.

    `index` is the first line of the index, `lines` are the others by the ids of their cases.
    `read_pack` reads and checks the pack. `folder` is the suite's folder. `specs` is the folder of
    specs whose reference recomputes the outputs that are not stored, by default opcert's own.
    `claimed` are the arithmetics that verdicts ask for, by element type, if not the standard one.
    """

    entry: OperatorEntry
    index: Index
    lines: Mapping[str, memoryview]
    read_pack: Callable[[], bytes]
    folder: Path
    specs: Path | None = None
    claimed: Mapping[str, str] = field(default_factory=dict)
    _cases: dict[str, IndexedCase] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    # Of the last case only: a certification reads them several times in a row. Large outputs are
    # slow to recompute, and too large to keep for more cases.
    _last_outputs: dict[str, list[Array]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def pack(self) -> bytes:
        """The bytes of the pack, read on first use: a run whose calls are elsewhere needs none."""
        return self.read_pack()

    @property
    def cases(self) -> Mapping[str, IndexedCase]:
        """The cases by id, in the order in which they run."""
        # The mapping is not kept: it refers to this object, and only the garbage collector, which
        # comes late, would free both.
        return ReadOnUse(
            self.lines, self._read_case, lambda read: len(read) < _KEPT_CASES, self._cases
        )

    def outline(self, id_: str) -> tuple[str | None, object]:
        """Return the baseline of a case, and the types and ranks of its inputs.

        A mistake in the case is reported when it is run.
        """
        try:
            case = _CASE.validate_json(bytes(self.lines.get(id_, b"")))
        except ValidationError:
            return None, None
        inputs = case.inputs.items()
        return case.baseline, tuple((name, one.type, len(one.shape)) for name, one in inputs)

    @cached_property
    def input_names(self) -> list[str]:
        """The names of the inputs, and of attributes that name a type, that occur in any case."""
        return list(dict.fromkeys(chain(*(case.input_types for case in self.cases.values()))))

    def elements(self, case: IndexedCase, inverted_data: bool = False) -> dict[str, Array]:
        """Return the inputs in C order, read-only, perhaps with every bit of the data inverted."""
        return {
            name: invert_bits(array) if inverted_data and name in case.data_inputs else array
            for name, record in case.inputs.items()
            for array in [self.read_array(record)]
        }

    def inputs(self, case: IndexedCase, inverted_data: bool = False) -> dict[str, Array]:
        """Return fresh, writeable inputs in their memory layouts, by name in the spec's order."""
        return {
            name: copy_in_layout(array, case.inputs[name].layout)
            for name, array in self.elements(case, inverted_data).items()
        }

    def changed_inputs(self, case: IndexedCase) -> list[str]:
        """Return the names of the inputs in which a case differs from its baseline, if any."""
        former = self.cases[case.baseline or case.id].inputs
        names = dict.fromkeys([*former, *case.inputs])
        return [n for n in names if not self._are_equal(former.get(n), case.inputs.get(n))]

    def _are_equal(self, one: InputArray | None, other: InputArray | None) -> bool:
        """Whether two inputs are equal; of equal ones, one may be stored and the other not."""
        if one is None or other is None or one == other:
            return one == other
        described, other_described = ((r.type, r.shape, r.layout) for r in (one, other))
        return described == other_described and same_bytes(*map(self.read_array, (one, other)))

    def describe_call(self, case: IndexedCase) -> str:
        """Return one line with types, shapes and short values of inputs, and with attributes."""
        arguments = []
        for name, array in case.inputs.items():
            is_short = 0 < prod(array.shape) <= _DESCRIBED_ELEMENTS
            has_meaning = name not in case.data_inputs
            values = str(self.read_array(array).tolist()) if is_short and has_meaning else ""
            texts = f"{name}={array.type}{list(array.shape)}", str(array.layout), values
            arguments.append(" ".join(filter(None, texts)))
        arguments += [f"{name}={value!r}" for name, value in case.attributes.items()]
        return ", ".join(arguments)

    def outputs(self, case: IndexedCase) -> list[Array]:
        """Return the golden outputs, read-only.

        Raises:
            SuiteError: an output is not stored, and the reference does not reproduce it.
        """
        if case.id not in self._last_outputs:
            self._last_outputs.clear()
            self._last_outputs[case.id] = self._golden_outputs(case, case.outputs)
        return self._last_outputs[case.id]

    def inverted_data_outputs(self, case: IndexedCase) -> list[Array]:
        """Return the golden outputs for the inputs with inverted data, read-only.

        Raises:
            SuiteError: an output is not stored, and the reference does not reproduce it.
        """
        if case.inverted_data_outputs or not case.data_inputs:
            records = case.inverted_data_outputs or case.outputs
            return self._golden_outputs(case, records, inverted_data=True)
        return [*map(inverted_output, self.outputs(case))]

    def _golden_outputs(
        self,
        case: IndexedCase,
        records: Sequence[StoredArray | DigestedArray],
        inverted_data: bool = False,
    ) -> list[Array]:
        """Read stored outputs from the pack, and recompute outputs that only have a digest."""
        if not any(isinstance(record, DigestedArray) for record in records):
            return [self._read_stored(r) for r in records if isinstance(r, StoredArray)]
        try:
            elements = self.elements(case, inverted_data)
            computed = golden_outputs(self._reference, elements, case.attributes)
        except OpcertError as error:
            reason = error.raised if isinstance(error, RejectedError) else str(error)
            raise self._irreproducible(case, reason) from None
        expected = [(ELEMENT_TYPES[record.type], record.shape) for record in records]
        if expected != [(output.dtype, output.shape) for output in computed]:
            raise self._irreproducible(case, "it returns other types or shapes")
        outputs = []
        for record, output in zip(records, computed, strict=True):
            if isinstance(record, StoredArray):
                outputs.append(self._read_stored(record))
            elif digest_of(output) == record.sha256:
                outputs.append(output)
            else:
                raise self._irreproducible(case, "it returns values with other digests")
        return outputs

    @cached_property
    def _reference(self) -> Reference:
        try:
            if self.specs is None:
                return own_reference(self.index.operator)
            return load_references(find_spec_files(self.specs))[self.index.operator]
        except KeyError:
            raise SuiteError(
                f"no spec of {self.index.operator}, whose reference recomputes outputs that are "
                "not stored; name the folder of its spec by --specs"
            ) from None

    def _irreproducible(self, case: IndexedCase, reason: str) -> SuiteError:
        return SuiteError(
            f"the reference does not reproduce the outputs of {case.id}, which are not stored: "
            f"{reason}; use the specs and the version of opcert that generated the suite"
        )

    def validate(self) -> None:
        """Read all cases, and check that they and their arrays are as the manifest states.

        Raises:
            SuiteError: they are not, or the pack is missing or damaged.
        """
        cases = self.cases.values()
        rejections = sum(case.expects == "rejection" for case in cases)
        ambiguous = sum(case.ambiguity is not None for case in cases)
        for count, stated, kind in (
            (rejections, self.entry.rejections, "rejections"),
            (ambiguous, self.entry.implementation_defined, "implementation-defined"),
        ):
            if count != stated:
                raise self._inconsistent(f"{count} {kind}, but the manifest states {stated}")
        for case in cases:
            for record in (*case.inputs.values(), *case.outputs, *case.inverted_data_outputs):
                if isinstance(record, StoredArray):
                    self._read_stored(record)

    def _inconsistent(self, text: str) -> SuiteError:
        return inconsistent_suite(self.folder / self.entry.index, text)

    def _read_case(self, id_: str) -> IndexedCase:
        try:
            case = _CASE.validate_json(bytes(self.lines[id_]))
        except ValidationError as error:
            raise self._inconsistent(f"{id_}, {describe_first_error(error)}") from None
        if case.id != id_:
            raise self._inconsistent(f"{id_} has the ids {id_} and {case.id}")
        for problem in self._inconsistencies(case):
            raise self._inconsistent(f"{id_} {problem}")
        return case

    def _inconsistencies(self, case: IndexedCase) -> Iterator[str]:
        if (baseline := case.baseline) is not None:
            if baseline not in self.lines:
                yield f"has the baseline {baseline}, which is not in the index"
            elif self.outline(baseline)[0] is not None:
                yield f"has the baseline {baseline}, which has a baseline itself"
        # The baseline decides whether a rejection counts.
        if case.expects == "rejection" and (case.baseline is None or case.violated_rule is None):
            yield "must be rejected, but has no baseline or no violated rule"
        named = {*filter(None, [case.ambiguity, case.open_elements])}
        if unknown := named - self.index.ambiguities.keys():
            yield f"touches an unknown ambiguity: {', '.join(sorted(unknown))}"
        rules = {*case.rules, *filter(None, [case.violated_rule])}
        if unknown := rules - self.index.rules.keys():
            yield f"has unknown rules: {', '.join(sorted(unknown))}"
        if unknown := set(case.data_inputs) - case.inputs.keys():
            yield f"has unknown data inputs: {', '.join(sorted(unknown))}"

    def errata_of(self, case: IndexedCase) -> list[str]:
        """Return the ids of the errata that affect what a case expects."""
        names = {case.id, case.violated_rule, case.ambiguity, case.open_elements, *case.rules}
        return [id_ for id_, erratum in self.index.errata.items() if names & set(erratum.affects)]

    def read_array(self, record: InputArray) -> Array:
        """Return the elements of an input in C order, read-only.

        Raises:
            SuiteError: the pack lacks the elements, or those that the index describes are others.
        """
        if isinstance(record, StoredArray):
            return self._read_stored(record)
        try:
            return _listed(record) if isinstance(record, ListedArray) else _generated(record)
        except ValueError as error:
            raise self._inconsistent(str(error)) from None

    def _read_stored(self, record: StoredArray) -> Array:
        dtype = stored_dtype(record.type)
        try:
            stored = read_elements(self.pack, record.offset, record.shape, dtype)
        except ValueError:
            text = f"array {record.array} exceeds the {len(self.pack)} bytes of the pack"
            raise inconsistent_suite(self.folder / self.entry.pack, text) from None
        array: Array = stored.view(ELEMENT_TYPES[record.type])
        if record.allowance is None:
            return with_alternatives(array, [*map(self._read_stored, record.alternatives)])
        kept = record.allowance
        low, high, flags = map(self._read_stored, (kept.low, kept.high, kept.flags))
        claimed = self.claimed.get(record.type, STANDARD)
        return with_allowance(array, Allowance(kept.arithmetics, low, high, flags, claimed))


def _listed(record: ListedArray) -> Array:
    """Return the elements that an index lists."""
    elements, dtype = bytes.fromhex(record.bytes), stored_dtype(record.type)
    if len(elements) != prod(record.shape) * dtype.itemsize:
        raise ValueError(f"{len(elements)} bytes of {record.type}{list(record.shape)}")
    return read_elements(elements, 0, record.shape, dtype).view(ELEMENT_TYPES[record.type])


@lru_cache(maxsize=4)
def _generated(record: GeneratedArray) -> Array:
    """Return the elements that a recipe generates, read-only."""
    recipe = Recipe(record.seed, record.stride)
    array = recipe.array(record.type, record.shape, record.layout.repeated)
    bits = array.reshape(-1).view(bits_dtype(array.dtype))
    for position, digits in record.special:
        if position >= array.size or int(digits, 16) >> bit_width(record.type):
            raise ValueError(f"no element {position} with the bits {digits}")
        bits[position] = int(digits, 16)
    array.flags.writeable = False
    if record.sha256 is not None and digest_of(array) != record.sha256:
        raise ValueError(f"seed {record.seed} generates an array with another digest")
    return array
