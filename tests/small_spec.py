"""A small valid spec, written with whatever a test changes in it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from opcert.errors import Mistake, SpecError

FOLDER = Path(__file__).parent / "bad_specs"
TAKE = (FOLDER / "take.yaml").read_text()


def spec(folder: Path, *changes: tuple[str, str], name: str = "take") -> Path:
    """Write the small valid spec with `changes` next to its reference, to a folder or a new one."""
    text = TAKE
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(FOLDER / "take.py", folder)
    path = folder / f"{name}.yaml"
    path.write_text(text)
    return path


def mistakes_of(read: Callable[..., object], *arguments: object) -> tuple[Mistake, ...]:
    """Return the mistakes for which a function refuses what it reads."""
    with pytest.raises(SpecError) as caught:
        read(*arguments)
    return tuple(caught.value.mistakes)
