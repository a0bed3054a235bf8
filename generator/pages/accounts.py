"""A case of a suite -> an account of it: what it calls, why it exists, what is expected."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Literal

from opcert.generator.arrays.element_types import Array, bits_dtype
from opcert.generator.programs.literals import is_exact
from opcert.generator.specification.files import read_specs
from opcert.generator.specification.model import Ambiguity
from opcert.generator.specification.references import spec_paths
from opcert.generator.suite.format import DigestedArray, IndexedCase, MadeArray, StoredArray
from opcert.generator.suite.operator_suite import OperatorSuite

# Of up to how many elements an account has the values.
SHOWN = 32


@dataclass(frozen=True)
class TensorAccount:
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
class RuleAccount:
    """A rule in opcert's words, and where the document says it."""

    id: str
    clause: str
    text: str


@dataclass(frozen=True)
class Change:
    """What became of one argument of the twin; None stands for an argument that is left out."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class CaseAccount:
    """One case, told.

    `broken` is the rule for which the call must be rejected, `shown` are the behaviours that a
    valid one shows. `changes` is what tells the case from its `twin`. `ambiguity` is the full id
    of what leaves the case open, `open_point` what the spec says of it, where its text is at hand.
    """

    id: str
    operator: str
    why: str
    expects: Literal["outputs", "rejection"]
    inputs: tuple[TensorAccount, ...]
    attributes: Mapping[str, str]
    outputs: tuple[TensorAccount, ...]
    broken: RuleAccount | None
    shown: tuple[RuleAccount, ...]
    levels: Mapping[str, str]
    feature_levels: tuple[str, ...]
    twin: str | None
    changes: tuple[Change, ...]
    ambiguity: str | None
    open_point: Ambiguity | None


def account_of(
    operator: OperatorSuite, case: IndexedCase, specs: Path | None = None
) -> CaseAccount:
    """Return the account of a case; what is left open is told from `specs`.

    Raises:
        OpcertError: a spec is needed, and those in the folder have mistakes.
    """
    rejected = case.expects == "rejection"
    return CaseAccount(
        id=case.id,
        operator=operator.index.operator,
        why=case.why,
        expects=case.expects,
        inputs=tuple(_tensor(operator, name, each) for name, each in case.inputs.items()),
        attributes=_attributes(case),
        outputs=tuple(_tensor(operator, f"{i}", each) for i, each in enumerate(case.outputs)),
        broken=_rule(operator, case.rule) if case.rule is not None else None,
        shown=() if rejected else tuple(_rule(operator, rule) for rule in case.rules),
        levels=case.levels,
        feature_levels=case.feature_levels,
        twin=case.twin,
        changes=_changes(operator, case),
        ambiguity=_full_id(case),
        open_point=_open_point(operator, case, specs),
    )


def _full_id(case: IndexedCase) -> str | None:
    slug = case.id.partition("/")[0]
    return f"{slug}/{case.ambiguity}" if case.ambiguity is not None else None


def _open_point(operator: OperatorSuite, case: IndexedCase, specs: Path | None) -> Ambiguity | None:
    """Return what the spec that the suite was generated from says of the case's ambiguity."""
    if case.ambiguity is None:
        return None
    described = (
        each.spec.ambiguities
        for each in read_specs(spec_paths(specs))
        if each.digest == operator.entry.spec_sha256
    )
    ambiguities = (each for found in described for each in found)
    return next((each for each in ambiguities if each.id == case.ambiguity), None)


def _rule(operator: OperatorSuite, rule: str) -> RuleAccount:
    text = operator.index.rules[rule]
    return RuleAccount(rule, text.clause, text.text)


def _attributes(case: IndexedCase) -> dict[str, str]:
    return {name: json.dumps(each, ensure_ascii=False) for name, each in case.attributes.items()}


def _tensor(
    operator: OperatorSuite, name: str, given: StoredArray | MadeArray | DigestedArray
) -> TensorAccount:
    layout = "c" if isinstance(given, DigestedArray) else given.layout
    values = None
    if prod(given.shape) <= SHOWN and isinstance(given, StoredArray):
        values = _values(operator.array_of(given))
    return TensorAccount(name, given.type, given.shape, layout, values)


def _values(array: Array) -> str:
    """Write the values of an array, and its bits where they do not give them."""
    values = str(array.tolist())
    if is_exact(array):
        return values
    bits = array.reshape(-1).view(bits_dtype(array.dtype)).tolist()
    return f"{values}, bits {' '.join(f'0x{each:0{2 * array.itemsize}x}' for each in bits)}"


def _changes(operator: OperatorSuite, case: IndexedCase) -> tuple[Change, ...]:
    """Return what tells a case from its twin, argument by argument."""
    if case.twin is None:
        return ()
    twin = operator.cases[case.twin]
    inputs = [
        _change(operator, name, twin.inputs.get(name), case.inputs.get(name))
        for name in dict.fromkeys([*twin.inputs, *case.inputs])
        if twin.inputs.get(name) != case.inputs.get(name)
    ]
    before, after = _attributes(twin), _attributes(case)
    attributes = [
        Change(name, before.get(name), after.get(name))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]
    return (*inputs, *attributes)


def _change(
    operator: OperatorSuite,
    name: str,
    before: StoredArray | MadeArray | None,
    after: StoredArray | MadeArray | None,
) -> Change:
    texts = [str(_tensor(operator, name, each)) if each else None for each in (before, after)]
    if texts[0] == texts[1]:
        texts[1] = f"{texts[1]} of other elements"
    return Change(name, *texts)
