"""The specs in `made_up_gathers`, read with changes."""

import shutil
from pathlib import Path

import pytest

from opcert.errors import SpecError
from opcert.specification.files import read_spec

FOLDER = Path(__file__).parent / "made_up_gathers"
NAMES = ("pick", "take_at", "pick_in_batches")


def write_changed(folder: Path, name: str, *changes: tuple[str, str]) -> Path:
    """Write a spec with `changes`, and its reference; return the path of the spec."""
    text = (FOLDER / f"{name}.yaml").read_text()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    shutil.copy(FOLDER / "picking.py", folder)
    path = folder / f"{name}.yaml"
    path.write_text(text)
    return path


def mistakes(folder: Path, name: str, *changes: tuple[str, str]) -> list[str]:
    """Return the mistakes in a changed spec: the line and the text of each."""
    path = write_changed(folder, name, *changes)
    with pytest.raises(SpecError) as caught:
        read_spec(path)
    lines = path.read_text().splitlines()
    return [f"{lines[m.line - 1].strip()} -> {m.text}" for m in caught.value.mistakes]
