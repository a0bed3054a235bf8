"""What commands find -> tables on a terminal: rules of specs, coverage of suites, backends."""

from collections.abc import Iterable, Sequence
from functools import partial

from rich import box
from rich.console import Console
from rich.table import Table

from opcert.panel import Strength
from opcert.report import print_line, table_cell
from opcert.run import AvailableBackend
from opcert.suite import Coverage, RuleCounts


def print_rule_counts(counts: Sequence[RuleCounts], console: Console) -> None:
    """Print each rule with its positive and negative cases."""
    table = Table("rule", "kind", "positive", "negative")
    for column in table.columns[2:]:
        column.justify = "right"
    for each in counts:
        negative = str(each.negative) if each.kind == "requirement" else ""
        table.add_row(table_cell(each.rule), each.kind, str(each.positive), negative)
    console.print(table)
    console.print(f"{len(counts)} rules, each exercised", highlight=False)


def print_strength(strength: Strength, console: Console) -> None:
    """Print how many generic faults the cases of an operator find, and name the others."""
    found = f"{strength.detected} of {strength.applicable}"
    print_line(console, f"{strength.operator}: generic faults found: {found}")
    for each in strength.missed:
        print_line(console, f"  not found: {each.text} ({each.name})")
        print_line(console, f"    it differs in {each.witness:.300}")


def print_backends(
    backends: Iterable[AvailableBackend], operators: Sequence[str], console: Console
) -> None:
    """Print each backend, where it comes from, and how it makes each operator."""
    # Without lines between the columns, which take the room of a name.
    table = Table("backend", "packages", box=box.SIMPLE_HEAD)
    for operator in operators:
        table.add_column(table_cell(operator).replace("/", "/\n"))
    for each in backends:
        packages = table_cell(
            each.packages if each.installed else f"not installed: {each.packages}"
        )
        how = (each.how.get(operator, "undeclared") for operator in operators)
        table.add_row(table_cell(each.name), packages, *map(table_cell, how))
    console.print(table)
    text = "undeclared: whatever is not said to be unsupported counts as supported"
    print_line(console, text)


def print_coverage(coverage: Coverage, console: Console) -> None:
    """Print what a suite covers of one operator, and by name what it does not."""
    line = partial(print_line, console)
    line(f"{coverage.operator}: {_percent(coverage.share)}")
    for each in coverage.dimensions:
        whole = each.present + len(each.missing)
        line(f"  {_percent(each.share):>7}  {each.dimension}: {each.present} of {whole}")
        for name in each.missing:
            line(f"           missing: {name}")
    line("  rules, with the calls that keep or show them / that break them")
    for rule, (kept, broken) in coverage.rules.items():
        line(f"    {rule}: {kept} / {broken}")
    line("  levels, with the places of calls at which they show")
    for factor, counts in coverage.levels.items():
        drawn = (
            ""
            if factor in coverage.observed_factors
            else " (as drawn: the spec does not say how it shows)"
        )
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
