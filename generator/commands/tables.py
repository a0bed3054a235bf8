"""Tables on a terminal: rules of specs, coverage and strength of suites, backends."""

from collections.abc import Iterable, Sequence
from functools import partial

from rich import box
from rich.console import Console
from rich.table import Table

from opcert.panel.strength import Strength
from opcert.report.terminal import print_line, table_cell
from opcert.run.backend_list import AvailableBackend
from opcert.suite.coverage import Coverage
from opcert.suite.spec_warnings import RuleCounts


def print_rule_counts(counts: Sequence[RuleCounts], console: Console) -> None:
    """Print the number of positive and negative cases of each rule."""
    table = Table("rule", "kind", "positive", "negative")
    for column in table.columns[2:]:
        column.justify = "right"
    for rule_counts in counts:
        negative = str(rule_counts.negative) if rule_counts.kind == "requirement" else ""
        table.add_row(
            table_cell(rule_counts.rule), rule_counts.kind, str(rule_counts.positive), negative
        )
    console.print(table)
    console.print(f"{len(counts)} rules, each exercised", highlight=False)


def print_strength(strength: Strength, console: Console) -> None:
    """Print how many generic faults the cases of an operator find, and list the others."""
    found = f"{strength.detected} of {strength.applicable}"
    print_line(console, f"{strength.operator}: generic faults found: {found}")
    for fault in strength.missed:
        print_line(console, f"  not found: {fault.text} ({fault.name})")
        print_line(console, f"    it differs in {fault.witness:.300}")


def print_backends(
    backends: Iterable[AvailableBackend], operators: Sequence[str], console: Console
) -> None:
    """Print each backend with its packages, and its support of each operator."""
    listed = list(backends)
    table = Table("backend", "packages", box=box.SIMPLE_HEAD)
    for backend in listed:
        packages = backend.packages if backend.installed else f"not installed: {backend.packages}"
        table.add_row(table_cell(backend.name), table_cell(packages))
    console.print(table)
    # Lines between the columns would take up space for names.
    support = Table("operator", *(table_cell(b.name) for b in listed), box=box.SIMPLE_HEAD)
    for operator in operators:
        how = (backend.how.get(operator, "undeclared") for backend in listed)
        support.add_row(table_cell(operator), *map(table_cell, how))
    console.print(support)
    text = "undeclared: the backend declares no support, so every call counts as supported"
    print_line(console, text)


def print_coverage(coverage: Coverage, console: Console) -> None:
    """Print the coverage of one operator, and list the missing items."""
    line = partial(print_line, console)
    line(f"{coverage.operator}: {_percent(coverage.share)}")
    for part in coverage.dimensions:
        whole = part.present + len(part.missing)
        line(f"  {_percent(part.share):>7}  {part.dimension}: {part.present} of {whole}")
        for name in part.missing:
            line(f"           missing: {name}")
    line("  rules, with the calls that exercise them / that violate them")
    for rule, (exercised, violated) in coverage.rules.items():
        line(f"    {rule}: {exercised} / {violated}")
    line("  levels, with the number of times they were observed")
    for factor, counts in coverage.levels.items():
        line(f"    {factor}: {', '.join(f'{level} {n}' for level, n in counts.items())}")
    ranks = sorted({rank for _, rank in coverage.types})
    table = Table("valid calls", *(f"rank {rank}" for rank in ranks))
    for element_type in dict.fromkeys(name for name, _ in coverage.types):
        table.add_row(element_type, *(str(coverage.types[element_type, rank]) for rank in ranks))
    console.print(table)
    if coverage.feature_levels:
        counts_by_level = (f"{name} {n}" for name, n in coverage.feature_levels.items())
        line(f"  feature levels: {', '.join(counts_by_level)}")


def _percent(share: float) -> str:
    """Return a share as a percentage that is 100% only for complete coverage."""
    return "100%" if share == 1 else f"{min(100 * share, 99.9):.1f}%"
