"""The project speaks with the terms of its field: no retired word in code, messages or guides."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Each retired word, and what to say instead.
RETIRED = {
    "tells?(?!\\()": "states, reports, distinguishes",
    "told": "stated, passed, requested",
    "said": "stated, reported",
    "shown": "visible, displayed, reproduced",
    "stands?": "is, means, counts as",
    "speaks?": "is about, applies to",
    "moot": "not applicable",
    "twins?": "baseline",
    "siblings?": "neighbour",
    "sights?": "observation",
    "rehears\\w*": "call protocol",
    "hows": "declared support",
    "flaws?": "finding",
    "mend(s|ed|ing)?": "fix, correct",
    "beside": "next to, with",
    "behind": "after",
    "asked of": "required of",
    "looked at": "checked, compared",
    "broken_by": "violations",
    "is none": "unknown, does not exist",
}
# A retired word may be part of an identifier: _told, told_apart.
PATTERN = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(RETIRED)})(?![A-Za-z])", re.IGNORECASE)
FOLDERS = ("generator", "reference", "specs", "tests", "generated", ".ci")
# Compiled modules, arrays and pictures.
BINARY = {".pyc", ".npz", ".png", ".gz"}


def texts() -> list[Path]:
    """Return the files that hold text, but this one."""
    paths = {path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()}
    texts = {path for path in paths if path.suffix not in BINARY and ".ci/typing" not in str(path)}
    return sorted(texts - {Path(__file__)} | {ROOT / "README.md", ROOT / "pyproject.toml"})


def test_no_retired_word() -> None:
    used = []
    for path in texts():
        lines = enumerate(path.read_text().replace("is None", "").splitlines(), 1)
        used += [
            f"{path}:{number}: {match.group()}"
            for number, line in lines
            for match in PATTERN.finditer(line)
        ]
    assert not used


def test_no_retired_word_in_a_file_name() -> None:
    assert not [path for path in texts() if PATTERN.search(path.stem)]
