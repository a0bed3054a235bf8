"""What a certificate says of its run, its backend and its failures: only what can be."""

from functools import cache
from typing import Any

import pytest

from opcert import Certificate, certify
from opcert.verification import verify_certificate
from tests import handed_in
from tests import wrong_backends as wrong
from tests.faults.finding import core_suite
from tests.handed_in import Change, changed
from tests.tamperings import part, valid


@cache
def isolated() -> Certificate:
    backend = f"{wrong.__file__}:ThroughFloat16"
    return certify(backend, core_suite(), case="dml-split/valid-[fi]32-1-*")


def flaws(certificate: Certificate) -> list[str]:
    return [str(each) for each in verify_certificate(certificate, core_suite())]


def first(**parts: object) -> Change:
    """Return what changes the first reproduction."""
    return lambda data: next(iter(data["reproductions"].values())).update(parts)


def of_a_pass(data: Any) -> None:
    passed = next(each["case"] for each in data["verdicts"] if valid(each))
    data["reproductions"][passed] = next(iter(data["reproductions"].values()))


TAMPERINGS: dict[str, tuple[Change, str]] = {
    "a reproduction of a pass": (of_a_pass, "of a case that did not fail"),
    "calls of another operator": (
        first(shows="after-others", calls=[{"case": "gather-8/example-1", "inverted_data": False}]),
        "expected calls of cases of directml/DML_OPERATOR_SPLIT",
    ),
}


def test_a_run_that_confirms_its_failures_is_sound() -> None:
    assert isolated().reproductions
    assert flaws(isolated()) == []


@pytest.mark.parametrize("name", TAMPERINGS)
def test_what_a_run_cannot_have_found_is_named(name: str) -> None:
    change, expected = TAMPERINGS[name]
    found = flaws(changed(isolated(), change))
    assert [each for each in found if expected in each], found


def test_calls_are_packed_only_for_another_process() -> None:
    change = part("backend", "delivery", value="packed")
    found = verify_certificate(changed(handed_in.certificate(), change), core_suite())
    assert [str(each) for each in found] == [
        "backend.delivery: found packed, of a run in opcert's process; expected as drawn"
    ]
