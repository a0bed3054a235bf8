"""The files of a suite: they parse, they agree with each other, and they have every fact."""

import ast
import io
import json
import re
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opcert.arrays.element_types import ELEMENT_TYPES, Array, stored_dtype
from opcert.arrays.patterns import read_elements
from opcert.specification.expressions import DocumentedTensor
from opcert.suite import emit, suite
from opcert.suite.emit import operator_files
from opcert.suite.format import FORMAT, content_digest, content_of
from opcert.suite.operator_suite import OperatorSuite
from tests import shipped
from tests.faults.finding import core_suite
from tests.short_suite import CORE
from tests.small_suite import INDEX, MANIFEST, OPERATOR, files, read_json

SPEC = shipped.spec("DML_OPERATOR_SPLIT")


@cache
def manifest() -> Any:
    return json.loads(files()[MANIFEST])


@cache
def entry() -> Any:
    """The entry of the operator in the core suite, which has cases of every kind."""
    return read_json(core_suite().folder, MANIFEST)["operators"][OPERATOR]


@cache
def index() -> Any:
    return read_json(core_suite().folder, INDEX)


@cache
def cases() -> dict[str, Any]:
    return {case["id"]: case for case in index()["cases"]}


@cache
def pack() -> dict[str, Array]:
    with np.load(io.BytesIO(files()[entry()["pack"]]), allow_pickle=False) as archive:
        return dict(archive)


def stored_arrays() -> list[Any]:
    """The records of all arrays in the index that the pack has."""
    records = []
    for case in index()["cases"]:
        records += case["inputs"].values()
        records += case.get("outputs", []) + case.get("inverted_data_outputs", [])
    return [record for record in records if "array" in record]


def python_files() -> dict[str, str]:
    return {name: data.decode() for name, data in files().items() if name.endswith(".py")}


def test_the_manifest_names_every_other_file_with_its_digest() -> None:
    digests = {name: content_digest(name, data) for name, data in files().items()}
    del digests[MANIFEST]
    assert manifest()["files"] == digests


def test_the_manifest_states_how_the_suite_was_generated() -> None:
    stated = {key: manifest()[key] for key in ("format", "profile", "seed")}
    assert stated == {"format": FORMAT, "profile": "core", "seed": 0}
    assert list(manifest()["operators"]) == [OPERATOR]
    text = SPEC.path.read_bytes().replace(b"\r\n", b"\n")
    assert entry()["spec_sha256"] == sha256(text).hexdigest()
    assert entry()["spec"] == "directml/DML_OPERATOR_SPLIT.yaml"
    assert entry()["spec_version"] == SPEC.spec.version


def test_the_counts_of_the_manifest_are_those_of_the_index() -> None:
    expects = [case["expects"] for case in index()["cases"]]
    assert (entry()["cases"], entry()["rejections"]) == (len(expects), expects.count("rejection"))
    assert entry()["implementation_defined"] == sum("ambiguity" in c for c in index()["cases"])


def test_the_index_has_one_case_a_line() -> None:
    lines = content_of(entry()["index"], files()[entry()["index"]]).decode().splitlines()
    assert sum(line.startswith('{"id":') for line in lines) == len(lines) - 1


def test_a_case_is_an_example_or_drawn_or_one_change_from_its_baseline() -> None:
    for case in index()["cases"]:
        origins = "example" in case, "baseline" in case, "/drawn-" in case["id"]
        assert sum(origins) == 1


def test_a_case_with_a_baseline_states_its_change() -> None:
    assert all(("change" in case) == ("baseline" in case) for case in index()["cases"])
    changes = [case.get("change") for case in index()["cases"]]
    assert {"kind": "plus-one", "argument": "OutputCount"} in changes
    middle = {"kind": "extent-minus-one", "argument": "InputTensor", "position": "middle"}
    assert middle in changes
    assert {"kind": "other-half-of-data"} in changes


def test_the_index_names_the_document_with_its_digest() -> None:
    document = SPEC.spec.document
    assert index()["document"] == {
        "title": document.title,
        "version": document.version,
        "language": "en",
        "sha256": document.sha256,
    }


def test_a_rejection_names_its_rule_and_baseline_and_has_no_outputs() -> None:
    for case in index()["cases"]:
        assert (case["expects"] == "rejection") == ("violated_rule" in case)
        if "violated_rule" in case:
            assert "outputs" not in case
            assert case["rules"][0] == case["violated_rule"]
            assert case["baseline"] in cases()


def test_the_index_finds_each_array_by_name_and_by_offset() -> None:
    data = files()[entry()["pack"]]
    for stored in stored_arrays():
        dtype = stored_dtype(stored["type"])
        by_offset = read_elements(data, stored["offset"], tuple(stored["shape"]), dtype)
        by_name = pack()[stored["array"]]
        assert by_name.dtype == dtype
        assert by_name.shape == tuple(stored["shape"])
        assert by_name.tobytes() == by_offset.tobytes()


def test_the_pack_has_the_stored_arrays_and_no_others() -> None:
    # Of the short suite, cases are left out, but their arrays are not.
    text = content_of(entry()["index"], (CORE / entry()["index"]).read_bytes())
    stored = set(re.findall(rb'"array":"([^"]+)"', text))
    with np.load(CORE / entry()["pack"], allow_pickle=False) as archive:
        assert {name.decode() for name in stored} == {*archive}


def test_what_is_not_stored_is_recomputed() -> None:
    vectors = shipped.vectors("DML_OPERATOR_SPLIT")
    _, made, contents = operator_files(SPEC, vectors, stored=0)
    index = suite.read_index(Path(made.index), content_of(made.index, contents[made.index]))
    operator = OperatorSuite(made, *index, partial(contents.__getitem__, made.pack), Path())
    assert len(contents[made.pack]) < 50_000
    for vector, case in zip(vectors, operator.cases.values(), strict=True):
        arrays = {name: operator.read_array(record) for name, record in case.inputs.items()}
        assert {name: array.tobytes() for name, array in arrays.items()} == {
            name: array.tobytes() for name, array in vector.inputs.items()
        }
        if case.expects == "outputs":
            outputs = operator.outputs(case)
            assert [output.tobytes() for output in outputs] == [
                output.tobytes() for output in vector.outputs
            ]


def test_a_case_shares_unchanged_arrays_with_its_baseline() -> None:
    baselines = {id_: case["baseline"] for id_, case in cases().items() if "baseline" in case}
    shared = [cases()[case]["inputs"] == cases()[of]["inputs"] for case, of in baselines.items()]
    assert sum(shared) > 50


def test_type_and_rank_are_those_of_the_first_input_or_of_the_baseline_s() -> None:
    for case in index()["cases"]:
        if "InputTensor" in case["inputs"]:
            first = case["inputs"]["InputTensor"]
            assert (case["type"], case["rank"]) == (first["type"], len(first["shape"]))
        else:
            baseline = cases()[case["baseline"]]
            assert (case["type"], case["rank"]) == (baseline["type"], baseline["rank"])


def test_data_inputs_are_those_filled_by_a_pattern() -> None:
    spelled_out = {"dml-split/example-1", "dml-split/example-2"}
    for case in index()["cases"]:
        stated = case.get("baseline", case["id"]) in spelled_out
        assert case.get("data_inputs", []) == ([] if stated else [*case["inputs"]])


@pytest.mark.parametrize("name", ["__init__.py", "conftest.py", "directml/test_dml_split.py"])
def test_emitted_python_compiles_and_is_marked_as_generated(name: str) -> None:
    assert len(python_files()) == 3
    text = python_files()[name]
    compile(text, name, "exec")
    assert ast.get_docstring(ast.parse(text))
    first = text.splitlines()[0]
    assert first.startswith("# Generated by opcert from ")
    assert "do not edit" in first
    if "test_" in name:
        assert "directml/DML_OPERATOR_SPLIT.yaml, version 3" in first


def test_each_example_has_an_emitted_test_with_its_values() -> None:
    tree = ast.parse(python_files()["directml/test_dml_split.py"])
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert [function.name for function in functions] == [
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
    for literal, record in zip(literals, stored, strict=True):
        assert literal.shape == tuple(record["shape"])
        assert literal.tobytes() == pack()[record["array"]].tobytes()


def test_paths_and_text_files_are_the_same_on_every_system() -> None:
    for name, data in files().items():
        assert not name.startswith("/")
        assert ".." not in name.split("/")
        assert "\\" not in name
        if not name.endswith(".npz"):
            text = content_of(name, data)
            assert text.endswith(b"\n")
            assert not text.endswith(b"\n\n")
            assert b"\r" not in text


def test_nested_lists_that_hide_an_extent_are_replaced_by_the_shape() -> None:
    empty = DocumentedTensor(type="f32", shape=(0, 4), values=())
    assert emit._tensor_literal(empty, 0) == 'packed("f32", [0, 4])'
