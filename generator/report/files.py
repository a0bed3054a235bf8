"""A report: on a terminal, and as files, for readers and for build servers."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markupsafe import Markup
from rich import progress as bars
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from opcert.certificate.certificate import Certificate
from opcert.certificate.certify_suite import OnVerdict
from opcert.errors import OpcertError, printable_line, visible_text
from opcert.report import side_by_side
from opcert.report.cause_section import detail_data
from opcert.report.page import ReportPage, scope_parts
from opcert.suite.suite import Suite
from opcert.system import FileContents, template_environment
from opcert.verdicts.cause_text import Bug, bugs_of
from opcert.verdicts.verdict import FAILURE_STATUSES, STATUSES, Status, Verdict

if TYPE_CHECKING:
    from jinja2 import Environment

_JSON_ESCAPE = re.compile(r"\\(?:u....|.)")


def render_template(template: str, **names: Any) -> bytes:
    """Return a rendered HTML template, in which all values are escaped."""
    return _environment().get_template(template).render(**names).encode()


@cache
def _environment() -> "Environment":
    environment = template_environment(capitalize_first=_capitalize_first)
    # The data of a report is large.
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    environment.policies["json.dumps_function"] = _visible_json
    environment.finalize = _visible
    return environment


def _visible(value: object) -> str:
    """Return a value as text of a page; exceptions and suites may have any characters."""
    if isinstance(value, Markup):
        return Markup(visible_text(value))  # noqa: S704 -- it is safe as before
    return visible_text(str(value))


def _visible_json(value: object, **how: Any) -> str:
    """Return JSON whose texts have escapes for hidden characters, as the rest of a page has."""
    text = visible_text(json.dumps(value, **how), before="\\")
    return _JSON_ESCAPE.sub(_visible_escape, text)


def _visible_escape(match: re.Match[str]) -> str:
    """Return an escape of JSON, or what a page shows instead of its control character."""
    character = json.loads(f'"{match[0]}"')
    return match[0] if character in '"\\/\n\t' else json.dumps(visible_text(character))[1:-1]


def _capitalize_first(text: str) -> str:
    """Return a sentence with a capital letter; `capitalize` of Jinja lowers all others."""
    return text[:1].upper() + text[1:]


# The maximum number of bugs, and of regressed cases, that a terminal lists.
MAX_LISTED = 10
_PLAIN_WIDTH = 120
# A log shows at least so often that a run goes on.
_SECONDS_BETWEEN_LINES = 10.0


def console(stderr: bool = False) -> Console:
    """Return a console; if it is not a terminal, it is wide enough for tables."""
    terminal = Console(stderr=stderr, emoji=False)
    if terminal.is_terminal:
        return terminal
    return Console(stderr=stderr, width=_PLAIN_WIDTH, emoji=False)


def print_line(console: Console, text: str) -> None:
    """Print one line without interpreting markup or control characters."""
    wraps = console.is_terminal
    console.print(printable_line(text), markup=False, highlight=False, soft_wrap=not wraps)


def table_cell(text: str) -> str:
    """Return text for a cell of a table, without markup or control characters."""
    return escape(printable_line(text))


# What happens after the last case.
_CONFIRMING = "the causes of failures are searched"


@contextmanager
def progress(console: Console) -> Iterator[OnVerdict]:
    """Show progress: a bar on a terminal; elsewhere a line for each operator and every 10 s."""
    failures = 0
    if not console.is_terminal:
        begin, operators = monotonic(), set[str]()
        line, confirming, ended = "", 0.0, Event()

        def print_operator(verdict: Verdict, number: int, total: int) -> None:
            nonlocal failures, line, confirming
            failures += verdict.status in FAILURE_STATUSES
            rate = number / (monotonic() - begin)
            left = timedelta(seconds=round((total - number) / rate))
            line = f"{number}/{total} {verdict.operator}"
            if verdict.operator not in operators:
                operators.add(verdict.operator)
                print_line(console, line)
            line += f": {failures:,} failures, {rate:,.0f}/s, {left} left"
            if number == total and failures:
                line, confirming = f"{number}/{total} {_CONFIRMING}", monotonic()
                print_line(console, line)

        def print_regularly() -> None:
            # A call may take a minute, and the confirmation of failures several.
            while not ended.wait(_SECONDS_BETWEEN_LINES):
                if line:
                    since = timedelta(seconds=round(monotonic() - confirming))
                    print_line(console, f"{line}, {since} so far" if confirming else line)

        thread = Thread(target=print_regularly, daemon=True)
        thread.start()
        try:
            yield print_operator
        finally:
            ended.set()
            thread.join()
        return
    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TextColumn("{task.fields[failures]}"),
        Rate(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("certifying", total=None, failures="")

        def update_bar(verdict: Verdict, number: int, total: int) -> None:
            nonlocal failures
            failures += verdict.status in FAILURE_STATUSES
            is_confirming = number == total and failures
            words = _CONFIRMING if is_confirming else table_cell(verdict.operator)
            count = f"{failures:,} failures" if failures else ""
            bar.update(task, completed=number, total=total, description=words, failures=count)

        yield update_bar


class Rate(bars.ProgressColumn):
    """The number of cases per second."""

    def render(self, task: bars.Task) -> Text:
        """Return the rate, or nothing before it is known."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


_ALL_LISTED = "the report that --out writes has all"


def print_certificate(certificate: Certificate, console: Console) -> None:
    """Print the bugs, the counts by operator and status, and the conclusion."""
    bugs = bugs_of(certificate.causes)
    for bug in bugs[:MAX_LISTED]:
        _print_bug(bug, certificate.by_case.get(bug.causes[0].representative), console)
    if hidden := len(bugs[MAX_LISTED:]):
        more = f"{hidden} more bug{'s' * (hidden > 1)}; {_ALL_LISTED}"
        console.print(f"... and {more}", highlight=False)
    console.print(_counts_table(certificate))
    for operator, by_type in certificate.accuracy.items():
        accuracies = (f"{name} {accuracy.summary}" for name, accuracy in by_type.items())
        print_line(console, f"{operator} is within: {'; '.join(accuracies)}")
    print_line(console, conclusion_line(certificate))


def _print_bug(bug: Bug, verdict: Verdict | None, console: Console) -> None:
    """Print a bug, and the first line about the case that represents it."""
    line = bug.sentence
    if count := len(bug.attributed):
        rejections = "1 rejection that does" if count == 1 else f"{count} rejections that do"
        line += f", and {rejections} not count because of them"
    print_line(console, line)
    # A certificate may have been changed.
    observed = "" if verdict is None else verdict.summary
    print_line(console, f"    {bug.causes[0].representative}: {observed}")


def _counts_table(certificate: Certificate) -> Table:
    # These statuses have a column even if they do not occur.
    usual = ("pass", "fail", "unsupported")
    statuses = [status for status in STATUSES if certificate.counts[status] or status in usual]
    table = Table("operator", *statuses, "cases")
    for column in table.columns[1:]:
        column.justify = "right"
    for operator, counts in certificate.operators.items():
        numbers = (*(counts[status] for status in statuses), sum(counts.values()))
        table.add_row(table_cell(operator), *map(str, numbers))
    table.add_section()
    totals = (*(certificate.counts[status] for status in statuses), len(certificate.verdicts))
    table.add_row("all", *map(str, totals))
    return table


def conclusion_line(certificate: Certificate) -> str:
    """Return one line with the conclusion, the scope, and the reasons if not conformant."""
    backend, suite = certificate.backend, certificate.suite
    about = [f"{suite.profile} suite {suite.digest[:12]}"]
    about += [f"{key} {value}" for key, value in certificate.selection if value not in ("*", None)]
    if certificate.claim is not None:
        about.append(f"claim {certificate.claim.sha256[:12]}")
    for operator, names in certificate.excluded.items():
        about.append(f"{operator} without {', '.join(names)}")
    if certificate.rejections["adapter"]:
        about.append(side_by_side.describe_rejections(certificate))
    word = "Conformant" if certificate.conformant else "Not conformant"
    line = certificate.conclusion.replace(word, word.upper(), 1)
    line += f": {backend.name} {backend.version} on {', '.join(about)}"
    if certificate.conformant:
        return line
    uncredited = sum(verdict.attributed_to is not None for verdict in certificate.verdicts)
    reasons = [*certificate.reasons]
    if uncredited:
        reasons.append(f"{uncredited} rejection{'s' * (uncredited > 1)} not credited")
    return f"{line}: {'; '.join(reasons)}"


def print_side_by_side(certificates: Sequence[Certificate], console: Console) -> None:
    """Print the counts by operator and certificate, each conclusion, and the changes."""
    comparison = side_by_side.SideBySide(certificates)
    names = (f"{column.number}. {column.name}" for column in comparison.columns)
    table = Table("operator", *map(table_cell, names))
    for operator in comparison.operators:
        tallies = (column.operator(operator) for column in comparison.columns)
        table.add_row(table_cell(operator), *(tally.summary or "no cases" for tally in tallies))
    console.print(table)
    for column in comparison.columns:
        print_line(console, f"{column.number}. {conclusion_line(column.certificate)}")
    for changes in comparison.changes:
        regressed = changes.regressed
        print_line(
            console,
            f"{changes.column.number}. {changes.column.name} compared with 1: "
            f"{len(changes.new_causes)} new and {len(changes.fixed_causes)} fixed causes; "
            f"{len(regressed)} regressed, {len(changes.fixed)} fixed, "
            f"{len(changes.other)} changed otherwise",
        )
        for label, listed in (("new", changes.new_causes), ("fixed", changes.fixed_causes)):
            for cause in listed[:MAX_LISTED]:
                print_line(console, f"    {label}: {cause.sentence}")
        for case in regressed[:MAX_LISTED]:
            print_line(console, f"    regressed: {case}")
        if hidden := len(regressed[MAX_LISTED:]):
            console.print(f"    ... and {hidden} more; {_ALL_LISTED}", highlight=False)


REPORT_FILE, JUNIT_FILE, SIDE_BY_SIDE_FILE = "report.html", "junit.xml", "side-by-side.html"
# The marks, of which every file of a report has one near its beginning, and what it is called.
REPORT = ('content="opcert report"', '<testsuites name="opcert '), "a report"


def refuse_other_suite(certificate: Certificate, suite: Suite) -> None:
    """Check that a suite is that of a certificate.

    Raises:
        OpcertError: it is another one, or lacks a case of the certificate.
    """
    if certificate.suite.digest != suite.digest:
        raise OpcertError(
            f"the certificate is of suite {certificate.suite.digest[:12]}, but {suite.folder} is "
            f"suite {suite.digest[:12]}; name the folder of the certificate's suite by --suite"
        )
    cases = suite.cases
    for verdict in certificate.verdicts:
        if verdict.case not in cases or cases.operator_of(verdict.case) != verdict.operator:
            raise OpcertError(
                f"the certificate has a verdict of {verdict.case} of {verdict.operator}, a case "
                "that its suite does not have: the certificate was changed; use the original"
            )


def report_files(certificate: Certificate, suite: Suite) -> FileContents:
    """Return the HTML report and the JUnit XML of a certificate; `suite` is its suite.

    Raises:
        OpcertError: the certificate is of another suite, or has a case that the suite lacks.
    """
    refuse_other_suite(certificate, suite)
    for cause in certificate.causes:
        judged = certificate.by_case.get(cause.representative)
        if judged is None or judged.operator != cause.operator:
            raise OpcertError(
                f"the certificate has a cause with {cause.representative} of {cause.operator}, "
                "of which it has no verdict: the certificate was changed; use the original"
            )
    html = render_template(
        "report.html.jinja",
        page=ReportPage(certificate, suite),
        details=detail_data(certificate, suite),
        scope=[*scope_parts(certificate)],
        command=side_by_side.command_line(certificate),
        marks=side_by_side.STATUS_MARKS,
        meanings=side_by_side.STATUS_MEANINGS,
    )
    return {REPORT_FILE: html, JUNIT_FILE: junit_xml(certificate)}


def render_side_by_side(certificates: Sequence[Certificate]) -> FileContents:
    """Return the page that compares certificates."""
    html = render_template(
        "side_by_side.html.jinja",
        page=side_by_side.SideBySide(certificates),
        marks=side_by_side.STATUS_MARKS,
    )
    return {SIDE_BY_SIDE_FILE: html}


# Test cases with other statuses than these and `pass` are skipped.
_ELEMENTS: dict[Status, str] = {"fail": "failure", "crash": "error", "hang": "error"}


def junit_xml(certificate: Certificate) -> bytes:
    """Return the content of junit.xml, with one test case per verdict.

    The failures of a bug are a test suite, and the other cases of an operator are one. A
    rejection that is not credited is skipped: another case is at fault.
    """
    titles = {case: bug.statement for bug in bugs_of(certificate.causes) for case in bug.cases}
    suites: dict[str, list[Verdict]] = {operator: [] for operator in certificate.operators}
    for verdict in certificate.verdicts:
        suites.setdefault(titles.get(verdict.case, verdict.operator), []).append(verdict)
    # The elements of a hundred thousand test cases take five times the memory of their text.
    texts, tags = [], Counter[str]()
    for title, verdicts in suites.items():
        suite = ElementTree.Element("testsuite", name=visible_text(title))
        suite.extend(_test_case(verdict, titles.get(verdict.case)) for verdict in verdicts)
        own = Counter(case[0].tag if len(case) else "" for case in suite)
        suite.attrib |= _totals(own, sum(verdict.seconds for verdict in verdicts))
        ElementTree.indent(suite, " ", level=1)
        texts.append(b" " + ElementTree.tostring(suite, "utf-8"))
        tags += own
    name = visible_text(f"opcert {certificate.backend.name} {certificate.backend.version}")
    root = ElementTree.Element("testsuites", {"name": name, **_totals(tags, certificate.seconds)})
    root.text = "\n"
    begin, _, end = ElementTree.tostring(root, "utf-8", xml_declaration=True).rpartition(b"\n")
    return b"\n".join([begin, *texts, end, b""])


def _totals(tags: Counter[str], seconds: float) -> dict[str, str]:
    """Return the counts of test cases, given how many have each tag, and their time."""
    counts = {"failures": tags["failure"], "errors": tags["error"], "skipped": tags["skipped"]}
    counts = {"tests": tags.total(), **counts}
    return {**{name: str(count) for name, count in counts.items()}, "time": f"{seconds:.6f}"}


def _test_case(verdict: Verdict, bug: str | None) -> ElementTree.Element:
    """Return a test case; the type of a failure is its bug, or else its kind."""
    test_case = ElementTree.Element(
        "testcase",
        classname=visible_text(verdict.operator),
        name=visible_text(verdict.case),
        # Without an exponent, as build servers read them.
        time=f"{verdict.seconds:.6f}",
    )
    if verdict.status == "pass":
        return test_case
    message = visible_text(f"{verdict.status}: {verdict.summary}")
    tag = "skipped" if verdict.kind == "uncredited" else _ELEMENTS.get(verdict.status, "skipped")
    result = ElementTree.SubElement(test_case, tag, message=message)
    if tag != "skipped":
        result.set("type", visible_text(bug or verdict.kind or verdict.status))
        result.text = visible_text(verdict.detail)
    return test_case
