"""Certificate -> terminal: progress while it runs, then the answer in one screen."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from rich import box
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

from opcert.generator.certificate.certificate import Certificate
from opcert.generator.certificate.certify_suite import OnVerdict
from opcert.generator.errors import one_line
from opcert.generator.report.side_by_side import SideBySide
from opcert.generator.run.backend_list import Listed
from opcert.generator.suite.coverage import Coverage
from opcert.generator.suite.spec_check import RuleCounts
from opcert.generator.verdicts.causes import causes
from opcert.generator.verdicts.verdict import STATUSES, Verdict

# How many sorts of failures a terminal shows.
SHOWN = 10
_WIDTH = 120


def console(stderr: bool = False) -> Console:
    """Return a console that is wide enough for the tables where it is not a terminal."""
    found = Console(stderr=stderr, emoji=False)
    return found if found.is_terminal else Console(stderr=stderr, width=_WIDTH, emoji=False)


def _line(console: Console, text: str) -> None:
    """Print one line as it is, of which a terminal obeys nothing."""
    console.print(one_line(text), markup=False, highlight=False, soft_wrap=True)


def _cell(text: str) -> str:
    """Return text as a cell of a table shows it."""
    return escape(one_line(text))


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
            bar.update(task, completed=number, total=total, description=_cell(verdict.operator))

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
            _line(self._console, f"{number}/{total} {verdict.operator}")


def show(certificate: Certificate, console: Console) -> None:
    """Print the first failure of each sort, the table by operator and status, and the answer."""
    found = causes(certificate.verdicts)
    for cause in found[:SHOWN]:
        verdict, *alike = cause.verdicts
        kind = f" ({verdict.kind})" if verdict.kind else ""
        more = f", and {len(alike)} alike" if alike else ""
        _line(console, f"{verdict.status}{kind} {verdict.case}{more}")
        _line(console, f"    {verdict.detail.strip()}")
    left = sum(len(each.verdicts) for each in found[SHOWN:])
    if left:
        console.print(f"... and {left} more; --out keeps them all", highlight=False)
    console.print(_table(certificate))
    _line(console, answer(certificate))


def _table(certificate: Certificate) -> Table:
    shown = [s for s in STATUSES if certificate.counts[s] or s in ("pass", "fail", "unsupported")]
    table = Table("operator", *shown, "cases")
    for column in table.columns[1:]:
        column.justify = "right"
    for operator, counts in certificate.operators.items():
        numbers = (*(counts[status] for status in shown), sum(counts.values()))
        table.add_row(_cell(operator), *map(str, numbers))
    totals = (str(certificate.counts[status]) for status in shown)
    table.add_section()
    table.add_row("all", *totals, str(len(certificate.verdicts)))
    return table


def answer(certificate: Certificate) -> str:
    """Return the conclusion in one line: for what, of what, and if not, why."""
    backend, suite = certificate.backend, certificate.suite
    passed = sum(counts["pass"] > 0 for counts in certificate.operators.values())
    scope = [f"{passed} of {len(suite.specs)} operators"]
    chosen = certificate.selection
    scope += [f"{key} {value}" for key, value in chosen if value not in ("*", None)]
    on = f"{suite.profile} suite {suite.digest[:12]}"
    if certificate.claim is not None:
        scope.append(f"claim {certificate.claim.sha256[:12]}")
    waived = f", {certificate.counts['waived']} waived" if certificate.counts["waived"] else ""
    subject = f"{backend.name} {backend.version} on {', '.join([on, *scope])}"
    if certificate.conformant:
        return f"CONFORMANT, {certificate.grade}{waived}: {subject}"
    return f"NOT CONFORMANT{waived}: {subject}: {'; '.join(certificate.reasons)}"


def show_side_by_side(certificates: Sequence[Certificate], console: Console) -> None:
    """Print the operators by certificate, each answer, and what became of the first one's cases."""
    page = SideBySide(certificates)
    table = Table("operator", *(_cell(f"{each.number}. {each.name}") for each in page.columns))
    for operator in page.operators:
        tallies = (each.operator(operator) for each in page.columns)
        table.add_row(_cell(operator), *(each.told or "no cases" for each in tallies))
    console.print(table)
    for each in page.columns:
        _line(console, f"{each.number}. {answer(each.certificate)}")
    for since in page.since:
        counts = f"{len(since.regressed)} regressed, {len(since.mended)} mended"
        otherwise = f"{len(since.otherwise)} otherwise different"
        _line(console, f"{since.name} since 1: {counts}, {otherwise}")
        for case in since.regressed[:SHOWN]:
            _line(console, f"    regressed: {case}")
        if left := len(since.regressed[SHOWN:]):
            console.print(f"    ... and {left} more; --out keeps them all", highlight=False)


def show_counts(counts: Sequence[RuleCounts], console: Console) -> None:
    """Print each rule with its positive and negative cases."""
    table = Table("rule", "kind", "positive", "negative")
    for column in table.columns[2:]:
        column.justify = "right"
    for each in counts:
        negative = str(each.negative) if each.kind == "requirement" else ""
        table.add_row(_cell(each.rule), each.kind, str(each.positive), negative)
    console.print(table)
    console.print(f"{len(counts)} rules, each exercised", highlight=False)


def show_backends(backends: Iterable[Listed], operators: Sequence[str], console: Console) -> None:
    """Print each backend, where it comes from, and how it makes each operator."""
    # Without lines between the columns, which take the room of a name.
    table = Table("backend", "packages", box=box.SIMPLE_HEAD)
    for operator in operators:
        table.add_column(_cell(operator).replace("/", "/\n"))
    for each in backends:
        packages = _cell(each.packages if each.installed else f"not installed: {each.packages}")
        how = (each.how.get(operator, "undeclared") for operator in operators)
        table.add_row(_cell(each.name), packages, *map(_cell, how))
    console.print(table)
    text = "undeclared: whatever is not said to be unsupported counts as supported"
    _line(console, text)


def show_coverage(coverage: Coverage, console: Console) -> None:
    """Print what a suite covers of one operator, and by name what it does not."""
    line = partial(_line, console)
    line(f"{coverage.operator}: {_percent(coverage.share)}")
    for each in coverage.covered:
        whole = each.present + len(each.missing)
        line(f"  {_percent(each.share):>7}  {each.dimension}: {each.present} of {whole}")
        for name in each.missing:
            line(f"           missing: {name}")
    line("  rules, with the calls that keep or show them / that break them")
    for rule, (kept, broken) in coverage.rules.items():
        line(f"    {rule}: {kept} / {broken}")
    line("  levels, with the places of calls at which they show")
    for factor, counts in coverage.levels.items():
        drawn = "" if factor in coverage.told else " (as drawn: the spec does not say how it shows)"
        line(f"    {factor}{drawn}: {', '.join(f'{level} {n}' for level, n in counts.items())}")
    ranks = sorted({rank for _, rank in coverage.types})
    table = Table("valid calls", *(f"rank {rank}" for rank in ranks))
    for element_type in dict.fromkeys(each for each, _ in coverage.types):
        table.add_row(element_type, *(str(coverage.types[element_type, rank]) for rank in ranks))
    console.print(table)
    if coverage.feature_levels:
        counts_by_level = (f"{name} {n}" for name, n in coverage.feature_levels.items())
        line(f"  feature levels: {', '.join(counts_by_level)}")


def _percent(share: float) -> str:
    """Write a share, and 100% only for the whole."""
    return "100%" if share == 1 else f"{min(100 * share, 99.9):.1f}%"
