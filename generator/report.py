"""Certificate -> terminal: progress while it runs, then the answer in one screen."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from opcert.generator.certificate import STATUSES, Certificate
from opcert.generator.certify_suite import Progress as Told
from opcert.generator.verdict import Verdict

# How many failures a terminal shows.
SHOWN = 10
_WIDTH = 120


def console(stderr: bool = False) -> Console:
    """Return a console that is wide enough for the tables where it is not a terminal."""
    found = Console(stderr=stderr)
    return found if found.is_terminal else Console(stderr=stderr, width=_WIDTH)


@contextmanager
def progress(console: Console) -> Iterator[Told]:
    """Show how far the run is: a bar on a terminal, elsewhere a line when an operator is done."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("certifying", total=None)

        def told(verdict: Verdict, number: int, total: int) -> None:
            bar.update(task, completed=number, total=total, description=verdict.operator)

        yield told


class _Lines:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._operator = ""

    def __call__(self, verdict: Verdict, number: int, total: int) -> None:
        if verdict.operator != self._operator:
            self._operator = verdict.operator
            self._console.print(f"{number}/{total} {verdict.operator}", highlight=False)


def show(certificate: Certificate, console: Console) -> None:
    """Print the first failures, the table by operator and status, and the answer."""
    failures = [v for v in certificate.verdicts if v.status in ("fail", "crash", "hang")]
    for verdict in failures[:SHOWN]:
        kind = f" ({verdict.kind})" if verdict.kind else ""
        text = f"{verdict.status}{kind} {verdict.case}\n    {verdict.detail}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    if len(failures) > SHOWN:
        console.print(f"... and {len(failures) - SHOWN} more", highlight=False)
    console.print(_table(certificate))
    console.print(answer(certificate), markup=False, highlight=False, soft_wrap=True)


def _table(certificate: Certificate) -> Table:
    shown = [s for s in STATUSES if certificate.counts[s] or s in ("pass", "fail", "unsupported")]
    table = Table("operator", *shown, "cases")
    for column in table.columns[1:]:
        column.justify = "right"
    for operator, counts in certificate.operators.items():
        table.add_row(operator, *(str(counts[s]) for s in shown), str(sum(counts.values())))
    totals = (str(certificate.counts[status]) for status in shown)
    table.add_section()
    table.add_row("all", *totals, str(len(certificate.verdicts)))
    return table


def answer(certificate: Certificate) -> str:
    """Return the conclusion in one line: for what, of what, and if not, why."""
    backend, suite = certificate.backend, certificate.suite
    passed = sum(counts["pass"] > 0 for counts in certificate.operators.values())
    scope = [f"{passed} of {len(suite['specs'])} operators"]
    chosen = certificate.selection.items()
    scope += [f"{key} {value}" for key, value in chosen if value not in ("*", None)]
    on = f"{suite['profile']} suite {suite['digest'][:12]}"
    subject = f"{backend['name']} {backend['version']} on {', '.join([on, *scope])}"
    if certificate.conformant:
        return f"CONFORMANT, {certificate.grade}: {subject}"
    return f"NOT CONFORMANT: {subject}: {'; '.join(certificate.reasons)}"
