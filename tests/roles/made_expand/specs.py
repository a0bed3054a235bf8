"""The specs in this folder, read with changes."""

import shutil
from pathlib import Path

FOLDER = Path(__file__).parent


def write_changed(folder: Path, *changes: tuple[str, str], name: str = "expand") -> Path:
    """Write a spec with `changes`, and its reference; return the path of the spec."""
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    shutil.copy(FOLDER / "expand.py", folder)
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path
