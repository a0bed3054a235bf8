"""Spec + suite -> the content of an operator's page: rules with cases, factors, examples."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from opcert.arrays.variadic import flatten_variadic
from opcert.cases.factors import Level, levels_by_factor
from opcert.errors import OpcertError
from opcert.panel.strength import Strength
from opcert.specification.documented import DocumentedTensor
from opcert.specification.files import SpecFile
from opcert.specification.model import Ambiguity, Erratum, Example, Rule, Spec
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.rule_cases import RuleCases, cases_by_rule, valid_calls
from opcert.suite.suite import Suite

# Errata by their full ids.
Errata = Mapping[str, Erratum]


class CaseCounts(NamedTuple):
    """The number of positive, negative and ambiguous cases of an operator."""

    positive: int
    negative: int
    ambiguous: int


@dataclass(frozen=True)
class Violation:
    """A change that breaks a rule or reaches an ambiguity, with the ids of its cases.

    `change` maps arguments to expressions if the spec declares the violation; it is empty for a
    generic mutation.
    """

    name: str
    change: Mapping[str, str]
    cases: tuple[str, ...]


@dataclass(frozen=True)
class RuleEntry:
    """A rule with its full id, its cases and its violations."""

    id: str
    rule: Rule
    prerequisites: tuple[str, ...]
    cases: RuleCases
    violations: tuple[Violation, ...]
    errata: Errata


@dataclass(frozen=True)
class AmbiguityEntry:
    """An ambiguity with its full id.

    `valid` and `invalid` are the numbers of cases that the reference accepts and rejects.
    """

    id: str
    ambiguity: Ambiguity
    valid: int
    invalid: int
    violations: tuple[Violation, ...]
    errata: Errata

    @property
    def cases(self) -> int:
        """The number of its cases."""
        return self.valid + self.invalid


@dataclass(frozen=True)
class FactorEntry:
    """A factor: its levels by profile, each with the expression of an additional one."""

    id: str
    name: str
    levels: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class ExampleTensor:
    """A documented tensor; `elements` are nested by dimension, or describe the pattern."""

    name: str
    type: str
    shape: tuple[int, ...]
    elements: str


@dataclass(frozen=True)
class ExampleEntry:
    """A documented call with its full id, which is also the id of its case."""

    id: str
    example: Example
    inputs: tuple[ExampleTensor, ...]
    attributes: Mapping[str, str]
    outputs: tuple[ExampleTensor, ...]
    errata: Errata


@dataclass(frozen=True)
class OperatorPage:
    """Everything that a reader needs to dispute a verdict on one operator.

    `cases` is None if the suite lacks the operator. `strength` is the strength of the suite against
    generic faults.
    """

    spec: Spec
    file: str
    cases: CaseCounts | None
    rules: tuple[RuleEntry, ...]
    ambiguities: tuple[AmbiguityEntry, ...]
    factors: tuple[FactorEntry, ...]
    examples: tuple[ExampleEntry, ...]
    strength: Strength | None = None

    @property
    def requirements(self) -> tuple[RuleEntry, ...]:
        """The rules that a call must satisfy."""
        return tuple(entry for entry in self.rules if entry.rule.kind == "requirement")

    @property
    def behaviours(self) -> tuple[RuleEntry, ...]:
        """The rules that valid calls exhibit."""
        return tuple(entry for entry in self.rules if entry.rule.kind == "behaviour")


def operator_page(
    spec_file: SpecFile, suite: Suite, strength: Strength | None = None
) -> OperatorPage:
    """Return the content of an operator's page, with its cases in `suite`.

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
    ids = tuple(operator.cases) if operator is not None else ()
    cases = {} if operator is None else cases_by_rule(spec, operator, valid_calls(operator))
    rules = []
    for rule in spec.rules:
        full_id = spec.full_id(rule.id)
        rules.append(
            RuleEntry(
                full_id,
                rule,
                spec.full_ids(*rule.prerequisites),
                cases.get(full_id, RuleCases((), (), ())),
                _violations(full_id, rule.violations, ids),
                _errata(spec, rule.id),
            )
        )
    return OperatorPage(
        spec=spec,
        file=spec_file.name,
        cases=None if operator is None else _case_counts(operator),
        rules=tuple(rules),
        ambiguities=_ambiguities(spec, operator, ids),
        factors=_factors(spec),
        examples=tuple(_example(spec, example) for example in spec.examples),
        strength=strength,
    )


def factor_id(slug: str, factor: str) -> str:
    """Return the id of a factor on its page."""
    return f"{slug}/factor/{factor}"


def _case_counts(operator: OperatorSuite) -> CaseCounts:
    cases, ambiguous = operator.entry.cases, operator.entry.implementation_defined
    negative = sum(
        case.expects == "rejection" and case.ambiguity is None for case in operator.index.cases
    )
    return CaseCounts(cases - ambiguous - negative, negative, ambiguous)


def _violations(
    owner: str, changes: Mapping[str, Mapping[str, str]], ids: tuple[str, ...]
) -> tuple[Violation, ...]:
    """Return the violations of a rule or an ambiguity, the declared ones first.

    A case id is the id of its violation and the digest of its baseline.
    """
    cases: dict[str, list[str]] = {name: [] for name in changes}
    for case in ids:
        violation, _, _ = case.rpartition("-")
        if violation.startswith(f"{owner}."):
            cases.setdefault(violation.removeprefix(f"{owner}."), []).append(case)
    return tuple(
        Violation(name, changes.get(name, {}), tuple(members)) for name, members in cases.items()
    )


def _ambiguities(
    spec: Spec, operator: OperatorSuite | None, ids: tuple[str, ...]
) -> tuple[AmbiguityEntry, ...]:
    cases = operator.index.cases if operator else ()
    counts = Counter((case.ambiguity or case.open_elements, case.expects) for case in cases)
    entries = []
    for ambiguity in spec.ambiguities:
        full_id = spec.full_id(ambiguity.id)
        entries.append(
            AmbiguityEntry(
                full_id,
                ambiguity,
                counts[full_id, "outputs"],
                counts[full_id, "rejection"],
                _violations(full_id, ambiguity.violations, ids),
                _errata(spec, ambiguity.id),
            )
        )
    return tuple(entries)


def _factors(spec: Spec) -> tuple[FactorEntry, ...]:
    """Return each factor with its levels in the core profile, and in others where they differ."""
    core, full, stress = (levels_by_factor(spec, profile) for profile in ("core", "full", "stress"))
    entries = []
    for name, levels in core.items():
        by_profile = {"core": _levels(spec, name, levels)}
        for profile, others in (("full", full), ("stress", stress)):
            if [level.name for level in others[name]] != [level.name for level in levels]:
                by_profile[profile] = _levels(spec, name, others[name])
        entries.append(FactorEntry(factor_id(spec.slug, name), name, by_profile))
    return tuple(entries)


def _levels(spec: Spec, factor: str, levels: Sequence[Level]) -> dict[str, str]:
    """Return the expression of each level by name; "" for a level without one."""
    expressions = spec.cases.additional.get(factor, {})
    return {level.name: expressions.get(level.name, "") for level in levels}


def _example(spec: Spec, example: Example) -> ExampleEntry:
    attributes = {
        name: json.dumps(value, ensure_ascii=False) for name, value in example.attributes.items()
    }
    outputs = enumerate(example.outputs)
    return ExampleEntry(
        spec.full_id(example.id),
        example,
        tuple(_tensor(key, tensor) for key, tensor in flatten_variadic(example.inputs).items()),
        attributes,
        tuple(_tensor(f"output {i}", tensor) for i, tensor in outputs),
        _errata(spec, example.id),
    )


def _errata(spec: Spec, name: str) -> dict[str, Erratum]:
    """Return the errata that affect a rule, an ambiguity or an example, by their full ids."""
    return {spec.full_id(erratum.id): erratum for erratum in spec.errata if name in erratum.affects}


def _tensor(name: str, documented: DocumentedTensor) -> ExampleTensor:
    if documented.values is not None:
        elements = str(np.array(documented.values, object).reshape(documented.shape).tolist())
    elif documented.element is not None:
        elements = f"element i, in C order, is {documented.element}"
    else:
        elements = "any: the document gives the shape alone"
    return ExampleTensor(name, documented.type, documented.shape, elements)
