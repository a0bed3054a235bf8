"""A small suite of a made-up operator, and ways to remove cases from it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.small_spec import spec
from tests.small_suite import MANIFEST, edit, reseal

OPERATOR = "example/Take-1"
INDEX = "example/take-1.jsonl.gz"

BEHAVIOUR = """\
  - id: nothing
    kind: behaviour
    clause: Outputs
    text: No rows may be asked for.
    when: count == 0
examples:
"""

Case = dict[str, Any]
CasePredicate = Callable[[Case], bool]


def write_specs(folder: Path) -> None:
    """Write a small spec and its reference."""
    spec(folder, ("examples:\n", BEHAVIOUR))


def remove_cases(suite: Path, predicate: CasePredicate) -> None:
    """Remove cases from the small suite, with the cases whose baseline they are."""
    remaining: list[Case] = []

    def cases(index: Any) -> None:
        removed = {case["id"] for case in index["cases"] if predicate(case)}
        assert removed
        while (
            dependent := {c["id"] for c in index["cases"] if c.get("baseline") in removed} - removed
        ):
            removed |= dependent
        remaining.extend(case for case in index["cases"] if case["id"] not in removed)
        index["cases"] = remaining

    def counts(manifest: Any) -> None:
        entry = manifest["operators"][OPERATOR]
        entry["cases"] = len(remaining)
        entry["rejections"] = sum(case["expects"] == "rejection" for case in remaining)

    edit(suite, INDEX, cases)
    edit(suite, MANIFEST, counts)
    reseal(suite, INDEX)


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
