"""How soon `explore` finds faults: `python -m tests.faults.exploring [SEED [COUNT [MINUTES]]]`.

Takes COUNT faults of each operator at random, but for those that only decline calls, which is no
finding, and prints how long each took.
"""

import sys
import time
from collections.abc import Iterator
from random import Random

from opcert.exploration.explore import explore
from opcert.exploration.search import ExplorationResult
from tests.faults.catalogue import FAULTS
from tests.faults.fault import OPERATORS, Fault


def at_random(seed: int, count: int) -> Iterator[Fault]:
    """Yield `count` faults of each operator."""
    for operator in OPERATORS:
        known = [
            fault
            for fault in FAULTS.values()
            if fault.operator == operator and fault.mechanism != "undeclared"
        ]
        yield from Random(seed).sample(known, count)


def explored(fault: Fault, minutes: float, seed: int = 0) -> ExplorationResult:
    """Explore the backend that makes a fault, until it is found or the time is up."""
    (found,) = explore(fault.make, operator=fault.operator, minutes=minutes, seed=seed)
    return found


def main(seed: str = "0", count: str = "10", minutes: str = "1") -> None:
    """Print a line for each fault, and how many were found."""
    faults, found = list(at_random(int(seed), int(count))), 0
    for fault in faults:
        begun = time.perf_counter()
        result = explored(fault, float(minutes))
        took = f"{time.perf_counter() - begun:5.1f} s {result.tried:6} calls"
        kind = "NOT FOUND"
        if result.counterexample is not None:
            found += 1
            steps = len(result.counterexample.steps)
            alone = "" if result.counterexample.repeatable else ", not repeatable"
            kind = result.counterexample.fault.kind
            kind = f"{kind}, {steps} calls{alone}: {result.counterexample.call}"
        print(f"{took}  {fault.name} ({fault.mechanism}): {kind}", flush=True)
    print(f"{found} of {len(faults)} found")


if __name__ == "__main__":
    main(*sys.argv[1:])
