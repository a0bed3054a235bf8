"""The file names of the site, and the addresses of operators, rules, cases and the like."""

from collections.abc import Iterable, Mapping

from opcert.pages.case_pages import CasesPage
from opcert.pages.operator_page import OperatorPage
from opcert.specification.model import Ambiguity, Erratum, Law, Rule

OPERATORS_PAGE = "operators.html"


def page_name(operator: str) -> str:
    """Return the file name of an operator's page: its id, with `-` after the family."""
    return f"{operator.replace('/', '-')}.html"


def cases_page_name(operator: str) -> str:
    """Return the file name of the page of an operator's cases."""
    return f"{operator.replace('/', '-')}-cases.html"


def addresses(pages: Iterable[OperatorPage], cases: Mapping[str, CasesPage]) -> dict[str, str]:
    """Return the address of each operator, rule, ambiguity, erratum, law and case by its id."""
    by_id = {}
    for page in pages:
        spec, file = page.spec, page_name(page.spec.operator)
        by_id[spec.operator] = file
        parts: list[Rule | Ambiguity | Erratum | Law] = [*spec.rules, *spec.ambiguities]
        parts += [*spec.errata, *spec.laws]
        by_id |= {spec.full_id(part.id): f"{file}#{spec.full_id(part.id)}" for part in parts}
        if spec.operator in cases:
            file = cases_page_name(spec.operator)
            by_id |= {case.id: f"{file}#{case.id}" for case in cases[spec.operator].cases}
    return by_id
