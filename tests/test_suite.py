"""Suites on disk: the shipped one opens, and every kind of damage is told as what it is."""

import json
import pickle
import re
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opcert.generator.element_types import ELEMENT_TYPES
from opcert.generator.errors import SuiteError
from opcert.generator.generation import generate
from opcert.generator.suite import Suite, read_manifest
from opcert.generator.suite_format import FORMAT

OPERATOR = "directml/DML_OPERATOR_SPLIT"
MANIFEST = "manifest.json"
INDEX = "directml/dml-split.json"
PACK = "directml/dml-split.npz"
TESTS = "directml/test_dml_split.py"
FILES = ("__init__.py", "conftest.py", INDEX, PACK, TESTS)

Edit = Callable[[Any], object]


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("intact") / "suite"
    generate(folder, operator="directml/*")
    return folder


@pytest.fixture
def folder(intact: Path, tmp_path: Path) -> Path:
    """A suite to be damaged."""
    return Path(shutil.copytree(intact, tmp_path / "suite"))


def opened(folder: Path) -> Suite:
    """The suite, read as far as a run reads it before its first case."""
    suite = Suite(folder)
    assert suite.operators
    return suite


def refusal(folder: Path, name: str) -> str:
    """What opening says of file `name`; it also has to say what to do."""
    with pytest.raises(SuiteError) as caught:
        opened(folder)
    text = str(caught.value)
    assert text.startswith(f"{folder / name}: ")
    assert re.search(r"generate the suite again|that `opcert generate` wrote", text)
    return text


def edit(folder: Path, name: str, change: Edit) -> None:
    """Change the JSON in a file."""
    data = json.loads((folder / name).read_bytes())
    change(data)
    (folder / name).write_text(json.dumps(data), encoding="utf-8")


def reseal(folder: Path, *names: str) -> None:
    """Give the manifest the digests of files that were changed."""

    def sealed(manifest: Any) -> None:
        for name in names:
            manifest["files"][name] = sha256((folder / name).read_bytes()).hexdigest()

    edit(folder, MANIFEST, sealed)


def edit_index(folder: Path, change: Edit) -> None:
    edit(folder, INDEX, change)
    reseal(folder, INDEX)


def edit_stored(folder: Path, **changes: Any) -> None:
    """Change what the index says of the first case's first output."""
    edit_index(folder, lambda index: index["cases"][0]["outputs"][0].update(changes))


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
    assert "Is a directory" in refusal(folder, name)


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
        (lambda manifest: manifest.update(extra=1), "extra: Extra inputs are not permitted"),
        (lambda manifest: manifest.pop("seed"), "seed: Field required"),
        (lambda manifest: manifest.update(seed="0"), "seed: Input should be a valid integer"),
        (lambda manifest: manifest.update(seed=0.5), "seed: Input should be a valid integer"),
        (lambda manifest: manifest.update(format=2.0), "format: Input should be a valid integer"),
        (lambda manifest: manifest.update(files=[]), "files: Input should be"),
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


def test_an_index_that_is_another_file_is_told(folder: Path) -> None:
    def swapped(manifest: Any) -> None:
        manifest["operators"][OPERATOR]["index"] = PACK

    edit(folder, MANIFEST, swapped)
    assert "not JSON" in refusal(folder, PACK)


def test_an_index_of_another_operator_is_told(folder: Path) -> None:
    edit_index(folder, lambda index: index.update(operator="openvino/Slice-8"))
    assert f"is of openvino/Slice-8, not of {OPERATOR}" in refusal(folder, INDEX)


def test_an_index_of_another_format_is_told(folder: Path) -> None:
    edit_index(folder, lambda index: index.update(format=FORMAT - 1))
    assert f"format {FORMAT - 1}; this opcert reads format {FORMAT}" in refusal(folder, INDEX)


def test_an_index_that_is_not_json_is_told(folder: Path) -> None:
    (folder / INDEX).write_text("[" * 100_000)
    reseal(folder, INDEX)
    assert "not JSON" in refusal(folder, INDEX)


@pytest.mark.parametrize(
    "changes",
    [
        {"offset": 10**9},
        {"offset": 2**80},
        {"shape": [10**9]},
        {"shape": [2**80]},
        {"shape": [2**32, 2**32]},
        {"shape": [0, 2**80]},
        {"shape": [1] * 99},
    ],
    ids=str,
)
def test_an_array_that_is_not_within_the_pack_is_told_before_any_case_runs(
    folder: Path, changes: dict[str, Any]
) -> None:
    edit_stored(folder, **changes)
    assert "example-1/output.0 is not within the pack's" in refusal(folder, PACK)


def test_a_pack_that_was_cut_short_with_its_digest_is_told(folder: Path) -> None:
    (folder / PACK).write_bytes((folder / PACK).read_bytes()[:1000])
    reseal(folder, PACK)
    assert "is not within the pack's 1000 bytes" in refusal(folder, PACK)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"type": "f128"}, "cases.0.outputs.0.StoredArray.type: "),
        ({"type": None}, "cases.0.outputs.0.StoredArray.type: "),
        ({"shape": [-1]}, "cases.0.outputs.0.StoredArray.shape.0: "),
        ({"shape": [2.5]}, "cases.0.outputs.0.StoredArray.shape.0: "),
        ({"shape": 3}, "cases.0.outputs.0.StoredArray.shape: "),
        ({"offset": -1}, "cases.0.outputs.0.StoredArray.offset: "),
        ({"extra": 1}, "cases.0.outputs.0.StoredArray.extra: "),
    ],
)
def test_an_array_of_another_form_is_told(folder: Path, changes: dict[str, Any], told: str) -> None:
    edit_stored(folder, **changes)
    assert told in refusal(folder, INDEX)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"expects": "luck"}, "cases.1.expects: "),
        ({"type": "any"}, "cases.1.type: "),
        ({"rank": -1}, "cases.1.rank: "),
        ({"why": None}, "cases.1.why: "),
        ({"extra": 1}, "cases.1.extra: "),
        ({"id": "dml-split/example-1"}, "has two cases of one id"),
        ({"twin": "dml-split/nobody"}, "has no twin dml-split/nobody"),
        ({"twin": "dml-split/example-2"}, "has no twin dml-split/example-2 before it"),
    ],
)
def test_a_case_that_contradicts_the_format_or_the_others_is_told(
    folder: Path, changes: dict[str, Any], told: str
) -> None:
    edit_index(folder, lambda index: index["cases"][1].update(changes))
    assert told in refusal(folder, INDEX)


@pytest.mark.parametrize("lost", [{"twin": None}, {"rule": "dml-split/no-such-rule"}])
def test_a_rejection_that_nothing_could_credit_is_told(folder: Path, lost: dict[str, Any]) -> None:
    def edit(index: Any) -> None:
        rejections = [case for case in index["cases"] if case["expects"] == "rejection"]
        rejections[0].update(lost)

    edit_index(folder, edit)
    assert "has no twin or no rule" in refusal(folder, INDEX)


def test_a_case_too_few_is_told(folder: Path) -> None:
    edit_index(folder, lambda index: index["cases"].pop())
    assert "cases, the manifest" in refusal(folder, INDEX)


class Bomb:
    """What a pickle must never get to do."""

    went_off = False

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return explode, ()


def explode() -> None:
    Bomb.went_off = True


def test_a_pickle_in_a_pack_is_never_loaded(folder: Path) -> None:
    pickle.loads(pickle.dumps(Bomb()))  # noqa: S301 -- it does go off
    assert Bomb.went_off
    Bomb.went_off = False
    with (folder / PACK).open("wb") as pack:
        bombs = np.array([Bomb()] * 1000, object)
        np.savez(pack, allow_pickle=True, a=bombs, rest=np.zeros(10**6, np.uint8))
    reseal(folder, PACK)
    for operator, case in opened(folder):
        operator.inputs(case)
        operator.outputs(case)
    assert not Bomb.went_off


def test_files_beside_the_suites_own_are_left_alone(folder: Path) -> None:
    (folder / "directml" / "__pycache__").mkdir()
    (folder / "directml" / "notes.txt").write_text("mine")
    opened(folder)
