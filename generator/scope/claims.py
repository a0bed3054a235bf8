"""What a vendor claims that a backend supports: inside it all has to work, outside none counts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from opcert.arrays import ELEMENT_TYPES
from opcert.errors import SpecError, did_you_mean
from opcert.scope.support import (
    CaseProperties,
    OperatorScope,
    misspelt_operators,
    unknown_operators,
)
from opcert.suite import Suite, core_suite_folder, read_manifest
from opcert.yaml_files import YamlPath, YamlSource, validated_content


class ClaimContent(BaseModel):
    """What a claim's file says; an operator that it leaves out is not claimed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    feature_level: str | None = None
    operators: Mapping[str, OperatorScope]

    def exclusion_reason(self, operator: str, case: CaseProperties) -> str | None:
        """Return why `case` is not claimed, or None where it is."""
        scope = self.operators.get(operator)
        if scope is None:
            return f"the claim leaves out {operator}"
        beyond = scope.exclusion_reason(case)
        return beyond and f"the claim leaves out {beyond}"


@dataclass(frozen=True)
class Claim:
    """A claim with the file that it was read from."""

    content: ClaimContent
    source: YamlSource

    def feature_level(self, asked: str | None) -> str | None:
        """Return the feature level to certify, where one was `asked` for besides.

        Raises:
            SpecError: the claim has another one.
        """
        claimed = self.content.feature_level
        if None not in (asked, claimed) and asked != claimed:
            text = f"found '{claimed}', while '{asked}' is asked for; expected the same, or one"
            raise SpecError([self.source.mistake(("feature_level",), text)])
        return asked if claimed is None else claimed


def read_claim(path: Path | YamlSource, suite: Suite, operator: str = "*") -> Claim:
    """Return the claim in a file, for the operators of `suite` that match the glob `operator`.

    Raises:
        SpecError: it is of another form, or names what there is not.
    """
    source = path if isinstance(path, YamlSource) else YamlSource(path)
    claim = Claim(validated_content(source, TypeAdapter(ClaimContent), ClaimContent), source)
    found = claim_mistakes(claim.content, suite, operator)
    if mistakes := [source.mistake(place, text) for place, text in found]:
        raise SpecError(mistakes)
    return claim


def claim_mistakes(
    claim: ClaimContent, suite: Suite, operator: str = "*"
) -> Iterator[tuple[YamlPath, str]]:
    """Yield what a claim names that there is not, for the operators that match a glob, and where.

    A part of a suite may go with a claim of more.
    """
    level, levels = claim.feature_level, suite.feature_levels
    if level is not None and level not in levels:
        text = f"no operator has feature level '{level}'{did_you_mean(level, levels)}"
        yield ("feature_level",), text
    strangers, slips = (
        unknown_operators(claim.operators, suite),
        misspelt_operators(claim.operators, suite),
    )
    for name, scope in claim.operators.items():
        place: YamlPath = ("operators", name)
        if name in slips or (name in strangers and fnmatchcase(name, operator)):
            known = sorted({*suite.operators, *read_manifest(core_suite_folder()).operators})
            yield place, f"unknown operator '{name}'{did_you_mean(name, known)}"
        for part, text in _scope_mistakes(name, scope, suite):
            yield (*place, *part), text


def _scope_mistakes(
    name: str, scope: OperatorScope, suite: Suite
) -> Iterator[tuple[YamlPath, str]]:
    """Yield what the scope of an operator names that there is not, and where."""
    types = list(ELEMENT_TYPES)
    parts: list[tuple[YamlPath, str, list[str], list[str]]] = [
        (("types",), "type", scope.types or [], types),
        (("index_types",), "type", scope.index_types or [], types),
    ]
    parts += [
        (("input_types", key), "type", found, types) for key, found in scope.input_types.items()
    ]
    if name in suite.operators:
        operator = suite.operators[name]
        known = sorted(operator.exclusions)
        parts.append((("excluded",), f"rule or level of {name}", scope.excluded, known))
        parts += [
            (("same_types", i), f"input of {name}", group, operator.input_names)
            for i, group in enumerate(scope.same_types)
        ]
        for key in scope.input_types:
            if key not in operator.input_names:
                near = did_you_mean(key, operator.input_names)
                yield ("input_types", key), f"unknown input of {name} '{key}'{near}"
    for place, what, found, known in parts:
        for i, each in enumerate(found):
            if each not in known:
                yield (*place, i), f"unknown {what} '{each}'{did_you_mean(each, known)}"
