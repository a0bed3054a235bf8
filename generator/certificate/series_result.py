"""The result of a series: the certificates of its suites, in `certificates.json`."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from opcert.certificate.certificate import Certificate, Name
from opcert.certificate.file import read_certificate_bytes
from opcert.errors import OpcertError
from opcert.suite.format import COPY_FOLDER, Digest, Extent, StrictModel
from opcert.suite.series import Series
from opcert.verdicts.verdict import STATUSES, Status
from opcert.yaml_files.validation import describe_first_error

SERIES_RESULT_FILE = "certificates.json"
RESULT_FORMAT = 1


class SeriesEntry(StrictModel):
    """A series in a result: profile, first seed, digest of series.json, number of copies."""

    profile: str
    seed: int
    digest: Digest
    copies: Annotated[int, Field(gt=0)]


class BackendName(StrictModel):
    """The backend of all certificates."""

    name: Name
    version: Name


class CopyResult(StrictModel):
    """The certificate of a copy: its digest; the seed, the digest and the cases of its suite."""

    folder: Annotated[str, Field(pattern=COPY_FOLDER)]
    seed: int
    suite: Digest
    cases: Extent
    certificate: Digest
    conformant: bool
    counts: Mapping[Status, Extent]


class SeriesResult(StrictModel):
    """The result of a series; `copies` are those that were certified, in the order of the series.

    The backend is conformant if every copy was certified, and the backend conforms to all.
    """

    format: int
    suite: SeriesEntry
    backend: BackendName
    conformant: bool
    counts: Mapping[Status, Extent]
    copies: tuple[CopyResult, ...]

    def to_json(self) -> str:
        """Return the text of certificates.json."""
        return json.dumps(self.model_dump(mode="json"), indent=1) + "\n"


def series_entry(series: Series) -> SeriesEntry:
    """Return the entry of a series."""
    manifest = series.manifest
    return SeriesEntry(
        profile=manifest.profile, seed=manifest.seed, digest=series.digest, copies=len(series)
    )


def backend_name(certificate: Certificate) -> BackendName:
    """Return the entry of a certificate's backend."""
    return BackendName(name=certificate.backend.name, version=certificate.backend.version)


def copy_result(folder: str, content: bytes, certificate: Certificate) -> CopyResult:
    """Return the entry of a certificate with this content, in the folder of a copy."""
    return CopyResult(
        folder=folder,
        seed=certificate.suite.seed,
        suite=certificate.suite.digest,
        cases=certificate.suite.cases,
        certificate=sha256(content).hexdigest(),
        conformant=certificate.conformant,
        counts=certificate.counts,
    )


def series_result(
    suite: SeriesEntry, backend: BackendName, copies: Sequence[CopyResult]
) -> SeriesResult:
    """Return the result that follows from the results of copies."""
    counts = sum((Counter(copy.counts) for copy in copies), Counter[Status]())
    return SeriesResult(
        format=RESULT_FORMAT,
        suite=suite,
        backend=backend,
        conformant=len(copies) == suite.copies and all(copy.conformant for copy in copies),
        counts={status: counts[status] for status in STATUSES},
        copies=tuple(copies),
    )


def result_mistakes(result: SeriesResult) -> Iterator[tuple[str, str]]:
    """Yield what contradicts itself in the list of copies: a copy or the file, and the mistake."""
    names = [copy.folder for copy in result.copies]
    if not names:
        yield SERIES_RESULT_FILE, "found no copies; expected one at least"
    for name, count in Counter(names).items():
        if count > 1:
            yield SERIES_RESULT_FILE, f"found {name} {count} times; expected it once"
    numbers = {name: int(name.rpartition("-")[2]) for name in names}
    for first, second in pairwise(names):
        if numbers[first] > numbers[second]:
            text = f"found {first} before {second}; expected the order of the series"
            yield SERIES_RESULT_FILE, text
    for copy in result.copies:
        name, number = copy.folder, numbers[copy.folder]
        if number >= result.suite.copies:
            yield SERIES_RESULT_FILE, f"found {name} in a series of {result.suite.copies} copies"
        seed = result.suite.seed + number
        if copy.seed != seed:
            yield name, f"found a suite of seed {copy.seed}; expected seed {seed}"


def has_series_result(folder: Path) -> bool:
    """Whether a folder has the result of a series."""
    return (folder / SERIES_RESULT_FILE).is_file()


def read_series_result(folder: Path) -> SeriesResult:
    """Return the result of a series in `folder`.

    Raises:
        OpcertError: it cannot be read, is malformed or has another format.
    """
    path = folder / SERIES_RESULT_FILE
    content = read_certificate_bytes(path)
    try:
        result = SeriesResult.model_validate_json(content)
    except ValidationError as error:
        text = "expected it as `opcert certify` wrote it"
        raise OpcertError(f"{path}: {describe_first_error(error)}; {text}") from None
    if result.format != RESULT_FORMAT:
        raise OpcertError(
            f"{path}: found format {result.format}; expected {RESULT_FORMAT}; use the version of "
            "opcert that wrote it"
        )
    return result


def identity_of_run(certificate: Certificate) -> dict[str, Any]:
    """Return the parts of a certificate that all copies of a series have in common."""
    parts = {"selection", "backend", "claim", "waivers"}
    run = {"run": {"isolated", "timeout", "memory"}, "platform": {"opcert"}}
    return certificate.model_dump(mode="json", include={**dict.fromkeys(parts, True), **run})
