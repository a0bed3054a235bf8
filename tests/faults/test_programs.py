"""The program that a report prints for a failure fails when it is run."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

from opcert import Certificate
from opcert.isolation.supervised import SupervisedBackend
from opcert.report.cause_section import OBJECT_BACKEND
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.certification import Certification
from opcert.verdicts.confirmation import Confirmation
from opcert.verdicts.failure_program import failure_program
from opcert.verdicts.reproduction import Reproduction
from opcert.verdicts.verdict import FAILURE_STATUSES, Verdict
from tests.faults import catalogue
from tests.faults.catalogue import FAULTS, MECHANISMS
from tests.faults.finding import core_suite
from tests.made_certificate import certificate as made_certificate

MADE = f"{catalogue.__file__}:made"
ROOT = Path(__file__).parents[2]
# A fault that only declines calls gives nothing wrong that a program could show.
SHOWING = [name for name in MECHANISMS if name != "undeclared"]


def chosen(mechanism: str, number: int) -> list[str]:
    """Return some faults of a mechanism, of as many operators as there are."""
    names = [name for name, fault in FAULTS.items() if fault.mechanism == mechanism]
    seen: Counter[str] = Counter()
    order = {}
    for name in names:
        operator = FAULTS[name].operator
        order[name] = seen[operator], operator
        seen[operator] += 1
    return list(islice(sorted(names, key=order.__getitem__), number))


QUICK = [name for mechanism in SHOWING[::11] for name in chosen(mechanism, 1)]
EACH = [name for mechanism in SHOWING for name in chosen(mechanism, 2)]
# What a backend keeps shows in the most different ways.
EACH += [n for m in ("state", "aliasing", "reused buffers") for n in chosen(m, 6)[2:]]
# Its failure takes large arrays, which a report does not print.
EACH.remove("gather-8/ring-1")


def run_until_a_failure(name: str) -> tuple[dict[str, Verdict], Sequence[str]]:
    """Return the verdicts of the fault's operator up to a failure, and the repeated cases."""
    suite, fault = core_suite(), FAULTS[name]
    certification = Certification(fault.make(), suite)
    for case in suite.operators[fault.operator].cases:
        if certification.verdict(case).status in FAILURE_STATUSES:
            break
    verdicts = {verdict.case: verdict for verdict in certification.finish()}
    return verdicts, certification.repeated


def program_of(name: str) -> tuple[str, Reproduction]:
    """Return the program of the first failure of a fault, and how that was confirmed."""
    verdicts, repeated = run_until_a_failure(name)
    backend, diagnosis = SupervisedBackend(MADE, {"name": name}), Diagnosis(core_suite())
    try:
        found = Confirmation(backend, diagnosis, verdicts, repeated).confirm()
    finally:
        backend.close()
    stated: Certificate = made_certificate([*(verdicts | found.verdicts).values()])
    stated = stated.replace(reproductions=found.reproductions)
    causes = diagnosis.causes(stated.verdicts, found.reproductions)
    representatives = {cause.representative for cause in causes} & found.reproductions.keys()
    verdict = next(each for each in stated.verdicts if each.case in representatives)
    operator, _ = core_suite().cases[verdict.case]
    reproduction = found.reproductions[verdict.case]
    return failure_program(operator, verdict, reproduction, OBJECT_BACKEND), reproduction


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in QUICK)) for n in EACH]
)
def test_the_program_of_a_failure_fails(name: str) -> None:
    text, reproduction = program_of(name)
    assert reproduction.reproduced != "never"
    text = text.replace("from my_backend import backend", "backend = made  #")
    with pytest.raises((AssertionError, ValueError, TypeError, IndexError)):
        exec(text, {"made": FAULTS[name].make()})  # noqa: S102 -- what is printed is to be run
