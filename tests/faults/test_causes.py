"""The first cause of a fault names its trigger, and several faults have as many causes."""

from collections.abc import Mapping, Sequence
from functools import cache
from random import Random

import numpy as np
import pytest

from opcert.arrays.calls import group_variadic
from opcert.arrays.element_types import Array
from opcert.backends.contract import Backend
from opcert.diagnosis.table import Condition
from opcert.run.comparison import FailureKind, compare_outputs
from opcert.suite.format import IndexedCase
from opcert.verdicts.cause_text import Cause
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.verdict import Verdict
from tests.faults.catalogue import FAULTS
from tests.faults.fault import SLUGS
from tests.faults.finding import core_suite
from tests.faults.triggers import triggers

pytestmark = pytest.mark.slow
TRIGGERS = dict(triggers())
# At least these shares, in percent.
NAMED, AS_MANY = 85, 80
# How many backends with two to five faults are made.
_COMBINED = 60
# How similar two conditions are that match the same cases but for a few.
_SAME = 0.9


@cache
def vectors(operator: str) -> Sequence[tuple[IndexedCase, Mapping[str, Array], Sequence[Array]]]:
    """Return the decisive cases that are small, with their inputs and golden outputs."""
    suite = core_suite().operators[operator]
    return [
        (case, {name: suite.read_array(array) for name, array in case.inputs.items()}, outputs)
        for case in suite.cases.values()
        if case.ambiguity is None
        and sum(np.prod(array.shape) for array in case.inputs.values()) < 1 << 16
        for outputs in [suite.outputs(case) if case.expects == "outputs" else []]
    ]


@cache
def verdicts(name: str) -> Mapping[str, Verdict]:
    """Return a verdict of each case for a fault, from one call each: much faster than a run."""
    fault, found = FAULTS[name], dict[str, Verdict]()
    backend = fault.make()
    for case, inputs, golden in vectors(fault.operator):
        baseline = found.get(case.baseline or "")
        kind = _kind_of_failure(backend, case, inputs, golden)
        # Whatever the failure of a baseline is, a rejection after it proves nothing.
        if kind is None and case.expects == "rejection" and baseline and baseline.failure:
            kind = "uncredited"
        found[case.id] = Verdict(
            case.id,
            fault.operator,
            "fail" if kind else "pass",
            kind,
            "outputs",
            case.rules,
            "wrong" if kind else "",
            attributed_to=case.baseline if kind == "uncredited" else None,
        )
    return found


def _kind_of_failure(
    backend: Backend, case: IndexedCase, inputs: Mapping[str, Array], golden: Sequence[Array]
) -> FailureKind | None:
    operator = next(name for name, slug in SLUGS.items() if case.id.startswith(f"{slug}/"))
    copies = {name: array.copy() for name, array in inputs.items()}
    try:
        outputs = backend.run(operator, group_variadic(copies), dict(case.attributes))
    except NotImplementedError:
        return "undeclared"
    except Exception:  # a wrong backend may fail in any way
        return "rejected" if case.expects == "outputs" else None
    if case.expects == "rejection":
        return "accepted"
    difference = compare_outputs(golden, outputs)
    return None if difference is None else difference.kind


@cache
def diagnosis() -> Diagnosis:
    return Diagnosis(core_suite())


def failures(name: str) -> set[str]:
    return {v.case for v in verdicts(name).values() if v.failure not in (None, "uncredited")}


def names_trigger(cause: Cause, name: str) -> bool:
    """Whether a cause's condition, or an alternative, matches the cases that the trigger does."""
    operator = core_suite().operators[FAULTS[name].operator]
    levels = diagnosis().levels[FAULTS[name].operator]
    counted = levels.mask(
        case
        for case, verdict in verdicts(name).items()
        if verdict.failure != "uncredited"
        and operator.cases[case].expects == operator.cases[cause.cases[0]].expects
        and (verdict.failure or levels.can_show(cause.kinds[0], operator.cases[case]))
    )
    expected = levels.table.matching(TRIGGERS[name]) & counted
    for terms in (cause.condition, *cause.alternatives):
        condition: Condition = tuple((term.factor, term.levels) for term in terms)
        matched = levels.table.matching(condition) & counted
        if condition and (matched & expected).sum() >= _SAME * (matched | expected).sum():
            return True
    return False


def test_the_first_cause_of_a_fault_names_its_trigger() -> None:
    named = {
        name: names_trigger(causes[0], name)
        for name in TRIGGERS
        if (causes := diagnosis().causes(verdicts(name).values()))
    }
    missing = [name for name, is_named in named.items() if not is_named]
    assert 100 * len(missing) <= (100 - NAMED) * len(named), (len(named), missing)


def combined(random: Random) -> tuple[list[str], list[Verdict]]:
    """Return faults of one operator, and the verdicts of a backend that has all of them.

    Two faults that share a kind, and differ only in a level of the same factors, make one condition
    ("data of f64 or i64"). So only one of these takes part, and only faults of which the others
    hide few failures.
    """
    operator = random.choice(sorted({FAULTS[name].operator for name in TRIGGERS}))
    pool = sorted(name for name in TRIGGERS if FAULTS[name].operator == operator)
    while True:
        names: list[str] = []
        taken: list[tuple[tuple[str, ...], set[str]]] = []
        for name in random.sample(pool, len(pool)):
            kinds = {v.failure for v in verdicts(name).values() if v.failure} - {"uncredited"}
            factors = tuple(factor for factor, _ in TRIGGERS[name])
            hidden = failures(name) & set().union(*map(failures, names), set())
            is_distinct = not any(own == factors and of & kinds for own, of in taken)
            if failures(name) and is_distinct and 3 * len(hidden) <= len(failures(name)):
                names.append(name)
                taken.append((factors, kinds))
        names = names[: random.randint(2, 5)]
        if len(names) > 1:
            break
    mixed = dict(verdicts(names[0]))
    for name in names[1:]:
        for case, verdict in verdicts(name).items():
            if verdict.status == "fail" and mixed[case].status != "fail":
                mixed[case] = verdict
    return names, [*mixed.values()]


def test_a_backend_with_several_faults_has_as_many_causes() -> None:
    random = Random(0)
    counts = []
    for _ in range(_COMBINED):
        names, found = combined(random)
        counts.append((len(names), len(diagnosis().causes(found)), names))
    others = [entry for entry in counts if entry[0] != entry[1]]
    assert 100 * len(others) <= (100 - AS_MANY) * len(counts), others
