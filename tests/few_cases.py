"""A part of the core suite, for tests whose claim needs no case in particular: they run faster."""

import gzip
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from opcert.suite.format import content_digest
from opcert.suite.suite import Suite, core_suite_folder

Cases = dict[str, dict[str, Any]]
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


def keep_cases(folder: Path, choose: Callable[[Cases], set[str]]) -> None:
    """Remove from each operator of a suite the cases that are not chosen of all, by their ids."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    for entry in manifest["operators"].values():
        path = folder / entry["index"]
        index = read_index(path.read_bytes())
        kept = choose({case["id"]: case for case in index["cases"]})
        cases = index["cases"] = [case for case in index["cases"] if case["id"] in kept]
        path.write_bytes(index_of(index))
        manifest["files"][entry["index"]] = content_digest(entry["index"], path.read_bytes())
        entry["cases"] = len(cases)
        entry["rejections"] = sum(case["expects"] == "rejection" for case in cases)
        entry["implementation_defined"] = sum("ambiguity" in case for case in cases)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def with_baselines(kept: set[str], cases: Cases) -> set[str]:
    """Return the ids of cases, and those of the cases that they need."""
    while baselines := {cases[case].get("baseline") or case for case in kept} - kept:
        kept = kept | baselines
    return kept


@cache
def few_cases() -> Suite:
    """Return the core suite with its examples, a tenth of its cases, and their baselines."""
    folder = Path(_FOLDER.name)
    shutil.copytree(core_suite_folder(), folder, dirs_exist_ok=True)
    # The ids of cases, but for those of examples, end with a number or a digest.
    keep_cases(
        folder,
        lambda cases: with_baselines(
            {case for case in cases if "example-" in case or case[-1] == "0"}, cases
        ),
    )
    return Suite(folder)
