"""Suites on disk: the shipped one opens, and damage to any file or to the manifest is told."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opcert.arrays import ELEMENT_TYPES
from opcert.suite import Suite, read_manifest, write_suite
from opcert.suite.format import FORMAT
from tests.small_suite import (
    INDEX,
    MANIFEST,
    OPERATOR,
    PACK,
    TESTS,
    Edit,
    edit,
    files,
    opened,
    refusal,
)

FILES = ("__init__.py", "conftest.py", INDEX, PACK, TESTS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite to be damaged."""
    write_suite(tmp_path / "suite", files())
    return tmp_path / "suite"


def test_the_shipped_suite_opens_by_default() -> None:
    suite = Suite()
    assert len(suite.operators) == 5
    assert sum(1 for _ in suite) == sum(each.cases for each in suite.manifest.operators.values())


def test_a_suite_knows_its_digest_and_the_specs_it_was_made_from(folder: Path) -> None:
    suite = opened(folder)
    assert suite.identity == {
        "version": FORMAT,
        "profile": "core",
        "seed": 0,
        "digest": sha256((folder / MANIFEST).read_bytes()).hexdigest(),
        "cases": len(suite.cases),
        "specs": {OPERATOR: suite.manifest.operators[OPERATOR].spec_sha256},
    }


def test_inputs_are_fresh_and_writeable_and_goldens_are_neither(folder: Path) -> None:
    operator = opened(folder).operators[OPERATOR]
    case = operator.cases["dml-split/example-1"]
    first, second = operator.inputs(case)["InputTensor"], operator.inputs(case)["InputTensor"]
    first[...] = 0
    assert second.ravel().tolist() == list(range(1, 13))
    assert operator.inputs(case)["InputTensor"].tobytes() == second.tobytes()
    for output in operator.outputs(case):
        assert not output.flags.writeable
        assert not np.shares_memory(output, first)


def test_arrays_have_the_types_and_shapes_that_the_index_says(folder: Path) -> None:
    for operator, case in opened(folder):
        arrays = [*operator.inputs(case).values(), *operator.outputs(case)]
        for array, stored in zip(arrays, (*case.inputs.values(), *case.outputs), strict=True):
            assert array.dtype == ELEMENT_TYPES[stored.type]
            assert array.shape == stored.shape


def test_an_intact_manifest_can_be_read_of_a_damaged_suite(folder: Path) -> None:
    (folder / PACK).unlink()
    assert sorted(read_manifest(folder).files) == sorted(FILES)


def test_no_folder_is_no_suite(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "nowhere", MANIFEST)


def test_a_file_is_no_suite(folder: Path) -> None:
    assert "Not a directory" in refusal(folder / "conftest.py", MANIFEST)


@pytest.mark.parametrize("name", [*FILES, MANIFEST])
def test_a_missing_file_is_told(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert "No such file" in refusal(folder, name)


@pytest.mark.parametrize("name", [*FILES, MANIFEST])
def test_a_folder_in_the_place_of_a_file_is_told(folder: Path, name: str) -> None:
    (folder / name).unlink()
    (folder / name).mkdir()
    assert "a folder, not a file" in refusal(folder, name)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kept", [0, 1, -1])
def test_a_file_that_was_cut_short_is_told(folder: Path, name: str, kept: int) -> None:
    path = folder / name
    path.write_bytes(path.read_bytes()[:kept])
    size = path.stat().st_size
    assert f"{size} bytes that are not those the manifest names" in refusal(folder, name)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
def test_a_flipped_bit_is_told(folder: Path, name: str, part: float) -> None:
    data = bytearray((folder / name).read_bytes())
    data[int(part * (len(data) - 1))] ^= 1
    (folder / name).write_bytes(data)
    assert "it was changed or cut short" in refusal(folder, name)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"\x00\xff",
        b"'format': 1",
        b"[" * 100_000,
        b'{"format": ' + b"9" * 5000 + b"}",
        b'{"format": 1} {}',
    ],
    ids=["empty", "open", "binary", "quotes", "deep", "digits", "two"],
)
def test_a_manifest_that_is_not_json_is_told(folder: Path, text: bytes) -> None:
    (folder / MANIFEST).write_bytes(text)
    assert "not JSON" in refusal(folder, MANIFEST)


@pytest.mark.parametrize("kept", [0.25, 0.5, 0.999])
def test_a_manifest_that_was_cut_short_is_told(folder: Path, kept: float) -> None:
    text = (folder / MANIFEST).read_bytes().rstrip()
    (folder / MANIFEST).write_bytes(text[: int(kept * len(text))])
    assert "not JSON" in refusal(folder, MANIFEST)


@pytest.mark.parametrize("text", ["[]", "null", "3", '"format"', "{}"])
def test_json_that_is_no_manifest_is_told(folder: Path, text: str) -> None:
    (folder / MANIFEST).write_text(text)
    assert f"format None; this opcert reads format {FORMAT}" in refusal(folder, MANIFEST)


@pytest.mark.parametrize(
    "version", [0, FORMAT - 1, FORMAT + 1, str(FORMAT), True, None, [FORMAT]], ids=repr
)
def test_another_format_version_is_told_before_anything_else(folder: Path, version: Any) -> None:
    edit(folder, MANIFEST, lambda manifest: manifest.update(format=version, unknown=1))
    assert f"format {version}; this opcert reads format {FORMAT}" in refusal(folder, MANIFEST)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda manifest: manifest.update(extra=1), "extra: unknown key"),
        (lambda manifest: manifest.pop("seed"), "seed: is missing"),
        (lambda manifest: manifest.update(seed="0"), "expected an integer"),
        (lambda manifest: manifest.update(seed=0.5), "expected an integer"),
        (
            lambda manifest: manifest.update(format=float(FORMAT)),
            "format: found 4.0; expected an integer",
        ),
        (lambda manifest: manifest.update(files=[]), "files: found []; expected a mapping"),
        (lambda manifest: manifest["files"].update({"conftest.py": "0" * 63}), "files.conftest.py"),
        (lambda manifest: manifest["files"].update({"conftest.py": None}), "files.conftest.py"),
        (lambda manifest: manifest["operators"][OPERATOR].update(cases=-1), f"{OPERATOR}.cases"),
        (lambda manifest: manifest["operators"][OPERATOR].pop("pack"), f"{OPERATOR}.pack"),
    ],
)
def test_a_manifest_of_another_form_is_told(folder: Path, change: Edit, told: str) -> None:
    edit(folder, MANIFEST, change)
    assert told in refusal(folder, MANIFEST)


@pytest.mark.parametrize("key", ["cases", "rejections", "implementation_defined"])
def test_a_count_that_is_not_the_index_s_is_told(folder: Path, key: str) -> None:
    def one_more(manifest: Any) -> None:
        manifest["operators"][OPERATOR][key] += 1

    edit(folder, MANIFEST, one_more)
    assert "cases, the manifest" in refusal(folder, INDEX)


@pytest.mark.parametrize("name", ["../stranger", "directml/../../stranger", "..", "/etc/hostname"])
def test_a_path_outside_the_suite_is_told_and_not_read(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    read_bytes = Path.read_bytes

    def noted(path: Path) -> bytes:
        read.append(path)
        return read_bytes(path)

    edit(folder, MANIFEST, lambda manifest: manifest["files"].update({name: "0" * 64}))
    monkeypatch.setattr(Path, "read_bytes", noted)
    assert f"file '{name}' is outside the suite" in refusal(folder, MANIFEST)
    assert all(path.is_relative_to(folder) and ".." not in path.parts for path in read)


@pytest.mark.parametrize("name", ["", ".", "directml", "nul\0byte", "x" * 5000, "conftest.py/x"])
def test_a_path_that_is_no_file_is_told(folder: Path, name: str) -> None:
    edit(folder, MANIFEST, lambda manifest: manifest["files"].update({name: "0" * 64}))
    refusal(folder, name)


@pytest.mark.parametrize("name", [INDEX, PACK, TESTS])
def test_a_file_of_an_operator_without_a_digest_is_told(folder: Path, name: str) -> None:
    edit(folder, MANIFEST, lambda manifest: manifest["files"].pop(name))
    assert f"'{name}' of {OPERATOR} has no digest" in refusal(folder, MANIFEST)


@pytest.mark.parametrize("key", ["index", "pack", "tests"])
def test_an_operators_file_outside_the_suite_is_told(folder: Path, key: str) -> None:
    def outside(manifest: Any) -> None:
        manifest["operators"][OPERATOR][key] = "../x"

    edit(folder, MANIFEST, outside)
    assert f"'../x' of {OPERATOR} has no digest" in refusal(folder, MANIFEST)
