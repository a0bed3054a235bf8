"""Spec -> cases: the examples, the calls that the factors draw, and those a change away."""

from collections import defaultdict
from collections.abc import Sequence

from opcert.cases.case import Case, MistakeLog, short_digest
from opcert.cases.conditions import Conditions
from opcert.cases.negative import NegativeCases
from opcert.cases.neighbours import neighbours
from opcert.cases.positive import PositiveCases
from opcert.specification import SpecFile

# The t of each profile's t-way covering array.
COVERING_STRENGTH = {"core": 2, "full": 3, "stress": 2}


def generate_cases(spec_file: SpecFile, profile: str, seed: int) -> list[Case]:
    """Return every case of a spec, baselines first: the same for the same spec, profile and seed.

    Raises:
        SpecError: with every mistake that the draws bring out.
    """
    mistakes = MistakeLog(spec_file)
    author = PositiveCases(spec_file, profile, seed, mistakes)
    valid = [*author.examples(), *author.drawn(COVERING_STRENGTH[profile])]
    mistakes.stop()
    spec, reference = spec_file.spec, spec_file.reference
    baselines = [case for case in valid if case.ambiguity is None]
    negative = NegativeCases(spec, reference, profile, seed, baselines, mistakes)
    changed = [*neighbours(Conditions(spec), profile, seed, baselines), *negative.cases()]
    touched = {case.ambiguity for case in (*valid, *changed)}
    for i, each in enumerate(spec.ambiguities):
        # Under stress there are fewer calls, of other sizes.
        if each.id not in touched and profile != "stress":
            text = f"no case touches '{each.id}'; expected 'violations' that do"
            mistakes.note(("ambiguities", i, "id"), text)
    mistakes.stop()
    return _in_order(valid, changed)


def _in_order(valid: Sequence[Case], changed: Sequence[Case]) -> list[Case]:
    """Return documented calls first, then calls of one signature together, the types by turns.

    Behind each valid call stand those that are one change away from it.
    """
    behind: defaultdict[str | None, list[Case]] = defaultdict(list)
    for case in changed:
        behind[case.baseline].append(case)
    first = sorted(valid, key=lambda case: (case.example is None, _signature(case)))
    return [each for case in first for each in (case, *behind[case.id])]


def _signature(case: Case) -> str:
    return "" if case.example else short_digest(str(case.call.signature))
