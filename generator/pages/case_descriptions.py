"""A case of a suite -> an account of it: what it calls, why it exists, what is expected."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from opcert.programs import ArgumentChange, case_reason, changes_from_baseline, describe_tensor
from opcert.suite import (
    AmbiguityText,
    DigestedArray,
    DocumentText,
    ErratumText,
    GeneratedArray,
    IndexedCase,
    OperatorSuite,
    StoredArray,
)


@dataclass(frozen=True)
class TensorDescription:
    """A tensor of a call; `values` are nested by dimension, None where they are too many."""

    name: str
    type: str
    shape: tuple[int, ...]
    layout: str
    values: str | None

    def __str__(self) -> str:
        layout = f" {self.layout}" if self.layout != "c" else ""
        values = f" {self.values}" if self.values is not None else ""
        return f"{self.type}{list(self.shape)}{layout}{values}"


@dataclass(frozen=True)
class RuleDescription:
    """A rule in opcert's words, and where the document says it."""

    id: str
    clause: str
    text: str


@dataclass(frozen=True)
class CaseDescription:
    """One case in full.

    `broken` is the rule for which the call must be rejected, `shown` are the behaviours that a
    valid one shows. `changes` is what tells the case from its `baseline`. `ambiguity` is the full id
    of what leaves the case open, `open_point` the question with an argument for either answer.
    `errata` are those that affect what the case expects.
    """

    id: str
    operator: str
    document: DocumentText
    why: str
    expects: Literal["outputs", "rejection"]
    inputs: tuple[TensorDescription, ...]
    attributes: Mapping[str, str]
    outputs: tuple[TensorDescription, ...]
    broken: RuleDescription | None
    shown: tuple[RuleDescription, ...]
    levels: Mapping[str, str]
    feature_levels: tuple[str, ...]
    baseline: str | None
    changes: tuple[ArgumentChange, ...]
    ambiguity: str | None
    open_point: AmbiguityText | None
    errata: Mapping[str, ErratumText]


def describe_case(operator: OperatorSuite, case: IndexedCase) -> CaseDescription:
    """Return the account of a case, from nothing but its suite."""
    rejected = case.expects == "rejection"
    return CaseDescription(
        id=case.id,
        operator=operator.index.operator,
        document=operator.index.document,
        why=case_reason(operator, case),
        expects=case.expects,
        inputs=tuple(_tensor(operator, name, each) for name, each in case.inputs.items()),
        attributes=_attributes(case),
        outputs=tuple(_tensor(operator, f"{i}", each) for i, each in enumerate(case.outputs)),
        broken=_rule(operator, case.violated_rule) if case.violated_rule is not None else None,
        shown=() if rejected else tuple(_rule(operator, rule) for rule in case.rules),
        levels=case.levels,
        feature_levels=case.feature_levels,
        baseline=case.baseline,
        changes=changes_from_baseline(operator, case),
        ambiguity=case.ambiguity,
        open_point=operator.index.ambiguities[case.ambiguity]
        if case.ambiguity is not None
        else None,
        errata={name: operator.index.errata[name] for name in operator.errata_of(case)},
    )


def _rule(operator: OperatorSuite, rule: str) -> RuleDescription:
    text = operator.index.rules[rule]
    return RuleDescription(rule, text.clause, text.text)


def _attributes(case: IndexedCase) -> dict[str, str]:
    return {name: json.dumps(each, ensure_ascii=False) for name, each in case.attributes.items()}


def _tensor(
    operator: OperatorSuite, name: str, given: StoredArray | GeneratedArray | DigestedArray
) -> TensorDescription:
    _, layout, values = describe_tensor(operator, given)
    return TensorDescription(name, given.type, given.shape, layout, values)
