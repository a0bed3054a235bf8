"""A small suite with a case for every combination of levels, and ways to remove cases."""

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
# Every combination of these levels is a case of the small suite.
LEVELS = {
    "type": ("i8", "f32"),
    "rank": ("one", "two"),
    "n": ("three", "one", "zero"),
    "count": ("none", "all"),
}

Case = dict[str, Any]
CasePredicate = Callable[[Case], bool]


def write_specs(folder: Path) -> None:
    """Write a small spec with a case for every combination of levels, and its reference."""
    text = (FOLDER / "take.yaml").read_text()
    assert text.count("take.py:Rows") == text.count("examples:\n") == 1
    text = text.replace("take.py:Rows", "take.py:EveryCombination")
    text = text.replace("examples:\n", BEHAVIOUR)
    (folder / "take.yaml").write_text(text)
    shutil.copy(FOLDER / "take.py", folder)


def edit_cases(suite: Path, change: Callable[[list[Case]], list[Case]]) -> None:
    """Change the cases of the small suite, and its manifest accordingly."""
    remaining: list[Case] = []

    def cases(index: Any) -> None:
        remaining.extend(change(index["cases"]))
        index["cases"] = remaining

    def counts(manifest: Any) -> None:
        entry = manifest["operators"][OPERATOR]
        entry["cases"] = len(remaining)
        entry["rejections"] = sum(case["expects"] == "rejection" for case in remaining)

    edit(suite, INDEX, cases)
    edit(suite, MANIFEST, counts)
    reseal(suite, INDEX)


def remove_cases(suite: Path, predicate: CasePredicate) -> None:
    """Remove cases from the small suite, with the cases whose baseline they are."""

    def change(cases: list[Case]) -> list[Case]:
        removed = {case["id"] for case in cases if predicate(case)}
        assert removed
        while dependent := {c["id"] for c in cases if c.get("baseline") in removed} - removed:
            removed |= dependent
        return [case for case in cases if case["id"] not in removed]

    edit_cases(suite, change)


def valid(**levels: object) -> CasePredicate:
    """Return a predicate of valid calls with the given `type`, `rank`, `n` and `count`."""

    def predicate(case: Case) -> bool:
        data = case["inputs"]["data"]
        actual = {
            "type": data["type"],
            "rank": len(data["shape"]),
            "n": data["shape"][0],
            "count": case["attributes"]["count"],
        }
        return case["expects"] == "outputs" and all(actual[k] == v for k, v in levels.items())

    return predicate


def is_discriminating(case: Case) -> bool:
    """Whether every output of a case has elements, and its data has more than one."""
    shapes = [output["shape"] for output in case["outputs"]]
    return all(map(all, shapes)) and prod(case["inputs"]["data"]["shape"]) > 1


def combinations_of(*factors: str, **fixed: str) -> set[str]:
    """Return the names of all combinations of levels of `factors` with the `fixed` levels."""
    names = [factor for factor in LEVELS if factor in (*factors, *fixed)]
    rows = product(*(LEVELS[f] if f in factors else [fixed[f]] for f in names))
    return {" ".join(f"{f}={v}" for f, v in zip(names, row, strict=True)) for row in rows}
