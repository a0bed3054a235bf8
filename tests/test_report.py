"""What a terminal shows: progress, the first of each sort of failure, the table, the answer."""

import io

import pytest
from rich.console import Console

from opcert.generator import Certificate, certify
from opcert.generator.report import SHOWN, answer, progress, show
from opcert.generator.verdict import Verdict
from tests import wrong_backends


def console(terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), width=200, force_terminal=terminal)


def text(of: Console) -> str:
    assert isinstance(of.file, io.StringIO)
    return of.file.getvalue()


@pytest.fixture(scope="module")
def wrong() -> Certificate:
    return certify(wrong_backends.AcceptsEverything())


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_names_the_operator(terminal: bool) -> None:
    shown = console(terminal)
    with progress(shown) as on_verdict:
        on_verdict(Verdict("a/b", "vendor/A-1", "pass", None, "outputs", (), ""), 1, 2)
    assert "vendor/A-1" in text(shown)


def test_each_sort_of_failure_is_shown_once_the_most_frequent_first(wrong: Certificate) -> None:
    shown = console()
    show(wrong, shown)
    heads = [line for line in text(shown).splitlines() if line.startswith("fail (")]
    assert len(heads) == SHOWN
    alike = [int(line.rpartition(", and ")[2].partition(" ")[0]) for line in heads]
    assert alike == sorted(alike, reverse=True)
    assert "--out keeps them all" in text(shown)


def test_a_failure_shows_the_call_and_what_the_rule_says(wrong: Certificate) -> None:
    shown = console()
    show(wrong, shown)
    assert "in data=" in text(shown)
    assert "no dimension" in text(shown) or "(Inputs" in text(shown)


def test_the_answer_says_why_not(wrong: Certificate) -> None:
    assert answer(wrong).startswith("NOT CONFORMANT: right 1 on core suite")
    assert "x accepted" in answer(wrong)


def test_the_answer_says_of_how_many_operators_and_for_what() -> None:
    certificate = certify("reference", operator="directml/*", feature_level="2_1")
    assert "1 of 5 operators, operator directml/*, feature_level 2_1" in answer(certificate)


def test_a_failure_without_rules_is_shown(wrong: Certificate) -> None:
    bare = Verdict("a/b", "vendor/A-1", "fail", "value", "outputs", (), "wrong")
    shown = console()
    show(wrong.replaced(verdicts=(bare,)), shown)
    assert "fail (value) a/b" in text(shown)
