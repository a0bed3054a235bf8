"""Spec + suite -> what the page of an operator shows: rules with their cases, factors, examples."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from opcert.cases import Level, levels_by_factor
from opcert.errors import OpcertError
from opcert.panel import Strength
from opcert.specification import Ambiguity, DocumentedTensor, Erratum, Example, Rule, Spec, SpecFile
from opcert.suite import OperatorSuite, RuleCases, Suite, cases_by_rule, valid_calls

# Errata by their full ids.
Errata = Mapping[str, Erratum]


@dataclass(frozen=True)
class Violation:
    """What breaks a rule or reaches an ambiguity: a mutation by name, or a change; its cases."""

    name: str
    change: Mapping[str, str]
    cases: tuple[str, ...]


@dataclass(frozen=True)
class RuleEntry:
    """A rule under its full id, with the cases behind it and those of each violation of it."""

    id: str
    rule: Rule
    given: tuple[str, ...]
    cases: RuleCases
    violations: tuple[Violation, ...]
    errata: Errata


@dataclass(frozen=True)
class AmbiguityEntry:
    """What the document leaves open, under its full id, with the cases that touch it.

    `valid` and `invalid` are how many of these the reference takes to be so.
    """

    id: str
    ambiguity: Ambiguity
    valid: int
    invalid: int
    violations: tuple[Violation, ...]
    errata: Errata

    @property
    def cases(self) -> int:
        """How many cases touch it."""
        return self.valid + self.invalid


@dataclass(frozen=True)
class FactorEntry:
    """A factor: by profile its levels, by name with their expressions where they have some."""

    id: str
    name: str
    levels: Mapping[str, Mapping[str, str]]
    shows: Mapping[str, str]


@dataclass(frozen=True)
class ShownTensor:
    """A documented tensor; `elements` are nested by dimension, or say what fills it."""

    name: str
    type: str
    shape: tuple[int, ...]
    elements: str


@dataclass(frozen=True)
class ExampleEntry:
    """A documented call under its full id, which is its case's too."""

    id: str
    example: Example
    inputs: tuple[ShownTensor, ...]
    attributes: Mapping[str, str]
    outputs: tuple[ShownTensor, ...]
    errata: Errata


@dataclass(frozen=True)
class OperatorPage:
    """Everything that a reader needs to dispute a verdict on one operator.

    `cases` has the number of cases that expect outputs, expect rejection and are left open; it is
    None where the suite does not have the operator. `strength` says which generic faults they find.
    """

    spec: Spec
    file: str
    cases: tuple[int, int, int] | None
    rules: tuple[RuleEntry, ...]
    ambiguities: tuple[AmbiguityEntry, ...]
    factors: tuple[FactorEntry, ...]
    examples: tuple[ExampleEntry, ...]
    strength: Strength | None = None

    @property
    def names(self) -> dict[str, str]:
        """What the factors show by that is no factor: places in a call, and steps to a value."""
        table = self.spec.cases
        places = {name: f"each of {text}" for name, text in table.places.items()}
        steps = {name: text for name, text in table.observe.items() if name not in table.factors}
        return {**places, **{name: text for name, text in steps.items() if isinstance(text, str)}}

    @property
    def requirements(self) -> tuple[RuleEntry, ...]:
        """The rules that a call has to satisfy."""
        return tuple(each for each in self.rules if each.rule.kind == "requirement")

    @property
    def behaviours(self) -> tuple[RuleEntry, ...]:
        """The rules of what happens."""
        return tuple(each for each in self.rules if each.rule.kind == "behaviour")


def operator_page(
    spec_file: SpecFile, suite: Suite, strength: Strength | None = None
) -> OperatorPage:
    """Return what the page of a spec's operator shows, with its cases in `suite`.

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
    return OperatorPage(
        spec=spec,
        file=spec_file.name,
        cases=None if operator is None else _numbers(operator),
        rules=tuple(_rule(spec, rule, cases, ids) for rule in spec.rules),
        ambiguities=_ambiguities(spec, operator, ids),
        factors=_factors(spec),
        examples=tuple(_example(spec, each) for each in spec.examples),
        strength=strength,
    )


def factor_id(slug: str, factor: str) -> str:
    """Return the id under which a page has a factor."""
    return f"{slug}/factor/{factor}"


def _numbers(operator: OperatorSuite) -> tuple[int, int, int]:
    entry = operator.entry
    deciding = entry.cases - entry.implementation_defined
    rejected = sum(
        case.expects == "rejection" and case.ambiguity is None for case in operator.index.cases
    )
    return deciding - rejected, rejected, entry.implementation_defined


def _rule(
    spec: Spec, rule: Rule, cases: Mapping[str, RuleCases], ids: tuple[str, ...]
) -> RuleEntry:
    full_id = spec.full_id(rule.id)
    return RuleEntry(
        full_id,
        rule,
        spec.full_ids(*rule.given),
        cases.get(full_id, RuleCases((), (), ())),
        _violations(full_id, rule.violations, ids),
        _errata(spec, rule.id),
    )


def _violations(
    owner: str, changes: Mapping[str, Mapping[str, str]], ids: tuple[str, ...]
) -> tuple[Violation, ...]:
    """Return each violation with its cases, whose ids are its own and the digest of a baseline.

    Those that the spec declares come first, also where the suite has none of their cases.
    """
    cases: dict[str, list[str]] = {name: [] for name in changes}
    for case in ids:
        violation, _, _ = case.rpartition("-")
        if violation.startswith(f"{owner}."):
            cases.setdefault(violation.removeprefix(f"{owner}."), []).append(case)
    return tuple(
        Violation(name, changes.get(name, {}), tuple(some)) for name, some in cases.items()
    )


def _ambiguities(
    spec: Spec, operator: OperatorSuite | None, ids: tuple[str, ...]
) -> tuple[AmbiguityEntry, ...]:
    cases = operator.index.cases if operator else ()
    touched = Counter((case.ambiguity, case.expects) for case in cases)
    return tuple(
        AmbiguityEntry(
            spec.full_id(each.id),
            each,
            touched[spec.full_id(each.id), "outputs"],
            touched[spec.full_id(each.id), "rejection"],
            _violations(spec.full_id(each.id), each.violations, ids),
            _errata(spec, each.id),
        )
        for each in spec.ambiguities
    )


def _factors(spec: Spec) -> tuple[FactorEntry, ...]:
    """Return each factor with its levels in core, and in a profile where they differ."""
    core, full, stress = (levels_by_factor(spec, profile) for profile in ("core", "full", "stress"))
    entries = []
    for name, levels in core.items():
        shown = {"core": _levels(spec, name, levels)}
        for profile, others in (("full", full), ("stress", stress)):
            if [level.name for level in others[name]] != [level.name for level in levels]:
                shown[profile] = _levels(spec, name, others[name])
        seen = spec.cases.observe.get(name)
        shows = {"": seen} if isinstance(seen, str) else seen or {}
        entries.append(FactorEntry(factor_id(spec.slug, name), name, shown, shows))
    return tuple(entries)


def _levels(spec: Spec, factor: str, levels: Sequence[Level]) -> dict[str, str]:
    """Return the expression of each level that the spec writes out, by name."""
    table = spec.cases
    written: dict[str, str] = {}
    for source in (table.factors, *table.profiles.values()):
        named = source.get(factor)
        written |= named if isinstance(named, dict) else {}
    written |= table.additional.get(factor, {})
    return {level.name: written.get(level.name, "") for level in levels}


def _example(spec: Spec, example: Example) -> ExampleEntry:
    return ExampleEntry(
        spec.full_id(example.id),
        example,
        tuple(_tensor(name, each) for name, each in example.inputs.items()),
        {name: json.dumps(each, ensure_ascii=False) for name, each in example.attributes.items()},
        tuple(_tensor(f"output {i}", each) for i, each in enumerate(example.outputs)),
        _errata(spec, example.id),
    )


def _errata(spec: Spec, name: str) -> dict[str, Erratum]:
    """Return the errata that affect a rule, an ambiguity or an example, by their full ids."""
    return {spec.full_id(each.id): each for each in spec.errata if name in each.affects}


def _tensor(name: str, documented: DocumentedTensor) -> ShownTensor:
    elements = "any: the document gives the shape alone"
    if documented.values is not None:
        nested = np.array(documented.values, object).reshape(documented.shape).tolist()
        elements = str(nested)
    elif documented.element is not None:
        elements = f"element i, in C order, is {documented.element}"
    return ShownTensor(name, documented.type, documented.shape, elements)
