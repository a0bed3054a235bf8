"""The texts and excerpts of a certificate: of the very case, call and element, or named."""

from functools import cache
from typing import Any

import pytest

from opcert.generator import Certificate, certify
from opcert.generator.verification.verification import flaws_of
from tests import handed_in
from tests import wrong_backends as wrong
from tests.faults.finding import core_suite
from tests.handed_in import Change, changed
from tests.tamperings import excerpt, failing, first, having, verdict

OPEN = having(status="implementation-defined")


def told(certificate: Certificate) -> list[str]:
    return [str(each) for each in flaws_of(certificate, core_suite())]


def reworded(of: Any, old: str, new: str) -> Change:
    """Return what changes a word in the detail of the first verdict of a sort."""

    def change(data: Any) -> None:
        found = first(data, of)
        assert old in found["detail"]
        found["detail"] = found["detail"].replace(old, new)

    return change


def shown_first(each: Any) -> bool:
    return bool(each["case"] in handed_in.certificate().excerpts)


TAMPERINGS: dict[str, tuple[Change, str]] = {
    "a failure of another call": (
        reworded(failing, "\n    in ", "\n    in no "),
        "does not tell of",
    ),
    "a failure beside another valid call": (
        reworded(having(kind="uncredited"), "the valid call dml-split/", "the valid call slice-8/"),
        "does not tell of it",
    ),
    "another reason of being out of claim": (
        verdict(having(status="out-of-claim"), detail="it was too hot"),
        "found the detail 'it was too hot'; expected 'the claim leaves out",
    ),
    "an open case that is open for no reason": (verdict(OPEN, detail="fine"), "does not tell of"),
    "a failure at another element": (
        reworded(shown_first, "first at [", "first at [9"),
        "shows another first one, or other numbers: [",
    ),
    "more failures than are shown": (
        reworded(shown_first, "differs in 1 of ", "differs in 2 of "),
        "shows another first one, or other numbers: ",
    ),
    "another element got": (
        excerpt(lambda each: each.update(actual="7" * len(each["actual"]))),
        "shows another first one, or other numbers: [",
    ),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_what_tells_of_something_else_is_named(name: str) -> None:
    change, wanted = TAMPERINGS[name]
    found = told(changed(handed_in.certificate(), change))
    assert [each for each in found if wanted in each], found


@cache
def accepting() -> Certificate:
    return certify(wrong.AcceptsEverything(), core_suite(), case="dml-split/*axis-range*")


def test_what_is_accepted_breaks_the_rule_of_its_case() -> None:
    assert told(accepting()) == []
    change = reworded(having(kind="accepted"), "/axis-range was", "/axis was")
    assert "does not tell of it" in told(changed(accepting(), change))[0]


@cache
def of_many_elements() -> Certificate:
    return certify(wrong.ThroughFloat16(), core_suite(), case="dml-split/valid-f32-1-*")


def test_less_shown_than_opcert_shows_is_named() -> None:
    def cut(each: Any) -> None:
        each.update(start=1, expected=each["expected"][8:], actual=each["actual"][8:])

    assert told(of_many_elements()) == []
    found = told(changed(of_many_elements(), excerpt(cut)))
    assert any("begins at 1; expected 0" in each for each in found), found
