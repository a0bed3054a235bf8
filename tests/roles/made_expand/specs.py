"""Specs of made-up operators, written with whatever a test changes in them."""

import shutil
from pathlib import Path

FOLDER = Path(__file__).parent


def written(folder: Path, *changes: tuple[str, str], name: str = "expand") -> Path:
    """Write the spec `name` with `changes` beside its reference."""
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    shutil.copy(FOLDER / "expand.py", folder)
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path
