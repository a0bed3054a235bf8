"""Suite of an operator -> the content of the page of its cases, grouped by purpose."""

from collections.abc import Iterator
from dataclasses import dataclass

from opcert.pages.case_descriptions import CaseDescription, describe_case
from opcert.suite.operator_suite import OperatorSuite


@dataclass(frozen=True)
class CaseGroup:
    """Cases with one purpose, under a title; `id` identifies the group on its page."""

    id: str
    title: str
    cases: tuple[CaseDescription, ...]


@dataclass(frozen=True)
class CasesPage:
    """The cases of an operator in groups."""

    operator: str
    groups: tuple[CaseGroup, ...]

    @property
    def cases(self) -> Iterator[CaseDescription]:
        """Every case, group by group."""
        return (case for group in self.groups for case in group.cases)


def cases_page(operator: OperatorSuite) -> CasesPage:
    """Return the content of the page of an operator's cases."""
    titles: dict[str, str] = {
        "examples": "Examples of the document",
        "valid": "Valid calls",
        "neighbours": "Neighbours: valid calls that differ from another in one respect",
    }
    titles |= {f"rejected/{rule}": f"Rejected: {rule}" for rule in operator.index.rules}
    titles |= {f"open/{name}": f"Left open: {name}" for name in operator.index.ambiguities}
    members: dict[str, list[CaseDescription]] = {group: [] for group in titles}
    for case in operator.index.cases:
        description = describe_case(operator, case)
        if description.ambiguity is not None:
            group = f"open/{description.ambiguity}"
        elif description.violated_rule is not None:
            group = f"rejected/{description.violated_rule.id}"
        elif case.example:
            group = "examples"
        else:
            group = "valid" if description.baseline is None else "neighbours"
        members[group].append(description)
    groups = (
        CaseGroup(group, titles[group], tuple(cases)) for group, cases in members.items() if cases
    )
    return CasesPage(operator.index.operator, tuple(groups))
