"""A suite on disk, read and proved whole before anything is run from it."""

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from opcert.errors import SuiteError
from opcert.specification import SpecFile, read_specs_in
from opcert.suite.format import (
    FORMAT,
    MANIFEST,
    Index,
    IndexedCase,
    Manifest,
    OperatorEntry,
)
from opcert.suite.operator_suite import OperatorSuite, contradiction
from opcert.untrusted_files import read_limited
from opcert.yaml_files import describe_first_error

Model = TypeVar("Model", Index, Manifest)
CasesById = Mapping[str, tuple[OperatorSuite, IndexedCase]]
# The most bytes that are read of a file; a pack of the largest suite has a tenth of it.
LARGEST = 1 << 30


def core_suite_folder() -> Path:
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
        self.folder = folder if folder is not None else core_suite_folder()
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

    @cached_property
    def cases(self) -> CasesById:
        """Every case by id, with the operator that it is of."""
        return {case.id: (operator, case) for operator, case in self}

    def select(self, operator: str, case: str) -> list[str]:
        """Return the ids of the cases whose operator and id match two globs."""
        return [
            each
            for each, (of, _) in self.cases.items()
            if fnmatchcase(of.index.operator, operator) and fnmatchcase(each, case)
        ]

    @cached_property
    def feature_levels(self) -> list[str]:
        """The feature levels that its operators have, each once."""
        levels = (of.index.feature_levels for of in self.operators.values())
        return sorted({level for each in levels for level in each})

    @property
    def identity(self) -> dict[str, Any]:
        """What a certificate says of the suite."""
        manifest = self.manifest
        return {
            "version": manifest.format,
            "profile": manifest.profile,
            "seed": manifest.seed,
            "digest": self.digest,
            "cases": sum(each.cases for each in manifest.operators.values()),
            "specs": {name: each.spec_sha256 for name, each in manifest.operators.items()},
        }

    def spec_files(self) -> dict[str, SpecFile]:
        """Return the specs by operator that the suite was generated from, where they are at hand.

        Raises:
            OpcertError: a spec at hand has mistakes.
        """
        wanted = {name: each.spec_sha256 for name, each in self.manifest.operators.items()}
        known = {each.spec.operator: each for each in read_specs_in(self._specs)}
        return {n: known[n] for n in wanted if n in known and known[n].digest == wanted[n]}

    def __iter__(self) -> Iterator[tuple[OperatorSuite, IndexedCase]]:
        """Yield every case, with the operator that it is of."""
        for operator in self.operators.values():
            for case in operator.cases.values():
                yield operator, case

    def _proved(self, name: str) -> bytes:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            text = f"file '{name}' is outside the suite"
            raise contradiction(self.folder / MANIFEST, text)
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
                raise contradiction(self.folder / MANIFEST, f"'{file}' of {name} has no digest")
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
            raise contradiction(place, f"is of {index.operator}, not of {name}")
        if counts != stated:
            raise contradiction(place, f"has {counts} cases, the manifest {stated}")
        if len(operator.cases) != len(index.cases):
            raise contradiction(place, "has two cases of one id")
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
        return read_limited(path, LARGEST)
    except (OSError, ValueError) as error:
        raise SuiteError(
            f"{path}: {getattr(error, 'strerror', None) or error}; expected a folder that "
            "`opcert generate` wrote"
        ) from None


def _model(path: Path, text: bytes, model: type[Model]) -> Model:
    try:
        found = model.model_validate_json(text, context={})
    except ValidationError as error:
        # What of the form is wrong tells nothing where the format is another one.
        _check_format(path, _format(path, text))
        raise contradiction(path, describe_first_error(error)) from None
    _check_format(path, found.format)
    return found


def _format(path: Path, text: bytes) -> Any:
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise contradiction(path, f"not JSON: {error}") from None
    return found.get("format") if isinstance(found, dict) else None


def _check_format(path: Path, version: Any) -> None:
    if version != FORMAT:
        raise SuiteError(
            f"{path}: format {version}; this opcert reads format {FORMAT}: generate the suite "
            "again, or use the opcert that wrote it"
        )
