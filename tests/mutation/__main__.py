"""Runs the core suite on every mutant of `reference/`, and prints how many it kills.

Run with `python -m tests.mutation` from the repository's root; `--module slicing` takes one module.
Exit code 1: a mutant survived that `equivalent.yaml` does not list, one that it lists did not
survive, or the minutes were not enough.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from multiprocessing import get_context

from pebble import ProcessExpired, ProcessPool

from tests.mutation.mutants import MODULES, Equivalent, Mutant, equivalents, mutants_of
from tests.mutation.trial import Fate, fate_of, served_by

# Seconds: many times what the longest trial takes, that of a survivor in a module that all use.
DEADLINE = 30.0


@dataclass
class Score:
    """What became of the mutants of some modules."""

    fates: dict[Mutant, Fate] = field(default_factory=dict)
    undone: list[Mutant] = field(default_factory=list)

    def survivors(self) -> list[Mutant]:
        """Return those that no case distinguishes from the reference."""
        return [mutant for mutant, fate in self.fates.items() if fate == "survived"]

    def counts(self, module: str) -> Counter[Fate]:
        """Count the fates in a module, or in all of them with `*`."""
        chosen = (fate for mutant, fate in self.fates.items() if module in (mutant.module, "*"))
        return Counter(chosen)


def tried(
    mutants: Sequence[Mutant], jobs: int, seconds: float, deadline: float = DEADLINE
) -> Score:
    """Return the fates of `mutants`, as many as `jobs` at a time, within `seconds`."""
    score, end = Score(), time.monotonic() + seconds
    with ProcessPool(max_workers=jobs, context=get_context("spawn")) as pool:
        running = {pool.schedule(fate_of, [each], timeout=deadline): each for each in mutants}
        while running and (left := end - time.monotonic()) > 0:
            for future in wait(running, left, FIRST_COMPLETED).done:
                mutant = running.pop(future)
                score.fates[mutant] = _outcome(future)
        score.undone = list(running.values())
        pool.stop()
        pool.join()
    return score


def _outcome(future: "Future[Fate]") -> Fate:
    try:
        fate: Fate = future.result()
    except TimeoutError:
        return "timed out"
    except ProcessExpired:
        return "crashed"
    return fate


def table(score: Score, listed: Sequence[Equivalent], modules: Sequence[str]) -> Iterator[str]:
    """Yield the rows of the score by module."""
    fates: tuple[Fate, ...] = ("killed", "timed out", "crashed", "distinguished", "survived")
    titles = ("module", "mutants", *fates, "of them equivalent", "not importable", "score")
    yield f"| {' | '.join(titles)} |"
    yield "| --- |" + " ---: |" * (len(titles) - 1)
    known = {each.identity for each in listed}
    for module in (*modules, "*"):
        counts = score.counts(module)
        equivalent = sum(
            each.identity in known for each in score.survivors() if module in (each.module, "*")
        )
        mutants = sum(counts[fate] for fate in fates)
        missed = counts["survived"] - equivalent
        percent = f"{(1 - missed / (mutants - equivalent)):.1%}" if mutants > equivalent else "-"
        name = "all" if module == "*" else module
        columns = (*(counts[fate] for fate in fates), equivalent, counts["not importable"])
        yield f"| {name} | {mutants} | {' | '.join(map(str, columns))} | {percent} |"


def complaints(score: Score, listed: Sequence[Equivalent]) -> Iterator[str]:
    """Yield what is wrong: survivors that are not listed, listed ones that did not survive."""
    survivors = {mutant.identity for mutant in score.survivors()}
    known = {each.identity for each in listed}
    undone = {mutant.identity for mutant in score.undone}
    for mutant in score.survivors():
        if mutant.identity not in known:
            yield f"survived: {mutant}"
    for each in listed:
        if each.identity not in survivors | undone:
            yield f"listed as equivalent, but no survivor: {each}"
    if len(survivors) < len(score.survivors()):
        yield "two survivors look alike: distinguish their lines, or one may hide the other"
    if score.undone:
        yield f"{len(score.undone)} mutants not tried: give it more --minutes"


def main() -> int:
    """Try every mutant of the chosen modules and print the score."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--module", action="append", choices=MODULES)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    begin = time.monotonic()
    modules = options.module or [module for module in MODULES if served_by(module)]
    mutants = [mutant for module in modules for mutant in mutants_of(module)]
    listed = [each for each in equivalents() if each.module in modules]
    score = tried(mutants, options.jobs, begin + options.minutes * 60 - time.monotonic())
    print("\n".join(table(score, listed, modules)))
    print(f"{time.monotonic() - begin:.0f} s, {options.jobs} jobs")
    wrong = list(complaints(score, listed))
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
