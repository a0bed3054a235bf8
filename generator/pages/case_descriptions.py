"""Case -> its description: the call, the purpose and the expected result."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from opcert.arrays.open_elements import open_elements
from opcert.programs.reasons import (
    ArgumentChange,
    case_reason,
    changes_from_baseline,
    describe_tensor,
)
from opcert.suite.format import (
    AmbiguityText,
    DigestedArray,
    DocumentText,
    ErratumText,
    GeneratedArray,
    IndexedCase,
    StoredArray,
)
from opcert.suite.operator_suite import OperatorSuite


@dataclass(frozen=True)
class TensorDescription:
    """A tensor of a call; `values` are nested by dimension, or None if there are too many."""

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
    """A rule with its clause and text."""

    id: str
    clause: str
    text: str


@dataclass(frozen=True)
class CaseDescription:
    """One case in full.

    A negative case has the rule that it violates, a positive case the behaviours that it exhibits.
    `changes` are the differences from the `baseline`. `ambiguity` is the full id of the ambiguity
    that the call touches, `ambiguity_text` its question and arguments. `open_elements` is the full
    id of the ambiguity that leaves elements of the outputs open, `open_text` its question, and
    `open_count` how many elements these are. `errata` are the errata that
    affect the expectation.
    """

    id: str
    operator: str
    document: DocumentText
    why: str
    expects: Literal["outputs", "rejection"]
    inputs: tuple[TensorDescription, ...]
    attributes: Mapping[str, str]
    outputs: tuple[TensorDescription, ...]
    violated_rule: RuleDescription | None
    behaviours: tuple[RuleDescription, ...]
    levels: Mapping[str, str]
    feature_levels: tuple[str, ...]
    baseline: str | None
    changes: tuple[ArgumentChange, ...]
    ambiguity: str | None
    ambiguity_text: AmbiguityText | None
    open_elements: str | None
    open_text: AmbiguityText | None
    open_count: int
    errata: Mapping[str, ErratumText]


def describe_case(operator: OperatorSuite, case: IndexedCase) -> CaseDescription:
    """Return the description of a case; it needs only the suite, not the spec."""

    def rule(name: str) -> RuleDescription:
        text = operator.index.rules[name]
        return RuleDescription(name, text.clause, text.text)

    def tensor(name: str, array: StoredArray | GeneratedArray | DigestedArray) -> TensorDescription:
        _, layout, values = describe_tensor(operator, array)
        return TensorDescription(name, array.type, array.shape, layout, values)

    attributes = {
        name: json.dumps(value, ensure_ascii=False) for name, value in case.attributes.items()
    }
    ambiguity, opened = case.ambiguity, case.open_elements
    open_count = 0
    if opened is not None:
        open_count = sum(int(open_elements(array).sum()) for array in operator.outputs(case))
    return CaseDescription(
        id=case.id,
        operator=operator.index.operator,
        document=operator.index.document,
        why=case_reason(operator, case),
        expects=case.expects,
        inputs=tuple(tensor(name, array) for name, array in case.inputs.items()),
        attributes=attributes,
        outputs=tuple(tensor(f"{i}", array) for i, array in enumerate(case.outputs)),
        violated_rule=rule(case.violated_rule) if case.violated_rule is not None else None,
        behaviours=tuple(map(rule, case.rules)) if case.expects == "outputs" else (),
        levels=case.levels,
        feature_levels=case.feature_levels,
        baseline=case.baseline,
        changes=changes_from_baseline(operator, case),
        ambiguity=ambiguity,
        ambiguity_text=operator.index.ambiguities[ambiguity] if ambiguity is not None else None,
        open_elements=opened,
        open_text=operator.index.ambiguities[opened] if opened is not None else None,
        open_count=open_count,
        errata={name: operator.index.errata[name] for name in operator.errata_of(case)},
    )
