"""Reads a suite operator by operator, and checks what it reads."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property, partial
from hashlib import sha256
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

from pydantic import JsonValue

from opcert.arrays.calls import group_variadic
from opcert.arrays.element_types import Array
from opcert.errors import SuiteError
from opcert.specification.files import SpecFile, is_selected, read_specs_in
from opcert.suite.format import (
    MANIFEST,
    Index,
    IndexedCase,
    Manifest,
    OperatorEntry,
    SuiteEntry,
    content_of,
    inconsistent_suite,
    parse_file,
    read_file,
)
from opcert.suite.operator_suite import OperatorSuite, ReadOnUse
from opcert.system import FileContents

# Memory keeps operators until they have so many cases, whose lines take about 1 KiB each.
_KEPT_LINES = 1 << 14


class SuiteCase(NamedTuple):
    """A case with its arrays; unpacks into the suite of its operator and its record."""

    operator_suite: OperatorSuite
    record: IndexedCase

    @property
    def id(self) -> str:
        """The id, which begins with the slug of the operator."""
        return self.record.id

    @property
    def operator(self) -> str:
        """The id of the operator, FAMILY/NAME."""
        return self.operator_suite.index.operator

    @property
    def expects(self) -> Literal["outputs", "rejection"]:
        """Whether the call gives outputs, or must be rejected."""
        return self.record.expects

    @property
    def inputs(self) -> dict[str, Any]:
        """New, writeable input arrays by name, in the order of the spec and in their layouts.

        Scalars are 0-d; an omitted optional input is absent; a variadic input is a list of arrays.
        """
        return group_variadic(self.operator_suite.inputs(self.record))

    @property
    def attributes(self) -> Mapping[str, JsonValue]:
        """The attributes by name; an omitted one is absent."""
        return self.record.attributes

    @property
    def outputs(self) -> list[Array]:
        """The golden outputs, read-only; none where the call must be rejected.

        Raises:
            SuiteError: an output is not stored, and the reference does not reproduce it.
        """
        return self.operator_suite.outputs(self.record)

    @property
    def violated_rule(self) -> str | None:
        """The id of the requirement that an invalid call violates."""
        return self.record.violated_rule

    @property
    def baseline(self) -> str | None:
        """The id of the valid case from which this case differs in one change."""
        return self.record.baseline

    @property
    def ambiguity(self) -> str | None:
        """The id of the ambiguity that the call touches; such a case is never decisive."""
        return self.record.ambiguity

    @property
    def rules(self) -> tuple[str, ...]:
        """The id of the violated requirement, or the ids of the exhibited behaviours."""
        return self.record.rules


class CasesById(Mapping[str, SuiteCase]):
    """The cases of a suite by id, in the order in which they run.

    An id begins with the slug of its operator, so that a lookup reads no other operator.
    """

    def __init__(self, suite: "Suite") -> None:
        self._operators, self._entries = suite.operators, suite.manifest.operators
        # Two families may have operators of one name.
        self._names: dict[str, list[str]] = {}
        for name, entry in self._entries.items():
            self._names.setdefault(_slug(entry), []).append(name)

    def __getitem__(self, id_: str) -> SuiteCase:
        if (operator := self._find(id_)) is None:
            raise KeyError(id_)
        return SuiteCase(operator, operator.cases[id_])

    def __contains__(self, id_: object) -> bool:
        return self._find(id_) is not None

    def __iter__(self) -> Iterator[str]:
        for operator in self._operators.values():
            yield from operator.cases

    def __len__(self) -> int:
        return sum(entry.cases for entry in self._entries.values())

    def operator_of(self, id_: str) -> str:
        """Return the operator of one of the cases; it is read only if two operators have a slug."""
        names = self._named(id_)
        return names[0] if len(names) == 1 else self[id_].operator

    def _find(self, id_: object) -> OperatorSuite | None:
        """Return the suite of a case's operator, if there is such a case."""
        operators = (self._operators[name] for name in self._named(id_))
        return next((operator for operator in operators if id_ in operator.lines), None)

    def _named(self, id_: object) -> Sequence[str]:
        slug, _, _ = str(id_).partition("/")
        return self._names.get(slug, ())


def _slug(entry: OperatorEntry) -> str:
    return PurePosixPath(entry.index).name.partition(".")[0]


def core_suite_folder() -> Path:
    """Return the folder of the core suite that comes with opcert."""
    return Path(str(files("opcert.generated")))


class Suite:
    """A suite in a folder; the files of each operator are read when they are first needed.

    Attributes:
        folder: The folder of the suite.
        digest: The SHA-256 of the manifest, which identifies the suite.
        manifest: The profile and the seed of the suite, its operators and its files.
        files: The contents of a suite that is in memory instead of the folder.
    """

    def __init__(
        self,
        folder: Path | None = None,
        specs: Path | None = None,
        files: FileContents | None = None,
    ) -> None:
        """Read a suite, except the files of its operators; see `load` for `folder` and `specs`.

        `files` are the contents of a suite that is in memory instead of the folder.

        Raises:
            SuiteError: a file is missing or damaged, or the manifest has another format.
        """
        self.folder = folder if folder is not None else core_suite_folder()
        self._specs = specs
        self.files = files
        self._claimed: Mapping[str, Mapping[str, str]] = {}
        manifest = self._read(MANIFEST)
        self.digest = sha256(manifest).hexdigest()
        self.manifest = parse_file(self.folder / MANIFEST, manifest, Manifest)
        entries = self.manifest.operators.values()
        of_operators = {file for e in entries for file in (e.index, e.pack, e.tests)}
        for name in self.manifest.files:
            if name not in of_operators:
                self._read_file(name)

    def claim(self, claimed: Mapping[str, Mapping[str, str]]) -> None:
        """Let verdicts ask for these arithmetics, by operator and type; otherwise the standard one.

        What an earlier run has claimed is forgotten.
        """
        if claimed != self._claimed:
            self._claimed = claimed
            for name in ("operators", "cases", "spec_files"):
                vars(self).pop(name, None)

    @cached_property
    def operators(self) -> ReadOnUse[OperatorSuite]:
        """The operators by id, each read on first use, and perhaps again later.

        Raises:
            SuiteError: a file is missing or damaged, or contradicts the manifest or itself.
        """
        entries = self.manifest.operators

        def has_room(read: Collection[str]) -> bool:
            return sum(entries[name].cases for name in read) < _KEPT_LINES

        return ReadOnUse(entries, self.read_operator, has_room)

    @cached_property
    def cases(self) -> CasesById:
        """The cases by id, in the order in which they run."""
        return CasesById(self)

    def __iter__(self) -> Iterator[SuiteCase]:
        """Yield the cases in the order in which they run."""
        return iter(self.cases.values())

    def select(self, operator: str, case: str) -> list[str]:
        """Return the ids of the cases that match `operator` and the glob `case`."""
        return [
            id_
            for name in self.manifest.operators
            if is_selected(name, operator)
            for id_ in self.operators[name].cases
            if fnmatchcase(id_, case)
        ]

    @cached_property
    def feature_levels(self) -> list[str]:
        """The names of the feature levels of its operators, sorted."""
        indexes = (operator.index for operator in self.operators.values())
        return sorted({level for index in indexes for level in index.feature_levels})

    @property
    def identity(self) -> SuiteEntry:
        """The suite as a certificate records it."""
        operators = self.manifest.operators
        return SuiteEntry(
            version=self.manifest.format,
            profile=self.manifest.profile,
            seed=self.manifest.seed,
            digest=self.digest,
            cases=len(self.cases),
            specs={name: entry.spec_sha256 for name, entry in operators.items()},
        )

    def validate(self) -> None:
        """Read and check every operator with its cases.

        Raises:
            SuiteError: a file is missing or damaged, or contradicts the manifest or itself.
        """
        for operator in self.operators.values():
            operator.validate()

    @cached_property
    def spec_files(self) -> Mapping[str, SpecFile]:
        """The available specs from which the suite was generated, by operator.

        Raises:
            OpcertError: a spec has mistakes.
        """
        available = {spec_file.spec.operator: spec_file for spec_file in read_specs_in(self._specs)}
        return {
            name: replace(available[name], claimed=self._claimed.get(name, {}))
            for name, entry in self.manifest.operators.items()
            if name in available and available[name].digest == entry.spec_sha256
        }

    def _read(self, name: str) -> bytes:
        return read_file(self.folder / name) if self.files is None else self.files[name]

    def _read_file(self, name: str) -> bytes:
        # A suite may be untrusted: its manifest must not refer to other files.
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise inconsistent_suite(self.folder / MANIFEST, f"file '{name}' is outside the suite")
        data = self._read(name)
        try:
            content = content_of(name, data)
        except ValueError as error:
            raise inconsistent_suite(self.folder / name, str(error)) from None
        if sha256(content).hexdigest() != self.manifest.files[name]:
            raise SuiteError(
                f"{self.folder / name}: the digest of its {len(data)} bytes is not the one in the "
                "manifest; the file was changed or cut short: generate the suite again"
            )
        return content

    def read_operator(self, name: str) -> OperatorSuite:
        """Return an operator, whose files are read and checked.

        Raises:
            SuiteError: a file is missing or damaged, or contradicts the manifest or itself.
        """
        entry = self.manifest.operators[name]
        for file in (entry.index, entry.pack, entry.tests):
            if file not in self.manifest.files:
                text = f"no digest of '{file}', a file of {name}"
                raise inconsistent_suite(self.folder / MANIFEST, text)
        self._read_file(entry.tests)
        path = self.folder / entry.index
        facts, lines = read_index(path, self._read_file(entry.index))
        if facts.operator != name:
            raise inconsistent_suite(path, f"expected the index of {name}, found {facts.operator}")
        if len(lines) != entry.cases:
            text = f"{len(lines)} cases, but the manifest states {entry.cases}"
            raise inconsistent_suite(path, text)
        beginning = f"{_slug(entry)}/"
        for id_ in lines:
            if not id_.startswith(beginning):
                text = f"case id '{id_}'; expected ids that begin with '{beginning}'"
                raise inconsistent_suite(path, text)
        read_pack = partial(self._read_file, entry.pack)
        claimed = self._claimed.get(name, {})
        return OperatorSuite(entry, facts, lines, read_pack, self.folder, self._specs, claimed)


_LINE = re.compile(rb"^.*$", re.MULTILINE)
# How a line with a case begins.
_CASE = re.compile(rb'\{"id":"([^"\\]+)"')


def read_index(path: Path, content: bytes) -> tuple[Index, dict[str, memoryview]]:
    """Return the first line of an index, and the other lines by the ids of their cases.

    They are views of the content, since that of a large suite takes much memory.

    Raises:
        SuiteError: the first line is damaged or of another format, or another one has no id.
    """
    places = _LINE.finditer(content, 0, len(content) - content.endswith(b"\n"))
    index = parse_file(path, next(places)[0], Index)
    lines, view = dict[str, memoryview](), memoryview(content)
    for number, place in enumerate(places, 2):
        if (beginning := _CASE.match(content, *place.span())) is None:
            raise inconsistent_suite(path, f"line {number} does not begin with the id of a case")
        id_ = beginning[1].decode(errors="replace")
        if id_ in lines:
            raise inconsistent_suite(path, f"duplicate case id '{id_}'")
        lines[id_] = view[slice(*place.span())]
    return index, lines


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of the suite in `folder`, without reading its other files.

    Raises:
        SuiteError: the manifest is missing, damaged or of another format.
    """
    return parse_file(folder / MANIFEST, read_file(folder / MANIFEST), Manifest)
