"""What a terminal shows: progress, the first of each sort of failure, the table, the answer."""

import io
from dataclasses import replace
from threading import RLock

import pytest
from rich.console import Console
from rich.progress import ProgressSample, Task, TaskID

from opcert import Certificate, certify
from opcert.report import conclusion_line, print_certificate, print_side_by_side, progress
from opcert.report.terminal import SHOWN, Rate
from opcert.verdicts import Verdict
from tests import wrong_backends
from tests.faults.finding import core_suite


def console(terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), width=200, force_terminal=terminal)


def text(of: Console) -> str:
    assert isinstance(of.file, io.StringIO)
    return of.file.getvalue()


@pytest.fixture(scope="module")
def wrong() -> Certificate:
    return certify(wrong_backends.AcceptsEverything(), core_suite())


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_names_the_operator(terminal: bool) -> None:
    shown = console(terminal)
    with progress(shown) as on_verdict:
        on_verdict(Verdict("a/b", "vendor/A-1", "pass", None, "outputs", (), ""), 1, 2)
    assert "vendor/A-1" in text(shown)


def test_progress_on_a_terminal_has_the_rate_and_the_time_left() -> None:
    clock = iter(range(10_000))
    task = Task(TaskID(0), "", 100, 0, _get_time=lambda: next(clock), _lock=RLock())
    assert str(Rate().render(task)) == ""
    task.start_time = 0
    task._progress.extend(ProgressSample(second, 25) for second in range(3))
    assert str(Rate().render(task)) == "25/s"


def test_names_are_no_markup_of_the_terminal(wrong: Certificate) -> None:
    odd = wrong.replace(
        backend=wrong.backend.model_copy(update={"name": "[/b] x"}),
        verdicts=(replace(wrong.verdicts[0], operator="[/i]y"),),
    )
    shown = console()
    print_certificate(odd, shown)
    print_side_by_side([odd, odd], shown)
    assert "1. [/b] x 1" in text(shown)
    assert text(shown).count("[/i]y") == 2


def test_side_by_side_says_what_regressed(wrong: Certificate) -> None:
    shown = console()
    print_side_by_side([certify(wrong_backends.Right(), core_suite()), wrong], shown)
    since = next(line for line in text(shown).splitlines() if line.startswith("right 1 since 1:"))
    regressed = int(since.removeprefix("right 1 since 1: ").partition(" ")[0])
    assert regressed > SHOWN
    assert text(shown).count("    regressed: ") == SHOWN
    assert f"... and {regressed - SHOWN} more" in text(shown)
    assert "2. NOT CONFORMANT: right 1" in text(shown)


def test_each_sort_of_failure_is_shown_once_the_most_frequent_first(wrong: Certificate) -> None:
    shown = console()
    print_certificate(wrong, shown)
    heads = [line for line in text(shown).splitlines() if line.startswith("fail (")]
    assert len(heads) == SHOWN
    alike = [int(line.rpartition(", and ")[2].partition(" ")[0]) for line in heads]
    assert alike == sorted(alike, reverse=True)
    assert "--out keeps them all" in text(shown)


def test_a_failure_shows_the_call_and_what_the_rule_says(wrong: Certificate) -> None:
    shown = console()
    print_certificate(wrong, shown)
    assert "in data=" in text(shown)
    assert "no dimension" in text(shown) or "(Inputs" in text(shown)


def test_the_answer_says_why_not(wrong: Certificate) -> None:
    assert conclusion_line(wrong).startswith("NOT CONFORMANT: right 1 on core suite")
    assert "x accepted" in conclusion_line(wrong)


def test_the_answer_says_of_how_many_operators_and_for_what() -> None:
    certificate = certify("reference", operator="directml/*", feature_level="2_1")
    assert conclusion_line(certificate).startswith("CONFORMANT for 1 of 5 operators, ")
    assert "operator directml/*, feature_level 2_1" in conclusion_line(certificate)


def test_a_failure_without_rules_is_shown(wrong: Certificate) -> None:
    bare = Verdict("a/b", "vendor/A-1", "fail", "value", "outputs", (), "wrong")
    shown = console()
    print_certificate(wrong.replace(verdicts=(bare,)), shown)
    assert "fail (value) a/b" in text(shown)
