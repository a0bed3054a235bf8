"""Spec -> cases: the documented calls, calls that cover the input space, and changes of both."""

from collections import defaultdict
from collections.abc import Sequence

from opcert.cases.case import Case, MistakeLog, short_digest
from opcert.cases.conditions import Conditions
from opcert.cases.negative import NegativeCases
from opcert.cases.neighbours import neighbour_cases
from opcert.cases.positive import PositiveCases
from opcert.specification.files import SpecFile

# The strength t of each profile's covering array: any t factors have every combination of levels
# that can occur. Pairs trigger most faults (Kuhn, Wallace and Gallo, 2004); triples cost ten times
# the calls; the calls of `stress` are few and large.
COVERING_STRENGTH = {"core": 2, "full": 3, "stress": 2}


def generate_cases(spec_file: SpecFile, profile: str, seed: int) -> list[Case]:
    """Return every case of a spec, each baseline before the cases that are changes of it.

    The same spec, profile and seed give the same cases.

    Raises:
        SpecError: with every mistake that the cases reveal in the spec.
    """
    spec, mistakes = spec_file.spec, MistakeLog(spec_file)
    positive = PositiveCases(spec_file, profile, seed, mistakes)
    valid = [*positive.examples(), *positive.covering(COVERING_STRENGTH[profile])]
    # Changes of calls that are mistaken would repeat the mistakes.
    mistakes.raise_if_any()
    baselines = [case for case in valid if case.ambiguity is None]
    negative = NegativeCases(spec, spec_file.reference, profile, seed, baselines, mistakes)
    changed = [*neighbour_cases(Conditions(spec), profile, seed, baselines), *negative.cases()]
    touched = {case.ambiguity for case in (*valid, *changed)}
    if spec.call_ambiguities != spec.ambiguities:
        conditions = Conditions(spec)
        touched |= {conditions.open_elements(case.call) for case in baselines}
    for i, ambiguity in enumerate(spec.ambiguities):
        # The few calls under stress need not touch every ambiguity.
        if ambiguity.id not in touched and profile != "stress":
            text = f"no case touches the ambiguity '{ambiguity.id}'; add 'violations' that do"
            mistakes.add(("ambiguities", i, "id"), text)
    mistakes.raise_if_any()
    return _execution_order(valid, changed)


def _execution_order(valid: Sequence[Case], changed: Sequence[Case]) -> list[Case]:
    """Return the examples, then the other valid calls by signature, each before changes of it.

    State that a backend wrongly keeps from a call makes the next similar call fail: one with the
    same types and shapes, or a neighbour. Signatures are ordered by digest, so that element types
    alternate, and a run that is cut short covers some of each.
    """
    changes: defaultdict[str | None, list[Case]] = defaultdict(list)
    for case in changed:
        changes[case.baseline].append(case)

    def position(case: Case) -> tuple[bool, str]:
        is_example = case.example is not None
        return not is_example, "" if is_example else short_digest(str(case.call.signature))

    return [
        case
        for baseline in sorted(valid, key=position)
        for case in (baseline, *changes[baseline.id])
    ]
