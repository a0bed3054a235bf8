"""Certificate -> terminal: progress while it runs, then the answer in one screen."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from opcert.certificate import Certificate, OnVerdict
from opcert.errors import printable_line
from opcert.report.side_by_side import SideBySide
from opcert.report.tallies import rejections
from opcert.verdicts import STATUSES, Verdict, group_by_cause

# How many sorts of failures a terminal shows.
SHOWN = 10
_WIDTH = 120


def console(stderr: bool = False) -> Console:
    """Return a console that is wide enough for the tables where it is not a terminal."""
    found = Console(stderr=stderr, emoji=False)
    return found if found.is_terminal else Console(stderr=stderr, width=_WIDTH, emoji=False)


def print_line(console: Console, text: str) -> None:
    """Print one line as it is, of which a terminal obeys nothing."""
    console.print(printable_line(text), markup=False, highlight=False, soft_wrap=True)


def table_cell(text: str) -> str:
    """Return text as a cell of a table shows it."""
    return escape(printable_line(text))


@contextmanager
def progress(console: Console) -> Iterator[OnVerdict]:
    """Show how far the run is: a bar on a terminal, elsewhere a line as an operator begins."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("certifying", total=None)

        def on_verdict(verdict: Verdict, number: int, total: int) -> None:
            bar.update(
                task, completed=number, total=total, description=table_cell(verdict.operator)
            )

        yield on_verdict


class Rate(ProgressColumn):
    """How many cases a second have their verdict."""

    def render(self, task: Task) -> Text:
        """Return the rate, as soon as there is one."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


class _Lines:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._operator = ""

    def __call__(self, verdict: Verdict, number: int, total: int) -> None:
        if verdict.operator != self._operator:
            self._operator = verdict.operator
            print_line(self._console, f"{number}/{total} {verdict.operator}")


def print_certificate(certificate: Certificate, console: Console) -> None:
    """Print the first failure of each sort, the table by operator and status, and the answer."""
    found = group_by_cause(certificate.verdicts)
    for cause in found[:SHOWN]:
        confirmed = [v for v in cause.verdicts if v.case in certificate.reproductions]
        verdict, alike = (confirmed or cause.verdicts)[0], len(cause.verdicts) - 1
        kind = f" ({verdict.kind})" if verdict.kind else ""
        more = f", and {alike} alike" if alike else ""
        if cause.attributed:
            more += f", and {len(cause.attributed)} rejections that do not count because of them"
        print_line(console, f"{verdict.status}{kind} {verdict.case}{more}")
        print_line(console, f"    {verdict.detail.strip()}")
    left = sum(len(each.verdicts) for each in found[SHOWN:])
    if left:
        console.print(f"... and {left} more; --out keeps them all", highlight=False)
    console.print(_table(certificate))
    print_line(console, conclusion_line(certificate))


def _table(certificate: Certificate) -> Table:
    shown = [s for s in STATUSES if certificate.counts[s] or s in ("pass", "fail", "unsupported")]
    table = Table("operator", *shown, "cases")
    for column in table.columns[1:]:
        column.justify = "right"
    for operator, counts in certificate.operators.items():
        numbers = (*(counts[status] for status in shown), sum(counts.values()))
        table.add_row(table_cell(operator), *map(str, numbers))
    totals = (str(certificate.counts[status]) for status in shown)
    table.add_section()
    table.add_row("all", *totals, str(len(certificate.verdicts)))
    return table


def conclusion_line(certificate: Certificate) -> str:
    """Return the conclusion in one line: for what, of what, and if not, why."""
    backend, suite, chosen = certificate.backend, certificate.suite, certificate.selection
    parts = [f"{suite.profile} suite {suite.digest[:12]}"]
    parts += [f"{key} {value}" for key, value in chosen if value not in ("*", None)]
    if certificate.claim is not None:
        parts.append(f"claim {certificate.claim.sha256[:12]}")
    for operator, names in certificate.excluded.items():
        parts.append(f"{operator} without {', '.join(names)}")
    if certificate.rejections["adapter"]:
        parts.append(rejections(certificate))
    word = "Conformant" if certificate.conformant else "Not conformant"
    text = certificate.conclusion.replace(word, word.upper(), 1)
    text += f": {backend.name} {backend.version} on {', '.join(parts)}"
    return text if certificate.conformant else f"{text}: {'; '.join(certificate.reasons)}"


def print_side_by_side(certificates: Sequence[Certificate], console: Console) -> None:
    """Print the operators by certificate, each answer, and what became of the first one's cases."""
    page = SideBySide(certificates)
    table = Table("operator", *(table_cell(f"{each.number}. {each.name}") for each in page.columns))
    for operator in page.operators:
        tallies = (each.operator(operator) for each in page.columns)
        table.add_row(table_cell(operator), *(each.told or "no cases" for each in tallies))
    console.print(table)
    for each in page.columns:
        print_line(console, f"{each.number}. {conclusion_line(each.certificate)}")
    for since in page.since:
        counts = f"{len(since.regressed)} regressed, {len(since.mended)} mended"
        otherwise = f"{len(since.otherwise)} otherwise different"
        print_line(console, f"{since.name} since 1: {counts}, {otherwise}")
        for case in since.regressed[:SHOWN]:
            print_line(console, f"    regressed: {case}")
        if left := len(since.regressed[SHOWN:]):
            console.print(f"    ... and {left} more; --out keeps them all", highlight=False)
