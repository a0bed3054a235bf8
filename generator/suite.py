"""A suite on disk, read and proved whole before anything is run from it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from importlib.resources import files
from math import prod
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from opcert.generator.element_types import ELEMENT_TYPES, Array, inverted, stored_dtype
from opcert.generator.errors import SuiteError, said
from opcert.generator.layouts import laid_out
from opcert.generator.packs import elements
from opcert.generator.patterns import made_array
from opcert.generator.spec_files import Reference, references_in
from opcert.generator.suite_format import (
    FORMAT,
    MANIFEST,
    DigestedArray,
    Index,
    IndexedCase,
    MadeArray,
    Manifest,
    OperatorEntry,
    Record,
    StoredArray,
)

# How many values of an input a message shows.
_BRIEF = 16

Model = TypeVar("Model", bound=Record)


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

    def inputs(self, case: IndexedCase) -> dict[str, Array]:
        """Return fresh, writeable arrays, laid out, by name in the spec's order."""
        return {
            name: laid_out(self._input(given), given.layout) for name, given in case.inputs.items()
        }

    def call(self, case: IndexedCase) -> str:
        """Return the call in one line: types, shapes and short values of inputs, attributes."""
        parts = []
        for name, given in case.inputs.items():
            brief = name not in case.free and prod(given.shape) <= _BRIEF
            values = f" {self._input(given).tolist()}" if brief else ""
            layout = f" {given.layout}" if given.layout != "c" else ""
            parts.append(f"{name}={given.type}{list(given.shape)}{layout}{values}")
        return ", ".join([*parts, *(f"{name}={each}" for name, each in case.attributes.items())])

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

    def other_inputs(self, case: IndexedCase) -> dict[str, Array]:
        """Return inputs of the same types and shapes, the data in the free ones inverted."""
        inputs = {name: self._input(given) for name, given in case.inputs.items()}
        return {
            name: laid_out(inverted(a) if name in case.free else a, case.inputs[name].layout)
            for name, a in inputs.items()
        }

    def other_outputs(self, case: IndexedCase) -> list[Array]:
        """Return the golden outputs for `other_inputs`, as `outputs` does."""
        if case.other or not case.free:
            return self._goldens(case, case.other or case.outputs, self.other_inputs)
        return [inverted(array) for array in self.outputs(case)]

    def _goldens(
        self,
        case: IndexedCase,
        golden: Sequence[StoredArray | DigestedArray],
        inputs: Callable[[IndexedCase], dict[str, Array]],
    ) -> list[Array]:
        if not any(isinstance(each, DigestedArray) for each in golden):
            return [self._array(each) for each in golden if isinstance(each, StoredArray)]
        try:
            made = self._reference(**inputs(case), **deepcopy(dict(case.attributes)))
        except Exception as error:
            raise self._not_made(case, said(error)) from None
        forms = [(ELEMENT_TYPES[each.type], each.shape) for each in golden]
        if not isinstance(made, list) or forms != [_form(each) for each in made]:
            raise self._not_made(case, "it gives outputs of other types or shapes")
        return [
            self._array(each) if isinstance(each, StoredArray) else self._proved(case, each, array)
            for each, array in zip(golden, made, strict=True)
        ]

    def _proved(self, case: IndexedCase, golden: DigestedArray, array: Array) -> Array:
        if sha256(array.tobytes()).hexdigest() != golden.sha256:
            raise self._not_made(case, "it gives others than the suite has the digests of")
        return array

    @cached_property
    def _reference(self) -> Reference:
        try:
            return references_in(self.specs)[self.index.operator]
        except KeyError:
            text = f"no spec of {self.index.operator}, whose reference gives the large outputs"
            raise SuiteError(f"{text}; name the folder of its spec by --specs") from None

    def _not_made(self, case: IndexedCase, why: str) -> SuiteError:
        text = f"the reference does not give the outputs of {case.id}, too large to store: {why}"
        return SuiteError(f"{text}; use the specs and the opcert that generated the suite")

    def prove(self) -> None:
        """Prove that each twin stands before its case, and each array within the pack.

        Raises:
            SuiteError: one does not.
        """
        before: set[str] = set()
        for case in self.index.cases:
            if case.twin is not None and case.twin not in before:
                text = f"{case.id} has no twin {case.twin} before it"
                raise _contradiction(self.folder / self.entry.index, text)
            before.add(case.id)
            credited = case.twin is not None and case.rule in self.index.rules
            if case.expects == "rejection" and not credited:
                text = f"{case.id} must be rejected, and has no twin or no rule of the index"
                raise _contradiction(self.folder / self.entry.index, text)
            if not set(case.free) <= case.inputs.keys():
                text = f"{case.id} has free inputs {list(case.free)} that it does not have"
                raise _contradiction(self.folder / self.entry.index, text)
            for each in (*case.inputs.values(), *case.outputs, *case.other):
                if isinstance(each, StoredArray):
                    self._array(each)

    def _input(self, given: StoredArray | MadeArray) -> Array:
        if isinstance(given, StoredArray):
            return self._array(given)
        array = _made(given)
        if array is None:
            text = f"the recipe of seed {given.seed} does not make what the suite has"
            raise _contradiction(self.folder / self.entry.index, text)
        return array

    def _array(self, stored: StoredArray) -> Array:
        try:
            bits = elements(self.pack, stored.offset, stored.shape, stored_dtype(stored.type))
        except ValueError:
            text = f"{stored.array} is not within the pack's {len(self.pack)} bytes"
            raise _contradiction(self.folder / self.entry.pack, text) from None
        return bits.view(ELEMENT_TYPES[stored.type])


@lru_cache(maxsize=4)
def _made(given: MadeArray) -> Array | None:
    """Return what a recipe makes, read-only, unless it is something else than the suite has."""
    array = made_array(given.type, given.shape, given.seed)
    array.flags.writeable = False
    return array if sha256(array.tobytes()).hexdigest() == given.sha256 else None


def _form(array: object) -> tuple[object, object]:
    return getattr(array, "dtype", None), getattr(array, "shape", None)


def default_folder() -> Path:
    """Return the folder of the core suite that comes with opcert."""
    return Path(str(files("opcert.generated")))


class Suite:
    """A suite whose every file is as its manifest says."""

    def __init__(self, folder: Path | None = None, specs: Path | None = None) -> None:
        """Open the suite in `folder`, by default the core suite that comes with opcert.

        The references that give outputs too large to store are those of `specs`, by default those
        of opcert.

        Raises:
            SuiteError: it is not there, of another version, damaged or incomplete.
        """
        self.folder = folder if folder is not None else default_folder()
        self._specs = specs
        text = _bytes(self.folder / MANIFEST)
        self.digest = sha256(text).hexdigest()
        self.manifest = _model(self.folder / MANIFEST, text, Manifest)
        self._files = {name: self._proved(name) for name in self.manifest.files}

    @cached_property
    def operators(self) -> Mapping[str, OperatorSuite]:
        """The operators by id.

        Raises:
            SuiteError: an index contradicts the manifest or itself.
        """
        return {
            name: self._operator(name, entry) for name, entry in self.manifest.operators.items()
        }

    @property
    def identity(self) -> dict[str, Any]:
        """What a certificate says of the suite."""
        manifest = self.manifest
        return {
            "version": manifest.format,
            "profile": manifest.profile,
            "seed": manifest.seed,
            "digest": self.digest,
            "specs": {name: each.spec_sha256 for name, each in manifest.operators.items()},
        }

    def __iter__(self) -> Iterator[tuple[OperatorSuite, IndexedCase]]:
        """Yield every case, with the operator that it is of."""
        for operator in self.operators.values():
            for case in operator.cases.values():
                yield operator, case

    def _proved(self, name: str) -> bytes:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            text = f"file '{name}' is outside the suite"
            raise _contradiction(self.folder / MANIFEST, text)
        data = _bytes(self.folder / name)
        if sha256(data).hexdigest() != self.manifest.files[name]:
            raise SuiteError(
                f"{self.folder / name}: {len(data)} bytes that are not those the manifest names; "
                "it was changed or cut short: generate the suite again"
            )
        return data

    def _operator(self, name: str, entry: OperatorEntry) -> OperatorSuite:
        for file in (entry.index, entry.pack, entry.tests):
            if file not in self._files:
                raise _contradiction(self.folder / MANIFEST, f"'{file}' of {name} has no digest")
        place = self.folder / entry.index
        index = _model(place, self._files[entry.index], Index)
        operator = OperatorSuite(entry, index, self._files[entry.pack], self.folder, self._specs)
        counts = (
            len(index.cases),
            sum(case.expects == "rejection" for case in index.cases),
            sum(case.ambiguity is not None for case in index.cases),
        )
        stated = (entry.cases, entry.rejections, entry.implementation_defined)
        if index.operator != name:
            raise _contradiction(place, f"is of {index.operator}, not of {name}")
        if counts != stated:
            raise _contradiction(place, f"has {counts} cases, the manifest {stated}")
        if len(operator.cases) != len(index.cases):
            raise _contradiction(place, "has two cases of one id")
        operator.prove()
        return operator


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of the suite in `folder`, whose files may be damaged.

    Raises:
        SuiteError: it is not there, of another version or damaged.
    """
    return _model(folder / MANIFEST, _bytes(folder / MANIFEST), Manifest)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise SuiteError(
            f"{path}: {getattr(error, 'strerror', None) or error}; expected a folder that "
            "`opcert generate` wrote"
        ) from None


def _model(path: Path, text: bytes, model: type[Model]) -> Model:
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _contradiction(path, f"not JSON: {error}") from None
    version = found.get("format") if isinstance(found, dict) else None
    if version != FORMAT:
        raise SuiteError(
            f"{path}: format {version}; this opcert reads format {FORMAT}: generate the suite "
            "again, or use the opcert that wrote it"
        )
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise _contradiction(path, f"{where}: {first['msg']}") from None


def _contradiction(path: Path, text: str) -> SuiteError:
    return SuiteError(f"{path}: {text}; generate the suite again")
