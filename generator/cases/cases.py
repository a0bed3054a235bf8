"""Spec -> cases: the examples, the calls that the factors draw, and those a change away."""

from collections import defaultdict
from collections.abc import Sequence

from opcert.generator.cases.case import Case, Mistakes, digest
from opcert.generator.cases.changed_cases import ChangedCases
from opcert.generator.cases.valid_cases import ValidCases
from opcert.generator.specification.files import SpecFile

# The t of each profile's t-way covering array.
STRENGTH = {"core": 2, "full": 3, "stress": 2}


def cases_of(spec_file: SpecFile, profile: str, seed: int) -> list[Case]:
    """Return every case of a spec, twins first: the same for the same spec, profile and seed.

    Raises:
        SpecError: with every mistake that the draws bring out.
    """
    mistakes = Mistakes(spec_file)
    author = ValidCases(spec_file, profile, seed, mistakes)
    valid = [*author.examples(), *author.drawn(STRENGTH[profile])]
    mistakes.stop()
    twins = [case for case in valid if case.ambiguity is None]
    beside = ChangedCases(spec_file.spec, spec_file.reference, profile, twins, mistakes)
    changed = [*beside.siblings(), *beside.rejected(), *beside.ambiguous()]
    mistakes.stop()
    return _in_order(valid, changed)


def _in_order(valid: Sequence[Case], changed: Sequence[Case]) -> list[Case]:
    """Return documented calls first, then calls of one signature together, the types by turns.

    Behind each valid call stand those that are one change away from it.
    """
    behind: defaultdict[str | None, list[Case]] = defaultdict(list)
    for case in changed:
        behind[case.twin].append(case)
    first = sorted(valid, key=lambda case: (case.example is None, _signature(case)))
    return [each for case in first for each in (case, *behind[case.id])]


def _signature(case: Case) -> str:
    return "" if case.example else digest(str(case.call.signature))
