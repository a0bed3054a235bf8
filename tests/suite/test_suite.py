"""Reading a suite: the shipped one loads, and damage to any file or the manifest is an error."""

import re
import weakref
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import opcert
from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.errors import SuiteError
from opcert.suite.format import FORMAT
from opcert.suite.suite import Suite, core_suite_folder, read_manifest
from opcert.verdicts.certification import batches
from tests.few_cases import few_cases
from tests.small_suite import (
    INDEX,
    MANIFEST,
    OPERATOR,
    PACK,
    TESTS,
    Edit,
    edit,
    edit_index,
    files,
    opened,
    refusal,
    write,
)
from tests.wrong_backends import Right

FILES = ("__init__.py", "conftest.py", INDEX, PACK, TESTS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite that a test may damage."""
    return write(tmp_path / "suite")


def test_the_core_suite_is_loaded_by_default() -> None:
    suite = opcert.load()
    assert suite.folder == core_suite_folder()
    assert len(suite.operators) == 5
    entries = suite.manifest.operators.values()
    assert sum(1 for _ in suite) == len(suite.cases) == sum(entry.cases for entry in entries)


def test_a_loaded_case_has_its_golden_data_by_plain_names(folder: Path) -> None:
    case = opcert.load(str(folder)).cases["dml-split/example-1"]
    assert (case.id, case.operator, case.expects) == ("dml-split/example-1", OPERATOR, "outputs")
    assert case.inputs["InputTensor"].ravel().tolist() == list(range(1, 13))
    assert [output.size for output in case.outputs] == [4, 2, 6]
    assert case.attributes["Axis"] == 2
    assert (case.violated_rule, case.baseline, case.ambiguity) == (None, None, None)
    assert "dml-split/unequal-parts" in case.rules
    operator, record = case
    assert operator.cases[case.id] is record is case.record


def test_a_loaded_rejection_names_the_violated_rule_and_its_baseline(folder: Path) -> None:
    suite = opcert.load(folder)
    case = next(case for case in suite if case.expects == "rejection")
    assert case.outputs == []
    assert case.violated_rule in case.rules
    assert suite.cases[case.baseline or ""].expects == "outputs"


def test_loading_reports_damage_at_once(folder: Path) -> None:
    edit_index(folder, lambda index: index["cases"].pop())
    with pytest.raises(SuiteError, match="but the manifest states"):
        opcert.load(folder)


def test_the_identity_of_a_suite_has_its_digest_and_those_of_its_specs(folder: Path) -> None:
    suite = opened(folder)
    assert suite.identity.model_dump() == {
        "version": FORMAT,
        "profile": "core",
        "seed": 0,
        "digest": sha256((folder / MANIFEST).read_bytes()).hexdigest(),
        "cases": len(suite.cases),
        "specs": {OPERATOR: suite.manifest.operators[OPERATOR].spec_sha256},
    }


def test_inputs_are_new_and_writeable_and_golden_outputs_are_neither(folder: Path) -> None:
    operator = opened(folder).operators[OPERATOR]
    case = operator.cases["dml-split/example-1"]
    first, second = operator.inputs(case)["InputTensor"], operator.inputs(case)["InputTensor"]
    first[...] = 0
    assert second.ravel().tolist() == list(range(1, 13))
    assert operator.inputs(case)["InputTensor"].tobytes() == second.tobytes()
    for output in operator.outputs(case):
        assert not output.flags.writeable
        assert not np.shares_memory(output, first)


def test_arrays_have_the_types_and_shapes_of_the_index(folder: Path) -> None:
    for operator, case in opened(folder):
        arrays = [*operator.inputs(case).values(), *operator.outputs(case)]
        for array, stored in zip(arrays, (*case.inputs.values(), *case.outputs), strict=True):
            assert array.dtype == ELEMENT_TYPES[stored.type]
            assert array.shape == stored.shape


def test_the_manifest_of_a_damaged_suite_can_be_read(folder: Path) -> None:
    (folder / PACK).unlink()
    assert sorted(read_manifest(folder).files) == sorted(FILES)


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "nowhere", MANIFEST)


def test_a_file_instead_of_a_folder_is_an_error(folder: Path) -> None:
    assert "Not a directory" in refusal(folder / "conftest.py", MANIFEST)


@pytest.mark.parametrize("name", [*FILES, MANIFEST])
def test_a_missing_file_or_a_folder_in_its_place_is_an_error(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert "No such file" in refusal(folder, name)
    (folder / name).mkdir()
    assert "a folder, not a file" in refusal(folder, name)


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_and_a_flipped_bit_are_errors(folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    for kept in (0, 1, len(data) - 1):
        (folder / name).write_bytes(data[:kept])
        text = f"the digest of its {kept} bytes is not the one in the manifest"
        assert (text in refusal(folder, name)) != name.endswith(".gz")
    for position in (0, len(data) // 2, len(data) - 1):
        changed = bytearray(data)
        changed[position] ^= 1
        (folder / name).write_bytes(changed)
        assert re.search("the file was changed or cut short|not gzip", refusal(folder, name))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, "not JSON") for text in (b"", b"{", b"\x00\xff", b"'format': 1", b"[" * 100_000)),
        (b'{"format": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"format": 1} {}', "not JSON"),
        (files()[MANIFEST][:-100], "not JSON"),
        *(
            (text, f"found format None, expected {FORMAT}")
            for text in (b"[]", b"null", b"3", b'"format"', b"{}")
        ),
    ],
    ids=range(13),
)
def test_another_text_than_a_manifest_is_an_error(folder: Path, text: bytes, message: str) -> None:
    (folder / MANIFEST).write_bytes(text)
    assert message in refusal(folder, MANIFEST)


def changed(**values: object) -> Edit:
    return lambda manifest: manifest.update(values)


def with_digest(name: str, digest: object) -> Edit:
    return lambda manifest: manifest["files"].update({name: digest})


def of_operator(**values: object) -> Edit:
    return lambda manifest: manifest["operators"][OPERATOR].update(values)


WRONG: list[tuple[Edit, str]] = [
    # Another format is reported before anything else.
    *(
        (changed(format=version, unknown=1), f"found format {version}, expected {FORMAT}")
        for version in (0, FORMAT - 1, FORMAT + 1, str(FORMAT), True, None, [FORMAT])
    ),
    (changed(format=float(FORMAT)), f"format: found {FORMAT}.0; expected an integer"),
    (changed(extra=1), "extra: unknown key"),
    (lambda manifest: manifest.pop("seed"), "seed: is missing"),
    *((changed(seed=seed), "expected an integer") for seed in ("0", 0.5)),
    (changed(files=[]), "files: found []; expected a mapping"),
    *((with_digest("conftest.py", digest), "files.conftest.py") for digest in ("0" * 63, None)),
    (of_operator(cases=-1), f"{OPERATOR}.cases"),
    (lambda manifest: manifest["operators"][OPERATOR].pop("pack"), f"{OPERATOR}.pack"),
    # Each file of an operator has a digest, and so is within the suite.
    *(
        (of_operator(**{key: name}), f"no digest of '{name}', a file of {OPERATOR}")
        for key in ("index", "pack", "tests")
        for name in ("../x", "lost")
    ),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_a_manifest_with_wrong_keys_or_values_is_an_error(
    folder: Path, change: Edit, message: str
) -> None:
    edit(folder, MANIFEST, change)
    assert message in refusal(folder, MANIFEST)


@pytest.mark.parametrize("key", ["cases", "rejections", "implementation_defined"])
def test_a_count_that_contradicts_the_index_is_an_error(folder: Path, key: str) -> None:
    def one_more(manifest: Any) -> None:
        manifest["operators"][OPERATOR][key] += 1

    edit(folder, MANIFEST, one_more)
    assert f"{key.replace('_', '-')}, but the manifest states" in refusal(folder, INDEX)


@pytest.mark.parametrize("name", ["../stranger", "directml/../../stranger", "..", "/etc/hostname"])
def test_a_path_outside_the_suite_is_an_error_and_is_not_read(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    read_bytes = Path.read_bytes

    def recording(path: Path) -> bytes:
        read.append(path)
        return read_bytes(path)

    edit(folder, MANIFEST, with_digest(name, "0" * 64))
    monkeypatch.setattr(Path, "read_bytes", recording)
    assert f"file '{name}' is outside the suite" in refusal(folder, MANIFEST)
    assert all(path.is_relative_to(folder) and ".." not in path.parts for path in read)


@pytest.mark.parametrize("name", ["", ".", "directml", "nul\0byte", "x" * 5000, "conftest.py/x"])
def test_a_path_to_no_file_is_an_error(folder: Path, name: str) -> None:
    edit(folder, MANIFEST, with_digest(name, "0" * 64))
    refusal(folder, name)


def test_a_run_reads_the_cases_that_it_runs(folder: Path) -> None:
    edit_index(folder, lambda index: index["cases"][-1].update(extra=1))
    suite = Suite(folder)
    certificate = opcert.certify(Right(), suite, case="dml-split/example-*")
    assert certificate.conformant
    assert [case for batch in batches(suite, [*suite.cases]) for case in batch.cases]
    with pytest.raises(SuiteError, match="extra"):
        suite.validate()


def test_an_operator_for_which_memory_has_no_room_is_released_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    suite = Suite(few_cases().folder)
    first, second, third, *_ = suite.manifest.operators
    monkeypatch.setattr("opcert.suite.suite._KEPT_LINES", suite.manifest.operators[first].cases + 1)
    former = suite.operators[first]
    former.validate()
    assert suite.operators[second] is not None
    assert suite.operators[first] is former
    monkeypatch.setattr("opcert.suite.suite._KEPT_LINES", 1)
    released = weakref.ref(former)
    del former
    # At once, not when the garbage collector comes.
    assert suite.operators[third] is not None
    assert released() is None


def test_a_case_that_memory_has_no_room_for_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opcert.suite.operator_suite._KEPT_CASES", 1)
    cases = Suite(few_cases().folder).operators["openvino/Slice-8"].cases
    first, second, *_ = cases
    former = cases[first]
    assert cases[first] is former
    assert cases[second].id == second
    assert cases[first] is not former
    assert cases[first] == former
