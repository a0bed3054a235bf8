"""Made-up operators that pick by indices: read with changes, drawn and certified."""

import shutil
from pathlib import Path
from random import Random

import pytest

from opcert.arrays import Call
from opcert.cases import InputSpace, Observer
from opcert.cases.positive import MAX_DRAWS
from opcert.combinatorics import RowSampler
from opcert.errors import SpecError
from opcert.specification import Spec, read_spec

FOLDER = Path(__file__).parent / "made_up_gathers"
NAMES = ("pick", "take_at", "pick_in_batches")
_ROWS = 60


def written(folder: Path, name: str, *changes: tuple[str, str]) -> Path:
    """Write a made-up spec with `changes` beside its reference."""
    text = (FOLDER / f"{name}.yaml").read_text()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    shutil.copy(FOLDER / "picking.py", folder)
    path = folder / f"{name}.yaml"
    path.write_text(text)
    return path


def mistakes(folder: Path, name: str, *changes: tuple[str, str]) -> list[str]:
    """Return what is wrong with a made-up spec, each mistake behind the line that it is in."""
    path = written(folder, name, *changes)
    with pytest.raises(SpecError) as caught:
        read_spec(path)
    lines = path.read_text().splitlines()
    return [f"{lines[each.line - 1].strip()} -> {each.text}" for each in caught.value.mistakes]


def unobserved(spec: Spec, profile: str) -> list[str]:
    """Return which levels of random choices do not show in what is built for them."""
    space, observer, random = InputSpace(spec, profile), Observer(spec, profile), Random(0)
    rows = RowSampler(space.choices()[0])
    chosen = [rows.read(random.randrange) for _ in range(_ROWS)]
    found = []
    for row in chosen:
        levels = space.level_names(row)
        # A draw may by chance be more special than its levels.
        draws = (space.call(row, str(i)) for i in range(MAX_DRAWS))
        if all(observer.unobserved(call, levels) for call in draws):
            found.append(str(levels))
    return found


def drawn(spec: Spec, count: int = 300) -> list[Call]:
    """Return calls of random choices."""
    space, random = InputSpace(spec), Random(0)
    rows = RowSampler(space.choices()[0])
    return [space.call(rows.read(random.randrange), "") for _ in range(count)]
