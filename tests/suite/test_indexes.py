"""Indexes and packs: one that contradicts its format, itself or the manifest is an error."""

import pickle
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from opcert.errors import SuiteError
from opcert.suite.format import FORMAT, Index
from opcert.suite.writing import write_suite
from tests.small_suite import (
    INDEX,
    MANIFEST,
    OPERATOR,
    PACK,
    edit,
    edit_index,
    files,
    opened,
    refusal,
    reseal,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite that a test may damage."""
    write_suite(tmp_path / "suite", files().items())
    return tmp_path / "suite"


def edit_stored(folder: Path, **changes: Any) -> None:
    """Change the record of the first case's first output."""
    edit_index(folder, lambda index: index["cases"][0]["outputs"][0].update(changes))


def test_another_file_instead_of_an_index_is_an_error(folder: Path) -> None:
    def name_the_pack(manifest: Any) -> None:
        manifest["operators"][OPERATOR]["index"] = PACK

    edit(folder, MANIFEST, name_the_pack)
    assert "not JSON" in refusal(folder, PACK)


def test_an_index_of_another_operator_is_an_error(folder: Path) -> None:
    edit_index(folder, lambda index: index.update(operator="openvino/Slice-8"))
    assert f"expected the index of {OPERATOR}, found openvino/Slice-8" in refusal(folder, INDEX)


def test_an_index_of_another_format_is_an_error(folder: Path) -> None:
    edit_index(folder, lambda index: index.update(format=FORMAT - 1))
    assert f"found format {FORMAT - 1}, expected {FORMAT}" in refusal(folder, INDEX)


def test_an_index_that_is_not_json_is_an_error(folder: Path) -> None:
    (folder / INDEX).write_text("[" * 100_000)
    reseal(folder, INDEX)
    assert "not JSON" in refusal(folder, INDEX)


@pytest.mark.parametrize(
    "changes",
    [
        {"offset": 10**9},
        {"offset": 2**80},
        {"shape": [10**9]},
    ],
    ids=str,
)
def test_an_array_that_exceeds_the_pack_is_an_error_before_any_case_runs(
    folder: Path, changes: dict[str, Any]
) -> None:
    edit_stored(folder, **changes)
    assert "/output.0 exceeds the" in refusal(folder, PACK)


def test_a_truncated_pack_with_the_right_digest_is_an_error(folder: Path) -> None:
    (folder / PACK).write_bytes((folder / PACK).read_bytes()[:1000])
    reseal(folder, PACK)
    assert "exceeds the 1000 bytes of the pack" in refusal(folder, PACK)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"type": "f128"}, "cases.0.outputs.0.StoredArray.type: "),
        ({"type": None}, "cases.0.outputs.0.StoredArray.type: "),
        ({"shape": [-1]}, "cases.0.outputs.0.StoredArray.shape.0: "),
        ({"shape": [2.5]}, "cases.0.outputs.0.StoredArray.shape.0: "),
        ({"shape": 3}, "cases.0.outputs.0.StoredArray.shape: "),
        ({"offset": -1}, "cases.0.outputs.0.StoredArray.offset: "),
        ({"layout": "odd"}, "cases.0.outputs.0.StoredArray.layout: "),
        ({"extra": 1}, "cases.0.outputs.0.StoredArray.extra: "),
    ],
)
def test_a_wrong_record_of_an_array_is_an_error(
    folder: Path, changes: dict[str, Any], message: str
) -> None:
    edit_stored(folder, **changes)
    assert message in refusal(folder, INDEX)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"expects": "luck"}, "cases.1.expects: "),
        ({"type": "any"}, "cases.1.type: "),
        ({"rank": -1}, "cases.1.rank: "),
        ({"example": None}, "cases.1.example: "),
        ({"extra": 1}, "cases.1.extra: "),
        ({"id": "dml-split/example-1"}, "duplicate case id 'dml-split/example-1'"),
        ({"rules": ["dml-split/nothing"]}, "has unknown rules: dml-split/nothing"),
        ({"data_inputs": ["nothing"]}, "has unknown data inputs: nothing"),
        ({"baseline": "dml-split/nobody"}, "dml-split/nobody, which does not precede it"),
        ({"baseline": "dml-split/example-2"}, "dml-split/example-2, which does not precede it"),
    ],
)
def test_a_case_that_contradicts_the_format_or_the_other_cases_is_an_error(
    folder: Path, changes: dict[str, Any], message: str
) -> None:
    edit_index(folder, lambda index: index["cases"][1].update(changes))
    assert message in refusal(folder, INDEX)


@pytest.mark.parametrize("levels", [[], ["one"] * 100, {}, None], ids=["[]", "100", "{}", "null"])
def test_levels_that_are_not_one_for_each_factor_are_an_error(folder: Path, levels: Any) -> None:
    edit_index(folder, lambda index: index["cases"][-1].update(levels=levels))
    assert ".levels: found" in refusal(folder, INDEX)


def test_a_level_that_is_no_name_is_an_error(folder: Path) -> None:
    def edit(index: Any) -> None:
        planned = next(case for case in index["cases"] if "levels" in case)
        planned["levels"][-1] = 1

    edit_index(folder, edit)
    assert ".levels: found" in refusal(folder, INDEX)


@pytest.mark.parametrize("key", ["baseline", "violated_rule"])
def test_a_rejection_without_baseline_or_violated_rule_is_an_error(folder: Path, key: str) -> None:
    def edit(index: Any) -> None:
        next(case for case in index["cases"] if case["expects"] == "rejection").pop(key)

    edit_index(folder, edit)
    assert "must be rejected, but has no baseline or no violated rule" in refusal(folder, INDEX)


def test_an_unknown_ambiguity_is_an_error(folder: Path) -> None:
    def edit(index: Any) -> None:
        case = next(case for case in index["cases"] if "ambiguity" in case)
        case["ambiguity"] = "dml-split/nothing"

    edit_index(folder, edit)
    assert "touches an unknown ambiguity: dml-split/nothing" in refusal(folder, INDEX)


def test_a_missing_case_is_an_error(folder: Path) -> None:
    edit_index(folder, lambda index: index["cases"].pop())
    assert "cases, but the manifest states" in refusal(folder, INDEX)


class Bomb:
    """An object whose unpickling runs code."""

    went_off = False

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return explode, ()


def explode() -> None:
    Bomb.went_off = True


def test_a_pickle_in_a_pack_is_never_loaded(folder: Path) -> None:
    pickle.loads(pickle.dumps(Bomb()))  # noqa: S301 -- proves that the bomb works
    assert Bomb.went_off
    Bomb.went_off = False
    with (folder / PACK).open("wb") as pack:
        bombs = np.array([Bomb()] * 1000, object)
        np.savez(pack, allow_pickle=True, a=bombs, rest=np.zeros(10**6, np.uint8))
    reseal(folder, PACK)
    for case in opened(folder):
        _ = case.inputs
        with suppress(SuiteError):
            _ = case.outputs
    assert not Bomb.went_off


def test_other_files_in_the_folder_are_ignored(folder: Path) -> None:
    (folder / "directml" / "__pycache__").mkdir()
    (folder / "directml" / "notes.txt").write_text("mine")
    opened(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": -1}, ".GeneratedArray.seed: "),
        ({"seed": "1"}, ".GeneratedArray.seed: "),
        ({"sha256": "0" * 63}, ".GeneratedArray.sha256: "),
        ({"type": "f128"}, ".GeneratedArray.type: "),
        ({"layout": "odd"}, ".GeneratedArray.layout: "),
        ({"offset": 0}, ".GeneratedArray.offset: "),
    ],
)
def test_a_wrong_record_of_a_generated_input_is_an_error(
    folder: Path, changes: dict[str, Any], message: str
) -> None:
    """Pydantic lists the errors of both kinds of record, as the input is of neither."""

    def edit(index: Any) -> None:
        records = (record for case in index["cases"] for record in case["inputs"].values())
        next(record for record in records if "seed" in record).update(changes)

    edit_index(folder, edit)
    assert re.search(r"cases\.\d+\.inputs\.InputTensor\.", refusal(folder, INDEX))
    with pytest.raises(ValidationError) as caught:
        Index.model_validate_json((folder / INDEX).read_bytes())
    paths = [".".join(map(str, error["loc"])) for error in caught.value.errors()]
    assert any(f"{path}: ".endswith(message) for path in paths)


@pytest.mark.parametrize("text", ['"\\ud800"', "[" * 300 + "]" * 300])
def test_json_that_only_python_reads_is_an_error(text: str, folder: Path) -> None:
    index = (folder / INDEX).read_text("utf-8")
    assert '"attributes":{"OutputCount":' in index
    changed = index.replace('"attributes":{', f'"attributes":{{"odd":{text},', 1)
    (folder / INDEX).write_text(changed, "utf-8")
    reseal(folder, INDEX)
    assert "not JSON: " in refusal(folder, INDEX)


def test_a_baseline_with_a_baseline_is_an_error(folder: Path) -> None:
    def chain(index: Any) -> None:
        first, *others = (case for case in index["cases"] if case.get("baseline"))
        others[0]["baseline"] = first["id"]

    edit_index(folder, chain)
    assert ", which has a baseline itself" in refusal(folder, INDEX)


@pytest.mark.parametrize("shape", [[10**30], [10**30, 0], [1] * 100])
def test_a_shape_of_no_array_is_an_error(shape: list[int], folder: Path) -> None:
    edit_stored(folder, shape=shape)
    assert "expected up to 32 extents" in refusal(folder, INDEX)


def test_the_name_of_an_array_is_no_code(folder: Path) -> None:
    edit_stored(folder, array='a"]; open("x"); b["')
    assert "array: found " in refusal(folder, INDEX)
