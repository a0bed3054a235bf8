"""A small valid spec, written with whatever a test changes in it."""

import shutil
from pathlib import Path

FOLDER = Path(__file__).parent / "bad_specs"
TAKE = (FOLDER / "take.yaml").read_text()


def spec(folder: Path, *changes: tuple[str, str], name: str = "take") -> Path:
    """Write the small valid spec with `changes` next to its reference."""
    text = TAKE
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    shutil.copy(FOLDER / "take.py", folder)
    path = folder / f"{name}.yaml"
    path.write_text(text)
    return path
