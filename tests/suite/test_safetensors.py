"""Suites with files of safetensors, which have the arrays of each operator."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from opcert.arrays.element_types import Array, type_name
from opcert.arrays.golden import alternatives_of
from opcert.errors import OpcertError
from opcert.settings import PROFILES, Profile
from opcert.suite import formats
from opcert.suite.formats import files_in_format
from opcert.suite.generation import generate
from opcert.suite.suite import Suite
from opcert.suite.writing import write_suite
from tests import small_spec
from tests.few_cases import few_cases
from tests.small_suite import contents, files, files_of

pytest.importorskip("safetensors", reason="safetensors of the extra 'safetensors' is not installed")

FORMAT = "safetensors"
FILE = "example/take-1.safetensors"

pytestmark = pytest.mark.usefixtures("few_calls")


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small spec with elements of four bits."""
    changes = ("T: [i8, f32]", "T: [i4, f32]"), ("data: i8[3]", "data: i4[3]")
    folder = tmp_path_factory.mktemp("specs")
    return small_spec.spec(folder, *changes, ("- i8[2]", "- i4[2]")).parent


Arrays = dict[str, tuple[str, list[int], bytes]]


def read(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return the metadata of a file of safetensors; type, shape and bytes of each array by key."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    facts = json.loads(header.pop("__metadata__")["opcert"])
    arrays = {}
    for key, entry in header.items():
        begin, end = entry["data_offsets"]
        arrays[key] = entry["dtype"], entry["shape"], data[start + begin : start + end]
    return facts, arrays


def expected(suite: Suite, operator: str) -> Arrays:
    """Return what `read` should return of the arrays of an operator, if all were stored."""
    arrays: dict[str, Array] = {}
    operator_suite = suite.operators[operator]
    for case in operator_suite.cases.values():
        elements = operator_suite.elements(case)
        arrays |= {f"{case.id}/inputs/{name}": array for name, array in elements.items()}
        for k, output in enumerate(operator_suite.outputs(case)):
            arrays[f"{case.id}/outputs/{k}"] = output
            for i, other in enumerate(alternatives_of(output)):
                arrays[f"{case.id}/outputs/{k}/alternatives/{i}"] = other
    names = {"boolean": "BOOL", "f8e4m3": "F8_E4M3", "f8e5m2": "F8_E5M2", "i4": "U8", "u4": "U8"}
    return {
        key: (names.get(name, name.upper()), list(array.shape), array.tobytes())
        for key, array in arrays.items()
        for name in [type_name(array.dtype)]
    }


def stored(every: Arrays, most: int = 1 << 20) -> Arrays:
    """Return the arrays that are not too large."""
    return {key: array for key, array in every.items() if len(array[2]) <= most}


@pytest.mark.slow
def test_every_array_of_a_suite_is_stored(tmp_path: Path) -> None:
    lines: list[str] = []
    core = files_of(*few_cases().manifest.operators)
    write_suite(tmp_path, files_in_format(FORMAT, core.items(), None, lines))
    suite = Suite(tmp_path)
    large: Counter[str] = Counter()
    types: set[str] = set()
    for name, entry in suite.manifest.operators.items():
        metadata, arrays = read(tmp_path / entry.index.replace(".jsonl.gz", ".safetensors"))
        assert metadata == {"operator": name, "index": entry.index, "as_bits": {}}
        every = expected(suite, name)
        assert arrays == stored(every)
        large[name] = len(every) - len(arrays)
        types |= {element_type for element_type, _, _ in arrays.values()}
    assert {"BF16", "F8_E4M3", "F8_E5M2", "BOOL"} <= types
    assert lines == [
        f"{name}: left out {count}: arrays of more than 1 MiB" for name, count in (+large).items()
    ]


def test_the_suite_stays_as_it_is(take: Path, tmp_path: Path) -> None:
    plain, formatted = tmp_path / "plain", tmp_path / "formatted"
    generate(plain, take)
    generate(formatted, take, format=FORMAT)
    written = contents(formatted)
    assert written == {**contents(plain), FILE: written[FILE]}
    # And the suite takes the place of what the format has added.
    generate(formatted, take)
    assert contents(formatted) == contents(plain)


def test_elements_of_four_bits_are_stored_as_bytes(take: Path, tmp_path: Path) -> None:
    generate(tmp_path, take, format=FORMAT)
    metadata, arrays = read(tmp_path / FILE)
    assert arrays["take-1/example-1/outputs/0"] == ("U8", [2], bytes([1, 2]))
    bits = {key for key, (element_type, _, _) in arrays.items() if element_type == "U8"}
    assert metadata["as_bits"] == dict.fromkeys(sorted(bits, key=[*arrays].index), "i4")
    assert bits < arrays.keys()


def test_larger_arrays_are_counted(
    take: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "MAX_ARRAY_BYTES", 8)
    (line,) = generate(tmp_path, take, format=FORMAT)
    _, arrays = read(tmp_path / FILE)
    every = expected(Suite(tmp_path, take), "example/Take-1")
    assert arrays == stored(every, 8)
    assert line.startswith(f"example/Take-1: left out {len(every) - len(arrays)}: arrays of more")


@pytest.mark.slow
def test_alternatives_of_open_elements_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator = "openvino/ScatterElementsUpdate-3"
    monkeypatch.setitem(PROFILES, "core", Profile(calls=500))
    generate(tmp_path, operator=operator, format=FORMAT)
    _, arrays = read(tmp_path / "openvino" / "scatter-elements-update-3.safetensors")
    assert any("/alternatives/" in key for key in arrays)
    assert arrays == stored(expected(Suite(tmp_path), operator))


def test_the_bytes_are_the_same_each_time() -> None:
    first, again = (dict(files_in_format(FORMAT, files().items(), None, [])) for _ in range(2))
    assert first == again


def test_a_folder_is_checked_and_replaced(take: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"format": FORMAT}
    assert generate(tmp_path, take, **options) == []
    assert generate(tmp_path, take, **options, check=True) == []
    assert generate(tmp_path, take, **options, seed=1) == []
    assert f"changed: {FILE}" in generate(tmp_path, take, **options, check=True)
    (tmp_path / FILE).rename(tmp_path / "other.safetensors")
    with pytest.raises(OpcertError, match=r"contains other\.safetensors, not part of a suite"):
        generate(tmp_path, take, **options)
