"""A part of the core suite, for tests whose claim needs no case in particular: they run faster."""

import gzip
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from opcert.suite.emit import suite_files
from opcert.suite.format import OperatorEntry
from opcert.suite.suite import Suite
from opcert.suite.writing import write_suite
from tests.faults.finding import core_suite

_FOLDER = TemporaryDirectory(prefix="opcert-few-cases-")


def read_index(data: bytes) -> Any:
    """Return the first line of a compressed index, and its cases."""
    first, *cases = map(json.loads, gzip.decompress(data).splitlines())
    return {**first, "cases": cases}


def index_of(data: Any) -> bytes:
    """Return the compressed index with a first line and cases, as `read_index` returns them."""
    facts = {key: value for key, value in data.items() if key != "cases"}
    lines = (json.dumps(line, separators=(",", ":")) for line in (facts, *data["cases"]))
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), 1)


@cache
def few_cases() -> Suite:
    """Return the core suite with its examples, a tenth of its cases, and their baselines."""
    whole, folder = core_suite(), Path(_FOLDER.name)
    parts = [_part(whole, name) for name in whole.manifest.operators]
    write_suite(folder, suite_files("core", 0, parts))
    return Suite(folder)


def _part(whole: Suite, name: str) -> tuple[str, OperatorEntry, dict[str, bytes]]:
    """Return an operator with some of its cases: its id, its entry and its files."""
    entry = whole.manifest.operators[name]
    files = {
        path: (whole.folder / path).read_bytes() for path in (entry.index, entry.pack, entry.tests)
    }
    index = read_index(files[entry.index])
    cases = {case["id"]: case for case in index["cases"]}
    # The ids of cases, but for those of examples, end with a number or a digest.
    kept = {case for case in cases if "example-" in case or case[-1] == "0"}
    while baselines := {cases[case].get("baseline") for case in kept} - kept - {None}:
        kept |= baselines
    index["cases"] = [case for name, case in cases.items() if name in kept]
    files[entry.index] = index_of(index)
    expected = [case["expects"] for case in index["cases"]]
    counts = {
        "cases": len(expected),
        "rejections": expected.count("rejection"),
        "implementation_defined": sum("ambiguity" in case for case in index["cases"]),
    }
    return name, entry.model_copy(update=counts), files
