"""The cases of one operator with their arrays: from its pack, made by a recipe, or proved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from math import prod
from pathlib import Path

from opcert.arrays import (
    ELEMENT_TYPES,
    Array,
    copy_in_layout,
    invert_bits,
    read_elements,
    seeded_array,
    stored_dtype,
)
from opcert.errors import OpcertError, SuiteError
from opcert.specification import Reference, RejectedError, golden_outputs, load_references
from opcert.suite.format import (
    DigestedArray,
    GeneratedArray,
    Index,
    IndexedCase,
    OperatorEntry,
    StoredArray,
)

# How many values of an input a message shows.
_BRIEF = 16


@dataclass(frozen=True)
class OperatorSuite:
    """The cases of one operator, and its pack's bytes."""

    entry: OperatorEntry
    index: Index
    pack: bytes
    folder: Path
    specs: Path | None = None

    @cached_property
    def cases(self) -> Mapping[str, IndexedCase]:
        """The cases by id, in the order in which they run."""
        return {case.id: case for case in self.index.cases}

    @cached_property
    def exclusions(self) -> frozenset[str]:
        """What a backend may name to leave cases out: rules, and levels as factor=level."""
        rules = {rule for case in self.index.cases for rule in case.rules}
        pairs = (pair for case in self.index.cases for pair in case.levels.items())
        return frozenset(rules.union(f"{factor}={level}" for factor, level in pairs))

    @cached_property
    def input_names(self) -> list[str]:
        """The inputs that any case gives."""
        return list(dict.fromkeys(name for case in self.index.cases for name in case.inputs))

    def inputs(self, case: IndexedCase) -> dict[str, Array]:
        """Return fresh, writeable arrays, laid out, by name in the spec's order."""
        return {
            name: copy_in_layout(self.read_array(given), given.layout)
            for name, given in case.inputs.items()
        }

    def call(self, case: IndexedCase) -> str:
        """Return the call in one line: types, shapes and short values of inputs, attributes."""
        parts = []
        for name, given in case.inputs.items():
            brief = name not in case.data_inputs and 0 < prod(given.shape) <= _BRIEF
            values = f" {self.read_array(given).tolist()}" if brief else ""
            layout = f" {given.layout}" if given.layout != "c" else ""
            parts.append(f"{name}={given.type}{list(given.shape)}{layout}{values}")
        return ", ".join([*parts, *(f"{name}={each!r}" for name, each in case.attributes.items())])

    def outputs(self, case: IndexedCase) -> list[Array]:
        """Return the golden outputs, read-only.

        Raises:
            SuiteError: one is too large to store, and the reference at hand does not give it.
        """
        if case.id not in self._last:
            self._last.clear()
            self._last[case.id] = self._goldens(case, case.outputs, self.inputs)
        return self._last[case.id]

    @cached_property
    def _last(self) -> dict[str, list[Array]]:
        """The golden outputs of the case that was asked for last: the large ones take time."""
        return {}

    def inverted_data_inputs(self, case: IndexedCase) -> dict[str, Array]:
        """Return inputs of the same types and shapes, the data in the free ones inverted."""
        inputs = {name: self.read_array(given) for name, given in case.inputs.items()}
        return {
            name: copy_in_layout(
                invert_bits(a) if name in case.data_inputs else a, case.inputs[name].layout
            )
            for name, a in inputs.items()
        }

    def inverted_data_outputs(self, case: IndexedCase) -> list[Array]:
        """Return the golden outputs for `other_inputs`, as `outputs` does."""
        if case.inverted_data_outputs or not case.data_inputs:
            return self._goldens(
                case, case.inverted_data_outputs or case.outputs, self.inverted_data_inputs
            )
        return [invert_bits(array) for array in self.outputs(case)]

    def _goldens(
        self,
        case: IndexedCase,
        stated: Sequence[StoredArray | DigestedArray],
        inputs: Callable[[IndexedCase], dict[str, Array]],
    ) -> list[Array]:
        if not any(isinstance(each, DigestedArray) for each in stated):
            return [self._array(each) for each in stated if isinstance(each, StoredArray)]
        try:
            made = golden_outputs(self._reference, inputs(case), case.attributes)
        except RejectedError as error:
            raise self._not_made(case, error.raised) from None
        except OpcertError as error:
            raise self._not_made(case, str(error)) from None
        forms = [(ELEMENT_TYPES[each.type], each.shape) for each in stated]
        if forms != [_form(each) for each in made]:
            raise self._not_made(case, "it gives outputs of other types or shapes")
        return [
            self._array(each) if isinstance(each, StoredArray) else self._proved(case, each, array)
            for each, array in zip(stated, made, strict=True)
        ]

    def _proved(self, case: IndexedCase, golden_outputs: DigestedArray, array: Array) -> Array:
        if sha256(array.tobytes()).hexdigest() != golden_outputs.sha256:
            raise self._not_made(case, "it gives others than the suite has the digests of")
        return array

    @cached_property
    def _reference(self) -> Reference:
        try:
            return load_references(self.specs)[self.index.operator]
        except KeyError:
            text = f"no spec of {self.index.operator}, whose reference gives the large outputs"
            raise SuiteError(f"{text}; name the folder of its spec by --specs") from None

    def _not_made(self, case: IndexedCase, why: str) -> SuiteError:
        text = f"the reference does not give the outputs of {case.id}, too large to store: {why}"
        return SuiteError(f"{text}; use the specs and the opcert that generated the suite")

    def prove(self) -> None:
        """Prove that each baseline stands before its case, and each array within the pack.

        Raises:
            SuiteError: one does not.
        """
        before: set[str] = set()
        for case in self.index.cases:
            if case.baseline is not None and case.baseline not in before:
                text = f"{case.id} has no baseline {case.baseline} before it"
                raise contradiction(self.folder / self.entry.index, text)
            before.add(case.id)
            credited = case.baseline is not None and case.violated_rule in self.index.rules
            if case.expects == "rejection" and not credited:
                text = f"{case.id} must be rejected, and has no baseline or no rule of the index"
                raise contradiction(self.folder / self.entry.index, text)
            if case.ambiguity is not None and self.ambiguity_of(case) not in self.index.ambiguities:
                text = f"{case.id} is of an ambiguity that the index does not have"
                raise contradiction(self.folder / self.entry.index, text)
            unknown = {*case.rules, *filter(None, [case.violated_rule])} - self.index.rules.keys()
            if unknown:
                text = f"{case.id} is of rules that the index does not have: {', '.join(unknown)}"
                raise contradiction(self.folder / self.entry.index, text)
            if not set(case.data_inputs) <= case.inputs.keys():
                text = f"{case.id} has free inputs {list(case.data_inputs)} that it does not have"
                raise contradiction(self.folder / self.entry.index, text)
            for each in (*case.inputs.values(), *case.outputs, *case.inverted_data_outputs):
                if isinstance(each, StoredArray):
                    self._array(each)

    def ambiguity_of(self, case: IndexedCase) -> str | None:
        """Return the full id of the ambiguity that a case touches."""
        slug = case.id.partition("/")[0]
        return f"{slug}/{case.ambiguity}" if case.ambiguity is not None else None

    def errata_of(self, case: IndexedCase) -> list[str]:
        """Return the full ids of the errata that affect what a case expects."""
        names = {case.id, case.violated_rule, self.ambiguity_of(case), *case.rules}
        return [erratum for erratum, text in self.index.errata.items() if names & set(text.affects)]

    def read_array(self, given: StoredArray | GeneratedArray) -> Array:
        """Return the elements of an array in C order, read-only.

        Raises:
            SuiteError: the pack or the recipe does not have them.
        """
        if isinstance(given, StoredArray):
            return self._array(given)
        array = _made(given)
        if array is None:
            text = f"the recipe of seed {given.seed} does not make what the suite has"
            raise contradiction(self.folder / self.entry.index, text)
        return array

    def _array(self, stored: StoredArray) -> Array:
        try:
            bits = read_elements(self.pack, stored.offset, stored.shape, stored_dtype(stored.type))
        except ValueError:
            text = f"{stored.array} is not within the pack's {len(self.pack)} bytes"
            raise contradiction(self.folder / self.entry.pack, text) from None
        return bits.view(ELEMENT_TYPES[stored.type])


@lru_cache(maxsize=4)
def _made(given: GeneratedArray) -> Array | None:
    """Return what a recipe makes, read-only, unless it is something else than the suite has."""
    array = seeded_array(given.type, given.shape, given.seed)
    array.flags.writeable = False
    return array if sha256(array.tobytes()).hexdigest() == given.sha256 else None


def _form(array: object) -> tuple[object, object]:
    return getattr(array, "dtype", None), getattr(array, "shape", None)


def contradiction(path: Path, text: str) -> SuiteError:
    """Return the error of a file that contradicts the suite that it is part of."""
    return SuiteError(f"{path}: {text}; generate the suite again")
