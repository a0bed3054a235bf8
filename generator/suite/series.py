"""Reads a series: a folder of suites of one profile, its copies, with successive seeds."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from opcert.errors import SuiteError
from opcert.suite.format import (
    MANIFEST,
    SERIES,
    SERIES_FORMAT,
    CopyEntry,
    SeriesManifest,
    json_file,
)
from opcert.suite.operator_suite import inconsistent_suite
from opcert.suite.suite import Suite, parse_file, read_file


class Series:
    """A series in a folder, whose suites are opened one after the other.

    Attributes:
        folder: The folder of the series.
        digest: The SHA-256 of series.json, which identifies the series.
        manifest: The profile and the first seed of the series, and its suites.
    """

    def __init__(self, folder: Path, specs: Path | None = None) -> None:
        """Read series.json.

        Raises:
            SuiteError: it is missing or damaged, or has another format.
        """
        self.folder, self._specs = folder, specs
        content = read_file(folder / SERIES)
        self.digest = sha256(content).hexdigest()
        self.manifest = parse_file(folder / SERIES, content, SeriesManifest)
        names = [entry.folder for entry in self.manifest.copies]
        seeds = [entry.seed for entry in self.manifest.copies]
        if len({*names}) < len(names) or seeds != [
            self.manifest.seed + k for k in range(len(seeds))
        ]:
            text = "suites that are not in different folders, with successive seeds"
            raise inconsistent_suite(folder / SERIES, text)

    def open(self, entry: CopyEntry) -> Suite:
        """Return a suite of the series.

        Raises:
            SuiteError: it is missing or damaged, or is not the suite that series.json states.
        """
        suite = Suite(self.folder / entry.folder, self._specs)
        found = (suite.digest, suite.manifest.seed, suite.manifest.profile, suite.identity["cases"])
        if found != (entry.digest, entry.seed, self.manifest.profile, entry.cases):
            raise inconsistent_suite(
                self.folder / SERIES, f"another suite in {entry.folder} than it states"
            )
        return suite

    def __iter__(self) -> Iterator[Suite]:
        """Open one suite after the other."""
        return map(self.open, self.manifest.copies)

    def __len__(self) -> int:
        return len(self.manifest.copies)


def load_series(folder: str | Path, specs: str | Path | None = None) -> Series:
    """Read a series that `generate` wrote with `repeat`; see `load` for `specs`.

    A series yields its suites one after the other, and keeps none in memory:

        for suite in opcert.load_series("series"):
            certificate = opcert.certify("my_backend.py:Backend", suite)

    Raises:
        SuiteError: series.json is missing or damaged, or has another format; or the folder has a
            suite.
    """
    folder = Path(folder)
    if (folder / MANIFEST).is_file() and not is_series(folder):
        named = folder.parent if is_series(folder.parent) else "a folder with series.json"
        raise SuiteError(f"{folder}: is a suite; expected a series: name {named}")
    return Series(folder, None if specs is None else Path(specs))


def series_digest(profile: str, copies: Sequence[CopyEntry]) -> str:
    """Return the digest of the series that has these copies, in this order."""
    return sha256(series_file(profile, copies)).hexdigest()


def series_file(profile: str, copies: Sequence[CopyEntry]) -> bytes:
    """Return the content of series.json."""
    return json_file(
        SeriesManifest(
            format=SERIES_FORMAT, profile=profile, seed=copies[0].seed, copies=tuple(copies)
        )
    )


def is_series(folder: Path) -> bool:
    """Whether a folder has a series."""
    return (folder / SERIES).is_file()


def refuse_series(folder: Path) -> None:
    """Refuse a series in place of a suite.

    Raises:
        SuiteError: the folder has a series.
    """
    if is_series(folder):
        names = [entry.folder for entry in Series(folder).manifest.copies]
        listed = names if len(names) <= 3 else [names[0], "...", names[-1]]
        raise SuiteError(
            f"{folder}: is a series of {len(names)} suites; expected one suite: name "
            f"{folder / names[0]} or another of {', '.join(listed)}; in Python, load_series yields "
            "them"
        )
