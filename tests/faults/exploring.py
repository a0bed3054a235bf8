"""How soon `explore` finds faults: `python -m tests.faults.exploring [SEED [MINUTES]]`.

Takes 40 faults that need two conditions or more, which chance alone seldom meets, and prints the
seconds of CPU that each took, and the call that fails.
"""

import sys
import time
from collections.abc import Iterator
from math import inf, isfinite
from statistics import median

from opcert.exploration.calls import call_line
from opcert.exploration.explore import ExplorationResult, explore
from opcert.settings import RunSettings
from tests.faults.catalogue import FAULTS
from tests.faults.fault import Fault

# By the part of their names before the slash.
_OF_SEVERAL_CONDITIONS = """
variadic-split-1: rest-first-on-the-last-axis zero-with-rest rest-128 rest-past-its-type
  equal-by-the-first negative-axis-mirrored accepts-lengths-not-below-minus-one-with-rest
  accepts-lengths-sum-negative-axis plan-without-axis
dml-split: axis-3-of-5 axis-1-of-8 all-ones first-axis accepts-output-sizes-off-axis-between
  accepts-output-type-last accepts-output-type-sign
slice-8: start-at-n-empty-backwards stop-before-first-is-last
  greatest-stop-reaches-the-end-backwards least-start-is-last-backwards
  start-below-wraps-backwards one-element-backwards-empty default-axes-backwards
  accepts-step-nonzero-empty-slice accepts-axes-range-of-rank-between
broadcast-1: explicit-output-rank-8 explicit-scalar stretched-and-new gap-after-the-first-axis
  stretch-twice accepts-target-not-negative-explicit accepts-explicit-compatible-between
gather-8: with-batches two-batch-dims negative-zero u64-above-clamped i8-wraps
  negative-axis-with-batches accepts-batch-dims-at-most-axis-negative-axis
  accepts-batch-shapes-equal-same-product
"""


def of_several_conditions() -> Iterator[Fault]:
    """Yield 40 faults that need two conditions or more."""
    slug = ""
    for word in _OF_SEVERAL_CONDITIONS.split():
        if word.endswith(":"):
            slug = word[:-1]
        else:
            yield FAULTS[f"{slug}/{word}"]


def explored(fault: Fault, minutes: float, seed: int = 0) -> ExplorationResult:
    """Explore the backend that makes a fault, until it is found or the time is up."""
    return next(
        explore(fault.make, RunSettings(operator=fault.operator), minutes=minutes, seed=seed)
    )


def main(seed: str = "0", minutes: str = "1") -> None:
    """Print a line for each fault, and how many were found."""
    times = []
    for fault in of_several_conditions():
        begun = time.process_time()
        result = explored(fault, float(minutes), int(seed))
        seconds = time.process_time() - begun
        found = result.counterexample
        times.append(seconds if found else inf)
        what = f"{found.fault.kind}: {call_line(found.steps[-1])}" if found else "NOT FOUND"
        steps = f"{len(found.steps)} calls, " if found else ""
        print(f"{seconds:5.1f} s {result.tried:6} calls  {fault.name}: {steps}{what}", flush=True)
    print(f"{sum(map(isfinite, times))} of {len(times)} found, median {median(times):.1f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
