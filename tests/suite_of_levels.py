"""A small suite of a made-up operator, and ways to remove cases from it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.few_cases import Cases, keep_cases
from tests.small_spec import spec

OPERATOR = "example/Take-1"

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

    def others(cases: Cases) -> set[str]:
        removed = {name for name, case in cases.items() if predicate(case)}
        assert removed
        while dependent := {n for n, c in cases.items() if c.get("baseline") in removed} - removed:
            removed |= dependent
        return cases.keys() - removed

    keep_cases(suite, others)


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
