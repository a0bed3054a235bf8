"""A suite of few cases of one operator, for all tests that write, damage or read it."""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from opcert.errors import SuiteError
from opcert.suite.emit import suite_files
from opcert.suite.format import content_digest
from opcert.suite.suite import Suite
from opcert.system import FileContents
from tests.few_cases import few_cases, index_of, read_index

OPERATOR = "directml/DML_OPERATOR_SPLIT"
GLOB = "directml/DML_OPERATOR_SPLIT"
MANIFEST = "manifest.json"
INDEX = "directml/dml-split.jsonl.gz"
PACK = "directml/dml-split.npz"
TESTS = "directml/test_dml_split.py"

Edit = Callable[[Any], object]


def files_of(*operators: str) -> FileContents:
    """Return the suite that `generate` writes for operators, without generating it again."""
    folder, parts = few_cases().folder, []
    for operator in operators:
        entry = few_cases().manifest.operators[operator]
        paths = (entry.index, entry.pack, entry.tests)
        parts.append((operator, entry, {path: (folder / path).read_bytes() for path in paths}))
    return dict(suite_files("core", 0, parts))


@cache
def files() -> FileContents:
    """The files of the suite by path."""
    return files_of(OPERATOR)


@cache
def other_files() -> FileContents:
    """The files of another suite."""
    return files_of("openvino/VariadicSplit-1")


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below `folder` by path."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def write(folder: Path) -> Path:
    """Write the suite to a new folder."""
    for name, data in files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def read_json(folder: Path, name: str) -> Any:
    """Return the data of an index or of another JSON file."""
    data = (folder / name).read_bytes()
    return read_index(data) if name.endswith(".gz") else json.loads(data)


def edit(folder: Path, name: str, change: Edit) -> None:
    """Change an index or another JSON file."""
    data = read_json(folder, name)
    change(data)
    text = index_of(data) if name.endswith(".gz") else json.dumps(data).encode()
    (folder / name).write_bytes(text)


def reseal(folder: Path, *names: str) -> None:
    """Update the digests in the manifest after files were changed."""

    def update_digests(manifest: Any) -> None:
        for name in names:
            manifest["files"][name] = content_digest(name, (folder / name).read_bytes())

    edit(folder, MANIFEST, update_digests)


def edit_index(folder: Path, change: Edit) -> None:
    """Change the index, and the manifest with it."""
    edit(folder, INDEX, change)
    reseal(folder, INDEX)


def opened(folder: Path) -> Suite:
    """Return the suite, read as a run reads it before its first case."""
    suite = Suite(folder)
    suite.validate()
    return suite


def refusal(folder: Path, name: str) -> str:
    """Return the error of reading the suite, which must name a file and say what to do."""
    with pytest.raises(SuiteError) as caught:
        opened(folder)
    text = str(caught.value)
    assert text.startswith(f"{folder / name}: ")
    assert re.search(r"generate the suite again|that `opcert generate` wrote", text)
    return text


def failing_at(step: int, error: BaseException, patch: pytest.MonkeyPatch) -> None:
    """Let a move or a removal of a file fail, the first one for step 0."""
    steps = iter(range(100))
    for name in ("replace", "unlink"):
        change = getattr(Path, name)

        def change_or_fail(*arguments: object, change: object = change, **named: object) -> None:
            if next(steps) == step:
                raise error
            assert callable(change)
            change(*arguments, **named)

        patch.setattr(Path, name, change_or_fail)
