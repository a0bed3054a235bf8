"""A small suite with a case for every choice of levels, and ways to take cases out of it."""

import shutil
from collections.abc import Callable
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from tests.small_suite import MANIFEST, edit, reseal

FOLDER = Path(__file__).parent / "bad_specs"
OPERATOR = "example/Take-1"
INDEX = "example/take-1.json"

BEHAVIOUR = """\
  - id: nothing
    kind: behaviour
    clause: Outputs
    text: No rows may be asked for.
    when: count == 0
examples:
"""
TABLE = """\
  full_combinations: [[type, rank, n, count]]
  observe:
    type: data.type
    rank: data.rank
    n: data.shape[0]
    count: count
  draw:
"""
# Every choice of levels, each of which is a case of the small suite.
LEVELS = {
    "type": ("i8", "f32"),
    "rank": ("one", "two"),
    "n": ("three", "one", "zero"),
    "count": ("none", "all"),
}

Case = dict[str, Any]
Chosen = Callable[[Case], bool]


def write_specs(folder: Path) -> None:
    """Write a small spec whose factors show, and its reference."""
    text = (FOLDER / "take.yaml").read_text()
    assert text.count("  draw:\n") == text.count("examples:\n") == 1
    text = text.replace("  draw:\n", TABLE).replace("examples:\n", BEHAVIOUR)
    (folder / "take.yaml").write_text(text)
    shutil.copy(FOLDER / "take.py", folder)


def edit_cases(suite: Path, change: Callable[[list[Case]], list[Case]]) -> None:
    """Change the cases of the small suite, and what its manifest says of them."""
    left: list[Case] = []

    def cases(index: Any) -> None:
        left.extend(change(index["cases"]))
        index["cases"] = left

    def counts(manifest: Any) -> None:
        entry = manifest["operators"][OPERATOR]
        entry["cases"] = len(left)
        entry["rejections"] = sum(case["expects"] == "rejection" for case in left)

    edit(suite, INDEX, cases)
    edit(suite, MANIFEST, counts)
    reseal(suite, INDEX)


def take_out(suite: Path, chosen: Chosen) -> None:
    """Take cases out of the small suite, and those that are one change away from them."""

    def change(cases: list[Case]) -> list[Case]:
        gone = {case["id"] for case in cases if chosen(case)}
        assert gone
        while more := {c["id"] for c in cases if c.get("baseline") in gone} - gone:
            gone |= more
        return [case for case in cases if case["id"] not in gone]

    edit_cases(suite, change)


def valid(**levels: object) -> Chosen:
    """Choose the valid calls that have what is said of `type`, `rank`, `n` and `count`."""

    def chosen(case: Case) -> bool:
        data = case["inputs"]["data"]
        found = {
            "type": data["type"],
            "rank": len(data["shape"]),
            "n": data["shape"][0],
            "count": case["attributes"]["count"],
        }
        return case["expects"] == "outputs" and all(found[k] == v for k, v in levels.items())

    return chosen


def tells(case: Case) -> bool:
    """Whether a case has elements in every output, and more than one to tell apart in its data."""
    shapes = [each["shape"] for each in case["outputs"]]
    return all(map(all, shapes)) and prod(case["inputs"]["data"]["shape"]) > 1


def combinations_of(*factors: str, **fixed: str) -> set[str]:
    """Name each combination of the levels of `factors`, with those of others that are given."""
    names = [factor for factor in LEVELS if factor in (*factors, *fixed)]
    rows = product(*(LEVELS[f] if f in factors else [fixed[f]] for f in names))
    return {" ".join(f"{f}={v}" for f, v in zip(names, row, strict=True)) for row in rows}
