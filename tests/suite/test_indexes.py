"""Indexes and packs: one that contradicts its form, itself or the manifest is told at opening."""

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
from opcert.suite import write_suite
from opcert.suite.format import FORMAT, Index
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
    """A suite to be damaged."""
    write_suite(tmp_path / "suite", files())
    return tmp_path / "suite"


def edit_stored(folder: Path, **changes: Any) -> None:
    """Change what the index says of the first case's first output."""
    edit_index(folder, lambda index: index["cases"][0]["outputs"][0].update(changes))


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
    assert "/output.0 is not within the pack's" in refusal(folder, PACK)


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
        ({"layout": "odd"}, "cases.0.outputs.0.StoredArray.layout: "),
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
        ({"rules": ["dml-split/nothing"]}, "is of rules that the index does not have: dml-split/"),
        ({"baseline": "dml-split/nobody"}, "has no baseline dml-split/nobody"),
        ({"baseline": "dml-split/example-2"}, "has no baseline dml-split/example-2 before it"),
    ],
)
def test_a_case_that_contradicts_the_format_or_the_others_is_told(
    folder: Path, changes: dict[str, Any], told: str
) -> None:
    edit_index(folder, lambda index: index["cases"][1].update(changes))
    assert told in refusal(folder, INDEX)


@pytest.mark.parametrize(
    "lost", [{"baseline": None}, {"violated_rule": "dml-split/no-such-violated_rule"}]
)
def test_a_rejection_that_nothing_could_credit_is_told(folder: Path, lost: dict[str, Any]) -> None:
    def edit(index: Any) -> None:
        rejections = [case for case in index["cases"] if case["expects"] == "rejection"]
        rejections[0].update(lost)

    edit_index(folder, edit)
    assert "has no baseline or no violated_rule" in refusal(folder, INDEX)


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
        with suppress(SuiteError):
            operator.outputs(case)
    assert not Bomb.went_off


def test_files_beside_the_suites_own_are_left_alone(folder: Path) -> None:
    (folder / "directml" / "__pycache__").mkdir()
    (folder / "directml" / "notes.txt").write_text("mine")
    opened(folder)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seed": -1}, ".GeneratedArray.seed: "),
        ({"seed": "1"}, ".GeneratedArray.seed: "),
        ({"sha256": "0" * 63}, ".GeneratedArray.sha256: "),
        ({"type": "f128"}, ".GeneratedArray.type: "),
        ({"layout": "odd"}, ".GeneratedArray.layout: "),
        ({"offset": 0}, ".GeneratedArray.offset: "),
    ],
)
def test_made_data_of_another_form_is_told(
    folder: Path, changes: dict[str, Any], told: str
) -> None:
    """Neither form of an input is met, and what each lacks is said, one of them first."""

    def edit(index: Any) -> None:
        made = (each for case in index["cases"] for each in case["inputs"].values())
        next(each for each in made if "seed" in each).update(changes)

    edit_index(folder, edit)
    assert re.search(r"cases\.\d+\.inputs\.InputTensor\.", refusal(folder, INDEX))
    with pytest.raises(ValidationError) as caught:
        Index.model_validate_json((folder / INDEX).read_bytes())
    places = [".".join(map(str, each["loc"])) for each in caught.value.errors()]
    assert any(f"{place}: ".endswith(told) for place in places)
