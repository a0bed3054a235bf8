"""Specs and a suite -> a folder of Markdown, of which Sphinx makes a site.

The heading of a rule, ambiguity, erratum, law, example or case is its id, so that the anchors are
those that code hosts and Sphinx give to headings.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from opcert.arrays.calls import flatten_variadic
from opcert.errors import OpcertError, visible_text
from opcert.report.explain import CaseDescription, describe_case, json_text
from opcert.specification.expressions import DocumentedTensor
from opcert.specification.files import SpecFile
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.spec_check import RuleCases, cases_by_rule, valid_calls
from opcert.suite.suite import Suite
from opcert.system import FileContents, template_environment

if TYPE_CHECKING:
    from jinja2 import Environment

# These characters have a meaning in text, or at its beginning.
_MARKUP = re.compile(r"[\\`*<|&{\[]|(?<!\w)_|_(?!\w)|^[-+=>#%(:@^!]|(?<=^\d)[.)]")


def page_name(operator: str) -> str:
    """Return the file name of an operator's page: its id, with `-` after the family."""
    return f"{operator.replace('/', '-')}.md"


def operator_markdown(spec_file: SpecFile, suite: Suite) -> dict[str, bytes]:
    """Return the page of an operator, and that of its cases if `suite` has any, by file name.

    Raises:
        OpcertError: the suite was generated from another text of the spec.
    """
    spec = spec_file.spec
    operator = suite.operators.get(spec.operator)
    if operator is not None and operator.entry.spec_sha256 != spec_file.digest:
        raise OpcertError(
            f"{suite.folder}: was generated from another text of {spec_file.path}, so its cases "
            "cannot be counted by these rules; generate the suite again, or name its specs by "
            "--specs"
        )
    cases = {} if operator is None else cases_by_rule(spec, operator, valid_calls(operator))
    ids = () if operator is None else tuple(operator.cases)
    indexed = () if operator is None else operator.cases.values()

    def violations(owner: str, changes: Mapping[str, object]) -> dict[str, list[str]]:
        """Return the cases of each violation of a rule or ambiguity, the declared ones first."""
        by_name: dict[str, list[str]] = {name: [] for name in changes}
        for case in ids:
            # A case id is the id of its violation and the digest of its baseline.
            violation, _, _ = case.rpartition("-")
            if violation.startswith(f"{owner}."):
                by_name.setdefault(violation.removeprefix(f"{owner}."), []).append(case)
        return by_name

    names: dict[str, Any] = {
        "spec": spec,
        "file": spec_file.name,
        "suite": suite,
        "counts": case_counts(operator),
        "page": (page := page_name(spec.operator)),
        "cases_page": (cases_page := page.replace(".md", "-cases.md")),
        "cases": defaultdict(RuleCases, cases),
        "open_counts": Counter((c.ambiguity or c.open_elements, c.expects) for c in indexed),
        "violations": violations,
    }
    pages = {page: render("operator.md.jinja", **names)}
    if operator is not None:
        pages[cases_page] = render("cases.md.jinja", groups=_groups(operator), **names)
    return pages


def case_counts(operator: OperatorSuite | None) -> tuple[int, int, int] | None:
    """Return the numbers of valid calls, of calls to be rejected, and of those left open."""
    if operator is None:
        return None
    cases, ambiguous = operator.entry.cases, operator.entry.implementation_defined
    negative = sum(
        c.expects == "rejection" and c.ambiguity is None for c in operator.cases.values()
    )
    return cases - ambiguous - negative, negative, ambiguous


def plain(text: object) -> Markup:
    """Return `text` on one line, as Markdown that shows its characters as they are."""
    line = " ".join(visible_text(str(text)).split())
    return Markup(_MARKUP.sub(lambda match: f"\\{match[0]}", line))  # noqa: S704


def _link(title: str, page: str = "", text: object = None) -> Markup:
    """Return a link to a heading of a page; code hosts and Sphinx give it this anchor."""
    anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    return Markup(f"[{plain(title if text is None else text)}]({page}#{anchor})")  # noqa: S704


def render(template: str, **names: object) -> bytes:
    """Return a rendered template, in which all values are text that brings no markup."""
    text = _environment().get_template(template).render(**names)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n").encode() + b"\n"


@cache
def _environment() -> "Environment":
    environment = template_environment(code=_code, link=_link, elements=_elements, json=json_text)
    environment.finalize = lambda value: value if isinstance(value, Markup) else plain(value)
    environment.globals["flatten"] = flatten_variadic
    return environment


def _code(text: object, in_table: bool = False) -> Markup:
    """Return a span of code; a table needs an escape for `|`, other places show it."""
    line = " ".join(visible_text(str(text)).split())
    if in_table:
        line = line.replace("|", "\\|")
    longest = max(map(len, re.findall("`+", line)), default=0)
    space = " " if longest else ""
    quotes = "`" * (longest + 1)
    return Markup(f"{quotes}{space}{line}{space}{quotes}" if line else "")  # noqa: S704


def _elements(tensor: DocumentedTensor) -> str:
    """Return the elements of a documented tensor, nested by dimension, or what they follow."""
    if tensor.values is not None:
        return str(np.array(tensor.values, object).reshape(tensor.shape).tolist())
    if tensor.element is not None:
        return f"element i, in C order, is {tensor.element}"
    return "any: the document gives the shape alone"


def _groups(operator: OperatorSuite) -> dict[str, list[CaseDescription]]:
    """Return the cases by purpose."""
    groups = defaultdict(list)
    for case in operator.cases.values():
        if case.ambiguity is not None:
            group = f"Left open: {case.ambiguity}"
        elif case.violated_rule is not None:
            group = f"Rejected: {case.violated_rule}"
        elif case.example:
            group = "Examples of the document"
        elif case.baseline is None:
            group = "Valid calls"
        else:
            group = "Neighbours: valid calls that differ from another in one respect"
        groups[group].append(describe_case(operator, case))
    return dict(sorted(groups.items()))


# Each file begins with one of these marks, so that foreign files are recognised.
MARKS = ("<!-- opcert docs -->", "# opcert docs: the configuration of Sphinx")


def render_docs(spec_files: Iterable[SpecFile], suite: Suite) -> FileContents:
    """Return every file by name: pages of operators, an index and Sphinx's configuration.

    Raises:
        OpcertError: the suite was generated from another text of a spec.
    """
    files: dict[str, bytes] = {}
    operators = []
    for spec_file in spec_files:
        spec = spec_file.spec
        pages = operator_markdown(spec_file, suite)
        files |= {f"operators/{name}": text for name, text in pages.items()}
        counts = case_counts(suite.operators.get(spec.operator)) or ("none here",) * 3
        operators.append((spec, f"operators/{page_name(spec.operator)}", counts))
    index = render("index.md.jinja", suite=suite, operators=operators, pages=sorted(files))
    return {**files, "index.md": index, "conf.py": render("conf.py.j2")}
