"""The files of a suite: that they parse, that they add up, and what they say of themselves."""

import ast
import io
import json
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from opcert.arrays import ELEMENT_TYPES, Array, read_elements, stored_dtype
from opcert.specification import SpecFile, read_specs_in
from opcert.suite import FileContents, generate_suite_files
from opcert.suite.format import FORMAT

OPERATOR = "directml/DML_OPERATOR_SPLIT"


@cache
def spec() -> SpecFile:
    (found,) = read_specs_in(None, "directml/*")
    return found


@cache
def files() -> FileContents:
    return generate_suite_files([spec()])


@cache
def manifest() -> Any:
    return json.loads(files()["manifest.json"])


@cache
def entry() -> Any:
    return manifest()["operators"][OPERATOR]


@cache
def index() -> Any:
    return json.loads(files()[entry()["index"]])


@cache
def packed() -> dict[str, Array]:
    with np.load(io.BytesIO(files()[entry()["pack"]]), allow_pickle=False) as archive:
        return dict(archive)


def arrays() -> list[Any]:
    """What the index says of each array, in the pack or not."""
    found = []
    for case in index()["cases"]:
        found += [
            *case["inputs"].values(),
            *case.get("outputs", []),
            *case.get("inverted_data_outputs", []),
        ]
    return found


def stored_arrays() -> list[Any]:
    return [each for each in arrays() if "array" in each]


def written_in_python() -> dict[str, str]:
    return {name: data.decode() for name, data in files().items() if name.endswith(".py")}


def test_the_manifest_names_every_other_file_with_its_digest() -> None:
    others = {name: data for name, data in files().items() if name != "manifest.json"}
    assert manifest()["files"] == {name: sha256(data).hexdigest() for name, data in others.items()}


def test_the_manifest_says_what_the_suite_was_made_from() -> None:
    said = {key: manifest()[key] for key in ("format", "profile", "seed")}
    assert said == {"format": FORMAT, "profile": "core", "seed": 0}
    assert list(manifest()["operators"]) == [OPERATOR]
    text = spec().path.read_bytes().replace(b"\r\n", b"\n")
    assert entry()["spec_sha256"] == sha256(text).hexdigest()
    assert entry()["spec"] == "directml/DML_OPERATOR_SPLIT.yaml"
    assert entry()["spec_version"] == spec().spec.version


def test_the_counts_of_the_manifest_add_up() -> None:
    cases = index()["cases"]
    assert entry()["cases"] == len(cases)
    assert entry()["rejections"] == sum(case["expects"] == "rejection" for case in cases)
    assert entry()["implementation_defined"] == sum("ambiguity" in case for case in cases)


def test_the_index_has_one_case_a_line() -> None:
    lines = files()[entry()["index"]].decode().splitlines()
    assert sum(line.startswith('  {"id":') for line in lines) == len(index()["cases"])


def test_the_index_says_why_each_case_exists() -> None:
    for case in index()["cases"]:
        reasons = [case.get("why"), case.get("levels"), case.get("baseline")]
        assert sum(map(bool, reasons)) == 1
        assert bool(case.get("why")) == case.get("example", False)


def test_the_index_has_words_for_each_level_and_the_texts_behind_each_case() -> None:
    named = {
        (factor, level)
        for case in index()["cases"]
        if "levels" in case
        for factor, level in zip(index()["factors"], case["levels"], strict=True)
    }
    assert named
    assert all(level in index()["factors"][factor] for factor, level in named)
    open_cases = [case for case in index()["cases"] if "ambiguity" in case]
    assert open_cases
    for case in open_cases:
        text = index()["ambiguities"][f"dml-split/{case['ambiguity']}"]
        assert all(text[key] for key in ("clause", "text", "valid", "invalid"))


def test_the_index_names_the_document_with_its_digest() -> None:
    document = spec().spec.document
    assert index()["document"] == {
        "title": document.title,
        "version": document.version,
        "language": "en",
        "sha256": document.sha256,
    }


def test_a_rejection_names_rule_and_twin_and_has_no_outputs() -> None:
    known = {case["id"] for case in index()["cases"]}
    for case in index()["cases"]:
        assert (case["expects"] == "rejection") == ("violated_rule" in case)
        if "violated_rule" in case:
            assert "outputs" not in case
            assert case["rules"][0] == case["violated_rule"]
            assert case["baseline"] in known


def test_the_index_finds_each_array_by_name_and_by_offset() -> None:
    data = files()[entry()["pack"]]
    for stored in stored_arrays():
        dtype = stored_dtype(stored["type"])
        by_offset = read_elements(data, stored["offset"], tuple(stored["shape"]), dtype)
        by_name = packed()[stored["array"]]
        assert by_name.dtype == dtype
        assert by_name.shape == tuple(stored["shape"])
        assert by_name.tobytes() == by_offset.tobytes()


def test_every_array_of_the_pack_is_used_and_stands_once() -> None:
    assert {stored["array"] for stored in stored_arrays()} == packed().keys()


def test_a_changed_case_names_the_arrays_of_its_twin() -> None:
    known = {case["id"]: case for case in index()["cases"]}
    shared = 0
    for case in index()["cases"]:
        if "baseline" in case and case["inputs"] == known[case["baseline"]]["inputs"]:
            shared += 1
    assert shared > 50


def test_type_and_rank_are_those_of_the_first_input_or_of_the_twins() -> None:
    known = {case["id"]: case for case in index()["cases"]}
    for case in index()["cases"]:
        if "InputTensor" in case["inputs"]:
            first = case["inputs"]["InputTensor"]
            assert (case["type"], case["rank"]) == (first["type"], len(first["shape"]))
        else:
            baseline = known[case["baseline"]]
            assert (case["type"], case["rank"]) == (baseline["type"], baseline["rank"])


def test_free_inputs_are_those_that_a_pattern_fills() -> None:
    spelled_out = {"dml-split/example-1", "dml-split/example-2"}
    for case in index()["cases"]:
        stated = case.get("baseline", case["id"]) in spelled_out
        assert case.get("data_inputs", []) == ([] if stated else [*case["inputs"]])


@pytest.mark.parametrize("name", ["__init__.py", "conftest.py", "directml/test_dml_split.py"])
def test_emitted_python_compiles_and_says_that_it_is_generated(name: str) -> None:
    text = written_in_python()[name]
    compile(text, name, "exec")
    assert ast.get_docstring(ast.parse(text))
    first = text.splitlines()[0]
    assert first.startswith("# Generated by opcert from ")
    assert "do not edit" in first
    if "test_" in name:
        assert "directml/DML_OPERATOR_SPLIT.yaml, version 3" in first


def test_every_python_file_is_looked_at_here() -> None:
    assert len(written_in_python()) == 3


def test_an_emitted_test_is_named_after_each_example_and_has_its_values() -> None:
    tree = ast.parse(written_in_python()["directml/test_dml_split.py"])
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert [each.name for each in functions] == [
        *(f"test_example_{i}" for i in (1, 2)),
        *(f"test_prose_example_{i}" for i in (1, 2, 3, 4)),
        "test_case",
    ]
    assert ast.get_docstring(functions[0]) == ("Examples, example 1: Three parts along axis 2.")
    calls = [node for node in ast.walk(functions[0]) if isinstance(node, ast.Call)]
    literals = [
        np.array(ast.literal_eval(call.args[1]), ELEMENT_TYPES["f32"])
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "tensor"
    ]
    case = index()["cases"][0]
    stored = [*case["inputs"].values(), *case["outputs"]]
    assert len(literals) == len(stored)
    for literal, each in zip(literals, stored, strict=True):
        assert literal.shape == tuple(each["shape"])
        assert literal.tobytes() == packed()[each["array"]].tobytes()


def test_every_text_file_ends_with_one_newline_and_has_unix_line_ends() -> None:
    for name, data in files().items():
        if not name.endswith(".npz"):
            assert data.endswith(b"\n")
            assert not data.endswith(b"\n\n")
            assert b"\r" not in data


def test_paths_are_within_the_suite_and_the_same_on_every_system() -> None:
    for name in files():
        assert not name.startswith("/")
        assert ".." not in name.split("/")
        assert "\\" not in name
