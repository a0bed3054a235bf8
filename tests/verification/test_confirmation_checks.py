"""What failures say of their confirmation: only what a run can have found."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from opcert.generator import Certificate, certify
from opcert.generator.verdicts.confirmation import CONFIRMED, NOT_CONFIRMED
from opcert.generator.verification.verification import flaws_of
from tests import handed_in
from tests import wrong_backends as wrong
from tests.faults.finding import core_suite
from tests.handed_in import Change, changed
from tests.tamperings import failing


@cache
def isolated() -> Certificate:
    backend = f"{wrong.__file__}:ThroughFloat16"
    return certify(backend, core_suite(), case="dml-split/*-f32-*")


def told(certificate: Certificate) -> list[str]:
    return [str(each) for each in flaws_of(certificate, core_suite())]


def saying(text: str, of: Callable[[Any], bool] = failing, kind: str | None = None) -> Change:
    """Return what has the first failure of a sort say something else at its end."""

    def change(data: Any) -> None:
        verdict = next(each for each in data["verdicts"] if of(each))
        told, _, _ = verdict["detail"].rpartition("\n    ")
        verdict["detail"] = f"{told}\n    {text}" if text else told
        verdict["kind"] = kind or verdict["kind"]

    return change


def tried(each: Any) -> bool:
    return bool(each["detail"].endswith(CONFIRMED))


def untried(each: Any) -> bool:
    return bool(each["detail"].endswith(NOT_CONFIRMED))


def unsaid(data: Any) -> None:
    """Take the last words from every failure, as an interrupt does."""
    for each in data["verdicts"]:
        each["detail"] = re.sub(r"\n    (not )?confirmed.*$", "", each["detail"])


PASSES = "value, but it passes alone and was not seen again"
TAMPERINGS: dict[str, tuple[Change, str]] = {
    "not tried": (saying(NOT_CONFIRMED, tried), "expected what became of it alone"),
    "tried without need": (saying(CONFIRMED, untried), "it is not the smallest of its cause"),
    "passing alone": (saying(PASSES, untried, "state"), "it is not the smallest of its cause"),
    "nothing said": (saying("", untried), "does not say whether it was confirmed, as others do"),
    "other words": (saying("confirmed: twice", tried), "does not say whether it was confirmed"),
}


def test_what_a_run_says_is_sound_also_where_it_was_interrupted() -> None:
    assert told(isolated()) == []
    assert told(changed(isolated(), unsaid)) == []


@pytest.mark.parametrize("name", TAMPERINGS)
def test_what_cannot_have_been_said_is_named(name: str) -> None:
    change, wanted = TAMPERINGS[name]
    found = told(changed(isolated(), change))
    assert [each for each in found if wanted in each], found


def test_a_run_in_this_process_confirms_nothing() -> None:
    def confirmed(data: Any) -> None:
        verdict = next(each for each in data["verdicts"] if failing(each))
        verdict["detail"] += f"\n    {CONFIRMED}"

    (found,) = told(changed(handed_in.certificate(), confirmed))
    assert "in a run that confirms no failure" in found
