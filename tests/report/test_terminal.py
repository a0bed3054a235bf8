"""A certificate on a terminal: progress, a failure of each cause, the counts, the conclusion."""

import io
import re
import time
from dataclasses import replace
from threading import RLock

import pytest
from rich.console import Console
from rich.progress import ProgressSample, Task, TaskID

from opcert import Certificate, certify
from opcert.report.files import (
    MAX_LISTED,
    Rate,
    conclusion_line,
    print_certificate,
    print_side_by_side,
    progress,
)
from opcert.verdicts.verdict import Verdict
from tests import wrong_backends
from tests.few_cases import few_cases


def console(terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), width=200, force_terminal=terminal)


def text(of: Console) -> str:
    assert isinstance(of.file, io.StringIO)
    return of.file.getvalue()


@pytest.fixture(scope="module")
def wrong() -> Certificate:
    return certify(wrong_backends.AcceptsEverything(), few_cases())


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_names_the_operator(terminal: bool) -> None:
    screen = console(terminal)
    with progress(screen) as on_verdict:
        on_verdict(Verdict("a/b", "vendor/A-1", "pass", None, "outputs", (), ""), 1, 2)
    assert "vendor/A-1" in text(screen)


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (1, r"1/2 vendor/A-1: 1 failures, [\d,]+/s, [\d:]+ left"),
        (2, r"2/2 the causes of failures are searched, [\d:]+ so far"),
    ],
    ids=["call", "search"],
)
def test_progress_without_a_terminal_goes_on_during_what_takes_long(
    monkeypatch: pytest.MonkeyPatch, number: int, line: str
) -> None:
    monkeypatch.setattr("opcert.report.files._SECONDS_BETWEEN_LINES", 0.01)
    screen = console(terminal=False)
    with progress(screen) as on_verdict:
        on_verdict(Verdict("a/b", "vendor/A-1", "fail", "value", "outputs", (), ""), number, 2)
        while text(screen).count("\n") < 5:
            time.sleep(0.01)
    first, *_, last = text(screen).splitlines()
    assert first == f"{number}/2 vendor/A-1"
    assert re.fullmatch(line, last)


def test_progress_on_a_terminal_has_the_rate_and_the_time_left() -> None:
    clock = iter(range(10_000))
    task = Task(TaskID(0), "", 100, 0, _get_time=lambda: next(clock), _lock=RLock())
    assert str(Rate().render(task)) == ""
    task.start_time = 0
    task._progress.extend(ProgressSample(second, 25) for second in range(3))
    assert str(Rate().render(task)) == "25/s"


def test_names_are_escaped(wrong: Certificate) -> None:
    failure = next(verdict for verdict in wrong.verdicts if verdict.status == "fail")
    cause = replace(
        wrong.causes[0],
        operator="[/i]y",
        cases=(failure.case,),
        attributed=(),
        representative=failure.case,
        statement="[/i]y fails",
    )
    odd = wrong.replace(
        backend=wrong.backend.model_copy(update={"name": "[/b] x"}),
        verdicts=(replace(failure, operator="[/i]y"),),
        causes=(cause,),
    )
    screen = console()
    print_certificate(odd, screen)
    print_side_by_side([odd, odd], screen)
    assert "1. [/b] x 1" in text(screen)
    assert text(screen).count("[/i]y") == 3


def test_side_by_side_names_the_new_causes_and_the_regressed_cases(wrong: Certificate) -> None:
    screen = console()
    print_side_by_side([certify(wrong_backends.Right(), few_cases()), wrong], screen)
    prefix = "2. right 1 compared with 1: "
    changes = next(line for line in text(screen).splitlines() if line.startswith(prefix))
    assert f"{len(wrong.causes)} new and 0 fixed causes; " in changes
    assert text(screen).count("    new: ") == min(len(wrong.causes), MAX_LISTED)
    regressed = int(changes.partition(" causes; ")[2].partition(" ")[0])
    assert regressed > MAX_LISTED
    assert text(screen).count("    regressed: ") == MAX_LISTED
    assert f"... and {regressed - MAX_LISTED} more" in text(screen)
    assert "2. NOT CONFORMANT: right 1" in text(screen)


def test_bugs_are_sentences_with_an_observation_the_most_frequent_first(
    wrong: Certificate,
) -> None:
    screen = console()
    print_certificate(wrong, screen)
    places = [text(screen).index(cause.sentence) for cause in wrong.causes[:MAX_LISTED]]
    assert places == sorted(places)
    assert len(places) > 1
    first_line = wrong.by_case[wrong.causes[0].representative].detail.partition("\n")[0]
    assert f"    {wrong.causes[0].representative}: {first_line[:60]}" in text(screen)


def test_bugs_beyond_a_screen_are_counted(wrong: Certificate) -> None:
    screen = console()
    many = (replace(wrong.causes[0], condition=()),) * (MAX_LISTED + 2)
    print_certificate(wrong.replace(causes=many), screen)
    assert "... and 2 more bugs; the report that --out writes has all" in text(screen)


def test_the_conclusion_gives_the_reasons_the_part_and_the_selection(wrong: Certificate) -> None:
    assert conclusion_line(wrong).startswith("NOT CONFORMANT: right 1 on core suite")
    assert "x accepted" in conclusion_line(wrong)
    certificate = certify("reference", operator="directml/*SPLIT", feature_level="2_1")
    assert conclusion_line(certificate).startswith("CONFORMANT for 1 of 5 operators, ")
    assert "operator directml/*SPLIT, feature_level 2_1" in conclusion_line(certificate)
