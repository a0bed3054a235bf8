"""Claims: the calls that a vendor claims to support, all of which must work."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.errors import SpecError, did_you_mean
from opcert.scope.support import (
    CaseProperties,
    OperatorScope,
    misspelt_operators,
    unknown_operators,
)
from opcert.specification.references import shipped_operators
from opcert.suite.suite import Suite
from opcert.yaml_files.source import YamlPath, YamlSource, read_source
from opcert.yaml_files.validation import validated_content

# To look for misspelt names takes time for each of them.
_MAX_OPERATORS = 1000


class ClaimContent(BaseModel):
    """The content of a claim's file. An absent operator is not claimed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    feature_level: str | None = None
    operators: Annotated[Mapping[str, OperatorScope], Field(max_length=_MAX_OPERATORS)]

    def exclusion_reason(self, operator: str, case: CaseProperties) -> str | None:
        """Return why the claim excludes `case`, or None if it claims it."""
        scope = self.operators.get(operator)
        reason = operator if scope is None else scope.exclusion_reason(case)
        return None if reason is None else f"the claim excludes {reason}"


@dataclass(frozen=True)
class Claim:
    """A claim with the file that it was read from."""

    content: ClaimContent
    source: YamlSource

    def feature_level(self, requested: str | None) -> str | None:
        """Return the feature level to certify: the claimed level or else the `requested` one.

        Raises:
            SpecError: the two levels differ.
        """
        claimed = self.content.feature_level
        if claimed is None:
            return requested
        if requested not in (None, claimed):
            text = f"found '{claimed}', but feature level '{requested}' was requested"
            mistake = self.source.mistake(("feature_level",), f"{text}; expected the same level")
            raise SpecError([mistake])
        return claimed


def read_claim(path: str | Path | YamlSource, suite: Suite, operator: str = "*") -> Claim:
    """Return the claim in a file, for the operators of `suite` that match the glob `operator`.

    Raises:
        SpecError: the file is malformed, or has an unknown name.
    """
    source = read_source(path)
    content = validated_content(source, TypeAdapter(ClaimContent), ClaimContent)
    mistakes = [
        source.mistake(place, text) for place, text in _claim_mistakes(content, suite, operator)
    ]
    if mistakes:
        raise SpecError(mistakes)
    return Claim(content, source)


def _claim_mistakes(
    claim: ClaimContent, suite: Suite, operator: str = "*"
) -> Iterator[tuple[YamlPath, str]]:
    """Yield each unknown name in a claim, with its place.

    An operator that the suite lacks is a mistake only if it matches the glob `operator`, or is
    misspelt: a claim may cover more than one suite.
    """
    level, levels = claim.feature_level, suite.feature_levels
    if level is not None and level not in levels:
        text = f"no operator has feature level '{level}'{did_you_mean(level, levels)}"
        yield ("feature_level",), text
    unknown = unknown_operators(claim.operators, suite)
    misspelt = misspelt_operators(claim.operators, suite)
    known = sorted({*suite.operators, *shipped_operators()})
    for name, scope in claim.operators.items():
        place: YamlPath = ("operators", name)
        if name in misspelt or (name in unknown and fnmatchcase(name, operator)):
            yield place, f"unknown operator '{name}'{did_you_mean(name, known)}"
        for part, text in _scope_mistakes(name, scope, suite):
            yield (*place, *part), text


def _scope_mistakes(
    name: str, scope: OperatorScope, suite: Suite
) -> Iterator[tuple[YamlPath, str]]:
    """Yield each unknown name in the scope of one operator, with its place."""
    types = list(ELEMENT_TYPES)
    # The place of a list in the scope, the noun for its items, the items, the known items.
    lists: list[tuple[YamlPath, str, list[str], list[str]]] = [
        (("types",), "type", scope.types or [], types),
        (("index_types",), "type", scope.index_types or [], types),
        *((("input_types", key), "type", names, types) for key, names in scope.input_types.items()),
    ]
    if name in suite.operators:
        operator = suite.operators[name]
        exclusions = sorted(operator.exclusions)
        lists.append((("excluded",), f"rule or level of {name}", scope.excluded, exclusions))
        lists += [
            (("same_types", i), f"input of {name}", group, operator.input_names)
            for i, group in enumerate(scope.same_types)
        ]
        for key in scope.input_types:
            if key not in operator.input_names:
                near = did_you_mean(key, operator.input_names)
                yield ("input_types", key), f"unknown input of {name} '{key}'{near}"
    for place, noun, items, known in lists:
        for i, item in enumerate(items):
            if item not in known:
                yield (*place, i), f"unknown {noun} '{item}'{did_you_mean(item, known)}"
