"""Indexes and packs: one that contradicts its format, itself or the manifest is an error."""

import gzip
import json
import pickle
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from opcert.errors import SuiteError
from opcert.suite.format import FORMAT, IndexedCase, content_of
from tests.small_suite import (
    INDEX,
    MANIFEST,
    OPERATOR,
    PACK,
    Edit,
    edit,
    edit_index,
    opened,
    read_json,
    refusal,
    reseal,
    write,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite that a test may damage."""
    return write(tmp_path / "suite")


def stored(**changes: Any) -> Edit:
    """Return a change of the record of the first case's first output."""
    return lambda index: index["cases"][0]["outputs"][0].update(changes)


def second(**changes: Any) -> Edit:
    return lambda index: index["cases"][1].update(changes)


def last(**changes: Any) -> Edit:
    return lambda index: index["cases"][-1].update(changes)


def first_with(key: str, change: Edit) -> Edit:
    """Return a change of the first case that has a key."""
    return lambda index: change(next(case for case in index["cases"] if key in case))


def rejection_without(key: str) -> Edit:
    return first_with("violated_rule", lambda case: case.pop(key))


def chain(index: Any) -> None:
    first, *others = (case for case in index["cases"] if case.get("baseline"))
    others[0]["baseline"] = first["id"]


RECORD = "dml-split/example-1, outputs.0.StoredArray."
WRONG: list[tuple[Edit, str]] = [
    (lambda index: index.update(operator="openvino/Slice-8"), "expected the index of directml"),
    (
        lambda index: index.update(format=FORMAT - 1),
        f"found format {FORMAT - 1}, expected {FORMAT}",
    ),
    (lambda index: index["cases"].pop(), "cases, but the manifest states"),
    (stored(type="f128"), f"{RECORD}type: "),
    (stored(type=None), f"{RECORD}type: "),
    (stored(shape=[-1]), f"{RECORD}shape.0: "),
    (stored(shape=[2.5]), f"{RECORD}shape.0: "),
    (stored(shape=3), f"{RECORD}shape: "),
    (stored(offset=-1), f"{RECORD}offset: "),
    (stored(layout="odd"), f"{RECORD}layout: "),
    (stored(layout={"odd": 1}), f"{RECORD}layout.odd: "),
    (stored(layout={"gaps": [10**9]}), "gaps up to 3, an offset up to 64"),
    (stored(extra=1), f"{RECORD}extra: "),
    *((stored(shape=shape), "expected up to 32 extents") for shape in ([10**30, 0], [1] * 100)),
    # The name of an array is no code.
    (stored(array='a"]; open("x"); b["'), "array: found "),
    (second(expects="luck"), "dml-split/example-2, expects: "),
    (second(type="any"), "dml-split/example-2, type: "),
    (second(rank=-1), "dml-split/example-2, rank: "),
    (second(example=None), "dml-split/example-2, example: "),
    (second(extra=1), "dml-split/example-2, extra: "),
    (second(id="dml-split/example-1"), "duplicate case id 'dml-split/example-1'"),
    (second(rules=["dml-split/nothing"]), "has unknown rules: dml-split/nothing"),
    (second(data_inputs=["nothing"]), "has unknown data inputs: nothing"),
    (second(baseline="dml-split/nobody"), "dml-split/nobody, which is not in the index"),
    (second(baseline="dml-split/example-2"), "dml-split/example-2, which has a baseline itself"),
    (chain, ", which has a baseline itself"),
    *(
        (rejection_without(key), "must be rejected, but has no baseline or no violated rule")
        for key in ("baseline", "violated_rule")
    ),
    (
        first_with("ambiguity", lambda case: case.update(ambiguity="dml-split/nothing")),
        "touches an unknown ambiguity: dml-split/nothing",
    ),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_an_index_that_contradicts_its_format_or_itself_is_an_error(
    folder: Path, change: Edit, message: str
) -> None:
    edit_index(folder, change)
    assert message in refusal(folder, INDEX)


def test_another_file_instead_of_an_index_is_an_error(folder: Path) -> None:
    edit(folder, MANIFEST, lambda manifest: manifest["operators"][OPERATOR].update(index=PACK))
    assert "not JSON" in refusal(folder, PACK)


@pytest.mark.parametrize("changes", [{"offset": 10**9}, {"offset": 2**80}, {"shape": [10**9]}])
def test_an_array_that_exceeds_the_pack_is_an_error_before_any_case_runs(
    folder: Path, changes: dict[str, Any]
) -> None:
    edit_index(folder, stored(**changes))
    assert "exceeds the" in refusal(folder, PACK)


def test_a_truncated_pack_with_the_right_digest_is_an_error(folder: Path) -> None:
    (folder / PACK).write_bytes((folder / PACK).read_bytes()[:1000])
    reseal(folder, PACK)
    assert "exceeds the 1000 bytes of the pack" in refusal(folder, PACK)


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
    assert re.search(r"dml-split/\S+, inputs\.InputTensor\.", refusal(folder, INDEX))
    cases = [json.dumps(case) for case in read_json(folder, INDEX)["cases"]]
    with pytest.raises(ValidationError) as caught:
        assert [*map(TypeAdapter(IndexedCase).validate_json, cases)]
    paths = [".".join(map(str, error["loc"])) for error in caught.value.errors()]
    assert any(f"{path}: ".endswith(message) for path in paths)


@pytest.mark.parametrize("text", ['"\\ud800"', "[" * 300 + "]" * 300, "[" * 100_000])
def test_json_that_only_python_reads_is_an_error(text: str, folder: Path) -> None:
    index = content_of(INDEX, (folder / INDEX).read_bytes()).decode()
    assert '"attributes":{"OutputCount":' in index
    changed = index.replace('"attributes":{', f'"attributes":{{"odd":{text},', 1)
    (folder / INDEX).write_bytes(gzip.compress(changed.encode(), 1))
    reseal(folder, INDEX)
    assert "not JSON: " in refusal(folder, INDEX)
